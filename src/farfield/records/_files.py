"""Files that are written whole or not at all, tensors and states of networks in them."""

from __future__ import annotations

import contextlib
import errno
import glob
import hashlib
import itertools
import json
import os
import secrets
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final, final

import safetensors.torch
import torch
from torch import Tensor
from torch.nn.parameter import is_lazy

from farfield._system import replace_file
from farfield.core import FarfieldError
from farfield.core.internal import excerpt, expand_home, open_regular, writable_place


@final
class StoreError(FarfieldError):
    """The folder of records cannot be read or written; finished runs are kept."""


@final
class BusyError(FarfieldError):
    """Another process is training the same run."""


@final
class DamageWarning(UserWarning):
    """A run is damaged; it counts as not done."""


_NOTE = "farfield"
_ORDER = "\0"
"""Separator of a note and the order of the tensors, which no note in JSON has."""
_SCRAP_SECONDS = 3600.0
"""No living process takes this long between the first byte and the renaming."""
_CLOCK_SECONDS = 5.0
"""Longer than a tick of any disk's clock."""

LARGEST_HEADER: Final = 4 << 20
"""Largest header of a file of tensors in bytes; 50,000 tensors take as many."""
MOST_TENSORS: Final = 10_000
"""Largest number of tensors of a file: each takes as long to read as thousands of numbers."""


def write_whole(path: Path, content: bytes) -> None:
    """Write a file atomically: readers find all of the old bytes or all of the new bytes.

    Temporary files that killed processes left beside it, an hour ago or more, are removed.

    Args:
        path: Where, links followed; its folder is made if need be.
        content: The bytes.

    Raises:
        StoreError: If the disk is full, or the folder cannot be written.
    """
    with _named("write", path):
        place = writable_place(path)
        _write(place, content, place)
    _sweep_old(place)


def lost_link(path: Path) -> str:
    """Describe the first link on a path that leads nowhere; empty without one.

    Args:
        path: Any path.
    """
    for place in [*reversed(path.parents), path]:
        if not place.is_symlink():
            continue
        try:
            place.stat()
        except FileNotFoundError:
            return f"{place} is a link to {place.readlink()}, which is not there"
        except OSError:  # links in a circle
            return ""
    return ""


@contextlib.contextmanager
def _named(verb: str, path: Path) -> Iterator[None]:
    """Make the `StoreError` that names the file, from an error of the system."""
    try:
        yield
    except OSError as error:
        raise StoreError(f"cannot {verb} {path}: {error.strerror or error}") from error


def _write(path: Path, content: bytes, beside: Path) -> str:
    """Write under a temporary name, of which an error leaves nothing, and rename it.

    Returns the stamp of the file, which is that of these bytes even where another process writes
    the same file at once.
    """
    temporary = beside.with_name(f".{beside.name}.{secrets.token_hex(4)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _create(temporary) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            stamp = _stamp(os.fstat(file.fileno()))
        replace_file(temporary, path)
        _sync_folder(path.parent)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    return stamp


def _create(path: Path) -> BinaryIO:
    """Create a file in a folder that another process may remove while it is empty."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        return path.open("wb")
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("wb")


def _stamp(status: os.stat_result) -> str:
    return f"{status.st_size} {status.st_mtime_ns}"


def stamp_of(path: Path) -> str:
    """Read size and time of the last change of a file, which another file would hardly have.

    Args:
        path: The file. The stamp is empty if it cannot be looked at, or was changed in the last
            seconds: it may be changed again while the clock of the disk shows the same time.
    """
    try:
        status = path.lstat()
    except OSError:
        return ""
    return _stamp(status) if time.time() - status.st_mtime > _CLOCK_SECONDS else ""


def scraps(path: Path) -> Iterator[Path]:
    """List the temporary files of a file, left by killed processes.

    Args:
        path: The file.
    """
    return path.parent.glob(f".{glob.escape(path.name)}.{'[0-9a-f]' * 8}.tmp")


def _sweep_old(path: Path) -> None:
    """Remove old temporary files of a file, by the clock of its folder, just written to."""
    with contextlib.suppress(OSError):
        now = path.parent.stat().st_mtime
        for scrap in scraps(path):
            if now - scrap.stat().st_mtime > _SCRAP_SECONDS:
                scrap.unlink()


def set_aside(path: Path, reason: str) -> None:
    """Rename an unusable file, never over an earlier one, and warn.

    Args:
        path: The file; where there is none, the warning is all.
        reason: Why it cannot be used.

    Raises:
        StoreError: If it cannot be renamed.
    """
    kept = "the network is trained anew"
    if os.path.lexists(path):
        names = itertools.chain([".damaged"], (f".damaged-{n}" for n in itertools.count(2)))
        places = (path.with_name(path.name + name) for name in names)
        place = next(place for place in places if not os.path.lexists(place))
        with _named("rename", path):
            path.rename(place)
        kept = f"{path.name} is kept as {place.name}, and {kept}"
    warnings.warn(f"{reason}; {kept}", DamageWarning, stacklevel=2)


def _sync_folder(folder: Path) -> None:
    """Flush a folder to the disk, so that a renaming survives a power cut, if the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def write_tensors(path: Path, tensors: Mapping[str, Tensor], note: str = "") -> str:
    """Write named tensors and one text as safetensors, whole or not at all.

    Args:
        path: Where; a link there is replaced, not followed.
        tensors: By name; moved to the CPU.
        note: Any text, e.g. JSON.

    Returns:
        SHA-256 of the file, in hexadecimal digits.

    Raises:
        StoreError: If the file cannot be written, or there are more tensors than could be read.
    """
    return write_stamped(path, tensors, note)[0]


def write_stamped(
    path: Path, tensors: Mapping[str, Tensor], note: str = "", *, beside: Path | None = None
) -> tuple[str, str]:
    """Write as `write_tensors` does.

    Args:
        path: Where.
        tensors: By name.
        note: Any text.
        beside: File on the same disk beside which the temporary file lies; that at `path` if
            `None`. Temporary files of killed processes in its folder are removed.

    Returns:
        Digest as of `write_tensors`, and the `stamp_of` the file.
    """
    content, place = pack_tensors(tensors, note), expand_home(path)
    if len(tensors) > MOST_TENSORS:
        raise StoreError(f"cannot write {path}: it must hold at most {MOST_TENSORS:,} tensors")
    with _named("write", path):
        _header(content)
        stamp = _write(place, content, beside or place)
    _sweep_old(beside or place)
    return hashlib.sha256(content).hexdigest(), stamp


def pack_tensors(tensors: Mapping[str, Tensor], note: str = "") -> bytes:
    """Pack named tensors, their order and one text as safetensors.

    Args:
        tensors: By name; moved to the CPU.
        note: Any text.
    """
    ready = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    place = {name: number for number, name in enumerate(sorted(ready))}
    order = json.dumps([place[name] for name in ready], separators=(",", ":"))
    return safetensors.torch.save(ready, metadata={_NOTE: f"{note}{_ORDER}{order}"})


def unpack_tensors(content: bytes) -> tuple[dict[str, Tensor], str]:
    """Read tensors, in their order, and text from the bytes of `pack_tensors`.

    Args:
        content: The bytes; those of older versions hold no order, and give that of the names.

    Raises:
        ValueError: If they are others.
    """
    try:
        tensors = safetensors.torch.load(content)
    except (safetensors.SafetensorError, KeyError) as error:
        raise ValueError(str(error)) from error
    described = json.loads(_header(content)).get("__metadata__", {}).get(_NOTE, "")
    note, mark, order = described.rpartition(_ORDER)
    names = sorted(tensors)
    if not mark:
        return {name: tensors[name] for name in names}, described
    places = _places(order, len(names))
    return {names[place]: tensors[names[place]] for place in places}, note


def _places(order: str, count: int) -> list[int]:
    """Read the number of each tensor in the order of names, from JSON."""
    try:
        places = json.loads(order)
        if isinstance(places, list) and sorted(places) == [*range(count)]:
            return [int(place) for place in places]
    except (TypeError, ValueError, RecursionError):
        pass
    raise ValueError(f"it must hold the order of its {count:,} tensors, got {excerpt(order)}")


def read_tensors(path: Path, digest: str = "") -> tuple[dict[str, Tensor], str]:
    """Read a file of `write_tensors`.

    Args:
        path: Where.
        digest: Digest that `write_tensors` returned; not compared if empty.

    Raises:
        StoreError: If the file is missing, cut short, not safetensors at all, or not the one that
            was written.
    """
    try:
        with _named("read", path), open_regular(expand_home(path), sys.maxsize) as file:
            header = _header(file.read(8 + LARGEST_HEADER))
            _check_described(header, os.fstat(file.fileno()).st_size)
            file.seek(0)
            content = file.read()
    except ValueError as error:
        raise StoreError(f"cannot read {path}: {excerpt(error)}") from error
    if digest and (found := hashlib.sha256(content).hexdigest()) != digest:
        raise StoreError(
            f"cannot use {path}: it is not the file that the run wrote, whose SHA-256 is "
            f"{digest[:12]}…, got {found[:12]}…"
        )
    try:
        return unpack_tensors(content)
    except ValueError as error:
        raise StoreError(f"cannot read {path}: {excerpt(error)}") from error


def _header(content: bytes) -> bytes:
    """Read the names and shapes of a file of tensors, as JSON."""
    size = int.from_bytes(content[:8], "little")
    if size > LARGEST_HEADER:
        raise OSError(errno.EFBIG, f"names and shapes of its tensors take {size} bytes, over 4 MiB")
    return content[8 : 8 + size]


def _check_described(header: bytes, size: int) -> None:
    """Raise `ValueError` unless the tensors that a file describes are of its size.

    Args:
        header: The names and shapes of its tensors.
        size: Length of the file, bytes.

    Raises:
        ValueError: If it says more or less, or names a tensor twice or too many.
    """
    try:
        described = json.loads(header, object_pairs_hook=_unique)
        tensors = [value for name, value in described.items() if name != "__metadata__"]
        end = max((int(tensor["data_offsets"][1]) for tensor in tensors), default=0)
    except (TypeError, AttributeError, LookupError, ArithmeticError, RecursionError) as error:
        raise ValueError(f"it must hold names and shapes of tensors: {error}") from error
    if len(tensors) > MOST_TENSORS:
        raise ValueError(f"it must hold at most {MOST_TENSORS:,} tensors, got {len(tensors):,}")
    if 8 + len(header) + end != size:
        raise ValueError(f"it must be of {8 + len(header) + end:,} bytes, got {size:,}")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build a JSON object, and check that its names are unique."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("names must be unique, got one twice")
    return found


JSON: Final = "_extra_state.json"
"""Suffix of the name of extra state stored as JSON text in UTF-8."""


def to_tensors(state: Mapping[str, Any]) -> dict[str, Tensor]:
    """Convert a state dictionary to tensors that share no memory: tied weights are there twice.

    Args:
        state: Tensors, and extra state of modules, by name.

    Raises:
        ValueError: If an entry is neither a dense tensor nor JSON.
    """
    if not isinstance(state, Mapping):
        raise ValueError(f"state must be tensors by name, got {excerpt(repr(state))}")
    tensors, memory = dict[str, Tensor](), set[int]()
    for name, value in state.items():
        _check_name(name)
        if not isinstance(value, Tensor):
            tensors[f"{name}.json"] = _text(name, value)
            continue
        if is_lazy(value) or value.layout is not torch.strided or value.is_meta:
            raise ValueError(
                f"{name} must be a dense tensor with values, got {excerpt(repr(value))}"
            )
        start = value.untyped_storage().data_ptr()
        tensors[name] = value.clone() if start in memory else value
        memory.add(start)
    return tensors


def _check_name(name: object) -> None:
    """Raise `ValueError` for the name of a tensor that a file of tensors cannot hold."""
    is_text = isinstance(name, str) and name != "__metadata__"
    if not is_text or str(name).encode(errors="replace").decode() != name:
        raise ValueError(
            f"state must have names that are text, not '__metadata__', got {excerpt(repr(name))}"
        )


def from_tensors(tensors: Mapping[str, Tensor]) -> dict[str, Any]:
    """Restore a state dictionary from the tensors of `to_tensors`.

    Args:
        tensors: Tensors by name.
    """
    return {
        name.removesuffix(".json"): json.loads(bytes(tensor.cpu().numpy()))
        if name.endswith(JSON)
        else tensor
        for name, tensor in tensors.items()
    }


def _text(name: str, value: Any) -> Tensor:
    """Write a value as the bytes of its JSON."""
    try:
        text = json.dumps(value)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be a tensor or JSON, got {excerpt(repr(value))}: {error}"
        ) from error
    if repr(json.loads(text)) != repr(value):
        raise ValueError(
            f"{name} must be a tensor or JSON, which would read {excerpt(repr(value))} as "
            f"{excerpt(repr(json.loads(text)))}"
        )
    return torch.frombuffer(bytearray(text.encode()), dtype=torch.uint8)
