"""Same/different discrimination (webb2021)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from jaxtyping import Float
from torch import Tensor

from farfield.core import Problems, Stream, check_fields
from farfield.tasks._protocol._answers import binary_outputs
from farfield.tasks._protocol._draws import arrangement, redrawn
from farfield.tasks._rules import _abstract_rules as rules
from farfield.tasks._rules._glyph_set import GlyphSet
from farfield.tasks._rules._rule_task import YesNoTask


@final
@dataclass(frozen=True, kw_only=True)
class SameDifferent(YesNoTask):
    """Are the two images the same?

    **What is asked.** Two images; the answer is 0 if they are the same and 1 if they differ.

    **Worked example.**

    ```text
      ┌───┐┌───┐            ┌───┐┌───┐
      │ ♞ ││ ♞ │ → 0        │ ♞ ││ Ω │ → 1
      └───┘└───┘            └───┘└───┘
    ```

    **Regimes.** `training` shows N − m of the N images; `withheld-m` only the m others. Ordered
    pairs; half the problems of a set are of either answer. All n(n − 1) different pairs of a
    regime's n images and as many same ones (drawn with replacement from the n there are) make a
    set, or `max_problems` of them. With m = 0 the pairs are split instead of the images: a
    twentieth of the different and of the same ones are kept for the test, and each set is balanced
    for itself; both sets together then hold at most 2 · `max_problems`.

    | | m = 0 | 50 | 85 | 95 | 98 |
    |---|---|---|---|---|---|
    | training | 18,810 | 4,900 | 420 | 40 | 4 |
    | test | 990 | 4,900 | 10,000 | 10,000 | 10,000 |

    **Score, floor and ceiling.** Share of right answers; 0.5 by guessing; 1 by comparing pixels.

    **Known shortcuts.** None in one image alone, but for m = 0, where an image whose "same" pair
    fell into the other set occurs in this one with the answer 1 only. A network can learn the few
    training pairs by heart at m ≥ 95: that is what the test is about.

    **Source and deviations.** Webb, Sinha, Cohen 2021, section 2, A.2.1, Table 1. The text answers
    by one sigmoid unit; the released code by two logits and a softmax: `softmax=True`. Where a set
    needs no more same pairs than there are (m = 98: two), each is used once, and a set that is cut
    to `max_problems` keeps equal numbers of both answers.

    Args:
        withheld: Number of images that training never shows, m.
        max_problems: Largest number of problems of a set.
        shapes: The images; `None` for the built-in 100 glyphs.
        softmax: Whether the answer is two logits rather than one (positive: different).

    Raises:
        ValueError: If fewer than two images stay on either side.

    Reference:
        webb2021, section 2 and A.2.1.

    Example:
        >>> from farfield.core import stream
        >>> task = SameDifferent(withheld=95, max_problems=100)
        >>> sets = task.draw(stream(0))
        >>> {name: len(problems) for name, problems in sets.items()}
        {'training': 40, 'withheld-95': 100}
        >>> task.chance("withheld-95")
        0.5
    """

    name: ClassVar[str] = "same-different"
    version: ClassVar[int] = 1

    withheld: int = 0
    max_problems: rules.SetSize = 10_000
    shapes: GlyphSet | None = None
    softmax: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
        rules.check_shapes(self.withheld, self.shapes, 2)

    @property
    def length(self) -> int:
        """Number of images of a problem: two."""
        return 2

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
        counts = (
            self._split_counts(kinds)
            if shared
            else rules.balanced_counts(kinds, self.max_problems, shared=False)
        )
        drawn = rules.draw_digits(place, kinds, counts, shared=shared, repeat=redrawn)
        return {
            regime: rules.shuffled(place.child(regime), items, _columns(pools[regime], digits))
            for regime, digits in drawn.items()
        }

    def _split_counts(self, kinds: dict[str, tuple[rules.Kind, ...]]) -> dict[str, list[int]]:
        """A twentieth of the different pairs for the test, and as many same ones in each set."""
        train, test = kinds
        total = min(kinds[train][1].size, self.max_problems)
        kept = max(1, total // 20)
        return {train: [total - kept] * 2, test: [kept] * 2}

    def oracle(self, problems: Problems) -> Float[Tensor, "batch candidate"]:
        """The outputs of the rule: compare the two images.

        Args:
            problems: Problems of any regime.
        """
        first, second = rules.seen(problems).unbind(dim=1)
        return binary_outputs(first != second, self.num_outputs)


def _kinds(images: int) -> tuple[rules.Kind, ...]:
    """Same pairs and different pairs, in the order of their targets."""
    return (
        rules.Kind(name="same", radices=(images,)),
        rules.Kind(name="different", radices=(images, images - 1)),
    )


def _columns(pool: np.ndarray, digits: Sequence[rules.Digits]) -> list[rules.Columns]:
    """The pairs of both kinds, as images of `pool`."""
    same, different = digits
    pairs = [np.repeat(pool[same], 2, axis=1), pool[arrangement(different)]]
    return [
        {
            "index": pair,
            "target": np.full(len(pair), relation),
            "relation": np.full(len(pair), relation),
            "shapes": pair,
        }
        for relation, pair in enumerate(pairs)
    ]
