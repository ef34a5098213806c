"""Synthetic Visual Reasoning Test: two categories of pictures of random outlines."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Final, final

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from farfield.core import Problems, Stream
from farfield.core.internal import LazyItems, Limits, check_fields
from farfield.tasks._contours._outlines import CONTOUR, SIDE, Family, OutlinePictures
from farfield.tasks._contours._reading import answer, read_objects
from farfield.tasks._contours._scenes import SVRT, draw_scenes
from farfield.tasks._protocol._answers import ClassTask, binary_outputs
from farfield.tasks._protocol._draws import permutation
from farfield.tasks._protocol._task import (
    GRAY,
    TEST,
    TRAINING,
    VALIDATION,
    VALIDATION_PROBLEMS,
    Count,
    CountOrNone,
    Form,
    Regime,
    SingleItem,
)

ProblemNumber = Annotated[int, Limits(at_least=1, at_most=len(SVRT))]
_SIZES: Final = (75, 125)
"""Sizes of objects in the tests, in percent."""


@final
@dataclass(frozen=True, kw_only=True)
class SyntheticVisualReasoning(SingleItem, ClassTask):
    r"""Which of two categories does a picture of random outlines belong to?

    **Task.** One of the 23 problems of SVRT. Each shows black outlines of closed random shapes on
    white ground, 128×128 pixels. Category 1 is named first:

    1. Two equal shapes; else different ones.
    2. The inner shape touches the outer one; else it is far from it.
    3. Two pairs in contact; else three in contact and one alone.
    4. The small shape is inside the big one; else outside.
    5. Each shape twice; else all different.
    6. Equal shapes are equally far apart in both pairs; else not.
    7. Two shapes three times; else three shapes twice.
    8. A half-size copy is inside; else outside, or another shape inside.
    9. The largest is at an end of the line; else between the others.
    10. Four equal shapes are on a square; else anywhere.
    11. A small and a big shape are in contact; else apart.
    12. The small shapes are side by side; else a small and the big one.
    13. Small and big shape are repeated as a whole; else moved apart.
    14. Equal shapes are on a line; else not.
    15. The shapes on a square are equal; else different.
    16. Shapes in mirrored positions are mirrored; else equal.
    17. The odd shape is equally far from the three others; else not.
    18. Positions are mirrored; else not.
    19. Two shapes are equal up to size; else different.
    20. A shape and its mirror image; else different shapes.
    21. Two shapes are equal up to size and turn; else different.
    22. The shapes on a line are equal; else different.
    23. One of two small shapes is inside; else both or neither.

    **Worked example** (problem 1, category 1).

    ```text
      ┌────────────┐
      │  ◠╮        │
      │  ╰◡   ◠╮   │   → 1: the shapes are equal
      │       ╰◡   │
      └────────────┘
    ```

    **Regimes.** `training`, and `test` with new pictures of the same kind; no outline is drawn
    twice. `size-75` and `size-125` show objects of 75 and 125 percent of their size, `new-shapes`
    stars with eight points and straight edges, `more-objects` (problems 5, 14, 16, 18, 22) one more
    object, or two, for the same rule.

    **Score, floor and ceiling.** Share of right answers; 1/2 by guessing, 1 by the labels.

    **Known shortcuts.** The rule by hand reads pixels: connected outlines, their boxes and pixels,
    which are equal to the last bit where shapes are. So a comparison of pixels answers
    1, 5, 7, 13, 15, 16, 20 and 22. Contact (2, 3, 11) is a connected component less.

    **Source and deviations.** Fleuret et al. 2011. Outlines are random radii around a point with
    three rounds of moved midpoints, so that none crosses itself; published ones are moved
    midpoints of chords. Sizes and least differences are ours; in contact is one pixel beside
    another. There are 500 or 1,000 training pictures in published use.

    Args:
        problem: Number of the problem.
        training_problems: Number of training pictures, of both categories equally many.
        test_problems: Number of pictures of each test.
        validation_problems: Number of validation pictures; 0 for no such regime.

    Raises:
        ValueError: If a number is out of its range.

    Reference:
        fleuret2011, supporting information.
    """

    name: ClassVar[str] = "synthetic-visual-reasoning"
    version: ClassVar[int] = 1
    form: ClassVar[Form] = Form(axes=GRAY, arrangement="single")
    item_shape: ClassVar[tuple[int, ...]] = (SIDE, SIDE)
    num_outputs: ClassVar[int] = 2

    problem: ProblemNumber = 1
    training_problems: Count = 1_000
    test_problems: Count = 1_000
    validation_problems: CountOrNone = 0

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Training, validation where it is asked for, and the tests."""
        held_out = (VALIDATION,) if self.validation_problems else ()
        alike = (TRAINING, *held_out, TEST)
        return (
            *(Regime(name=name, distance=0, unit="families of outlines") for name in alike),
            *(
                Regime(name=f"size-{size}", distance=abs(size - 100), unit="percent of the size")
                for size in _SIZES
            ),
            Regime(name="new-shapes", distance=1, unit="families of outlines"),
            *(
                [Regime(name="more-objects", distance=1, unit="objects of a kind")]
                if SVRT[self.problem].allows_more
                else []
            ),
        )

    def with_validation(self) -> SyntheticVisualReasoning:
        """Copy the task with validation on new pictures of the training kind."""
        return replace(self, validation_problems=VALIDATION_PROBLEMS)

    def draw(self, stream: Stream) -> dict[str, Problems]:
        """Draw the sets of a run, by regime name."""
        branch = stream.child(self.name, f"v{self.version}", f"problem-{self.problem}")
        counts = {TRAINING: self.training_problems, VALIDATION: self.validation_problems}
        return {
            regime.name: self._set(
                regime.name, counts.get(regime.name, self.test_problems), branch.child(regime.name)
            )
            for regime in self.regimes
        }

    def _set(self, regime: str, count: int, branch: Stream) -> Problems:
        """Draw a set, half of it of each category."""
        size = regime.removeprefix("size-")
        family: Family = "stars" if regime == "new-shapes" else "curves"
        corners, objects = zip(
            *(
                draw_scenes(
                    self.problem,
                    category,
                    (count + category) // 2,
                    branch.child(f"category-{category}").numpy(),
                    family=family,
                    percent=int(size) if size != regime else 100,
                    more=regime == "more-objects",
                )
                for category in (0, 1)
            ),
            strict=True,
        )
        objects[1][..., CONTOUR] += len(corners[0])
        order = permutation(branch.child("order").numpy(), count)
        latent = torch.from_numpy(np.concatenate(objects)[order])
        return Problems(
            items=LazyItems(latent=latent, draw=OutlinePictures(np.concatenate(corners))),
            index=torch.arange(count)[:, None],
            target=torch.from_numpy((order >= len(objects[0])).astype(np.int64)),
        )

    def by_hand(
        self,
        problems: Problems,
        training: Problems,  # noqa: ARG002
    ) -> Float[Tensor, "batch answer"]:
        """Return the outputs of a rule over connected outlines of each picture.

        Args:
            problems: Pictures and their index; without targets.
            training: Not used.
        """
        pictures = problems.items[problems.index[:, 0]]
        found = [answer(self.problem, read_objects(one < 1)) for one in pictures.cpu().numpy()]
        return binary_outputs(torch.tensor(found, device=pictures.device), self.num_outputs)
