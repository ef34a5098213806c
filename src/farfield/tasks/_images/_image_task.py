"""Base of tasks of naming the class of an image, its image sets and their statistics."""

from __future__ import annotations

import hashlib
import math
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Final, Self, final

import numpy as np
import torch
from jaxtyping import Float, Float64, Int64, UInt8
from torch import Tensor

from farfield.core import Problems, Stream
from farfield.core.internal import UnknownNameError, check_fields
from farfield.functional.internal import MeanImages, PixelSpectrum
from farfield.metrics import expected_calibration_error
from farfield.metrics.internal import negative_log_likelihood, top_k_accuracy
from farfield.tasks._digits._digits import KEPT
from farfield.tasks._files._data_sets import DataSet, cached_array
from farfield.tasks._files._known_data_sets import (
    CIFAR10,
    CIFAR10_EXCERPT,
    CIFAR10_JPEG,
    CIFAR100,
    CIFAR100_EXCERPT,
    FASHION_MNIST,
    FASHION_MNIST_EXCERPT,
    KMNIST,
    KMNIST_EXCERPT,
    KMNIST_TEST,
    MNIST,
    SVHN,
    SVHN_EXCERPT,
)
from farfield.tasks._files._labelled_images import (
    CLASSES,
    OF_A_CLASS,
    Images,
    LabelledImages,
    Labels,
    Records,
    has_tiny_imagenet,
    house_numbers,
    idx_images,
    jpeg_copy,
    record_images,
    split_records,
    tiny_imagenet,
)
from farfield.tasks._protocol._abilities import ChannelStatistics
from farfield.tasks._protocol._answers import ClassTask, check_outputs
from farfield.tasks._protocol._draws import NO_LABEL, UNLABELLED, label_split, permutation
from farfield.tasks._protocol._task import (
    CHANNELS_FIRST,
    TEST,
    VALIDATION,
    Form,
    Regime,
    SingleItem,
    alike_regimes,
    check_number,
)

_GRAY: Final = (1, 28, 28)
_SMALL: Final = (3, 32, 32)


@final
@dataclass(frozen=True, kw_only=True)
class ImageFiles:
    """A set of images of classes, with one part for training and one for tests.

    Args:
        shape: Channels, height and width of an image.
        classes: Number of classes.
        training: Number of images that are not for tests.
        test: Number of images for tests.
        is_at_hand: Whether its files are on this machine.
        read: Images and labels, given whether those for tests.
        statistics: Statistics of the papers; `None` for computed statistics.
    """

    shape: tuple[int, int, int]
    classes: int
    training: int
    test: int
    is_at_hand: Callable[[], bool]
    read: Callable[[bool], LabelledImages]
    statistics: ChannelStatistics | None = None


def _idx(training: DataSet, test: DataSet, parts: tuple[str, str], is_test: bool) -> LabelledImages:
    """Read gray images of files in IDX format."""
    images, labels = idx_images(test if is_test else training, parts[is_test])
    return images[:, None], labels


def _svhn(is_test: bool) -> LabelledImages:
    """Read house numbers, cropped to one digit."""
    return house_numbers(SVHN, SVHN.files[is_test].name)


def _svhn_excerpt(is_test: bool) -> LabelledImages:
    """Read the first 1,083 training images; the last fifth is for tests, as in `Digits`."""
    images, labels = house_numbers(SVHN_EXCERPT, SVHN_EXCERPT.files[0].name)
    part = slice(KEPT, None) if is_test else slice(KEPT)
    return images[part], labels[part]


def _cifar(data_set: DataSet, classes: int, is_test: bool) -> LabelledImages:
    """Read files in the binary layout; the last file is for tests."""
    names = [file.name for file in data_set.files]
    return record_images(data_set, names[-1:] if is_test else names[:-1], classes)


def _decoded(
    read: Callable[[], Records],
    shape: tuple[int, int, int],
    classes: int,
    training: int,
    is_test: bool,
) -> LabelledImages:
    """Read records of JPEG files; records for tests follow the training records."""
    part = slice(training, None) if is_test else slice(training)
    return split_records(read()[part], shape, classes)


def _of_bytes(mean: tuple[float, ...], std: tuple[float, ...]) -> ChannelStatistics:
    """Convert statistics of bytes to fractions."""
    first, second = ((np.array(row) / 255).tolist() for row in (mean, std))
    return ChannelStatistics(tuple(first), tuple(second))


_HALVES: Final = ChannelStatistics((0.5,) * 3, (0.5,) * 3)
_CIFAR10: Final = _of_bytes((125.3, 123.0, 113.9), (63.0, 62.1, 66.7))
_CIFAR100: Final = _of_bytes((129.3, 124.1, 112.4), (68.2, 65.4, 70.4))


def _cifar_files(
    data_set: DataSet, classes: int, counts: tuple[int, int], statistics: ChannelStatistics
) -> ImageFiles:
    """Describe a set in the binary layout, with numbers of images for training and for tests."""
    return ImageFiles(
        shape=_SMALL,
        classes=classes,
        training=counts[0],
        test=counts[1],
        is_at_hand=data_set.is_at_hand,
        read=partial(_cifar, data_set, classes),
        statistics=statistics,
    )


def _gray_files(
    data_set: DataSet,
    counts: tuple[int, int] = (60_000, 10_000),
    parts: tuple[str, str] = ("train", "t10k"),
) -> ImageFiles:
    """Describe a set in IDX format, with numbers of images for training and for tests."""
    return ImageFiles(
        shape=_GRAY,
        classes=10,
        training=counts[0],
        test=counts[1],
        is_at_hand=data_set.is_at_hand,
        read=partial(_idx, data_set, data_set, parts),
    )


IMAGE_FILES: Final[dict[str, ImageFiles]] = {
    "cifar10": _cifar_files(CIFAR10, 10, (50_000, 10_000), _CIFAR10),
    "cifar10-exact-8068": _cifar_files(CIFAR10_EXCERPT, 10, (8_068, 10_000), _CIFAR10),
    "cifar10-jpeg": ImageFiles(
        shape=_SMALL,
        classes=10,
        training=50_000,
        test=10_000,
        is_at_hand=CIFAR10_JPEG.is_at_hand,
        read=partial(_decoded, partial(jpeg_copy, CIFAR10_JPEG), _SMALL, 10, 50_000),
        statistics=_CIFAR10,
    ),
    "cifar100": _cifar_files(CIFAR100, 100, (50_000, 10_000), _CIFAR100),
    "cifar100-first1117": _cifar_files(CIFAR100_EXCERPT, 100, (1_117, 916), _CIFAR100),
    "svhn": ImageFiles(
        shape=_SMALL,
        classes=10,
        training=73_257,
        test=26_032,
        is_at_hand=SVHN.is_at_hand,
        read=_svhn,
        statistics=_HALVES,
    ),
    "svhn-first1083": ImageFiles(
        shape=_SMALL,
        classes=10,
        training=KEPT,
        test=1_083 - KEPT,
        is_at_hand=SVHN_EXCERPT.is_at_hand,
        read=_svhn_excerpt,
        statistics=_HALVES,
    ),
    "tiny-imagenet": ImageFiles(
        shape=(3, 64, 64),
        classes=CLASSES,
        training=CLASSES * OF_A_CLASS,
        test=10_000,
        is_at_hand=has_tiny_imagenet,
        read=partial(_decoded, tiny_imagenet, (3, 64, 64), CLASSES, CLASSES * OF_A_CLASS),
        statistics=_HALVES,
    ),
    "mnist": _gray_files(MNIST),
    "kmnist": _gray_files(KMNIST),
    "kmnist-first7011": ImageFiles(
        shape=_GRAY,
        classes=10,
        training=7_011,
        test=10_000,
        is_at_hand=lambda: KMNIST_EXCERPT.is_at_hand() and KMNIST.is_at_hand(*KMNIST_TEST),
        read=partial(_idx, KMNIST_EXCERPT, KMNIST, ("train-first7011", "t10k")),
    ),
    "fashion-mnist": _gray_files(FASHION_MNIST),
    "fashion-mnist-first8226": _gray_files(
        FASHION_MNIST_EXCERPT, (8_226, 6_978), ("train-first8226", "t10k-first6978")
    ),
}
"""Sets of images, by their names."""


_PART: Final = 2_000
"""Images whose products are taken together."""


def channel_statistics(images: Images) -> ChannelStatistics:
    """Compute mean and standard deviation of each channel, of fractions; sums are exact.

    Args:
        images: All images.
    """
    counts = [
        np.bincount(images[:, channel].reshape(-1), minlength=256)
        for channel in range(images.shape[1])
    ]
    values = np.arange(256)
    total = images[:, 0].size
    first = [int((count * values).sum()) for count in counts]
    second = [int((count * values**2).sum()) for count in counts]
    variances = [(total * two - one**2) / total**2 for one, two in zip(first, second, strict=True)]
    return ChannelStatistics(
        tuple(one / total / 255 for one in first),
        tuple(math.sqrt(variance) / 255 for variance in variances),
    )


def mean_images(training: Images, test: UInt8[np.ndarray, "_ channel height width"]) -> MeanImages:
    """Compute means of images, pixel by pixel, as fractions; sums are exact.

    Args:
        training: All training images.
        test: All images of the test.
    """
    own, other = (images.sum(0, dtype=np.int64) for images in (training, test))
    count = len(training)
    means = own / count / 255, (own + other) / (count + len(test)) / 255
    return MeanImages(*map(torch.from_numpy, means))


def pixel_spectrum(images: Images, statistics: ChannelStatistics) -> PixelSpectrum:
    """Load mean and principal directions of standardized images from the cache, or compute them.

    Args:
        images: All images, of at most 372,000 so that sums are exact.
        statistics: Statistics of the standardization.
    """
    size = int(np.prod(images.shape[1:]))
    digest = hashlib.sha256(repr(("pixel-spectrum v1", images.shape, statistics)).encode())
    digest.update(np.ascontiguousarray(images).data)
    found = cached_array(
        digest.hexdigest(),
        (size + 2, size),
        np.dtype(np.float64),
        lambda: _spectrum(images, statistics),
    )
    mean, values, vectors = found[0], found[1], found[2:]
    return PixelSpectrum(*(torch.tensor(part) for part in (mean, values, vectors)))


def _spectrum(images: Images, statistics: ChannelStatistics) -> Float64[np.ndarray, "row value"]:
    """Compute the mean, the variances along the principal directions, and these as columns."""
    count, pixels = len(images), images[0, 0].size
    flat = images.reshape(count, -1)
    products = np.zeros((flat.shape[1],) * 2)
    for start in range(0, count, _PART):
        part = flat[start : start + _PART].astype(np.float64)
        products += part.T @ part
    sums = flat.sum(0, dtype=np.int64).astype(np.float64)
    # Integers below 2^53 = 9e15, and so exact in any order: count² · 255².
    covariance = (count * products - np.outer(sums, sums)) / count**2
    mean, std = (np.repeat(row, pixels) for row in statistics)
    values, vectors = np.linalg.eigh(covariance / np.outer(std, std) / 255**2)
    return np.concatenate([[(sums / count / 255 - mean) / std], [values], vectors])


_TOP: Final = 5
_BINS: Final = 15

Rows = Mapping[str, Int64[np.ndarray, " batch"]]
"""Numbers of images in the training file, by the set that they are for."""


class ImageTask(SingleItem, ClassTask):
    """A task on a set of images, some of whose training images are held out for validation."""

    name: ClassVar[str]
    version: ClassVar[int]
    form: ClassVar[Form] = Form(axes=CHANNELS_FIRST, arrangement="single")
    training_scored: ClassVar[int] = 2_000

    data_set: str
    labels_per_class: int | None
    validation_per_class: int
    test_images: int

    def __post_init__(self) -> None:
        check_fields(self)  # type: ignore[arg-type]  # its classes are dataclasses
        if self.data_set not in IMAGE_FILES:
            raise UnknownNameError("data set", self.data_set, IMAGE_FILES)
        most = self._files.training - 1
        check_number("validation_per_class", self.validation_per_class, 0, most)

    @property
    def _files(self) -> ImageFiles:
        return IMAGE_FILES[self.data_set]

    @property
    def item_shape(self) -> tuple[int, ...]:
        """Channels, height and width of an image."""
        return self._files.shape

    @property
    def num_outputs(self) -> int:
        """Number of classes, each with a logit."""
        return self._files.classes

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Training, validation where images are held out for it, and the test."""
        return alike_regimes("classes that training lacks", self.validation_per_class)

    def with_validation(self) -> Self:
        """Copy the task with a tenth of its training images, by class, held out for validation."""
        tenth = self._files.training // self.num_outputs // 10
        return replace(self, validation_per_class=max(1, tenth))  # type: ignore[type-var]

    def is_at_hand(self) -> bool:
        """Check whether the files of the images are on this machine."""
        return self._files.is_at_hand()

    def draw(self, stream: Stream) -> dict[str, Problems]:
        """Draw the sets of a run, by name.

        Raises:
            ValueError: If a file is missing or differs from the published one, or a class lacks as
                many images.
        """
        branch = stream.child("image-classes", f"v{self.version}", self.data_set)
        images, labels = self._files.read(False)
        sets = {
            name: _problems(images, labels if name != UNLABELLED else None, rows)
            for name, rows in self._rows(labels, branch.child("images")).items()
            if name != VALIDATION or self.validation_per_class
        }
        test = permutation(branch.child("test").numpy(), self._files.test)[: self.test_images]
        return sets | {TEST: _problems(*self._files.read(True), test)}

    def _split(
        self, labels: Int64[np.ndarray, " item"], branch: Stream
    ) -> dict[str, Int64[np.ndarray, " batch"]]:
        """Split the rows of the training file: with labels, without, and for validation."""
        return label_split(
            labels,
            self.num_outputs,
            branch,
            labels_per_class=self.labels_per_class,
            validation_per_class=self.validation_per_class,
        )

    @abstractmethod
    def _rows(self, labels: Int64[np.ndarray, " item"], branch: Stream) -> Rows:
        """Draw the rows of the training file for each set."""

    def set_scores(
        self, outputs: Float[Tensor, "batch class"], problems: Problems
    ) -> dict[str, float]:
        """Compute the scores of a set: error, negative log-likelihood, top-5 accuracy, calibration.

        Args:
            outputs: Logits.

        Raises:
            ValueError: If `outputs` is not of `(batch, num_outputs)`.
        """
        check_outputs(outputs, problems, self.num_outputs)
        target = problems.target
        return {
            "error": 1 - float(self.score(outputs, problems).double().mean()),
            "nll": float(negative_log_likelihood(outputs, target)),
            "top-5": float(top_k_accuracy(outputs, target, _TOP)),
            "ece": float(expected_calibration_error(outputs, target, bins=_BINS)),
        }

    def channel_statistics(self) -> ChannelStatistics:
        """Return mean and standard deviation of each channel, as in the papers or of the file.

        Raises:
            ValueError: If a file is needed and missing.
        """
        return self._files.statistics or channel_statistics(self._files.read(False)[0])

    def pixel_spectrum(self) -> PixelSpectrum:
        """Compute mean and principal directions of all standardized images of the training file.

        They are kept in the cache folder: to find those of 50,000 images in color takes minutes.

        Raises:
            ValueError: If a file is missing.
        """
        return pixel_spectrum(self._files.read(False)[0], self.channel_statistics())

    def mean_images(self) -> MeanImages:
        """Compute the means of all images of the training file, and of both files.

        Raises:
            ValueError: If a file is missing.
        """
        return mean_images(*(self._files.read(is_test)[0] for is_test in (False, True)))


def _problems(images: Images, labels: Labels | None, rows: Int64[np.ndarray, " batch"]) -> Problems:
    """Make a problem for each row, over a table of its images alone."""
    target = np.full(len(rows), NO_LABEL) if labels is None else labels[rows]
    return Problems(
        items=torch.from_numpy(images[rows]),
        index=torch.arange(len(rows))[:, None],
        target=torch.from_numpy(target),
        latent={"image": torch.from_numpy(rows)},
    )
