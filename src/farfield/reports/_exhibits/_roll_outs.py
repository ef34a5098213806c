"""Roll-outs of trained networks beside the true frames, and their errors over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final, cast, final

import torch
from jaxtyping import Float
from torch import Tensor

from farfield._text import fixed
from farfield.analysis.internal import copy_last_frame, rolled_out
from farfield.metrics import mean_and_standard_error
from farfield.reports._exhibits._exhibit import Evidence, Finding, Plate, network_exhibit
from farfield.reports._exhibits._frames import Curve, Drawing, Images, Panel, Tile, in_rows
from farfield.reports._profile._series import networks_note
from farfield.reports._profile._theme import CEILING, FLOOR
from farfield.reports._report import _text as text
from farfield.reports._report._report import Row
from farfield.tasks import BouncingBalls

SEQUENCES: Final = 100
"""Number of sequences that are rolled out."""
AFTER: Final = (1, 5, 15)
"""Numbers of frames after the given frames whose errors are written out."""
ACROSS: Final = 2
"""Number of films beside each other."""
SIDE: Final = 0.37
"""Side of a frame, inches."""

CAPTION: Final = (
    "Above: frames of one sequence, the true frames and beneath them the predictions of a network, "
    "of seed {seed}, from the first {given}; gray is in doubt, tinted hidden. Below, frame by "
    "frame over {sequences} sequences and all networks: cross-entropy of the pixels, and the mean "
    "distance of white blobs from those of the true frame, each matched with at most one and cut "
    "off at {cutoff:g} pixels. Two floors need no network. Dashed: frame {given}, repeated, with "
    "the best probability for each pixel, and its blobs at rest. Dotted: the mean frame. A network "
    "follows balls while it is below both. Cross-entropies of the findings are of all frames after "
    "those given of all test sequences."
)

Scores = dict[str, tuple[float, ...]]
"""Score of each frame after the given frames, by the name of the score."""


@final
@dataclass(frozen=True, kw_only=True)
class _Seen:
    """Roll-outs of one cell's networks.

    Args:
        row: The cell.
        task: Its task.
        film: Probabilities of white of the first sequence by the first network.
        truth: True frames of the first sequence.
        hidden: First column behind the curtain, and the column after its last.
        scores: Mean scores over sequences and networks.
        still: Scores of the last given frame, repeated.
    """

    row: Row
    task: BouncingBalls
    film: Float[Tensor, "_ height width"]
    truth: Float[Tensor, "time height width"]
    hidden: tuple[int, int]
    scores: Scores
    still: Scores

    @property
    def name(self) -> str:
        """Row."""
        return self.row.claim.row

    @property
    def ahead(self) -> range:
        """Numbers of frames after the given frames."""
        return range(1, self.task.num_frames - self.task.given + 1)

    @property
    def error(self) -> str:
        """Name of the score beside the cross-entropy."""
        return next(name for name in self.scores if name != self.task.metric)

    @property
    def copied(self) -> list[float]:
        """Cross-entropy of the last given frame, repeated, by frame."""
        return [self.task.copy_loss(self.row.claim.regime, steps) for steps in self.ahead]


@network_exhibit
def roll_outs(evidence: Evidence, *, shown: tuple[int, ...]) -> Plate:
    """Roll networks out, and measure their distance from the true frames.

    The quantities have the name of the cells without the row, then `cross-entropy` for the
    difference between the first row and another, `floors`, or `position error`, e.g.
    `4-balls/balls-6-8/cross-entropy`.

    Args:
        evidence: Networks of bouncing balls.
        shown: Frames of a sequence that are drawn, counted from 1.
    """
    plots: dict[str, list[_Seen]] = {}
    for row in evidence.run:
        name = f"{row.claim.group}/{row.claim.regime}"
        plots.setdefault(name, []).append(_seen(evidence, row))
    first = next(iter(plots.values()))[0]
    films = in_rows([_film(seen, shown) for seen in plots.values()], ACROSS)
    courses = [
        [_course(seen, name, label) for seen in plots.values()]
        for name, label in (
            (first.task.metric, "cross-entropy,\nnats a pixel"),
            (first.error, f"{first.error},\npixels"),
        )
    ]
    strips = [max(_height(panel) for panel in row) for row in films]
    counts = [len(row.records) for row in evidence.run]
    return Plate(
        name="roll-outs",
        title="How far balls are followed",
        caption=CAPTION.format(
            given=first.task.given,
            seed=first.row.records[0].seed,
            sequences=SEQUENCES,
            cutoff=first.task.side / 4,
        ),
        draw=Drawing(
            rows=[*films, *courses],
            height=[*(0.35 + strip for strip in strips), 1.4, 1.6],
            note=f"{evidence.steps}, {networks_note(counts)}",
            shares="y",
        ),
        findings=tuple(
            finding
            for name, seen in plots.items()
            for finding in (
                floors(evidence, name, [one.row for one in seen]),
                *_findings(evidence, name, seen),
            )
        ),
    )


def _seen(evidence: Evidence, row: Row) -> _Seen:
    """Roll out the networks of a cell."""
    courses = list[dict[str, Tensor]]()
    for record in row.records:
        run = evidence.looked_into(row, record)
        task = cast("BouncingBalls", run.task)
        problems = run.sets[row.claim.regime][:SEQUENCES]
        logits = rolled_out(run.network, problems)
        courses.append(task.roll_out_scores(logits, problems))
        if len(courses) == 1:
            first, one = logits[0], problems[:1]
            still = task.roll_out_scores(copy_last_frame(problems, task.given), problems)
    start, stop = one.latent["curtain"][0].tolist()
    return _Seen(
        row=row,
        task=task,
        film=first.sigmoid().reshape(-1, *task.item_shape),
        truth=one.sequences()[0],
        hidden=(start, stop),
        scores={
            name: tuple(torch.stack([course[name].mean(0) for course in courses]).mean(0).tolist())
            for name in courses[0]
        },
        still={name: tuple(values.mean(0).tolist()) for name, values in still.items()},
    )


def _height(panel: Panel) -> float:
    """Measure the height of a film, inches."""
    return sum(mark.size[1] for mark in panel.marks if isinstance(mark, Images))


def _film(seen: Sequence[_Seen], shown: Sequence[int]) -> Panel:
    """Lay out the true frames, and the frames of each network beneath."""
    first = seen[0]
    given, side = first.task.given, first.truth.shape[-1]
    start, stop = first.hidden
    tinted = (start / side, stop / side) if stop > start else None
    numbers = [number for number in shown if number <= len(first.truth)]
    rows: list[list[Tile | None]] = [
        [Tile(pixels=first.truth[number - 1], tinted=tinted) for number in numbers]
    ]
    rows += [
        [
            Tile(pixels=one.film[number - 1 - given], tinted=tinted) if number > given else None
            for number in numbers
        ]
        for one in seen
    ]
    images = Images(
        rows=rows,
        side=SIDE,
        names=["true frames", *(one.name for one in seen)],
        colors=["foreground", *range(len(seen))],
        heads=[str(number) for number in numbers],
    )
    return Panel(marks=(images,), title=first.row.claim.column, frame="none", is_square=True)


def _course(seen: Sequence[_Seen], name: str, label: str) -> Panel:
    """Lay out one score of every network against time."""
    first = seen[0]
    task, regime = first.task, first.row.claim.regime
    is_loss = name == task.metric
    frames = [task.given + steps for steps in first.ahead]
    curves = [
        Curve(x=frames, y=one.scores[name], color=number, name=one.name)
        for number, one in enumerate(seen)
    ]
    still = Curve(
        x=frames,
        y=first.copied if is_loss else first.still[name],
        color="muted",
        line=FLOOR,
        width=0.8,
        name=f"frame {task.given}, repeated",
    )
    mean = Curve(color="muted", line=CEILING, width=0.8, name="mean frame")
    return Panel(
        marks=(still, *curves, mean),
        title=first.row.claim.column * is_loss,
        y_limits=(0, None),
        x_label="frame" * (not is_loss),
        y_label=label,
        ceilings=(task.chance(regime),) if is_loss else (),
    )


def floors(evidence: Evidence, name: str, rows: Sequence[Row]) -> Finding:
    """Compare the cross-entropies of all networks with both floors.

    Args:
        evidence: The figure.
        name: Name of the cells without their rows.
        rows: The cells of one plot.
    """
    claim = rows[0].claim
    task, regime = cast("BouncingBalls", claim.experiment.task), claim.regime
    ahead = range(1, task.num_frames - task.given + 1)
    levels = {one.claim.row: mean_and_standard_error(one.values).mean for one in rows}
    levels[f"frame {task.given}, repeated"] = fmean(task.copy_loss(regime, n) for n in ahead)
    levels["the mean frame"] = task.chance(regime)
    counts = [len(row.records) for row in rows]
    return evidence.finding(
        f"{claim.column}: {task.metric} of {' / '.join(levels)}",
        f"{name}/floors",
        f"{' / '.join(fixed(level, 3) for level in levels.values())} nats a pixel "
        f"({networks_note(counts)})",
    )


def _findings(evidence: Evidence, name: str, seen: Sequence[_Seen]) -> list[Finding]:
    """Write differences of the first row from each other row, and errors at some frames."""
    first, *others = seen
    column, metric = first.row.claim.column, first.task.metric
    found = []
    for other in others:
        mine, theirs = (mean_and_standard_error(one.row.values).mean for one in (first, other))
        count = (len(first.row.records), len(other.row.records))
        found.append(
            evidence.finding(
                f"{column}: cross-entropy of {first.name} less {other.name}",
                f"{name}/{metric}",
                f"{text.signed(mine - theirs, 4)} ({text.networks(min(count), max(count))})",
            )
        )
    error = first.error
    lines = {one.name: one.scores[error] for one in seen}
    lines |= {f"frame {first.task.given} standing still": first.still[error]}
    after = [steps for steps in (*AFTER, len(first.film)) if steps <= len(first.film)]
    for who, line in lines.items():
        numbers = " / ".join(fixed(line[steps - 1], 1) for steps in dict.fromkeys(after))
        steps = " / ".join(map(str, dict.fromkeys(after)))
        found.append(
            evidence.finding(
                f"{column}: {error} of {who} after {steps} frames",
                f"{name}/{error}",
                f"{numbers} pixels",
            )
        )
    return found
