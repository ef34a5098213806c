"""Prediction of dynamic objects, and of their single frames for the autoencoder (webb2020)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar, Final, final

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from farfield.core import Problems, stream
from farfield.core.internal import check_fields
from farfield.tasks._protocol._task import (
    GRAY,
    VALIDATION_PROBLEMS,
    Count,
    CountOrNone,
    Form,
    check_number,
    check_regime,
)
from farfield.tasks._squares import _squares as squares
from farfield.tasks._squares._squares import SquaresTask

FLOOR_SEQUENCES: Final = 20_000
"""Sequences that the floor is measured on."""


@final
@dataclass(frozen=True, kw_only=True)
class DynamicObjects(SquaresTask):
    r"""What does the next frame show? A square moves and grows; every frame is to be foreseen.

    **Task.** A sequence of T frames of 64 × 64 pixels shows a white square on black. Its center (x,
    y) and its width go from a start to an end in equal steps. For each frame but the first: what
    does it look like, given the frames before it?

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
    only an error clearly below the floor shows a prediction.

    **Source and deviations.** Webb et al. 2020, sections 2.3, 3.3 and 4.3. The paper draws new
    sequences for every update; here training goes through a fixed set in shuffled epochs, so that
    an encoder that is not trained encodes each frame once. The released code draws the radius r
    of the circle around the square, 2…8 in training and 8…21 in the test:
    `DynamicObjects(training_sizes=(2, 8), test_sizes=(8, 21), circumradius=True)`. For most of its
    rows it sets the prediction of a frame against the frame before it: `previous_frames=True`,
    under which a perfect prediction scores the floor here.

    Args:
        training_sizes: Smallest and largest size in training, pixels.
        test_sizes: Ends of the sizes of the tests, ascending, pixels.
        circumradius: Whether sizes are radii of the circle around the square; otherwise widths.
        num_frames: Frames of a sequence, T.
        training_sequences: Number of training sequences.
        test_sequences: Number of sequences of each test.
        validation_sequences: Number of new sequences of training's sizes for validation; 0 for no
            such regime.
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
    validation_sequences: CountOrNone = 0

    def __post_init__(self) -> None:
        check_fields(self)
        squares.check_sizes(self.training_sizes, self.test_sizes)
        check_number("num_frames", self.num_frames, 2, 1000)

    @property
    def length(self) -> int:
        """Number of frames of a sequence."""
        return self.num_frames

    @property
    def counts(self) -> tuple[int, int, int]:
        """Number of training sequences, of sequences of each test, and of validation sequences."""
        return self.training_sequences, self.test_sequences, self.validation_sequences

    def with_validation(self) -> DynamicObjects:
        """Copy the task with validation on new sequences of training's sizes."""
        return replace(self, validation_sequences=VALIDATION_PROBLEMS // 2)

    def paths(self, regime: str, count: int, generator: np.random.Generator) -> squares.Squares:
        """Draw squares that go from a start to an end in equal steps.

        Args:
            count: Number of sequences.
        """
        start, end = (self.drawn(regime, count, generator)[:, None] for _ in range(2))
        share = (np.arange(self.num_frames) / (self.num_frames - 1))[:, None]
        return start + share * (end - start)

    def wanted(self, problems: Problems) -> Float[Tensor, "batch time height width"]:
        """Return frames 2…T, or their predecessors with `previous_frames`."""
        shown = problems.sequences()
        return shown[:, :-1] if self.previous_frames else shown[:, 1:]

    def chance(self, regime: str) -> float:
        """Return the error of repeating the frame before: the floor."""
        check_regime(regime, self.regimes)
        return 0.0 if self.previous_frames else _copy_error(self, regime)

    def oracle(self, problems: Problems) -> Float[Tensor, "batch time height width"]:
        """Return the frames themselves."""
        return problems.sequences()[:, 1:]


@lru_cache
def _copy_error(task: DynamicObjects, regime: str) -> float:
    """Average the squared difference of adjacent frames, from the overlap along each axis."""
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


FLOOR_FRAMES: Final = 50_000
"""Frames that the floor is measured on."""


@final
@dataclass(frozen=True, kw_only=True)
class ObjectFrames(SquaresTask):
    r"""What does this frame show? A frame is to be given back, through a narrow embedding.

    **Task.** One frame of 64 × 64 pixels shows a white square on black. The answer is the frame
    itself: a task for an autoencoder.

    **Worked example.**

    ```text
      ┌──────┐     ┌──────┐
      │   ■  │  →  │   ■  │
      │      │     │      │
      └──────┘     └──────┘
    ```

    **Regimes.** Center and width are drawn uniformly and independently: both coordinates of the
    center from 16…48, the width from 3…43 in `training`, pixels. The tests show new frames:
    `width-3-13` those that a predictor is trained on in `DynamicObjects`, `width-13-31` those it
    is tested on. Both lie within the training range, at distance 0. A pixel is white where its
    middle (column + ½, row + ½) lies inside the square or on its edge.

    **Score, floor and ceiling.** Mean squared error over the pixels: lower is better. The floor is
    the mean frame of the regime as the answer to all of it, measured on 50,000 frames; the ceiling
    is 0.

    **Known shortcuts.** None that an embedding of fewer numbers than pixels would allow.

    **Source and deviations.** Webb et al. 2020, sections 2.3 and 4.3. The text does not say which
    widths the autoencoder sees. That it sees those of the test follows from section 7, which says
    of the other experiments, as against this one, that no part of the system had seen anything
    outside the training domain. The released code draws radii of the circle around the square of
    2…31, widths of 2.8…43.8:
    `ObjectFrames(training_sizes=(2, 31), test_sizes=(2, 8, 21), circumradius=True)`; the default
    says the same in widths. With widths of 3…31 alone, 8 % of the pixels are white, and most
    autoencoders of the paper's making soon answer with black frames and learn nothing more. The
    paper draws new frames for every update; here training goes through a fixed set in shuffled
    epochs.

    Args:
        training_sizes: Smallest and largest size in training, pixels.
        test_sizes: Ends of the sizes of the tests, ascending, pixels.
        circumradius: Whether sizes are radii of the circle around the square; otherwise widths.
        training_frames: Number of training frames.
        test_frames: Number of frames of each test.
        validation_frames: Number of new frames of training's sizes for validation; 0 for no such
            regime.

    Raises:
        ValueError: If sizes are not positive and ascending, or there are no frames.

    Reference:
        webb2020, sections 2.3 and 4.3.
    """

    name: ClassVar[str] = "object-frames"
    version: ClassVar[int] = 1
    form: ClassVar[Form] = Form(axes=GRAY, arrangement="single", answer="items")
    metric: ClassVar[str] = "mse"

    training_sizes: tuple[float, float] = (3.0, 43.0)
    test_sizes: tuple[float, ...] = (3.0, 13.0, 31.0)
    circumradius: bool = False
    training_frames: int = 50_000
    test_frames: int = 2_000
    validation_frames: CountOrNone = 0

    def __post_init__(self) -> None:
        check_fields(self)
        squares.check_sizes(self.training_sizes, self.test_sizes)
        check_number("training_frames", self.training_frames, 1, 100_000_000)
        check_number("test_frames", self.test_frames, 1, 100_000_000)

    @property
    def length(self) -> int:
        """Number of frames of a problem: one."""
        return 1

    @property
    def counts(self) -> tuple[int, int, int]:
        """Number of training frames, of frames of each test, and of validation frames."""
        return self.training_frames, self.test_frames, self.validation_frames

    def with_validation(self) -> ObjectFrames:
        """Copy the task with validation on new frames of training's sizes."""
        return replace(self, validation_frames=VALIDATION_PROBLEMS)

    def paths(self, regime: str, count: int, generator: np.random.Generator) -> squares.Squares:
        """Draw squares of single frames.

        Args:
            count: Number of frames.
        """
        return self.drawn(regime, count, generator)[:, None]

    def wanted(self, problems: Problems) -> Float[Tensor, "batch height width"]:
        """Return the frames themselves.

        Args:
            problems: The frames.
        """
        return problems.sequences()[:, 0]

    def chance(self, regime: str) -> float:
        """Return the error of answering with the regime's mean frame: the floor."""
        check_regime(regime, self.regimes)
        return _mean_frame_error(self, regime)

    def oracle(self, problems: Problems) -> Float[Tensor, "batch height width"]:
        """Return the frames themselves."""
        return self.wanted(problems)


@lru_cache
def _mean_frame_error(task: ObjectFrames, regime: str) -> float:
    """Average the variance of a pixel that is 0 or 1 over the pixels."""
    generator = stream(0, task.name, "floor").numpy()
    still = torch.from_numpy(task.drawn(regime, FLOOR_FRAMES, generator))
    x, y, width = still.unbind(-1)
    across, down = (squares.spans(center, width).double() for center in (x, y))
    white = down.T @ across / FLOOR_FRAMES
    return float((white * (1 - white)).mean())
