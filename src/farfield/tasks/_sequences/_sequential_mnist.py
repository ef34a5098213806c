"""MNIST read pixel by pixel, at sizes that training does not show (lamb2022)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, Literal, final

import numpy as np
import torch
from jaxtyping import Float, Int64, UInt8
from torch import Tensor
from torch.nn import functional as F

from farfield.core import Problems, Stream, stream
from farfield.core.internal import check_fields
from farfield.functional.internal import find_rows, row_positions
from farfield.tasks._files._known_data_sets import KMNIST, KMNIST_EXCERPT, KMNIST_TEST, MNIST
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
TRAINING_FILES: Final = {"mnist": 60_000, "kmnist-first7011": 7_011}
"""Number of images in the training file of each data set."""
TEST_FILE: Final = 10_000
KNOWN: Final = 500
"""Most training images whose rows the rule by hand finds."""


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
    file and share none; tests are drawn from the 10,000 of the test file. With `blanks` and
    `widths` there are further tests of these images, as many rows high as the last of
    `test_sides`: `24-by-20` is 20 pixels wide; `before-13` and `after-13` have 13 blank pixels
    before the first pixel or after the last, and of `first-13-missing` and `last-13-missing` 13
    pixels are not shown.

    **Score, floor and ceiling.** Share of right answers; 0.1 by guessing, 0.1135 by
    naming always the most frequent digit of the test file. The ceiling is the published labels.
    The rule by hand is the nearest class mean, of images whose side is known, or whose rows are
    found in the sequence (`find_rows`) where there are blanks or widths.

    **Known shortcuts.** The number of black pixels alone separates 1 from 0. It grows with the
    side.

    **Source and deviations.** Lamb 2022, section 8.4.1; rounding and resizing after the authors'
    code, which draws 48,000 training images and 12,000 for validation from one seed; here each
    run draws its own. That code chooses the weights on the validation images at the size of
    the test; here validation has the size of training only. Blanks, widths and K-MNIST, ten
    characters of cursive Japanese, are Farfield's own.

    Args:
        side: Height and width of a training image, pixels.
        test_sides: The same in the tests, ascending.
        training_images: Number of training images.
        validation_images: Number of images that models may be chosen on.
        test_images: Number of images of each test.
        data_set: `"mnist"`, or `"kmnist-first7011"`, whose training file is the first 7,011 images
            of K-MNIST.
        blanks: Numbers of pixels before, after or missing in further tests, ascending.
        widths: Widths of the images of further tests, pixels, ascending.

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
    data_set: Literal["mnist", "kmnist-first7011"] = "mnist"
    blanks: tuple[int, ...] = ()
    widths: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        check_fields(self)
        check_number("side", self.side, 1, LARGEST)
        for side in self.test_sides:
            check_number("test_sides", side, self.side, LARGEST)
        if not self.test_sides or sorted(set(self.test_sides)) != list(self.test_sides):
            raise ValueError(
                f"test_sides must be one or more ascending sides, got {self.test_sides}"
            )
        for name, most in (("blanks", self.test_sides[0] ** 2 - 1), ("widths", LARGEST)):
            numbers: tuple[int, ...] = getattr(self, name)
            for number in numbers:
                check_number(name, number, 1, most)
            if sorted(set(numbers)) != list(numbers):
                raise ValueError(f"{name} must be ascending, got {numbers}")
        check_number("training_images", self.training_images, 1, self._pool - 1)
        most = self._pool - self.training_images
        check_number("validation_images", self.validation_images, 1, most)
        check_number("test_images", self.test_images, 1, TEST_FILE)

    @property
    def _pool(self) -> int:
        """Number of images in the training file."""
        return TRAINING_FILES[self.data_set]

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
        distances = {name: height - self.side for name, (height, *_) in self._shapes().items()}
        return regimes_at("pixels of the side beyond training", distances)

    def _shapes(self) -> dict[str, tuple[int, int, int, int]]:
        """Return height, width, and pixels before and after (missing: negative) by regime."""
        last = self.test_sides[-1]
        shapes = dict.fromkeys((TRAINING, VALIDATION), (self.side, self.side, 0, 0))
        shapes |= {f"side-{side}": (side, side, 0, 0) for side in self.test_sides}
        shapes |= {f"{last}-by-{width}": (last, width, 0, 0) for width in self.widths}
        for number in self.blanks:
            shapes[f"before-{number}"] = (last, last, number, 0)
            shapes[f"after-{number}"] = (last, last, 0, number)
            shapes[f"first-{number}-missing"] = (last, last, -number, 0)
            shapes[f"last-{number}-missing"] = (last, last, 0, -number)
        return shapes

    def is_at_hand(self) -> bool:
        """Check whether the files of the data set are on this machine."""
        if self.data_set == "mnist":
            return MNIST.is_at_hand()
        return KMNIST_EXCERPT.is_at_hand() and KMNIST.is_at_hand(*KMNIST_TEST)

    def by_hand(self, problems: Problems, training: Problems) -> Float[Tensor, "batch answer"]:
        """Return the outputs of the nearest class mean, of pixels resampled to the training side.

        Args:
            problems: Items and their index; without targets.
            training: Training problems of the run.
        """
        if self.blanks or self.widths:
            training = training[:KNOWN]
            read, known = (self._framed(some) for some in (problems, training))
            return nearest_class(read, known, training.target, DIGITS)
        side = math.isqrt(problems.index.shape[1])
        kept = torch.arange(self.side) * side // self.side
        shown, known = (some.table()[:, 1][some.index] for some in (problems, training))
        read = shown.reshape(-1, side, side)[:, kept[:, None], kept].flatten(1)
        return nearest_class(read, known, training.target, DIGITS)

    def _framed(self, problems: Problems) -> Float[Tensor, "batch pixel"]:
        """Find the rows of sequences; show their figures in the middle of a training image."""
        shown = problems.table()[:, 1][problems.index]
        line = (torch.arange(self.side) + 0.5) / self.side - 0.5
        down, across = (part[None] for part in torch.meshgrid(line, line, indexing="ij"))
        places = row_positions(find_rows(shown.unsqueeze(2)), down, across, shown.shape[1])
        return shown.gather(1, places.flatten(1))

    def _numbers(self, run: Stream) -> dict[str, Int64[np.ndarray, " item"]]:
        """Draw the images of each regime in its file, no training image in validation."""
        branch = run.child(self.name, f"v{self.version}")
        order = permutation(branch.child("images").numpy(), self._pool)
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
        shapes, made = self._shapes(), {}
        for part, regimes in (
            ("train", [regime for regime in numbers if regime in (TRAINING, VALIDATION)]),
            ("t10k", [regime for regime in numbers if regime not in (TRAINING, VALIDATION)]),
        ):
            if regimes:
                images, labels = self._read(part)
            for regime in regimes:
                rows = numbers[regime]
                height, width, before, after = shapes[regime]
                index = torch.from_numpy(pixels(images[rows], height, width))
                made[regime] = Problems(
                    items=torch.eye(2),
                    index=F.pad(index, (before, after)),
                    target=torch.from_numpy(labels[rows].astype(np.int64)),
                    latent={"image": torch.from_numpy(rows)},
                )
        return made

    def _read(
        self, part: str
    ) -> tuple[UInt8[np.ndarray, "item height width"], UInt8[np.ndarray, " item"]]:
        """Read images and labels of the training file or the test file."""
        source = MNIST
        if self.data_set != "mnist":
            source = KMNIST if part == "t10k" else KMNIST_EXCERPT
            part = "t10k" if part == "t10k" else "train-first7011"
        images = source.read(f"{part}-images-idx3-ubyte.gz")
        return images, source.read(f"{part}-labels-idx1-ubyte.gz")


def pixels(
    images: UInt8[np.ndarray, "batch height width"], height: int, width: int | None = None
) -> Int64[np.ndarray, "batch time"]:
    """Resize images in black and white, row by row.

    Args:
        images: The originals; 0 is paper.
        height: Height, pixels.
        width: Width, pixels; `None` for the height.
    """
    sides = (height, height if width is None else width)
    kept = [
        np.arange(side) * size // side for side, size in zip(sides, images.shape[1:], strict=True)
    ]
    small = images[:, kept[0][:, None], kept[1]] >= INK
    return small.reshape(len(images), -1).astype(np.int64)
