"""Recall of trained networks by the length of the dormant phase."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, final

import numpy as np
from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D

from farfield.analysis import recall_by_length
from farfield.core import stream
from farfield.nn import NTMLayer
from farfield.records import Record, Store
from farfield.reports._exhibits._exhibit import Figure
from farfield.reports._exhibits._looked_into import looked_into
from farfield.reports._exhibits._plates import Finding, Plate
from farfield.reports._profile._axes import WIDTH, draw_floors, floor_mark, legend, score_label
from farfield.reports._profile._theme import Theme, in_style
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report, Row

SEQUENCES: Final = 50
"""Sequences that are asked for after each length."""

CAPTION: Final = (
    "Symbols recalled of {sequences} sequences, the same after every length of the dormant phase; "
    "a line for each network. Upright: the length of training; dashed: guessing."
)

Courses = list[list[float]]
"""Recall after each length, in percent, of each network."""


@final
@dataclass(frozen=True, kw_only=True)
class DormantPhases:
    """Recall of networks of the copying task by the length of the dormant phase.

    The quantities are named `least`, `most` and, of networks with slots, `remainder`.

    Args:
        lengths: The lengths, ascending.
        trained: That of training.
    """

    lengths: tuple[int, ...]
    trained: int

    def plate(self, figure: Figure, report: Report, store: Store | None) -> Plate | None:
        """A line for each network of each row; `None` where nothing has been run.

        Args:
            figure: What the paper says.
            report: The figure's cells with what was found.
            store: Where the trained networks lie.

        Raises:
            StoreError: If a trained network is missing.
        """
        if store is None:
            return None
        shown: list[tuple[Row, Courses]] = []
        findings: list[Finding] = []
        for row in report.run:
            looked = [_course(row, record, self, store) for record in row.records]
            courses = [course for course, _ in looked]
            shown.append((row, courses))
            findings += _findings(figure, row, self, courses, slots=looked[0][1])
        if not shown:
            return None
        return Plate(
            name="dormant-phases",
            title="Recall after every length",
            caption=CAPTION.format(sequences=SEQUENCES),
            draw=partial(_draw, shown, self, report.title),
            findings=tuple(findings),
        )


def _course(
    row: Row, record: Record, analysis: DormantPhases, store: Store
) -> tuple[list[float], int | None]:
    """Recall of one network, in percent, and its number of slots if it has any."""
    run = looked_into(row, record, store)
    place = stream(record.seed, "dormant phases")
    recalled = recall_by_length(run.network, run.task, analysis.lengths, SEQUENCES, place)
    memories = [part for part in run.network.modules() if isinstance(part, NTMLayer)]
    return [100 * share for share in recalled], len(memories[0].memory) if memories else None


def _findings(
    figure: Figure, row: Row, analysis: DormantPhases, courses: Courses, *, slots: int | None
) -> Iterator[Finding]:
    """Range of recall beyond the length of training, and among lengths of one remainder."""
    beyond = np.array(analysis.lengths) > analysis.trained
    name = row.claim.row
    for what, choose in (("least", min), ("most", max)):
        yield Finding(
            what=f"{name}: {what} recall after any length above {analysis.trained}",
            paper=figure.words(what),
            ours=text.over_counted([choose(np.array(course)[beyond]) for course in courses]),
        )
    if slots is not None:
        yield Finding(
            what=f"{name}: largest difference between lengths with one remainder by its "
            f"{slots} slots",
            paper=figure.words("remainder"),
            ours=text.over_counted(
                [spread_of_remainders(analysis.lengths, course, slots) for course in courses]
            ),
        )


def spread_of_remainders(lengths: Sequence[int], course: Sequence[float], slots: int) -> float:
    """Largest difference between lengths that leave the same remainder.

    Args:
        lengths: The lengths.
        course: What was measured after each.
        slots: What they are divided by.
    """
    groups: dict[int, list[float]] = {}
    for length, value in zip(lengths, course, strict=True):
        groups.setdefault(length % slots, []).append(value)
    return max(max(group) - min(group) for group in groups.values())


@in_style
def _draw(
    shown: Sequence[tuple[Row, Courses]], analysis: DormantPhases, title: str, theme: Theme
) -> Picture:
    """A strip for each row: recall against the length."""
    picture = Picture(figsize=(WIDTH, 0.9 + 1.0 * len(shown)))
    picture.suptitle(title, x=0.006, ha="left", fontsize=8.2, weight="bold")
    panels = picture.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (row, courses) in zip(panels, shown, strict=True):
        axes.axvline(analysis.trained, color=theme.models[0], linewidth=1.0)
        draw_floors(axes.axhline, [row], theme)
        for course in courses:
            axes.plot(analysis.lengths, course, color=theme.foreground, linewidth=1.0)
        axes.set(xlim=(analysis.lengths[0], analysis.lengths[-1]), ylim=(0, 104))
        axes.set_title(
            f"{row.claim.row}, {text.budget(row)} of steps, {text.networks(len(courses))}"
        )
    picture.supylabel(score_label(shown[0][0]))
    panels[-1].set_xlabel("length of the dormant phase (steps)")
    marks = {
        "one network": Line2D([], [], color=theme.foreground, linewidth=1.0),
        "length of training": Line2D([], [], color=theme.models[0], linewidth=1.0),
    }
    legend(picture, marks | floor_mark(theme), columns=3)
    return picture
