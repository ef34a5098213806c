"""The 15 tasks of the Chomsky hierarchy: strings of symbols, answered symbol by symbol."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, final

import numpy as np

from farfield.core import Problems
from farfield.tasks._protocol._task import SYMBOL, Count, Form
from farfield.tasks._sequences._chomsky_rules import RULES
from farfield.tasks._sequences._ruled_sequences import Rows, Rule, RuledSequences


@final
@dataclass(frozen=True, kw_only=True)
class ChomskyHierarchy(RuledSequences):
    r"""What does a rule answer, symbol by symbol, to a string of symbols?

    **Task.** A string of symbols, then one mark for each symbol of the answer. The answer is read
    at the marks. The rule is one of 15, of growing demand on memory: *R* finite automata answer,
    *S* automata with a stack, *T* automata with a bounded tape.

    | | rule | symbols, numbered from 0 on | answer (positions) |
    |---|---|---|---|
    | R | `even-pairs` | 0 1 | whether the first symbol differs from the last (1) |
    | R | `modular-arithmetic` | 0 1 2 3 4 + − × | value modulo 5, × before + and − (1) |
    | R | `parity-check` | 0 1 | number of ones modulo 2 (1) |
    | R | `cycle-navigation` | back stay forward | position on a circle of five (1) |
    | S | `stack-manipulation` | 0 1 POP PUSH-0 PUSH-1 | stack from its top, end mark (n + 1) |
    | S | `reverse-string` | 0 1 | the string backwards (n) |
    | S | `modular-arithmetic-brackets` | 0 1 2 3 4 + − × ( ) | value modulo 5 (1) |
    | S | `solve-equation` | 0 1 2 3 4 + − ( ) x = | x, modulo 5 (1) |
    | T | `duplicate-string` | 0 1 | the string twice (2n) |
    | T | `missing-duplicate-string` | 0 1 missing filler | missing symbol of a string twice (1) |
    | T | `odds-first` | 0 1 | positions 1, 3, 5 …, then 0, 2, 4 … (n) |
    | T | `binary-addition` | 0 1 mark | sum, lowest bit first, end mark (n + 1) |
    | T | `binary-multiplication` | 0 1 mark | product, lowest bit first, end mark (n) |
    | T | `compute-sqrt` | 0 1 | root, rounded down, highest bit first (⌈n/2⌉) |
    | T | `bucket-sort` | 0 1 2 3 4 | the symbols in ascending order (n) |

    **Worked example** (? is a mark of an answer, P and U are POP and PUSH).

    ```text
      even-pairs                0 1 1 0 1 ?             → 1
      modular-arithmetic        2 + 3 × 4 ?             → 4
      parity-check              0 1 1 0 1 ?             → 1
      cycle-navigation          + + 0 - + ?             → 2
      stack-manipulation        1 0 P U1 ? ? ? ? ?      → 1 1 # · ·
      reverse-string            0 0 1 ? ? ?             → 1 0 0
      modular-arithmetic-…      ( 3 × - 2 ) ?           → 4
      solve-equation            ( 1 - x ) = 4 ?         → 2
      duplicate-string          0 0 1 ? ? ? ? ? ?       → 0 0 1 0 0 1
      missing-duplicate-string  0 1 2 1 ?               → 0
      odds-first                a b c d e ? ? ? ? ?     → b d a c e
      binary-addition           1 1 # 1 ? ? ? ? ?       → 0 0 1 # ·
      binary-multiplication     1 1 # 0 1 ? ? ? ? ?     → 0 1 1 # ·
      compute-sqrt              1 1 0 1 0 ? ? ?         → 1 0 1
      bucket-sort               3 0 4 0 ? ? ? ?         → 0 0 3 4
    ```

    **Regimes.** In `training` and, with new strings, in `validation` the length n is uniform from
    the shortest to the longest of `training_lengths`. Every test has a range of lengths: 41 to 500
    in `length-41-500`, the test of the paper, and 10,000 in `length-10000`. Its distance is
    its mean length less the longest of training. No string is kept from a test: to meet a long one
    twice is as likely as chance has it. Symbols are uniform and independent; the other draws are:
    a stack has a first height of 1 to n − 1; brackets split an expression anywhere, and two numbers
    a string; of an equation, any digit is x.

    **Score, floor and ceiling.** Share of right answer positions of a string, averaged over
    strings, so over lengths. Positions behind an end mark do not count (·), nor do all that are no
    answers. A layer *reaches the level* of a rule with at least 90 % in `length-41-500`. The floor
    is the best answer that knows the length but no symbol, at each position the most frequent: for
    `even-pairs`, `parity-check` and all strings of bits 1/2. The ceiling is 1.

    **Known shortcuts.** `even-pairs` asks for no count: two symbols decide. Long strings that are
    sorted have nearly the same symbol at the same position: in `bucket-sort` the floor is 90 % in
    `length-41-500` and 99 % at 10,000, so 90 % are no achievement there.

    **Source and deviations.** Delétang et al., ICLR 2023; answers equal those of the released code,
    from which are: positions 1, 3, 5 … come first in `odds-first`; `modular-arithmetic` has one
    symbol less at an even length; equations below three symbols have the answer 0. Strings
    of a batch differ in length and have blanks at their end, behind the answers; there, all
    strings of a batch have one length. Training goes through a fixed set in shuffled epochs; there,
    every step draws new strings.

    Args:
        rule: Name of the rule.
        training_lengths: Shortest and longest string of training.
        test_lengths: Shortest and longest string of each test, ascending, longer than training.
        training_strings: Number of training strings.
        validation_strings: Number of strings that models may be chosen on.
        test_strings: Number of strings of each test.

    Raises:
        ValueError: If a number is out of range, or lengths are not ascending.

    Reference:
        Delétang et al. 2023.
    """

    name: ClassVar[str] = "chomsky-hierarchy"
    version: ClassVar[int] = 1
    form: ClassVar[Form] = Form(axes=SYMBOL, arrangement="sequence", answer="everywhere")

    rule: Literal[
        "even-pairs",
        "modular-arithmetic",
        "parity-check",
        "cycle-navigation",
        "stack-manipulation",
        "reverse-string",
        "modular-arithmetic-brackets",
        "solve-equation",
        "duplicate-string",
        "missing-duplicate-string",
        "odds-first",
        "binary-addition",
        "binary-multiplication",
        "compute-sqrt",
        "bucket-sort",
    ] = "parity-check"
    training_lengths: tuple[Count, Count] = (1, 40)
    test_lengths: tuple[tuple[Count, Count], ...] = ((41, 500), (10_000, 10_000))
    training_strings: Count = 50_000
    validation_strings: Count = 1_000
    test_strings: tuple[Count, ...] = (512, 16)

    @property
    def rule_of(self) -> tuple[str, Rule]:
        """Name of the rule, and the rule."""
        return self.rule, RULES[self.rule]

    def ask(self, strings: Rows) -> Problems:
        """Build problems from strings of one length, with the answers of the rule.

        Args:
            strings: Numbers of the symbols, from 0 on, in the order of the table above.

        Raises:
            ValueError: If a number is none of a symbol, or a string is none of the rule, e.g. no
                expression.

        Example:
            >>> task = ChomskyHierarchy(rule="reverse-string")
            >>> task.ask(np.array([[0, 0, 1]])).target
            tensor([[-1, -1, -1,  1,  0,  0]])
        """
        symbols, most = np.asarray(strings), self._rule.symbols - 1
        rule = f"strings must be integers (batch, time) from 0 to {most}, got "
        if symbols.ndim != 2 or symbols.dtype.kind not in "iu" or not symbols.size:
            raise ValueError(f"{rule}{symbols.dtype} {symbols.shape}")
        if symbols.min() < 0 or symbols.max() > most:
            raise ValueError(f"{rule}{symbols.min()} to {symbols.max()}")
        shown, wanted = self._with_answers(symbols.astype(np.int64))
        return self._problems(shown, wanted, np.full(len(symbols), symbols.shape[1]))
