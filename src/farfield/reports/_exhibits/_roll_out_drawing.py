"""The drawing of roll-outs: films of frames, and courses of errors under them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from torch import Tensor

from farfield.reports._problems._layout import image
from farfield.reports._profile._axes import WIDTH, legend
from farfield.reports._profile._theme import CEILING, FLOOR, Theme, in_style

ACROSS: Final = 2
"""Films beside each other."""
STRIP: Final = 0.43
"""Height of a strip of frames, inches."""
HEAD: Final = 0.85
"""Room over the strips of a film, in strips."""
GAP: Final = 0.08
"""Between two frames, in widths of one."""
NAMES: Final = 2.05
"""Room for the names of strips, in widths of a frame."""
CURTAIN: Final = "#56b4e9"
"""Tint of what is behind the curtain, bright enough on black."""
COURSE: Final = 1.35
"""Height of a panel of errors, inches."""


@final
@dataclass(frozen=True, kw_only=True)
class Film:
    """Predicted frames of a network.

    Args:
        label: Whose they are.
        frames: How likely each pixel is white, from the first frame after those given on.
    """

    label: str
    frames: Float[Tensor, "time height width"]


@final
@dataclass(frozen=True, kw_only=True)
class Course:
    """A score against time.

    Args:
        label: What is measured.
        lines: Score of each film's networks in each frame after those given.
        still: The same of the last frame given.
        floor: Score of the mean frame; `None` where it has none.
    """

    label: str
    lines: tuple[tuple[float, ...], ...]
    still: tuple[float, ...]
    floor: float | None


@final
@dataclass(frozen=True, kw_only=True)
class Panel:
    """One plot: a sequence as film, and the courses of scores.

    Args:
        title: What is tested.
        given: How many true frames the networks saw.
        truth: The true frames, all of them.
        hidden: First column behind the curtain, and the one after its last.
        films: What the networks went on with.
        courses: How far that is from the truth.
    """

    title: str
    given: int
    truth: Float[Tensor, "time height width"]
    hidden: tuple[int, int]
    films: tuple[Film, ...]
    courses: tuple[Course, ...]


@in_style
def draw(panels: Sequence[Panel], shown: Sequence[int], note: str, theme: Theme) -> Picture:
    """Films above, courses below.

    Args:
        panels: The plots, each with the same networks.
        shown: Which frames are drawn, counted from 1.
        note: Steps and networks behind them.
        theme: Colors.
    """
    lines = -(-len(panels) // ACROSS)
    strips = 1 + max(len(panel.films) for panel in panels)
    heights = (lines * (strips + HEAD) * STRIP, 2 * COURSE)
    picture = Picture(figsize=(WIDTH, sum(heights) + 0.3))
    picture.set_layout_engine("none")
    picture.set_layout_engine("constrained")
    above, below = picture.subfigures(2, 1, height_ratios=heights, squeeze=False)[:, 0]
    for part in (above, below):
        part.set_facecolor(theme.background)
    above.suptitle(note, x=0.006, ha="left", fontsize=7, color=theme.muted)
    places = above.subplots(lines, ACROSS, squeeze=False).ravel()
    for axes in places:
        axes.set_axis_off()
    for axes, panel in zip(places, panels, strict=False):
        _film(axes, panel, shown, theme)
    grid = below.subplots(len(panels[0].courses), len(panels), squeeze=False, sharex=True)
    for number, line in enumerate(grid):
        top = max(max(max(one) for one in panel.courses[number].lines) for panel in panels)
        for axes, panel in zip(line, panels, strict=True):
            _course(axes, panel, number, theme)
            axes.set_ylim(0, 1.08 * top)
        line[0].set_ylabel(panels[0].courses[number].label, fontsize=6.5, color=theme.foreground)
    for axes, panel in zip(grid[0], panels, strict=True):
        axes.set_title(panel.title)
    for axes in grid[-1]:
        axes.set_xlabel("frame")
    _foot(picture, panels[0], theme)
    return picture


def _film(axes: Axes, panel: Panel, shown: Sequence[int], theme: Theme) -> None:
    """The true frames, and those of each network beneath."""
    seen = [number for number in shown if number <= len(panel.truth)]
    strips = 1 + len(panel.films)
    step = 1 + GAP
    for place, number in enumerate(seen):
        right = NAMES + place * step
        _frame(axes, (right, (strips - 1) * step), panel.truth[number - 1], panel.hidden)
        for down, film in enumerate(panel.films):
            if number > panel.given:
                frame = film.frames[number - 1 - panel.given]
                _frame(axes, (right, (strips - 2 - down) * step), frame, panel.hidden)
        axes.text(
            right + 0.5, strips * step + 0.02, f"{number}", size=6, color=theme.muted,
            ha="center", va="bottom",
        )  # fmt: skip
    names = [("true frames", theme.foreground)]
    names += [(film.label, theme.models[place]) for place, film in enumerate(panel.films)]
    for down, (name, color) in enumerate(names):
        middle = (strips - 1 - down) * step + 0.5
        axes.text(NAMES - 0.12, middle, name, size=6, color=color, ha="right", va="center")
    axes.text(0, strips * step + 0.36, panel.title, size=7.7, color=theme.foreground, weight="bold")
    axes.set(xlim=(0, NAMES + len(shown) * step), ylim=(-GAP, strips * step + HEAD))
    axes.set_aspect("equal", anchor="W")


def _frame(axes: Axes, corner: tuple[float, float], frame: Tensor, hidden: tuple[int, int]) -> None:
    """A frame; what is behind the curtain is tinted."""
    image(axes, corner, frame)
    (start, stop), side = hidden, frame.shape[-1]
    if stop > start:
        where, width = (corner[0] + start / side, corner[1]), (stop - start) / side
        axes.add_patch(Rectangle(where, width, 1.0, color=CURTAIN, alpha=0.5, linewidth=0))


def _course(axes: Axes, panel: Panel, number: int, theme: Theme) -> None:
    """One score against time, of every network."""
    course = panel.courses[number]
    frames = range(panel.given + 1, panel.given + 1 + len(course.still))
    axes.plot(frames, course.still, color=theme.muted, linewidth=0.8, linestyle=FLOOR)
    if course.floor is not None:
        axes.axhline(course.floor, color=theme.muted, linewidth=0.8, linestyle=CEILING)
    for place, line in enumerate(course.lines):
        axes.plot(frames, line, color=theme.models[place], linewidth=1.2)


def _foot(picture: Picture, panel: Panel, theme: Theme) -> None:
    """Legend of the lines."""
    dashed, dotted = (
        Line2D([], [], color=theme.muted, linewidth=0.8, linestyle=style)
        for style in (FLOOR, CEILING)
    )
    models = {
        film.label: Line2D([], [], color=theme.models[place], linewidth=1.2)
        for place, film in enumerate(panel.films)
    }
    names = {f"frame {panel.given}, repeated": dashed, "mean frame": dotted}
    legend(picture, {**models, **names}, columns=4)
