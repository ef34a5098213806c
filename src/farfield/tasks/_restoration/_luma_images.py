"""Folders of pictures as luma, with the same enlarged from few pixels."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

import torch
from jaxtyping import Float32, UInt8
from torch import Tensor

from farfield.core import PICTURES, expand_home, file_stamp, printable, read_picture
from farfield.functional import bicubic_resize, rgb_to_ycbcr
from farfield.tasks._files._data_sets import folders

_MOST: Final = 10_000
"""Pictures of a folder."""


class Pair(NamedTuple):
    """Luma of a picture, and what is enlarged from fewer of its pixels.

    Attributes:
        sharp: Y, 16…235, rounded; levels of a gray picture as they are.
        blurred: Y as fractions of 255, made smaller and larger again.
    """

    sharp: UInt8[Tensor, "height width"]
    blurred: Float32[Tensor, "height width"]


def picture_files(named: str) -> tuple[Path, ...]:
    """The pictures of a folder, in the order of their names; none where there is no folder.

    Args:
        named: The folder, from a data folder on, or its whole path.
    """
    for place in (folder / expand_home(named) for folder in folders()):
        if place.is_dir():
            found = (path for path in place.iterdir() if path.suffix.lower() in PICTURES)
            return tuple(sorted(itertools.islice(found, _MOST + 1)))
    return ()


def luma_pairs(named: str, scale: int, smallest: int) -> list[Pair]:
    """All pictures of a folder, in the order of their names.

    Args:
        named: The folder, from a data folder on, or its whole path.
        scale: Factor by which they are enlarged.
        smallest: Least height and width, pixels.

    Raises:
        ValueError: If there are none or too many, one is no picture in gray or in red, green and
            blue, or smaller.
    """
    files = picture_files(named)
    if not 1 <= len(files) <= _MOST:
        places = " nor in ".join(printable(folder / expand_home(named)) for folder in folders())
        raise ValueError(
            f"folder must hold 1 to {_MOST:,} pictures ({', '.join(PICTURES)}), got "
            f"{f'more than {_MOST:,}' if files else 'none'} in {places}: set FARFIELD_DATA to a "
            f"folder that has {printable(named)}, or name another"
        )
    return list(_pairs(files, tuple(map(file_stamp, files)), scale, smallest))


@lru_cache(maxsize=8)
def _pairs(
    files: Sequence[Path], stamps: Sequence[tuple[int, ...]], scale: int, smallest: int
) -> tuple[Pair, ...]:
    """Pictures of files, read again when they have changed."""
    del stamps
    return tuple(_pair(path, scale, smallest) for path in files)


def _pair(path: Path, scale: int, smallest: int) -> Pair:
    """A picture, cut to a multiple of the factor at the right and below."""
    pixels = torch.from_numpy(read_picture(path))
    height, width = (side - side % scale for side in pixels.shape[:2])
    if min(height, width) < smallest:
        raise ValueError(
            f"{printable(path)} must be of at least {smallest} × {smallest} pixels, cut to a "
            f"multiple of {scale}, got {height} × {width}"
        )
    sharp = luma_of(pixels[:height, :width])
    # As the paper's bicubic rows have it: Y is rounded, and what is made of it is not.
    few = bicubic_resize(sharp.double(), (height // scale, width // scale))
    return Pair(sharp, (bicubic_resize(few, (height, width)) / 255).float())


def luma_of(
    pixels: UInt8[Tensor, "height width *color"],
) -> UInt8[Tensor, "height width"]:
    """Y of a picture in color, rounded; a gray one as it is.

    Args:
        pixels: Levels, with red, green and blue last.
    """
    if pixels.ndim == 2:
        return pixels
    return rgb_to_ycbcr(pixels.movedim(-1, 0).double())[0].round().to(torch.uint8)


def patches(maps: Tensor, side: int, stride: int) -> Tensor:
    """Square pieces of an image, row by row.

    Args:
        maps: The image, `(height, width)`.
        side: Height and width of a piece, pixels.
        stride: Pixels from one to the next.

    Returns:
        `(item, side, side)`.
    """
    return maps.unfold(0, side, stride).unfold(1, side, stride).reshape(-1, side, side)
