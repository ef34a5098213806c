"""Digits of several data sets at once (gondal2021)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Final, final

import numpy as np
import torch
from jaxtyping import Bool, Float, Float32, Int64, UInt8
from torch import Tensor
from torch.nn import functional as F

from farfield.core import Problems, Stream, stream
from farfield.core.internal import LazyItems, UnknownNameError, check_fields
from farfield.metrics import correct
from farfield.tasks._files._data_sets import DataSet
from farfield.tasks._files._known_data_sets import MNIST, SVHN, SVHN_EXCERPT
from farfield.tasks._files._labelled_images import Labels, house_numbers, idx_images
from farfield.tasks._files._photographs import (
    BSD,
    Photographs,
    has_photographs,
    photograph_paths,
    read_photographs,
)
from farfield.tasks._protocol._answers import ClassTask, check_outputs
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

BLEND_VERSION: Final = 1
"""Raised when any byte of MNIST-M changes."""
KEPT: Final = 866
"""Images of the excerpt of SVHN that are not for tests: four fifths."""


@final
@dataclass(frozen=True, kw_only=True)
class DigitFiles:
    """A set of digits, with one part for training and one for tests.

    Args:
        source: Source of the image numbers: sets of the same source show the same digits.
        training: Number of images that are not for tests.
        test: Number of images for tests.
        is_at_hand: Whether its files are, given the folder of photographs.
        read: Images and labels, given the folder of photographs and whether those for tests.
    """

    source: str
    training: int
    test: int
    is_at_hand: Callable[[str], bool]
    read: Callable[[str, bool], tuple[Images, Labels]]


def _mnist(photographs: str, is_test: bool) -> tuple[Images, Labels]:
    """Read MNIST unchanged."""
    del photographs
    images, labels = idx_images(MNIST, "t10k" if is_test else "train")
    return GreyImages(images), labels


def _mnist_m(photographs: str, is_test: bool) -> tuple[Images, Labels]:
    """Read MNIST over photographs: always the same piece behind the same digit."""
    part = "t10k" if is_test else "train"
    images, labels = idx_images(MNIST, part)
    behind = read_photographs(photographs, SMALL)
    branch = stream(0, "mnist-m", f"v{BLEND_VERSION}", part)
    return BlendedImages(images, behind, corners(branch, len(images), behind.sizes)), labels


def _svhn(photographs: str, is_test: bool) -> tuple[Images, Labels]:
    """Read house numbers, cropped to one digit."""
    del photographs
    return _house_numbers(SVHN, "test_32x32.mat" if is_test else "train_32x32.mat")


def _svhn_excerpt(photographs: str, is_test: bool) -> tuple[Images, Labels]:
    """Read the first 1,083 training images; the last fifth is for tests."""
    del photographs
    images, labels = _house_numbers(SVHN_EXCERPT, SVHN_EXCERPT.files[0].name)
    part = slice(KEPT, None) if is_test else slice(KEPT)
    return ColorImages(images.originals[part]), labels[part]


def _house_numbers(data_set: DataSet, name: str) -> tuple[ColorImages, Labels]:
    """Read images and labels of a file of SVHN."""
    images, labels = house_numbers(data_set, name)
    return ColorImages(images), labels


DIGIT_FILES: Final[dict[str, DigitFiles]] = {
    "mnist": DigitFiles(
        source="mnist",
        training=60_000,
        test=10_000,
        is_at_hand=lambda _: MNIST.is_at_hand(),
        read=_mnist,
    ),
    "mnist-m": DigitFiles(
        source="mnist",
        training=60_000,
        test=10_000,
        is_at_hand=lambda named: MNIST.is_at_hand() and has_photographs(named),
        read=_mnist_m,
    ),
    "svhn": DigitFiles(
        source="svhn",
        training=73_257,
        test=26_032,
        is_at_hand=lambda _: SVHN.is_at_hand(),
        read=_svhn,
    ),
    "svhn-first1083": DigitFiles(
        source="svhn",
        training=KEPT,
        test=1_083 - KEPT,
        is_at_hand=lambda _: SVHN_EXCERPT.is_at_hand(),
        read=_svhn_excerpt,
    ),
}
"""Sets of digits, by their names."""


SIDE: Final = 32
"""Height and width of the images that are shown, pixels."""
SMALL: Final = 28
"""Height and width of MNIST, K-MNIST and MNIST-M as published, pixels."""
SHOWN: Final = (3, SIDE, SIDE)


Numbers = Int64[np.ndarray, " item"]
Colors = UInt8[np.ndarray, "item 3 32 32"]
Images = Callable[[Numbers], Colors]
"""Function from numbers of images in a file to the images."""


# Each class renders images of a file by their numbers, as bytes of `(item, 3, 32, 32)`, in integer
# arithmetic: the same on every machine.
@final
@dataclass(frozen=True, eq=False)
class GreyImages:
    """Gray images of 28 × 28, as red, green and blue of 32 × 32.

    Args:
        originals: All images; 0 is paper.
    """

    originals: UInt8[np.ndarray, "item 28 28"]

    def __call__(self, numbers: Numbers) -> Colors:
        """Return the images of some numbers."""
        return np.repeat(upsampled(self.originals[numbers])[:, None], 3, axis=1)


@final
@dataclass(frozen=True, eq=False)
class BlendedImages:
    r"""Gray images over pieces of photographs, $|p - d|$ in each color (MNIST-M).

    Args:
        originals: All images; 0 is paper, which the photograph shows through.
        photographs: Source of the pieces.
        corners: Photograph of each image, and row and column of its upper left corner there.
    """

    originals: UInt8[np.ndarray, "item 28 28"]
    photographs: Photographs
    corners: Int64[np.ndarray, "item 3"]

    def __call__(self, numbers: Numbers) -> Colors:
        """Return the images of some numbers."""
        pieces = self.photographs.pieces(self.corners[numbers], SMALL).transpose(0, 3, 1, 2)
        digits = self.originals[numbers][:, None]
        # The larger less the smaller: bytes have no sign.
        return upsampled(np.maximum(pieces, digits) - np.minimum(pieces, digits))


@final
@dataclass(frozen=True, eq=False)
class ColorImages:
    """Render color images unchanged.

    Args:
        originals: All images.
    """

    originals: Colors

    def __call__(self, numbers: Numbers) -> Colors:
        """Return the images of some numbers."""
        return self.originals[numbers]


@final
@dataclass(frozen=True, eq=False)
class Mixture:
    """Renderer of images of several files in one table, for `farfield.core.internal.LazyItems`.

    Args:
        parts: The files, by their numbers.
    """

    parts: Mapping[int, Images]

    def __call__(self, latent: Int64[Tensor, "item 2"]) -> UInt8[Tensor, "item 3 32 32"]:
        """Return the images of rows of latent: number of the file, and number in the file."""
        files, numbers = latent.numpy().T
        shown = np.empty((len(latent), *SHOWN), np.uint8)
        for number, part in self.parts.items():
            rows = files == number
            if rows.any():
                shown[rows] = part(numbers[rows])
        return torch.from_numpy(shown)


def corners(
    branch: Stream, count: int, sizes: Int64[np.ndarray, "item 2"]
) -> Int64[np.ndarray, "batch 3"]:
    """Draw a piece of 28 × 28 anywhere in any photograph, for each image.

    Args:
        branch: Stream of the file that the images are of.
        count: Number of images.
        sizes: Height and width of each photograph, pixels.
    """
    chosen = integers(branch.child("photograph").numpy(), len(sizes), count)
    columns = [chosen]
    for axis, name in enumerate(("row", "column")):
        room = sizes[chosen, axis] - SMALL + 1
        # A word of 64 bits modulo the room: short of uniform by less than one part in 2^50.
        words = np.atleast_1d(branch.child(name).numpy().bit_generator.random_raw(count))
        columns.append((words % room.astype(np.uint64)).astype(np.int64))
    return np.stack(columns, axis=1)


def upsampled(images: UInt8[np.ndarray, "*batch 28 28"]) -> UInt8[np.ndarray, "*batch 32 32"]:
    """Resize images of 28 × 28 to 32 × 32: linear between pixel centers, halves up.

    The weights are sixteenths, so that products and sums are integers that float32 holds exactly.

    Args:
        images: The originals.
    """
    weights = _weights()
    total = weights @ images.astype(np.float32) @ weights.T
    return ((total.astype(np.int32) + 128) >> 8).astype(np.uint8)


def _weights() -> Float32[np.ndarray, "32 28"]:
    """Compute the sixteenths of each original row (or column) in each new row."""
    low, part = np.divmod(14 * np.arange(SIDE) - 1, 16)
    weights = np.zeros((SIDE, SMALL), np.float32)
    for row, share in ((low, 16 - part), (low + 1, part)):
        np.add.at(weights, (np.arange(SIDE), row.clip(0, SMALL - 1)), share)
    return weights


DIGITS: Final = 10
"""Different digits: outputs of each data set."""
LARGEST_FILE: Final = 73_257
HELD_BACK: Final = 10
"""Number of training images of which at most one is for validation."""


@final
@dataclass(frozen=True, kw_only=True)
class Digits(SingleItem, ClassTask):
    r"""Which digit is it? Images of MNIST, MNIST-M and SVHN, with an answer for each data set.

    **Task.** An image in red, green and blue of 32 × 32 pixels, as bytes, shows a digit of one of
    several data sets. The answer is ten logits for each of them, data set after data set; only the
    ten of the data set that the image is from are looked at.

    **Worked example** (two data sets).

    ```text
      image of SVHN     outputs 0…9 (MNIST)   not looked at
      that shows a 7    outputs 10…19 (SVHN)  17 should be the largest
    ```

    **Regimes.** `training` and `validation` mix all data sets, image by image, with a score for
    each; validation is held back from their training files. A test for each data set has its test
    file: `mnist`, `mnist-m`, `svhn`. MNIST and MNIST-M hold back the same digits.

    **Score, floor and ceiling.** Share of right answers; 0.1 by guessing. The ceiling is the
    published labels.

    **Known shortcuts.** None across data sets: an image shows its data set, and no answer asks
    for it. Not all digits are equally frequent (SVHN has more than twice as many 1 as 0).

    **Source and deviations.** Gondal et al. 2021, section 4.2. MNIST-M is made here as Ganin et al.
    2016 describe: |p − d| in each color, with p a piece of 28 × 28 pixels anywhere in any of the
    200 training photographs of BSDS500 and d the gray digit. The piece behind a digit is the same
    in every run; its bytes are those of the decoder of JPEG files. Images of 28 × 28 are brought to
    32 × 32 between the middles of pixels in proportion, rounded to the next byte, halves up; the
    paper states neither its method nor its validation images. `svhn-first1083` is an excerpt for
    machines that lack `svhn`: its first 1,083 training images, the last 217 of which are the test.
    Images are augmented by an objective, not by the task.

    Args:
        data_sets: Names of the data sets, in the order of the outputs: of `mnist`, `mnist-m`,
            and `svhn` or `svhn-first1083`.
        training_images: Most training images of each data set.
        validation_images: Most images of each data set that models may be chosen on, out of the
            training file; at most a tenth of it.
        test_images: Most images of each test.
        photographs: Folder with the photographs of MNIST-M, from FARFIELD_DATA on or as a whole
            path.

    Raises:
        UnknownNameError: If a data set has none of these names.
        ValueError: If a number is out of range, or a data set is there twice.

    Reference:
        gondal2021, section 4.2.
    """

    name: ClassVar[str] = "digits"
    version: ClassVar[int] = 1
    form: ClassVar[Form] = Form(axes=CHANNELS_FIRST, arrangement="single")
    training_scored: ClassVar[int] = 2_000

    data_sets: tuple[str, ...] = ("mnist", "mnist-m", "svhn")
    training_images: int = LARGEST_FILE
    validation_images: int = 5_000
    test_images: int = LARGEST_FILE
    photographs: str = BSD

    def __post_init__(self) -> None:
        check_fields(self)
        for name in self.data_sets:
            if name not in DIGIT_FILES:
                raise UnknownNameError("data set", name, DIGIT_FILES)
        kinds = [name.partition("-first")[0] for name in self.data_sets]
        if not kinds or len(set(kinds)) < len(kinds):
            raise ValueError(
                "data_sets must name one data set or more, none of them twice and no excerpt "
                f"beside its whole, got {self.data_sets}"
            )
        for name in ("training_images", "validation_images", "test_images"):
            check_number(name, getattr(self, name), 1, LARGEST_FILE)

    @property
    def item_shape(self) -> tuple[int, ...]:
        """Colors, height and width of an image."""
        return SHOWN

    @property
    def num_outputs(self) -> int:
        """Number of logits: one for each digit of each data set."""
        return DIGITS * len(self.data_sets)

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Training, validation, then the tests of the data sets."""
        names = (TRAINING, VALIDATION, *self.data_sets)
        return regimes_at("data sets that training lacks", dict.fromkeys(names, 0))

    @cached_property
    def _files(self) -> tuple[DigitFiles, ...]:
        return tuple(DIGIT_FILES[name] for name in self.data_sets)

    def is_at_hand(self) -> bool:
        """Check whether the files of all data sets are on this machine."""
        return all(files.is_at_hand(self.photographs) for files in self._files)

    def input_files(self) -> dict[str, Path]:
        """List the paths of the user's photographs; published files need no listing."""
        if "mnist-m" not in self.data_sets or self.photographs == BSD:
            return {}
        return {path.name: path for path in photograph_paths(self.photographs)}

    def draw(self, stream: Stream) -> dict[str, Problems]:
        """Draw the sets of a run, by regime name.

        Raises:
            ValueError: If a file is missing, or differs from the published one.
        """
        return self._made({regime.name: self._rows(regime.name, stream) for regime in self.regimes})

    def sample(self, regime: str, n: int, generator: np.random.Generator) -> Problems:
        """Sample `n` problems, with replacement, from the set of a regime in run 0.

        Raises:
            ValueError: If a file is missing, or differs from the published one.
        """
        check_regime(regime, self.regimes)
        check_number("n", n, 1, MOST)
        rows = self._rows(regime, stream(0))
        return self._made({regime: rows[integers(generator, len(rows), n)]})[regime]

    def _rows(self, regime: str, run: Stream) -> Int64[np.ndarray, "item 2"]:
        """Draw the images of a regime: position of the data set, and number in its file."""
        branch = run.child(self.name, f"v{self.version}")
        parts = [
            np.stack([np.full_like(numbers, data_set), numbers], axis=1)
            for data_set, name in enumerate(self.data_sets)
            if regime in (TRAINING, VALIDATION, name)
            for numbers in [self._numbers(regime, branch, self._files[data_set])]
        ]
        rows = np.concatenate(parts)
        return rows[permutation(branch.child("mixed", regime).numpy(), len(rows))]

    def _numbers(
        self, regime: str, branch: Stream, files: DigitFiles
    ) -> Int64[np.ndarray, " item"]:
        """Draw the numbers of the images of one data set, no training image in validation."""
        own = branch.child(files.source)
        if regime not in (TRAINING, VALIDATION):
            return permutation(own.child("test").numpy(), files.test)[: self.test_images]
        order = permutation(own.child("images").numpy(), files.training)
        held = min(self.validation_images, files.training // HELD_BACK)
        return order[-held:] if regime == VALIDATION else order[:-held][: self.training_images]

    def _made(self, rows: Mapping[str, Int64[np.ndarray, "... 2"]]) -> dict[str, Problems]:
        """Build the problems of each regime from image indices; a file is read once."""
        made: dict[str, Problems] = {}
        for is_test in (False, True):
            own = {r: n for r, n in rows.items() if (r not in (TRAINING, VALIDATION)) == is_test}
            used = sorted(
                {number for numbers in own.values() for number in np.unique(numbers[:, 0])}
            )
            read = {p: self._files[p].read(self.photographs, is_test) for p in map(int, used)}
            made |= {regime: _problems(numbers, read) for regime, numbers in own.items()}
        return made

    def loss(
        self, outputs: Float[Tensor, "batch value"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Compute the cross-entropy of the ten outputs of the data set of an image.

        Args:
            outputs: Logits.

        Raises:
            ValueError: If `outputs` is not of `(batch, num_outputs)`.
        """
        own = self._own(outputs, problems)
        return F.cross_entropy(own, problems.target % DIGITS, reduction="none")

    def score(
        self, outputs: Float[Tensor, "batch value"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Score 1 where the digit is right, 0 where it is wrong, a tie or not a number.

        Raises:
            ValueError: As `loss`.
        """
        own = self._own(outputs, problems)
        return correct(own, problems.target % DIGITS).to(torch.float32)

    def _own(
        self, outputs: Float[Tensor, "batch value"], problems: Problems
    ) -> Float[Tensor, "batch class"]:
        """Select the outputs of the data set of each image."""
        check_outputs(outputs, problems, self.num_outputs)
        data_set = (problems.target // DIGITS)[:, None, None]
        return outputs.reshape(len(outputs), -1, DIGITS).take_along_dim(data_set, 1)[:, 0]

    def parts(self, problems: Problems) -> dict[str, Bool[Tensor, " batch"]]:
        """Return the mask of the images of each data set that occurs, by its name."""
        of = problems.latent["data_set"]
        return {
            name: chosen
            for number, name in enumerate(self.data_sets)
            if (chosen := of == number).any()
        }

    def chance(self, regime: str) -> float:
        """Return the share of right answers by guessing."""
        check_regime(regime, self.regimes)
        return 1 / DIGITS


def _problems(
    rows: Int64[np.ndarray, "batch 2"], read: Mapping[int, tuple[Images, Int64[np.ndarray, "*_"]]]
) -> Problems:
    """Make a problem for each row; its image is made when it is asked for."""
    digits = np.empty(len(rows), np.int64)
    for number, (_, labels) in read.items():
        own = rows[:, 0] == number
        digits[own] = labels[rows[own, 1]]
    return Problems(
        items=LazyItems(
            latent=torch.from_numpy(rows),
            draw=Mixture({number: images for number, (images, _) in read.items()}),
        ),
        index=torch.arange(len(rows))[:, None],
        target=torch.from_numpy(DIGITS * rows[:, 0] + digits),
        latent={
            "data_set": torch.from_numpy(rows[:, 0].copy()),
            "image": torch.from_numpy(rows[:, 1].copy()),
        },
    )
