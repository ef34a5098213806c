"""The copying task with a dormant phase (lamb2022)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Final, final

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from farfield.core import Problems, check_fields
from farfield.metrics import correct
from farfield.tasks._protocol._answers import OracleByHand
from farfield.tasks._protocol._draws import integers
from farfield.tasks._protocol._task import (
    SYMBOL,
    TRAINING,
    VALIDATION,
    Count,
    Form,
    Regime,
    check_regime,
)
from farfield.tasks._sequences._sequence_task import SequenceTask

SYMBOLS: Final = 8
"""Different symbols that are to be recalled; 0 is the blank and 9 the marker."""
RECALLED: Final = 10
"""Symbols of a problem."""
MARKER: Final = SYMBOLS + 1
SURE: Final = 100.0
"""Logit of an answer that leaves no doubt."""


@final
@dataclass(frozen=True, kw_only=True)
class Copying(OracleByHand, SequenceTask):
    r"""What were the ten symbols at the start, after a long time in which nothing happens?

    **What is asked.** Ten symbols from 1…8, drawn independently, are shown one after another;
    then T − 1 blanks, a marker, and ten blanks more: T + 20 places. The answer at each place is
    the blank or one of the eight symbols: blank at the first T + 10 places, the ten symbols in
    their order at the last ten. T is the length of the dormant phase, its last place the marker.

    **Worked example** (T = 4; · is the blank, ▸ the marker).

    ```text
      shown   3 7 1 1 8 2 4 6 5 2 · · · ▸ · · · · · · · · · ·
      answer  · · · · · · · · · · · · · · 3 7 1 1 8 2 4 6 5 2
    ```

    **Regimes.** T = 50 in `training` and, with new sequences, in `validation`; 200, 1,000 and
    10,000 in the tests `dormant-200`, `dormant-1000` and `dormant-10000`. Sequences are as long as
    their regime has them. The symbols are uniform in all of them; of the 8¹⁰ sequences
    none is kept from a test, and to meet one twice is as likely as chance has it.

    **Score, floor and ceiling.** Share of the last ten places with the right symbol; 1/8 by
    guessing; 1 by reading the first ten. Beside it every record has the cross-entropy, as the
    loss: in nats, averaged over all T + 20 places, or over the last ten with `recalled_only`. Who
    knows when to answer but remembers nothing has $10 \ln 8 / (T + 20)$ there
    (`no_memory_loss`): 0.297 at T = 50 and 0.0945 at T = 200. A loss that falls with T is no
    sign of memory.

    **Known shortcuts.** None to the score. The loss over all places is near 0 for any model at
    T = 10,000, as nearly all places ask for a blank.

    **Source and deviations.** Lamb 2022, section 8.4.1, which does not number the symbols; sizes
    and places after the authors' code, which draws new sequences in each epoch. Here training goes
    through a fixed set in shuffled epochs. That code prints the loss over all places; the losses of
    Table 1 at T = 200 are above ln 8 = 2.08, as a mean over the last ten places can be.

    Args:
        dormant: Length of the dormant phase in training, T, places.
        test_dormant: The same in the tests, ascending.
        training_sequences: Number of training sequences.
        validation_sequences: Number of sequences that models may be chosen on.
        test_sequences: Number of sequences of each test.
        recalled_only: Whether the loss is averaged over the last ten places only.

    Raises:
        ValueError: If a number is out of range, or the tests are not ascending.

    Reference:
        lamb2022, section 8.4.1 and Table 1.
    """

    name: ClassVar[str] = "copying"
    version: ClassVar[int] = 1
    form: ClassVar[Form] = Form(axes=SYMBOL, arrangement="sequence", answer="everywhere")

    dormant: Count = 50
    test_dormant: tuple[Count, ...] = (200, 1_000, 10_000)
    training_sequences: Count = 50_000
    validation_sequences: Count = 1_000
    test_sequences: tuple[Count, ...] = (1_000, 500, 64)
    recalled_only: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
        phases = (self.dormant, *self.test_dormant)
        if (
            len(phases) < 2
            or sorted(set(phases[1:])) != list(phases[1:])
            or min(phases) < phases[0]
        ):
            raise ValueError(
                "test_dormant must be one or more ascending lengths of at least "
                f"dormant={self.dormant}, got {self.test_dormant}"
            )
        if len(self.test_sequences) != len(self.test_dormant):
            raise ValueError(
                f"test_sequences must have a number for each of the {len(self.test_dormant)} "
                f"tests, got {self.test_sequences}"
            )

    @property
    def item_shape(self) -> tuple[int, ...]:
        """Blank, eight symbols and marker, one-hot."""
        return (MARKER + 1,)

    @property
    def length(self) -> int:
        """Number of places of a training problem, T + 20; those of a test have more."""
        return self.dormant + 2 * RECALLED

    @property
    def num_outputs(self) -> int:
        """Logits at every place: of the blank and the eight symbols."""
        return SYMBOLS + 1

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Training, validation, then the tests by the length of the dormant phase."""
        unit = "dormant places beyond training"
        same = tuple(Regime(name=n, distance=0.0, unit=unit) for n in (TRAINING, VALIDATION))
        tests = (
            Regime(name=f"dormant-{phase}", distance=float(phase - self.dormant), unit=unit)
            for phase in self.test_dormant
        )
        return (*same, *tests)

    @property
    def counts(self) -> dict[str, int]:
        """Number of sequences of each set, by regime."""
        counts = (self.training_sequences, self.validation_sequences, *self.test_sequences)
        return dict(zip((regime.name for regime in self.regimes), counts, strict=True))

    def made(self, regime: str, count: int, generator: np.random.Generator) -> Problems:
        """Ten symbols, the dormant phase with the marker at its end, ten blanks.

        Args:
            regime: Name of the regime.
            count: Number of sequences.
            generator: Draws the symbols.

        Raises:
            UnknownNameError: If it is not a regime of the task.
        """
        symbols = 1 + integers(generator, SYMBOLS, count * RECALLED).reshape(count, RECALLED)
        index = np.zeros((count, self._dormant(regime) + 2 * RECALLED), np.int64)
        target = np.zeros_like(index)
        index[:, :RECALLED] = target[:, -RECALLED:] = symbols
        index[:, -RECALLED - 1] = MARKER
        return Problems(
            items=torch.eye(MARKER + 1),
            index=torch.from_numpy(index),
            target=torch.from_numpy(target),
            latent={"symbols": torch.from_numpy(symbols)},
        )

    def _dormant(self, regime: str) -> int:
        """Length of the dormant phase of a regime."""
        check_regime(regime, self.regimes)
        place = [known.name for known in self.regimes].index(regime)
        return (self.dormant, self.dormant, *self.test_dormant)[place]

    def loss(
        self, outputs: Float[Tensor, "batch time value"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Cross-entropy averaged over all places, or over the last ten with `recalled_only`.

        Args:
            outputs: Logits at every place.
            problems: The sequences.

        Raises:
            ValueError: If `outputs` is not of `(batch, time, 9)`.
        """
        _check_outputs(outputs, problems)
        first = -RECALLED if self.recalled_only else 0
        logits, wanted = outputs[:, first:].transpose(1, 2), problems.target[:, first:]
        return F.cross_entropy(logits, wanted, reduction="none").mean(1)

    def score(
        self, outputs: Float[Tensor, "batch time value"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Share of the ten symbols that are recalled; a tie, or what is not a number, is wrong.

        Args:
            outputs: Logits at every place.
            problems: The sequences.

        Raises:
            ValueError: If `outputs` is not of `(batch, time, 9)`.
        """
        _check_outputs(outputs, problems)
        logits, wanted = outputs[:, -RECALLED:], problems.target[:, -RECALLED:]
        return correct(logits, wanted).to(torch.float32).mean(1)

    def chance(self, regime: str) -> float:
        """Share of right symbols by guessing.

        Args:
            regime: Name of the regime.
        """
        check_regime(regime, self.regimes)
        return 1 / SYMBOLS

    def no_memory_loss(self, regime: str) -> float:
        """Least loss without memory: blanks are foreseen, symbols are one in eight, nats.

        Args:
            regime: Name of the regime.
        """
        check_regime(regime, self.regimes)
        places = RECALLED if self.recalled_only else self._dormant(regime) + 2 * RECALLED
        return RECALLED * math.log(SYMBOLS) / places

    def oracle(self, problems: Problems) -> Float[Tensor, "batch time value"]:
        """Logits of one who reads the first ten places.

        Args:
            problems: Sequences of any regime.
        """
        answer = torch.zeros_like(problems.index)
        answer[:, -RECALLED:] = problems.items[problems.index[:, :RECALLED]].argmax(-1)
        return SURE * F.one_hot(answer, SYMBOLS + 1).to(torch.float32)


def _check_outputs(outputs: Tensor, problems: Problems) -> None:
    """Raise `ValueError` if `outputs` is not of `(batch, time, 9)`."""
    wanted = (*problems.index.shape, SYMBOLS + 1)
    if tuple(outputs.shape) != wanted:
        raise ValueError(
            f"outputs must be of (batch, time, outputs) = {wanted}, got {tuple(outputs.shape)}"
        )
