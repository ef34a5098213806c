"""Fetching real data into the cache, only when asked to."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urljoin

from farfield.core import (
    UnknownNameError,
    check_arguments,
    excerpt,
    kind_of,
    printable,
    read_regular,
)
from farfield.tasks._files._cache import place_whole
from farfield.tasks._files._data_sets import DataFile, cache_folder, check_digest
from farfield.tasks._files._download import check_address, download
from farfield.tasks._files._known_data_sets import DATA_SETS

SCHEMES: Final = ("https", "http", "file")
"""Allowed schemes of mirrors; files are checked by their digests, whatever the scheme."""


@check_arguments
def fetch(name: str, *, mirrors: Sequence[str] = ()) -> dict[Path, str]:
    """Bring the files of a data set into the cache, one after another.

    A file that is there and as published is left. Any other is read from the first mirror that has
    it as published, by size and SHA-256, written beside its place, and put there whole.

    Args:
        name: Name of the data set.
        mirrors: Addresses of folders to ask first, before those that are known.

    Returns:
        What each file was read from, by where it is now; an empty text if it was there.

    Raises:
        UnknownNameError: If the data set is unknown.
        ValueError: If an argument is of another type, or an address is none, of no scheme that is
            read, or holds a password.
        OSError: If no mirror gives a file as published, or it cannot be written.
    """
    if name not in DATA_SETS:
        raise UnknownNameError("data set", name, DATA_SETS)
    for mirror in kind_of(tuple[str, ...]).take("mirrors", mirrors):
        check_address(mirror, SCHEMES)
    data_set, folder = DATA_SETS[name], cache_folder() / name
    asked = (*mirrors, *data_set.mirrors)
    _check_place(folder)
    return {
        (path := folder / file.name): "" if _is_whole(path, file) else _bring(path, file, asked)
        for file in data_set.published
    }


def _check_place(folder: Path) -> None:
    """Raise `OSError`, before anything is asked for, where no folder could be made."""
    place = next(one for one in (folder, *folder.absolute().parents) if os.path.lexists(one))
    if not (place.is_dir() and os.access(place, os.W_OK)):
        what = "is read-only" if place.is_dir() else "is no folder"
        raise OSError(
            f"cannot make {printable(folder)}: {printable(place)} {what}; FARFIELD_CACHE names "
            "another folder for data sets"
        )


def _is_whole(path: Path, file: DataFile) -> bool:
    """True if the file exists as published."""
    with contextlib.suppress(OSError, ValueError):
        check_digest(str(path), read_regular(path, file.size), file)
        return True
    return False


def _bring(path: Path, file: DataFile, mirrors: Sequence[str]) -> str:
    """Put the file into its place from the first mirror that has it; returns the address."""
    failures = []
    for mirror in mirrors:
        address = urljoin(mirror.rstrip("/") + "/", file.name)
        try:
            content = download(address, file.size)
            check_digest(printable(address), content, file)
        except (OSError, ValueError) as error:
            failures.append(f"{printable(address)}: {excerpt(error)}")
            continue
        place_whole(path, content)
        return address
    raise OSError(f"{file.name} must come from a mirror, none has it:\n  " + "\n  ".join(failures))
