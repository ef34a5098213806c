"""Files that are whole or absent: written under a temporary name, synced, renamed."""

from __future__ import annotations

import contextlib
import glob
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

import safetensors
import safetensors.torch
from torch import Tensor

from farfield.core import writable_place
from farfield.records._errors import StoreError

_NOTE = "farfield"
_SCRAP_SECONDS = 3600.0
"""No living process takes this long between the first byte and the renaming."""


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that whoever looks finds the old bytes or all of the new ones.

    What processes killed at the same file left beside it, an hour ago or more, is swept up.

    Args:
        path: Where; its folder is made if need be.
        content: The bytes.

    Raises:
        StoreError: If the disk is full, or the folder cannot be written.
    """
    try:
        place = writable_place(path)
        _write(place, content)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}") from error
    _sweep(place)


def _write(path: Path, content: bytes) -> None:
    """Write under a temporary name, of which an error leaves nothing, and rename it."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        _sync_folder(path.parent)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def _sweep(path: Path) -> None:
    """Remove old temporary files of a file that was just written; their clock is its own."""
    with contextlib.suppress(OSError):
        now = path.stat().st_mtime
        for scrap in path.parent.glob(f".{glob.escape(path.name)}.{'[0-9a-f]' * 8}.tmp"):
            if now - scrap.stat().st_mtime > _SCRAP_SECONDS:
                scrap.unlink()


def _sync_folder(folder: Path) -> None:
    """Make the renaming itself survive a power cut, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def write_tensors(path: Path, tensors: Mapping[str, Tensor], note: str = "") -> None:
    """Write named tensors and one text as safetensors, whole or not at all.

    Args:
        path: Where.
        tensors: By name; moved to the CPU.
        note: Any text, e.g. JSON.

    Raises:
        StoreError: If the file cannot be written.
    """
    ready = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    write_whole(path, safetensors.torch.save(ready, metadata={_NOTE: note}))


def read_tensors(path: Path) -> tuple[dict[str, Tensor], str]:
    """Read what `write_tensors` wrote.

    Args:
        path: Where.

    Raises:
        StoreError: If the file is missing, cut short or not safetensors at all.
    """
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            note = (file.metadata() or {}).get(_NOTE, "")
            return {name: file.get_tensor(name) for name in file.keys()}, note  # noqa: SIM118
    except (OSError, safetensors.SafetensorError, ValueError) as error:
        raise StoreError(f"cannot read {path}: {error}") from error
