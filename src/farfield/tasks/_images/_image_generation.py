"""Generation of images from noise (lamb2022)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar, Final, final

import numpy as np
import torch
from jaxtyping import Float, Float32, Int64
from torch import Tensor

from farfield.core import Problems, Stream
from farfield.core.internal import UnknownNameError, check_fields
from farfield.functional.internal import as_fractions
from farfield.tasks._images._image_classes import ImageClasses
from farfield.tasks._images._image_task import IMAGE_FILES, ImageFiles
from farfield.tasks._points._points import nearly_normal
from farfield.tasks._protocol._answers import check_outputs
from farfield.tasks._protocol._draws import DrawnSets, permutation
from farfield.tasks._protocol._task import (
    TEST,
    TRAINING,
    VALIDATION,
    VALIDATION_PROBLEMS,
    VECTOR,
    Count,
    CountOrNone,
    Form,
    Regime,
    SingleItem,
    alike_regimes,
    check_number,
    check_regime,
)

_PART: Final = 2_000
"""Problems whose noise is drawn together."""


@final
@dataclass(frozen=True, kw_only=True)
class ImageGeneration(DrawnSets, SingleItem):
    r"""Make an image like the images of a data set out of noise.

    **Task.** A vector of noise, independent numbers of mean 0 and variance 1. The answer is an
    image, its pixels one after another as fractions 0…1, that might be from the data set. Which
    image is not said: that of a problem has nothing to do with its noise.

    **Worked example** (MNIST).

    ```text
      128 numbers such as 0.31, -1.20, …      output 784 pixels that show some digit
    ```

    **Regimes.** `training` and `test` have the images of the two files, each with different noise.
    Both are at distance 0: a model that repeats training images does well in the one alone.

    **Score, floor and ceiling.** A generator is judged by whole sets, through a network that its
    architecture names: the Fréchet distance (`fid/…`) and the inception score (`is/…`), which
    `farfield.models.GAN` records. The score of a single problem is the mean squared error between
    the answer and the image beside it, as anything can be measured by; lower is better, and says
    nothing of how images look. Its floor is the mean image of the file; the ceiling is the image.

    **Known shortcuts.** Repeating training images, which the distance to them does not punish.

    **Source and deviations.** Lamb 2022, section 10.4.1, on CIFAR-10, where images are compared
    with those of training. The numbers of the noise are sums of twelve uniform ones.

    Args:
        data_set: Name of the images, one of `ImageClasses`.
        noise_size: Numbers in a vector of noise.
        training_images: Most training images.
        test_images: Most images of the test.
        validation_images: Images of the training file that are held out for validation; 0 for no
            such regime.

    Raises:
        UnknownNameError: If there is no such data set.
        ValueError: If a number is out of range.

    Reference:
        lamb2022, section 10.4.1; Goodfellow et al. 2014.
    """

    name: ClassVar[str] = "image-generation"
    version: ClassVar[int] = 1
    form: ClassVar[Form] = Form(axes=VECTOR, arrangement="single", answer="generation")
    metric: ClassVar[str] = "mse"

    data_set: str = "cifar10"
    noise_size: Count = 128
    training_images: Count = 100_000
    test_images: Count = 100_000
    validation_images: CountOrNone = 0

    def __post_init__(self) -> None:
        check_fields(self)
        if self.data_set not in IMAGE_FILES:
            raise UnknownNameError("data set", self.data_set, IMAGE_FILES)

    @property
    def _files(self) -> ImageFiles:
        return IMAGE_FILES[self.data_set]

    @property
    def image_shape(self) -> tuple[int, int, int]:
        """Channels, height and width of an image."""
        return self._files.shape

    @property
    def classes(self) -> ImageClasses:
        """Task of naming the classes of the images."""
        return ImageClasses(data_set=self.data_set)

    @property
    def item_shape(self) -> tuple[int, ...]:
        """Numbers in a vector of noise."""
        return (self.noise_size,)

    @property
    def num_outputs(self) -> int:
        """Pixels of an image, in all channels."""
        return int(np.prod(self.image_shape))

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Training, validation where images are held out for it, and the test."""
        return alike_regimes("classes that training lacks", self.validation_images)

    def with_validation(self) -> ImageGeneration:
        """Copy the task with validation on images that training then lacks."""
        return replace(self, validation_images=VALIDATION_PROBLEMS)

    def is_at_hand(self) -> bool:
        """Check whether the files of the images are on this machine."""
        return self._files.is_at_hand()

    def draw(self, stream: Stream) -> dict[str, Problems]:
        """Draw the sets of a run, by regime name.

        Raises:
            ValueError: If a file is missing or differs from the published one.
        """
        branch = stream.child(self.name, f"v{self.version}", self.data_set)
        check_number("validation_images", self.validation_images, 0, self._files.training - 1)
        known, new = (
            permutation(branch.child(name, "images").numpy(), count)
            for name, count in ((TRAINING, self._files.training), (TEST, self._files.test))
        )
        kept = len(known) - self.validation_images
        rows = {
            TRAINING: known[:kept][: self.training_images],
            VALIDATION: known[kept:],
            TEST: new[: self.test_images],
        }
        return {one.name: self._problems(rows[one.name], one.name, branch) for one in self.regimes}

    def _problems(self, rows: Int64[np.ndarray, " batch"], regime: str, run: Stream) -> Problems:
        """Make problems of images, each beside noise."""
        images, _ = self._files.read(regime == TEST)
        branch = run.child(regime)
        parts = [*_noise(branch.child("noise").numpy(), len(rows), self.noise_size)]
        return Problems(
            items=torch.from_numpy(np.concatenate(parts)),
            index=torch.arange(len(rows))[:, None],
            target=torch.from_numpy(images[rows]),
            latent={"image": torch.from_numpy(rows)},
        )

    def loss(
        self, outputs: Float[Tensor, "batch answer"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Compute the mean squared error of the pixels, as the score.

        Args:
            outputs: Pixels, in 0…1.

        Raises:
            ValueError: If `outputs` is not of `(batch, num_outputs)`.
        """
        return self.score(outputs, problems)

    def score(
        self, outputs: Float[Tensor, "batch answer"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Compute the mean squared error of the pixels; lower is better.

        Raises:
            ValueError: As `loss`.
        """
        check_outputs(outputs, problems, self.num_outputs)
        wanted = as_fractions(problems.target, outputs.dtype).flatten(1)
        return (outputs - wanted).square().mean(1)

    def chance(self, regime: str) -> float:
        """Return the error of answering with the mean image of the file.

        Raises:
            ValueError: If the file is missing.
        """
        check_regime(regime, self.regimes)
        return _pixel_variance(self.data_set, is_test=regime == TEST)

    def oracle(self, problems: Problems) -> Float[Tensor, "batch answer"]:
        """Return the images themselves."""
        return as_fractions(problems.target).flatten(1)


def _noise(
    generator: np.random.Generator, count: int, size: int
) -> Iterator[Float32[np.ndarray, "batch feature"]]:
    """Draw the noise of problems, some at a time."""
    for start in range(0, count, _PART):
        rows = min(_PART, count - start)
        pairs = nearly_normal(generator, -(-rows * size // 2))
        yield pairs.reshape(-1)[: rows * size].reshape(rows, size).astype(np.float32)


@lru_cache
def _pixel_variance(data_set: str, *, is_test: bool) -> float:
    """Compute the variance of a pixel, as a fraction, over a file, averaged over pixels."""
    images, _ = IMAGE_FILES[data_set].read(is_test)
    return float(images.reshape(len(images), -1).var(0, dtype=np.float64).mean() / 255**2)
