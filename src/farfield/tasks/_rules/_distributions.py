"""Distribution-of-three (webb2021), and distribution-of-n with longer rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final, final

import numpy as np
from jaxtyping import Float, Int64
from torch import Tensor

from farfield.core import Problems, Stream, check_fields
from farfield.tasks._protocol._draws import arrangement, integers
from farfield.tasks._protocol._task import check_number
from farfield.tasks._rules import _abstract_rules as rules
from farfield.tasks._rules._abstract_rules import RuleTask
from farfield.tasks._rules._glyph_set import GlyphSet


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
        kinds = {regime: _kinds_of_three(len(pool)) for regime, pool in pools.items()}
        shared = self.withheld == 0
        counts = rules.balanced_counts(
            kinds, self.max_problems, shared=shared, training_problems=self.training_problems
        )
        drawn = rules.draw_digits(place, kinds, counts, shared=shared)
        return {
            regime: rules.shuffled(
                place.child(regime),
                items,
                [_columns_of_three(place.child(regime), pools[regime], digits)],
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


def _kinds_of_three(images: int) -> tuple[rules.Kind, ...]:
    """One kind: three images in the order of the first row, then the order of the second row."""
    return (rules.Kind(name="array", radices=(images, images - 1, images - 2, 3, 2, 1)),)


def _columns_of_three(place: Stream, pool: np.ndarray, digits: rules.Digits) -> rules.Columns:
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


_SHORTEST: Final = 3
_LONGEST: Final = 20
_CHOICES: Final = 4


@final
@dataclass(frozen=True, kw_only=True)
class DistributionOfN(RuleTask):
    """Which image completes the second row, so that both rows hold the same n?

    **What is asked.** The first row of n images, the first n − 1 of the second row, and four
    choices: 2n + 3 images. Both rows hold the same n images in an order of their own. The answer
    is the place, 0 … 3, of the missing one among the choices.

    **Worked example**, with n = 5.

    ```text
      ┌───┐┌───┐┌───┐┌───┐┌───┐
      │ ♞ ││ Ω ││ ☺ ││ Я ││ ∞ │
      ├───┤├───┤├───┤├───┤├───┤      ┌───┐┌───┐┌───┐┌───┐
      │ Ω ││ ∞ ││ ☺ ││ ♞ ││ ? │      │ ∞ ││ & ││ Я ││ ☺ │ → 2
      └───┘└───┘└───┘└───┘└───┘      └───┘└───┘└───┘└───┘
    ```

    **Regimes.** `training` shows N − m of the N images; `withheld-m` only the m others. A side
    needs n + 1 images. A set holds every array (n images in order, the order of the second row) or
    `max_problems` of them, none twice. With m = 0 both sets use all images and share no array. The
    choices are the missing image, two others of the second row and one of the same regime that
    stands in no row, drawn once for each array, in random order.

    | | n = 3 | 4 | 5 | 10 | 20 |
    |---|---|---|---|---|---|
    | places | 9 | 11 | 13 | 23 | 43 |
    | fewest images on a side | 4 | 5 | 6 | 11 | 21 |
    | arrays of so few | 144 | 2,880 | 10,000 | 10,000 | 10,000 |

    **Score, floor and ceiling.** Share of right answers; 0.25 by guessing; 1 by comparing pixels.
    Neither depends on n.

    **Known shortcuts.** Those of distribution-of-three, at every n: the first row alone rules out
    the image that stands in no row, and gets a third right; the second row alone leaves two
    choices, a half. The choice that was seen once in the array is the answer: counting is enough,
    the rows need not be distinguished.

    **Source and deviations.** After distribution-of-three (Webb, Sinha, Cohen 2021, section 2 and
    A.2.3), which it is with n = 3, but for the numbers drawn. There are four choices at every n,
    and not n + 1, so that floor and shortcuts stay what they are and a curve over n shows the
    length of the rows alone.

    Args:
        row_length: Number of images of a row, n, from 3 to 20.
        withheld: Number of images that training never shows, m.
        max_problems: Largest number of problems of a set.
        shapes: The images; `None` for the built-in 100 glyphs.

    Raises:
        ValueError: If rows are shorter than 3 or longer than 20, or fewer than n + 1 images stay
            on either side.

    Reference:
        webb2021, section 2 and A.2.3.
    """

    name: ClassVar[str] = "distribution-of-n"
    version: ClassVar[int] = 1

    row_length: int = 8
    withheld: int = 0
    max_problems: rules.SetSize = 10_000
    shapes: GlyphSet | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        check_number("row_length", self.row_length, _SHORTEST, _LONGEST)
        fewest = self.row_length + 1
        rules.check_shapes(self.withheld, self.shapes, fewest)

    @property
    def length(self) -> int:
        """Number of images of a problem: 2n − 1 of the array, four to choose from."""
        return 2 * self.row_length - 1 + _CHOICES

    @property
    def num_outputs(self) -> int:
        """A logit for each choice."""
        return _CHOICES

    def draw(self, stream: Stream) -> dict[str, Problems]:
        """The sets of one run, by regime name.

        Args:
            stream: Stream of the run.
        """
        place = stream.child(self.name, f"v{self.version}", self.row_length)
        items = rules.table(self.shapes)
        pools = rules.split_shapes(place, len(items), self.withheld)
        kinds = {
            regime: _kinds_of_many(len(pool), self.row_length) for regime, pool in pools.items()
        }
        shared = self.withheld == 0
        counts = rules.balanced_counts(kinds, self.max_problems, shared=shared)
        drawn = rules.draw_digits(place, kinds, counts, shared=shared)
        columns = {
            regime: _columns_of_many(place.child(regime), pools[regime], digits, self.row_length)
            for regime, (digits,) in drawn.items()
        }
        return {
            regime: rules.shuffled(place.child(regime), items, [part])
            for regime, part in columns.items()
        }

    def oracle(self, problems: Problems) -> Float[Tensor, "batch candidate"]:
        """The outputs of the rule: what the first row holds and the second still lacks.

        Args:
            problems: Problems of any regime.
        """
        places = rules.seen(problems)
        choices = places[:, -_CHOICES:, None]
        first_row = (choices == places[:, None, : self.row_length]).any(dim=2)
        second_row = (choices == places[:, None, self.row_length : -_CHOICES]).any(dim=2)
        return (first_row & ~second_row).to(problems.items.dtype)


def _kinds_of_many(images: int, row_length: int) -> tuple[rules.Kind, ...]:
    """One kind: n images in the order of the first row, then the order of the second row."""
    first_row = range(images, images - row_length, -1)
    return (rules.Kind(name="array", radices=(*first_row, *range(row_length, 0, -1))),)


def _columns_of_many(
    place: Stream, pool: np.ndarray, digits: rules.Digits, row_length: int
) -> rules.Columns:
    """The two rows and the choices, as images of `pool`; what is offered is drawn here."""
    choices_at = place.child("choices").numpy()

    def selected(*radices: int) -> Int64[np.ndarray, "batch slot"]:
        drawn = [integers(choices_at, radix, len(digits)) for radix in radices]
        return arrangement(np.stack(drawn, axis=1))

    stranger = integers(choices_at, len(pool) - row_length, len(digits))
    images = arrangement(np.concatenate([digits[:, :row_length], stranger[:, None]], axis=1))
    first_row, outside = np.split(pool[images], [row_length], axis=1)
    second_row = np.take_along_axis(first_row, arrangement(digits[:, row_length:]), axis=1)
    known, missing = np.split(second_row, [row_length - 1], axis=1)
    two = np.take_along_axis(known, selected(row_length - 1, row_length - 2), axis=1)
    offered = np.concatenate([missing, two, outside], axis=1)
    choices = np.take_along_axis(offered, selected(4, 3, 2, 1), axis=1)
    return {
        "index": np.concatenate([first_row, known, choices], axis=1),
        "target": (choices == missing).argmax(axis=1),
        "rows": np.stack([first_row, second_row], axis=1),
        "choices": choices,
    }
