"""Photographs as backgrounds, read from PNG and JPEG files of a folder and cut into pieces."""

from __future__ import annotations

import contextlib
import hashlib
import io
import itertools
import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

import numpy as np
from jaxtyping import Int64, UInt8
from PIL import Image

from farfield._watch import unwatched
from farfield.core.internal import (
    excerpt,
    expand_home,
    printable,
    read_regular,
    strict_pictures,
    upright,
    upright_size,
)
from farfield.tasks._files._data_sets import folders

_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_KEPT_CHUNKS: Final = (b"IHDR", b"IDAT", b"IEND")
"""Kinds of chunks that a gray image needs."""
_LARGEST_FILE: Final = 65_536
"""Maximum bytes of a file; a picture of 32×32 gray pixels is far smaller."""


def read_grey_png(path: Path, side: int) -> UInt8[np.ndarray, "height width"]:
    """Read a square picture in 8-bit gray; its header is judged before unpacking.

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
            f"{name} must be {side}×{side} in 8-bit gray (type 0), "
            f"got {width}×{height} in {depth}-bit of color type {color}"
        )
    kept = [(kind, chunk) for kind, chunk in _chunks(content) if kind in _KEPT_CHUNKS]
    if (headers := [kind for kind, _ in kept].count(b"IHDR")) != 1:
        raise ValueError(f"{name} must have one header, got {headers}")
    pixels = b"".join(chunk[8:-4] for kind, chunk in kept if kind == b"IDAT")
    alone = io.BytesIO(_SIGNATURE + b"".join(chunk for _, chunk in kept))
    try:
        most = 2 * side * (side + 1)  # interlaced rows are shorter, each with a filter byte
        if len(zlib.decompressobj().decompress(pixels, most + 1)) > most:
            raise ValueError(f"its pixels unpack to more than {most:,} bytes")
        with Image.open(alone, formats=["PNG"]) as picture:
            return np.array(picture.convert("L"))
    except (OSError, SyntaxError, ValueError, struct.error, zlib.error) as error:
        raise ValueError(
            f"{name} must be a whole PNG file, got a broken one: {printable(error)}"
        ) from error


def _chunks(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield kind and bytes of every chunk; the last chunk may be cut short."""
    start = len(_SIGNATURE)
    while start < len(content):
        end = start + 12 + int.from_bytes(content[start : start + 4], "big")
        yield content[start + 4 : start + 8], content[start:end]
        start = end


_MOST_SEGMENTS: Final = 1_000
"""Maximum number of segments before the first scan; a color profile of 20 MB has 300."""
_SCAN: Final = 0xDA
_KEPT_MARKERS: Final = {*range(0xC0, 0xD0), 0xDB, 0xDD, 0xE0, 0xEE} - {0xC8}
"""Markers of segments that a decoder needs: frame, tables, and how colors are stored (JFIF, Adobe).
"""
_METADATA: Final = {*range(0xE1, 0xF0), 0xFE} - _KEPT_MARKERS
"""Markers of metadata."""
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
    """Open a JPEG file, and read its header alone; faults become a `ValueError`.

    Args:
        path: The file, for the error.
        content: Bytes of the file.
        oriented: Whether the picture keeps the orientation of the camera.
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
    """Remove profiles, texts and thumbnails, which Pillow would put together first.

    Of metadata the first segment of each head is kept.
    """
    kept, start, left = [content[:2]], 2, set(heads)
    for _ in range(_MOST_SEGMENTS):
        end = start + 2 + int.from_bytes(content[start + 2 : start + 4], "big")
        begins, marker = content[start : start + 1], int.from_bytes(content[start + 1 : start + 2])
        if begins == b"\xff" and marker == _SCAN:
            return b"".join(kept) + content[start:]
        if end > len(content) or begins != b"\xff" or marker not in _KEPT_MARKERS | _METADATA:
            raise ValueError(f"no segment of a picture begins at byte {start}")
        head = next((one for one in left if content.startswith(one, start + 4)), None)
        if marker in _KEPT_MARKERS or (marker == _APP1 and head is not None):
            kept.append(content[start:end])
            left.discard(head or b"")
        start = end
    raise ValueError(f"more than {_MOST_SEGMENTS} segments stand before its pixels")


BSD: Final = "sr/bsd200"
"""Name of the 200 training photographs of BSDS500, in a data folder."""
BSD_DIGEST: Final = "8000bfe0ac2c46262493c979f7f32c7a970776a8855dd299747c9d261168d984"
"""SHA-256 over their names and digests, in the order of the names."""
SUFFIXES: Final = (".jpg", ".jpeg")
MOST_FILES: Final = 10_000
LARGEST_FILE: Final = 20_000_000
"""Bytes."""
MOST_BYTES: Final = 2**26
"""Maximum bytes of all photographs of a folder together."""
LARGEST_PHOTOGRAPH: Final = 2**23
"""Pixels; a decoder takes up to twenty bytes for each."""
MOST_PIXELS: Final = 2**25
"""Maximum pixels of all photographs of a folder together: 100 MB; `BSD` has 31 million."""
MOST_SCANNED: Final = 2**29
"""Maximum pixels of all scans: a progressive file may repeat its pixels thousands of times."""


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
        """Cut squares out of photographs.

        Args:
            corners: Number of the photograph, row and column of the upper left corner.
            side: Height and width of a square, pixels.
        """
        starts = np.cumsum(self.sizes.prod(1)) - self.sizes.prod(1)
        photograph, row, column = (part[:, None, None] for part in corners.T)
        across = np.arange(side)
        width = self.sizes[:, 1][photograph]
        indices = starts[photograph] + (row + across[:, None]) * width + column + across
        return self.pixels[indices]


def has_photographs(named: str) -> bool:
    """Check whether a folder with photographs exists.

    Args:
        named: The folder, from a data folder on, or its whole path.
    """
    return bool(photograph_paths(named))


def photograph_paths(named: str) -> tuple[Path, ...]:
    """List the photographs of a folder, in the order of their names; empty without a folder.

    Args:
        named: The folder, from a data folder on, or its whole path.
    """
    return next((own for folder in _possible_folders(named) if (own := paths(folder))), ())


def _possible_folders(named: str) -> list[Path]:
    """List possible paths of a folder."""
    return [folder / expand_home(named) for folder in folders()]


def read_photographs(named: str, smallest: int) -> Photographs:
    """Read all photographs of a folder, in the order of their names, upright.

    Args:
        named: The folder, from a data folder on, or its whole path; those of `BSD` must be the
            published ones.
        smallest: Least height and width, pixels.

    Raises:
        ValueError: If there are none, there are too many, they are others than published, or one
            is not a complete JPEG file of such a size.
    """
    found = photograph_paths(named)
    if not found:
        searched = " nor in ".join(map(printable, _possible_folders(named)))
        raise ValueError(
            f"photographs must name a folder with JPEG files, there are none in {searched}: set "
            f"FARFIELD_DATA to a folder that has {printable(named)}, or name another"
        )
    with unwatched() if named == BSD else contextlib.nullcontext():
        contents = _contents(printable(named), found)
    if named == BSD:
        _check_published(found, contents)
    sizes = _sizes(found, contents, smallest)
    ends = np.cumsum(sizes.prod(1))
    pixels = np.empty((ends[-1], 3), np.uint8)
    for path, content, end, count in zip(found, contents, ends, sizes.prod(1), strict=True):
        pixels[end - count : end] = _decoded(path, content).reshape(-1, 3)
    return Photographs(pixels=pixels, sizes=sizes)


def paths(folder: Path) -> tuple[Path, ...]:
    """List the JPEG files of a folder, in the order of their names, at most one too many.

    Args:
        folder: Any folder, or none.
    """
    if not folder.is_dir():
        return ()
    found = (path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES)
    return tuple(sorted(itertools.islice(found, MOST_FILES + 1)))


def _contents(named: str, found: Sequence[Path]) -> list[bytes]:
    """Read the bytes of all photographs, unless they are too many."""
    if len(found) > MOST_FILES:
        raise ValueError(f"{named} must hold at most {MOST_FILES:,} photographs, it holds more")
    contents, left = [], MOST_BYTES
    for path in found:
        try:
            contents.append(read_regular(path, LARGEST_FILE))
        except OSError as error:
            raise ValueError(f"{printable(path)} must be a photograph: {error.strerror}") from error
        if (left := left - len(contents[-1])) < 0:
            raise ValueError(
                f"{named} must hold photographs of at most {MOST_BYTES:,} bytes together, it holds "
                f"more up to {printable(path.name)}"
            )
    return contents


def _sizes(
    found: Sequence[Path], contents: Sequence[bytes], smallest: int
) -> Int64[np.ndarray, "item 2"]:
    """Read height and width of every photograph; all are judged before one is decoded."""
    sizes = np.empty((len(found), 2), np.int64)
    pixels, scanned = 0, 0
    for position, (path, content) in enumerate(zip(found, contents, strict=True)):
        with opened_jpeg(path, content, oriented=True) as picture:
            width, height = upright_size(picture)
        pixels += (own := width * height)
        scanned += own * content.count(b"\xff\xda")  # the marker before each scan
        for wanted, fits in (
            (f"of at least {smallest} pixels a side", min(width, height) >= smallest),
            (f"of at most {LARGEST_PHOTOGRAPH:,} pixels", own <= LARGEST_PHOTOGRAPH),
            (
                f"with all photographs together at most {MOST_PIXELS:,} pixels",
                pixels <= MOST_PIXELS,
            ),
            (f"with all scans together at most {MOST_SCANNED:,} pixels", scanned <= MOST_SCANNED),
        ):
            if not fits:
                raise ValueError(
                    f"{printable(path)} must be a whole JPEG file {wanted}, got {width} × {height}"
                )
        sizes[position] = height, width
    return sizes


def _check_published(found: Sequence[Path], contents: Sequence[bytes]) -> None:
    """Raise `ValueError` unless these are the photographs of BSDS500."""
    total = hashlib.sha256()
    for path, content in zip(found, contents, strict=True):
        total.update(os.fsencode(path.name) + b":" + hashlib.sha256(content).digest())
    if total.hexdigest() != BSD_DIGEST:
        raise ValueError(
            f"{printable(found[0].parent)} must hold the 200 training photographs of BSDS500, "
            f"digest {BSD_DIGEST}, got {len(found)} with {total.hexdigest()}: "
            "keep others in another folder and name that one"
        )


def _decoded(path: Path, content: bytes) -> UInt8[np.ndarray, "height width 3"]:
    """Decode the pixels of a photograph that has been judged."""
    with opened_jpeg(path, content, oriented=True) as picture:
        return np.asarray(upright(picture).convert("RGB"))
