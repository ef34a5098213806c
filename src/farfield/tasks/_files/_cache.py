"""Files of the cache: written whole or not at all, and arrays that take long to make."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from farfield._system import replace_file
from farfield.core import read_regular
from farfield.tasks._files._data_sets import cache_folder

_DIGEST_SIZE = hashlib.sha256().digest_size


def place_whole(path: Path, *parts: bytes | memoryview) -> None:
    """Write a file under a temporary name and rename it, so that it is whole or absent.

    Args:
        path: Where it goes; folders are made.
        parts: Its bytes, one part after the other.

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


def cached_array(
    name: str, shape: tuple[int, ...], dtype: np.dtype[Any], make: Callable[[], np.ndarray]
) -> np.ndarray:
    """An array out of the cache folder; where it is missing or damaged it is made and kept there.

    A folder that cannot be written keeps nothing.

    Args:
        name: Name of the array, with a digest of everything that it is made from.
        shape: Its shape.
        dtype: Its type.
        make: Makes it.
    """
    try:
        path = cache_folder() / "arrays" / name
    except OSError:  # a user without a folder
        return make()
    with contextlib.suppress(OSError, ValueError):
        return _read(path, shape, dtype)
    made = np.ascontiguousarray(make(), dtype)
    with contextlib.suppress(OSError):
        place_whole(path, made.data.cast("B"), hashlib.sha256(made.data).digest())
    return made


def _read(path: Path, shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
    """The array of a file: its bytes, then their SHA-256."""
    size = dtype.itemsize * int(np.prod(shape))
    content = memoryview(read_regular(path, size + _DIGEST_SIZE))
    if hashlib.sha256(content[:size]).digest() != content[size:]:
        raise ValueError("the array is damaged")
    return np.frombuffer(content[:size], dtype).reshape(shape)
