"""Identity rules (webb2021, after Marcus et al. 1999)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from farfield.core import Problems, Stream, check_fields
from farfield.tasks._protocol._draws import integers
from farfield.tasks._rules import _abstract_rules as rules
from farfield.tasks._rules._glyph_set import GlyphSet
from farfield.tasks._rules._patterns import kinds_of_two_rows, two_rows
from farfield.tasks._rules._rule_task import RuleTask

_RULES = ("ABA", "ABB", "AAA")


@final
@dataclass(frozen=True, kw_only=True)
class IdentityRules(RuleTask):
    """Which image continues the second row by the pattern of the first?

    **What is asked.** Nine images: a first row of the pattern ABA, ABB or AAA, the first two
    images of a second row of the same pattern over other images, and four choices. The answer is
    the place, 0 … 3, among the choices of the image that completes the second row.

    **Worked example.**

    ```text
      ┌───┐┌───┐┌───┐
      │ ♞ ││ Ω ││ ♞ │
      ├───┤├───┤├───┤      ┌───┐┌───┐┌───┐┌───┐
      │ ☺ ││ & ││ ? │      │ Ω ││ & ││ ♞ ││ ☺ │ → 3        (ABA)
      └───┘└───┘└───┘      └───┘└───┘└───┘└───┘
    ```

    **Regimes.** `training` shows N − m of the N images; `withheld-m` only the m others. A problem
    uses four images, which are also its choices: all four stand in the rows of ABA and ABB, two
    of them in those of AAA. There are n(n − 1)(n − 2)(n − 3) · 24 problems of ABA, as many of ABB
    and half as many of AAA. A set holds every problem, those of AAA twice, or `max_problems`
    without repetition, the pattern of each drawn uniformly. With m = 0 both sets use all images
    and share no problem.

    | | m = 0 | 50 | 85 | 95 |
    |---|---|---|---|---|
    | training | 10,000 | 10,000 | 10,000 | 8,640 |
    | test | 10,000 | 10,000 | 10,000 | 10,000 |

    **Score, floor and ceiling.** Share of right answers; 0.25 by guessing; 1 by comparing pixels.

    **Known shortcuts.** The answer is always an image of the second row: its first in ABA and AAA,
    its second in ABB and AAA. So choosing the first without a look at the first row gets two
    thirds right, and choosing what the first row lacks half of ABA and ABB and a third of AAA.

    **Source and deviations.** Webb, Sinha, Cohen 2021, section 2, A.2.4, Table 4. The text balances
    the patterns by uniform random sampling; the released code takes exactly a third of each:
    `thirds=True`. That the choices are a permutation of the four images of the problem is from the
    released code; the text says no more than that there are four.

    Args:
        withheld: Number of images that training never shows, m.
        max_problems: Largest number of problems of a set.
        shapes: The images; `None` for the built-in 100 glyphs.
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

    withheld: int = 0
    max_problems: rules.SetSize = 10_000
    shapes: GlyphSet | None = None
    thirds: bool = False
    training_problems: rules.SetSize | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        rules.check_shapes(self.withheld, self.shapes, 4)

    @property
    def length(self) -> int:
        """Number of images of a problem: five of the array, four to choose from."""
        return 9

    @property
    def num_outputs(self) -> int:
        """A logit for each choice."""
        return 4

    def draw(self, stream: Stream) -> dict[str, Problems]:
        """The sets of one run, by regime name.

        Args:
            stream: Stream of the run.
        """
        place = stream.child(self.name, f"v{self.version}")
        items = rules.table(self.shapes)
        pools = rules.split_shapes(place, len(items), self.withheld)
        kinds = {regime: kinds_of_two_rows(_RULES, len(pool)) for regime, pool in pools.items()}
        shared = self.withheld == 0
        counts = rules.balanced_counts(
            kinds, self.max_problems, shared=shared, training_problems=self.training_problems
        )
        if not self.thirds:
            counts = {
                regime: _drawn_counts(place.child(regime), kinds[regime], equal)
                for regime, equal in counts.items()
            }
        drawn = rules.draw_digits(place, kinds, counts, shared=shared)
        return {
            regime: rules.shuffled(place.child(regime), items, _columns(pools[regime], digits))
            for regime, digits in drawn.items()
        }

    def oracle(self, problems: Problems) -> Float[Tensor, "batch candidate"]:
        """The outputs of the rule, by the last image of the first row.

        Args:
            problems: Problems of any regime.
        """
        places = rules.seen(problems)
        as_second = places[:, 2] == places[:, 1]
        wanted = torch.where(as_second, places[:, 4], places[:, 3])
        return (places[:, 5:] == wanted[:, None]).to(problems.items.dtype)


def _drawn_counts(place: Stream, kinds: Sequence[rules.Kind], equal: list[int]) -> list[int]:
    """Number of problems of each pattern, equal where the set exhausts half its problems."""
    total = sum(equal)
    if 2 * total > len(kinds) * max(kind.size for kind in kinds):
        return equal
    patterns = integers(place.child("patterns").numpy(), len(kinds), total)
    return [int(count) for count in np.bincount(patterns, minlength=len(kinds))]


def _columns(pool: np.ndarray, digits: Sequence[rules.Digits]) -> list[rules.Columns]:
    """The two rows and the choices, as images of `pool`."""
    columns = []
    for rule, (pattern, kind) in enumerate(zip(_RULES, digits, strict=True)):
        choices, rows = two_rows(pattern, pool, kind)
        columns.append(
            {
                "index": np.concatenate([rows[:, 0], rows[:, 1, :2], choices], axis=1),
                "target": (choices == rows[:, 1, 2:]).argmax(axis=1),
                "rule": np.full(len(rows), rule),
                "rows": rows,
                "choices": choices,
            }
        )
    return columns
