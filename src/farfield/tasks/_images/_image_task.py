"""Base of tasks of naming the class of an image."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Final

import numpy as np
import torch
from jaxtyping import Float, Int64
from torch import Tensor

from farfield.core import Problems, Stream, UnknownNameError
from farfield.functional import MeanImages, PixelSpectrum
from farfield.metrics import (
    expected_calibration_error,
    negative_log_likelihood,
    top_k_accuracy,
)
from farfield.tasks._files._labelled_images import Images, Labels
from farfield.tasks._images._image_files import IMAGE_FILES, ImageFiles
from farfield.tasks._images._pixel_statistics import (
    channel_statistics,
    mean_images,
    pixel_spectrum,
)
from farfield.tasks._protocol._abilities import ChannelStatistics
from farfield.tasks._protocol._answers import check_outputs
from farfield.tasks._protocol._checks import check_number
from farfield.tasks._protocol._class_task import ClassTask
from farfield.tasks._protocol._draws import permutation
from farfield.tasks._protocol._label_split import NO_LABEL, UNLABELLED
from farfield.tasks._protocol._task import TRAINING, VALIDATION, Regime

TEST: Final = "test"
_TOP: Final = 5
_BINS: Final = 15

Rows = Mapping[str, Int64[np.ndarray, " batch"]]
"""Numbers of images in the training file, by the set that they are for."""


class ImageTask(ClassTask):
    """A task on a set of images, some of whose training images are held out for validation."""

    name: ClassVar[str]
    version: ClassVar[int]

    data_set: str
    validation_per_class: int
    test_images: int

    def _check_images(self) -> None:
        """Raise `ValueError` unless the set of images is known, and has some for training."""
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
    def length(self) -> int:
        """Number of images of a problem: one."""
        return 1

    @property
    def num_outputs(self) -> int:
        """A logit for each class."""
        return self._files.classes

    @property
    def segments(self) -> tuple[tuple[int, ...], ...]:
        """One context: the image."""
        return ((0,),)

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Training, validation where images are held out for it, and the test."""
        held_out = (VALIDATION,) if self.validation_per_class else ()
        unit = "classes that training lacks"
        names = (TRAINING, *held_out, TEST)
        return tuple(Regime(name=name, distance=0.0, unit=unit) for name in names)

    def is_at_hand(self) -> bool:
        """True if the files of the images are on this machine."""
        return self._files.is_at_hand()

    def draw(self, stream: Stream) -> dict[str, Problems]:
        """The sets of one run, by name.

        Args:
            stream: Stream of the run.

        Raises:
            ValueError: If a file is missing or differs from the published one, or a class has not
                so many images.
        """
        place = stream.child("image-classes", f"v{self.version}", self.data_set)
        images, labels = self._files.read(False)
        sets = {
            name: _problems(images, labels if name != UNLABELLED else None, rows)
            for name, rows in self._rows(labels, place.child("images")).items()
            if name != VALIDATION or self.validation_per_class
        }
        test = permutation(place.child("test").numpy(), self._files.test)[: self.test_images]
        return sets | {TEST: _problems(*self._files.read(True), test)}

    @abstractmethod
    def _rows(self, labels: Int64[np.ndarray, " item"], place: Stream) -> Rows:
        """Rows of the training file for each set that is drawn from it."""

    def set_scores(
        self, outputs: Float[Tensor, "batch class"], problems: Problems
    ) -> dict[str, float]:
        """Scores of a set: error, negative log-likelihood, top-5 accuracy, calibration error.

        Args:
            outputs: Logits.
            problems: The problems they answer.

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
        """Mean and standard deviation of each channel, as the papers give them or of the file.

        Raises:
            ValueError: If a file is needed and missing.
        """
        return self._files.statistics or channel_statistics(self._files.read(False)[0])

    def pixel_spectrum(self) -> PixelSpectrum:
        """Mean and principal directions of all images of the training file, standardized.

        They are kept in the cache folder: to find those of 50,000 images in color takes minutes.

        Raises:
            ValueError: If a file is missing.
        """
        return pixel_spectrum(self._files.read(False)[0], self.channel_statistics())

    def mean_images(self) -> MeanImages:
        """Means of all images of the training file, and of those of both files.

        Raises:
            ValueError: If a file is missing.
        """
        return mean_images(*(self._files.read(is_test)[0] for is_test in (False, True)))


def _problems(images: Images, labels: Labels | None, rows: Int64[np.ndarray, " batch"]) -> Problems:
    """A problem for each row, over a table of its images alone."""
    target = np.full(len(rows), NO_LABEL) if labels is None else labels[rows]
    return Problems(
        items=torch.from_numpy(images[rows]),
        index=torch.arange(len(rows))[:, None],
        target=torch.from_numpy(target),
        latent={"image": torch.from_numpy(rows)},
    )
