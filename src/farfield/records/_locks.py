"""File locks that the system releases when their process ends."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

from filelock import lock_descriptor

from farfield._system import proc_lines
from farfield.records._files import BusyError, StoreError

_LONGEST: Final = 32
"""Largest number of bytes that a lock holds."""


@final
@dataclass(frozen=True, kw_only=True)
class Lock:
    """A file locked by this process.

    Args:
        path: Where it was made.
        descriptor: The open file.
    """

    path: Path
    descriptor: int

    def is_in_place(self) -> bool:
        """Tell if the path of the lock still leads to this file."""
        try:
            found = self.path.lstat()
        except OSError:
            return False
        return os.path.samestat(found, os.fstat(self.descriptor))


@contextlib.contextmanager
def hold(path: Path, run: str) -> Iterator[Lock]:
    """Lock a file as long as the context lasts; it is removed at the end.

    Args:
        path: Where; its folder is made if need be.
        run: Name of the run, for the message that other processes get.

    Raises:
        BusyError: If another process holds it.
        StoreError: If it cannot be made, or the file system has no locks.
    """
    lock = _acquire(path, run)
    while not lock.is_in_place():  # another process let go of it, and removed it, just before
        os.close(lock.descriptor)
        lock = _acquire(path, run)
    try:
        _sign(lock)
        yield lock
    finally:
        _remove(lock)


def _acquire(path: Path, run: str) -> Lock:
    """Open and lock a file, which may have been replaced meanwhile."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink():
            path.unlink()  # its target is not ours to write
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        lock = Lock(path=path, descriptor=os.open(path, flags, 0o666))
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}") from error
    try:
        if lock_descriptor(lock.descriptor, blocking=False):
            return lock
        raise BusyError(f"process {_holder(path)} is at {run}; wait for it, or name another folder")
    except BaseException as error:
        os.close(lock.descriptor)
        if not isinstance(error, OSError):
            raise
        raise StoreError(
            f"cannot lock {path}: {error.strerror}; the file system {_file_system(path)} "
            "has no lock to give; name a folder on another"
        ) from error


def _remove(lock: Lock) -> None:
    """Remove and close a lock, while it is held where the system removes open files.

    Windows does not: there it is removed once it is closed, unless another process has it open.
    """
    is_refused = False
    try:
        if lock.is_in_place():
            lock.path.unlink()
    except OSError as error:
        is_refused = isinstance(error, PermissionError)
    finally:
        os.close(lock.descriptor)
    if is_refused:
        with contextlib.suppress(OSError):
            lock.path.unlink()


def _holder(path: Path) -> str:
    """Read the process that holds a lock from its file."""
    for start in (0, 1):  # Windows refuses to read the first byte, which is locked
        with contextlib.suppress(OSError), path.open("rb", buffering=0) as file:
            file.seek(start)
            return file.read(_LONGEST).decode("ascii", errors="replace").strip() or "unknown"
    return "unknown"


def _sign(lock: Lock) -> None:
    """Write the process into a lock, behind the byte that Windows locks."""
    try:
        os.ftruncate(lock.descriptor, 0)
        os.write(lock.descriptor, f"\n{os.getpid()}".encode())
    except OSError as error:
        raise StoreError(f"cannot write {lock.path}: {error.strerror}") from error


def _file_system(path: Path) -> str:
    """Find kind and mount point of the file system of a path, if the system lists them."""
    mounts = [(place, kind) for _, place, kind, *_ in map(str.split, proc_lines("self/mounts"))]
    own = [mount for mount in mounts if path.resolve().is_relative_to(mount[0])]
    place, kind = max(own, key=lambda mount: len(mount[0]), default=("", ""))
    return f"{kind} at {place}" if own else f"of {path.parent}"
