"""Points in the plane that belong to curved classes: two moons, and spirals (lamb2022)."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Final, Self, final

import numpy as np
import torch
from jaxtyping import Float, Float64, Int64
from torch import Tensor

from farfield.core import Problems, Stream
from farfield.core.internal import Limits, NonNegativeFloat, check_fields
from farfield.tasks._protocol._answers import ClassTask
from farfield.tasks._protocol._draws import NO_LABEL, UNLABELLED, integers, label_split, permutation
from farfield.tasks._protocol._task import (
    TEST,
    TRAINING,
    VALIDATION,
    VALIDATION_PROBLEMS,
    VECTOR,
    Count,
    CountOrNone,
    Form,
    Regime,
    SingleItem,
    alike_regimes,
    check_number,
)

Classes = Int64[np.ndarray, " item"]
Points = Float64[np.ndarray, "item 2"]


class PointTask(SingleItem, ClassTask):
    """Points about a curve for each class."""

    name: ClassVar[str]
    version: ClassVar[int]

    noise: float
    validation_points: int
    """Number of points for validation; 0 for no validation."""

    @property
    def item_shape(self) -> tuple[int, ...]:
        """Coordinates of a point."""
        return (2,)

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Training, validation where it is asked for, and test, all of different points."""
        return alike_regimes("classes that training lacks", self.validation_points)

    def with_validation(self) -> Self:
        """Copy the task with validation on new points."""
        return replace(self, validation_points=VALIDATION_PROBLEMS)  # type: ignore[type-var]

    @abstractmethod
    def _curves(self, classes: Classes, generator: np.random.Generator) -> Points:
        """Draw a point on the curve of each class, anywhere on it."""

    def _branch(self, run: Stream) -> Stream:
        return run.child(self.name, f"v{self.version}")

    def _points(self, branch: Stream, count: int) -> tuple[Points, Classes]:
        """Draw points and their classes, as many of each class as possible."""
        classes = permutation(branch.child("classes").numpy(), count) % self.num_outputs
        points = self._curves(classes, branch.child("curves").numpy())
        return points + self.noise * nearly_normal(branch.child("noise").numpy(), count), classes

    def _sets(self, branch: Stream, counts: Mapping[str, int]) -> dict[str, Problems]:
        """Draw a set of new points for each name with a number above 0."""
        return {
            name: point_problems(points, np.arange(count), classes)
            for name, count in counts.items()
            if count
            for points, classes in [self._points(branch.child(name), count)]
        }


def point_problems(
    points: Points, rows: Int64[np.ndarray, " batch"], target: Int64[np.ndarray, " batch"]
) -> Problems:
    """Make a problem for each row, over the table of all points.

    Args:
        points: All points.
        rows: Rows of the points in question.
        target: Class of each of these points.
    """
    return Problems(
        items=torch.from_numpy(points.astype(np.float32)),
        index=torch.from_numpy(rows)[:, None],
        target=torch.from_numpy(target),
    )


ANGLES: Final = 2**24
"""Different angles of a full turn."""
_TERMS: Final = 12
_BITS: Final = 48


# Sines and logarithms differ between machines in the last digit; sums, products, quotients and
# square roots do not.
def unit_vectors(angles: Int64[np.ndarray, " batch"]) -> Float64[np.ndarray, "batch 2"]:
    """Compute cosine and sine of angles, by turns of a half, a quarter, … of a full turn.

    Args:
        angles: Numbers of `ANGLES` equal parts of a full turn.
    """
    across, up = np.ones(len(angles)), np.zeros(len(angles))
    cosine, sine = -1.0, 0.0
    bit = ANGLES // 2
    while bit:
        turned = across * cosine - up * sine, across * sine + up * cosine
        has_bit = (angles & bit) > 0
        across, up = np.where(has_bit, turned[0], across), np.where(has_bit, turned[1], up)
        # Half the angle: cos² = (1 + cos 2x) / 2, and sin = sin 2x / (2 cos) except for a half
        # turn.
        half = math.sqrt((1 + cosine) / 2)
        cosine, sine = half, sine / (2 * half) if half else 1.0
        bit //= 2
    return np.stack([across, up], axis=1)


def nearly_normal(generator: np.random.Generator, count: int) -> Float64[np.ndarray, "batch 2"]:
    """Draw numbers of mean 0 and variance 1: sums of twelve uniform numbers, less 6.

    Args:
        count: Number of pairs.
    """
    words = generator.bit_generator.random_raw(2 * count * _TERMS).reshape(2 * count, _TERMS)
    # Of 48 bits each, so that a sum is an integer that float64 holds exactly.
    totals = (words >> np.uint64(64 - _BITS)).sum(1).astype(np.float64)
    return (totals * 2.0**-_BITS - _TERMS / 2).reshape(count, 2)


MOONS: Final = 2


@final
@dataclass(frozen=True, kw_only=True)
class TwoMoons(PointTask):
    r"""On which of two half circles does a point lie, when few points have labels?

    **Task.** Points lie about two half circles that reach into each other. The answer is a logit
    for each of them. Training shows three points of each with labels, and a set `unlabelled` of
    many more without, which objectives read by this name, e.g. `ICT(consistency="unlabelled")`.

    **Worked example** (numbers are labels).

    ```text
            ·   0   ·
         ·             ·
                ·                   ·
       0                 0
                 ·                 1
      ·                   ·
                   1             ·
                      ·   1   ·
    ```

    **Regimes.** `training` and `test`, which shows new points. `unlabelled` is no regime and is
    not scored: the target of its problems, −1, is no class. Those of training are among it.

    **Score, floor and ceiling.** Share of right answers; 0.5 by guessing. The ceiling is the moon
    that a point was drawn from; with little noise the two do not touch.

    **Known shortcuts.** The height alone is right more often than not.

    **Source and deviations.** Lamb 2022, Figure 1 of chapter 6, with three labels of each class
    and "a large amount" of other points; it says neither how many nor how far they scatter. The
    half circles are the usual ones, of radius 1, from (1, 0) over (0, 1) to (−1, 0) and from
    (0, ½) over (1, −½) to (2, ½), with points uniform along them. The noise is nearly normal: the
    sum of twelve uniform numbers.

    Args:
        labels_per_class: Points of each class with labels.
        unlabelled: Number of training points, with labels or without.
        noise: Standard deviation of each coordinate about the curve.
        test_points: Number of points of the test.
        validation_points: Number of new points for validation; 0 for no such regime.

    Raises:
        ValueError: If a number is out of range, or a class has fewer points.

    Reference:
        lamb2022, section 6.1 and Figure 1.
    """

    name: ClassVar[str] = "two-moons"
    version: ClassVar[int] = 1
    form: ClassVar[Form] = Form(axes=VECTOR, arrangement="single")

    labels_per_class: Count = 3
    unlabelled: Count = 1_000
    noise: NonNegativeFloat = 0.1
    test_points: Count = 1_000
    validation_points: CountOrNone = 0

    def __post_init__(self) -> None:
        check_fields(self)
        check_number("labels_per_class", self.labels_per_class, 1, self.unlabelled // MOONS)

    @property
    def num_outputs(self) -> int:
        """Number of moons, each with a logit."""
        return MOONS

    def draw(self, stream: Stream) -> dict[str, Problems]:
        """Draw the sets of a run, by name."""
        branch = self._branch(stream)
        points, classes = self._points(branch.child(TRAINING), self.unlabelled)
        rows = label_split(
            classes,
            MOONS,
            branch.child("labels"),
            labels_per_class=self.labels_per_class,
            validation_per_class=0,
        )
        labelled, others = rows[TRAINING], rows[UNLABELLED]
        new = {VALIDATION: self.validation_points, TEST: self.test_points}
        return {
            TRAINING: point_problems(points, labelled, classes[labelled]),
            UNLABELLED: point_problems(points, others, np.full_like(others, NO_LABEL)),
        } | self._sets(branch, new)

    def by_hand(self, problems: Problems, training: Problems) -> Float[Tensor, "batch answer"]:
        """Return the outputs of the nearest labeled point: minus the distance to one of each moon.

        Args:
            problems: Items and their index; without targets.
            training: Training problems of the run.
        """
        asked, known = (some.table()[some.index[:, 0]] for some in (problems, training))
        far = torch.cdist(asked, known)
        moons = (far.masked_fill(training.target != moon, math.inf) for moon in range(MOONS))
        return torch.stack([-moon.amin(1) for moon in moons], dim=1)

    def _curves(self, classes: Classes, generator: np.random.Generator) -> Points:
        along = unit_vectors(integers(generator, ANGLES // 2, len(classes)))
        return np.where(classes[:, None] == 0, along, np.array([1.0, 0.5]) - along)


Arms = Annotated[int, Limits(at_least=2, at_most=100)]


@final
@dataclass(frozen=True, kw_only=True)
class Spirals(PointTask):
    r"""On which arm of a spiral does a point lie?

    **Task.** Points lie about the arms of a spiral, which start in the middle and wind once around
    it. The answer is a logit for each arm.

    **Worked example** (two arms).

    ```text
             1111111111
          1111         111
        111              111
       11      000000      1
      11     000    00     1
      1      0     110     1      0
             0     11    111     00
             0      111111      00
             000              000
               000         0000
                  0000000000
    ```

    **Regimes.** `training` and `test`, which shows new points.

    **Score, floor and ceiling.** Share of right answers; one over the number of arms by guessing.
    The ceiling is the arm that a point was drawn from; in the middle, where arms meet, noise hides
    it.

    **Known shortcuts.** None: for every point of an arm there is one of another at the same
    distance from the middle, and one in the same direction.

    **Source and deviations.** Lamb 2022, Figure 1 of chapter 4, which calls it the "2D spiral
    dataset", on few points, and says no more. Number and length of the arms, the number of points
    and the noise are ours: arm a of A has, for t uniform in 0…1, the points t (cos φ, sin φ) with
    φ = 2π (t + a / A). The noise is nearly normal: the sum of twelve uniform numbers.

    Args:
        arms: Number of arms.
        points: Number of training points.
        noise: Standard deviation of each coordinate about the curve.
        test_points: Number of points of the test.
        validation_points: Number of new points for validation; 0 for no such regime.

    Raises:
        ValueError: If a number is out of range, or there are fewer points than arms.

    Reference:
        lamb2022, section 4.1 and Figure 1.
    """

    name: ClassVar[str] = "spirals"
    version: ClassVar[int] = 1
    form: ClassVar[Form] = Form(axes=VECTOR, arrangement="single")

    arms: Arms = 2
    points: Count = 200
    noise: NonNegativeFloat = 0.03
    test_points: Count = 1_000
    validation_points: CountOrNone = 0

    def __post_init__(self) -> None:
        check_fields(self)
        check_number("arms", self.arms, 2, self.points)

    @property
    def num_outputs(self) -> int:
        """Number of arms, each with a logit."""
        return self.arms

    def draw(self, stream: Stream) -> dict[str, Problems]:
        """Draw the sets of a run, by regime name."""
        validation = self.validation_points
        counts = {TRAINING: self.points, VALIDATION: validation, TEST: self.test_points}
        return self._sets(self._branch(stream), counts)

    def _curves(self, classes: Classes, generator: np.random.Generator) -> Points:
        along = integers(generator, ANGLES, len(classes))
        directions = unit_vectors((along + classes * ANGLES // self.arms) % ANGLES)
        return (along / ANGLES)[:, None] * directions
