"""MNIST read pixel by pixel, at sizes that training does not show (lamb2022)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, final

import numpy as np
import torch
from jaxtyping import Float, Int64, UInt8
from torch import Tensor

from farfield.core import Problems, Stream, stream
from farfield.core.internal import check_fields
from farfield.tasks._files._known_data_sets import MNIST
from farfield.tasks._protocol._answers import ClassTask, nearest_class
from farfield.tasks._protocol._draws import integers, permutation
from farfield.tasks._protocol._task import (
    TRAINING,
    VALIDATION,
    VECTOR,
    Form,
    OneContext,
    Regime,
    check_number,
    check_regime,
    regimes_at,
)
from farfield.tasks._sequences._memory import MOST

DIGITS: Final = 10
INK: Final = 128
"""Least value of a pixel that is rounded to 1."""
LARGEST: Final = 112
"""Largest side of an image, pixels."""
TRAINING_FILE: Final = 60_000
TEST_FILE: Final = 10_000


@final
@dataclass(frozen=True, kw_only=True)
class SequentialMNIST(OneContext, ClassTask):
    r"""Which digit is it, read pixel by pixel? Tested on images larger than training shows.

    **Task.** An image of a handwritten digit, black on white, is read row by row, one pixel at a
    time. The answer, after the last pixel, is the digit.

    **Worked example** (4 × 4 for 14 × 14).

    ```text
      · ▪ ▪ ·
      · · ▪ ·   →   · ▪ ▪ · · · ▪ · · ▪ · · · ▪ · ·   →   7
      · ▪ · ·
      · ▪ · ·
    ```

    **Regimes.** Images are 14 × 14 pixels in `training`, in `validation` and in the test
    `side-14`; larger in the tests `side-16`, `side-19` and `side-24`, which show the same images
    as `side-14`. A pixel of the 28 × 28 original is 1 from 128 on, else 0; the pixel in row
    r and column c of an image of side s is that in row ⌊28 r / s⌋ and column ⌊28 c / s⌋ of
    the original. Training and validation are drawn from the 60,000 images of the training
    file and share none; tests are drawn from the 10,000 of the test file.

    **Score, floor and ceiling.** Share of right answers; 0.1 by guessing, 0.1135 by
    naming always the most frequent digit of the test file. The ceiling is the published labels.

    **Known shortcuts.** The number of black pixels alone separates 1 from 0. It grows with the
    side.

    **Source and deviations.** Lamb 2022, section 8.4.1; rounding and resizing after the authors'
    code, which draws 48,000 training images and 12,000 for validation from one seed; here each
    run draws its own. That code chooses the weights on the validation images at the size of
    the test; here validation has the size of training only.

    Args:
        side: Height and width of a training image, pixels.
        test_sides: The same in the tests, ascending.
        training_images: Number of training images.
        validation_images: Number of images that models may be chosen on.
        test_images: Number of images of each test.

    Raises:
        ValueError: If a number is out of range, or the tests are not ascending.

    Reference:
        lamb2022, section 8.4.1 and Table 1.
    """

    name: ClassVar[str] = "sequential-mnist"
    version: ClassVar[int] = 1
    form: ClassVar[Form] = Form(axes=VECTOR, arrangement="sequence")

    side: int = 14
    test_sides: tuple[int, ...] = (14, 16, 19, 24)
    training_images: int = 48_000
    validation_images: int = 12_000
    test_images: int = 10_000

    def __post_init__(self) -> None:
        check_fields(self)
        check_number("side", self.side, 1, LARGEST)
        for side in self.test_sides:
            check_number("test_sides", side, self.side, LARGEST)
        if not self.test_sides or sorted(set(self.test_sides)) != list(self.test_sides):
            raise ValueError(
                f"test_sides must be one or more ascending sides, got {self.test_sides}"
            )
        check_number("training_images", self.training_images, 1, TRAINING_FILE - 1)
        most = TRAINING_FILE - self.training_images
        check_number("validation_images", self.validation_images, 1, most)
        check_number("test_images", self.test_images, 1, TEST_FILE)

    @property
    def item_shape(self) -> tuple[int, ...]:
        """White or black, one-hot."""
        return (2,)

    @property
    def length(self) -> int:
        """Number of pixels of a training image; a test may have more."""
        return self.side**2

    @property
    def num_outputs(self) -> int:
        """Number of digits, each with a logit."""
        return DIGITS

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Training, validation, then the tests by the size of their images."""
        tests = {f"side-{side}": side - self.side for side in self.test_sides}
        known = {TRAINING: 0, VALIDATION: 0}
        return regimes_at("pixels of the side beyond training", known | tests)

    def is_at_hand(self) -> bool:
        """Check whether the four files of MNIST are on this machine."""
        return MNIST.is_at_hand()

    def by_hand(self, problems: Problems, training: Problems) -> Float[Tensor, "batch answer"]:
        """Return the outputs of the nearest class mean, of pixels resampled to the training side.

        Args:
            problems: Items and their index; without targets.
            training: Training problems of the run.
        """
        side = math.isqrt(problems.index.shape[1])
        kept = torch.arange(self.side) * side // self.side
        shown, known = (some.table()[:, 1][some.index] for some in (problems, training))
        read = shown.reshape(-1, side, side)[:, kept[:, None], kept].flatten(1)
        return nearest_class(read, known, training.target, DIGITS)

    def _numbers(self, run: Stream) -> dict[str, Int64[np.ndarray, " item"]]:
        """Draw the images of each regime in its file, no training image in validation."""
        branch = run.child(self.name, f"v{self.version}")
        order = permutation(branch.child("images").numpy(), TRAINING_FILE)
        test = permutation(branch.child("test").numpy(), TEST_FILE)[: self.test_images]
        own = {
            TRAINING: order[: self.training_images],
            VALIDATION: order[-self.validation_images :],
        }
        return {regime.name: own.get(regime.name, test) for regime in self.regimes}

    def draw(self, stream: Stream) -> dict[str, Problems]:
        """Draw the sets of a run, by regime name.

        Raises:
            ValueError: If the files are missing, or differ from the published ones.
        """
        return self._made(self._numbers(stream))

    def sample(self, regime: str, n: int, generator: np.random.Generator) -> Problems:
        """Sample `n` problems, with replacement, from the set of a regime in run 0.

        Raises:
            ValueError: If the files are missing, or differ from the published ones.
        """
        check_regime(regime, self.regimes)
        check_number("n", n, 1, MOST)
        numbers = self._numbers(stream(0))[regime]
        return self._made({regime: numbers[integers(generator, len(numbers), n)]})[regime]

    def _made(self, numbers: Mapping[str, Int64[np.ndarray, " item"]]) -> dict[str, Problems]:
        """Build the problems of each regime from image indices."""
        sides = (self.side, self.side, *self.test_sides)
        side_of = {regime.name: side for regime, side in zip(self.regimes, sides, strict=True)}
        made = {}
        for part, regimes in (
            ("train", [regime for regime in numbers if regime in (TRAINING, VALIDATION)]),
            ("t10k", [regime for regime in numbers if regime not in (TRAINING, VALIDATION)]),
        ):
            if regimes:
                images = MNIST.read(f"{part}-images-idx3-ubyte.gz")
                labels = MNIST.read(f"{part}-labels-idx1-ubyte.gz")
            for regime in regimes:
                rows = numbers[regime]
                made[regime] = Problems(
                    items=torch.eye(2),
                    index=torch.from_numpy(pixels(images[rows], side_of[regime])),
                    target=torch.from_numpy(labels[rows].astype(np.int64)),
                    latent={"image": torch.from_numpy(rows)},
                )
        return made


def pixels(
    images: UInt8[np.ndarray, "batch height width"], side: int
) -> Int64[np.ndarray, "batch time"]:
    """Resize images in black and white, row by row.

    Args:
        images: The originals; 0 is paper.
        side: Height and width, pixels.
    """
    kept = [np.arange(side) * size // side for size in images.shape[1:]]
    small = images[:, kept[0][:, None], kept[1]] >= INK
    return small.reshape(len(images), -1).astype(np.int64)
