"""Pictures of rooms with their objects and agents, in colors of 8 bits."""

from __future__ import annotations

from typing import Final

import numpy as np
from jaxtyping import UInt8

from farfield.tasks._worlds._rooms import (
    COLORS,
    KINDS,
    KNOWN_KINDS,
    NORTH,
    OBJECT,
    WALL,
    Layouts,
    Room,
)

PIXELS: Final = 8
"""Pixels along a side of a cell."""

_GLYPHS: Final[dict[str, str]] = {
    "nothing": "",
    "key": "        / ##     /#  #    /#  #####/#  # # #/ ##  # #/        /        ",
    "ball": "        /  ####  / ###### / ###### / ###### / ###### /  ####  /        ",
    "box": "        / ###### / #    # / #    # / #    # / #    # / ###### /        ",
    "cup": "        / ####   / #  ### / #  # # / #  ### / #  #   / ####   /        ",
    "star": "   ##   /   ##   /########/ ###### /  ####  / ##  ## / #    # /        ",
    "agent": "        /   ##   /   ##   /  ####  /  ####  / ###### / ##  ## /        ",
}
_COLORS: Final[dict[str, tuple[int, int, int]]] = {
    "red": (200, 40, 40),
    "green": (40, 140, 60),
    "blue": (50, 80, 200),
    "yellow": (205, 160, 0),
    "purple": (135, 60, 165),
    "gray": (120, 120, 120),
}
_AGENT: Final = (20, 20, 20)
_FLOOR, _SEEN, _STONE = (255, 255, 255), (255, 240, 200), (165, 165, 165)


def _as_marks(drawn: str) -> list[list[bool]]:
    rows = drawn.split("/") if drawn else [" " * PIXELS] * PIXELS
    return [[mark == "#" for mark in row] for row in rows]


_MARKS: Final = np.array([_as_marks(drawn) for drawn in _GLYPHS.values()])
"""For every glyph, which of its pixels have its color: (glyph, row, column)."""


def picture_of(room: Room, layouts: Layouts, row: int) -> UInt8[np.ndarray, "height width 3"]:
    """One room from above, with a wall around it; what its agent sees is tinted.

    Args:
        room: Its sizes.
        layouts: Where everything is.
        row: Which of the rooms.
    """
    grid, here, way = layouts.grid[row], layouts.position[row], layouts.direction[row]
    is_seen = np.zeros(len(grid), bool)
    is_seen[here + room.offsets()[way]] = True
    kinds, colors = np.divmod(grid.astype(np.int64) - OBJECT, len(COLORS))
    marks = _MARKS[np.where(grid >= OBJECT, 1 + kinds, 0)]
    marks[here] = np.rot90(_MARKS[-1], NORTH - way)
    ink = np.array([_COLORS[name] for name in COLORS], np.uint8)[colors]
    ink[here] = _AGENT
    ground = np.where(is_seen[:, None], _SEEN, _FLOOR).astype(np.uint8)
    ground[grid == WALL] = _STONE
    cells = np.where(marks[..., None], ink[:, None, None], ground[:, None, None])
    inside = slice(room.view - 2, room.view + room.side)
    square = cells.reshape(room.width, room.width, PIXELS, PIXELS, 3)[inside, inside]
    side = len(square) * PIXELS
    return square.transpose(0, 2, 1, 3, 4).reshape(side, side, 3)


def mission_of(layouts: Layouts, row: int) -> str:
    """Color and kind of the object asked for, e.g. `"red key"`.

    Args:
        layouts: Where everything is.
        row: Which of the rooms.
    """
    kind, color = np.flatnonzero(layouts.wanted[row])
    return f"{COLORS[color - KNOWN_KINDS]} {KINDS[kind]}"
