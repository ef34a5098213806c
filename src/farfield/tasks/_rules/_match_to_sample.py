"""Relational match-to-sample (webb2021): pairs, and triples."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, final

import einops
import numpy as np
from jaxtyping import Int64

from farfield.core import Stream
from farfield.tasks._protocol._answers import binary_outputs
from farfield.tasks._protocol._draws import arrangement
from farfield.tasks._rules import _abstract_rules as rules
from farfield.tasks._rules._abstract_rules import (
    PATTERNS,
    NumberedTask,
    YesNo,
    num_letters,
    spelled,
)


@final
@dataclass(frozen=True, kw_only=True)
class RelationalMatchToSample(YesNo, NumberedTask):
    """Which of two pairs has the same relation as the source pair?

    **Task.** Six images: a source pair and two target pairs, one of two equal and one of two
    different images. The answer is the pair, 0 or 1, that is like the source in this. No image is
    in two pairs.

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

    **Known shortcuts.** None in one image or one pair: relation of the source and position of the
    answer are independent. The two target pairs always differ in kind, so that one of them and the
    source suffice.

    **Source and deviations.** Webb, Sinha, Cohen 2021, section 2, A.2.2, Table 2. The text answers
    by one sigmoid unit; the released code by two logits and a softmax: `softmax=True`. The text
    needs five images on either side and gives no rule for other small numbers of images than
    five: there, each problem of the rarer kind is repeated equally often.

    Raises:
        ValueError: If fewer than five images stay on either side.

    Reference:
        webb2021, section 2 and A.2.2; contexts of three pairs: section 3.1.
    """

    name: ClassVar[str] = "relational-match-to-sample"
    version: ClassVar[int] = 1

    @property
    def _fewest(self) -> int:
        return 5

    @property
    def length(self) -> int:
        """Number of images of a problem: three pairs."""
        return 6

    @property
    def segments(self) -> tuple[tuple[int, ...], ...]:
        """Contexts of the three pairs."""
        return ((0, 1), (2, 3), (4, 5))

    def _kinds(self, images: int) -> tuple[rules.Kind, ...]:
        """List kinds by the relation in the source pair: different images, then the answer."""
        return (
            rules.Kind(name="same", radices=(*range(images, images - 4, -1), 2)),
            rules.Kind(name="different", radices=(*range(images, images - 5, -1), 2)),
        )

    def _columns(
        self, branch: Stream, pool: np.ndarray, digits: Sequence[rules.Digits]
    ) -> list[rules.Columns]:
        del branch
        same, different = (pool[arrangement(kind[:, :-1])] for kind in digits)
        pairs = (
            np.stack([same[:, [0, 0]], same[:, [1, 1]], same[:, [2, 3]]], axis=1),
            np.stack([different[:, [0, 1]], different[:, [2, 3]], different[:, [4, 4]]], axis=1),
        )
        return [
            {
                **_matched(own, kind[:, -1]),
                "relation": np.full(len(own), relation),
                "pairs": own,
            }
            for relation, (own, kind) in enumerate(zip(pairs, digits, strict=True))
        ]

    def _answers(self, likeness: rules.Likeness) -> rules.Outputs:
        """Compare the images of each pair; one of the target pairs is more alike than the other."""
        source, first, second = (likeness[:, start, start + 1] for start in (0, 2, 4))
        is_same = 2 * source > first + second
        return binary_outputs(is_same == (second > first), self.num_outputs)


_OF_TWO_IMAGES: Final = ("AAB", "ABA", "ABB")


@final
@dataclass(frozen=True, kw_only=True)
class TripleMatchToSample(YesNo, NumberedTask):
    """Which of two triples has the pattern of the source triple?

    **Task.** Nine images: a source triple of the pattern AAB, ABA or ABB and two target triples,
    one of the same pattern and one of another. The answer is the triple, 0 or 1, that has the
    pattern of the source. No image is in two triples.

    **Worked example.**

    ```text
           source  ┌───┐┌───┐┌───┐
                   │ ♞ ││ Ω ││ ♞ │                          (ABA)
                   └───┘└───┘└───┘
      ┌───┐┌───┐┌───┐       ┌───┐┌───┐┌───┐
      │ ☺ ││ & ││ & │       │ Я ││ ∞ ││ Я │ → 1
      └───┘└───┘└───┘       └───┘└───┘└───┘
    ```

    **Regimes.** `training` shows N − m of the N images; `withheld-m` only the m others. Each pair
    of different patterns, one of the source and one of the other triple, has an equal part of a
    set; the position of the answer is independent of both. A set holds every problem (six images in
    order, the patterns, the position), or `max_problems` without repetition. With m = 0 both sets
    use all images and share no problem.

    | | m = 0 | 50 | 85 | 94 |
    |---|---|---|---|---|
    | training | 10,000 | 10,000 | 10,000 | 8,640 |
    | test | 10,000 | 10,000 | 10,000 | 10,000 |

    With `all_patterns` AAA and ABC take part: twenty combinations, of up to eight images; a
    combination that has fewer problems than the others is repeated.

    **Score, floor and ceiling.** Share of right answers; 0.5 by guessing; 1 by comparing pixels.

    **Known shortcuts.** None in one image, in the source alone or in the targets alone, and none
    in the number of different images: every triple has two. Comparing the same two positions in
    every triple separates two of the three patterns from the third: 5/6 right. With `all_patterns`
    the number of different images (the visual entropy that baboons go by, Fagot et al. 2001) gets
    0.85 right; AAA and ABC have no pattern beside them that has as many.

    **Source and deviations.** After relational match-to-sample (Webb, Sinha, Cohen 2021, section 2
    and A.2.2): with pairs the two relations differ in their number of images, with these triples
    they do not. The answer is one sigmoid unit, or two logits and a softmax: `softmax=True`.

    Args:
        all_patterns: Whether AAA and ABC take part.

    Raises:
        ValueError: If fewer than six images stay on either side, or eight with `all_patterns`.

    Reference:
        webb2021, section 2 and A.2.2; contexts of three pairs: section 3.1.
    """

    name: ClassVar[str] = "triple-match-to-sample"
    version: ClassVar[int] = 1

    all_patterns: bool = False

    @property
    def _fewest(self) -> int:
        return max(map(_num_images, self._relations))

    @property
    def _relations(self) -> tuple[tuple[str, str], ...]:
        """Pattern of the source and of the triple that does not match, in every combination."""
        patterns = tuple(PATTERNS) if self.all_patterns else _OF_TWO_IMAGES
        return tuple(itertools.permutations(patterns, 2))

    @property
    def length(self) -> int:
        """Number of images of a problem: three triples."""
        return 9

    @property
    def segments(self) -> tuple[tuple[int, ...], ...]:
        """Contexts of the three triples."""
        return ((0, 1, 2), (3, 4, 5), (6, 7, 8))

    def _kinds(self, images: int) -> tuple[rules.Kind, ...]:
        """List kinds by the two patterns: different images in order, then the answer."""
        return tuple(
            rules.Kind(
                name="-".join(relation),
                radices=(*range(images, images - _num_images(relation), -1), 2),
            )
            for relation in self._relations
        )

    def _columns(
        self, branch: Stream, pool: np.ndarray, digits: Sequence[rules.Digits]
    ) -> list[rules.Columns]:
        del branch
        return [
            _triples(relation, pool, kind)
            for relation, kind in zip(self._relations, digits, strict=True)
        ]

    def _answers(self, likeness: rules.Likeness) -> rules.Outputs:
        """Compare the positions of each triple, then the source with both triples."""
        triples = [likeness[:, start : start + 3, start : start + 3] for start in (0, 3, 6)]
        first, second = ((triples[0] - one).square().sum((1, 2)) for one in triples[1:])
        return binary_outputs(second < first, self.num_outputs)


def _num_images(relation: tuple[str, str]) -> int:
    """Count the different images of a problem: source, matching triple and the other."""
    source, other = relation
    return 2 * num_letters(source) + num_letters(other)


def _triples(relation: tuple[str, str], pool: np.ndarray, digits: rules.Digits) -> rules.Columns:
    """Make source, first and second triple, as images of `pool`."""
    source, other = relation
    images, answer = pool[arrangement(digits[:, :-1])], digits[:, -1]
    letters = np.split(images, [num_letters(source), 2 * num_letters(source)], axis=1)
    triples = np.stack(
        [spelled(name, own) for name, own in zip((source, source, other), letters, strict=True)],
        axis=1,
    )
    numbers = list(PATTERNS)
    return {
        **_matched(triples, answer),
        "relation": np.full(len(triples), numbers.index(source)),
        "other": np.full(len(triples), numbers.index(other)),
        "triples": triples,
    }


def _matched(
    groups: Int64[np.ndarray, "batch group slot"], answer: Int64[np.ndarray, " batch"]
) -> rules.Columns:
    """Put a source, a target that matches it and another in the order of the answer."""
    targets = np.where(answer[:, None, None] == 0, groups[:, 1:], groups[:, :0:-1])
    groups = np.concatenate([groups[:, :1], targets], axis=1)
    index = einops.rearrange(groups, "batch group slot -> batch (group slot)")
    return {"index": index, "target": answer}
