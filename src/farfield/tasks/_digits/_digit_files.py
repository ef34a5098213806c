"""The files that digits are read from: images and labels of each, for training and for tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, final

from farfield.core import stream
from farfield.tasks._digits._digit_images import (
    SMALL,
    BlendedImages,
    ColorImages,
    GreyImages,
    Images,
    corners,
)
from farfield.tasks._files._data_sets import DataSet
from farfield.tasks._files._known_data_sets import MNIST, SVHN, SVHN_EXCERPT
from farfield.tasks._files._labelled_images import Labels, house_numbers, idx_images
from farfield.tasks._files._photographs import has_photographs, read_photographs

BLEND_VERSION: Final = 1
"""Raised when any byte of MNIST-M changes."""
KEPT: Final = 866
"""Images of the excerpt of SVHN that are not for tests: four fifths."""


@final
@dataclass(frozen=True, kw_only=True)
class DigitFiles:
    """A set of digits, with one part for training and one for tests.

    Args:
        source: What its images are numbered by: sets of the same source show the same digits.
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
    """MNIST as it is."""
    del photographs
    images, labels = idx_images(MNIST, "t10k" if is_test else "train")
    return GreyImages(images), labels


def _mnist_m(photographs: str, is_test: bool) -> tuple[Images, Labels]:
    """MNIST over photographs: always the same piece behind the same digit."""
    part = "t10k" if is_test else "train"
    images, labels = idx_images(MNIST, part)
    behind = read_photographs(photographs, SMALL)
    place = stream(0, "mnist-m", f"v{BLEND_VERSION}", part)
    return BlendedImages(images, behind, corners(place, len(images), behind.sizes)), labels


def _svhn(photographs: str, is_test: bool) -> tuple[Images, Labels]:
    """House numbers, cropped to one digit."""
    del photographs
    return _house_numbers(SVHN, "test_32x32.mat" if is_test else "train_32x32.mat")


def _svhn_excerpt(photographs: str, is_test: bool) -> tuple[Images, Labels]:
    """The first 1,083 training images; the last fifth of them for tests."""
    del photographs
    images, labels = _house_numbers(SVHN_EXCERPT, SVHN_EXCERPT.files[0].name)
    part = slice(KEPT, None) if is_test else slice(KEPT)
    return ColorImages(images.originals[part]), labels[part]


def _house_numbers(data_set: DataSet, name: str) -> tuple[ColorImages, Labels]:
    """Images and labels of a file of SVHN."""
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
"""Every set of digits, by its name."""
