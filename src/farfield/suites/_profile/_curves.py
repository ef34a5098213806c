"""Curves of the score over the strengths of each shift, and the strengths where the skill falls."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray
from scipy.stats import chisquare

from farfield.analysis import Shift
from farfield.metrics.internal import Resampling, Threshold, threshold
from farfield.suites._profile._answers import Answerer, Answers

STRENGTHS: Final = 8
"""Strengths of each shift before any are added around a crossing."""

HALVINGS: Final = 3
"""Strengths that are added around a crossing."""

ONSET: Final = 0.9
"""Share of the skill that is left at the onset."""


@final
@dataclass(frozen=True, kw_only=True)
class Measured:
    """Items with their right answers, and the models that answer them.

    Args:
        x: The items.
        y: Number of the class of each item, or the number itself; by network where there are no
            labels, since each network is compared with its own answers.
        answerers: The models.
        is_class: Whether answers are classes.
        seed: Number of the draws.
    """

    x: Any
    y: NDArray[Any]
    answerers: tuple[Answerer, ...]
    is_class: bool
    seed: int = 0

    def scores(self, answers: Sequence[Answers]) -> Float[np.ndarray, "network item"]:
        """Compute the score of each item: 1 if right; of numbers, its part of R².

        Args:
            answers: Answers of each network.
        """
        values = np.stack([one.values for one in answers])
        if self.is_class:
            return (values == self.y).astype(np.float64)
        without_skill = (self.y - self.y.mean(-1, keepdims=True)) ** 2
        errors = (values - self.y) ** 2
        errors = np.where(np.isfinite(errors), errors, without_skill)
        return 1 - errors / without_skill.mean(-1, keepdims=True)

    def answers(self, x: Any) -> list[Answers]:
        """Answer items by every network.

        Args:
            x: The items, maybe changed.
        """
        return [answer(x) for answer in self.answerers]

    @property
    def floor(self) -> float:
        """Score of answers that ignore the item.

        The share of the commonest class, or 1 / K where K classes differ in number by no more than
        chance; without labels, how often two answers agree by chance; of numbers 0.
        """
        if not self.is_class:
            return 0.0
        if self.y.ndim == 1:
            counts = np.unique(self.y, return_counts=True)[1]
            by_chance = len(counts) > 1 and chisquare(counts).pvalue > 0.05
            return 1 / len(counts) if by_chance else float(counts.max() / counts.sum())
        shares = [np.unique(row, return_counts=True)[1] / row.size for row in self.y]
        return float(np.mean([(one**2).sum() for one in shares]))

    @property
    def strata(self) -> NDArray[Any] | None:
        """Classes of the items, if there are equally many of each: they were not drawn then."""
        if not self.is_class or self.y.ndim > 1:
            return None
        counts = np.unique(self.y, return_counts=True)[1]
        return self.y if counts.max() - counts.min() <= 1 else None


@final
@dataclass(frozen=True, kw_only=True)
class Curve:
    """Score over the strengths of one shift.

    Args:
        name: Name of the shift.
        unit: Unit of its strength.
        group: Group of the shift.
        in_steps: Whether items change in steps, such as whole pixels.
        strengths: The strengths, rising from 0.
        scores: Score of each item at each strength, the mean over networks.
        weights: Weight of each item at each strength; None where items are changed.
        failure: Strength at which the skill is below the level.
        onset: Strength at which a tenth of the skill is gone.
        networks: Strength of the failure of each network.
        notes: Further numbers at the failure, by their name.
        shown: Two items unchanged, at the onset and at the failure, as images with channels last or
            as series; empty where items cannot be drawn.
    """

    name: str
    unit: str
    group: str
    in_steps: bool
    strengths: tuple[float, ...]
    scores: NDArray[np.float64]
    weights: NDArray[np.float64] | None
    failure: Threshold
    onset: Threshold
    networks: tuple[float, ...]
    notes: Mapping[str, float | str]
    shown: tuple[NDArray[Any], ...] = ()

    @property
    def means(self) -> NDArray[np.float64]:
        """Mean score at each strength."""
        if self.weights is None:
            return self.scores.mean(1)
        return (self.weights * self.scores).sum(1) / self.weights.sum(1)

    @property
    def reach(self) -> float:
        """Strength of the failure as a share of the largest strength; infinite if it holds."""
        return self.failure.value / self.strengths[-1]


def curve_of(
    shift: Shift,
    measured: Measured,
    level: float,
    resampling: Resampling,
    keep: Callable[[Any], NDArray[Any]] | None = None,
) -> tuple[Curve, dict[float, NDArray[Any]]]:
    """Measure the score over the strengths of a shift, more densely where the skill falls.

    Returns the curve, and the kept arrays by strength.

    Args:
        shift: The shift.
        measured: Items and models.
        level: Share of the skill that is left at the failure.
        resampling: Samples of the items.
        keep: Function from changed items to the array that is kept of them; None to keep nothing.

    Raises:
        ValueError: If changed items are of another number.
    """
    found: dict[float, Float[np.ndarray, "network item"]] = {}
    weights: dict[float, NDArray[np.float64]] = {}
    plain: list[Float[np.ndarray, "network item"]] = []
    kept: dict[float, NDArray[Any]] = {}

    for d in _strengths(shift, found, weights, measured.floor, level):
        changed = shift(measured.x, d, measured.seed)
        if shift.reweights:
            weights[d] = np.asarray(changed, np.float64)
            if not plain:
                plain.append(measured.scores(measured.answers(measured.x)))
            found[d] = plain[0]
            continue
        if keep:
            kept[d] = keep(changed)
        found[d] = measured.scores(measured.answers(changed))
    strengths = tuple(sorted(found))
    table = np.stack([found[d] for d in strengths], 1)
    weight = np.stack([weights[d] for d in strengths]) if weights else None
    at = np.array(strengths)
    floor = measured.floor
    in_steps = shift.snap is not None

    def crossing(scores: NDArray[np.float64], share: float) -> Threshold:
        return threshold(at, scores, floor, share, resampling, weights=weight, in_steps=in_steps)

    mean = table.mean(0)
    single = table.shape[0] == 1
    failure = crossing(mean, level)
    networks = (failure.value,) if single else tuple(crossing(one, level).value for one in table)
    curve = Curve(
        name=shift.name,
        unit=shift.unit,
        group=shift.group,
        in_steps=in_steps,
        strengths=strengths,
        scores=mean,
        weights=weight,
        failure=failure,
        onset=crossing(mean, ONSET),
        networks=networks,
        notes={},
    )
    return curve, kept


def changes_nothing(shift: Shift, measured: Measured) -> bool:
    """Check whether a shift leaves all items unchanged at its end.

    Args:
        shift: The shift.
        measured: Items and models.

    Raises:
        ValueError: If changed items are of another number.
    """
    changed = shift(measured.x, shift.strengths(2)[-1], measured.seed)
    if len(changed) != len(measured.x):
        raise ValueError(
            f"shift {shift.name!r} must keep the number of items, {len(measured.x)}, got "
            f"{len(changed)}"
        )
    if shift.reweights:
        return False
    if not isinstance(changed, np.ndarray):
        return bool(changed.equals(measured.x))
    return changed.shape == measured.x.shape and bool((changed == measured.x).all())


def _strengths(
    shift: Shift,
    found: Mapping[float, NDArray[np.float64]],
    weights: Mapping[float, NDArray[np.float64]],
    floor: float,
    level: float,
) -> Iterator[float]:
    """Yield strengths: evenly spread, then halves around onset and failure."""
    yield from shift.strengths(STRENGTHS)
    for share in (ONSET, level):
        for _ in range(HALVINGS):
            between = _around_crossing(found, weights, floor, share)
            if between is None:
                break
            middle = shift.nearest(sum(between) / 2)
            if middle in found:
                break
            yield middle


def _around_crossing(
    found: Mapping[float, NDArray[np.float64]],
    weights: Mapping[float, NDArray[np.float64]],
    floor: float,
    level: float,
) -> tuple[float, float] | None:
    """Return the strengths before and behind the first crossing of a level; None without one."""
    strengths = sorted(found)

    def mean(d: float) -> float:
        return float(np.average(found[d].mean(0), weights=weights.get(d)))

    gain = mean(0.0) - floor
    for before, behind in itertools.pairwise(strengths):
        if (mean(behind) - floor) / gain < level:
            return before, behind
    return None


def notes_of(at_failure: Any, measured: Measured) -> dict[str, float | str]:
    """Compute further numbers at the failure: confidence, classes, the commonest answer.

    Args:
        at_failure: Items changed by the strength of the failure.
        measured: Items and models.
    """
    if not measured.is_class:
        return {}
    first, *_ = measured.answers(at_failure)
    y = np.atleast_2d(measured.y)[0]
    right = first.values == y
    notes: dict[str, float | str] = {"score": float(right.mean())}
    kinds, counts = np.unique(first.values, return_counts=True)
    classes = {number: str(label) for number, label in enumerate(measured.answerers[0].classes)}
    notes["commonest answer"] = classes.get(int(kinds[counts.argmax()]), "none")
    notes["share of it"] = float(counts.max() / counts.sum())
    by_class = {int(kind): float(right[y == kind].mean()) for kind in np.unique(y)}
    notes["worst class"] = classes.get(min(by_class, key=by_class.__getitem__), "unknown")
    notes["best class"] = classes.get(max(by_class, key=by_class.__getitem__), "unknown")
    if first.confidence is not None:
        notes["confidence"] = float(first.confidence.mean())
    return notes
