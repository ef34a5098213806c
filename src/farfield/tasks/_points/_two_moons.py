"""Two moons, of whose points few have labels (lamb2022)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Final, final

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from farfield.core import NonNegativeFloat, Problems, Stream, check_fields
from farfield.tasks._points._circle import ANGLES, unit_vectors
from farfield.tasks._points._point_task import TEST, Classes, Points, PointTask, point_problems
from farfield.tasks._protocol._checks import Count, check_number
from farfield.tasks._protocol._draws import integers
from farfield.tasks._protocol._form import VECTOR, Form
from farfield.tasks._protocol._label_split import NO_LABEL, UNLABELLED, label_split
from farfield.tasks._protocol._task import TRAINING

MOONS: Final = 2


@final
@dataclass(frozen=True, kw_only=True)
class TwoMoons(PointTask):
    r"""On which of two half circles does a point lie, when few points have labels?

    **What is asked.** Points lie about two half circles that reach into each other. The answer is
    a logit for each of them. Training shows three points of each with labels, and a set
    `unlabelled` of many more without, which objectives read by this name, e.g.
    `ICT(consistency="unlabelled")`.

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

    Raises:
        ValueError: If a number is out of range, or there are not so many points of each class.

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

    def __post_init__(self) -> None:
        check_fields(self)
        check_number("labels_per_class", self.labels_per_class, 1, self.unlabelled // MOONS)

    @property
    def num_outputs(self) -> int:
        """A logit for each moon."""
        return MOONS

    def draw(self, stream: Stream) -> dict[str, Problems]:
        """The sets of one run, by name.

        Args:
            stream: Stream of the run.
        """
        place = self._place(stream)
        points, classes = self._points(place.child(TRAINING), self.unlabelled)
        rows = label_split(
            classes,
            MOONS,
            place.child("labels"),
            labels_per_class=self.labels_per_class,
            validation_per_class=0,
        )
        labelled, others = rows[TRAINING], rows[UNLABELLED]
        test, answers = self._points(place.child(TEST), self.test_points)
        return {
            TRAINING: point_problems(points, labelled, classes[labelled]),
            UNLABELLED: point_problems(points, others, np.full_like(others, NO_LABEL)),
            TEST: point_problems(test, np.arange(len(test)), answers),
        }

    def by_hand(self, problems: Problems, training: Problems) -> Float[Tensor, "batch answer"]:
        """Outputs of the nearest point with a label: minus the distance to one of each moon.

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
