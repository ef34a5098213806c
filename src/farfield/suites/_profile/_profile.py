"""`profile`: where a trained model stops working."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from farfield._text import fixed
from farfield.analysis import Shift
from farfield.analysis.internal import GROUPS, Items, describe_items, shifts_of
from farfield.core import stream
from farfield.core.internal import (
    FractionBelowOne,
    PositiveFloat,
    Size,
    UnknownNameError,
    check_arguments,
)
from farfield.execution.internal import check_machine
from farfield.metrics import t_interval
from farfield.metrics.internal import Resampling
from farfield.reports import Tabular
from farfield.suites._profile._answers import Answerer, answerer_of
from farfield.suites._profile._curves import (
    Curve,
    Measured,
    changes_nothing,
    curve_of,
    notes_of,
)
from farfield.suites._profile._forecasts import forecasts_of, in_words
from farfield.suites._profile._references import can_compare, compared_with_neighbors, features_of
from farfield.suites._profile._sets import (
    check_labels,
    digest_of,
    numbered,
    rows_of,
    sets_of,
)

FEW: Final = 100
"""Items of a profile below which its page says that they are few."""

LEAST_ITEMS: Final = 200
"""Items that are kept however slow a model is."""

EVALUATIONS: Final = 14
"""Evaluations that a shift takes, about."""

MOST_NUMBERS: Final = 200_000_000
"""Most numbers of the items together, which are held several times."""

MOST_NAMED: Final = 12
"""Most shifts that are named although nothing happens."""

MOST_ROWS: Final = 30
"""Most rows of a printed table."""

UNNAMED: Final = (
    "Columns without names are taken to be a table; with the kind series they are time steps."
)
"""Note on an array with two axes."""

ENOUGH: Final = 0.1
"""Least gain over the floor, as a share of the room above it."""


@final
@dataclass(frozen=True, kw_only=True)
class ShiftProfile:
    """Curves of a model over graded shifts of its items, the shift that breaks it first in front.

    Args:
        subject: Names of the model and of the data.
        about: Kind, size and range of the items, as they were read.
        metric: Name of the score.
        score: Mean score of items without a shift.
        low: Lower end of its 95 % interval over items.
        high: Upper end.
        floor: Score of answers that ignore the item.
        count: Number of items.
        networks: Number of models.
        level: Share of the skill that is left at a failure.
        curves: The curves, worst first.
        skipped: Shifts that were not tried, with the reason.
        notes: Sentences on the data and on the answers.
        digest: Digest of the items and of their labels.
        seed: Number of the draws.
        seconds: How long it took.
    """

    subject: str
    about: str
    metric: str
    score: float
    low: float
    high: float
    floor: float
    count: int
    networks: int
    level: float
    curves: tuple[Curve, ...]
    skipped: Mapping[str, str]
    notes: tuple[str, ...]
    digest: str
    seed: int
    seconds: float

    def __getitem__(self, name: str) -> Curve:
        """Return the curve of a shift.

        Raises:
            UnknownNameError: If there is none of this name.
        """
        found = {curve.name: curve for curve in self.curves}
        if name not in found:
            raise UnknownNameError("shift", name, found)
        return found[name]

    def __str__(self) -> str:
        table = self.table
        shown = Tabular(headings=table.headings, cells=table.cells[:MOST_ROWS], values=())
        more = len(table.cells) - MOST_ROWS
        text = str(shown) if self.broken else "No shift breaks it."
        text += f"\n\n{more} more break it; points.csv has all." if more > 0 else ""
        parts = [self.heading, text, in_words(self.forecasts), self.rest]
        return "\n\n".join(part for part in parts if part)

    def _repr_html_(self) -> str:
        from farfield.suites._profile._page import page  # noqa: PLC0415 — loads matplotlib

        return page(self)

    @property
    def heading(self) -> str:
        """Heading: model, items, score with its interval, floor."""
        networks = "one network" if self.networks == 1 else f"{self.networks} networks"
        return (
            f"{self.subject}: {self.count:,} items, {self.about}; {self.metric} "
            f"{_percent(self.score)} [{_percent(self.low)}, {_percent(self.high)}], floor "
            f"{_percent(self.floor)}; {networks}; {self.seconds:.0f} s"
        )

    @property
    def broken(self) -> tuple[Curve, ...]:
        """Curves that fall below the level, worst first."""
        return tuple(curve for curve in self.curves if not curve.failure.holds)

    @property
    def rest(self) -> str:
        """Shifts that hold to their end, shifts that were not tried, and notes."""
        holds = [f"{one.name} {one.failure}" for one in self.curves if one.failure.holds]
        shown = [
            *holds[:MOST_NAMED],
            *([f"{len(holds) - MOST_NAMED} more"] * (len(holds) > MOST_NAMED)),
        ]
        lines = [f"Hold to the end: {', '.join(shown)}."] if shown else []
        if self.skipped:
            skipped = "; ".join(f"{name} ({reason})" for name, reason in self.skipped.items())
            lines.append(f"Not tried: {skipped}.")
        return "\n".join([*lines, *self.notes])

    @property
    def table(self) -> Tabular:
        """Table of the shifts that break the model, worst first."""
        gone = "half gone" if self.level == 0.5 else f"{1 - self.level:.0%} gone"
        headings = (
            "shift", "unit", "tenth gone", gone, "worst class", "sure", "right",
            "answer still there", "against neighbors", "moved",
        )  # fmt: skip
        rows = [
            (
                curve.name, curve.unit, str(curve.onset), str(curve.failure),
                *(_noted(curve, name, form) for name, form in (
                    ("worst class", "{}"), ("confidence", "{:.2f}"), ("score", "{:.2f}"),
                    ("information", "{:.2f}"), ("ratio", "× {:.2f}"), ("displacement", "{:.2f}"),
                )),
            )
            for curve in self.broken
        ]  # fmt: skip
        known = [n for n in range(len(headings)) if not rows or any(row[n] != "–" for row in rows)]
        return Tabular(
            headings=tuple(headings[n] for n in known),
            cells=tuple(tuple(row[n] for n in known) for row in rows),
            values=tuple(map(values_of, self.curves)),
        )

    @property
    def forecasts(self) -> Tabular:
        """Forecasts at the end of each shift from its first half, beside the measured scores."""
        return forecasts_of(() if self.metric == "R²" else self.curves, self.floor)

    def require(self, points: Mapping[str, float]) -> tuple[str, ...]:
        """Return a sentence for each shift that breaks the model before a strength.

        Args:
            points: Least strength of the failure, by the name of the shift.

        Raises:
            UnknownNameError: If a shift was not tried.
        """
        return tuple(
            f"{name} must hold to {least:g} {self[name].unit}, fails at {self[name].failure}"
            for name, least in points.items()
            if self[name].failure.value < least
        )

    def against(self, other: ShiftProfile) -> Tabular:
        """Compare with an earlier profile of the same items: how far each point of failure moved.

        The interval is over the same bootstrap samples of the items. Where a model holds to the
        end, its point is taken to be there.

        Args:
            other: The earlier profile.

        Raises:
            ValueError: If it is of other items, or of another level.
        """
        if (other.digest, other.level) != (self.digest, self.level):
            raise ValueError("other must be a profile of the same items at the same level")
        ours = {curve.name: curve for curve in self.curves}
        rows, values = [], []
        for before in other.curves:
            if before.name not in ours:
                continue
            curve = ours[before.name]
            moved, low, high = _moved(curve, before, self.floor, self.level, self.seed)
            sign = "" if low <= 0 <= high else ("better" if moved > 0 else "worse")
            cut = " or more" if curve.failure.holds != before.failure.holds else ""
            shown = f"{moved:+.2g} [{low:+.2g}, {high:+.2g}]{cut}" if moved or low or high else "0"
            rows.append((curve.name, str(before.failure), str(curve.failure), shown, sign))
            values.append({"shift": curve.name, "before": before.failure.value,
                           "after": curve.failure.value, "moved": moved, "low": low,
                           "high": high})  # fmt: skip
        headings = ("shift", "before", "after", "moved by", "clearly")
        return Tabular(headings=headings, cells=tuple(rows), values=tuple(values))

    def write(
        self, folder: str | Path, sections: Mapping[str, str] = MappingProxyType({})
    ) -> tuple[Path, ...]:
        """Write the page, the picture, the tables and the profile itself.

        Args:
            folder: Folder, which is made if it is missing.
            sections: Paragraphs and Markdown tables of more sections of the page, by heading.
        """
        from farfield.suites._profile._page import write_all  # noqa: PLC0415 — loads matplotlib

        return write_all(self, folder, sections)


def _percent(score: float) -> str:
    return f"{fixed(100 * score, 1)} %"


def _noted(curve: Curve, name: str, form: str) -> str:
    return form.format(curve.notes[name]) if name in curve.notes else "–"


def values_of(curve: Curve) -> dict[str, Any]:
    """Return a row of the table of points as plain values.

    Args:
        curve: The curve.
    """
    failure = curve.failure
    return {
        "shift": curve.name, "unit": curve.unit, "group": curve.group,
        "onset": curve.onset.value, "failure": failure.value, "low": failure.low,
        "high": failure.high, "end": failure.end, "returns": failure.returns, **curve.notes,
    }  # fmt: skip


def _moved(
    curve: Curve, before: Curve, floor: float, level: float, seed: int
) -> tuple[float, float, float]:
    """Return the difference of two points of failure, cut to the end, and its interval."""
    resampling = Resampling(count=curve.scores.shape[1], seed=seed)
    drawn = []
    for one in (curve, before):
        found = resampling.crossings(
            np.array(one.strengths), one.scores, floor, level, weights=one.weights,
            in_steps=one.in_steps,
        )  # fmt: skip
        drawn.append(np.minimum(found, one.failure.end))
    moved = np.sort(drawn[0] - drawn[1])
    last = len(moved) - 1
    points = [min(one.failure.value, one.failure.end) for one in (curve, before)]
    low, high = (float(moved[round(share * last)]) for share in (0.025, 0.975))
    return points[0] - points[1], low, high


@check_arguments
def profile(  # noqa: PLR0913 — each is an option of the command
    model: Any,
    data: Any,
    *,
    kind: str | None = None,
    axes: str | None = None,
    shifts: Sequence[str | Shift] = (),
    without: Sequence[str] = (),
    columns: Sequence[str] = (),
    level: FractionBelowOne = 0.5,
    items: Size = 2000,
    minutes: PositiveFloat = 5.0,
    seed: int = 0,
    device: str | None = None,
    subject: str = "model",
    report: Callable[[str], None] | None = None,
) -> ShiftProfile:
    r"""Measure where a trained model stops working, over graded shifts of its items.

    Nothing is trained. Each shift is a family of changes that is the identity at strength 0. The
    skill $(s(d) - f) / (s(0) - f)$ at strength $d$ is the gain of the score $s$ over the floor $f$;
    a failure is the first strength at which half of it is gone, with an interval over the items.
    Items without labels are compared with the model's own answers to unchanged items.

    Args:
        model: A `torch.nn.Module`, an estimator with `predict_proba`, `decision_function` or
            `predict`, or a function from items to answers; a list of them is several networks of
            one recipe.
        data: `(x, y)`, or `x` alone, or sets of them by name, of which `test` is profiled and
            `training` gives range and spread; or a task of single items, such as an `ArrayTask`.
        kind: Kind of the items: images, series, table, set, text or symbols; found if None.
        axes: Names of the axes, e.g. `"item time feature"`; found if None and only one is possible.
        shifts: Names or groups of shifts, or shifts of your own; all that fit if empty.
        without: Names or groups of shifts to leave out, such as those that change the answer.
        columns: Columns of a table that are shifted one by one; all if empty.
        level: Share of the skill that is left at a failure.
        items: Most items, drawn at random.
        minutes: About how long it may take; fewer items are taken if the model is slow.
        seed: Number of the draws.
        device: `"cpu"` or `"cuda"`, to which modules are moved; None leaves them on their own.
        subject: Names of the model and of the data, for the page.
        report: Function that is called with the name of each shift before it is measured.

    Raises:
        ValueError: If items, labels or the model's answers fit no reading, the model does not
            work without a shift, or the device is not available.

    Example:
        >>> import numpy as np
        >>> x = np.random.default_rng(0).normal(size=(400, 1)) + np.repeat([[1.5], [-1.5]], 200, 0)
        >>> y = np.repeat([1, 0], 200)
        >>> found = profile(lambda rows: rows[:, 0], (x, y), shifts=["0+", "noise"])
        >>> [curve.name for curve in found.curves]
        ['0+', 'noise']
    """
    began = time.monotonic()
    if device is not None:
        check_machine(device)
    x, y, training = sets_of(data)
    check_labels(x, y)
    known = describe_items(x, kind=kind, axes=axes, training=training)
    networks = list(model) if isinstance(model, list | tuple) else [model]
    answerers = tuple(answerer_of(one, x, y, device) for one in networks)
    wanted = _wanted(shifts_of(known, x, y, columns), shifts, without)
    chosen = _chosen(answerers, x, wanted, items=items, minutes=minutes, seed=seed)
    if len(chosen) < len(x):  # how far rows can be reweighted depends on the rows
        x, y = rows_of(x, chosen), None if y is None else y[chosen]
        wanted = _wanted(shifts_of(known, x, y, columns), shifts, without)
    measured, metric, notes = _measured(answerers, x, y, seed)
    if known.kind == "table" and kind is None and isinstance(x, np.ndarray):
        notes.append(UNNAMED)
    plain = measured.scores(measured.answers(x)).mean(0)
    resampling = Resampling(count=len(plain), seed=seed, strata=measured.strata)
    means = np.sort(resampling.means(plain[None])[:, 0])
    low, high = (float(means[round(share * (len(means) - 1))]) for share in (0.025, 0.975))
    score, floor = float(plain.mean()), measured.floor
    if score - floor < ENOUGH * (1 - floor) or low <= floor:
        raise ValueError(
            f"model must work without a shift, got a score of {score:.3g} [{low:.3g}, {high:.3g}] "
            f"where answers that ignore the item have {floor:.3g}"
        )
    curves, skipped, is_whole = _all_curves(wanted, measured, known, level, resampling, report)
    if not is_whole:
        notes.append("Stopped before all shifts were measured.")
    return ShiftProfile(
        subject=subject,
        about=str(known) + _classes_in_words(measured, answerers[0]),
        metric=metric,
        score=score,
        low=low,
        high=high,
        floor=floor,
        count=len(plain),
        networks=len(networks),
        level=level,
        curves=tuple(sorted(curves, key=lambda one: (one.reach, one.failure.end, one.name))),
        skipped=skipped,
        notes=(*notes, *_spread_of_networks(curves)),
        digest=digest_of(x, y),
        seed=seed,
        seconds=time.monotonic() - began,
    )


def _all_curves(
    wanted: Sequence[Shift],
    measured: Measured,
    known: Items,
    level: float,
    resampling: Resampling,
    report: Callable[[str], None] | None,
) -> tuple[list[Curve], dict[str, str], bool]:
    """Measure all shifts; returns curves, reasons for shifts not tried, and whether it ended."""
    curves: list[Curve] = []
    skipped: dict[str, str] = {}
    compares = can_compare(measured)
    try:
        for shift in wanted:
            if report:
                report(shift.name)
            reason = _refusal(shift, measured)
            if reason:
                skipped[shift.name] = reason
                continue
            keep = features_of if compares else None
            curve, kept = curve_of(shift, measured, level, resampling, keep)
            if not (curve.failure.holds or shift.reweights):
                at_failure = shift(measured.x, curve.failure.value, measured.seed)
                notes = notes_of(at_failure, measured)
                if compares:
                    notes |= compared_with_neighbors(curve, kept, at_failure, measured, known)
                shown = _shown(curve, shift, at_failure, measured, known)
                curve = dataclasses.replace(curve, notes=notes, shown=shown)
            curves.append(curve)
    except KeyboardInterrupt:
        if not curves:
            raise
        return curves, skipped, False
    return curves, skipped, True


def _shown(
    curve: Curve, shift: Shift, at_failure: Any, measured: Measured, known: Items
) -> tuple[NDArray[Any], ...]:
    """Return two items unchanged, at the onset and at the failure; none of a table."""
    if known.kind not in ("images", "series"):
        return ()
    y = np.atleast_2d(measured.y)[0]
    pair = np.array([0, int((y != y[0]).argmax())])
    onset = min(curve.onset.value, curve.failure.value)
    at_onset = shift(measured.x, onset, measured.seed)
    changed = [one[pair] for one in (measured.x, at_onset, at_failure)]
    order = [known.axes.index(one) for one in ("height", "width", "time") if one in known.axes]
    rest = [axis for axis in range(len(known.axes)) if axis not in order]
    turned = [one.transpose(0, *(1 + axis for axis in (*order, *rest))) for one in changed]
    return tuple(one if rest else one[..., np.newaxis] for one in turned)


def _refusal(shift: Shift, measured: Measured) -> str:
    """Return why a shift is not tried: it changes nothing, or the model refuses; else nothing.

    Raises:
        ValueError: If a shift of the user's changes nothing, or the number of items.
    """
    if changes_nothing(shift, measured):
        if shift.group == "own":
            raise ValueError(f"shift {shift.name!r} must change an item at strength {shift.end:g}")
        return "it changes none of these items"
    if shift.reweights:
        return ""
    few = rows_of(measured.x, np.arange(2))
    try:
        measured.answers(shift(few, shift.strengths(2)[-1], measured.seed))
    except Exception as error:  # noqa: BLE001 — the model is the user's
        return f"the model refuses: {type(error).__name__}: {str(error).splitlines()[0][:80]}"
    return ""


def _wanted(
    offered: Sequence[Shift], shifts: Sequence[str | Shift], without: Sequence[str]
) -> list[Shift]:
    """Return the shifts that a user wants, in the order offered, with shifts of his own behind."""
    own = [one for one in shifts if isinstance(one, Shift)]
    names = [one for one in shifts if isinstance(one, str)]
    known = {name for one in offered for name in _names(one)} | set(GROUPS)
    for argument, given in (("shifts", names), ("without", without)):
        unknown = [name for name in given if name not in known]
        if unknown:
            raise ValueError(
                f"{argument} must be shifts of these items "
                f"({', '.join(one.name for one in offered)}) or groups ({', '.join(GROUPS)}), "
                f"got {unknown[0]!r}"
            )
    chosen = [
        one for one in offered
        if (not shifts or _names(one) & set(names)) and not _names(one) & set(without)
    ]  # fmt: skip
    return [*chosen, *own]


def _names(shift: Shift) -> set[str]:
    """Return the names of a shift: its own, the name without a sign, and its group."""
    return {shift.name, shift.name.rstrip("+-×÷"), shift.group}


def names_of_shifts(
    data: Any,
    *,
    kind: str | None = None,
    axes: str | None = None,
    shifts: Sequence[str | Shift] = (),
    without: Sequence[str] = (),
    columns: Sequence[str] = (),
) -> list[str]:
    """Return the names of the shifts that a profile would measure.

    Args:
        data: Data, as for `profile`.
        kind: Kind of the items.
        axes: Names of the axes.
        shifts: Names or groups of shifts, or shifts of your own.
        without: Names or groups of shifts to leave out.
        columns: Columns of a table that are shifted one by one.
    """
    x, y, training = sets_of(data)
    known = describe_items(x, kind=kind, axes=axes, training=training)
    return [one.name for one in _wanted(shifts_of(known, x, y, columns), shifts, without)]


def _chosen(
    answerers: Sequence[Answerer],
    x: Any,
    wanted: Sequence[Shift],
    *,
    items: int,
    minutes: float,
    seed: int,
) -> NDArray[np.int64]:
    """Choose as many items at random as fit the time, by the speed of the first items."""
    few = rows_of(x, np.arange(min(64, len(x))))
    began = time.perf_counter()
    for answer in answerers:
        answer(few)
    an_item = (time.perf_counter() - began) / len(few)
    affordable = int(60 * minutes / max(an_item * EVALUATIONS * max(len(wanted), 1), 1e-12))
    size = 1 if not isinstance(x, np.ndarray) else max(1, int(np.prod(x.shape[1:])))
    count = min(len(x), items, max(LEAST_ITEMS, min(affordable, MOST_NUMBERS // size)))
    if count == len(x):
        return np.arange(count)
    return np.sort(stream(seed, "profile", "items").numpy().permutation(len(x))[:count])


def _measured(
    answerers: tuple[Answerer, ...], x: Any, y: NDArray[Any] | None, seed: int
) -> tuple[Measured, str, list[str]]:
    """Return items with numbers of classes, the name of the score, and notes."""
    notes: list[str] = []
    classes = answerers[0].classes
    is_class = answerers[0].says != "numbers"
    if len(x) < FEW:
        notes.append(f"Only {len(x)} items: intervals are wide.")
    answers = [answer(x) for answer in answerers]
    missing = sum(one.missing for one in answers)
    if missing:
        notes.append(f"{missing} answers to unchanged items are no numbers, and count as wrong.")
    if y is None:
        own = np.stack([one.values for one in answers])
        metric = "agreement with its own answers"
        notes.append("No labels: answers are compared with the model's own to unchanged items.")
        right: NDArray[Any] = own
    elif is_class:
        right, metric = numbered(y, classes), "accuracy"
    else:
        right, metric = y.astype(np.float64), "R²"
    return (
        Measured(x=x, y=right, answerers=answerers, is_class=is_class, seed=seed), metric, notes
    )  # fmt: skip


def _classes_in_words(measured: Measured, answerer: Answerer) -> str:
    return f", {len(answerer.classes)} classes" if measured.is_class else ""


def _spread_of_networks(curves: Sequence[Curve]) -> list[str]:
    """Return a sentence on the meaning of the intervals."""
    count = max((len(curve.networks) for curve in curves), default=1)
    if count == 1:
        return ["Intervals are over items, of this network; another network may differ by more."]
    lines = []
    for curve in curves:
        if all(map(math.isfinite, curve.networks)):
            spread = t_interval(curve.networks)
            lines.append(f"{curve.name} {spread.low:.2g}…{spread.high:.2g}")
    return [f"95 % intervals of the mean over {count} networks: {', '.join(lines) or 'none'}."]
