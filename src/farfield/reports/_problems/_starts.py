"""Beginnings of episodes of an environment, laid out as problems of a sheet."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import torch
from matplotlib.axes import Axes

from farfield.core import Problems, stream
from farfield.reports._problems._ink import image, write
from farfield.reports._problems._layout import Corner, Layout
from farfield.tasks import Environment, HasPictures, VectorEnv

SIDE: Final = 2.0
"""Side of a picture, in widths of an image."""


class Starts(NamedTuple):
    """First states of episodes.

    Attributes:
        layout: How one is drawn: its picture over what the agent is asked for.
        sets: The pictures of each regime.
        extents: What is said of each regime.
    """

    layout: Layout
    sets: dict[str, Problems]
    extents: dict[str, str]


def starts_of(task: Environment, seed: int, count: int) -> Starts:
    """First states of episodes of every regime.

    Args:
        task: An environment that can be shown from outside.
        seed: The run whose episodes are drawn.
        count: How many of each regime.

    Raises:
        ValueError: If it cannot be shown.
    """
    if not isinstance(task, HasPictures):
        raise ValueError(
            f"task must have methods picture and mission to be drawn, got {type(task).__name__}"
        )
    missions: list[str] = []
    sets = {}
    for regime in task.regimes:
        worlds = task.make(regime.name, count, stream(seed, "sheet"))
        sets[regime.name] = _first(task, worlds, len(missions))
        missions += [task.mission(worlds, row) for row in range(count)]
        worlds.close()

    def draw(axes: Axes, origin: Corner, problem: Problems) -> None:
        image(axes, origin, problem.items[problem.index[0, 0]], SIDE)
        said = missions[int(problem.target[0])]
        write(axes, (origin[0] + SIDE / 2, origin[1] - 0.3), said, size=8, align="center")

    extents = {r.name: f"distance {r.distance:g}: {r.unit}" for r in task.regimes}
    layout = Layout(title=task.name, drawing=draw, size=(SIDE, SIDE))
    return Starts(layout, sets, extents)


def _first(task: HasPictures, worlds: VectorEnv, number: int) -> Problems:
    """Pictures of worlds at their beginning, with numbers from `number` on."""
    worlds.reset()
    places = torch.arange(worlds.num_envs)
    pictures = np.stack([np.array(task.picture(worlds, row)) for row in places.tolist()])
    return Problems(
        items=torch.from_numpy(pictures), index=places.unsqueeze(1), target=number + places
    )
