"""Roll-outs of trained networks beside the true frames, and their errors over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Final, cast, final

import torch
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from torch import Tensor

from farfield._text import fixed
from farfield.analysis.internal import copy_last_frame, rolled_out
from farfield.metrics import mean_and_standard_error
from farfield.records import Store
from farfield.reports._exhibits._exhibit import Figure, Finding, Plate
from farfield.reports._exhibits._looked_into import looked_into
from farfield.reports._problems._layout import image
from farfield.reports._profile._axes import WIDTH, legend, networks_note
from farfield.reports._profile._theme import CEILING, FLOOR, Theme, in_style
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report, Row
from farfield.tasks import BouncingBalls

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


SEQUENCES: Final = 100
"""Sequences that are looked at."""
AFTER: Final = (1, 5, 15)
"""Frames after those given whose errors are written out."""

CAPTION: Final = (
    "Above: frames of one sequence, the true ones and beneath them what a network, of seed {seed}, "
    "goes on with from the first {given}; grey is in doubt, tinted hidden. Below, frame by frame "
    "over {sequences} sequences and all networks: cross-entropy of the pixels, and the mean "
    "distance of white blobs from those of the true frame, each matched with at most one and cut "
    "off at {cutoff:g} pixels. Two floors need no network. Dashed: frame {given}, repeated, with "
    "the best probability for each pixel, and its blobs at rest. Dotted: the mean frame. A network "
    "follows balls as far as it is below both. Cross-entropies of the findings are of all frames "
    "after those given of all test sequences."
)


@final
@dataclass(frozen=True, kw_only=True)
class _Seen:
    """Roll-outs of one cell's networks.

    Args:
        row: The cell.
        task: Its task.
        seed: Of the first network.
        film: Probabilities of white of the first sequence by the first network.
        truth: True frames of that sequence.
        hidden: First column behind the curtain, and the one after its last.
        scores: Mean over sequences and networks of each frame's scores, by their name.
        still: The same of the last frame given, standing still.
    """

    row: Row
    task: BouncingBalls
    seed: int
    film: Float[Tensor, "_ height width"]
    truth: Float[Tensor, "time height width"]
    hidden: tuple[int, int]
    scores: dict[str, tuple[float, ...]]
    still: dict[str, tuple[float, ...]]


@final
@dataclass(frozen=True, kw_only=True)
class RollOuts:
    """Roll-outs of networks, and their distance from the true frames.

    The quantities have the name of the cells without the row, then `cross-entropy` for the
    difference between the first row and another, `floors`, or `position error`, e.g.
    `4-balls/balls-6-8/cross-entropy`.

    Args:
        shown: Which frames of a sequence are drawn, counted from 1.
    """

    shown: tuple[int, ...]

    def plate(self, figure: Figure, report: Report, store: Store | None) -> Plate | None:
        """Roll-outs of the networks of each cell; `None` where nothing has been run.

        Args:
            figure: What the paper says.
            report: The figure's cells with what was found.
            store: Where the trained networks lie.

        Raises:
            StoreError: If a trained network is missing.
        """
        if store is None:
            return None
        plots: dict[str, list[_Seen]] = {}
        for row in report.rows:
            if row.records:
                name = f"{row.claim.group}/{row.claim.regime}"
                plots.setdefault(name, []).append(_seen(row, store))
        if not plots:
            return None
        first = next(iter(plots.values()))[0]
        return Plate(
            name="roll-outs",
            title="How far balls are followed",
            caption=CAPTION.format(
                given=first.task.given,
                seed=first.seed,
                sequences=SEQUENCES,
                cutoff=first.task.side / 4,
            ),
            draw=partial(
                draw, [_panel(seen) for seen in plots.values()], self.shown, _note(report.run)
            ),
            findings=tuple(
                finding
                for name, seen in plots.items()
                for finding in (
                    floors(figure, name, [one.row for one in seen]),
                    *_findings(figure, name, seen),
                )
            ),
        )


def _seen(row: Row, store: Store) -> _Seen:
    """The networks of a cell at work."""
    courses = list[dict[str, Tensor]]()
    for record in row.records:
        run = looked_into(row, record, store)
        task = cast("BouncingBalls", run.task)
        problems = run.sets[row.claim.regime][:SEQUENCES]
        logits = rolled_out(run.network, problems)
        courses.append(task.roll_out_scores(logits, problems))
        if len(courses) == 1:
            first, shown = logits[0], problems[:1]
            still = task.roll_out_scores(copy_last_frame(problems, task.given), problems)
    start, stop = shown.latent["curtain"][0].tolist()
    return _Seen(
        row=row,
        task=task,
        seed=row.records[0].seed,
        film=first.sigmoid().reshape(-1, *task.item_shape),
        truth=shown.sequences()[0],
        hidden=(start, stop),
        scores={
            name: tuple(torch.stack([one[name].mean(0) for one in courses]).mean(0).tolist())
            for name in courses[0]
        },
        still={name: tuple(values.mean(0).tolist()) for name, values in still.items()},
    )


def _note(rows: Sequence[Row]) -> str:
    """Steps and networks behind the picture."""
    fractions = [row.judgement.fraction or 0.0 for row in rows]
    steps = text.shares(min(fractions), max(fractions))
    return f"{steps} of steps, {networks_note([len(row.records) for row in rows])}"


def _panel(seen: Sequence[_Seen]) -> Panel:
    """One plot of the figure, ready to be drawn."""
    first = seen[0]
    task, regime = first.task, first.row.claim.regime
    error = next(name for name in first.scores if name != task.metric)
    ahead = range(1, task.num_frames - task.given + 1)
    return Panel(
        title=first.row.claim.column,
        given=task.given,
        truth=first.truth,
        hidden=first.hidden,
        films=tuple(Film(label=one.row.claim.row, frames=one.film) for one in seen),
        courses=(
            Course(
                label="cross-entropy,\nnats a pixel",
                lines=tuple(one.scores[task.metric] for one in seen),
                still=tuple(task.copy_loss(regime, steps) for steps in ahead),
                floor=task.chance(regime),
            ),
            Course(
                label=f"{error},\npixels",
                lines=tuple(one.scores[error] for one in seen),
                still=first.still[error],
                floor=None,
            ),
        ),
    )


def floors(figure: Figure, name: str, rows: Sequence[Row]) -> Finding:
    """Cross-entropies of all networks beside those of both floors.

    Args:
        figure: What the paper says.
        name: Of the cells without their rows.
        rows: The cells of one plot.
    """
    claim = rows[0].claim
    task, regime = cast("BouncingBalls", claim.experiment.task), claim.regime
    ahead = range(1, task.num_frames - task.given + 1)
    levels = {one.claim.row: mean_and_standard_error(one.values).mean for one in rows}
    levels[f"frame {task.given}, repeated"] = fmean(task.copy_loss(regime, n) for n in ahead)
    levels["the mean frame"] = task.chance(regime)
    counts = [len(row.records) for row in rows]
    return Finding(
        what=f"{claim.column}: {task.metric} of {' / '.join(levels)}",
        paper=figure.words(f"{name}/floors"),
        ours=f"{' / '.join(fixed(level, 3) for level in levels.values())} nats a pixel "
        f"({networks_note(counts)})",
    )


def _findings(figure: Figure, name: str, seen: Sequence[_Seen]) -> list[Finding]:
    """Differences of the first row from the others, and errors at some frames."""
    first, *others = seen
    column = first.row.claim.column
    found = []
    for other in others:
        mine, theirs = (mean_and_standard_error(one.row.values).mean for one in (first, other))
        count = (len(first.row.records), len(other.row.records))
        found.append(
            Finding(
                what=f"{column}: cross-entropy of {first.row.claim.row} less {other.row.claim.row}",
                paper=figure.words(f"{name}/{first.task.metric}"),
                ours=f"{text.signed(mine - theirs, 4)} ({text.networks(min(count), max(count))})",
            )
        )
    error = next(kind for kind in first.scores if kind != first.task.metric)
    lines = {one.row.claim.row: one.scores[error] for one in seen}
    lines |= {f"frame {first.task.given} standing still": first.still[error]}
    after = [steps for steps in (*AFTER, len(first.film)) if steps <= len(first.film)]
    for who, line in lines.items():
        numbers = " / ".join(fixed(line[steps - 1], 1) for steps in dict.fromkeys(after))
        steps = " / ".join(map(str, dict.fromkeys(after)))
        found.append(
            Finding(
                what=f"{column}: {error} of {who} after {steps} frames",
                paper=figure.words(f"{name}/{error}"),
                ours=f"{numbers} pixels",
            )
        )
    return found
