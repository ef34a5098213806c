"""Published problems of panels, read from folders or lists of untrusted files."""

from __future__ import annotations

import codecs
import io
import itertools
import math
import os
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple, cast, final

import numpy as np
import torch
from jaxtyping import Int64, UInt8
from torch import Tensor

from farfield.core import Problems
from farfield.core.internal import LazyItems, excerpt, expand_home, printable, read_regular
from farfield.tasks._files._data_sets import data_folder
from farfield.tasks._protocol._task import check_number

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
"""Signature of every entry of the directory of an archive, found by chance once in 4 GB."""
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
        candidates: Number of candidates, the last panels; `target` names one.
        described: Fields of 0 and 1 that describe a problem and may be absent, with their shapes.
    """

    panels: int
    candidates: int
    described: tuple[tuple[str, tuple[int, ...]], ...]

    def read_answer(self, path: Path) -> tuple[int, dict[str, Int64[np.ndarray, "*_"]]]:
        """Read the index of the right candidate, and the describing fields of the file.

        That there are pictures of the right size is checked as well; they are not read.

        Args:
            path: A file in the published layout.

        Raises:
            ValueError: If the file is no such archive. The message names the file and the field.
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
        """Read the panels of a problem, candidates last.

        They are stored one after another, whatever the shape of the array says; to move its last
        axis to the front would mix them up.

        Args:
            path: A file in the published layout.

        Raises:
            ValueError: If the file is no such archive, or holds other than gray levels. The message
                names the file and the field.
        """
        name = printable(path)
        with _opened(path) as archive:
            image = _array(name, archive, "image", self._check_image)
        with np.errstate(invalid="ignore"):  # of values that are NaN
            low, high = image.min(), image.max()
        if not (0 <= low <= high <= 255) or (image != image.astype(np.uint8)).any():
            raise ValueError(
                f"{name}: image must hold whole gray levels 0…255, "
                f"got {image.dtype} of {low}…{high}"
            )
        return image.astype(np.uint8).reshape(self.panels, PANEL_SIZE, PANEL_SIZE)

    def _check_image(self, name: str, header: _Header) -> None:
        side, panels = PANEL_SIZE, self.panels
        stored = ((side, side, panels), (panels, side, side), (panels * side * side,))
        if header.dtype.kind not in "iuf" or header.shape not in stored:
            raise ValueError(
                f"{name}: image must be gray levels of shape {stored[1]} or flat, one panel after "
                f"another, also where the header has {stored[0]}, "
                f"got {header.words}"
            )


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """Context manager: open the archive, judged before unpacking; faults become a `ValueError`."""
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
    """Read the bytes of a field; faults become a `ValueError` that names the field."""
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
    """Open a field; an offset outside of the file is one of `_BROKEN` too."""
    try:
        return cast(zipfile.ZipExtFile, archive.open(f"{field}.npy"))
    except (ValueError, OverflowError) as error:
        raise OSError(str(error)) from error


def _header(name: str, field: str, stream: zipfile.ZipExtFile) -> _Header:
    """Read the header of a field without its numbers; headers over 64 KiB do not exist."""
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
    name: str, archive: zipfile.ZipFile, field: str, check: Callable[[str, _Header], None]
) -> np.ndarray:
    """Read a field whose header passes a check; no more is unpacked than the header announces."""
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


MOST_FILES: Final = 10_000_000
_LARGEST_LIST: Final = 2**27
"""Bytes; a list of 1,200,000 paths has 80 million."""
_MOST_LINES: Final = 2_000_000
_LONGEST_LINE: Final = 4_096
"""Bytes; no system takes longer paths."""

Panels = UInt8[np.ndarray, "time _ _"]
Smaller = Callable[[Panels, int], Panels]
"""Makes panels smaller by a whole number of times in each direction."""


def every_so_manyth(panels: Panels, step: int) -> Panels:
    """Keep every n-th pixel of panels, the first included.

    Args:
        panels: The panels.
        step: Factor of reduction.
    """
    return panels[:, ::step, ::step]


def block_means(panels: Panels, step: int) -> Panels:
    """Average each square of pixels of panels, rounded, so that thin lines fade, not vanish.

    For halves it equals bilinear interpolation.

    Args:
        panels: The panels.
        step: Factor of reduction, at most 16.
    """
    side = panels.shape[1] // step
    rows = panels.reshape(-1, side, step, side * step)
    added: Any = sum(rows[:, :, offset].astype(np.uint16) for offset in range(step))
    added = sum(added[..., offset::step] for offset in range(step))
    return ((added + step * step // 2) // (step * step)).astype(np.uint8)


def files_of(source: str | Path, pattern: str, at_most: int | None) -> Iterator[Path]:
    """Yield files of problems, all of them inside the folder.

    Args:
        source: A folder of files, in the order of the last number in their names; or a text
            file with a path a line, relative to its own folder.
        pattern: Pattern of the names of files, with the wildcards of a shell; without effect on a
            list.
        at_most: Number of files, the first ones; `None` for all.

    Raises:
        ValueError: If an argument is wrong, there are none, one is named twice, or a path leads out
            of the folder.
    """
    if at_most is not None:
        check_number("at_most", at_most, 1, MOST_FILES)
    source = expand_home(source)
    is_list = source.is_file()
    named = _listed(source) if is_list else _matching(source, pattern)
    folder = _resolved(source.parent if is_list else source)
    before: set[str] = set()
    for path in itertools.islice(named, at_most):
        found = _inside(folder, path)
        if str(found) in before:
            raise ValueError(
                f"{printable(source)} must name a file once, got {printable(found)} again"
            )
        before.add(str(found))
        yield found


def read_files(
    paths: Iterable[Path], *, image_size: int, layout: PanelFile, smaller: Smaller
) -> Problems:
    """Read problems from files, one a file: answers at once, panels when they are asked for.

    Args:
        paths: The files.
        image_size: Width and height of a panel.
        layout: Layout of a file.
        smaller: Makes panels smaller where `image_size` is less than is stored.

    Raises:
        ValueError: If an argument is wrong, or a file is not complete in the published layout.
    """
    check_image_size(image_size)
    names: list[str] = []
    answers: list[int] = []
    described: dict[str, bytearray] = {name: bytearray() for name, _ in layout.described}
    for path in paths:
        answer, bits = layout.read_answer(path)
        names.append(str(path))
        answers.append(answer)
        described = {name: described[name] for name in described if name in bits}
        for name, column in described.items():
            column.extend(bits[name].astype(np.uint8).tobytes())
    count = len(answers)
    shapes = {name: (count, *shape) for name, shape in layout.described}
    return Problems(
        items=LazyItems(
            latent=torch.arange(count * layout.panels),
            draw=partial(
                _drawn, paths=tuple(names), image_size=image_size, layout=layout, smaller=smaller
            ),
        ),
        index=torch.arange(count * layout.panels).view(count, layout.panels),
        target=torch.tensor(answers),
        latent={
            name: torch.frombuffer(column, dtype=torch.uint8).view(shapes[name]).long()
            for name, column in described.items()
        },
    )


def _drawn(
    rows: Int64[Tensor, " item"],
    *,
    paths: Sequence[str],
    image_size: int,
    layout: PanelFile,
    smaller: Smaller,
) -> UInt8[Tensor, "item height width"]:
    """Read the panels of these numbers, counted from file to file; each file is read once."""
    panels = torch.empty(len(rows), image_size, image_size, dtype=torch.uint8)
    files, slots = rows // layout.panels, rows % layout.panels
    for file in sorted(set(files.tolist())):
        wanted = files == file
        read = smaller(layout.read_panels(Path(paths[file])), PANEL_SIZE // image_size)
        panels[wanted] = torch.from_numpy(read)[slots[wanted]]
    return panels


def _matching(folder: Path, pattern: str) -> list[Path]:
    """List files of a folder, in the order of the last number in their names."""
    if not folder.is_dir():
        raise ValueError(
            f"source must be a folder or a list of files that exists, got {printable(folder)}"
        )
    if "/" in pattern or os.sep in pattern or ".." in pattern or pattern in {"", "."}:
        raise ValueError(f"pattern must be of names in the folder, without a path, got {pattern!r}")
    paths = sorted(folder.glob(pattern), key=_number)
    if not paths:
        raise ValueError(
            f"source must hold files {pattern!r}, there are none in {printable(folder)}"
        )
    return paths


def panel_paths(folders: Mapping[str, Path], patterns: Mapping[str, int | None]) -> dict[str, Path]:
    """List the paths of files of problems, by their names.

    Args:
        folders: Folders, by the prefix of the names of their files.
        patterns: Maximum number of files, the first of each folder, by the pattern of their names;
            `None` for all.

    Raises:
        ValueError: If a folder has no files.
    """
    return {
        f"{prefix}{path.name}": path
        for prefix, folder in folders.items()
        for pattern, at_most in patterns.items()
        for path in _matching(folder, pattern)[:at_most]
    }


def _number(path: Path) -> tuple[int, str]:
    numbers = [part for part in path.stem.split("_") if part.isdecimal()]
    return (int(numbers[-1]) if numbers else MOST_FILES, path.name)


def _listed(source: Path) -> Iterator[Path]:
    """Yield the files that a list names, in its order, resolved when they are asked for."""
    name, found = printable(source), False
    try:
        content = read_regular(source, _LARGEST_LIST)
        if (count := content.count(b"\n")) > _MOST_LINES:
            raise ValueError(f"{name} must have at most {_MOST_LINES:,} lines, got {count:,}")
        for number, line in enumerate(io.BytesIO(content.removeprefix(codecs.BOM_UTF8)), 1):
            if len(line) > _LONGEST_LINE:
                raise ValueError(
                    f"{name} must have lines of at most {_LONGEST_LINE:,} bytes, line {number} is "
                    "longer"
                )
            if text := line.decode("utf-8").strip():
                found = True
                yield source.parent / text
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{name} must be a list of paths in UTF-8: {error}") from error
    if not found:
        raise ValueError(f"{name} must name files, one a line, got an empty list")


def _resolved(path: Path) -> Path:
    """Return the path with links followed."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError) as error:  # a loop of links, or no path at all
        raise ValueError(f"{str(path)!r} must lead to a file, it leads nowhere: {error}") from error


def _inside(folder: Path, path: Path) -> Path:
    """Return the path with links followed, which must lie in the folder."""
    found = _resolved(path)
    if not found.is_relative_to(folder):
        raise ValueError(
            f"{printable(path)} must lie in {printable(folder)}, it leads to {printable(found)}: "
            "keep the files beside their list"
        )
    return found


def found_folder(named: str | None, *names: str) -> Path:
    """Find a folder within the data folder, by nested names; the last name may be missing.

    Args:
        named: The data folder; without one, that of the environment variable FARFIELD_DATA.
        names: Name of the publication's folder, and of a folder in it, which may hold the files.

    Raises:
        ValueError: If no folder is named, or there is none.
    """
    wanted = data_folder(named).joinpath(*names)
    found = wanted if wanted.is_dir() else wanted.parent
    if not found.is_dir():
        raise ValueError(
            f"folder must be a data folder with {'/'.join(names)}, got none at "
            f"{printable(wanted)}: pass another, or set FARFIELD_DATA"
        )
    return found


def check_image_size(image_size: int) -> None:
    """Raise `ValueError` unless panels can be had at this size.

    Args:
        image_size: Width and height in pixels.
    """
    if image_size not in IMAGE_SIZES:
        raise ValueError(f"image_size must be one of {IMAGE_SIZES}, got {image_size!r}")
