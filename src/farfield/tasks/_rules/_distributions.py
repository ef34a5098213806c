"""Distribution-of-three (webb2021), and distribution-of-n with longer rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, final

import numpy as np

from farfield.core import Stream
from farfield.core.internal import check_fields
from farfield.tasks._protocol._draws import arrangement, integers
from farfield.tasks._protocol._task import check_number
from farfield.tasks._rules import _abstract_rules as rules
from farfield.tasks._rules._abstract_rules import FourChoices, NumberedTask


class _EqualRows(FourChoices, NumberedTask):
    """Base of tasks whose two rows hold the same images; the second row lacks its last image."""

    @property
    @abstractmethod
    def _row_length(self) -> int:
        """Number of images of a row, n."""

    @property
    def _fewest(self) -> int:
        return self._row_length + 1

    @property
    def length(self) -> int:
        """Number of images of a problem: 2n − 1 of the array, four to choose from."""
        return 2 * self._row_length - 1 + rules.NUM_CHOICES

    def _kinds(self, images: int) -> tuple[rules.Kind, ...]:
        """Return one kind: n images in the order of the first row, then the order of the second."""
        n = self._row_length
        radices = (*range(images, images - n, -1), *range(n, 0, -1))
        return (rules.Kind(name="array", radices=radices),)

    def _answers(self, likeness: rules.Likeness) -> rules.Outputs:
        """Score choices by their likeness to the first row, less that to the second row."""
        n, choices = self._row_length, likeness[:, -rules.NUM_CHOICES :]
        first_row = choices[:, :, :n].amax(dim=2)
        return first_row - choices[:, :, n : -rules.NUM_CHOICES].amax(dim=2)


@final
@dataclass(frozen=True, kw_only=True)
class DistributionOfThree(_EqualRows):
    """Which image completes the second row, so that both rows hold the same three?

    **Task.** Nine images: the first row of three, the first two of the second row, and four
    choices. Both rows hold the same three images in different orders. The answer is the position, 0
    … 3, of the missing image among the choices.

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
        training_problems: Number of training problems; `None` for as many as `max_problems`
            allows. Where there are fewer arrays, they come again with other choices.

    Raises:
        ValueError: If fewer than four images stay on either side.

    Reference:
        webb2021, section 2 and A.2.3.
    """

    name: ClassVar[str] = "distribution-of-three"
    version: ClassVar[int] = 1

    training_problems: rules.SetSize | None = None

    @property
    def _row_length(self) -> int:
        return 3

    def _counts(
        self, branch: Stream, kinds: Mapping[str, Sequence[rules.Kind]], most: int, *, shared: bool
    ) -> dict[str, list[int]]:
        del branch
        return rules.balanced_counts(
            kinds,
            most,
            shared=shared,
            training_problems=self.training_problems,
        )

    def _columns(
        self, branch: Stream, pool: np.ndarray, digits: Sequence[rules.Digits]
    ) -> list[rules.Columns]:
        drawing = branch.child("choices").numpy()
        first_row, second_row, fourth = _rows(drawing, pool, digits[0], 3)
        four = np.concatenate([first_row, fourth], axis=1)
        choices = np.take_along_axis(four, _selected(drawing, len(four), 4, 3, 2, 1), axis=1)
        return [_array(first_row, second_row, choices)]


_SHORTEST: Final = 3
_LONGEST: Final = 20


@final
@dataclass(frozen=True, kw_only=True)
class DistributionOfN(_EqualRows):
    """Which image completes the second row, so that both rows hold the same n?

    **Task.** The first row of n images, the first n − 1 of the second row, and four choices: 2n + 3
    images. Both rows hold the same n images in different orders. The answer is the position, 0 … 3,
    of the missing image among the choices.

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
    choices are the missing image, two others of the second row and one of the same regime that is
    in no row, drawn once for each array, in random order.

    | | n = 3 | 4 | 5 | 10 | 20 |
    |---|---|---|---|---|---|
    | positions | 9 | 11 | 13 | 23 | 43 |
    | fewest images on a side | 4 | 5 | 6 | 11 | 21 |
    | arrays of so few | 144 | 2,880 | 10,000 | 10,000 | 10,000 |

    **Score, floor and ceiling.** Share of right answers; 0.25 by guessing; 1 by comparing pixels.
    Neither depends on n.

    **Known shortcuts.** Those of distribution-of-three, at every n: the first row alone rules out
    the image that is in no row, and gets a third right; the second row alone leaves two choices, a
    half. The choice that was seen once in the array is the answer: counting is enough, the rows
    need not be distinguished.

    **Source and deviations.** After distribution-of-three (Webb, Sinha, Cohen 2021, section 2 and
    A.2.3), which it equals at n = 3, except for the numbers drawn. There are four choices at every
    n, and not n + 1, so that floor and shortcuts stay the same and a curve over n shows the length
    of the rows alone.

    Args:
        row_length: Number of images of a row, n, from 3 to 20.

    Raises:
        ValueError: If rows are shorter than 3 or longer than 20, or fewer than n + 1 images stay
            on either side.

    Reference:
        webb2021, section 2 and A.2.3.
    """

    name: ClassVar[str] = "distribution-of-n"
    version: ClassVar[int] = 1

    row_length: int = 8

    def __post_init__(self) -> None:
        check_fields(self)
        check_number("row_length", self.row_length, _SHORTEST, _LONGEST)
        super().__post_init__()

    @property
    def _row_length(self) -> int:
        return self.row_length

    @property
    def _size(self) -> tuple[int, ...]:
        return (self.row_length,)

    def _columns(
        self, branch: Stream, pool: np.ndarray, digits: Sequence[rules.Digits]
    ) -> list[rules.Columns]:
        length, drawing = self.row_length, branch.child("choices").numpy()
        first_row, second_row, outside = _rows(drawing, pool, digits[0], length)
        count = len(first_row)
        known, missing = np.split(second_row, [length - 1], axis=1)
        two = np.take_along_axis(known, _selected(drawing, count, length - 1, length - 2), axis=1)
        offered = np.concatenate([missing, two, outside], axis=1)
        choices = np.take_along_axis(offered, _selected(drawing, count, 4, 3, 2, 1), axis=1)
        return [_array(first_row, second_row, choices)]


def _rows(
    generator: np.random.Generator, pool: np.ndarray, digits: rules.Digits, row_length: int
) -> tuple[rules.Digits, rules.Digits, rules.Digits]:
    """Return both rows of arrays, as images of `pool`, and draw one other image."""
    other = integers(generator, len(pool) - row_length, len(digits))
    images = arrangement(np.concatenate([digits[:, :row_length], other[:, None]], axis=1))
    first_row, outside = np.split(pool[images], [row_length], axis=1)
    second_row = np.take_along_axis(first_row, arrangement(digits[:, row_length:]), axis=1)
    return first_row, second_row, outside


def _selected(generator: np.random.Generator, count: int, *radices: int) -> rules.Digits:
    """Draw an ordered selection for each array, by the number of choices of each position."""
    return arrangement(np.stack([integers(generator, radix, count) for radix in radices], axis=1))


def _array(
    first_row: rules.Digits, second_row: rules.Digits, choices: rules.Digits
) -> rules.Columns:
    """Assemble the columns of arrays whose second row lacks its last image."""
    return {
        "index": np.concatenate([first_row, second_row[:, :-1], choices], axis=1),
        "target": (choices == second_row[:, -1:]).argmax(axis=1),
        "rows": np.stack([first_row, second_row], axis=1),
        "choices": choices,
    }
