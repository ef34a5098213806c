"""Reading of one published problem from an untrusted file of arrays."""

from __future__ import annotations

import io
import math
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, cast, final

import numpy as np
from jaxtyping import Int64, UInt8

from farfield.core import excerpt, printable, read_regular

PANEL_SIZE: Final = 160
"""Width and height of a published panel, pixels."""
IMAGE_SIZES: Final = (PANEL_SIZE // 4, PANEL_SIZE // 2, PANEL_SIZE)
"""Widths and heights at which panels are drawn, or read."""
COLUMNS: Final = (
    "shape",
    "line",
    "colour",
    "number",
    "position",
    "size",
    "type",
    "progression",
    "XOR",
    "OR",
    "AND",
    "consistent union",
)
"""Meaning of the columns of a published description."""
_LARGEST_FILE: Final = 2**24
"""Bytes; pixels of eight bytes that nothing compresses are 3.3 million."""
_MOST_FIELDS: Final = 64
_ENTRY: Final = b"PK\1\2"
"""Stands before every entry of the directory of an archive, and by chance once in 4 GB."""
_PACKED: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Compression methods of NumPy."""
_BROKEN: Final = (
    OSError,
    EOFError,
    RuntimeError,
    MemoryError,
    UnicodeDecodeError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)
"""Errors at unpacking a file that is cut short, encrypted or made up."""
_MALFORMED: Final = (
    ValueError,
    SyntaxError,
    TypeError,
    LookupError,
    ArithmeticError,
    RecursionError,
    MemoryError,
    tokenize.TokenError,
)
"""Errors of NumPy and of Python's parser, which it calls, at a malformed header."""
_MOST_AXES: Final = 32


class _Header(NamedTuple):
    """Header of a field."""

    shape: tuple[int, ...]
    columns_first: bool
    dtype: np.dtype

    @property
    def words(self) -> str:
        """Type and shape, shortened: a file can claim any."""
        return f"{excerpt(self.dtype)} of shape {excerpt(self.shape)}"


@final
@dataclass(frozen=True, kw_only=True)
class PanelFile:
    """Layout of the file of a published problem; other fields are ignored.

    Args:
        panels: Number of panels, the fields `image`.
        candidates: How many of them, the last ones, are candidates; `target` names one.
        described: Fields of 0 and 1 that describe a problem and may be absent, with their shapes.
    """

    panels: int
    candidates: int
    described: tuple[tuple[str, tuple[int, ...]], ...]

    def read_answer(self, path: Path) -> tuple[int, dict[str, Int64[np.ndarray, "*_"]]]:
        """Index of the right candidate, and the describing fields in the file.

        That there are pictures of the right size is checked as well; they are not read.

        Args:
            path: A file in the published layout.

        Raises:
            ValueError: If it is none. The message names the file and the field.
        """
        name = printable(path)
        with _opened(path) as archive:
            with _field(name, archive, "image") as stream:
                self._check_image(name, _header(name, "image", stream))
            target = _array(name, archive, "target", _check_target)
            described = {
                field: _array(name, archive, field, partial(_check_bits, field=field, shape=shape))
                for field, shape in self.described
                if f"{field}.npy" in archive.namelist()
            }
        if not 0 <= (answer := int(target.reshape(()))) < self.candidates:
            raise ValueError(f"{name}: target must be 0…{self.candidates - 1}, got {answer}")
        for field, bits in described.items():
            if not set(bits.ravel().tolist()) <= {0, 1}:
                raise ValueError(f"{name}: {field} must hold 0 and 1, got {excerpt(bits.tolist())}")
        return answer, {field: bits.astype(np.int64) for field, bits in described.items()}

    def read_panels(self, path: Path) -> UInt8[np.ndarray, "time height width"]:
        """The panels of a problem, candidates last.

        They are stored one after another, whatever the shape of the array says; to move its last
        axis to the front would mix them up.

        Args:
            path: A file in the published layout.

        Raises:
            ValueError: If it is none, or holds other than grey levels. The message names the file
                and the field.
        """
        name = printable(path)
        with _opened(path) as archive:
            image = _array(name, archive, "image", self._check_image)
        with np.errstate(invalid="ignore"):  # of numbers that are none
            low, high = image.min(), image.max()
        if not (0 <= low <= high <= 255) or (image != image.astype(np.uint8)).any():
            raise ValueError(
                f"{name}: image must hold whole grey levels 0…255, "
                f"got {image.dtype} of {low}…{high}"
            )
        return image.astype(np.uint8).reshape(self.panels, PANEL_SIZE, PANEL_SIZE)

    def _check_image(self, name: str, header: _Header) -> None:
        side, panels = PANEL_SIZE, self.panels
        stored = ((side, side, panels), (panels, side, side), (panels * side * side,))
        if header.dtype.kind not in "iuf" or header.shape not in stored:
            raise ValueError(
                f"{name}: image must be grey levels of shape {stored[1]} or flat, one panel after "
                f"another, as they are too where the shape is {stored[0]}, "
                f"got {header.words}"
            )


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """The archive, judged before anything is unpacked; what breaks it becomes a `ValueError`."""
    name = printable(path)
    try:
        content = read_regular(path, _LARGEST_FILE)
    except OSError as error:
        raise ValueError(f"{name} must be a file of a problem: {error.strerror}") from error
    if (count := content.count(_ENTRY)) > _MOST_FIELDS:
        raise ValueError(f"{name} must hold at most {_MOST_FIELDS} fields, got {count}")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            yield archive
    except _BROKEN as error:
        raise ValueError(
            f"{name} must be a whole npz file, got a broken one: {excerpt(error)}"
        ) from error


@contextmanager
def _field(name: str, archive: zipfile.ZipFile, field: str) -> Iterator[zipfile.ZipExtFile]:
    """The bytes of a field; what breaks them becomes a `ValueError` that names it."""
    if f"{field}.npy" not in archive.namelist():
        raise ValueError(f"{name}: {field} must be there, it is missing")
    if archive.getinfo(f"{field}.npy").compress_type not in _PACKED:
        raise ValueError(f"{name}: {field} must be stored or deflated, it is packed otherwise")
    try:
        with _stream(archive, field) as stream:
            yield stream
    except _BROKEN as error:
        raise ValueError(
            f"{name}: {field} must be whole, got a broken one: {excerpt(error)}"
        ) from error


def _stream(archive: zipfile.ZipFile, field: str) -> zipfile.ZipExtFile:
    """A field opened; a place in the file that no file has is one of `_BROKEN` too."""
    try:
        return cast(zipfile.ZipExtFile, archive.open(f"{field}.npy"))
    except (ValueError, OverflowError) as error:
        raise OSError(str(error)) from error


def _header(name: str, field: str, stream: zipfile.ZipExtFile) -> _Header:
    """Header of a field, read without its numbers; headers over 64 KiB do not exist."""
    try:
        if (version := np.lib.format.read_magic(stream)) != (1, 0):
            raise ValueError(f"its version is {version[0]}.{version[1]}")
        header = _Header(*np.lib.format.read_array_header_1_0(stream))
    except _MALFORMED as error:
        raise ValueError(
            f"{name}: {field} must be a NumPy array of version 1.0, got something else: "
            f"{excerpt(error)}"
        ) from error
    shape = header.shape
    if len(shape) > _MOST_AXES or any(type(side) is not int or side < 0 for side in shape):
        raise ValueError(
            f"{name}: {field} must be of at most {_MOST_AXES} axes of whole sizes from 0 on, "
            f"got {header.words}"
        )
    if header.dtype.hasobject:
        raise ValueError(
            f"{name}: {field} must hold numbers, got pickled objects, which are never loaded: "
            "save it as an array of integers"
        )
    return header


def _array(
    name: str,
    archive: zipfile.ZipFile,
    field: str,
    check: Callable[[str, _Header], None],
) -> np.ndarray:
    """A field whose header passes a check; no more is unpacked than the header announces."""
    with _field(name, archive, field) as stream:
        header = _header(name, field, stream)
        check(name, header)
        length = math.prod(header.shape) * header.dtype.itemsize
        content = stream.read(length + 1)
    if len(content) != length:
        raise ValueError(
            f"{name}: {field} must be of {length:,} B as its header says, got "
            f"{'more' if len(content) > length else f'{len(content):,} B'}"
        )
    numbers = np.frombuffer(content, header.dtype)
    if header.columns_first:
        return numbers.reshape(header.shape[::-1]).transpose()
    return numbers.reshape(header.shape)


def _check_target(name: str, header: _Header) -> None:
    if header.dtype.kind not in "iu" or math.prod(header.shape) != 1:
        raise ValueError(f"{name}: target must be one integer, got {header.words}")


def _check_bits(name: str, header: _Header, *, field: str, shape: tuple[int, ...]) -> None:
    if header.dtype.kind not in "iu" or header.shape != shape:
        raise ValueError(f"{name}: {field} must be integers of shape {shape}, got {header.words}")
