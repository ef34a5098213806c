"""Few characters of K-MNIST, to adapt to (gondal2021)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, final

import numpy as np
import torch
from jaxtyping import Int64, UInt8

from farfield.core import Problems, Stream, stream
from farfield.core.internal import check_fields
from farfield.tasks._digits._digits import SHOWN, GreyImages
from farfield.tasks._files._known_data_sets import KMNIST, KMNIST_EXCERPT, KMNIST_TEST
from farfield.tasks._files._labelled_images import Labels, idx_images
from farfield.tasks._protocol._answers import ClassTask
from farfield.tasks._protocol._draws import integers, permutation
from farfield.tasks._protocol._task import (
    CHANNELS_FIRST,
    TRAINING,
    VALIDATION,
    Form,
    Regime,
    SingleItem,
    check_number,
    check_regime,
    regimes_at,
)
from farfield.tasks._sequences._memory import MOST

CHARACTERS: Final = 10
TEST: Final = "k-mnist"
TEST_FILE: Final = 10_000
EXCERPT: Final = 7_011
FEWEST: Final = {EXCERPT: 670, 60_000: 6_000}
"""Images of the rarest character, or a little less, by the number of training images."""


@final
@dataclass(frozen=True, kw_only=True)
class KMNISTAdaptation(SingleItem, ClassTask):
    r"""Which character is it, after few examples? A task for a network trained on digits.

    **Task.** An image in red, green and blue (all the same) of 32 × 32 pixels, as bytes, shows one
    of ten characters of Hiragana in old writing, white on black. The answer is a logit for each
    character.

    **Worked example.**

    ```text
      training: 25 images of each character, 250 in all      test: 10,000 others
    ```

    **Regimes.** `training` has few images, of each character as many as of any other (one more
    of some where they do not divide), `validation` others of the same pool, `k-mnist` those of
    the published test file. The pool is the first 7,011 images of the training file; with
    `whole_file=True` it is all of it. A run with more training images has those of one with fewer
    among them, and the same validation images.

    **Score, floor and ceiling.** Share of right answers; 0.1 by guessing (the characters of the
    test file are equally frequent). The ceiling is the published labels.

    **Known shortcuts.** None known; the amount of ink differs between characters.

    **Source and deviations.** Gondal et al. 2021, section 4.2 and Figure 5, with 150 to 500
    training samples, not augmented; images are brought to 32 × 32 as in `Digits`. The text prints a
    validation accuracy and does not say of which images: here the test file is reported. It does
    not say how samples are drawn.

    Args:
        training_samples: Number of training images.
        validation_images: Number of images that models may be chosen on.
        test_images: Number of images of the test.
        whole_file: Whether the pool is the whole training file; otherwise its first 7,011
            images.

    Raises:
        ValueError: If a number is out of range, or the pool lacks as many images of each character.

    Reference:
        gondal2021, section 4.2 and Figure 5.
    """

    name: ClassVar[str] = "kmnist-adaptation"
    version: ClassVar[int] = 1
    form: ClassVar[Form] = Form(axes=CHANNELS_FIRST, arrangement="single")

    training_samples: int = 500
    validation_images: int = 1_000
    test_images: int = TEST_FILE
    whole_file: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
        fewest = FEWEST[self._pool]
        check_number("training_samples", self.training_samples, 1, CHARACTERS * (fewest - 1))
        left = fewest - -(-self.training_samples // CHARACTERS)
        check_number("validation_images", self.validation_images, 1, CHARACTERS * left)
        check_number("test_images", self.test_images, 1, TEST_FILE)

    @property
    def _pool(self) -> int:
        """Training images that may be chosen, from the first on."""
        return 60_000 if self.whole_file else EXCERPT

    @property
    def item_shape(self) -> tuple[int, ...]:
        """Colors, height and width of an image."""
        return SHOWN

    @property
    def num_outputs(self) -> int:
        """Number of characters, each with a logit."""
        return CHARACTERS

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Training, validation, and the test."""
        known = {TRAINING: 0, VALIDATION: 0, TEST: 0}
        return regimes_at("data sets that training lacks", known)

    def is_at_hand(self) -> bool:
        """Check whether the pool and the test file are on this machine."""
        has_excerpt = KMNIST_EXCERPT.is_at_hand() and KMNIST.is_at_hand(*KMNIST_TEST)
        return KMNIST.is_at_hand() or (has_excerpt and not self.whole_file)

    def draw(self, stream: Stream) -> dict[str, Problems]:
        """Draw the sets of a run, by regime name.

        Raises:
            ValueError: If a file is missing, or differs from the published one.
        """
        (pool, labels), (test, answers) = self._read()
        rows = self._rows(stream, labels)
        sets = {name: _problems(own, pool, labels) for name, own in rows.items() if name != TEST}
        return sets | {TEST: _problems(rows[TEST], test, answers)}

    def sample(self, regime: str, n: int, generator: np.random.Generator) -> Problems:
        """Sample `n` problems, with replacement, from the set of a regime in run 0.

        Raises:
            ValueError: If a file is missing, or differs from the published one.
        """
        check_regime(regime, self.regimes)
        check_number("n", n, 1, MOST)
        problems = self.draw(stream(0))[regime]
        return problems[torch.from_numpy(integers(generator, len(problems), n))]

    def _read(self) -> tuple[tuple[UInt8[np.ndarray, "... 28 28"], Int64[np.ndarray, "*_"]], ...]:
        """Read images and labels of the pool, then of the test file."""
        # Where both are missing, the error names the whole file, which can be fetched.
        if not self.whole_file and not KMNIST.is_at_hand() and KMNIST_EXCERPT.is_at_hand():
            pool = idx_images(KMNIST_EXCERPT, "train-first7011")
        else:
            images, labels = idx_images(KMNIST, "train")
            pool = images[: self._pool], labels[: self._pool]
        return pool, idx_images(KMNIST, "t10k")

    def _rows(self, run: Stream, labels: Labels) -> Mapping[str, Int64[np.ndarray, "*_"]]:
        """Draw the numbers of the images of each regime in their files."""
        branch = run.child(self.name, f"v{self.version}", self._pool)
        # First one image of each character, then a second one of each, and so on.
        order = permutation(branch.child("images").numpy(), len(labels))
        ranks = np.empty_like(order)
        for character in range(CHARACTERS):
            own = np.flatnonzero(labels[order] == character)
            ranks[own] = np.arange(len(own))
        turn = permutation(branch.child("characters").numpy(), CHARACTERS)[labels[order]]
        order = order[np.lexsort((turn, ranks))]
        first = CHARACTERS * -(-self.validation_images // CHARACTERS)
        test = permutation(branch.child("test").numpy(), TEST_FILE)[: self.test_images]
        return {
            TRAINING: order[first : first + self.training_samples],
            VALIDATION: order[: self.validation_images],
            TEST: test,
        }


def _problems(
    rows: Int64[np.ndarray, " batch"], images: UInt8[np.ndarray, "item 28 28"], labels: Labels
) -> Problems:
    """Make a problem for each row, over a table of the images at their new size."""
    return Problems(
        items=torch.from_numpy(GreyImages(images)(rows)),
        index=torch.arange(len(rows))[:, None],
        target=torch.from_numpy(labels[rows]),
        latent={"image": torch.from_numpy(rows)},
    )
