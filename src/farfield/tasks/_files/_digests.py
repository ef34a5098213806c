"""Digests of the files that tasks read, for records."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from farfield.core import file_digest, file_stamp, is_settled, printable, read_regular
from farfield.tasks._files._cache import place_whole
from farfield.tasks._files._data_sets import cache_folder
from farfield.tasks._protocol._abilities import ReadsFiles

MOST_NAMED: Final = 1_000
"""Largest number of files that have a digest each in a record; more have one for each folder."""
_LARGEST: Final = 2**30
_Known = dict[str, tuple[tuple[int, ...], str]]
"""Stamp and digest of each file of a set, by its path."""


def file_digests(task: Any) -> dict[str, str]:
    """SHA-256 of the files that a task reads, by their names; empty for a task that names none.

    Of more than 1,000 files, one digest for each folder, over the names and the digests in it.
    Those of the files are then kept in the cache folder, so that another process reads no file
    that has not changed.

    Args:
        task: Any task; a file that is missing is left out.

    Raises:
        ValueError: If a folder is missing, or a file cannot be read.
    """
    return _named(task.input_files()) if isinstance(task, ReadsFiles) else {}


def _named(files: Mapping[str, Path]) -> dict[str, str]:
    """Digests of files by their names, or of their folders if they are many."""
    if len(files) <= MOST_NAMED:
        return {name: _digest(path) for name, path in sorted(files.items()) if path.exists()}
    folders: dict[str, Any] = {}
    for name, digest in _many(files).items():
        folder = folders.setdefault(_folder(name), hashlib.sha256())
        folder.update(name.encode("utf-8", "surrogatepass") + b"\0" + digest.encode())
    return {folder: digest.hexdigest() for folder, digest in folders.items()}


def changed_files(task: Any, recorded: Mapping[str, str]) -> list[str]:
    """Files of a task that are not those of a record, in words; none where all are missing.

    Args:
        task: The task.
        recorded: What `file_digests` gave when the run was recorded.

    Raises:
        ValueError: If a file cannot be read.
    """
    if not recorded or not isinstance(task, ReadsFiles):
        return []
    try:
        files = task.input_files()
    except ValueError:  # the folder is on another machine
        return []
    found = _named(files)
    if found.keys().isdisjoint(recorded) and not any(path.exists() for path in files.values()):
        return []
    words = []
    for name in sorted(recorded.keys() | found.keys()):
        if name not in found:
            words.append(f"{name} is missing")
        elif name not in recorded:
            words.append(f"{name} is new")
        elif found[name] != recorded[name]:
            words.append(f"{name} has other content{_changed_last(files, name)}")
    return [printable(word) for word in words]


def _changed_last(files: Mapping[str, Path], name: str) -> str:
    """Words on the file that was changed last, where a folder has one digest."""
    own = [(path, file) for file, path in files.items() if _folder(file) == name]
    if name in files or not own:
        return ""
    return f" (changed last: {max(own, key=lambda one: max(file_stamp(one[0])[:2]))[1]})"


def _folder(name: str) -> str:
    """Name in records of the folder of a file, where each folder has one digest."""
    folder = name.rpartition("/")[0]
    return f"{folder}/*" if folder else "*"


def _digest(path: Path) -> str:
    try:
        return file_digest(path)
    except OSError as error:
        raise ValueError(f"{printable(path)} must be readable: {error.strerror}") from error


def _many(files: Mapping[str, Path]) -> dict[str, str]:
    """Digests of many files by name, of those alone anew that have changed since the last time."""
    place, known, settled = _place(files), _Known(), _Known()
    with contextlib.suppress(OSError, msgspec.MsgspecError):
        if place is not None:
            known = msgspec.json.decode(read_regular(place, _LARGEST), type=_Known)
    digests = {}
    for name, path in sorted(files.items()):
        try:
            stamp = file_stamp(path)
        except OSError as error:
            raise ValueError(f"{printable(path)} must be readable: {error.strerror}") from error
        before = known.get(str(path))
        digests[name] = before[1] if before and before[0] == stamp else _digest(path)
        if is_settled(stamp):
            settled[str(path)] = stamp, digests[name]
    if place is not None and settled != known:
        with contextlib.suppress(OSError):
            place_whole(place, msgspec.json.encode(settled))
    return digests


def _place(files: Mapping[str, Path]) -> Path | None:
    """File of the cache with the digests of a set of files; `None` for a user without a folder."""
    names = "\0".join(sorted(str(path.absolute()) for path in files.values()))
    try:
        folder = cache_folder()
    except OSError:
        return None
    digest = hashlib.sha256(names.encode("utf-8", "surrogatepass")).hexdigest()
    return folder / "digests" / f"{digest}.json"
