"""Arrays by their content: a digest, and the file that another process reads them from."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import math
import mmap
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

import msgspec
import numpy as np
import torch
from filelock import FileLock
from jaxtyping import Int64, Shaped
from torch import Tensor

from farfield._watch import unwatched
from farfield.core.internal import (
    cache_folder,
    excerpt,
    file_stamp,
    from_line,
    is_settled,
    num_cores,
    printable,
    read_regular,
    to_line,
    write_whole,
)

Values = Shaped[np.ndarray, "*shape"]

KINDS: Final = "biufU"
"""Kinds of types of arrays: booleans, integers, floating-point numbers and text."""
DIGITS: Final = 20
"""Hexadecimal digits of a digest, as many as of the key of an experiment."""
_CHUNK: Final = 2**22
"""Bytes that are digested at once: few enough for the cache of a core. Digests depend on it."""
_LARGEST: Final = 2**16
"""Bytes of the description of an array."""


@final
class KeptArray(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Description of an array in a file, which is mapped for each access.

    Memory is taken by the numbers that are read, and only while they are used.

    Args:
        path: The file.
        offset: Position of the first number in the file, bytes.
        shape: Shape of the array.
        strides: Bytes from one number to the next along each axis.
        dtype: Type of the numbers, in NumPy's letters.
        stamp: `file_stamp` of the file when its content was digested.
    """

    path: str
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    stamp: tuple[int, ...]

    def __len__(self) -> int:
        return self.shape[0]

    @contextlib.contextmanager
    def mapped(self, *, scattered: bool = False) -> Iterator[Values]:
        """Context manager: the array as a view of its file, read-only.

        Args:
            scattered: Read no rows beside the asked ones ahead.

        Raises:
            ValueError: If the file is missing or was changed since.
        """
        with unwatched():  # the content is in the key
            try:
                stamp = file_stamp(Path(self.path))
            except OSError as error:
                raise ValueError(
                    f"{printable(self.path)} must hold an array of the task: {error.strerror}"
                ) from error
            if stamp != self.stamp:
                raise ValueError(
                    f"{printable(self.path)} must not change while a task reads an array from it"
                )
            with Path(self.path).open("rb") as file:
                content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if scattered:
            content.madvise(mmap.MADV_RANDOM)
        yield np.ndarray(
            self.shape, self.dtype, buffer=content, offset=self.offset, strides=self.strides
        )

    def digest(self) -> str:
        """Compute the digest of the numbers, on all cores, as `_digest` does of an array."""
        return _digest(np.dtype(self.dtype), self.shape, self._rows)

    def _rows(self, rows: slice) -> Values:
        """Read some rows: by the file itself if they are one piece of it."""
        size = np.dtype(self.dtype).itemsize
        if self.strides != _packed(self.shape, size):
            with self.mapped() as values:
                return values[rows].copy()
        width = self.strides[0] // size
        with unwatched():
            return np.fromfile(
                self.path,
                self.dtype,
                count=(rows.stop - rows.start) * width,
                offset=self.offset + rows.start * self.strides[0],
            )


def _packed(shape: tuple[int, ...], size: int) -> tuple[int, ...]:
    """Return the strides of an array without gaps, bytes."""
    return tuple(size * math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


def _digest(
    dtype: np.dtype[np.generic], shape: tuple[int, ...], read: Callable[[slice], Values]
) -> str:
    """Compute 20 digits of SHA-256 over type, shape and the SHA-256 of every few rows.

    Args:
        dtype: Type of the array.
        shape: Its shape.
        read: Function from a slice of rows to their numbers.
    """
    size = dtype.itemsize * math.prod(shape[1:])
    step = max(1, _CHUNK // max(1, size))
    parts = [slice(at, min(at + step, shape[0])) for at in range(0, shape[0], step)]

    def part(rows: slice) -> bytes:
        return hashlib.sha256(_content(read(rows))).digest()

    total = hashlib.sha256(f"{dtype.str}{shape}".encode())
    with ThreadPoolExecutor(num_cores()) as pool:
        for found in pool.map(part, parts):
            total.update(found)
    return total.hexdigest()[:DIGITS]


def _content(values: Values) -> memoryview:
    """Return the bytes of an array."""
    return np.ascontiguousarray(values).reshape(-1).view(np.uint8).data


def keep(array: Values) -> str:
    """Digest an array, and make it known to other processes and later sessions.

    An array in memory is written into the cache folder once. An array that is mapped from a file
    remains there: it is read whole the first time, and after that only if the file has changed.

    Args:
        array: Numbers or text.

    Returns:
        Digits of SHA-256 over type, shape and numbers, by which `find` finds it.

    Raises:
        ValueError: If the cache folder cannot be written.
    """
    try:
        folder, there = _folder(), in_its_file(array)
        if there is None:
            array = np.ascontiguousarray(array)
            digest = _digest(array.dtype, array.shape, array.__getitem__)
        else:
            digest = _known_digest(folder, there)
        with contextlib.suppress(ValueError):
            find(digest)
            return digest
        if there is not None:
            _describe(folder, digest, there)
            return digest
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / "lock"):  # a file is not replaced while another process reads it
            with contextlib.suppress(ValueError):
                find(digest)
                return digest
            _write(folder, digest, array)
    except OSError as error:
        raise ValueError(
            f"arrays must be kept in the cache folder, which cannot be written: {excerpt(error)}; "
            "FARFIELD_CACHE names another folder"
        ) from error
    return digest


def find(digest: str) -> KeptArray:
    """Find the array of a digest.

    Args:
        digest: Result of `keep`, in this process or another one.

    Raises:
        ValueError: If this machine lacks the array, or its file holds other numbers.
    """
    try:
        folder = _folder()
        kept = from_line(read_regular(folder / f"{digest}.json", _LARGEST), KeptArray)
        stamp = file_stamp(Path(kept.path))
    except (OSError, ValueError) as error:
        raise ValueError(
            f"array {digest} must be on this machine: build the task once from the same "
            f"arrays here, or set FARFIELD_CACHE to a folder that has it ({excerpt(error)})"
        ) from error
    if stamp != kept.stamp:
        kept = msgspec.structs.replace(kept, stamp=stamp)
        if _digest_of(kept) != digest:
            raise ValueError(
                f"{printable(kept.path)} must hold array {digest}, it has other content; "
                "build the task again for the new content"
            )
        with contextlib.suppress(OSError):
            _describe(folder, digest, kept)
    return kept


def _digest_of(kept: KeptArray) -> str:
    """Compute the digest; of a file that has become too short, an empty text."""
    try:
        return kept.digest()
    except (TypeError, ValueError):
        return ""


def _folder() -> Path:
    return cache_folder() / "array-tasks"


def _write(folder: Path, digest: str, array: Values) -> None:
    """Write an array as an NPY file, with its description beside it."""
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, np.lib.format.header_data_from_array_1_0(array))
    path = folder / f"{digest}.npy"
    write_whole(path, head.getvalue(), _content(array))
    there = KeptArray(
        path=str(path.absolute()),
        offset=head.tell(),
        shape=array.shape,
        strides=array.strides,
        dtype=array.dtype.str,
        stamp=file_stamp(path),
    )
    _describe(folder, digest, there)


def _describe(folder: Path, digest: str, there: KeptArray) -> None:
    write_whole(folder / f"{digest}.json", to_line(there).encode())


def in_its_file(array: Values) -> KeptArray | None:
    """Find a mapped array in its file; `None` for an array in memory.

    Args:
        array: Any array; one that is mapped to be changed in memory alone is not in its file.
    """
    root = array
    while not (isinstance(root, np.memmap) and isinstance(root.base, mmap.mmap)):
        if not isinstance(root, np.ndarray) or root.base is None:
            return None
        root = root.base
    if root.filename is None or root.mode == "c" or min(array.strides, default=0) < 0:
        return None
    first, start = (part.__array_interface__["data"][0] for part in (array, root))
    path = os.path.abspath(root.filename)  # noqa: PTH100 — without following links
    return KeptArray(
        path=path,
        offset=root.offset + first - start,
        shape=array.shape,
        strides=array.strides,
        dtype=array.dtype.str,
        stamp=file_stamp(Path(path)),
    )


def _known_digest(folder: Path, there: KeptArray) -> str:
    """Compute the digest of a mapped array, or recall it for an unchanged file."""
    name = hashlib.sha256(to_line(there).encode()).hexdigest()
    note = folder / f"{name}.digest"
    with contextlib.suppress(OSError, ValueError):
        return from_line(read_regular(note, _LARGEST), str)
    digest = there.digest()
    if is_settled(there.stamp):
        write_whole(note, json.dumps(digest).encode())
    return digest


_DENSE: Final = 4
"""Rows of the file for each row that is read, up to which rows between them are read ahead."""


@final
@dataclass(frozen=True)
class ArrayReader:
    """Function from numbers of items to the items, read from an array when they are needed.

    Args:
        x: The array.
        length: Items of each of its rows.
        is_sequence: Whether the items of a row are its time steps.
        item_shape: Shape of an item.
    """

    x: KeptArray
    length: int
    is_sequence: bool
    item_shape: tuple[int, ...]

    def __call__(self, numbers: Int64[Tensor, " item"]) -> Shaped[Tensor, "item ..."]:
        rows, steps = np.divmod(numbers.numpy(), self.length)
        span = int(rows[-1] - rows[0]) if len(rows) else 0
        with self.x.mapped(scattered=span > _DENSE * len(rows)) as values:
            found = values[rows, steps] if self.is_sequence else values[rows]
        is_image = len(self.item_shape) > 1 and found.dtype == np.uint8
        found = found if is_image else found.astype(np.float32)
        return torch.from_numpy(found.reshape(len(rows), *self.item_shape))
