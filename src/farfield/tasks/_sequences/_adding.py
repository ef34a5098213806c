"""The adding task over long sequences (lamb2022)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, final

import numpy as np
import torch
from jaxtyping import Float, Int64
from torch import Tensor

from farfield.core import Problems, check_fields
from farfield.tasks._protocol._answers import OracleByHand, check_outputs
from farfield.tasks._protocol._draws import integers
from farfield.tasks._protocol._task import (
    TRAINING,
    VALIDATION,
    VECTOR,
    Count,
    Form,
    Regime,
    check_number,
    check_regime,
)
from farfield.tasks._sequences._sequence_task import MOST, SequenceTask

LEVELS: Final = 1024
"""Different values: the middles of as many equal parts of 0…1, exact in float32."""


@final
@dataclass(frozen=True, kw_only=True)
class Adding(OracleByHand, SequenceTask):
    r"""What is the sum of the few marked numbers in a long sequence?

    **What is asked.** A sequence of T numbers between 0 and 1, of which k are marked: the sequence
    is cut into k parts as equal as can be, and one place of each, every one equally likely, has a
    marker of 1 beside the number, all others 0. The answer is the sum of the marked numbers, one
    number for the whole sequence.

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
    sequences, two terms, one in each half, and a channel of its own for the marker of each:
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
        separate_markers: Whether the marker of each part has a channel of its own.

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
        _check_ascending("added", self.added, 1)
        _check_ascending("test_added", self.test_added, max(self.added) + 1)
        check_number("training_length", self.training_length, self._most_terms, MOST)
        _check_ascending("test_lengths", self.test_lengths, self.training_length + 1)

    @property
    def _most_terms(self) -> int:
        return max((*self.added, *self.test_added))

    @property
    def _markers(self) -> int:
        """Channels of markers."""
        return self._most_terms if self.separate_markers else 1

    @property
    def item_shape(self) -> tuple[int, ...]:
        """A number, and its marker or markers."""
        return (1 + self._markers,)

    @property
    def length(self) -> int:
        """Number of places of a training problem; those of a test may have more."""
        return self.training_length

    @property
    def num_outputs(self) -> int:
        """The sum."""
        return 1

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Training, validation, the tests by terms, then those by length."""
        unit, places = "terms beyond training", "places beyond training"
        same = tuple(Regime(name=n, distance=0.0, unit=unit) for n in (TRAINING, VALIDATION))
        terms = tuple(
            Regime(name=f"terms-{k}", distance=float(k - max(self.added)), unit=unit)
            for k in self.test_added
        )
        longer = tuple(
            Regime(name=f"length-{n}", distance=float(n - self.training_length), unit=places)
            for n in self.test_lengths
        )
        return (*same, *terms, *longer)

    @property
    def counts(self) -> dict[str, int]:
        """Number of sequences of each set, by regime."""
        own = {TRAINING: self.training_sequences, VALIDATION: self.validation_sequences}
        return {regime.name: own.get(regime.name, self.test_sequences) for regime in self.regimes}

    def _kind(self, regime: str) -> tuple[int, tuple[int, ...]]:
        """Length of the sequences of a regime, and its numbers of terms."""
        word, _, number = regime.partition("-")
        length = int(number) if word == "length" else self.training_length
        return length, (int(number),) if word == "terms" else self.added

    def made(self, regime: str, count: int, generator: np.random.Generator) -> Problems:
        """Numbers, and as many of them marked as the regime has terms.

        Args:
            regime: Name of the regime.
            count: Number of sequences.
            generator: Draws numbers and places.

        Raises:
            UnknownNameError: If it is not a regime of the task.
        """
        length, choices = self._kind(check_regime(regime, self.regimes))
        levels = integers(generator, LEVELS, count * length).reshape(count, length)
        terms = np.array(choices)[integers(generator, len(choices), count)]
        parts = np.zeros_like(levels)
        for k in choices:
            rows = np.flatnonzero(terms == k)
            places = _places(length, k, len(rows), generator)
            parts[rows[:, None], places] = 1 + np.arange(k)
        markers = parts if self.separate_markers else np.minimum(parts, 1)
        answer = (((2 * levels + 1) * (parts > 0)).sum(1) / (2 * LEVELS)).astype(np.float32)
        return Problems(
            items=self._table(),
            index=torch.from_numpy(markers * LEVELS + levels),
            target=torch.from_numpy(answer),
            latent={"terms": torch.from_numpy(terms), "parts": torch.from_numpy(parts)},
        )

    def _table(self) -> Float[Tensor, "item feature"]:
        """Every number without a marker, then with each of them."""
        values = ((2 * torch.arange(LEVELS) + 1) / (2 * LEVELS)).repeat(1 + self._markers)
        markers = torch.eye(1 + self._markers)[:, 1:].repeat_interleave(LEVELS, dim=0)
        return torch.cat([values[:, None], markers], dim=1)

    def loss(
        self, outputs: Float[Tensor, "batch value"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Squared error of the sum, as the score.

        Args:
            outputs: The sums as answered.
            problems: The sequences.
        """
        return self.score(outputs, problems)

    def score(
        self, outputs: Float[Tensor, "batch value"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Squared error of the sum; lower is better.

        Args:
            outputs: The sums as answered.
            problems: The sequences.

        Raises:
            ValueError: If `outputs` is not of `(batch, 1)`.
        """
        check_outputs(outputs, problems, 1)
        return (outputs[:, 0] - problems.target).square()

    def chance(self, regime: str) -> float:
        """Variance of the answer: the error of answering its mean.

        Args:
            regime: Name of the regime.
        """
        check_regime(regime, self.regimes)
        _, choices = self._kind(regime)
        return float(np.mean(choices) * (1 - LEVELS**-2) / 12 + np.var(choices) / 4)

    def oracle(self, problems: Problems) -> Float[Tensor, "batch value"]:
        """The sum of the marked numbers.

        Args:
            problems: Sequences of any regime.
        """
        shown = problems.sequences()
        return (shown[..., 0] * shown[..., 1:].sum(-1)).sum(1, keepdim=True)


def _places(
    length: int, parts: int, count: int, generator: np.random.Generator
) -> Int64[np.ndarray, "batch slot"]:
    """One place in each part of each sequence."""
    ends = [part * length // parts for part in range(parts + 1)]
    columns = [
        low + integers(generator, high - low, count) for low, high in itertools.pairwise(ends)
    ]
    return np.stack(columns, axis=1)


def _check_ascending(name: str, values: Sequence[int], fewest: int) -> None:
    """Raise `ValueError` unless values are integers from `fewest` on, each once and ascending."""
    for value in values:
        check_number(name, value, fewest, MOST)
    if sorted(set(values)) != list(values):
        raise ValueError(f"{name} must be ascending, each number once, got {tuple(values)}")
