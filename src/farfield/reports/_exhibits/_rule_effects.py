"""Differences that learning rules make to each mechanism on each task, as one matrix."""

from __future__ import annotations

import statistics
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, NamedTuple, final

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.patches import Patch, Rectangle

from farfield.metrics import (
    Difference,
    mean_and_standard_error,
    measure_of,
    paired_interval,
)
from farfield.records import Store
from farfield.reports._exhibits._exhibit import Figure
from farfield.reports._exhibits._plates import Finding, Plate
from farfield.reports._profile._axes import WIDTH, legend
from farfield.reports._profile._theme import Theme, in_style
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report, Row

CAPTION: Final = (
    "Points by which each learning rule changes the score that a mechanism has with {baseline!r} "
    "in the regime farthest from training, mean over pairs of networks of one seed; first column: "
    "that score, in percent. Chance: the score of answers that ignore the problem. Framed: the "
    "95 % t interval, corrected for all {comparisons} differences planned (Bonferroni), leaves out "
    "0. Two pairs at least make an interval. {missing}"
)
ACROSS: Final = 2
"""Panels side by side."""
LINE: Final = 0.2
"""Height of a line of a panel, inches."""
STRONGEST: Final = 0.6
"""Opacity of the largest difference: letters stay legible on it."""
NAME: Final = ", "
"""Text between mechanism and rule in the name of a row."""


class _Effect(NamedTuple):
    """A rule beside the baseline.

    Attributes:
        subject: The task.
        mechanism: The mechanism.
        rule: The rule.
        difference: By how much it changes the score; `None` where no pair was run.
        pairs: Number of pairs.
    """

    subject: str
    mechanism: str
    rule: str
    difference: Difference | None
    pairs: int

    @property
    def sign(self) -> int:
        """1 where the rule is clearly ahead, −1 where it is clearly behind, else 0."""
        found = self.difference
        return 0 if found is None or not found.clear else 1 if found.value > 0 else -1


@final
@dataclass(frozen=True, kw_only=True)
class RuleEffects:
    """Differences of rules from a baseline, for rows such as `ESBN, Mixup`, a panel for each task.

    Args:
        baseline: The rule that the others are compared with.
    """

    baseline: str

    def plate(self, figure: Figure, report: Report, store: Store | None) -> Plate | None:
        """The matrix of differences; `None` where no pair was run.

        Args:
            figure: Not used.
            report: The figure's cells with what was found.
            store: Not used.
        """
        del figure, store
        farthest = _farthest(report)
        effects = _effects(farthest, self.baseline)
        if not any(effect.pairs for effect in effects):
            return None
        return Plate(
            name="effects",
            title="What learning rules change",
            caption=CAPTION.format(
                baseline=self.baseline, comparisons=len(effects), missing=_missing(effects)
            ).rstrip(),
            draw=partial(_draw, farthest, effects, self.baseline),
            findings=(
                *_findings(effects, lambda effect: effect.rule),
                *_findings(effects, lambda effect: effect.mechanism),
            ),
        )


def _farthest(report: Report) -> dict[str, dict[tuple[str, str], Row]]:
    """The cells of the farthest regime of each task, by mechanism and rule."""
    panels = {}
    for subject, rows in report.subjects.items():
        distance = max(row.distance for row in rows)
        own = [row for row in rows if row.distance == distance]
        panels[subject] = {_parts(row): row for row in own}
    return panels


def _parts(row: Row) -> tuple[str, str]:
    """Mechanism and rule of a row."""
    mechanism, _, rule = row.claim.row.rpartition(NAME)
    return mechanism, rule


def _effects(panels: dict[str, dict[tuple[str, str], Row]], baseline: str) -> list[_Effect]:
    """Every rule beside the baseline, run or not: all of them are corrected for."""
    compared = [
        (subject, mechanism, rule, cells[mechanism, baseline], row)
        for subject, cells in panels.items()
        for (mechanism, rule), row in cells.items()
        if rule != baseline
    ]
    return [
        _Effect(subject, mechanism, rule, *_difference(row, first, len(compared)))
        for subject, mechanism, rule, first, row in compared
    ]


def _difference(row: Row, first: Row, comparisons: int) -> tuple[Difference | None, int]:
    """A row minus another over the seeds of both, and the number of these."""
    ours, theirs = (
        dict(zip((record.seed for record in one.kept), one.values, strict=True))
        for one in (row, first)
    )
    seeds = sorted(ours.keys() & theirs.keys())
    if not seeds:
        return None, 0
    pairs = [ours[seed] for seed in seeds], [theirs[seed] for seed in seeds]
    found = paired_interval(*pairs, comparisons=comparisons)
    reach = row.claim.published.scale * measure_of(row.claim.metric).range
    return replace(found, interval=found.interval.cut(-reach, reach)), len(seeds)


def _findings(effects: Sequence[_Effect], group: Callable[[_Effect], str]) -> Iterator[Finding]:
    """The median of each group, and its differences that are certain."""
    for name in dict.fromkeys(map(group, effects)):
        own = [effect for effect in effects if group(effect) == name]
        found = [effect.difference.value for effect in own if effect.difference is not None]
        if found:
            said = [f"median {text.signed(statistics.median(found), 1)} points"]
            said += [_most(own, sign, word) for sign, word in ((1, "ahead"), (-1, "behind"))]
            said.append(f"{len(found)} of {len(own)} run")
            yield Finding(what=name, paper="", ours="; ".join(said))


def _most(effects: Sequence[_Effect], sign: int, word: str) -> str:
    """Number of clear differences of a sign, and the largest of them."""
    clear = [effect for effect in effects if effect.sign == sign]
    if not clear:
        return f"clearly {word} nowhere"
    most = max(clear, key=lambda effect: abs(effect.difference.value))  # type: ignore[union-attr]
    points = text.signed(most.difference.value, 1)  # type: ignore[union-attr]
    where = f"{most.mechanism}, {most.rule}, {most.subject}"
    return f"clearly {word} in {len(clear)}, most {points} ({where})"


def _missing(effects: Sequence[_Effect]) -> str:
    """Text on what was not run: whole tasks, which have no panel, and single cells."""
    ran = {effect.subject for effect in effects if effect.pairs}
    absent = dict.fromkeys(effect.subject for effect in effects if effect.subject not in ran)
    gaps = any(not effect.pairs for effect in effects if effect.subject in ran)
    said = [f"Not run: {', '.join(absent)}."] if absent else []
    return " ".join([*said, *["–: not run."] * gaps])


@in_style
def _draw(
    panels: dict[str, dict[tuple[str, str], Row]],
    effects: Sequence[_Effect],
    baseline: str,
    theme: Theme,
) -> Picture:
    """A panel for each task that was run: mechanisms from the top, rules across."""
    ran = {effect.subject for effect in effects if effect.pairs}
    panels = {subject: cells for subject, cells in panels.items() if subject in ran}
    mechanisms = [*dict.fromkeys(effect.mechanism for effect in effects)]
    rules = [baseline, *dict.fromkeys(effect.rule for effect in effects)]
    largest = max(abs(effect.difference.value) for effect in effects if effect.difference)
    lines = -(-len(panels) // ACROSS)
    picture = Picture(figsize=(WIDTH, lines * (LINE * len(mechanisms) + 0.3) + 0.85))
    grid = picture.subplots(lines, ACROSS, squeeze=False, sharex=True, sharey=True)
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    for axes, (subject, cells) in zip(grid.flat, panels.items(), strict=False):
        level = text.plain(next(iter(cells.values())).floor, 0)
        axes.set_title(f"{subject} (chance: {level} %)")
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
        for (mechanism, rule), row in cells.items():
            if rule == baseline:
                _score(axes, mechanisms.index(mechanism), row, theme)
        for effect in effects:
            if effect.subject == subject:
                spot = rules.index(effect.rule), mechanisms.index(effect.mechanism)
                _cell(axes, spot, effect, largest or 1.0, theme)
    grid[0, 0].set(
        xlim=(-0.5, len(rules) - 0.5),
        ylim=(len(mechanisms) - 0.5, -0.5),
        xticks=range(len(rules)),
        xticklabels=[textwrap.fill(rule, 11, break_long_words=False) for rule in rules],
        yticks=range(len(mechanisms)),
        yticklabels=mechanisms,
    )
    counts = [effect.pairs for effect in effects if effect.pairs]
    shares = [
        row.judgement.fraction or 0.0
        for cells in panels.values()
        for row in cells.values()
        if row.records
    ]
    picture.suptitle(
        f"{baseline}: score (%); others: change in points. "
        f"Pairs of networks in a cell: {text.span(str(min(counts)), str(max(counts)))}; "
        f"{text.shares(min(shares), max(shares))} of steps.\n{_missing(effects)}".rstrip(),
        fontsize=7, color=theme.muted, x=0.006, ha="left",
    )  # fmt: skip
    legend(picture, _marks(theme), columns=3)
    return picture


def _score(axes: Axes, line: int, row: Row, theme: Theme) -> None:
    """The score with the baseline."""
    if row.values:
        mean = text.plain(mean_and_standard_error(row.values).mean, 0)
        axes.text(0, line, mean, ha="center", va="center", fontsize=6.8, color=theme.muted)
    else:
        _dash(axes, (0, line), theme)


def _dash(axes: Axes, spot: tuple[int, int], theme: Theme) -> None:
    """The sign of a cell that was not run."""
    axes.text(*spot, text.MISSING, ha="center", va="center", fontsize=6.8, color=theme.muted)


def _cell(axes: Axes, spot: tuple[int, int], effect: _Effect, largest: float, theme: Theme) -> None:
    """A difference: its color, its number, and a frame where it is certain."""
    if effect.difference is None:
        _dash(axes, spot, theme)
        return
    value = effect.difference.value
    gain, loss = theme.models[:2]
    _box(
        axes, spot, facecolor=gain if value > 0 else loss, linewidth=0,
        alpha=STRONGEST * abs(value) / largest,
    )  # fmt: skip
    if effect.sign:
        _box(axes, spot, edgecolor=theme.foreground, linewidth=1.3, zorder=3)
    axes.text(
        *spot, text.signed(value, 0), ha="center", va="center", fontsize=6.8,
        color=theme.foreground, weight="bold" if effect.sign else "normal", zorder=4,
    )  # fmt: skip


def _box(axes: Axes, spot: tuple[int, int], *, facecolor: str = "none", **style: object) -> None:
    """The square of a cell, with a little room around it."""
    x, y = spot
    box = Rectangle((x - 0.46, y - 0.43), 0.92, 0.86, facecolor=facecolor, **style)  # type: ignore[arg-type]
    axes.add_patch(box)


def _marks(theme: Theme) -> dict[str, Patch]:
    """Entries of the legend for colors and frames."""
    gain, loss = theme.models[:2]
    return {
        "ahead": Patch(facecolor=gain, alpha=STRONGEST, linewidth=0),
        "behind": Patch(facecolor=loss, alpha=STRONGEST, linewidth=0),
        "corrected 95 % t interval without 0": Patch(
            facecolor="none", edgecolor=theme.foreground, linewidth=1.3
        ),
    }
