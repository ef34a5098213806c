"""Drawings of problems of single items: images, with a question or none, and points."""

from __future__ import annotations

from matplotlib.axes import Axes
from torch import Tensor

from farfield.core import Problems
from farfield.reports._problems._ink import FAINT, RIGHT, image, moved, write
from farfield.reports._problems._layout import STEP, Corner, Layout
from farfield.tasks import (
    Digits,
    FewLabels,
    ImageClasses,
    ImageGeneration,
    KMNISTAdaptation,
    SortOfCLEVR,
    Spirals,
    StackedMNIST,
    SuperResolution,
    TwoMoons,
)

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


def image_classes(task: ImageClasses | FewLabels) -> Layout:
    """An image over its class, in words where these are few and known.

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
    """An image of the data that noise is beside.

    Args:
        task: Images of any data set.
    """

    def drawn(axes: Axes, origin: Corner, problem: Problems) -> None:
        image(axes, origin, problem.target[0].permute(1, 2, 0))

    return Layout(title=f"Images of {task.data_set}", drawing=drawn, size=(1.0, 1.0))


def stacked_mnist(task: StackedMNIST) -> Layout:
    """An image over its digits, from the least on.

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


def super_resolution(task: SuperResolution) -> Layout:
    """An image as it is given, beside the image as it was.

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
    """One image whose colors, or one level of gray, come before its height and width."""
    shown = problem.items[problem.index[0, 0]]
    shown = shown[0] if len(shown) == 1 else shown.permute(1, 2, 0)
    _answered(axes, moved(origin, (_BESIDE, 0.0)), shown, answer, note)


def _answered(axes: Axes, corner: Corner, shown: Tensor, answer: str, note: str = "") -> None:
    """One image over its answer and a note."""
    left, low = corner
    image(axes, (left, low), shown)
    where = (left + 0.5, low - 0.25)
    write(axes, where, answer, size=8, color=RIGHT, weight="bold", align="center")
    write(axes, (left + 0.5, low - 0.5), note, size=6.5, color=FAINT, align="center")


def points(task: TwoMoons | Spirals) -> Layout:
    """A point among all points of its table, over its class.

    Args:
        task: Points of any curves.
    """
    title = {"two-moons": "Two moons", "spirals": "Spirals"}[task.name]
    return Layout(title=title, drawing=_points, size=(_WIDE, _WIDE), things="points")


def _points(axes: Axes, origin: Corner, problem: Problems) -> None:
    """One point: large and dark, the others small and faint."""
    table = problem.table()
    low, high = table.amin(0), table.amax(0)
    longest = float((high - low).max().clamp_min(1e-6))
    shown = ((table - (low + high) / 2) / longest + 0.5) * _WIDE + table.new_tensor(origin)
    own = shown[problem.index[0, 0]]
    for some, size, color in ((shown, 0.8, FAINT), (own[None], 4.0, RIGHT)):
        axes.plot(
            *some.T,
            marker="o",
            markersize=size,
            linestyle="none",
            markeredgewidth=0,
            color=color,
        )
    said = f"{int(problem.target[0])}"
    where = (origin[0] + _WIDE / 2, origin[1] - 0.25)
    write(axes, where, said, size=8, color=RIGHT, weight="bold", align="center")
