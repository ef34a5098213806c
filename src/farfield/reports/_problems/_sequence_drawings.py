"""Drawings of problems of other items than gray images: sequences, points, color images."""

from __future__ import annotations

import math

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from torch import Tensor

from farfield.core import Problems
from farfield.reports._problems._ink import FAINT, INK, RIGHT, image, moved, write
from farfield.reports._problems._layout import STEP, Corner, Layout, row_of
from farfield.tasks import (
    Adding,
    BouncingBalls,
    Copying,
    Digits,
    FuzzyBoolean,
    KMNISTAdaptation,
    SequentialMNIST,
    SortOfCLEVR,
    StackedMNIST,
)

_CELL = 0.25
_DROPPED = 9
_BLANK = "·"
_FRAMES = 11
_BESIDE = 0.25
_BESIDE_QUESTION = 0.75
_QUESTIONS = {
    "shape": "shape of {}?",
    "left": "{} on the left?",
    "top": "{} at the top?",
    "closest": "shape closest to {}?",
    "furthest": "shape furthest from {}?",
    "count": "how many like {}?",
}
_CHARACTERS = ("o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo")


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
    numbers, marked = shown[:, 0].tolist(), shown[:, 1:].sum(-1).bool().tolist()
    step = 5.0 / len(numbers)
    terms = []
    for place, (number, is_marked) in enumerate(zip(numbers, marked, strict=True)):
        right = left + (place + 0.5) * step
        width = 1.5 if is_marked else min(1.0, 12 * step)
        color = RIGHT if is_marked else FAINT
        axes.plot(
            (right, right),
            (low, low + number),
            color=color,
            linewidth=width,
            alpha=1.0 if is_marked else 0.45,
            solid_capstyle="butt",
            zorder=2 + is_marked,
        )
        if is_marked:
            axes.plot(right, low + number, marker="o", markersize=3, color=color, zorder=4)
            terms.append(f"{number:.3f}")
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


def digits(task: Digits) -> Layout:
    """An image over its digit and the name of its data set.

    Args:
        task: Digits of any data sets.
    """

    def drawn(axes: Axes, origin: Corner, problem: Problems) -> None:
        data_set, digit = divmod(int(problem.target[0]), 10)
        _colors(axes, origin, problem, f"{digit}", task.data_sets[data_set])

    return Layout(title="Digits", drawing=drawn, size=(1.0 + 2 * _BESIDE, 1.0))


def kmnist_adaptation(task: KMNISTAdaptation) -> Layout:
    """An image over its character.

    Args:
        task: K-MNIST with any number of samples.
    """
    del task

    def drawn(axes: Axes, origin: Corner, problem: Problems) -> None:
        name = _CHARACTERS[int(problem.target[0])]
        _colors(axes, origin, problem, name, "")

    return Layout(title="K-MNIST", drawing=drawn, size=(1.0 + 2 * _BESIDE, 1.0))


def stacked_mnist(task: StackedMNIST) -> Layout:
    """An image over its digits, from the least on.

    Args:
        task: Stacked MNIST of any numbers of digits.
    """
    del task

    def drawn(axes: Axes, origin: Corner, problem: Problems) -> None:
        digits = problem.target[0].nonzero()[:, 0].tolist()
        shown = problem.items[problem.index[0, 0]]
        corner = moved(origin, (_BESIDE, 0.0))
        _answered(axes, corner, shown, " ".join(map(str, digits)))

    return Layout(title="Stacked MNIST", drawing=drawn, size=(1.0 + 2 * _BESIDE, 1.0))


def sort_of_clevr(task: SortOfCLEVR) -> Layout:
    """An image over a question and its answer.

    Args:
        task: Sort-of-CLEVR with any options.
    """

    def drawn(axes: Axes, origin: Corner, problem: Problems) -> None:
        latent = problem.latent
        kind, color = task.kinds[int(latent["kind"][0])], task.colors[int(latent["color"][0])]
        shown = problem.items[problem.index[0, 0]].permute(1, 2, 0)
        answer = task.answers[int(problem.target[0])]
        corner = moved(origin, (_BESIDE_QUESTION, 0.0))
        _answered(axes, corner, shown, answer, _QUESTIONS[kind].format(color))

    return Layout(
        title="Sort-of-CLEVR",
        kind="kind",
        drawing=drawn,
        size=(1.0 + 2 * _BESIDE_QUESTION, 1.0),
        things="images and questions",
    )


def _colors(axes: Axes, origin: Corner, problem: Problems, answer: str, note: str) -> None:
    """One image whose colors come before its height and width."""
    shown = problem.items[problem.index[0, 0]].permute(1, 2, 0)
    _answered(axes, moved(origin, (_BESIDE, 0.0)), shown, answer, note)


def _answered(axes: Axes, corner: Corner, shown: Tensor, answer: str, note: str = "") -> None:
    """One image over its answer and a note."""
    left, low = corner
    image(axes, (left, low), shown)
    where = (left + 0.5, low - 0.25)
    write(axes, where, answer, size=8, color=RIGHT, weight="bold", align="center")
    write(axes, (left + 0.5, low - 0.5), note, size=6.5, color=FAINT, align="center")
