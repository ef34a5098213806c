"""Dynamic object prediction (webb2020)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Final, final

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from farfield.core import Problems, check_fields, stream
from farfield.tasks._protocol._task import GRAY, Count, Form, check_number, check_regime
from farfield.tasks._squares import _squares as squares
from farfield.tasks._squares._squares_task import SquaresTask

FLOOR_SEQUENCES: Final = 20_000
"""Sequences that the floor is measured on."""


@final
@dataclass(frozen=True, kw_only=True)
class DynamicObjects(SquaresTask):
    r"""What does the next frame show? A square moves and grows; every frame is to be foreseen.

    **What is asked.** A sequence of T frames of 64 × 64 pixels shows a white square on black. Its
    center (x, y) and its width go from a start to an end in equal steps. For each frame but the
    first: what does it look like, given the frames before it?

    **Worked example** (T = 4).

    ```text
      ┌──────┐┌──────┐┌──────┐
      │ ▪    ││      ││      │    →   ┌──────┐
      │      ││  ■   ││      │        │      │
      │      ││      ││   ◼  │        │    █ │
      └──────┘└──────┘└──────┘        └──────┘
    ```

    **Regimes.** Start and end are drawn uniformly and independently: both coordinates of the
    center from 16…48, the width from 3…13 in `training` and from 13…31 in `width-13-31`, pixels.
    More ends in `test_sizes` make more tests: `(13, 19, 25, 31)` gives three. A pixel is white
    where its middle (column + ½, row + ½) lies inside the square or on its edge.

    **Score, floor and ceiling.** Mean squared error over the pixels of frames 2…T: lower is
    better. The floor is an answer that repeats the frame before, measured on 20,000 sequences; the
    ceiling is 0. A blank answer scores the share of white pixels.

    **Known shortcuts.** Frames differ little, so that to repeat the last one is a strong answer:
    only what is clearly below the floor predicts anything.

    **Source and deviations.** Webb et al. 2020, sections 2.3, 3.3 and 4.3. The paper draws new
    sequences for every update; here training goes through a fixed set in shuffled epochs, so that
    an encoder that is not trained encodes each frame once. The released code draws the radius r
    of the circle around the square, 2…8 in training and 8…21 in the test:
    `DynamicObjects(training_sizes=(2, 8), test_sizes=(8, 21), circumradius=True)`. For most of its
    rows it sets the prediction of a frame against the frame before it: `previous_frames=True`,
    under which a perfect prediction scores what is the floor here.

    Args:
        training_sizes: Smallest and largest size in training, pixels.
        test_sizes: Ends of the sizes of the tests, ascending, pixels.
        circumradius: Whether sizes are radii of the circle around the square; otherwise widths.
        num_frames: Frames of a sequence, T.
        training_sequences: Number of training sequences.
        test_sequences: Number of sequences of each test.
        previous_frames: Whether predictions are scored against the frames before those they are
            of, as released; otherwise against the right ones.

    Raises:
        ValueError: If sizes are not positive and ascending, or there are fewer than two frames or
            no sequence.

    Reference:
        webb2020, section 2.3.
    """

    name: ClassVar[str] = "dynamic-objects"
    version: ClassVar[int] = 1
    form: ClassVar[Form] = Form(axes=GRAY, arrangement="sequence", answer="items")
    metric: ClassVar[str] = "mse"

    training_sizes: tuple[float, float] = (3.0, 13.0)
    test_sizes: tuple[float, ...] = (13.0, 31.0)
    circumradius: bool = False
    num_frames: int = 20
    training_sequences: Count = 2_000
    test_sequences: Count = 1_000
    previous_frames: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
        squares.check_sizes(self.training_sizes, self.test_sizes)
        check_number("num_frames", self.num_frames, 2, 1000)

    @property
    def length(self) -> int:
        """Number of frames of a sequence."""
        return self.num_frames

    @property
    def counts(self) -> tuple[int, int]:
        """Number of training sequences, and of sequences of each test."""
        return self.training_sequences, self.test_sequences

    def paths(self, regime: str, count: int, generator: np.random.Generator) -> squares.Squares:
        """Squares that go from a start to an end in equal steps.

        Args:
            regime: Name of the regime.
            count: Number of sequences.
            generator: Draws them.
        """
        start, end = (self.drawn(regime, count, generator)[:, None] for _ in range(2))
        share = (np.arange(self.num_frames) / (self.num_frames - 1))[:, None]
        return start + share * (end - start)

    def wanted(self, problems: Problems) -> Float[Tensor, "batch time height width"]:
        """Frames 2…T, or those before them with `previous_frames`.

        Args:
            problems: The sequences.
        """
        shown = problems.sequences()
        return shown[:, :-1] if self.previous_frames else shown[:, 1:]

    def chance(self, regime: str) -> float:
        """Error of repeating the frame before: the floor.

        Args:
            regime: Name of the regime.
        """
        check_regime(regime, self.regimes)
        return 0.0 if self.previous_frames else _copy_error(self, regime)

    def oracle(self, problems: Problems) -> Float[Tensor, "batch time height width"]:
        """The frames themselves.

        Args:
            problems: Problems of any regime.
        """
        return problems.sequences()[:, 1:]


@lru_cache
def _copy_error(task: DynamicObjects, regime: str) -> float:
    """Mean squared difference of neighbouring frames, from what squares share along each axis."""
    generator = stream(0, task.name, "floor").numpy()
    moving = torch.from_numpy(task.paths(regime, FLOOR_SEQUENCES, generator))
    total = 0.0
    for part in torch.split(moving, 1000):
        x, y, width = part.unbind(-1)
        axes = (squares.spans(x, width), squares.spans(y, width))
        one, both = (
            torch.stack([(axis[:, : -step or None] * axis[:, step:]).sum(-1) for axis in axes])
            .double()
            .prod(0)
            for step in (0, 1)
        )
        total += float((one[:, 1:] + one[:, :-1] - 2 * both).mean(1).sum())
    return total / FLOOR_SEQUENCES / squares.SIDE**2
