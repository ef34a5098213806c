"""Published data sets: their files with digests, and the search for these."""

from __future__ import annotations

import hashlib
import io
import math
import os
import zlib
from dataclasses import dataclass
from gzip import BadGzipFile, GzipFile
from pathlib import Path
from typing import final

import numpy as np
from jaxtyping import UInt8

from farfield.core import UnknownNameError, expand_home, printable, read_regular


@final
@dataclass(frozen=True, kw_only=True)
class DataFile:
    """One file of a data set, which holds an array of bytes.

    Args:
        name: Name of the file.
        sha256: SHA-256 of the file as published.
        size: Its length, bytes.
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

    Args:
        name: Its name, and that of its folder.
        files: What belongs to it.
        mirrors: Folders on the network that hold the files, in the order they are asked.
        licence: Under which licence it is published, and by whom.
        is_excerpt: Whether it is a part of a published one, which nobody but a user has.
    """

    name: str
    files: tuple[DataFile, ...]
    mirrors: tuple[str, ...]
    licence: str
    is_excerpt: bool = False

    def find(self, name: str) -> Path:
        """Path of a file: in the folder FARFIELD_DATA, else in the cache.

        Args:
            name: Name of the file.

        Raises:
            ValueError: If it is in neither.
        """
        for folder in folders():
            if (path := folder / self.name / name).is_file():
                return path
        places = " nor in ".join(printable(folder / self.name) for folder in folders())
        fetching = "" if self.is_excerpt else f"run `farfield fetch {self.name}`, or "
        raise ValueError(
            f"{name} of {self.name} must exist, it is not in {places}: "
            f"{fetching}set FARFIELD_DATA to a folder that has it"
        )

    def is_at_hand(self) -> bool:
        """True if every file is on this machine."""
        try:
            return all(self.find(file.name) for file in self.files)
        except ValueError:
            return False

    def read(self, name: str) -> UInt8[np.ndarray, ...]:
        """The array of a file in IDX format, compressed with gzip, if it is the published one.

        Args:
            name: Name of the file.

        Raises:
            UnknownNameError: If the data set has no such file.
            ValueError: If it is missing, or differs from the published one.
        """
        content = self.content(name)
        return _array(self.find(name), content, self.file(name).shape)

    def content(self, name: str) -> bytes:
        """The bytes of a file, if it is the published one.

        Args:
            name: Name of the file.

        Raises:
            UnknownNameError: If the data set has no such file.
            ValueError: If it is missing, or differs from the published one.
        """
        file = self.file(name)
        path = self.find(name)
        try:
            content = read_regular(path, file.size + 1)  # one byte more is another digest
        except OSError as error:
            raise ValueError(f"{printable(path)} must be readable: {error.strerror}") from error
        check_digest(printable(path), content, file)
        return content

    def file(self, name: str) -> DataFile:
        """The file of a name.

        Args:
            name: Name of the file.

        Raises:
            UnknownNameError: If the data set has no such file.
        """
        files = {file.name: file for file in self.files}
        if name not in files:
            raise UnknownNameError("file", name, files)
        return files[name]


def data_folder(named: str | Path | None = None) -> Path:
    """The folder of data sets that users keep: the one named, else that of FARFIELD_DATA.

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


def cache_folder() -> Path:
    """Folder of fetched data: FARFIELD_CACHE, else `farfield` in the user's cache folder.

    Raises:
        OSError: If none is named and the user has no folder.
    """
    if named := os.environ.get("FARFIELD_CACHE"):
        return expand_home(named)
    try:
        caches = expand_home(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError as error:
        raise OSError("FARFIELD_CACHE must name a folder where the user has none") from error
    return caches / "farfield"


def folders() -> tuple[Path, ...]:
    """The folders that hold data sets, in the order they are looked into."""
    found = [data_folder()] if os.environ.get("FARFIELD_DATA") else []
    try:
        found.append(cache_folder())
    except OSError:
        if not found:
            raise
    return tuple(found)


def check_digest(place: str, content: bytes, file: DataFile) -> None:
    """Raise `ValueError` unless `content` is the published file.

    Args:
        place: Where it was found, for the error.
        content: What was found.
        file: What is published.
    """
    if (found := hashlib.sha256(content).hexdigest()) != file.sha256:
        raise ValueError(
            f"{place} must be the published file of {file.size} bytes with SHA-256 {file.sha256}, "
            f"got {len(content)} bytes with {found}: put that one in its place"
        )


def _array(path: Path, content: bytes, shape: tuple[int, ...]) -> UInt8[np.ndarray, ...]:
    """Array of an IDX file: a magic number, the sizes as big-endian integers, the bytes."""
    head = bytes((0, 0, 8, len(shape))) + b"".join(size.to_bytes(4, "big") for size in shape)
    length = len(head) + math.prod(shape)
    try:
        with GzipFile(fileobj=io.BytesIO(content)) as file:
            unpacked = file.read(length + 1)
    except (BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"{printable(path)} must be a gzip file: {error}") from error
    if len(unpacked) != length or not unpacked.startswith(head):
        raise ValueError(
            f"{printable(path)} must hold an IDX array of bytes of shape {shape}, "
            f"{length} bytes with its head {head.hex()}; it begins {unpacked[: len(head)].hex()}"
        )
    return np.frombuffer(unpacked, np.uint8, offset=len(head)).reshape(shape)
