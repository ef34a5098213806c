"""Drawings of problems of other items than images: sequences, numbers."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from farfield.core import Problems
from farfield.reports._problems._ink import FAINT, INK, RIGHT, image, moved, write
from farfield.reports._problems._layout import STEP, Corner, Layout, row_of
from farfield.tasks import (
    Adding,
    BouncingBalls,
    Copying,
    FuzzyBoolean,
    SequentialMNIST,
)

_CELL = 0.25
_DROPPED = 9
_BLANK = "·"
_FRAMES = 11


def copying(task: Copying) -> Layout:
    """Symbols and blanks in two lines, what is shown and what is answered, the long phase cut.

    Args:
        task: Copying with any dormant phase.
    """
    del task
    cells = 10 + _DROPPED + 1 + 10
    return Layout(
        title="Copying after a dormant phase",
        drawing=_copying,
        size=(1.0 + cells * _CELL, 0.5),
        things="symbols",
    )


def _copying(axes: Axes, origin: Corner, problem: Problems) -> None:
    """One problem of copying."""
    shown = problem.items[problem.index[0]].argmax(-1).tolist()
    answer = problem.target[0].tolist()
    blanks = len(shown) - 21
    signs = [_BLANK, *"12345678", "▸"]
    first = [signs[number] for number in shown]
    second = [signs[number] for number in answer]
    for up, name, line, dropped, color in (
        (0.3, "shown", first, blanks, INK),
        (-0.2, "answer", second, blanks, RIGHT),
    ):
        left, middle = origin[0], origin[1] + up
        write(axes, (left, middle), name, size=7, color=FAINT)
        for place, sign in enumerate((*line[:10], *line[-11:])):
            cell = place if place < 10 else place + _DROPPED
            ink = FAINT if sign == _BLANK else color
            where = (left + 1.0 + (cell + 0.5) * _CELL, middle)
            write(axes, where, sign, size=8, color=ink, align="center")
        where = (left + 1.0 + (10 + _DROPPED / 2) * _CELL, middle)
        write(axes, where, f"… {dropped:,} blanks …", size=6.5, color=FAINT, align="center")


def adding(task: Adding) -> Layout:
    """Numbers as strokes, those marked standing out, and their sum.

    Args:
        task: Adding with any number of terms.
    """
    del task
    return Layout(
        title="Adding the marked numbers", drawing=_adding, size=(5.0, 1.0), things="items"
    )


def _adding(axes: Axes, origin: Corner, problem: Problems) -> None:
    """One problem of adding."""
    left, low = origin
    shown = problem.items[problem.index[0]]
    numbers, marked = shown[:, 0].numpy(), shown[:, 1:].sum(-1).bool().numpy()
    step = 5.0 / len(numbers)
    right = left + (np.arange(len(numbers)) + 0.5) * step
    for chosen, color, width, alpha in (
        (~marked, FAINT, min(1.0, 12 * step), 0.45),
        (marked, RIGHT, 1.5, 1.0),
    ):
        axes.vlines(
            right[chosen],
            low,
            low + numbers[chosen],
            color=color,
            linewidth=width,
            alpha=alpha,
            capstyle="butt",
            zorder=2 + (color == RIGHT),
        )
    axes.plot(right[marked], low + numbers[marked], "o", markersize=3, color=RIGHT, zorder=4)
    terms = [f"{number:.3f}" for number in numbers[marked]]
    said = f"{' + '.join(terms)} ≈ {float(problem.target[0]):.3f}"
    write(axes, (left + 2.5, low - 0.3), said, size=8, color=RIGHT, weight="bold", align="center")


def sequential_mnist(task: SequentialMNIST) -> Layout:
    """The rows of pixels as the image that they are of, over the digit.

    Args:
        task: Sequential MNIST at any sizes.
    """
    del task
    return Layout(
        title="MNIST read pixel by pixel",
        drawing=_sequential_mnist,
        size=(1.0, 1.0),
        things="kinds of pixel",
    )


def _sequential_mnist(axes: Axes, origin: Corner, problem: Problems) -> None:
    """One image."""
    shown = 1 - problem.items[problem.index[0]].argmax(-1).float()
    side = math.isqrt(len(shown))
    corner = moved(origin, (0.0, 0.0))
    image(axes, corner, shown.reshape(side, side))
    left, low = corner
    said = f"{int(problem.target[0])}"
    write(axes, (left + 0.5, low - 0.25), said, size=8, color=RIGHT, weight="bold", align="center")
    said = f"{side} × {side}"
    write(axes, (left + 0.5, low - 0.5), said, size=6.5, color=FAINT, align="center")


def bouncing_balls(task: BouncingBalls) -> Layout:
    """Some frames of a sequence, as far apart from each other as can be.

    Args:
        task: Bouncing balls of any numbers.
    """
    shown = min(_FRAMES, task.num_frames)
    return Layout(
        title="Bouncing balls",
        drawing=_bouncing_balls,
        size=((shown - 1) * STEP + 1, 1.0),
        things="frames",
    )


def _bouncing_balls(axes: Axes, origin: Corner, problem: Problems) -> None:
    """One sequence; what is behind the curtain is tinted."""
    length = problem.index.shape[1]
    shown = min(_FRAMES, length)
    start, stop = problem.latent["curtain"][0].tolist()
    side = problem.items.shape[-1]
    for number, corner in enumerate(row_of(0.0, 0.0, shown)):
        place = number * (length - 1) // max(shown - 1, 1)
        left, low = moved(origin, corner)
        image(axes, (left, low), problem.items[problem.index[0, place]])
        if stop > start:
            where, width = (left + start / side, low), (stop - start) / side
            axes.add_patch(Rectangle(where, width, 1.0, color=RIGHT, alpha=0.35, linewidth=0))
        said = f"{place + 1}"
        write(axes, (left + 0.5, low - 0.2), said, size=6.5, color=FAINT, align="center")


def fuzzy_boolean(task: FuzzyBoolean) -> Layout:
    """Coordinates as strokes, and beside them the values of the functions.

    Args:
        task: Fuzzy Boolean functions of any number.
    """
    return Layout(
        title="Fuzzy Boolean functions",
        drawing=_fuzzy_boolean,
        size=((task.variables + task.functions + 2) * _CELL, 1.0),
        things="points",
    )


def _fuzzy_boolean(axes: Axes, origin: Corner, problem: Problems) -> None:
    """One point."""
    left, low = origin
    point, values = problem.items[problem.index[0, 0]].tolist(), problem.target[0].tolist()
    for name, start, numbers, color in (
        ("x", left, point, INK),
        ("f (x)", left + (len(point) + 2) * _CELL, values, RIGHT),
    ):
        end = start + len(numbers) * _CELL
        axes.plot((start, end), (low, low), color=FAINT, linewidth=0.6)
        for place, number in enumerate(numbers):
            across = start + (place + 0.5) * _CELL
            where = (across, across), (low, low + number)
            axes.plot(*where, color=color, linewidth=3.0, solid_capstyle="butt")
        write(axes, ((start + end) / 2, low - 0.2), name, size=7, color=FAINT, align="center")
