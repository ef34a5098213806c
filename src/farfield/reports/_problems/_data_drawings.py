"""Drawings of sets of elements, of series and of colored grids."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch
from matplotlib.axes import Axes

from farfield.core import Problems
from farfield.reports._problems._layout import (
    INK,
    RIGHT,
    STEP,
    Corner,
    Layout,
    image,
    row_of,
    write,
)
from farfield.tasks import GridRules, SetAlgorithms, ShiftedSeries


def set_algorithms(task: SetAlgorithms) -> Layout:
    """Draw the elements of a set in a line, and the answer below it.

    Args:
        task: Any algorithm.
    """
    return Layout(
        title=f"Sets: {task.algorithm}",
        drawing=partial(_set_algorithms, task),
        size=(8.0, 0.5),
        things="elements",
    )


def _set_algorithms(task: SetAlgorithms, axes: Axes, origin: Corner, problem: Problems) -> None:
    """Draw one set: values, a query with a mark, or the first edges as node–node:weight."""
    _, rule = task.rule_of
    target = problem.target[0]
    shown = [one - 1 for one in problem.index[0].tolist() if 0 < one <= rule.symbols]
    digits = [[int(d) for d in np.unravel_index(one, rule.blocks)] for one in shown]
    most = 7 if len(rule.blocks) > 2 else 16
    for up, kinds, color in (
        (0.4, [_sign(d) for d in digits], INK),
        (0.0, ["→", *map(str, target[target >= 0].tolist())], RIGHT),
    ):
        text = "  ".join(kinds if len(kinds) <= most else [*kinds[:most], "…"])
        write(axes, (origin[0], origin[1] + up), text, size=7, color=color)


def _sign(digits: list[int]) -> str:
    """Write an element: a value, a value and whether it is the query, or two nodes and a weight."""
    if len(digits) == 3:
        first, second, weight = digits
        return f"{first}–{second}" + (f":{weight}" if weight else "?")
    return f"{digits[-1]}" + ("'" if digits[:-1] == [1] else "")


def shifted_series(task: ShiftedSeries) -> Layout:
    """Draw a series as lines, one for each channel, and its class.

    Args:
        task: Any set of series.
    """
    return Layout(
        title=f"Series: {task.series}", drawing=_shifted_series, size=(3.0, 1.0), things="steps"
    )


def _shifted_series(axes: Axes, origin: Corner, problem: Problems) -> None:
    """Draw one series between −3 and 3 standard deviations."""
    left, low = origin
    shown = problem.items[problem.index[0]].clamp(-3, 3)
    right = left + 3.0 * np.arange(len(shown)) / (len(shown) - 1)
    for channel in shown.T.numpy():
        axes.plot(right, low + (channel + 3) / 6, color=INK, linewidth=0.8)
    said = f"class {int(problem.target[0])}"
    write(axes, (left + 1.5, low - 0.3), said, size=8, color=RIGHT, weight="bold", align="center")


_PALETTE = torch.tensor(
    [
        *((0, 0, 0), (0, 116, 217), (255, 65, 54), (46, 204, 64), (255, 220, 0), (170, 170, 170)),
        *((240, 18, 190), (255, 133, 27), (127, 219, 255), (135, 12, 37), (255, 255, 255)),
    ],
    dtype=torch.uint8,
)
"""Color of each channel of a grid; white outside."""


def grid_rules(task: GridRules) -> Layout:
    """Draw both pairs of grids beside each other, over the answer.

    Args:
        task: Same rule or not.
    """
    return Layout(
        title="Same rule or not",
        drawing=_grid_rules,
        size=((task.length - 1) * STEP + 1, 1.0),
        things="grids",
    )


def _grid_rules(axes: Axes, origin: Corner, problem: Problems) -> None:
    """Draw one problem, each grid without the cells outside."""
    grids = problem.table()[problem.index[0]].argmax(1)
    for grid, (right, up) in zip(grids, row_of(*origin, len(grids)), strict=True):
        inside = grid != len(_PALETTE) - 1
        shown = grid[: int(inside.any(1).sum()), : int(inside.any(0).sum())]
        image(axes, (right, up), _PALETTE[shown])
    said = ("one rule", "two rules")[int(problem.target[0])]
    middle = origin[0] + ((len(grids) - 1) * STEP + 1) / 2
    write(axes, (middle, origin[1] - 0.3), said, size=8, color=RIGHT, align="center")
