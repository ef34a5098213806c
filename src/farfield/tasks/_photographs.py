"""Photographs that others are laid over: read from a folder, and cut into pieces."""

from __future__ import annotations

import hashlib
import io
import stat
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

import numpy as np
from jaxtyping import Int64, UInt8
from PIL import Image

from farfield.tasks._data_sets import folders

BSD: Final = "sr/bsd200"
"""The 200 training photographs of BSDS500, in a data folder."""
BSD_DIGEST: Final = "8000bfe0ac2c46262493c979f7f32c7a970776a8855dd299747c9d261168d984"
"""SHA-256 over their names and digests, in the order of the names."""
SUFFIXES: Final = (".jpg", ".jpeg")
LARGEST_FILE: Final = 20_000_000
MOST_BYTES: Final = 2**28
MOST_PIXELS: Final = 2**26
"""Of all photographs of a folder together: 200 MB of bytes."""


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Photographs:
    """Photographs of any sizes, one behind the other.

    Args:
        pixels: Red, green and blue of every pixel of every photograph, row by row.
        sizes: Height and width of each, pixels.
    """

    pixels: UInt8[np.ndarray, "value 3"]
    sizes: Int64[np.ndarray, "item 2"]

    def pieces(
        self, corners: Int64[np.ndarray, "batch 3"], side: int
    ) -> UInt8[np.ndarray, "batch height width 3"]:
        """Squares out of photographs.

        Args:
            corners: Number of the photograph, row and column of the upper left corner.
            side: Height and width of a square, pixels.
        """
        starts = np.cumsum(self.sizes.prod(1)) - self.sizes.prod(1)
        photograph, row, column = (part[:, None, None] for part in corners.T)
        across = np.arange(side)
        width = self.sizes[:, 1][photograph]
        places = starts[photograph] + (row + across[:, None]) * width + column + across
        return self.pixels[places]


def has_photographs(named: str) -> bool:
    """Whether a folder with photographs is at hand.

    Args:
        named: The folder, from a data folder on, or its whole path.
    """
    return any(paths(folder / named) for folder in folders())


def read_photographs(named: str, smallest: int) -> Photographs:
    """All photographs of a folder, in the order of their names.

    Args:
        named: The folder, from a data folder on, or its whole path; those of `BSD` must be the
            published ones.
        smallest: Least height and width, pixels.

    Raises:
        ValueError: If there are none, there are too many, they are others than published, or one
            is no whole JPEG file of such a size.
    """
    places = [folder / named for folder in folders()]
    found = next((own for place in places if (own := paths(place))), ())
    if not found:
        raise ValueError(
            f"photographs must name a folder with JPEG files, there are none in "
            f"{' nor in '.join(map(str, places))}: set FARFIELD_DATA to a folder that has "
            f"{named}, or name another"
        )
    if (size := sum(map(_size, found))) > MOST_BYTES:
        raise ValueError(
            f"{named} must hold photographs of at most {MOST_BYTES:,} bytes together, got {size:,}"
        )
    contents = [_content(path) for path in found]
    if named == BSD:
        _check_published(found, contents)
    pictures: list[UInt8[np.ndarray, "height width 3"]] = []
    left = MOST_PIXELS
    for path, content in zip(found, contents, strict=True):
        pictures.append(_decoded(path, content, smallest, left))
        left -= pictures[-1].size // 3
    return Photographs(
        pixels=np.concatenate([picture.reshape(-1, 3) for picture in pictures]),
        sizes=np.array([picture.shape[:2] for picture in pictures], np.int64),
    )


def paths(folder: Path) -> tuple[Path, ...]:
    """The JPEG files of a folder, in the order of their names.

    Args:
        folder: Any folder, or none.
    """
    if not folder.is_dir():
        return ()
    return tuple(sorted(path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES))


def _size(path: Path) -> int:
    """The length in bytes of what must be a file: no folder, no pipe, no link to nothing."""
    try:
        known = path.stat()
    except OSError as error:
        raise ValueError(f"{path} must be a file, it is none: {error.strerror}") from error
    if not stat.S_ISREG(known.st_mode):
        raise ValueError(f"{path} must be a file, it is a folder or a device")
    return known.st_size


def _content(path: Path) -> bytes:
    """The bytes of a file that is not too long."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise ValueError(f"{path} must be readable, it is not: {error.strerror}") from error
    if len(content) > LARGEST_FILE:
        raise ValueError(f"{path} must be a photograph of at most {LARGEST_FILE:,} bytes")
    return content


def _check_published(found: tuple[Path, ...], contents: list[bytes]) -> None:
    """Raise `ValueError` unless these are the photographs of BSDS500."""
    total = hashlib.sha256()
    for path, content in zip(found, contents, strict=True):
        total.update(path.name.encode() + b":" + hashlib.sha256(content).digest())
    if total.hexdigest() != BSD_DIGEST:
        raise ValueError(
            f"{found[0].parent} must hold the 200 training photographs of BSDS500, digest "
            f"{BSD_DIGEST}, got {len(found)} with {total.hexdigest()}: keep others in another "
            "folder and name that one"
        )


def _decoded(
    path: Path, content: bytes, smallest: int, most: int
) -> UInt8[np.ndarray, "height width 3"]:
    """A photograph whose size is judged before anything is unpacked."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(content), formats=["JPEG"]) as picture:
                width, height = picture.size
                if min(width, height) < smallest or width * height > most:
                    raise ValueError(
                        f"it has {width} × {height} pixels; both must be at least {smallest} and "
                        f"all photographs together at most {MOST_PIXELS:,}"
                    )
                return np.array(picture.convert("RGB"))
    except (
        OSError,
        SyntaxError,
        ValueError,
        Image.DecompressionBombError,
        Image.DecompressionBombWarning,
    ) as error:
        raise ValueError(
            f"{path} must be a whole JPEG file of a usable size, it is not: {error}"
        ) from error
