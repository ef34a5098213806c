"""Unpacking of files within limits: xz, gzip and tar."""

from __future__ import annotations

import io
import lzma
import tarfile
import zlib
from collections.abc import Iterator
from gzip import BadGzipFile, GzipFile
from typing import Final

from farfield.core import excerpt

MOST_MEMORY: Final = 2**27
"""Bytes that a decoder of xz may take; the strongest preset takes 65 million."""
_BROKEN_TAR: Final = (tarfile.TarError, OSError, EOFError, ValueError, OverflowError)
"""Errors at an archive that is cut short or made up."""


def unpack_xz(name: str, content: bytes, most: int) -> bytes:
    """Content of a file that is compressed with xz.

    Args:
        name: The file, for errors.
        content: Its bytes.
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
    """Content of a file that is compressed with gzip.

    Args:
        name: The file, for errors.
        content: Its bytes.
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
        content: Its bytes, unpacked.

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
