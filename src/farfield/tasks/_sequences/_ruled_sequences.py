"""Sequences of symbols with answers of a rule at marks: base of tasks, and floors."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor
from torch.nn import functional as F

from farfield.core import Problems, stream
from farfield.core.internal import check_fields
from farfield.metrics import correct
from farfield.tasks._protocol._answers import OracleByHand, check_sequence_outputs
from farfield.tasks._protocol._draws import check_generator, integers
from farfield.tasks._protocol._task import (
    TRAINING,
    VALIDATION,
    Count,
    Regime,
    check_number,
    check_regime,
    regimes_at,
)
from farfield.tasks._sequences._memory import MOST, SURE, SequenceTask

Rows = Int64[np.ndarray, "batch time"]
"""Symbols of sequences of one length, from 0 on."""
Positions = Int64[np.ndarray, "batch slot"]
"""Numbers of the positions of sequences with marks and blanks: items, or targets."""
Draw = Callable[[np.random.Generator, int, int], Rows]
"""Function from a generator, a number of sequences and a length to the symbols."""


class Rule(NamedTuple):
    """Rule on sequences of symbols, with an answer of one symbol or several.

    Attributes:
        symbols: Number of different symbols of a sequence.
        answers: Number of different symbols of an answer.
        draw: Function that draws sequences of a length.
        answer: Function from the symbols of a sequence to its answer, up to the end mark if any.
        slots: Function from the number of symbols to the number of answer positions.
        floor: Function from a length to the share of right answers of the best answer that ignores
            the symbols; `None` where the share is measured.
        parts: Number of values of each part of a symbol, the first the most significant; a symbol
            has one part by default.
    """

    symbols: int
    answers: int
    draw: Draw
    answer: Callable[[list[int]], list[int]]
    slots: Callable[[int], int] = lambda _: 1
    floor: Callable[[int], float] | None = lambda _: 0.5
    parts: tuple[int, ...] = ()

    @property
    def blocks(self) -> tuple[int, ...]:
        """Number of values of each part of a symbol."""
        return self.parts or (self.symbols,)


FLOOR_SYMBOLS: Final = 1_000_000
"""Maximum number of symbols of the sequences by which a floor is measured, twice."""
FLOOR_SEQUENCES: Final = 1_000
"""Maximum number of these sequences of each length."""
FLOOR_LENGTHS: Final = 40
"""Maximum number of their lengths."""


@cache
def floor_of(name: str, rule: Rule, shortest: int, longest: int) -> float:
    """Compute the share of right answers of the best answer that knows the length alone.

    It is exact, or measured where the symbols of an answer differ in their chances: the most
    frequent symbol at each answer position of half of the sequences, on the other half.

    Args:
        name: Name of the rule.
        rule: The rule.
        shortest: Shortest sequence.
        longest: Longest sequence; all lengths between are equally likely.
    """
    lengths, floor = range(shortest, longest + 1), rule.floor
    if floor is not None:
        return math.fsum(map(floor, lengths)) / len(lengths)
    few = min(FLOOR_LENGTHS, len(lengths))
    found = [
        _measured_floor(name, rule, lengths[(2 * part + 1) * len(lengths) // (2 * few)], few)
        for part in range(few)
    ]
    return math.fsum(found) / few


def _measured_floor(name: str, rule: Rule, length: int, parts: int) -> float:
    """Measure the share of right answers of the best answer to sequences of one length.

    Args:
        name: Name of the rule.
        rule: The rule.
        length: Number of symbols.
        parts: Number of lengths that are measured.
    """
    rows = min(FLOOR_SEQUENCES, 2 + FLOOR_SYMBOLS // (length * parts))
    symbols = rule.draw(stream(0, "floor", name, length).numpy(), 2 * rows, length)
    answers = padded([rule.answer(row) for row in symbols.tolist()], rule.slots(length))
    counts = (answers[:rows, :, None] == np.arange(rule.answers)).sum(0)
    right = answers[rows:] == counts.argmax(1)
    return float((right.sum(1) / (answers[rows:] != UNCOUNTED).sum(1)).mean())


UNCOUNTED: Final = -1
"""Target of a position that is not scored."""


def padded(answers: list[list[int]], slots: int) -> Int64[np.ndarray, "batch slot"]:
    """Fill answers up to one width with positions that do not count."""
    return np.array([[*each, *[UNCOUNTED] * (slots - len(each))] for each in answers], np.int64)


@dataclass(frozen=True, kw_only=True)
class RuledSequences(OracleByHand, SequenceTask):
    """Base of tasks with a rule: sequences of some lengths, then marks where answers are read."""

    training_lengths: tuple[Count, Count]
    test_lengths: tuple[tuple[Count, Count], ...]
    training_strings: Count
    validation_strings: Count
    test_strings: tuple[Count, ...]

    def __post_init__(self) -> None:
        check_fields(self)
        fewest = 1
        for name, pairs in {
            "training_lengths": (self.training_lengths,),
            "test_lengths": self.test_lengths,
        }.items():
            for shortest, longest in pairs:
                check_number(name, shortest, fewest, MOST)
                check_number(name, longest, shortest, MOST)
                fewest = longest + 1
        if len(self.test_strings) != len(self.test_lengths):
            raise ValueError(
                f"test_strings must have a number for each of the {len(self.test_lengths)} tests, "
                f"got {self.test_strings}"
            )

    @property
    @abstractmethod
    def rule_of(self) -> tuple[str, Rule]:
        """Name of the rule, and the rule."""

    @property
    def _rule(self) -> Rule:
        return self.rule_of[1]

    @property
    def _ranges(self) -> dict[str, tuple[int, int]]:
        """Shortest and longest string of each regime, by its name."""
        tests = {
            f"length-{low}-{high}" if low < high else f"length-{low}": (low, high)
            for low, high in self.test_lengths
        }
        return {TRAINING: self.training_lengths, VALIDATION: self.training_lengths} | tests

    @property
    def item_shape(self) -> tuple[int, ...]:
        """Number of features: one-hot parts of a symbol, and the mark; a blank is all zeros."""
        return (sum(self._rule.blocks) + 1,)

    @property
    def length(self) -> int:
        """Number of positions of a training problem, answers and blanks included."""
        return self._positions(self.training_lengths[1])

    def _positions(self, length: int) -> int:
        """Return the number of positions of a string with its answer."""
        return length + self._rule.slots(length)

    @property
    def num_outputs(self) -> int:
        """Number of logits of a position: one for each symbol of an answer."""
        return self._rule.answers

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Regimes: training, validation, then the tests by length."""
        longest = self.training_lengths[1]
        distances = {name: (low + high) / 2 - longest for name, (low, high) in self._ranges.items()}
        return regimes_at(
            "symbols beyond training", distances | dict.fromkeys((TRAINING, VALIDATION), 0.0)
        )

    @property
    def counts(self) -> dict[str, int]:
        """Number of strings of each set, by regime."""
        counts = (self.training_strings, self.validation_strings, *self.test_strings)
        return dict(zip(self._ranges, counts, strict=True))

    def made(self, regime: str, count: int, generator: np.random.Generator) -> Problems:
        """Draw lengths, then the strings of each length.

        Args:
            count: Number of strings.
            generator: Draws lengths and symbols.

        Raises:
            UnknownNameError: If it is not a regime of the task.
        """
        check_regime(regime, self.regimes)
        check_generator(generator)
        shortest, longest = self._ranges[regime]
        lengths = shortest + integers(generator, longest - shortest + 1, count)
        index = np.zeros((count, self._positions(longest)), np.int64)
        target = np.full_like(index, UNCOUNTED)
        for length in np.unique(lengths).tolist():
            rows = np.flatnonzero(lengths == length)
            shown, wanted = self._with_answers(self._rule.draw(generator, len(rows), length))
            index[rows, : shown.shape[1]] = shown
            target[rows, : shown.shape[1]] = wanted
        return self._problems(index, target, lengths)

    def _with_answers(self, symbols: Rows) -> tuple[Positions, Positions]:
        """Put the marks of the answers behind strings; return items and targets of positions."""
        slots = self._rule.slots(symbols.shape[1])
        marks = np.full((len(symbols), slots), self._rule.symbols + 1)
        answers = padded([self._rule.answer(row) for row in symbols.tolist()], slots)
        shown = np.concatenate([symbols + 1, marks], axis=1)
        return shown, np.concatenate([np.full_like(symbols, UNCOUNTED), answers], axis=1)

    def _problems(
        self, index: Rows, target: Rows, lengths: Int64[np.ndarray, " batch"]
    ) -> Problems:
        return Problems(
            items=self._table(),
            index=torch.from_numpy(index),
            target=torch.from_numpy(target),
            latent={"lengths": torch.from_numpy(lengths)},
        )

    def _table(self) -> Float[Tensor, "item feature"]:
        """List the blank, the symbols and the mark."""
        blocks, symbols = self._rule.blocks, self._rule.symbols
        table = torch.zeros(symbols + 2, sum(blocks) + 1)
        start = 0
        for size, digits in zip(blocks, np.unravel_index(np.arange(symbols), blocks), strict=True):
            table[torch.arange(1, symbols + 1), start + torch.from_numpy(digits)] = 1.0
            start += size
        table[-1, -1] = 1.0
        return table

    def loss(
        self, outputs: Float[Tensor, "batch time answer"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Average the cross-entropy over the answer positions of each string.

        Args:
            outputs: Logits at every position, `num_outputs` of them.

        Raises:
            ValueError: If `outputs` is not of `(batch, time, num_outputs)`.
        """
        check_sequence_outputs(outputs, problems, self.num_outputs)
        losses = F.cross_entropy(
            outputs.transpose(1, 2), problems.target, reduction="none", ignore_index=UNCOUNTED
        )
        return _mean_of(losses, problems.target != UNCOUNTED)

    def score(
        self, outputs: Float[Tensor, "batch time answer"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Compute the share of right answer positions; a tie, or not a number, is wrong.

        Raises:
            ValueError: As `loss`.
        """
        check_sequence_outputs(outputs, problems, self.num_outputs)
        counted = problems.target != UNCOUNTED
        right = correct(outputs, problems.target.clamp(min=0)).to(torch.float32)
        return _mean_of(right * counted, counted)

    def chance(self, regime: str) -> float:
        """Return the share of right answers of the best answer that knows the length alone."""
        check_regime(regime, self.regimes)
        return floor_of(*self.rule_of, *self._ranges[regime])

    def oracle(self, problems: Problems) -> Float[Tensor, "batch time answer"]:
        """Answer by the rule, from the symbols."""
        shown = self._numbers(problems.items[:])[problems.index].cpu().numpy()
        outputs = np.zeros((*shown.shape, self.num_outputs), np.float32)
        for row, numbers in enumerate(shown):
            marks = np.flatnonzero(numbers == self._rule.symbols + 1)
            symbols = numbers[(numbers > 0) & (numbers <= self._rule.symbols)] - 1
            answer = self._rule.answer(symbols.tolist())
            outputs[row, marks[: len(answer)], answer] = SURE
        return torch.from_numpy(outputs).to(problems.index.device)

    def _numbers(self, items: Float[Tensor, "item feature"]) -> Int64[Tensor, " item"]:
        """Return the number of each symbol from 1 on, 0 of the blank, the last of the mark."""
        parts = torch.split(items[:, :-1], [*self._rule.blocks], dim=1)
        number = torch.zeros(len(items), dtype=torch.int64, device=items.device)
        for size, part in zip(self._rule.blocks, parts, strict=True):
            number = size * number + part.argmax(1)
        marked = items[:, -1] > 0
        number = torch.where(marked, self._rule.symbols, number)
        return (number + 1) * items.any(1)


def _mean_of(
    values: Float[Tensor, "batch time"], counted: Bool[Tensor, "batch time"]
) -> Float[Tensor, " batch"]:
    """Average values that are 0 where they do not count over the positions that do."""
    return values.sum(1) / counted.sum(1)
