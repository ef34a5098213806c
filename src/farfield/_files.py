"""Safe opening, reading and replacing of files."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import secrets
import stat
import sys
import time
from collections.abc import Iterable
from io import BufferedReader
from pathlib import Path
from typing import Final

from farfield._system import replace_file


def open_regular(path: Path, most: int) -> BufferedReader:
    """Open a regular file for reading; refuse anything else without waiting for it.

    Args:
        path: The file; links are followed.
        most: Its largest size in bytes.

    Raises:
        OSError: If there is none, it cannot be read, it is a folder, a device, a pipe or a socket,
            or it is larger.
    """
    try:
        known = path.stat()
    except ValueError as error:  # a zero byte in the name
        raise OSError(errno.EINVAL, str(error)) from error
    if not stat.S_ISREG(known.st_mode):
        raise OSError(
            errno.EINVAL, "it must be a regular file, not a folder, device, pipe or socket"
        )
    if known.st_size > most:
        raise OSError(errno.EFBIG, f"it must be of at most {most:,} bytes, got {known.st_size:,}")
    return path.open("rb")


def read_regular(path: Path, most: int) -> bytes:
    """Read the content of a regular file.

    Args:
        path: The file; links are followed.
        most: Its largest size in bytes.

    Raises:
        OSError: As `open_regular`.
    """
    with open_regular(path, most) as file:
        return file.read(most)


def expand_home(path: str | os.PathLike[str]) -> Path:
    """Expand a path with `~` for the home folder to a path of the system.

    Args:
        path: Any path.

    Raises:
        ValueError: If it is empty, or names the home of somebody who is not known here.
    """
    if not os.fspath(path):
        raise ValueError("path must not be empty; '.' is the current folder")
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise ValueError(
            f"path must start with a home folder that exists, got {os.fspath(path)!r}; "
            f"{'./' + os.fspath(path)!r} is the folder of that name"
        ) from error


def writable_place(path: Path) -> Path:
    """Find the file to replace: follow `~` and links of a path.

    Args:
        path: Where something is to be written.

    Raises:
        OSError: If the path leads to a device, a pipe or a socket, which a file must not replace,
            or links lead in a circle.
    """
    try:
        place = expand_home(path).resolve()
    except RuntimeError as error:  # of Python 3.11 and 3.12 at a circle
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from error
    if place.exists() and not (place.is_file() or place.is_dir()):
        raise OSError(errno.EINVAL, "it must be a regular file, not a device, pipe or socket")
    return place


def write_whole(path: Path, *parts: bytes | memoryview) -> None:
    """Write a file under a temporary name and rename it, so that it is whole or absent.

    Args:
        path: Path of the file; folders are made.
        parts: Bytes of the file, one part after the other.

    Raises:
        OSError: If it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with temporary.open("wb") as written:
            for part in parts:
                written.write(part)
            written.flush()
            os.fsync(written.fileno())
        replace_file(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def cache_folder() -> Path:
    """Return the folder of fetched data: FARFIELD_CACHE, else `farfield` in the user's cache.

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


def file_stamp(path: Path) -> tuple[int, ...]:
    """Stamp a file by times, size and number: equal stamps mean equal contents.

    Args:
        path: The file.
    """
    known = path.stat()
    return known.st_mtime_ns, known.st_ctime_ns, known.st_size, known.st_ino


TICK: Final = 5_000_000_000
"""Nanoseconds; longer than a tick of the clock of any disk."""

_digests: Final = dict[str, tuple[tuple[int, ...], str]]()
"""Digests of files by path, each with the stamp of the file."""


def file_digest(path: Path) -> str:
    """Digest the content of a file, read again in one process only after its stamp changed.

    Args:
        path: The file; links are followed.

    Raises:
        OSError: As `open_regular`.
    """
    name = os.path.abspath(path)  # noqa: PTH100 — without following links
    stamp = file_stamp(path)
    known = _digests.get(name)
    if known is not None and known[0] == stamp:
        return known[1]
    with open_regular(path, sys.maxsize) as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if is_settled(stamp):
        _digests[name] = stamp, digest
    return digest


def is_settled(stamp: tuple[int, ...]) -> bool:
    """Check whether a file is old enough that another change would change its stamp.

    Args:
        stamp: Its `file_stamp`.
    """
    return time.time_ns() - max(stamp[:2]) > TICK


def python_digest(places: Iterable[Path]) -> str:
    """Digest files of Python and their names; return the first digits of the SHA-256.

    Args:
        places: Folders, with all that are below them, or files; those that cannot be read are
            left out.
    """
    digest = hashlib.sha256()
    for place in places:
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            with contextlib.suppress(OSError):
                content = hashlib.sha256(path.read_bytes()).digest()
                name = path.relative_to(place).as_posix() if place.is_dir() else path.name
                digest.update(name.encode("utf-8", "surrogatepass") + b"\0" + content)
    return digest.hexdigest()[:16]
