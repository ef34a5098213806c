"""Visual analogies, translated along all dimensions (webb2020)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from jaxtyping import Int64

from farfield.tasks._protocol._task import check_number
from farfield.tasks._vaec._vaec_task import VAECTask


@final
@dataclass(frozen=True, kw_only=True)
class VAECTranslation(VAECTask):
    """Which square completes the analogy, in regions further and further from training?

    **What is asked.** Four-term analogies A : B :: C : D between pictures of a green square on
    grey. The square varies in X, Y, size and brightness; in a problem all pictures differ along one
    of the four, and D is as far from C, in the same direction, as B from A. The candidates are D
    and six foils, the six other levels of that dimension within the region: they show A, B and C
    again wherever these are not D.

    **Worked example.** The size varies, level 0 to 6.

    ```text
      ┌───┐   ┌───┐    ┌───┐   ┌───┐           ┌───┐┌───┐┌───┐┌───┐┌───┐┌───┐┌───┐
      │ · │ : │ ▪ │ :: │ ▪ │ : │ ? │           │ ■ ││ · ││ · ││ ▪ ││ ▪ ││ ■ ││ ■ │
      └───┘   └───┘    └───┘   └───┘           └───┘└───┘└───┘└───┘└───┘└───┘└───┘
      size 0     2        3       ?         →     5     0    1    2    3    4    6
    ```

    **Places.** A, B, C, then D, then the foils in ascending order: the target is 0 in every
    problem, as released. A model that scores each candidate by itself and all alike cannot tell;
    one that knows the places answers 0 and needs `shuffled=True`.

    **Regimes.** The 42 levels of each dimension are cut into six regions of seven: `training` shows
    region 1 (small and dim, upper left), `region-2` … `region-6` what lies further and further off,
    up to large, bright squares at the lower right. Each region has 7⁴ = 2,401 objects, which no
    other has. With each of the 140 analogies along each dimension come 34 of the 343 combinations
    of the other dimensions: 19,040 problems. The distance is counted in regions.

    **Score, floor and ceiling.** Share of problems in which D scores higher than every foil; 1/7 by
    guessing; 1 by measuring the squares. A tie is wrong: the released code counts a problem wrong
    where all seven scores are equal, and so must every tie for the answer that always stands
    first. `parts` gives the problems by the dimension they vary in, as the paper's supplement
    scores them.

    **Known shortcuts.** Of the 140 analogies along a dimension D is A in 18 and C is B in 18; D is
    never B, C never A. The most frequent level is right in 24 of 140 (17 %), the most frequent one
    for a given A, B or C in 35 or 36 (25 %), for two of them in at most 43 (31 %). The places tell
    the answer unless `shuffled`; so do statistics over a batch that are taken for each place by
    itself, as the released batch normalization does: D varies over all levels, each foil over two.

    **Clutter.** With `second_object` every picture shows another square: red, blue, magenta, yellow
    or cyan, as bright as objects may be, 3, 5 … 23 wide (and a pixel wider, as drawn), anywhere,
    before the green one or behind it. With `textured` a square of 16×16 pixels is repeated over the
    background, every channel of every pixel of it drawn from 88…168. Colors, as what is grey alone
    would leave no trace in a difference of two channels. Of each object there are eight pictures,
    each with clutter of its own; which of them stands at a place is drawn for the place. Levels,
    analogies and candidates are those without clutter, and all regimes have it alike. It tells
    nothing: an analogy between the second squares is right as often as a guess. What is hidden
    lowers the ceiling: the green that is seen decides 98 % of the problems
    in region 1 and all in the others.

    **Source and deviations.** Webb et al. 2020, section 2.1.1, and the released generator, whose
    pictures and levels these are to the byte; its random draw was not seeded, so this is another
    one. Released and kept: red and blue of the object are 0; a square of width s covers s + 1
    pixels (`exact_width=True`: s of them); the background is 128, of 255. At another
    `image_size` the picture of 128×128 is reduced or enlarged, each pixel the mean of what it
    covers. More problems than a tenth of all, 19,040, take more of the irrelevant combinations.

    Args:
        train_on: Number of the region that training shows, from 1.
        num_levels: Levels of every dimension, at most 42.
        levels_per_region: Levels of every dimension within a region, and so candidates.
        image_size: Side of an image, 64…1024 pixels; in clutter a multiple of 128.
        problems_per_regime: Problems of a set; `None` for a tenth of all: 19,040.
        exact_width: Whether a square of width s covers s pixels rather than s + 1.
        shuffled: Whether the candidates stand in random order rather than D first.
        second_object: Whether every picture shows a square of another hue, which tells nothing.
        textured: Whether the background of every picture is a texture rather than grey.

    Raises:
        ValueError: If the levels do not divide into regions, a number is out of its range, or
            `image_size` is no multiple of 128 where there is clutter.

    Reference:
        webb2020, section 2.1 and 2.1.1.
    """

    name: ClassVar[str] = "vaec-translation"
    version: ClassVar[int] = 1

    @property
    def _word(self) -> str:
        return "region"

    def levels_of(self, number: int) -> Int64[np.ndarray, " value"]:
        """The levels, counted from 0, that region `number` takes on every dimension.

        Args:
            number: Which region, from 1.
        """
        check_number("number", number, 1, self._count)
        first = (number - 1) * self.levels_per_region
        return np.arange(first, first + self.levels_per_region)
