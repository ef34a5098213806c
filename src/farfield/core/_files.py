"""Where a file may be written."""

from __future__ import annotations

import errno
from pathlib import Path


def writable_place(path: Path) -> Path:
    """The file that a path leads to, links followed, to be replaced by a whole one.

    Args:
        path: Where something is to be written.

    Raises:
        OSError: If what is there is a device, a pipe or a socket, which a file must not replace.
    """
    place = path.resolve()
    if place.exists() and not (place.is_file() or place.is_dir()):
        raise OSError(errno.EINVAL, "it must be a regular file, not a device, pipe or socket")
    return place
