"""Where a file may be written."""

from __future__ import annotations

import errno
import os
from pathlib import Path


def expand_home(path: str | os.PathLike[str]) -> Path:
    """A path as people write it, with `~` for the home folder, as one that the system knows.

    Args:
        path: Any path.

    Raises:
        ValueError: If it names the home of somebody who is not known here.
    """
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise ValueError(
            f"path must start with a home folder that exists, got {os.fspath(path)}; "
            f"./{os.fspath(path)} is the folder of that name"
        ) from error


def writable_place(path: Path) -> Path:
    """The file that a path leads to, links followed, to be replaced by a whole one.

    Args:
        path: Where something is to be written.

    Raises:
        OSError: If what is there is a device, a pipe or a socket, which a file must not replace, or
            links lead in a circle.
    """
    try:
        place = expand_home(path).resolve()
    except RuntimeError as error:  # what Python 3.11 and 3.12 make of a circle
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from error
    if place.exists() and not (place.is_file() or place.is_dir()):
        raise OSError(errno.EINVAL, "it must be a regular file, not a device, pipe or socket")
    return place
