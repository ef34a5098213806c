"""Tasks of memory over long sequences: adding, and copying with a dormant phase (lamb2022)."""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, final

import numpy as np
import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn import functional as F

from farfield.core import Problems, Stream
from farfield.core.internal import check_fields
from farfield.metrics import correct
from farfield.tasks._protocol._answers import OracleByHand, check_outputs, check_sequence_outputs
from farfield.tasks._protocol._draws import integers
from farfield.tasks._protocol._task import (
    SYMBOL,
    TRAINING,
    VALIDATION,
    VECTOR,
    Count,
    Form,
    OneContext,
    Regime,
    check_number,
    check_regime,
    regimes_at,
)

MOST = 10_000_000
"""Maximum number of sequences of a set, and of positions of a sequence."""
_RECORDED_UNIT: Final = "places"
"""Unit of lengths in the records: time steps."""


class SequenceTask(OneContext):
    """Sequences over one table of items, with a validation set of the training kind."""

    name: ClassVar[str]
    version: ClassVar[int]

    @property
    @abstractmethod
    def regimes(self) -> tuple[Regime, ...]:
        """Training, validation, then the tests."""

    @property
    @abstractmethod
    def counts(self) -> Mapping[str, int]:
        """Number of problems of each set, by regime."""

    @abstractmethod
    def made(self, regime: str, count: int, generator: np.random.Generator) -> Problems:
        """Make `count` problems of a regime."""

    def draw(self, stream: Stream) -> dict[str, Problems]:
        """Draw the sets of a run, by regime name."""
        branch = stream.child(self.name, f"v{self.version}")
        return {
            regime.name: self.made(
                regime.name, self.counts[regime.name], branch.child(regime.name).numpy()
            )
            for regime in self.regimes
        }

    def sample(self, regime: str, n: int, generator: np.random.Generator) -> Problems:
        """Sample `n` new problems of a regime."""
        check_regime(regime, self.regimes)
        check_number("n", n, 1, MOST)
        return self.made(regime, n, generator)


LEVELS: Final = 1024
"""Different values: the middles of as many equal parts of 0…1, exact in float32."""


@final
@dataclass(frozen=True, kw_only=True)
class Adding(OracleByHand, SequenceTask):
    r"""What is the sum of the few marked numbers in a long sequence?

    **Task.** A sequence of T numbers between 0 and 1, of which k are marked: the sequence is cut
    into k parts as equal as can be, and one position of each part, all equally likely, has a marker
    of 1 beside the number, all others 0. The answer is the sum of the marked numbers, one number
    for the whole sequence.

    **Worked example** (T = 8, k = 2).

    ```text
      number  0.61 0.07 0.83 0.44 0.29 0.95 0.12 0.58
      marker    0    0    1    0    0    0    1    0      → 0.83 + 0.12 = 0.95
    ```

    **Regimes.** `training` and, with new sequences, `validation` have T = 50 and k = 2, or numbers
    of terms drawn from `added`, all equally likely. The tests `terms-3` and `terms-4` have more
    terms at T = 50; `length-200` and `length-1000` are longer, with as many terms as training.
    Numbers are drawn uniformly from the 1,024 middles of equal parts of 0…1, so that a table of
    few items holds all there are.

    **Score, floor and ceiling.** Squared error, whose mean is the mean squared error: lower is
    better. The floor is the best answer that is the same for all sequences, their mean; its
    error is the variance of the answer, $\bar k (1 - 1024^{-2}) / 12 + \mathrm{Var}(k) / 4$:
    1/6 for two terms. The ceiling is 0.

    **Known shortcuts.** The sum has the mean k/2: to count the markers alone is the floor where all
    sequences have the same k.

    **Source and deviations.** Lamb 2022, after the authors' code, which has 30,000 training
    sequences, two terms, one in each half, and a separate channel for each marker:
    `Adding(separate_markers=True)`. With one channel a model can be asked for more terms than it
    was trained on. Numbers are continuous there.

    Args:
        training_length: Length in training, T.
        added: Numbers of terms in training, k, from 1 on, ascending.
        test_lengths: Lengths of the tests of length, ascending, longer than training.
        test_added: Numbers of terms of the tests of terms, ascending, more than training.
        training_sequences: Number of training sequences.
        validation_sequences: Number of sequences that models may be chosen on.
        test_sequences: Number of sequences of each test.
        separate_markers: Whether the marker of each part has a separate channel.

    Raises:
        ValueError: If a number is out of range, or lengths or terms are not ascending.

    Reference:
        lamb2022, section 8.4.1.
    """

    name: ClassVar[str] = "adding"
    version: ClassVar[int] = 1
    form: ClassVar[Form] = Form(axes=VECTOR, arrangement="sequence")
    metric: ClassVar[str] = "mse"

    training_length: Count = 50
    added: tuple[Count, ...] = (2,)
    test_lengths: tuple[Count, ...] = (200, 1_000)
    test_added: tuple[Count, ...] = (3, 4)
    training_sequences: Count = 30_000
    validation_sequences: Count = 1_000
    test_sequences: Count = 1_000
    separate_markers: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
        if not self.added:
            raise ValueError("added must hold at least one number of terms, got none")
        check_ascending("added", self.added, 1)
        check_ascending("test_added", self.test_added, max(self.added) + 1)
        check_number("training_length", self.training_length, self._most_terms, MOST)
        check_ascending("test_lengths", self.test_lengths, self.training_length + 1)

    @property
    def _most_terms(self) -> int:
        return max((*self.added, *self.test_added))

    @property
    def _markers(self) -> int:
        """Channels of markers."""
        return self._most_terms if self.separate_markers else 1

    @property
    def item_shape(self) -> tuple[int, ...]:
        """Number of features: a number, and its marker or markers."""
        return (1 + self._markers,)

    @property
    def length(self) -> int:
        """Number of positions of a training problem; a test may have more."""
        return self.training_length

    @property
    def num_outputs(self) -> int:
        """Number of outputs: the sum."""
        return 1

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Regimes: training, validation, the tests by terms, then the tests by length."""
        terms = {f"terms-{k}": k - max(self.added) for k in self.test_added}
        longer = {f"length-{n}": n - self.training_length for n in self.test_lengths}
        return (
            *regimes_at("terms beyond training", {TRAINING: 0, VALIDATION: 0} | terms),
            *regimes_at(f"{_RECORDED_UNIT} beyond training", longer),
        )

    @property
    def counts(self) -> dict[str, int]:
        """Number of sequences of each set, by regime."""
        own = {TRAINING: self.training_sequences, VALIDATION: self.validation_sequences}
        return {regime.name: own.get(regime.name, self.test_sequences) for regime in self.regimes}

    def _kind(self, regime: str) -> tuple[int, tuple[int, ...]]:
        """Return the length of the sequences of a regime, and its numbers of terms."""
        word, _, number = regime.partition("-")
        length = int(number) if word == "length" else self.training_length
        return length, (int(number),) if word == "terms" else self.added

    def made(self, regime: str, count: int, generator: np.random.Generator) -> Problems:
        """Draw numbers, and mark as many of them as the regime has terms.

        Args:
            count: Number of sequences.
            generator: Draws numbers and positions.

        Raises:
            UnknownNameError: If it is not a regime of the task.
        """
        length, choices = self._kind(check_regime(regime, self.regimes))
        levels = integers(generator, LEVELS, count * length).reshape(count, length)
        terms = np.array(choices)[integers(generator, len(choices), count)]
        parts = np.zeros_like(levels)
        for k in choices:
            rows = np.flatnonzero(terms == k)
            positions = _positions(length, k, len(rows), generator)
            parts[rows[:, None], positions] = 1 + np.arange(k)
        markers = parts if self.separate_markers else np.minimum(parts, 1)
        answer = (((2 * levels + 1) * (parts > 0)).sum(1) / (2 * LEVELS)).astype(np.float32)
        return Problems(
            items=self._table(),
            index=torch.from_numpy(markers * LEVELS + levels),
            target=torch.from_numpy(answer),
            latent={"terms": torch.from_numpy(terms), "parts": torch.from_numpy(parts)},
        )

    def _table(self) -> Float[Tensor, "item feature"]:
        """List every number without a marker, then with each marker."""
        values = ((2 * torch.arange(LEVELS) + 1) / (2 * LEVELS)).repeat(1 + self._markers)
        markers = torch.eye(1 + self._markers)[:, 1:].repeat_interleave(LEVELS, dim=0)
        return torch.cat([values[:, None], markers], dim=1)

    def loss(
        self, outputs: Float[Tensor, "batch value"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Compute the squared error of the sum, as the score.

        Args:
            outputs: The sums as answered.
        """
        return self.score(outputs, problems)

    def score(
        self, outputs: Float[Tensor, "batch value"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Compute the squared error of the sum; lower is better.

        Args:
            outputs: The sums as answered.

        Raises:
            ValueError: If `outputs` is not of `(batch, 1)`.
        """
        check_outputs(outputs, problems, 1)
        return (outputs[:, 0] - problems.target).square()

    def chance(self, regime: str) -> float:
        """Return the variance of the answer: the error of answering its mean."""
        check_regime(regime, self.regimes)
        _, choices = self._kind(regime)
        return float(np.mean(choices) * (1 - LEVELS**-2) / 12 + np.var(choices) / 4)

    def oracle(self, problems: Problems) -> Float[Tensor, "batch value"]:
        """Add up the marked numbers."""
        shown = problems.sequences()
        return (shown[..., 0] * shown[..., 1:].sum(-1)).sum(1, keepdim=True)


def _positions(
    length: int, parts: int, count: int, generator: np.random.Generator
) -> Int64[np.ndarray, "batch slot"]:
    """Draw one position in each part of each sequence."""
    ends = [part * length // parts for part in range(parts + 1)]
    columns = [
        low + integers(generator, high - low, count) for low, high in itertools.pairwise(ends)
    ]
    return np.stack(columns, axis=1)


def check_ascending(name: str, values: Sequence[int], fewest: int) -> None:
    """Raise `ValueError` unless values are integers from `fewest` on, each once and ascending."""
    for value in values:
        check_number(name, value, fewest, MOST)
    if sorted(set(values)) != list(values):
        raise ValueError(f"{name} must be ascending, each number once, got {tuple(values)}")


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

    **Task.** Ten symbols from 1…8, drawn independently, are shown one after another; then T − 1
    blanks, a marker, and ten blanks more: T + 20 time steps. The answer at each time step is the
    blank or one of the eight symbols: blank at the first T + 10 time steps, the ten symbols in
    their order at the last ten. T is the length of the dormant phase; its last time step is the
    marker.

    **Worked example** (T = 4; · is the blank, ▸ the marker).

    ```text
      shown   3 7 1 1 8 2 4 6 5 2 · · · ▸ · · · · · · · · · ·
      answer  · · · · · · · · · · · · · · 3 7 1 1 8 2 4 6 5 2
    ```

    **Regimes.** T = 50 in `training` and, with new sequences, in `validation`; 200, 1,000 and
    10,000 in the tests `dormant-200`, `dormant-1000` and `dormant-10000`. Sequences are as long as
    their regime has them. The symbols are uniform in all of them; of the 8¹⁰ sequences
    none is kept from a test, and to meet one twice is as likely as chance has it.

    **Score, floor and ceiling.** Share of the last ten time steps with the right symbol; 1/8 by
    guessing; 1 by reading the first ten. Beside it every record has the cross-entropy, as the loss:
    in nats, averaged over all T + 20 time steps, or over the last ten with `recalled_only`. Who
    knows when to answer but remembers nothing has $10 \ln 8 / (T + 20)$ there (`no_memory_loss`):
    0.297 at T = 50 and 0.0945 at T = 200. A loss that falls with T is no sign of memory.

    **Known shortcuts.** None to the score. The loss over all time steps is near 0 for any model at
    T = 10,000, as nearly all time steps ask for a blank.

    **Source and deviations.** Lamb 2022, section 8.4.1, which does not number the symbols; sizes
    and positions after the authors' code, which draws new sequences in each epoch. Here training
    goes through a fixed set in shuffled epochs. That code prints the loss over all time steps; the
    losses of Table 1 at T = 200 are above ln 8 = 2.08, as a mean over the last ten time steps can
    be.

    Args:
        dormant: Length of the dormant phase in training, T, time steps.
        test_dormant: The same in the tests, ascending.
        training_sequences: Number of training sequences.
        validation_sequences: Number of sequences that models may be chosen on.
        test_sequences: Number of sequences of each test.
        recalled_only: Whether the loss is averaged over the last ten time steps only.

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
        """Number of positions of a training problem, T + 20; a test has more."""
        return self.dormant + 2 * RECALLED

    @property
    def num_outputs(self) -> int:
        """Number of logits at every time step: of the blank and the eight symbols."""
        return SYMBOLS + 1

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Training, validation, then the tests by the length of the dormant phase."""
        tests = {f"dormant-{phase}": phase - self.dormant for phase in self.test_dormant}
        known = {TRAINING: 0, VALIDATION: 0}
        return regimes_at(f"dormant {_RECORDED_UNIT} beyond training", known | tests)

    @property
    def counts(self) -> dict[str, int]:
        """Number of sequences of each set, by regime."""
        counts = (self.training_sequences, self.validation_sequences, *self.test_sequences)
        return dict(zip((regime.name for regime in self.regimes), counts, strict=True))

    def made(self, regime: str, count: int, generator: np.random.Generator) -> Problems:
        """Draw ten symbols, the dormant phase with the marker at its end, ten blanks.

        Args:
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
        """Return the length of the dormant phase of a regime."""
        check_regime(regime, self.regimes)
        index = [known.name for known in self.regimes].index(regime)
        return (self.dormant, self.dormant, *self.test_dormant)[index]

    def loss(
        self, outputs: Float[Tensor, "batch time value"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Average the cross-entropy over all positions, or the last ten with `recalled_only`.

        Args:
            outputs: Logits at every time step.

        Raises:
            ValueError: If `outputs` is not of `(batch, time, 9)`.
        """
        check_sequence_outputs(outputs, problems, SYMBOLS + 1)
        first = -RECALLED if self.recalled_only else 0
        logits, wanted = outputs[:, first:].transpose(1, 2), problems.target[:, first:]
        return F.cross_entropy(logits, wanted, reduction="none").mean(1)

    def score(
        self, outputs: Float[Tensor, "batch time value"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Compute the share of recalled symbols; a tie, or not a number, is wrong.

        Raises:
            ValueError: As `loss`.
        """
        check_sequence_outputs(outputs, problems, SYMBOLS + 1)
        logits, wanted = outputs[:, -RECALLED:], problems.target[:, -RECALLED:]
        return correct(logits, wanted).to(torch.float32).mean(1)

    def chance(self, regime: str) -> float:
        """Return the share of right symbols by guessing."""
        check_regime(regime, self.regimes)
        return 1 / SYMBOLS

    def no_memory_loss(self, regime: str) -> float:
        """Return the least loss without memory: blanks are foreseen, symbols one in eight, nats."""
        check_regime(regime, self.regimes)
        steps = RECALLED if self.recalled_only else self._dormant(regime) + 2 * RECALLED
        return RECALLED * math.log(SYMBOLS) / steps

    def oracle(self, problems: Problems) -> Float[Tensor, "batch time value"]:
        """Return the logits of a reader of the first ten positions."""
        answer = torch.zeros_like(problems.index)
        answer[:, -RECALLED:] = problems.items[problems.index[:, :RECALLED]].argmax(-1)
        return SURE * F.one_hot(answer, SYMBOLS + 1).to(torch.float32)
