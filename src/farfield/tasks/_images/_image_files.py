"""Image sets that tasks of classes are made from, by their names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, final

import numpy as np

from farfield.tasks._digits._digits import KEPT
from farfield.tasks._files._data_sets import DataSet
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
    LabelledImages,
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
        statistics: Those that the papers give; `None` where they are computed.
    """

    shape: tuple[int, int, int]
    classes: int
    training: int
    test: int
    is_at_hand: Callable[[], bool]
    read: Callable[[bool], LabelledImages]
    statistics: ChannelStatistics | None = None


def _idx(training: DataSet, test: DataSet, parts: tuple[str, str], is_test: bool) -> LabelledImages:
    """Gray images of files in IDX format."""
    images, labels = idx_images(test if is_test else training, parts[is_test])
    return images[:, None], labels


def _svhn(is_test: bool) -> LabelledImages:
    """House numbers, cropped to one digit."""
    return house_numbers(SVHN, SVHN.files[is_test].name)


def _svhn_excerpt(is_test: bool) -> LabelledImages:
    """The first 1,083 training images; the last fifth of them for tests, as in `Digits`."""
    images, labels = house_numbers(SVHN_EXCERPT, SVHN_EXCERPT.files[0].name)
    part = slice(KEPT, None) if is_test else slice(KEPT)
    return images[part], labels[part]


def _cifar(data_set: DataSet, classes: int, is_test: bool) -> LabelledImages:
    """Files in the binary layout, of which the last one is for tests."""
    names = [file.name for file in data_set.files]
    return record_images(data_set, names[-1:] if is_test else names[:-1], classes)


def _decoded(
    read: Callable[[], Records],
    shape: tuple[int, int, int],
    classes: int,
    training: int,
    is_test: bool,
) -> LabelledImages:
    """Records of JPEG files, those for tests behind the others."""
    part = slice(training, None) if is_test else slice(training)
    return split_records(read()[part], shape, classes)


def _of_bytes(mean: tuple[float, ...], std: tuple[float, ...]) -> ChannelStatistics:
    """Statistics given for bytes, as fractions."""
    first, second = ((np.array(row) / 255).tolist() for row in (mean, std))
    return ChannelStatistics(tuple(first), tuple(second))


_HALVES: Final = ChannelStatistics((0.5,) * 3, (0.5,) * 3)
_CIFAR10: Final = _of_bytes((125.3, 123.0, 113.9), (63.0, 62.1, 66.7))
_CIFAR100: Final = _of_bytes((129.3, 124.1, 112.4), (68.2, 65.4, 70.4))

IMAGE_FILES: Final[dict[str, ImageFiles]] = {
    "cifar10": ImageFiles(
        shape=_SMALL,
        classes=10,
        training=50_000,
        test=10_000,
        is_at_hand=CIFAR10.is_at_hand,
        read=partial(_cifar, CIFAR10, 10),
        statistics=_CIFAR10,
    ),
    "cifar10-exact-8068": ImageFiles(
        shape=_SMALL,
        classes=10,
        training=8_068,
        test=10_000,
        is_at_hand=CIFAR10_EXCERPT.is_at_hand,
        read=partial(_cifar, CIFAR10_EXCERPT, 10),
        statistics=_CIFAR10,
    ),
    "cifar10-jpeg": ImageFiles(
        shape=_SMALL,
        classes=10,
        training=50_000,
        test=10_000,
        is_at_hand=CIFAR10_JPEG.is_at_hand,
        read=partial(_decoded, partial(jpeg_copy, CIFAR10_JPEG), _SMALL, 10, 50_000),
        statistics=_CIFAR10,
    ),
    "cifar100": ImageFiles(
        shape=_SMALL,
        classes=100,
        training=50_000,
        test=10_000,
        is_at_hand=CIFAR100.is_at_hand,
        read=partial(_cifar, CIFAR100, 100),
        statistics=_CIFAR100,
    ),
    "cifar100-first1117": ImageFiles(
        shape=_SMALL,
        classes=100,
        training=1_117,
        test=916,
        is_at_hand=CIFAR100_EXCERPT.is_at_hand,
        read=partial(_cifar, CIFAR100_EXCERPT, 100),
        statistics=_CIFAR100,
    ),
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
    "mnist": ImageFiles(
        shape=_GRAY,
        classes=10,
        training=60_000,
        test=10_000,
        is_at_hand=MNIST.is_at_hand,
        read=partial(_idx, MNIST, MNIST, ("train", "t10k")),
    ),
    "kmnist": ImageFiles(
        shape=_GRAY,
        classes=10,
        training=60_000,
        test=10_000,
        is_at_hand=KMNIST.is_at_hand,
        read=partial(_idx, KMNIST, KMNIST, ("train", "t10k")),
    ),
    "kmnist-first7011": ImageFiles(
        shape=_GRAY,
        classes=10,
        training=7_011,
        test=10_000,
        is_at_hand=lambda: KMNIST_EXCERPT.is_at_hand() and KMNIST.is_at_hand(*KMNIST_TEST),
        read=partial(_idx, KMNIST_EXCERPT, KMNIST, ("train-first7011", "t10k")),
    ),
    "fashion-mnist": ImageFiles(
        shape=_GRAY,
        classes=10,
        training=60_000,
        test=10_000,
        is_at_hand=FASHION_MNIST.is_at_hand,
        read=partial(_idx, FASHION_MNIST, FASHION_MNIST, ("train", "t10k")),
    ),
    "fashion-mnist-first8226": ImageFiles(
        shape=_GRAY,
        classes=10,
        training=8_226,
        test=6_978,
        is_at_hand=FASHION_MNIST_EXCERPT.is_at_hand,
        read=partial(
            _idx,
            FASHION_MNIST_EXCERPT,
            FASHION_MNIST_EXCERPT,
            ("train-first8226", "t10k-first6978"),
        ),
    ),
}
"""Every set of images, by its name."""
