"""Same or different: two images (webb2021), two images with a tint, and k images."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, final

import numpy as np
import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from farfield.core import Problems, Stream
from farfield.core.internal import check_fields
from farfield.tasks._protocol._answers import binary_outputs
from farfield.tasks._protocol._draws import arrangement
from farfield.tasks._protocol._task import TRAINING, Regime, check_number, regimes_at
from farfield.tasks._rules import _abstract_rules as rules
from farfield.tasks._rules._abstract_rules import NumberedTask, RuleTask, YesNo


class _TwoImages(YesNo, RuleTask):
    """Base of tasks that ask whether two images differ."""

    @property
    def _fewest(self) -> int:
        return 2

    @property
    def length(self) -> int:
        """Number of images of a problem: two."""
        return 2

    def _answers(self, likeness: rules.Likeness) -> rules.Outputs:
        """Compare the two images."""
        return binary_outputs(likeness[:, 0, 1] < rules.ALIKE, self.num_outputs)


@final
@dataclass(frozen=True, kw_only=True)
class SameDifferent(_TwoImages, NumberedTask):
    """Are the two images the same?

    **Task.** Two images; the answer is 0 if they are the same and 1 if they differ.

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

    **Known shortcuts.** None in one image alone, except at m = 0, where an image whose "same" pair
    fell into the other set occurs in this one with the answer 1 only. A network can learn the few
    training pairs by heart at m ≥ 95: the test is about that.

    **Source and deviations.** Webb, Sinha, Cohen 2021, section 2, A.2.1, Table 1. The text answers
    by one sigmoid unit; the released code by two logits and a softmax: `softmax=True`. Where a set
    needs no more same pairs than there are (m = 98: two), each is used once, and a set that is cut
    to `max_problems` keeps equal numbers of both answers.

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
    _with_replacement: ClassVar[bool] = True

    def _kinds(self, images: int) -> tuple[rules.Kind, ...]:
        """List the kinds of same and of different pairs, in the order of their targets."""
        return (
            rules.Kind(name="same", radices=(images,)),
            rules.Kind(name="different", radices=(images, images - 1)),
        )

    def _counts(
        self, branch: Stream, kinds: Mapping[str, Sequence[rules.Kind]], most: int, *, shared: bool
    ) -> dict[str, list[int]]:
        """Keep a twentieth of the pairs for a test on the same images, as many of either answer."""
        if not shared:
            return super()._counts(branch, kinds, most, shared=shared)
        train, test = kinds
        total = min(kinds[train][1].size, most)
        kept = max(1, total // 20)
        return {train: [total - kept] * 2, test: [kept] * 2}

    def _columns(
        self, branch: Stream, pool: np.ndarray, digits: Sequence[rules.Digits]
    ) -> list[rules.Columns]:
        del branch
        same, different = digits
        return _answered([np.repeat(pool[same], 2, axis=1), pool[arrangement(different)]])


def _answered(rows: Sequence[np.ndarray]) -> list[rules.Columns]:
    """Make columns of rows: the same images first, with the answer 0, then others with 1."""
    return [
        {"index": row, "target": relation, "relation": relation, "shapes": row}
        for number, row in enumerate(rows)
        for relation in [np.full(len(row), int(number > 0))]
    ]


@final
@dataclass(frozen=True, kw_only=True)
class TintedSameDifferent(_TwoImages):
    """Are the two images the same, whatever their tint?

    **Task.** Two images of one tint, light or dark; the answer is 0 if they are the same and 1 if
    they differ. In training every "same" pair is light and every "different" pair dark: the tint of
    a single image gives away the answer. At test it does not.

    **Worked example.** Light images are in plain boxes, dark images in boxes with double lines.

    ```text
      training                            tint-reversed
      ┌───┐┌───┐       ╔═══╗╔═══╗         ╔═══╗╔═══╗       ┌───┐┌───┐
      │ ♞ ││ ♞ │ → 0   ║ ♞ ║║ Ω ║ → 1     ║ ☺ ║║ ☺ ║ → 0   │ ☺ ││ & │ → 1
      └───┘└───┘       ╚═══╝╚═══╝         ╚═══╝╚═══╝       └───┘└───┘
    ```

    **Regimes.** The pairs are those of same/different under the same seed: `training` shows N − m
    of the N images, the tests only the m others, or with m = 0 other pairs. The three tests have
    the same pairs in other tints; their distance is the share of pairs whose tint belongs to the
    wrong answer.

    | regime | tint | share misled |
    |---|---|---|
    | `training` | the answer's | 0 % |
    | `tint-kept` | the answer's | 0 % |
    | `tint-random` | independent of the answer | 50 % |
    | `tint-reversed` | the other answer's | 100 % |

    A dark image has half the gray levels of the original, a light one half of them and a half more.

    | | m = 0 | 50 | 85 | 95 | 98 |
    |---|---|---|---|---|---|
    | training | 18,810 | 4,900 | 420 | 40 | 4 |
    | each test | 990 | 4,900 | 10,000 | 10,000 | 10,000 |

    **Score, floor and ceiling.** Share of right answers; 0.5 by guessing; 1 by comparing pixels.

    **Known shortcuts.** The tint, on purpose: going by it alone is always right in training and in
    `tint-kept`, right half the time in `tint-random` and never in `tint-reversed`. Training itself
    cannot tell it from the rule; the learned rule shows which of the two a model is inclined to.
    Two images of a pair always share their tint, so that a comparison does not see it.

    **Source and deviations.** After same/different (Webb, Sinha, Cohen 2021, section 2 and A.2.1).
    It is the smallest of the tasks and has two answers, so that two tints suffice, and a single
    image that gives away the answer is the plainest shortcut there is. Tints are gray levels: items
    stay images of height and width, and every encoder reads them.

    Raises:
        ValueError: If fewer than two images stay on either side.

    Reference:
        webb2021, section 2 and A.2.1.
    """

    name: ClassVar[str] = "tinted-same-different"
    version: ClassVar[int] = 1

    @property
    def _identical_regimes(self) -> tuple[Regime, ...]:
        """Training, validation if any, then the tests by the share of pairs whose tint misleads."""
        tints = {"tint-kept": 0, "tint-random": 50, "tint-reversed": 100}
        training, *tests = regimes_at("% misled", {TRAINING: 0} | tints)
        return (training, *self._validation(0, "% misled"), *tests)

    def _draw_identical(self, stream: Stream) -> dict[str, Problems]:
        """Draw the sets of a run without variation, by regime name."""
        pairs = SameDifferent(
            withheld=self.withheld,
            max_problems=self.max_problems,
            shapes=self._shapes,
            validation_problems=self.validation_problems,
        )
        *known, test = pairs.draw(stream).values()
        items = _tints(test.table())
        answer = test.target
        tints = (answer, answer ^ _every_other(answer), 1 - answer)
        sets = [_tinted(one, items, one.target) for one in known]
        sets += [_tinted(test, items, tint) for tint in tints]
        names = [regime.name for regime in self._identical_regimes]
        return dict(zip(names, sets, strict=True))

    def _fonts(self) -> tuple[Float[Tensor, "tinted height width"], ...]:
        """Load the images in their other fonts, tinted."""
        return tuple(_tints(other) for other in super()._fonts())


def _tints(
    images: Float[Tensor, "item height width"],
) -> Float[Tensor, "tinted height width"]:
    """Tint all images light, then all of them dark."""
    return torch.cat([images / 2 + 0.5, images / 2])


def _every_other(answer: Int64[Tensor, " batch"]) -> Int64[Tensor, " batch"]:
    """Mark every second problem of either answer with 1."""
    ordinal = torch.where(answer == 1, answer.cumsum(0), (1 - answer).cumsum(0))
    return (ordinal + answer) % 2


def _tinted(
    pairs: Problems, items: Float[Tensor, "tinted height width"], tint: Int64[Tensor, " batch"]
) -> Problems:
    """Tint each pair (0: light, 1: dark)."""
    return Problems(
        items=items,
        index=pairs.index + len(items) // 2 * tint[:, None],
        target=pairs.target,
        latent={**pairs.latent, "tint": tint},
    )


_FEWEST: Final = 2
_MOST: Final = 20


@final
@dataclass(frozen=True, kw_only=True)
class AllSame(YesNo, NumberedTask):
    """Are all k images the same?

    **Task.** A row of k images; the answer is 0 if all are the same and 1 if not. Where they are
    not, there are still only two different ones: one or more of the row, up to half of it, are odd
    and all others equal.

    **Worked example**, with k = 6.

    ```text
      ┌───┐┌───┐┌───┐┌───┐┌───┐┌───┐
      │ ♞ ││ ♞ ││ ♞ ││ ♞ ││ ♞ ││ ♞ │ → 0
      └───┘└───┘└───┘└───┘└───┘└───┘
      ┌───┐┌───┐┌───┐┌───┐┌───┐┌───┐
      │ ♞ ││ ♞ ││ ♞ ││ ♞ ││ Ω ││ ♞ │ → 1        (one odd)
      └───┘└───┘└───┘└───┘└───┘└───┘
      ┌───┐┌───┐┌───┐┌───┐┌───┐┌───┐
      │ Ω ││ ☺ ││ ☺ ││ Ω ││ Ω ││ ☺ │ → 1        (three odd)
      └───┘└───┘└───┘└───┘└───┘└───┘
    ```

    **Regimes.** `training` shows N − m of the N images; `withheld-m` only the m others. Half the
    problems of a set are of either answer; those that are not all the same have 1, 2, … ⌊k/2⌋ odd
    images in equal parts, at any positions. A set holds every problem (two images in order, the
    positions of the odd images), the rarer numbers of odd images repeated, or `max_problems`; the
    same ones, of which there are as many as images, are repeated equally often. With m = 0 both
    sets use all images and share no problem.

    | k = 6 | m = 0 | 50 | 85 | 95 | 98 |
    |---|---|---|---|---|---|
    | training | 10,000 | 10,000 | 10,000 | 1,800 | 180 |
    | test | 10,000 | 10,000 | 10,000 | 10,000 | 10,000 |

    **Score, floor and ceiling.** Share of right answers; 0.5 by guessing; 1 by comparing pixels.

    **Known shortcuts.** None in one image alone, except at m = 0, where an image whose "same" row
    fell into the other set occurs in this one with the answer 1 only. Comparing two positions finds
    their share of the odd images: with k = 6, 0.74 right; leaving out one position, 0.97.

    **Source and deviations.** After same/different (Webb, Sinha, Cohen 2021, section 2 and A.2.1),
    which it equals at k = 2, except for the sizes at m = 0 and for same problems, which are drawn
    with replacement there. The answer is one sigmoid unit, or two logits and a softmax:
    `softmax=True`.

    Args:
        num_images: Number of images of a problem, k, from 2 to 20.

    Raises:
        ValueError: If a problem has less than 2 or more than 20 images, or fewer than two images
            stay on either side.

    Reference:
        webb2021, section 2 and A.2.1.
    """

    name: ClassVar[str] = "all-same"
    version: ClassVar[int] = 1

    num_images: int = 6

    def __post_init__(self) -> None:
        check_fields(self)
        check_number("num_images", self.num_images, _FEWEST, _MOST)
        super().__post_init__()

    @property
    def _fewest(self) -> int:
        return 2

    @property
    def length(self) -> int:
        """Number of images of a problem, k."""
        return self.num_images

    @property
    def _size(self) -> tuple[int, ...]:
        return (self.num_images,)

    def _kinds(self, images: int) -> tuple[rules.Kind, ...]:
        """List kinds: the same images, then by number of odd images, with the odd positions."""
        return (
            rules.Kind(name="same", radices=(images,)),
            *(
                rules.Kind(
                    name=f"odd-{odd}",
                    radices=(images, images - 1, math.comb(self._free(odd), odd)),
                )
                for odd in range(1, self.num_images // 2 + 1)
            ),
        )

    def _counts(
        self, branch: Stream, kinds: Mapping[str, Sequence[rules.Kind]], most: int, *, shared: bool
    ) -> dict[str, list[int]]:
        del branch
        odd = {regime: own[1:] for regime, own in kinds.items()}
        counts = rules.balanced_counts(odd, most // 2, shared=shared)
        return {regime: [sum(own), *own] for regime, own in counts.items()}

    def _free(self, odd: int) -> int:
        """Count possible positions of odd images; in a row of two halves, the first is fixed."""
        return self.num_images - (2 * odd == self.num_images)

    def _columns(
        self, branch: Stream, pool: np.ndarray, digits: Sequence[rules.Digits]
    ) -> list[rules.Columns]:
        del branch
        same, *others = digits
        rows = [np.repeat(pool[same], self.num_images, axis=1)]
        for odd, kind in enumerate(others, start=1):
            free = self._free(odd)
            is_odd = np.zeros((len(kind), self.num_images), dtype=np.int64)
            is_odd[:, self.num_images - free :] = subsets(kind[:, 2], free, odd)
            rows.append(np.take_along_axis(pool[arrangement(kind[:, :2])], is_odd, axis=1))
        columns = _answered(rows)
        return [{**own, "odd": np.full(len(own["target"]), odd)} for odd, own in enumerate(columns)]

    def _answers(self, likeness: rules.Likeness) -> rules.Outputs:
        """Compare all images."""
        differs = (likeness < rules.ALIKE).flatten(1).any(dim=1)
        return binary_outputs(differs, self.num_outputs)


def subsets(
    numbers: Int64[np.ndarray, " batch"], positions: int, size: int
) -> Bool[np.ndarray, "batch time"]:
    """List the subsets of `size` positions, by their number.

    The numbers below C(positions, size) name each set once: first the sets that hold the first
    position (Lehmer 1964).

    Args:
        numbers: Numbers of sets.
        positions: Number of positions.
        size: Number of positions of a set.
    """
    ways = np.array([[math.comb(n, k) for k in range(size + 1)] for n in range(positions)])
    held = np.zeros((len(numbers), positions), dtype=np.bool_)
    number, lacking = numbers.copy(), np.full(len(numbers), size)
    for position in range(positions):
        with_it = np.where(lacking > 0, ways[positions - position - 1, lacking - 1], 0)
        held[:, position] = number < with_it
        number -= np.where(held[:, position], 0, with_it)
        lacking -= held[:, position]
    return held
