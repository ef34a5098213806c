"""Bouncing balls: what does the next frame show? (lamb2022)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import ClassVar, Final, final

import numpy as np
import torch
from jaxtyping import Float, Float32, Int64
from torch import Tensor
from torch.nn import functional as F

from farfield.core import Problems, stream
from farfield.core.internal import LazyItems, check_fields
from farfield.metrics.internal import blob_distance
from farfield.tasks._balls._ball_motion import (
    AWAY,
    Seen,
    White,
    frames,
    mean_frame_loss,
    moved,
    repeated_loss,
    started,
    visible,
)
from farfield.tasks._protocol._answers import check_sequence_outputs
from farfield.tasks._protocol._draws import integers
from farfield.tasks._protocol._task import (
    GRAY,
    TRAINING,
    VALIDATION,
    Count,
    Form,
    Regime,
    check_number,
    check_regime,
    regimes_at,
)
from farfield.tasks._sequences._memory import SequenceTask

CURTAIN: Final = "curtain"
MOST_BALLS: Final = 12
SHARE: Final = 4
"""Number of columns of which the curtain hides one."""
SURE: Final = 1000.0
"""Logit of an answer that leaves no doubt."""
FLOOR_SEQUENCES: Final = 300
"""Sequences that the floors are measured on."""


@final
@dataclass(frozen=True, kw_only=True)
class BouncingBalls(SequenceTask):
    r"""What does the next frame show? Balls move in a box, off the walls and off each other.

    **Task.** A sequence of 51 frames shows white discs on black that move straight on, off the
    walls and off each other, without friction and without loss. At every time step: what does the
    next frame look like, given this frame and the earlier frames? The answer is a logit for each
    pixel, row by row; the answer at the last time step is not scored.

    **Worked example.**

    ```text
      ┌──────┐┌──────┐┌──────┐┌──────┐
      │ ●    ││  ●   ││   ●  ││   ●  │    →   ┌──────┐
      │    • ││   •  ││   •  ││     •│        │  ●   │
      │ ⬤    ││ ⬤    ││  ⬤   ││  ⬤   │        │     •│
      └──────┘└──────┘└──────┘└──────┘        │  ⬤   │
                                              └──────┘
    ```

    **Regimes.** Four balls in `training`, in `validation` and in the test `balls-4`; 6, 7 or 8, all
    equally likely, in `balls-6-8`; four in `curtain`, where a quarter of the columns beside each
    other, anywhere, is black in all frames of a sequence. In sides of the box, radii are
    uniform in 0.06…0.11 and speeds along either axis in −0.03…0.03 a frame; the mass of a ball goes
    with the square of its radius. Balls start where there is room, one after the other. A pixel
    is white where its middle is within a ball. `BouncingBalls(balls=(6, 8))` is the way back, with
    `balls-4` far from training.

    **Score, floor and ceiling.** Cross-entropy of the pixels, in nats a pixel, averaged over the
    frames after those `given`, with one over frames 2…51: lower is better. Pixels behind the
    curtain are not scored. The floor is the mean frame as the answer to all of them; `copy_loss` is
    the least that can be had from the frame before, pixel by pixel, by trusting it as much as it
    deserves. Both are measured on 300 sequences. The ceiling is 0. The loss is over all frames but
    the first, whatever is given. `given=15` is for a model that goes on from its own frames;
    `roll_out_scores` has its scores frame by frame.

    **Known shortcuts.** Frames differ little: only a loss clearly below `copy_loss` shows a
    prediction.

    **Source and deviations.** Lamb 2022, section 8.4.2, with sequences of 51 frames of which 15
    are given before a roll-out. It says neither radii nor speeds nor how masses are made,
    and refers to a generator of frames of 64 × 64 that is not released with it; all of these are
    our own, and frames have 32 × 32 pixels (`side=64` for as many as there).

    Args:
        balls: Fewest and most balls in training, up to 12.
        test_balls: The same for each test.
        side: Height and width of a frame, pixels.
        num_frames: Frames of a sequence.
        given: True frames that a roll-out starts from: those after them are scored.
        training_sequences: Number of training sequences.
        validation_sequences: Number of sequences that models may be chosen on.
        test_sequences: Number of sequences of each test.

    Raises:
        ValueError: If a number is out of range, or two tests have the same numbers of balls.

    Reference:
        lamb2022, section 8.4.2 and Figure 3.
    """

    name: ClassVar[str] = "bouncing-balls"
    version: ClassVar[int] = 1
    form: ClassVar[Form] = Form(axes=GRAY, arrangement="sequence", answer="everywhere")
    metric: ClassVar[str] = "cross-entropy"

    balls: tuple[int, int] = (4, 4)
    test_balls: tuple[tuple[int, int], ...] = ((4, 4), (6, 8))
    side: int = 32
    num_frames: int = 51
    given: int = 1
    training_sequences: Count = 5_000
    validation_sequences: Count = 200
    test_sequences: Count = 200

    def __post_init__(self) -> None:
        check_fields(self)
        for name, pair in (("balls", self.balls), *(("test_balls", p) for p in self.test_balls)):
            check_number(name, pair[0], 1, MOST_BALLS)
            check_number(name, pair[1], pair[0], MOST_BALLS)
        if len(set(self.test_balls)) != len(self.test_balls):
            raise ValueError(f"test_balls must differ from each other, got {self.test_balls}")
        check_number("side", self.side, SHARE, 256)
        check_number("num_frames", self.num_frames, 2, 1000)
        check_number("given", self.given, 1, self.num_frames - 1)

    @property
    def item_shape(self) -> tuple[int, ...]:
        """Height and width of a frame."""
        return (self.side, self.side)

    @property
    def length(self) -> int:
        """Number of frames of a sequence."""
        return self.num_frames

    @property
    def num_outputs(self) -> int:
        """Number of pixels of a frame, at every time step."""
        return self.side**2

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Training, validation, the tests by numbers of balls, and the curtain."""
        tests = {_name(pair): _apart(pair, self.balls) for pair in self.test_balls}
        known = {TRAINING: 0, VALIDATION: 0}
        return (
            *regimes_at("balls more or fewer than in training", known | tests),
            *regimes_at("hidden columns", {CURTAIN: self._hidden}),
        )

    @property
    def counts(self) -> dict[str, int]:
        """Number of sequences of each set, by regime."""
        own = {TRAINING: self.training_sequences, VALIDATION: self.validation_sequences}
        return {regime.name: own.get(regime.name, self.test_sequences) for regime in self.regimes}

    @property
    def _slots(self) -> int:
        """Most balls of any sequence."""
        return max(most for _, most in (self.balls, *self.test_balls))

    @property
    def _hidden(self) -> int:
        """Columns behind the curtain."""
        return self.side // SHARE

    def numbers(self, regime: str) -> tuple[int, int]:
        """Return the fewest and the most balls of a regime.

        Raises:
            UnknownNameError: If it is not a regime of the task.
        """
        check_regime(regime, self.regimes)
        return {_name(pair): pair for pair in self.test_balls}.get(regime, self.balls)

    def made(self, regime: str, count: int, generator: np.random.Generator) -> Problems:
        """Draw sequences of balls with random starts.

        Args:
            count: Number of sequences.

        Raises:
            UnknownNameError: If it is not a regime of the task.
        """
        fewest, most = self.numbers(regime)
        numbers = fewest + integers(generator, most - fewest + 1, count)
        moving, radii = started(generator, numbers, most)
        balls = np.full((count, self.num_frames, self._slots, 3), AWAY)
        balls[..., 2] = 0.0
        balls[:, :, :most, :2] = moved(moving, radii, self.num_frames)[..., :2]
        balls[:, :, :most, 2] = radii[:, None]
        curtain = np.zeros((count, 2), np.int64)
        if regime == CURTAIN:
            curtain[:, 0] = integers(generator, self.side - self._hidden + 1, count)
            curtain[:, 1] = curtain[:, 0] + self._hidden
        return self._problems(balls.astype(np.float32), numbers, curtain)

    def _problems(
        self,
        balls: Float32[np.ndarray, "batch time slot 3"],
        numbers: Int64[np.ndarray, " batch"],
        curtain: Int64[np.ndarray, "batch value"],
    ) -> Problems:
        """Make problems over frames that are drawn when they are asked for."""
        count, length = balls.shape[:2]
        behind = np.broadcast_to(curtain[:, None].astype(np.float32), (count, length, 2))
        latent = np.concatenate([balls.reshape(count, length, -1), behind], axis=2)
        return Problems(
            items=LazyItems(
                latent=torch.from_numpy(latent.reshape(count * length, -1)),
                draw=partial(frames, side=self.side),
            ),
            index=torch.arange(count * length).reshape(count, length),
            target=torch.zeros(count, dtype=torch.int64),
            latent={"balls": torch.from_numpy(numbers), "curtain": torch.from_numpy(curtain)},
        )

    def loss(
        self, outputs: Float[Tensor, "batch time value"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Compute the cross-entropy in nats a pixel, averaged over all frames except the first.

        Args:
            outputs: Logits of the pixels of the next frame, at every time step.

        Raises:
            ValueError: If `outputs` is not of `(batch, time, side²)`.
        """
        return self._mean_loss(outputs, problems, first=1)

    def score(
        self, outputs: Float[Tensor, "batch time value"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Compute the cross-entropy in nats a pixel, averaged over the frames after `given`.

        Raises:
            ValueError: As `loss`.
        """
        return self._mean_loss(outputs, problems, first=self.given)

    def _mean_loss(
        self, outputs: Float[Tensor, "batch time value"], problems: Problems, first: int
    ) -> Float[Tensor, " batch"]:
        """Average the cross-entropy of the frames from `first` on."""
        check_sequence_outputs(outputs, problems, self.num_outputs)
        return self._frame_losses(outputs[:, first - 1 : -1], problems, first).mean(1)

    def _frame_losses(
        self, outputs: Float[Tensor, "batch time value"], problems: Problems, first: int
    ) -> Float[Tensor, "batch time"]:
        """Compute the cross-entropy of each frame from `first` on, over the visible pixels."""
        shown = problems.items[problems.index[:, first:]].flatten(2).to(outputs.dtype)
        losses = F.binary_cross_entropy_with_logits(outputs, shown, reduction="none")
        if "curtain" not in problems.latent:
            return losses.mean(2)
        seen = visible(problems.latent["curtain"], self.side).flatten(1)[:, None]
        return (losses * seen).sum(2) / seen.sum(2)

    def roll_out_scores(
        self, outputs: Float[Tensor, "batch time value"], problems: Problems
    ) -> dict[str, Float[Tensor, "batch time"]]:
        """Compute the errors of the frames that a model rolls out, by name.

        `"cross-entropy"` is that of `score`, frame by frame. `"position error"` is the distance
        between the white blobs of both frames, each pixel above a half counting as white
        (`farfield.metrics.internal.blob_distance`, cut off at a quarter of the side), in pixels.

        Args:
            outputs: Logits of the pixels of the last frames, as many as were predicted.

        Raises:
            ValueError: If `outputs` is not of `(batch, _, side²)`, or has as many frames as there
                are, of which the first are to be given.
        """
        count, length = problems.index.shape
        rolled = outputs.shape[1]
        if outputs.shape[::2] != (count, self.num_outputs) or not 0 < rolled < length:
            raise ValueError(
                f"outputs must be of (batch, frames, outputs) = ({count}, 1…{length - 1}, "
                f"{self.num_outputs}), got {tuple(outputs.shape)}"
            )
        shape = (count, rolled, self.side, self.side)
        seen = visible(problems.latent["curtain"], self.side)[:, None]
        shown = problems.items[problems.index[:, length - rolled :]] * seen
        predicted = (outputs.reshape(shape) > 0) * seen
        return {
            self.metric: self._frame_losses(outputs, problems, first=length - rolled),
            "position error": blob_distance(predicted, shown > 0, cutoff=self.side / 4),
        }

    def chance(self, regime: str) -> float:
        """Compute the cross-entropy of the mean frame: the floor."""
        check_regime(regime, self.regimes)
        return _floor(self, regime, 0)

    def copy_loss(self, regime: str, ahead: int = 1) -> float:
        """Compute the least cross-entropy from the same pixel some frames before.

        Args:
            ahead: Number of frames before, at least 1.

        Raises:
            ValueError: If a sequence has fewer frames.
        """
        check_regime(regime, self.regimes)
        check_number("ahead", ahead, 1, self.num_frames - 1)
        return _floor(self, regime, ahead)

    def oracle(self, problems: Problems) -> Float[Tensor, "batch time value"]:
        """Return the logits of the frames themselves; at the last time step, of a black frame."""
        shown = problems.sequences().flatten(2)
        following = torch.cat([shown[:, 1:], torch.zeros_like(shown[:, :1])], dim=1)
        return SURE * (2 * following - 1)


def _name(pair: tuple[int, int]) -> str:
    """Return the name of a test by its numbers of balls."""
    return f"balls-{pair[0]}" if pair[0] == pair[1] else f"balls-{pair[0]}-{pair[1]}"


def _apart(pair: tuple[int, int], other: tuple[int, int]) -> int:
    """Return the largest distance of two ranges of numbers at either end."""
    return max(abs(one - two) for one, two in zip(pair, other, strict=True))


@lru_cache
def _floor(task: BouncingBalls, regime: str, ahead: int) -> float:
    """Measure the cross-entropy of the mean frame (0 ahead), or of the pixel some frames before."""
    shown, seen = _measured(task, regime)
    if ahead == 0:
        return mean_frame_loss(shown[:, task.given :], seen)
    return repeated_loss(shown[:, :-ahead], shown[:, ahead:], seen)


@lru_cache(maxsize=2)
def _measured(task: BouncingBalls, regime: str) -> tuple[White, Seen]:
    """Draw the sequences for measuring floors, with the mask of visible pixels."""
    generator = stream(0, task.name, "floor", *task.numbers(regime)).numpy()
    problems = task.made(regime, FLOOR_SEQUENCES, generator)
    seen = visible(problems.latent["curtain"], task.side).numpy()
    return problems.sequences().bool().numpy(), seen
