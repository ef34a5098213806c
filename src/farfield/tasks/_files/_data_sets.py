"""Published data sets: files with digests, their search, unpacking within limits, and the cache."""

from __future__ import annotations

import contextlib
import hashlib
import io
import lzma
import math
import os
import tarfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from gzip import BadGzipFile, GzipFile
from pathlib import Path
from typing import Any, Final, final

import numpy as np
from jaxtyping import UInt8

from farfield._watch import unwatched
from farfield.core.internal import (
    UnknownNameError,
    cache_folder,
    excerpt,
    expand_home,
    printable,
    read_regular,
    write_whole,
)

MOST_MEMORY: Final = 2**27
"""Bytes that a decoder of xz may take; the strongest preset takes 65 million."""
_BROKEN_TAR: Final = (tarfile.TarError, OSError, EOFError, ValueError, OverflowError)
"""Errors at an archive that is cut short or made up."""


def unpack_xz(name: str, content: bytes, most: int) -> bytes:
    """Unpack a file that is compressed with xz.

    Args:
        name: The file, for errors.
        content: Bytes of the file.
        most: Most bytes that it may hold; no more than one beyond is unpacked.

    Raises:
        ValueError: If it is cut short, holds more, or takes too much memory to unpack.
    """
    decoder = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MOST_MEMORY)
    try:
        unpacked = decoder.decompress(content, most + 1)
    except lzma.LZMAError as error:
        raise ValueError(f"{name} must be an xz file: {excerpt(error)}") from error
    _check_length(name, unpacked, most)
    if not decoder.eof:
        raise ValueError(f"{name} must be a whole xz file, it is cut short")
    return unpacked


def unpack_gzip(name: str, content: bytes, most: int) -> bytes:
    """Unpack a file that is compressed with gzip.

    Args:
        name: The file, for errors.
        content: Bytes of the file.
        most: Most bytes that it may hold; no more than one beyond is unpacked.

    Raises:
        ValueError: If it is cut short, or holds more.
    """
    try:
        with GzipFile(fileobj=io.BytesIO(content)) as file:
            unpacked = file.read(most + 1)
    except (BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"{name} must be a whole gzip file: {excerpt(error)}") from error
    _check_length(name, unpacked, most)
    return unpacked


def tar_files(name: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of the files of a tar archive, which is not written anywhere.

    Args:
        name: The archive, for errors.
        content: Bytes of the unpacked file.

    Raises:
        ValueError: If it is no whole archive, or holds anything but files and folders.
    """
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as archive:
            for member in archive:
                if member.isdir():
                    continue
                # A sparse file may say that it is far larger than the archive.
                if not member.isreg() or member.issparse():
                    raise ValueError(f"{excerpt(member.name)} is neither a file nor a folder")
                file = archive.extractfile(member)
                yield member.name, file.read() if file else b""
    except _BROKEN_TAR as error:
        raise ValueError(f"{name} must be a tar archive of files: {excerpt(error)}") from error


def _check_length(name: str, unpacked: bytes, most: int) -> None:
    if len(unpacked) > most:
        raise ValueError(f"{name} must unpack to at most {most:,} bytes, it holds more")


_DIGEST_SIZE = hashlib.sha256().digest_size


def cached_array(
    name: str, shape: tuple[int, ...], dtype: np.dtype[Any], make: Callable[[], np.ndarray]
) -> np.ndarray:
    """Load an array from the cache folder; make and keep it if it is missing or damaged.

    A folder that cannot be written keeps nothing.

    Args:
        name: Name of the array, with a digest of everything that it is made from.
        shape: Shape of the array.
        dtype: Type of the array.
        make: Makes it.
    """
    try:
        path = cache_folder() / "arrays" / name
    except OSError:  # a user without a folder
        return make()
    with contextlib.suppress(OSError, ValueError):
        return _read(path, shape, dtype)
    made = np.ascontiguousarray(make(), dtype)
    with contextlib.suppress(OSError):
        write_whole(path, made.data.cast("B"), hashlib.sha256(made.data).digest())
    return made


def _read(path: Path, shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
    """Read the array of a file: its bytes, then their SHA-256."""
    size = dtype.itemsize * int(np.prod(shape))
    content = memoryview(read_regular(path, size + _DIGEST_SIZE))
    if hashlib.sha256(content[:size]).digest() != content[size:]:
        raise ValueError("the array is damaged")
    return np.frombuffer(content[:size], dtype).reshape(shape)


_SLACK: Final = 2**20
"""Bytes by which a packed file, or the other files of an archive, may be longer than expected."""


@final
@dataclass(frozen=True, kw_only=True)
class DataFile:
    """One file of a data set, which holds an array of bytes.

    Args:
        name: Name of the file.
        sha256: SHA-256 of the file as published.
        size: Length of the file, bytes.
        shape: Shape of the array.
    """

    name: str
    sha256: str
    size: int
    shape: tuple[int, ...]


@final
@dataclass(frozen=True, kw_only=True)
class DataSet:
    """A published data set, file by file.

    A file may also be there compressed with xz, under its name and `.xz`, or inside the archive;
    its digest is the digest of the unpacked file.

    Args:
        name: Name of the data set and of its folder.
        files: Files, by their names in its folder and in the archive.
        mirrors: Folders on the network that hold the files, in the order they are asked.
        licence: License of the publication, and its authors.
        is_excerpt: Whether it is a part or a copy of a published one, which nobody but a user has.
        archive: The tar archive, compressed with gzip, that the files are published in, if any.
        pickles: Names of published files that are pickles, which are never loaded.
    """

    name: str
    files: tuple[DataFile, ...]
    mirrors: tuple[str, ...]
    licence: str
    is_excerpt: bool = False
    archive: DataFile | None = None
    pickles: tuple[str, ...] = ()

    @property
    def published(self) -> tuple[DataFile, ...]:
        """Files on the network: the archive, if there is one, otherwise all files."""
        return self.files if self.archive is None else (self.archive,)

    def find(self, name: str) -> Path:
        """Find the path of a file, or of its packed form: in FARFIELD_DATA, else in the cache.

        Args:
            name: Name of the file.

        Raises:
            ValueError: If it is in neither.
        """
        packed = (name, f"{name}.xz", *([self.archive.name] if self.archive else ()))
        for folder in folders():
            for known in packed:
                if (path := folder / self.name / known).is_file():
                    return path
        searched = " nor in ".join(printable(folder / self.name) for folder in folders())
        fetching = "" if self.is_excerpt else f"run `farfield fetch {self.name}`, or "
        raise ValueError(
            f"{name} of {self.name} must exist, it is not in {searched}: "
            f"{fetching}set FARFIELD_DATA to a folder that has it{self._refusal()}"
        )

    def _refusal(self) -> str:
        """Explain that pickles in the folder are never loaded."""
        there = [
            printable(path)
            for folder in folders()
            for name in self.pickles
            if (path := folder / self.name / name).exists()
        ]
        return f"; {there[0]} holds pickles, which are never loaded" if there else ""

    def is_at_hand(self, *names: str) -> bool:
        """Check whether files are on this machine.

        Args:
            names: Names of the files; without one, all files.
        """
        try:
            return all(self.find(name) for name in names or [file.name for file in self.files])
        except ValueError:
            return False

    def read(self, name: str) -> UInt8[np.ndarray, "*shape"]:
        """Read the array of a file in IDX format, compressed with gzip, and check its digest.

        Args:
            name: Name of the file.

        Raises:
            UnknownNameError: If the data set has no such file.
            ValueError: If it is missing, or differs from the published one.
        """
        content = self.content(name)
        return _array(self.find(name), content, self.file(name).shape)

    def content(self, name: str) -> bytes:
        """Read the bytes of a file, and check its digest.

        Args:
            name: Name of the file.

        Raises:
            UnknownNameError: If the data set has no such file.
            ValueError: If it is missing, or differs from the published one.
        """
        return self.contents(name)[0]

    def contents(self, *names: str) -> list[bytes]:
        """Read the bytes of several files, and check their digests; an archive is read once.

        Args:
            names: Names of the files.

        Raises:
            UnknownNameError: If the data set has no such file.
            ValueError: If one is missing, or differs from the published one.
        """
        paths = {self.file(name): self.find(name) for name in names}
        found: dict[str, bytes] = {}
        with unwatched():  # their content is known
            for path in dict.fromkeys(paths.values()):
                found |= self._unpacked(path, [file for file, own in paths.items() if own == path])
        for file, path in paths.items():
            check_digest(printable(path), found[file.name], file)
        return [found[name] for name in names]

    def _unpacked(self, path: Path, files: Sequence[DataFile]) -> Mapping[str, bytes]:
        """Unpack the bytes of files by name: of a plain or compressed file, or of an archive."""
        name = printable(path)
        if self.archive is not None and path.name == self.archive.name:
            packed = _content(path, self.archive.size)
            check_digest(name, packed, self.archive)
            most = sum(file.size for file in self.files) + _SLACK
            inside = dict(tar_files(name, unpack_gzip(name, packed, most)))
            return {file.name: inside.get(file.name, b"") for file in files}
        (file,) = files
        if path.name != Path(file.name).name:
            packed = _content(path, file.size + _SLACK)
            return {file.name: unpack_xz(name, packed, file.size)}
        return {file.name: _content(path, file.size)}

    def file(self, name: str) -> DataFile:
        """Return the file of a name.

        Args:
            name: Name of the file.

        Raises:
            UnknownNameError: If the data set has no such file.
        """
        files = {file.name: file for file in self.files}
        if name not in files:
            raise UnknownNameError("file", name, files)
        return files[name]


def _content(path: Path, size: int) -> bytes:
    """Read the bytes of a file of a known size."""
    try:
        return read_regular(path, size + 1)  # one byte more is another digest
    except OSError as error:
        raise ValueError(f"{printable(path)} must be readable: {error.strerror}") from error


def data_folder(named: str | Path | None = None) -> Path:
    """Return the folder of the user's data sets: the one named, else the folder FARFIELD_DATA.

    Args:
        named: The folder, if it is known.

    Raises:
        ValueError: If neither names one.
    """
    named = named or os.environ.get("FARFIELD_DATA")
    if not named:
        raise ValueError(
            "folder must name the data folder, got none: pass it, or set FARFIELD_DATA"
        )
    return expand_home(named)


def folders() -> tuple[Path, ...]:
    """List the folders of data sets, in the order of search."""
    found = [data_folder()] if os.environ.get("FARFIELD_DATA") else []
    try:
        found.append(cache_folder())
    except OSError:
        if not found:
            raise
    return tuple(found)


def check_digest(path: str, content: bytes, file: DataFile) -> None:
    """Raise `ValueError` unless `content` is the published file.

    Args:
        path: Path of the file, for the error.
        content: Bytes of the file.
        file: Published file.
    """
    if (found := hashlib.sha256(content).hexdigest()) != file.sha256.lower():
        raise ValueError(
            f"{path} must be the published file of {file.size} bytes with SHA-256 {file.sha256}, "
            f"got {len(content)} bytes with {found}: replace it"
        )


def _array(path: Path, content: bytes, shape: tuple[int, ...]) -> UInt8[np.ndarray, "*shape"]:
    """Parse the array of an IDX file: magic number, sizes as big-endian integers, bytes."""
    head = bytes((0, 0, 8, len(shape))) + b"".join(size.to_bytes(4, "big") for size in shape)
    length = len(head) + math.prod(shape)
    unpacked = unpack_gzip(printable(path), content, length)
    if len(unpacked) != length or not unpacked.startswith(head):
        raise ValueError(
            f"{printable(path)} must hold an IDX array of bytes of shape {shape}, "
            f"{length} bytes with its head {head.hex()}; it begins {unpacked[: len(head)].hex()}"
        )
    return np.frombuffer(unpacked, np.uint8, offset=len(head)).reshape(shape)
