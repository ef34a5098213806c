"""Small grey PNG files, of which only header and pixels are looked at."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
from jaxtyping import UInt8
from PIL import Image

from farfield.core import printable, read_regular

_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_READ: Final = (b"IHDR", b"IDAT", b"IEND")
"""Kinds of chunks that a gray image needs."""
_LARGEST_FILE: Final = 65_536
"""Bytes; a picture of 32×32 grey pixels is far smaller."""


def read_grey_png(path: Path, side: int) -> UInt8[np.ndarray, "height width"]:
    """A square picture in 8-bit grey; its header is judged before anything is unpacked.

    Nothing else in the file is unpacked: no text, no color profile, no further frame.

    Args:
        path: The file.
        side: Height and width in pixels.

    Raises:
        ValueError: If it cannot be read, is larger than 64 KiB, or is not such an image.
    """
    name = printable(path)
    try:
        content = read_regular(path, _LARGEST_FILE)
    except OSError as error:
        raise ValueError(
            f"folder must hold {name}, which cannot be read: {error.strerror}"
        ) from error
    if content[:8] != _SIGNATURE or content[12:16] != b"IHDR" or len(content) < 33:
        raise ValueError(f"{name} must be a PNG file, got one that does not start as such")
    width, height, depth, color = struct.unpack(">IIBB", content[16:26])
    if (width, height, depth, color) != (side, side, 8, 0):
        raise ValueError(
            f"{name} must be {side}×{side} in 8-bit grey (type 0), "
            f"got {width}×{height} in {depth}-bit of color type {color}"
        )
    kept = [(kind, chunk) for kind, chunk in _chunks(content) if kind in _READ]
    if (headers := [kind for kind, _ in kept].count(b"IHDR")) != 1:
        raise ValueError(f"{name} must have one header, got {headers}")
    pixels = b"".join(chunk[8:-4] for kind, chunk in kept if kind == b"IDAT")
    alone = io.BytesIO(_SIGNATURE + b"".join(chunk for _, chunk in kept))
    try:
        most = 2 * side * (side + 1)  # interlaced rows are shorter, each with a filter of its own
        if len(zlib.decompressobj().decompress(pixels, most + 1)) > most:
            raise ValueError(f"its pixels unpack to more than {most:,} bytes")
        with Image.open(alone, formats=["PNG"]) as picture:
            return np.array(picture.convert("L"))
    except (OSError, SyntaxError, ValueError, struct.error, zlib.error) as error:
        raise ValueError(
            f"{name} must be a whole PNG file, got a broken one: {printable(error)}"
        ) from error


def _chunks(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Kind and bytes of every chunk; the last one may be cut short."""
    start = len(_SIGNATURE)
    while start < len(content):
        end = start + 12 + int.from_bytes(content[start : start + 4], "big")
        yield content[start + 4 : start + 8], content[start:end]
        start = end
