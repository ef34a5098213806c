"""Files of photographs and other pictures, gray or in color."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import numpy as np
from jaxtyping import UInt8
from PIL import ExifTags, Image, ImageOps

from farfield._files import read_regular
from farfield._text import excerpt, printable

PICTURES: Final = (".bmp", ".jpeg", ".jpg", ".png")
"""Endings of the names of files that `read_picture` reads."""
_FORMATS: Final = ("BMP", "JPEG", "PNG")
_MODES: Final = {"L": "L", "RGB": "RGB", "P": "RGB"}
"""Modes of pictures that are read, and the modes that hold them without loss."""
_QUARTER_TURNS: Final = (5, 6, 7, 8)
"""Orientations of EXIF in which rows and columns are swapped."""
_UNSURE: Final = (
    rf"Corrupt EXIF|Truncated File Read|Tag offset|.*\btag {ExifTags.Base.Orientation:d}\b"
)
"""Warnings of Pillow where it may have missed the orientation of a picture."""
_LARGEST: Final = 2**27
"""Bytes of a file."""
_BROKEN: Final = (
    OSError,
    SyntaxError,
    ValueError,
    Image.DecompressionBombError,
    Image.DecompressionBombWarning,
    UserWarning,
)
"""Errors of Pillow at a file that is cut short, made up or too large."""


def read_picture(path: Path) -> UInt8[np.ndarray, "height width *color"]:
    """Read the pixels of a picture: levels of gray, or of red, green and blue.

    A photograph that says how its camera was turned is turned upright.

    Args:
        path: A BMP, JPEG or PNG file with levels in bytes.

    Returns:
        `(height, width)` of a gray picture, `(height, width, 3)` of one in color.

    Raises:
        ValueError: If it cannot be read, is none of these, has an alpha channel, or colors in
            another space.
    """
    name = printable(path)
    try:
        content = read_regular(path, _LARGEST)
        with strict_pictures(), Image.open(io.BytesIO(content), formats=_FORMATS) as picture:
            refused = _refused(picture)
            turned = None if refused else upright(picture)
            pixels = None if turned is None else np.array(turned.convert(_MODES[turned.mode]))
    except _BROKEN as error:
        raise ValueError(
            f"{name} must be a whole BMP, JPEG or PNG file: {excerpt(error)}"
        ) from error
    if pixels is None:
        raise ValueError(
            f"{name} must be gray (L) or red, green and blue (RGB) in bytes, got {refused}; "
            "convert it first"
        )
    return pixels


@contextmanager
def strict_pictures() -> Iterator[None]:
    """Context manager: Pillow raises an error where size or orientation of a picture are unsure.

    Its warnings of other metadata, which no pixel depends on, are dropped.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        warnings.filterwarnings("error", _UNSURE, UserWarning)
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        yield


def upright(picture: Image.Image) -> Image.Image:
    """Turn a picture as its file says that the camera was held.

    Args:
        picture: The picture, with the EXIF data of its file.
    """
    return ImageOps.exif_transpose(picture)


def upright_size(picture: Image.Image) -> tuple[int, int]:
    """Read width and height of the upright picture, from the head of its file alone.

    Args:
        picture: The picture, which need not be decoded.
    """
    width, height = picture.size
    is_turned = picture.getexif().get(ExifTags.Base.Orientation) in _QUARTER_TURNS
    return (height, width) if is_turned else (width, height)


def _refused(picture: Image.Image) -> str:
    """Explain why the levels of a picture are not all of its content; empty without a reason."""
    if picture.has_transparency_data:
        return f"an alpha channel ({picture.mode})"
    return "" if picture.mode in _MODES else f"the color space {picture.mode}"
