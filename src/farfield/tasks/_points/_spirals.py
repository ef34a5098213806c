"""Spirals in the plane (lamb2022)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, final

import numpy as np

from farfield.core import Limits, NonNegativeFloat, Problems, Stream, check_fields
from farfield.tasks._points._circle import ANGLES, unit_vectors
from farfield.tasks._points._point_task import TEST, Classes, Points, PointTask, point_problems
from farfield.tasks._protocol._checks import Count, check_number
from farfield.tasks._protocol._draws import integers
from farfield.tasks._protocol._form import VECTOR, Form
from farfield.tasks._protocol._task import TRAINING

Arms = Annotated[int, Limits(at_least=2, at_most=100)]


@final
@dataclass(frozen=True, kw_only=True)
class Spirals(PointTask):
    r"""On which arm of a spiral does a point lie?

    **What is asked.** Points lie about the arms of a spiral, which start in the middle and wind
    once around it. The answer is a logit for each arm.

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

    def __post_init__(self) -> None:
        check_fields(self)
        check_number("arms", self.arms, 2, self.points)

    @property
    def num_outputs(self) -> int:
        """A logit for each arm."""
        return self.arms

    def draw(self, stream: Stream) -> dict[str, Problems]:
        """The sets of one run, by regime name.

        Args:
            stream: Stream of the run.
        """
        place = self._place(stream)
        counts = {TRAINING: self.points, TEST: self.test_points}
        return {
            name: point_problems(points, np.arange(count), arms)
            for name, count in counts.items()
            for points, arms in [self._points(place.child(name), count)]
        }

    def _curves(self, classes: Classes, generator: np.random.Generator) -> Points:
        along = integers(generator, ANGLES, len(classes))
        directions = unit_vectors((along + classes * ANGLES // self.arms) % ANGLES)
        return (along / ANGLES)[:, None] * directions
