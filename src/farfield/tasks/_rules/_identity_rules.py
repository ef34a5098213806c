"""Identity rules (webb2021, after Marcus et al. 1999): the last or the middle image is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, final

import einops
import numpy as np
import torch
from jaxtyping import Int64

from farfield.core import Stream
from farfield.tasks._protocol._draws import arrangement, integers
from farfield.tasks._rules import _abstract_rules as rules
from farfield.tasks._rules._abstract_rules import FourChoices, NumberedTask


class _TwoRows(FourChoices, NumberedTask):
    """Base of tasks with two rows of one pattern over other images; the second lacks an image."""

    _patterns: ClassVar[tuple[str, ...]]
    """Patterns of one or two letters."""
    _missing: ClassVar[int]
    """Position of the missing image in the second row."""

    @property
    def _fewest(self) -> int:
        return 4

    @property
    def length(self) -> int:
        """Number of images of a problem: five of the array, four to choose from."""
        return 9

    def _kinds(self, images: int) -> tuple[rules.Kind, ...]:
        """List kinds by pattern: four different choices in order, then the letters of both rows."""
        choices = tuple(range(images, images - 4, -1))
        return tuple(
            rules.Kind(
                name=name, radices=(*choices, *range(4, 4 - 2 * rules.num_letters(name), -1))
            )
            for name in self._patterns
        )

    def _columns(
        self, branch: Stream, pool: np.ndarray, digits: Sequence[rules.Digits]
    ) -> list[rules.Columns]:
        del branch
        columns = []
        for rule, (pattern, kind) in enumerate(zip(self._patterns, digits, strict=True)):
            choices, rows = _two_rows(pattern, pool, kind)
            known = np.delete(rows[:, 1], self._missing, axis=1)
            columns.append(
                {
                    "index": np.concatenate([rows[:, 0], known, choices], axis=1),
                    "target": (choices == rows[:, 1, self._missing, None]).argmax(axis=1),
                    "rule": np.full(len(rows), rule),
                    "rows": rows,
                    "choices": choices,
                }
            )
        return columns


def _two_rows(
    pattern: str, pool: np.ndarray, digits: rules.Digits
) -> tuple[Int64[np.ndarray, "batch candidate"], Int64[np.ndarray, "batch row time"]]:
    """Return choices and both rows of numbered problems, as images of `pool`.

    Args:
        pattern: Name of the pattern of both rows.
        pool: The images.
        digits: Problems of a kind.
    """
    choices = pool[arrangement(digits[:, :4])]
    letters = np.take_along_axis(choices, arrangement(digits[:, 4:]), axis=1)
    of_row = einops.rearrange(letters, "batch (row letter) -> row batch letter", row=2)
    return choices, np.stack([rules.spelled(pattern, row) for row in of_row], axis=1)


@final
@dataclass(frozen=True, kw_only=True)
class IdentityRules(_TwoRows):
    """Which image continues the second row by the pattern of the first?

    **Task.** Nine images: a first row of the pattern ABA, ABB or AAA, the first two images of a
    second row of the same pattern over other images, and four choices. The answer is the position,
    0 … 3, among the choices of the image that completes the second row.

    **Worked example.**

    ```text
      ┌───┐┌───┐┌───┐
      │ ♞ ││ Ω ││ ♞ │
      ├───┤├───┤├───┤      ┌───┐┌───┐┌───┐┌───┐
      │ ☺ ││ & ││ ? │      │ Ω ││ & ││ ♞ ││ ☺ │ → 3        (ABA)
      └───┘└───┘└───┘      └───┘└───┘└───┘└───┘
    ```

    **Regimes.** `training` shows N − m of the N images; `withheld-m` only the m others. A problem
    uses four images, which are also its choices: all four occur in the rows of ABA and ABB, two of
    them in those of AAA. There are n(n − 1)(n − 2)(n − 3) · 24 problems of ABA, as many of ABB and
    half as many of AAA. A set holds every problem, those of AAA twice, or `max_problems` without
    repetition, the pattern of each drawn uniformly. With m = 0 both sets use all images and share
    no problem.

    | | m = 0 | 50 | 85 | 95 |
    |---|---|---|---|---|
    | training | 10,000 | 10,000 | 10,000 | 8,640 |
    | test | 10,000 | 10,000 | 10,000 | 10,000 |

    **Score, floor and ceiling.** Share of right answers; 0.25 by guessing; 1 by comparing pixels.

    **Known shortcuts.** The answer is always an image of the second row: its first in ABA and AAA,
    its second in ABB and AAA. So choosing the first without a look at the first row gets two
    thirds right, and choosing an image that the first row lacks half of ABA and ABB and a third of
    AAA.

    **Source and deviations.** Webb, Sinha, Cohen 2021, section 2, A.2.4, Table 4. The text balances
    the patterns by uniform random sampling; the released code takes exactly a third of each:
    `thirds=True`. That the choices are a permutation of the four images of the problem is from the
    released code; the text says no more than that there are four.

    Args:
        thirds: Whether each pattern has exactly a third of a set.
        training_problems: Number of training problems; `None` for as many as `max_problems`
            allows. Where there are fewer, they come again.

    Raises:
        ValueError: If fewer than four images stay on either side.

    Reference:
        webb2021, section 2 and A.2.4.
    """

    name: ClassVar[str] = "identity-rules"
    version: ClassVar[int] = 1
    _patterns: ClassVar[tuple[str, ...]] = ("ABA", "ABB", "AAA")
    _missing: ClassVar[int] = 2

    thirds: bool = False
    training_problems: rules.SetSize | None = None

    def _counts(
        self, branch: Stream, kinds: Mapping[str, Sequence[rules.Kind]], most: int, *, shared: bool
    ) -> dict[str, list[int]]:
        counts = rules.balanced_counts(
            kinds,
            most,
            shared=shared,
            training_problems=self.training_problems,
        )
        if self.thirds:
            return counts
        return {
            regime: _drawn_counts(branch.child(regime), kinds[regime], equal)
            for regime, equal in counts.items()
        }

    def _answers(self, likeness: rules.Likeness) -> rules.Outputs:
        """Compare the last image of the first row with both before it."""
        as_second = likeness[:, 2, 1] > likeness[:, 2, 0]
        return torch.where(as_second[:, None], likeness[:, 5:, 4], likeness[:, 5:, 3])


def _drawn_counts(branch: Stream, kinds: Sequence[rules.Kind], equal: list[int]) -> list[int]:
    """Draw the number of problems of each pattern; equal if the set exhausts half its problems."""
    total = sum(equal)
    if 2 * total > len(kinds) * max(kind.size for kind in kinds):
        return equal
    patterns = integers(branch.child("patterns").numpy(), len(kinds), total)
    return [int(count) for count in np.bincount(patterns, minlength=len(kinds))]


@final
@dataclass(frozen=True, kw_only=True)
class IdentityRulesMiddle(_TwoRows):
    """Which image is the middle of the second row, by the pattern of the first?

    **Task.** Nine images: a first row of the pattern ABA, AAA, ABB or AAB, the first and the last
    image of a second row of the same pattern over other images, and four choices. The answer is the
    position, 0 … 3, among the choices of the image between the two.

    **Worked example.**

    ```text
      ┌───┐┌───┐┌───┐
      │ ♞ ││ Ω ││ Ω │
      ├───┤├───┤├───┤      ┌───┐┌───┐┌───┐┌───┐
      │ ☺ ││ ? ││ & │      │ Ω ││ & ││ ♞ ││ ☺ │ → 1        (ABB)
      └───┘└───┘└───┘      └───┘└───┘└───┘└───┘

      ┌───┐┌───┐┌───┐
      │ ♞ ││ Ω ││ ♞ │
      ├───┤├───┤├───┤      ┌───┐┌───┐┌───┐┌───┐
      │ ☺ ││ ? ││ ☺ │      │ Ω ││ & ││ ♞ ││ ☺ │ → 1        (ABA)
      └───┘└───┘└───┘      └───┘└───┘└───┘└───┘
    ```

    In ABA the missing image is new: the second row is over other images than the first, and of the
    four choices only one is in neither.

    **Regimes.** `training` shows N − m of the N images; `withheld-m` only the m others. A problem
    uses four images, which are also its choices: all four occur in the completed rows of ABA, ABB
    and AAB, two of them in those of AAA. Each pattern has a quarter of a set. A set holds every
    problem, those of AAA twice as often, or `max_problems`, of which only those of AAA are repeated
    where there are too few. With m = 0 both sets use all images and share no problem.

    | | m = 0 | 50 | 85 | 95 | 96 |
    |---|---|---|---|---|---|
    | training | 10,000 | 10,000 | 10,000 | 10,000 | 2,304 |
    | test | 10,000 | 10,000 | 10,000 | 10,000 | 10,000 |

    **Score, floor and ceiling.** Share of right answers; 0.25 by guessing; 1 by comparing pixels.

    **Known shortcuts.** None without the first row beyond a half: two equal images of the second
    row mean ABA as often as AAA, two different images ABB as often as AAB, so that choosing the
    first of the second row, or the last, gets half right. ABA and AAA differ in the number of
    images of the first row too: in whether one or two choices are in no row.

    **Source and deviations.** After identity rules (Webb, Sinha, Cohen 2021, section 2 and A.2.4),
    whose choices it has. AAB is new here: without it the ends of the second row would give ABB
    away. Each pattern has exactly its share, as in the released code.

    Raises:
        ValueError: If fewer than four images stay on either side.

    Reference:
        webb2021, section 2 and A.2.4.
    """

    name: ClassVar[str] = "identity-rules-middle"
    version: ClassVar[int] = 1
    _patterns: ClassVar[tuple[str, ...]] = ("ABA", "AAA", "ABB", "AAB")
    _missing: ClassVar[int] = 1

    def _answers(self, likeness: rules.Likeness) -> rules.Outputs:
        """Find the pattern that fits both rows, then the choice that it asks for."""
        choices = likeness[:, 5:, :5]
        first, last = choices[:, :, 3], choices[:, :, 4]
        wanted = torch.stack([1 - choices.amax(dim=2), (first + last) / 2, last, first], dim=1)
        pairs = [(0, 1), (1, 2), (0, 2), (3, 4)]
        alike = torch.stack([likeness[:, one, other] for one, other in pairs], dim=1)
        fit = (alike - rules.ALIKE) @ alike.new_tensor(_SIGNS).T
        return wanted[torch.arange(len(fit), device=fit.device), fit.argmax(dim=1)]


_SIGNS: Final = ((-1, -1, 1, 1), (1, 1, 1, 1), (-1, 1, -1, -1), (1, -1, -1, -1))
"""Signs of the patterns of `IdentityRulesMiddle`: 1 for equal images, −1 for others.

First and middle, middle and last, first and last image of the first row; both ends of the second
row.
"""
