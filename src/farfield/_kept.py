"""Values in the cache folder, kept until a file that they depend on changes; loads no torch."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, TypeVar, final

import msgspec

from farfield._files import cache_folder, read_regular, write_whole

PACKAGE: Final = Path(__file__).resolve().parent
"""Folder of the package."""

LARGEST_FILE: Final = 1 << 20
"""Largest size of a file of kept values in bytes."""

Value = TypeVar("Value")


@final
class _Kept(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Content of a file.

    Args:
        inputs: Digest of all that the value depends on.
        value: The value as JSON.
    """

    inputs: str
    value: msgspec.Raw


def kept(name: str, inputs: str, form: type[Value], make: Callable[[], Value]) -> Value:
    """Read a value from the cache folder; make it, and keep it, after any change of its inputs.

    Args:
        name: Path of its file in the cache folder.
        inputs: Digest of all that it depends on, e.g. from `stamps_digest`.
        form: Type of the value, for `msgspec`.
        make: Function that makes the value, which takes seconds.
    """
    try:
        path = cache_folder() / name
    except OSError:
        return make()
    with contextlib.suppress(OSError, ValueError, msgspec.MsgspecError):
        found = msgspec.json.decode(read_regular(path, LARGEST_FILE), type=_Kept)
        if found.inputs == inputs:
            return msgspec.json.decode(found.value, type=form)
    made = make()
    value = msgspec.Raw(msgspec.json.encode(made))
    with contextlib.suppress(OSError):
        write_whole(path, msgspec.json.encode(_Kept(inputs=inputs, value=value)))
    return made


def stamps_digest(folders: Iterable[Path], patterns: Iterable[str]) -> str:
    """Digest time and size of files, of the package and of its data, and names of the user's data.

    Args:
        folders: Folders of records and exports; they may be absent.
        patterns: Patterns of the files in them that matter.
    """
    wanted = [*patterns]
    paths = [path for folder in folders for one in wanted for path in folder.glob(one)]
    paths += [path for path in PACKAGE.rglob("*") if path.suffix in (".py", ".toml", ".tsv")]
    states = [(os.fspath(path), path.stat()) for path in sorted(paths)]
    stamps = [(name, state.st_mtime_ns, state.st_size) for name, state in states]
    data = os.environ.get("FARFIELD_DATA", "")
    files = sorted(path.name for path in Path(data).glob("*")) if data else []
    return hashlib.sha256(repr((stamps, files)).encode()).hexdigest()
