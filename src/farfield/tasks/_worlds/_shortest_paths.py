"""Shortest ways through rooms, for experts."""

from __future__ import annotations

from typing import Final

import numpy as np
from jaxtyping import Int64

from farfield.tasks._worlds._rooms import EMPTY, FORWARD, LEFT, PICK_UP, RIGHT, Layouts

NONE: Final = -1


def first_actions(
    rooms: Layouts, forward: Int64[np.ndarray, " class"]
) -> Int64[np.ndarray, " batch"]:
    """First action of a shortest way to pick up the target; a turn where there is no way.

    The directions and cells from which the target is at most so many actions away are found from
    the target outwards, one action further each time, until the agents are among them.

    Args:
        rooms: Where everything is.
        forward: For every direction, the cell ahead relative to an agent.
    """
    rows, here, way = np.arange(len(rooms.grid)), rooms.position, rooms.direction
    after = {
        FORWARD: (way, here + forward[way]),
        LEFT: ((way - 1) % len(forward), here),
        RIGHT: ((way + 1) % len(forward), here),
    }
    is_free = rooms.grid == EMPTY
    near = np.zeros((len(forward), *is_free.shape), bool)
    for number, step in enumerate(forward):
        near[number, rows, rooms.target - step] = True
    near &= is_free
    actions = np.where(near[way, rows, here], PICK_UP, NONE)
    while (actions == NONE).any():
        for action, (ways, cells) in after.items():
            actions[(actions == NONE) & near[ways, rows, cells]] = action
        further = near | np.roll(near, 1, axis=0) | np.roll(near, -1, axis=0)
        for number, step in enumerate(forward):
            further[number] |= np.roll(near[number], -step, axis=1)
        further &= is_free
        if (further == near).all():
            break
        near = further
    return np.where(actions == NONE, LEFT, actions)
