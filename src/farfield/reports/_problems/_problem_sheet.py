"""Sample problems of every regime of a task, with their answers, as one picture."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from itertools import zip_longest
from typing import Final, NamedTuple

import numpy as np
import torch
from jaxtyping import Int64
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Rectangle
from torch import Tensor

from farfield.core import Problems, stream
from farfield.core.internal import UnknownNameError
from farfield.reports._problems._layout import (
    DOTS,
    EDGE,
    FAINT,
    GAP,
    RIGHT,
    Corner,
    Layout,
    image,
    moved,
    to_dot,
    write,
)
from farfield.reports._problems._problem_layouts import layout_of
from farfield.reports._profile._style import own_settings
from farfield.tasks import Environment, ProblemTask, VectorEnv
from farfield.tasks.internal import DrawsFirst, HasPictures

SIDE: Final = 2.0
"""Side of a picture, in widths of an image."""


class Starts(NamedTuple):
    """First states of episodes.

    Attributes:
        layout: Layout of a picture over the goal of the agent.
        sets: The pictures of each regime.
        extents: Text on each regime.
    """

    layout: Layout
    sets: dict[str, Problems]
    extents: dict[str, str]


def starts_of(task: Environment, seed: int, count: int) -> Starts:
    """Find the first states of episodes of every regime.

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
    """Return pictures of worlds at their beginning, with numbers from `number` on."""
    worlds.reset()
    places = torch.arange(worlds.num_envs)
    pictures = np.stack([np.array(task.picture(worlds, row)) for row in places.tolist()])
    return Problems(
        items=torch.from_numpy(pictures), index=places.unsqueeze(1), target=number + places
    )


_DPI: Final = 200

# Rooms around the problems, in widths of an image.
_MARGIN: Final = 0.5
_BETWEEN: Final = 1.375
_TITLE: Final = 0.875
_HEADING: Final = 0.75
_FOOT: Final = 1.125
_NARROWEST: Final = 11.0
_WIDEST: Final = 28.0

_TALLEST: Final = 6_000
"""Most dots of a sheet that is drawn fine."""


def draw_problems(
    task: ProblemTask | Environment, seed: int, problems_per_regime: int, regime: str | None
) -> bytes:
    """Draw problems of every regime, or of one, as a PNG.

    Args:
        task: As of `problem_picture`.
        seed: The run whose sets are shown.
        problems_per_regime: Number of problems of each regime.
        regime: Name of the regime to show; all if `None`.
    """
    if problems_per_regime < 1:
        raise ValueError(f"problems_per_regime must be at least 1, got {problems_per_regime}")
    if isinstance(task, Environment):
        layout, sets, extents = starts_of(task, seed, problems_per_regime)
    else:
        layout = _layout(task)
        sets, extents = _sets(task, seed, layout.things)
    if regime is not None:
        if regime not in sets:
            raise UnknownNameError("regime", regime, sets)
        sets = {regime: sets[regime]}
    return _png(task, layout, sets, extents, problems_per_regime)


def draw_problem(task: ProblemTask, problem: Problems, regime: str, caption: str) -> bytes:
    """Draw a single problem as a PNG.

    Args:
        task: As of `problem_picture`.
        problem: A set of one problem.
        regime: Heading over the problem.
        caption: Text at the other end of the heading.
    """
    return _png(task, _layout(task), {regime: problem}, {regime: caption}, 1)


def _png(
    task: ProblemTask | Environment,
    layout: Layout,
    sets: Mapping[str, Problems],
    extents: Mapping[str, str],
    most: int,
) -> bytes:
    """Return the picture of some sets; fine where items are, and the sheet is not too tall."""
    picture = io.BytesIO()
    is_fine = isinstance(task, Environment) or max(task.item_shape[:2]) > DOTS // 2
    with own_settings({}):
        figure = _sheet(layout, sets, extents, most)
        FigureCanvasAgg(figure)
        fine = 2 * _DPI if is_fine else _DPI
        is_small = fine * figure.get_figheight() <= _TALLEST
        figure.savefig(picture, format="png", dpi=fine if is_small else _DPI)
    return picture.getvalue()


def _layout(task: ProblemTask) -> Layout:
    """Return the layout of a task's problems, if they can be drawn."""
    layout = layout_of(task)
    are_images = len(task.item_shape) == 2 or task.item_shape[2:] == (3,)
    if layout.drawing is None and not are_images:
        raise ValueError(
            "task must have images of (height, width) or (height, width, 3) as items, "
            f"got {task.item_shape}: a sheet shows pictures only"
        )
    return layout


def _sets(task: ProblemTask, seed: int, things: str) -> tuple[dict[str, Problems], dict[str, str]]:
    """Draw the sets of a run, or the first problems of large sets, and count their problems."""
    if isinstance(task, DrawsFirst):
        first = task.draw_first(stream(seed, "problems"))
        return first, {name: f"{task.num_problems(name):,} problems" for name in first}
    regimes = {regime.name for regime in task.regimes}
    sets = {
        name: drawn
        for name, drawn in task.draw(stream(seed, "problems")).items()
        if name in regimes
    }
    return sets, {name: _extent(problems, things) for name, problems in sets.items()}


def _sheet(
    layout: Layout, sets: Mapping[str, Problems], extents: Mapping[str, str], most: int
) -> Figure:
    """Return the whole picture: a title, and for each regime a heading over rows of problems."""
    width, height = layout.extent
    rows = {name: problems[_assorted(problems, layout, most)] for name, problems in sets.items()}
    columns = _columns(max(len(problems) for problems in rows.values()), width)
    across = max(2 * _MARGIN + columns * (width + _BETWEEN) - _BETWEEN, _NARROWEST)
    apart = (across - 2 * _MARGIN - width) / max(columns - 1, 1)
    row_height = height + _FOOT
    lines = sum(math.ceil(len(problems) / columns) for problems in rows.values())
    top = _TITLE + len(rows) * _HEADING + lines * row_height + _MARGIN / 2
    figure = Figure(
        figsize=(round(across * DOTS) / _DPI, round(top * DOTS) / _DPI), dpi=_DPI, facecolor="white"
    )
    axes = _paper(figure)
    write(axes, (_MARGIN, top - _TITLE * 0.6), layout.title, size=13, weight="bold")
    top -= _TITLE
    for name, problems in rows.items():
        _head(axes, (_MARGIN, across - _MARGIN), top, name, extents[name])
        top -= _HEADING
        for place in range(len(problems)):
            line, column = divmod(place, columns)
            origin = (_MARGIN + column * apart, top - line * row_height - height)
            _problem(axes, layout, origin, problems[place : place + 1], width)
        top -= math.ceil(len(problems) / columns) * row_height
    return figure


def _columns(count: int, width: float) -> int:
    """Return the number of problems in a row: as many as fit, in rows of about equal length.

    Args:
        count: Number of problems of a regime.
        width: Width of a problem.
    """
    most = max(1, int((_WIDEST - 2 * _MARGIN + _BETWEEN) / (width + _BETWEEN)))
    return math.ceil(count / math.ceil(count / most))


def _assorted(problems: Problems, layout: Layout, count: int) -> Int64[Tensor, " batch"]:
    """Return rows of `count` problems whose kinds take turns, in the order of the kinds.

    The first of problems with a `drawing`, or `_spread` where they have kinds.
    """
    if layout.drawing is not None:
        count = min(count, len(problems))
        return _spread(problems.latent[layout.kind], count) if layout.kind else torch.arange(count)
    kinds = problems.target if layout.kind is None else problems.latent[layout.kind]
    turns = [
        torch.nonzero(kinds == kind)[:count, 0].tolist() for kind in sorted(set(kinds.tolist()))
    ]
    alternating = [row for turn in zip_longest(*turns) for row in turn if row is not None]
    return torch.tensor(alternating[:count])


def _spread(kinds: Int64[Tensor, " item"], count: int) -> Int64[Tensor, " batch"]:
    """Return rows of `count` problems spread over the set, from the first kind to the last."""
    known, rows = sorted(set(kinds.tolist())), []
    for turn in range(count):
        kind = known[(2 * turn + 1) * len(known) // (2 * count)]
        start = turn * len(kinds) // count
        rows.append((start + int((kinds.roll(-start) == kind).nonzero()[0])) % len(kinds))
    return torch.tensor(rows)


def _paper(figure: Figure) -> Axes:
    """Return axes over the whole figure on which one unit is the width of an image, to the dot."""
    across, down = (side * _DPI / DOTS for side in figure.get_size_inches())
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, across), ylim=(0, down), autoscale_on=False)
    axes.axis("off")
    return axes


def _extent(problems: Problems, things: str) -> str:
    """Format the text of the size of a regime, with its images where problems share them."""
    shown = len(torch.unique(problems.index))
    if shown == problems.index.numel():
        return f"{len(problems):,} problems"
    return f"{len(problems):,} problems over {shown:,} of {len(problems.items):,} {things}"


def _head(axes: Axes, sides: tuple[float, float], top: float, name: str, extent: str) -> None:
    """Find the name of a regime and its extent, over a line from side to side."""
    left, right = sides
    middle = top - _HEADING / 4
    write(axes, (left, middle), name, size=9, weight="bold")
    write(axes, (right, middle), extent, size=7.5, color=FAINT, align="right")
    under = to_dot(top - _HEADING / 2)
    axes.plot((left, right), (under, under), color=EDGE, linewidth=0.6)


def _problem(axes: Axes, layout: Layout, origin: Corner, problem: Problems, width: float) -> None:
    """Draw one problem: its images, its kind, and the answer as a frame or a word."""
    if layout.drawing is not None:
        layout.drawing(axes, origin, problem)
        return
    answer = int(problem.target[0])
    for place, corner in enumerate(layout.places):
        image(axes, moved(origin, corner), problem.items[problem.index[0, place]])
    for sign, middle in layout.signs:
        write(axes, moved(origin, middle), sign, size=13, color=FAINT, align="center")
    if layout.blank is not None:
        _blank(axes, moved(origin, layout.blank))
    for number, corner in enumerate(layout.labels):
        right, up = moved(origin, corner)
        _answer(axes, (right, up - 0.3), f"{number + 1}", right=number == answer)
    if layout.framed:
        _frame(axes, [moved(origin, layout.places[place]) for place in layout.framed[answer]])
    else:
        word = layout.words[answer] if layout.words else f"{answer}"
        _answer(axes, (origin[0] + width / 2, origin[1] - 0.3), word, right=True)
    if said := _caption(layout, problem):
        write(axes, moved(origin, layout.name_of_kind), said, size=7, color=FAINT)


def _caption(layout: Layout, problem: Problems) -> str:
    """Format the caption of a problem, for most tasks its kind and the notes on it."""
    if layout.caption is not None:
        return layout.caption(problem)
    if layout.kind is None or not layout.kinds:
        return ""
    columns = ((layout.kind, layout.kinds), *layout.notes)
    return " ".join(names[int(problem.latent[column][0])] for column, names in columns)


def _blank(axes: Axes, corner: Corner) -> None:
    """Draw the field that is to be completed."""
    axes.add_patch(
        Rectangle(corner, 1, 1, fill=False, edgecolor=FAINT, linewidth=0.8, linestyle=(0, (3, 2)))
    )
    write(axes, (corner[0] + 0.5, corner[1] + 0.5), "?", size=13, color=FAINT, align="center")


def _frame(axes: Axes, corners: list[Corner]) -> None:
    """Draw a frame around neighboring images: the right answer."""
    left, low = min(right for right, _ in corners), min(up for _, up in corners)
    across, down = max(r for r, _ in corners) + 1 - left, max(u for _, u in corners) + 1 - low
    axes.add_patch(
        FancyBboxPatch(
            (left, low),
            across,
            down,
            boxstyle=f"round,pad={GAP / 2},rounding_size=0.08",
            fill=False,
            edgecolor=RIGHT,
            linewidth=2.0,
        )
    )


def _answer(axes: Axes, where: Corner, word: str, *, right: bool) -> None:
    """Draw a possible answer, with a frame if it is right."""
    if right:
        write(axes, where, word, size=8, color=RIGHT, weight="bold", align="center")
    else:
        write(axes, where, word, size=8, color=FAINT, align="center")
