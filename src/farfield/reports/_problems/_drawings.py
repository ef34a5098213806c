"""Drawings of problems that are no rows of images: sequences, single images, points."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from torch import Tensor
from torch.nn import functional as F

from farfield.core import Problems
from farfield.reports._problems._layout import (
    FAINT,
    INK,
    RIGHT,
    STEP,
    Corner,
    Layout,
    image,
    moved,
    row_of,
    write,
)
from farfield.tasks import (
    Adding,
    BouncingBalls,
    ChomskyHierarchy,
    Copying,
    DigitDomains,
    Digits,
    FewLabels,
    FuzzyBoolean,
    ImageClasses,
    ImageGeneration,
    KMNISTAdaptation,
    SequentialMNIST,
    SortOfCLEVR,
    Spirals,
    StackedMNIST,
    SuperResolution,
    SymbolSequences,
    TwoMoons,
)

_CELL = 0.25
_DROPPED = 9
_BLANK = "·"
_FRAMES = 11


def copying(task: Copying) -> Layout:
    """Draw shown and answered symbols and blanks in two lines, the long phase cut.

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
    """Draw one problem of copying."""
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
    """Draw numbers as strokes, marked numbers in bold color, and their sum.

    Args:
        task: Adding with any number of terms.
    """
    del task
    return Layout(
        title="Adding the marked numbers", drawing=_adding, size=(5.0, 1.0), things="items"
    )


def _adding(axes: Axes, origin: Corner, problem: Problems) -> None:
    """Draw one problem of adding."""
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


def symbol_sequences(task: SymbolSequences) -> Layout:
    """Draw symbols in a line, a long line cut, and the answer behind them.

    Args:
        task: Symbol sequences of any rule and lengths.
    """
    return Layout(
        title=f"Symbols: {task.rule}",
        drawing=partial(_symbol_sequences, task.rule),
        size=((2 * _ENDS + 8) * _CELL, 0.5),
        things="symbols",
    )


_ENDS = 12
"""Symbols at either end of a line that is cut."""
_SIGNS = {
    **{rule: [*"·01"] for rule in ("parity", "modulo-3", "majority")},
    "flip-flop": ["·", "0", "1", "W0", "W1"],
    "adding": ["·", *"0123456789", *(f"{digit}'" for digit in range(10))],
}


def _symbol_sequences(rule: str, axes: Axes, origin: Corner, problem: Problems) -> None:
    """Draw one sequence; the symbols of other rules are numbers from 1 on."""
    signs = _SIGNS.get(rule, [*"·12345678"])
    answer = problem.target[0].reshape(-1) + (rule in ("copying", "first"))
    _line(axes, origin, [signs[number] for number in _kinds(problem)], answer.tolist())


def _kinds(problem: Problems) -> list[int]:
    """List the number of the symbol at each position, from 1 on; 0 is a blank."""
    items = problem.items[problem.index[0]]
    kinds: list[int] = ((items.argmax(-1) + 1) * items.any(-1)).tolist()
    return kinds


def _line(axes: Axes, origin: Corner, signs: list[str], answer: list[int]) -> None:
    """Write symbols in a line, and the answer behind it; both are cut if they are long."""
    left, middle = origin[0], origin[1] + 0.25
    for place, sign in enumerate(_ends(signs)):
        where = (left + (place + 0.5) * _CELL, middle)
        write(axes, where, sign, size=8, color=INK, align="center")
    where = (left + (2 * _ENDS + 2) * _CELL, middle)
    said = " ".join(["→", *_ends([*map(str, answer)])])
    write(axes, where, said, size=8, color=RIGHT, weight="bold")


def _ends(signs: list[str]) -> list[str]:
    """Cut the middle of a long line."""
    return signs if len(signs) <= 2 * _ENDS + 1 else [*signs[:_ENDS], "…", *signs[-_ENDS:]]


def chomsky_hierarchy(task: ChomskyHierarchy) -> Layout:
    """Draw a string in a line, without its marks, and the answer behind it.

    Args:
        task: Any rule of the Chomsky hierarchy.
    """
    signs = _STRING_SIGNS.get(task.rule, "01234"[: task.item_shape[0] - 1])
    return Layout(
        title=f"Chomsky hierarchy: {task.rule}",
        drawing=partial(_string, signs),
        size=((4 * _ENDS + 4) * _CELL, 0.5),
        things="symbols",
    )


_STRING_SIGNS = {
    "modular-arithmetic": "01234+−× ",
    "modular-arithmetic-brackets": "01234+−×()=",
    "solve-equation": "01234+−()x=",
    "stack-manipulation": "01↑oı",
    "missing-duplicate-string": "01_#",
    "binary-addition": "01#",
    "binary-multiplication": "01#",
    "cycle-navigation": "−0+",
}
"""Signs of the symbols of a rule; digits where there are none."""


def _string(signs: str, axes: Axes, origin: Corner, problem: Problems) -> None:
    """Draw one string with its answer."""
    shown = [signs[kind - 1] for kind in _kinds(problem) if 0 < kind <= len(signs)]
    target = problem.target[0]
    _line(axes, origin, shown, target[target >= 0].tolist())


def sequential_mnist(task: SequentialMNIST) -> Layout:
    """Return the rows of pixels as the image that they are of, over the digit.

    Args:
        task: Sequential MNIST at any sizes. Where pixels are missing, or blank ones added, rows
            have the length of the largest side.
    """
    return Layout(
        title="MNIST read pixel by pixel",
        drawing=partial(_sequential_mnist, task),
        size=(1.0, 1.0),
        things="kinds of pixel",
    )


def _sequential_mnist(task: SequentialMNIST, axes: Axes, origin: Corner, problem: Problems) -> None:
    """Draw one image."""
    shown = 1 - problem.items[problem.index[0]].argmax(-1).float()
    count, largest = len(shown), task.test_sides[-1]
    side = math.isqrt(count)
    if side**2 != count:
        side = next((width for width in task.widths if width * largest == count), largest)
    height = -(-count // side)
    corner = moved(origin, (0.0, 0.0))
    image(axes, corner, F.pad(shown, (0, height * side - count), value=1.0).view(height, side))
    left, low = corner
    said = f"{int(problem.target[0])}"
    write(axes, (left + 0.5, low - 0.25), said, size=8, color=RIGHT, weight="bold", align="center")
    said = f"{height} × {side}" if height * side == count else f"{count} pixels"
    write(axes, (left + 0.5, low - 0.5), said, size=6.5, color=FAINT, align="center")


def bouncing_balls(task: BouncingBalls) -> Layout:
    """Return some frames of a sequence, as far apart from each other as can be.

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
    """Draw one sequence; objects behind the curtain are tinted."""
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
    """Return coordinates as strokes, and beside them the values of the functions.

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
    """Draw one point."""
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
_WIDE = 2.0
"""Side of the square of a scatter of points."""
_CHARACTERS = ("o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo")
_OBJECTS = (
    "airplane",
    "automobile",
    "bird",
    "cat",
    "deer",
    "dog",
    "frog",
    "horse",
    "ship",
    "truck",
)
"""Classes of CIFAR-10."""


def digits(task: Digits) -> Layout:
    """Return an image over its digit and the name of its data set.

    Args:
        task: Digits of any data sets.
    """

    def drawn(axes: Axes, origin: Corner, problem: Problems) -> None:
        data_set, digit = divmod(int(problem.target[0]), 10)
        _colors(axes, origin, problem, f"{digit}", task.data_sets[data_set])

    return Layout(title="Digits", drawing=drawn, size=(1.0 + 2 * _BESIDE, 1.0))


def kmnist_adaptation(task: KMNISTAdaptation) -> Layout:
    """Return an image over its character.

    Args:
        task: K-MNIST with any number of samples.
    """
    del task

    def drawn(axes: Axes, origin: Corner, problem: Problems) -> None:
        name = _CHARACTERS[int(problem.target[0])]
        _colors(axes, origin, problem, name, "")

    return Layout(title="K-MNIST", drawing=drawn, size=(1.0 + 2 * _BESIDE, 1.0))


def image_classes(task: ImageClasses | FewLabels) -> Layout:
    """Return an image over its class, in words where these are few and known.

    Args:
        task: Images of any data set.
    """
    kind = task.data_set.partition("-")[0]
    words = {"cifar10": _OBJECTS, "kmnist": _CHARACTERS}.get(kind)

    def drawn(axes: Axes, origin: Corner, problem: Problems) -> None:
        number = int(problem.target[0])
        _colors(axes, origin, problem, words[number] if words else f"{number}", "")

    return Layout(title=f"Images of {task.data_set}", drawing=drawn, size=(1.0 + 2 * _BESIDE, 1.0))


def image_generation(task: ImageGeneration) -> Layout:
    """Return an image of the data that noise is beside.

    Args:
        task: Images of any data set.
    """

    def drawn(axes: Axes, origin: Corner, problem: Problems) -> None:
        image(axes, origin, problem.target[0].permute(1, 2, 0))

    return Layout(title=f"Images of {task.data_set}", drawing=drawn, size=(1.0, 1.0))


def digit_domains(task: DigitDomains) -> Layout:
    """Return an image over its class, in red or green where digits are colored.

    Args:
        task: Digits of any domains.
    """

    def drawn(axes: Axes, origin: Corner, problem: Problems) -> None:
        _colors(axes, origin, problem, f"{int(problem.target[0])}", "")

    return Layout(title=f"Digits, {task.kind}", drawing=drawn, size=(1.0 + 2 * _BESIDE, 1.0))


def stacked_mnist(task: StackedMNIST) -> Layout:
    """Return an image over its digits, from the least on.

    Args:
        task: Stacked MNIST of any numbers of digits.
    """
    del task

    def drawn(axes: Axes, origin: Corner, problem: Problems) -> None:
        digits = problem.target[0].nonzero()[:, 0].tolist()
        shown = problem.items[problem.index[0, 0]]
        _answered(axes, moved(origin, (_BESIDE, 0.0)), shown, " ".join(map(str, digits)))

    return Layout(title="Stacked MNIST", drawing=drawn, size=(1.0 + 2 * _BESIDE, 1.0))


def sort_of_clevr(task: SortOfCLEVR) -> Layout:
    """Return an image over a question and its answer.

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


def super_resolution(task: SuperResolution) -> Layout:
    """Draw a given image beside the image before its faults.

    Args:
        task: Super-resolution with any images.
    """

    def drawn(axes: Axes, origin: Corner, problem: Problems) -> None:
        ((_, alone),) = problem.by_shape()
        image(axes, origin, alone.table()[0])
        image(axes, moved(origin, (STEP, 0.0)), alone.target[0])
        for place, (words, color) in enumerate((("given", FAINT), ("wanted", RIGHT))):
            where = (origin[0] + 0.5 + place * STEP, origin[1] - 0.25)
            write(axes, where, words, size=8, color=color, align="center")

    return Layout(title=f"Super-resolution, ×{task.scale}", drawing=drawn, size=(1 + STEP, 1.0))


def _colors(axes: Axes, origin: Corner, problem: Problems, answer: str, note: str) -> None:
    """Draw one image whose colors, or one level of gray, come before its height and width.

    Two colors are red and green.
    """
    shown = problem.items[problem.index[0, 0]]
    if len(shown) == 2:
        shown = F.pad(shown, (0, 0, 0, 0, 0, 1))
    shown = shown[0] if len(shown) == 1 else shown.permute(1, 2, 0)
    _answered(axes, moved(origin, (_BESIDE, 0.0)), shown, answer, note)


def _answered(axes: Axes, corner: Corner, shown: Tensor, answer: str, note: str = "") -> None:
    """Draw one image over its answer and a note."""
    left, low = corner
    image(axes, (left, low), shown)
    where = (left + 0.5, low - 0.25)
    write(axes, where, answer, size=8, color=RIGHT, weight="bold", align="center")
    write(axes, (left + 0.5, low - 0.5), note, size=6.5, color=FAINT, align="center")


def points(task: TwoMoons | Spirals) -> Layout:
    """Return a point among all points of its table, over its class.

    Args:
        task: Points of any curves.
    """
    title = {"two-moons": "Two moons", "spirals": "Spirals"}[task.name]
    return Layout(title=title, drawing=_points, size=(_WIDE, _WIDE), things="points")


def _points(axes: Axes, origin: Corner, problem: Problems) -> None:
    """Draw one point large and dark, the other points small and faint."""
    table = problem.table()
    low, high = table.amin(0), table.amax(0)
    longest = float((high - low).max().clamp_min(1e-6))
    shown = ((table - (low + high) / 2) / longest + 0.5) * _WIDE + table.new_tensor(origin)
    own = shown[problem.index[0, 0]]
    for some, size, color in ((shown, 0.8, FAINT), (own[None], 4.0, RIGHT)):
        axes.plot(
            *some.T, marker="o", markersize=size, linestyle="none", markeredgewidth=0, color=color
        )
    said = f"{int(problem.target[0])}"
    where = (origin[0] + _WIDE / 2, origin[1] - 0.25)
    write(axes, where, said, size=8, color=RIGHT, weight="bold", align="center")
