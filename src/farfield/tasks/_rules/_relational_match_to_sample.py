"""Relational match-to-sample (webb2021)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from jaxtyping import Float
from torch import Tensor

from farfield.core import Problems, Stream, check_fields
from farfield.tasks._protocol._answers import binary_outputs
from farfield.tasks._protocol._draws import arrangement
from farfield.tasks._rules import _abstract_rules as rules
from farfield.tasks._rules._glyph_set import GlyphSet
from farfield.tasks._rules._rule_task import YesNoTask


@final
@dataclass(frozen=True, kw_only=True)
class RelationalMatchToSample(YesNoTask):
    """Which of two pairs stands in the same relation as the source pair?

    **What is asked.** Six images: a source pair and two target pairs, one of two equal and one of
    two different images. The answer is the pair, 0 or 1, that is like the source in this. No image
    stands in two pairs.

    **Worked example.**

    ```text
      source   ┌───┐┌───┐                 source   ┌───┐┌───┐
               │ ♞ ││ ♞ │                          │ ♞ ││ Ω │
               └───┘└───┘                          └───┘└───┘
      ┌───┐┌───┐    ┌───┐┌───┐            ┌───┐┌───┐    ┌───┐┌───┐
      │ ☺ ││ & │    │ Я ││ Я │ → 1        │ ☺ ││ & │    │ Я ││ Я │ → 0
      └───┘└───┘    └───┘└───┘            └───┘└───┘    └───┘└───┘
    ```

    **Regimes.** `training` shows N − m of the N images; `withheld-m` only the m others. Half the
    problems of a set have a "same" source (four images), half a "different" one (five); a set
    holds every problem, the rarer kind repeated, or `max_problems` without repetition. With m = 0
    both sets use all images and share no problem.

    | | m = 0 | 50 | 85 | 95 |
    |---|---|---|---|---|
    | training | 10,000 | 10,000 | 10,000 | 480 |
    | test | 10,000 | 10,000 | 10,000 | 10,000 |

    **Score, floor and ceiling.** Share of right answers; 0.5 by guessing; 1 by comparing pixels.

    **Known shortcuts.** None in one image or one pair: relation of the source and place of the
    answer are independent. The two target pairs always differ in kind, so that one of them and
    the source suffice.

    **Source and deviations.** Webb, Sinha, Cohen 2021, section 2, A.2.2, Table 2. The text answers
    by one sigmoid unit; the released code by two logits and a softmax: `softmax=True`. The text
    needs five images on either side and gives no rule for other small numbers of images than
    five: there, each problem of the rarer kind is repeated equally often.

    Args:
        withheld: Number of images that training never shows, m.
        max_problems: Largest number of problems of a set.
        shapes: The images; `None` for the built-in 100 glyphs.
        softmax: Whether the answer is two logits rather than one (positive: the second pair).

    Raises:
        ValueError: If fewer than five images stay on either side.

    Reference:
        webb2021, section 2 and A.2.2; contexts of three pairs: section 3.1.
    """

    name: ClassVar[str] = "relational-match-to-sample"
    version: ClassVar[int] = 1

    withheld: int = 0
    max_problems: rules.SetSize = 10_000
    shapes: GlyphSet | None = None
    softmax: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
        rules.check_shapes(self.withheld, self.shapes, 5)

    @property
    def length(self) -> int:
        """Number of images of a problem: three pairs."""
        return 6

    @property
    def segments(self) -> tuple[tuple[int, ...], ...]:
        """A context for each pair."""
        return ((0, 1), (2, 3), (4, 5))

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
        counts = rules.balanced_counts(kinds, self.max_problems, shared=shared)
        drawn = rules.draw_digits(place, kinds, counts, shared=shared)
        return {
            regime: rules.shuffled(place.child(regime), items, _columns(pools[regime], digits))
            for regime, digits in drawn.items()
        }

    def oracle(self, problems: Problems) -> Float[Tensor, "batch candidate"]:
        """The outputs of the rule: compare within the source and within the second pair.

        Args:
            problems: Problems of any regime.
        """
        places = rules.seen(problems)
        differs = places[:, 0::2] != places[:, 1::2]
        return binary_outputs(differs[:, 0] == differs[:, 2], self.num_outputs)


def _kinds(images: int) -> tuple[rules.Kind, ...]:
    """Problems by the relation in the source pair: distinct images in order, then the answer."""
    return (
        rules.Kind(name="same", radices=(*range(images, images - 4, -1), 2)),
        rules.Kind(name="different", radices=(*range(images, images - 5, -1), 2)),
    )


def _columns(pool: np.ndarray, digits: Sequence[rules.Digits]) -> list[rules.Columns]:
    """Source, first and second pair, as images of `pool`."""
    same, different = (pool[arrangement(kind[:, :-1])] for kind in digits)
    trios = [
        np.stack([same[:, [0, 0]], same[:, [1, 1]], same[:, [2, 3]]], axis=1),
        np.stack([different[:, [0, 1]], different[:, [2, 3]], different[:, [4, 4]]], axis=1),
    ]
    columns = []
    for relation, (pairs, kind) in enumerate(zip(trios, digits, strict=True)):
        answer = kind[:, -1]
        swapped = np.where(answer[:, None, None] == 0, pairs[:, 1:], pairs[:, :0:-1])
        columns.append(
            {
                "index": np.concatenate([pairs[:, 0], swapped.reshape(-1, 4)], axis=1),
                "target": answer,
                "relation": np.full(len(pairs), relation),
                "pairs": pairs,
            }
        )
    return columns
