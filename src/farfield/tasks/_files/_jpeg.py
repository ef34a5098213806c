"""JPEG files without what is not pixels."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from PIL import Image

from farfield.core import excerpt, printable, strict_pictures

_MOST_SEGMENTS: Final = 1_000
"""In front of the first scan; a color profile of 20 MB has 300."""
_SCAN: Final = 0xDA
_READ: Final = {*range(0xC0, 0xD0), 0xDB, 0xDD, 0xE0, 0xEE} - {0xC8}
"""Markers of segments that a decoder needs: frame, tables, and how colors are stored (JFIF, Adobe).
"""
_METADATA: Final = {*range(0xE1, 0xF0), 0xFE} - _READ
"""Markers of what programs say of a picture."""
_APP1: Final = 0xE1
_ORIENTED: Final = (b"Exif\0\0", b"http://ns.adobe.com/xap/1.0/\0")
"""Heads of the segments that may say how the camera was held."""
_BROKEN: Final = (
    OSError,
    SyntaxError,
    ValueError,
    UserWarning,
    Image.DecompressionBombError,
    Image.DecompressionBombWarning,
)
"""Errors of Pillow at a file that is cut short, made up or too large."""


@contextmanager
def opened_jpeg(path: Path, content: bytes, *, oriented: bool = False) -> Iterator[Image.Image]:
    """A JPEG file of which the header alone is read; what breaks it becomes a `ValueError`.

    Args:
        path: The file, for the error.
        content: Its bytes.
        oriented: Whether the picture keeps what the file says of how the camera was held.
    """
    try:
        with strict_pictures():
            kept = _without_metadata(content, _ORIENTED if oriented else ())
            with Image.open(io.BytesIO(kept), formats=["JPEG"]) as picture:
                yield picture
    except _BROKEN as error:
        raise ValueError(
            f"{printable(path)} must be a whole JPEG file, got a broken one: {excerpt(error)}"
        ) from error


def _without_metadata(content: bytes, heads: tuple[bytes, ...]) -> bytes:
    """The file without profiles, texts and thumbnails, which Pillow would put together first.

    Of metadata the first segment of each head is kept.
    """
    kept, start, left = [content[:2]], 2, set(heads)
    for _ in range(_MOST_SEGMENTS):
        end = start + 2 + int.from_bytes(content[start + 2 : start + 4], "big")
        begins, marker = content[start : start + 1], int.from_bytes(content[start + 1 : start + 2])
        if begins == b"\xff" and marker == _SCAN:
            return b"".join(kept) + content[start:]
        if end > len(content) or begins != b"\xff" or marker not in _READ | _METADATA:
            raise ValueError(f"no segment of a picture begins at byte {start}")
        head = next((one for one in left if content.startswith(one, start + 4)), None)
        if marker in _READ or (marker == _APP1 and head is not None):
            kept.append(content[start:end])
            left.discard(head or b"")
        start = end
    raise ValueError(f"more than {_MOST_SEGMENTS} segments stand before its pixels")
