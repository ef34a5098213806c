"""Distribution-of-three (webb2021)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from jaxtyping import Float
from torch import Tensor

from farfield.core import Problems, Stream, check_fields
from farfield.tasks._protocol._draws import arrangement, integers
from farfield.tasks._rules import _abstract_rules as rules
from farfield.tasks._rules._glyph_set import GlyphSet
from farfield.tasks._rules._rule_task import RuleTask


@final
@dataclass(frozen=True, kw_only=True)
class DistributionOfThree(RuleTask):
    """Which image completes the second row, so that both rows hold the same three?

    **What is asked.** Nine images: the first row of three, the first two of the second row, and
    four choices. Both rows hold the same three images in an order of their own. The answer is the
    place, 0 … 3, of the missing one among the choices.

    **Worked example.**

    ```text
      ┌───┐┌───┐┌───┐
      │ ♞ ││ Ω ││ ☺ │
      ├───┤├───┤├───┤      ┌───┐┌───┐┌───┐┌───┐
      │ Ω ││ ☺ ││ ? │      │ Ω ││ ♞ ││ & ││ ☺ │ → 1
      └───┘└───┘└───┘      └───┘└───┘└───┘└───┘
    ```

    **Regimes.** `training` shows N − m of the N images; `withheld-m` only the m others. A set
    holds every array (three images of n, two orders: n(n − 1)(n − 2) · 6) or `max_problems` of
    them, none twice. With m = 0 both sets use all images and share no array. The choices are the
    three images and a fourth of the same regime, drawn once for each array, in random order.

    | | m = 0 | 50 | 85 | 95 |
    |---|---|---|---|---|
    | training | 10,000 | 10,000 | 10,000 | 360 |
    | test | 10,000 | 10,000 | 10,000 | 10,000 |

    **Score, floor and ceiling.** Share of right answers; 0.25 by guessing; 1 by comparing pixels.

    **Known shortcuts.** The first row alone rules out the fourth image, and gets a third right;
    the second row alone leaves two choices, a half. The choice that was seen once in the
    five images of the array is the answer: counting is enough, rows need not be distinguished.

    **Source and deviations.** Webb, Sinha, Cohen 2021, section 2, A.2.3, Table 3. The text samples
    problems at random and does not say whether one may come twice; here, as in the released code,
    no array does.

    Args:
        withheld: Number of images that training never shows, m.
        max_problems: Largest number of problems of a set.
        shapes: The images; `None` for the built-in 100 glyphs.
        training_problems: Number of training problems; `None` for as many as `max_problems`
            allows. Where there are fewer arrays, they come again with other choices.

    Raises:
        ValueError: If fewer than four images stay on either side.

    Reference:
        webb2021, section 2 and A.2.3.
    """

    name: ClassVar[str] = "distribution-of-three"
    version: ClassVar[int] = 1

    withheld: int = 0
    max_problems: rules.SetSize = 10_000
    shapes: GlyphSet | None = None
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
        kinds = {regime: _kinds(len(pool)) for regime, pool in pools.items()}
        shared = self.withheld == 0
        counts = rules.balanced_counts(
            kinds, self.max_problems, shared=shared, training_problems=self.training_problems
        )
        drawn = rules.draw_digits(place, kinds, counts, shared=shared)
        return {
            regime: rules.shuffled(
                place.child(regime), items, [_columns(place.child(regime), pools[regime], digits)]
            )
            for regime, (digits,) in drawn.items()
        }

    def oracle(self, problems: Problems) -> Float[Tensor, "batch candidate"]:
        """The outputs of the rule: what the first row holds and the second still lacks.

        Args:
            problems: Problems of any regime.
        """
        places = rules.seen(problems)
        choices = places[:, 5:, None]
        first_row = (choices == places[:, None, :3]).any(dim=2)
        second_row = (choices == places[:, None, 3:5]).any(dim=2)
        return (first_row & ~second_row).to(problems.items.dtype)


def _kinds(images: int) -> tuple[rules.Kind, ...]:
    """One kind: three images in the order of the first row, then the order of the second row."""
    return (rules.Kind(name="array", radices=(images, images - 1, images - 2, 3, 2, 1)),)


def _columns(place: Stream, pool: np.ndarray, digits: rules.Digits) -> rules.Columns:
    """The two rows and the choices, as images of `pool`; fourth image and order are drawn here."""
    choices_at = place.child("choices").numpy()
    count = len(digits)
    fourth = integers(choices_at, len(pool) - 3, count)
    four = pool[arrangement(np.concatenate([digits[:, :3], fourth[:, None]], axis=1))]
    first_row = four[:, :3]
    second_row = np.take_along_axis(first_row, arrangement(digits[:, 3:]), axis=1)
    order = arrangement(np.stack([integers(choices_at, left, count) for left in (4, 3, 2, 1)], 1))
    choices = np.take_along_axis(four, order, axis=1)
    return {
        "index": np.concatenate([first_row, second_row[:, :2], choices], axis=1),
        "target": (choices == second_row[:, 2:]).argmax(axis=1),
        "rows": np.stack([first_row, second_row], axis=1),
        "choices": choices,
    }
