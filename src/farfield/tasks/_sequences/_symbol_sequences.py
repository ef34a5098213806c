"""Sequences of symbols and a rule that is asked for at the end."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Final, Literal, NamedTuple, final

import numpy as np
import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn import functional as F

from farfield.core import Problems
from farfield.core.internal import check_fields
from farfield.metrics import correct
from farfield.tasks._protocol._answers import OracleByHand, check_outputs
from farfield.tasks._protocol._draws import check_generator, integers
from farfield.tasks._protocol._task import (
    SYMBOL,
    TRAINING,
    VALIDATION,
    Count,
    Form,
    Regime,
    check_regime,
    regimes_at,
)
from farfield.tasks._sequences._memory import SURE, SequenceTask, check_ascending

Symbols = Int64[np.ndarray, "batch time"]
"""Symbols from 1 on, the last symbol at the end of a row; 0 is the blank before a sequence."""
Answers = Int64[np.ndarray, "batch slot"]
Lengths = Int64[np.ndarray, " batch"]
BLOCK: Final = 2**22
"""Number of symbols that are drawn at once."""


class Rule(NamedTuple):
    """Rule on sequences of symbols.

    Attributes:
        symbols: Number of different symbols, without the blank.
        answers: Number of different answers.
        answer: Function from symbols to the answer of each slot.
        drawn: Number of different symbols in the first draw.
        change: Function that changes drawn symbols in slot; blanks are written after it.
        slots: Number of answers of a sequence.
        shortest: Least length with an answer.
    """

    symbols: int
    answers: int
    answer: Callable[[Symbols], Answers]
    drawn: int
    change: Callable[[Symbols, Lengths, np.random.Generator], None] | None = None
    slots: int = 1
    shortest: int = 1


RECALLED: Final = 4
"""Number of symbols to recall in copying."""
DIGITS: Final = 10
"""Number of different digits in adding: 0 … 9, then the same digits with a marker."""
MODULUS: Final = 3


def _first(symbols: Symbols, slots: int = 1) -> Answers:
    """Return the first symbols of each sequence."""
    begin = symbols.shape[1] - (symbols > 0).sum(1)
    return np.take_along_axis(symbols, begin[:, None] + np.arange(slots), axis=1) - 1


def _count(symbols: Symbols, modulus: int) -> Answers:
    """Count the bits of 1, modulo a number."""
    return (symbols == 2).sum(1, keepdims=True) % modulus


def _majority(symbols: Symbols) -> Answers:
    """Tell whether most bits are 1."""
    ones = (symbols == 2).sum(1, keepdims=True)
    return (2 * ones > (symbols > 0).sum(1, keepdims=True)).astype(np.int64)


def _last_written(symbols: Symbols) -> Answers:
    """Return the bit of the last write."""
    last = symbols.shape[1] - 1 - (symbols[:, ::-1] > 2).argmax(1)
    return np.take_along_axis(symbols, last[:, None], axis=1) - 3


def _sum(symbols: Symbols) -> Answers:
    """Add up the marked digits."""
    return np.maximum(symbols - DIGITS - 1, 0).sum(1, keepdims=True)


def _write_once(symbols: Symbols, lengths: Lengths, generator: np.random.Generator) -> None:
    """Write at one position of each sequence, all equally likely, and never after it."""
    last = symbols.shape[1] - lengths + _below(generator, lengths)
    after = np.arange(symbols.shape[1]) > last[:, None]
    bits = (symbols - 1) % 2
    symbols[after] = 1 + bits[after]
    rows = np.arange(len(symbols))
    symbols[rows, last] = 3 + bits[rows, last]


def _break_ties(symbols: Symbols, lengths: Lengths, generator: np.random.Generator) -> None:
    """Flip one bit of each sequence with a tie, all equally likely."""
    width = symbols.shape[1]
    shown = np.arange(width) >= (width - lengths)[:, None]
    columns = width - lengths + _below(generator, lengths)
    ties = np.flatnonzero(2 * ((symbols == 2) & shown).sum(1) == lengths)
    symbols[ties, columns[ties]] = 3 - symbols[ties, columns[ties]]


def _mark_two(symbols: Symbols, lengths: Lengths, generator: np.random.Generator) -> None:
    """Mark one digit in each half of each sequence, all equally likely."""
    begin, half = symbols.shape[1] - lengths, lengths // 2
    rows = np.arange(len(symbols))
    symbols[rows, begin + _below(generator, half)] += DIGITS
    symbols[rows, begin + half + _below(generator, lengths - half)] += DIGITS


def _below(generator: np.random.Generator, highs: Lengths) -> Lengths:
    """Draw an integer from 0 to below each of `highs`, equally likely up to 2⁻⁴⁰."""
    words = np.atleast_1d(generator.bit_generator.random_raw(len(highs)))
    return (words % highs.astype(np.uint64)).astype(np.int64)


RULES: Final[dict[str, Rule]] = {
    "copying": Rule(
        symbols=8,
        answers=8,
        answer=lambda symbols: _first(symbols, RECALLED),
        drawn=8,
        slots=RECALLED,
        shortest=RECALLED,
    ),
    "first": Rule(symbols=8, answers=8, answer=_first, drawn=8),
    "flip-flop": Rule(symbols=4, answers=2, answer=_last_written, drawn=4, change=_write_once),
    "parity": Rule(symbols=2, answers=2, answer=lambda symbols: _count(symbols, 2), drawn=2),
    "modulo-3": Rule(
        symbols=2, answers=MODULUS, answer=lambda symbols: _count(symbols, MODULUS), drawn=2
    ),
    "majority": Rule(symbols=2, answers=2, answer=_majority, drawn=2, change=_break_ties),
    "adding": Rule(
        symbols=2 * DIGITS,
        answers=2 * DIGITS - 1,
        answer=_sum,
        drawn=DIGITS,
        change=_mark_two,
        shortest=2,
    ),
}
"""Rules by name."""


@final
@dataclass(frozen=True, kw_only=True)
class SymbolSequences(OracleByHand, SequenceTask):
    r"""What does a rule answer at the end of a sequence of symbols?

    **Task.** A sequence of random symbols, and one question after the last symbol. The rule is one
    of seven memories:

    | rule | symbols | answer | answers |
    |---|---|---|--:|
    | `copying` | 8 | the first four symbols, all four at once | 8 each |
    | `first` | 8 | the first symbol | 8 |
    | `flip-flop` | *ignore* or *write* with a bit | the bit of the last *write* | 2 |
    | `parity` | 0, 1 | number of ones modulo 2 | 2 |
    | `modulo-3` | 0, 1 | number of ones modulo 3 | 3 |
    | `majority` | 0, 1 | whether there are more ones than zeros | 2 |
    | `adding` | digits 0 … 9, each plain or marked | sum of the two marked digits | 19 |

    **Worked example** (n = 8; `'` is a marker, W a *write*).

    ```text
      copying     3 7 1 1 8 2 1 6          → 3 7 1 1
      first       3 7 1 1 8 2 1 6          → 3
      flip-flop   1 W0 0 W1 0 0 1 0        → 1
      parity      0 1 1 0 1 0 0 0          → 1
      modulo-3    0 1 1 0 1 0 0 0          → 0
      majority    0 1 1 0 1 0 0 0          → 0
      adding      4 0 7' 3 3 9' 1 8        → 16
    ```

    **Regimes.** In `training` and, with new sequences, in `validation` the length is uniform from
    the shortest to the longest of `training_lengths`; shorter sequences begin with blanks, which
    are zero, so that all end at the same position. The tests, `length-200` and others, have one
    length each. Symbols are uniform and independent, except: the last *write* is equally likely at
    every position; of as many ones as zeros, one symbol, drawn at random, is changed; one digit of
    each half is marked. No sequence is kept from a test: short ones come in training and validation
    alike, and to meet a long one twice is as likely as chance has it.

    **Score, floor and ceiling.** Share of right answers (in copying, of the four symbols). The
    floor is the best constant answer: 1 in as many as there are answers, 1/10 in adding (nine). The
    ceiling is 1.

    **Known shortcuts.** A short sequence says more by each symbol: in `majority` a symbol agrees
    with the answer in 56 % at n = 50. No symbol does in `parity`.

    **Source and deviations.** Farfield's own set; `copying` and `adding` after lamb2022, section
    8.4.1, with symbols in slot of blanks and of real numbers. An answer is asked for once, at the
    end.

    Args:
        rule: Name of the rule.
        training_lengths: Shortest and longest sequence of training. Lengths without an answer,
            below 4 in copying and 2 in adding, are never drawn.
        test_lengths: Lengths of the tests, ascending, longer than training.
        training_sequences: Number of training sequences.
        validation_sequences: Number of sequences that models may be chosen on.
        test_sequences: Number of sequences of each test.

    Raises:
        ValueError: If a number is out of range, or lengths are not ascending.

    Reference:
        lamb2022, section 8.4.1: copying and adding.
    """

    name: ClassVar[str] = "symbol-sequences"
    version: ClassVar[int] = 1
    form: ClassVar[Form] = Form(axes=SYMBOL, arrangement="sequence")

    rule: Literal["copying", "first", "flip-flop", "parity", "modulo-3", "majority", "adding"] = (
        "parity"
    )
    training_lengths: tuple[Count, Count] = (1, 50)
    test_lengths: tuple[Count, ...] = (200, 1_000, 10_000)
    training_sequences: Count = 50_000
    validation_sequences: Count = 1_000
    test_sequences: Count = 1_000

    def __post_init__(self) -> None:
        check_fields(self)
        shortest, longest = self.training_lengths
        fewest = max(shortest, self._rule.shortest)
        if longest < fewest:
            raise ValueError(
                f"training_lengths must end at {fewest} or more for the rule {self.rule!r}, "
                f"got {self.training_lengths}"
            )
        check_ascending("test_lengths", self.test_lengths, longest + 1)

    @property
    def _rule(self) -> Rule:
        return RULES[self.rule]

    @property
    def item_shape(self) -> tuple[int, ...]:
        """Number of classes of a one-hot symbol; the blank is zero everywhere."""
        return (self._rule.symbols,)

    @property
    def length(self) -> int:
        """Number of positions of a training problem, blanks included; a test has more."""
        return self.training_lengths[1]

    @property
    def num_outputs(self) -> int:
        """Number of logits: the answers of each slot, slot after slot."""
        return self._rule.slots * self._rule.answers

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Regimes: training, validation, then the tests by length."""
        tests = {f"length-{n}": n - self.length for n in self.test_lengths}
        return regimes_at("symbols beyond training", {TRAINING: 0, VALIDATION: 0} | tests)

    @property
    def counts(self) -> dict[str, int]:
        """Number of sequences of each set, by regime."""
        own = {TRAINING: self.training_sequences, VALIDATION: self.validation_sequences}
        return {regime.name: own.get(regime.name, self.test_sequences) for regime in self.regimes}

    def _lengths(self, regime: str) -> tuple[int, int]:
        """Return the shortest and the longest length of a regime."""
        check_regime(regime, self.regimes)
        if regime in (TRAINING, VALIDATION):
            return max(self.training_lengths[0], self._rule.shortest), self.length
        length = int(regime.removeprefix("length-"))
        return length, length

    def made(self, regime: str, count: int, generator: np.random.Generator) -> Problems:
        """Draw lengths and symbols, some sequences at a time.

        Args:
            count: Number of sequences.
            generator: Draws lengths and symbols.

        Raises:
            UnknownNameError: If it is not a regime of the task.
        """
        shortest, longest = self._lengths(regime)
        check_generator(generator)
        rule = self._rule
        lengths = shortest + integers(generator, longest - shortest + 1, count)
        index = np.empty((count, longest), np.int64)
        target = np.empty((count, rule.slots), np.int64)
        step = max(1, BLOCK // longest)
        for start in range(0, count, step):
            part, own = index[start : start + step], lengths[start : start + step]
            part[:] = 1 + integers(generator, rule.drawn, part.size).reshape(part.shape)
            if rule.change is not None:
                rule.change(part, own, generator)
            part[np.arange(longest) < (longest - own)[:, None]] = 0
            target[start : start + step] = rule.answer(part)
        return Problems(
            items=torch.eye(1 + self._rule.symbols)[:, 1:],
            index=torch.from_numpy(index),
            target=torch.from_numpy(target if rule.slots > 1 else target[:, 0]),
            latent={"lengths": torch.from_numpy(lengths)},
        )

    def loss(
        self, outputs: Float[Tensor, "batch answer"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Compute the cross-entropy, averaged over the slots of the answer.

        Args:
            outputs: Logits, `num_outputs` of them per problem.

        Raises:
            ValueError: If `outputs` is not of `(batch, num_outputs)`.
        """
        logits, wanted = self._slots(outputs, problems)
        return F.cross_entropy(logits.transpose(1, 2), wanted, reduction="none").mean(1)

    def score(
        self, outputs: Float[Tensor, "batch answer"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Compute the share of right answers; a tie, or not a number, is wrong.

        Raises:
            ValueError: As `loss`.
        """
        return correct(*self._slots(outputs, problems)).to(torch.float32).mean(1)

    def _slots(
        self, outputs: Tensor, problems: Problems
    ) -> tuple[Float[Tensor, "batch time answer"], Int64[Tensor, "batch time"]]:
        """Split logits and answers by slot."""
        check_outputs(outputs, problems, self.num_outputs)
        slots = self._rule.slots
        return outputs.reshape(len(outputs), slots, -1), problems.target.reshape(-1, slots)

    def chance(self, regime: str) -> float:
        """Return the share of right answers of the best constant answer."""
        shortest, longest = self._lengths(regime)
        if self.rule == "adding":
            return 1 / DIGITS
        if self.rule == "modulo-3":
            lengths = range(shortest, longest + 1)
            return max(
                sum(_count_is(answer, n) for n in lengths) / len(lengths)
                for answer in range(MODULUS)
            )
        return 1 / self._rule.answers

    def oracle(self, problems: Problems) -> Float[Tensor, "batch answer"]:
        """Answer by the rule, from the symbols."""
        symbols = symbols_of(problems.items[:])[problems.index]
        answer = torch.from_numpy(self._rule.answer(symbols.cpu().numpy()))
        logits = SURE * F.one_hot(answer, self._rule.answers).to(torch.float32)
        return logits.flatten(1).to(problems.index.device)


def symbols_of(items: Float[Tensor, "item symbol"]) -> Int64[Tensor, " item"]:
    """Return the number of each symbol, from 1 on; 0 for the blank."""
    return (items.argmax(1) + 1) * items.any(1)


def _count_is(answer: int, length: int) -> float:
    """Return the probability that fair bits have this sum modulo 3."""
    angle = math.pi * (length - 2 * answer) / MODULUS
    return (1 + 2 * 2.0**-length * math.cos(angle)) / MODULUS
