"""Classification of images with all of their labels, or few (lamb2022)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn import functional as F

from farfield.core import Problems, Stream
from farfield.tasks._images._image_task import ImageTask, Rows
from farfield.tasks._protocol._answers import check_outputs
from farfield.tasks._protocol._draws import UNLABELLED
from farfield.tasks._protocol._task import TRAINING, Count


@final
@dataclass(frozen=True, kw_only=True)
class ImageClasses(ImageTask):
    r"""Of which class is an image?

    **Task.** An image, as bytes, shows something of one of the classes of its data set. The answer
    is a logit for each class.

    **Worked example** (CIFAR-10).

    ```text
      3 × 32 × 32 bytes that show a frog      output 6 of 0…9 should be the largest
    ```

    **Regimes.** `training`, `validation` and `test` show images of the same kind. Those of
    validation are held out from the training file, as many of each class, drawn for each run;
    without any there is no such regime. Images further away (deformations, attacks) are made from
    these by perturbations of an experiment.

    **Score, floor and ceiling.** Share of right answers; one over the number of classes by
    guessing. Recorded beside it are scores of a whole set: `error`, one less the accuracy; `nll`,
    the mean negative log-likelihood of the right class; `top-5`, the share of images whose class is
    among the five most likely; and `ece`, the expected calibration error over fifteen bins of
    confidence. The ceiling is the published labels.

    **Known shortcuts.** Not all classes of SVHN are equally frequent.

    **Source and deviations.** Lamb 2022, chapter 4, trains with stochastic gradient descent on
    all training images. Its released code has another loss (`binary_cross_entropy`) and a largest
    number of labels of each class (`labels_per_class`), which leaves out images of SVHN. Images are
    augmented by an objective and standardized by a module, not by the task. Names that end in a
    number are parts of a data set, for machines that lack the whole: `cifar10-exact-8068` has 8,068
    of the training images and the whole test, `svhn-first1083` takes the last fifth of 1,083
    training images for tests. `cifar10-jpeg` is a copy of all of CIFAR-10 with other pixels, at 30
    dB from those published. The tests of `tiny-imagenet` are its validation images; bytes of both
    are those of the decoder of JPEG files.

    Args:
        data_set: Name of the images: `cifar10`, `cifar10-exact-8068`, `cifar10-jpeg`, `cifar100`,
            `cifar100-first1117`, `svhn`, `svhn-first1083`, `tiny-imagenet`, `mnist`, `kmnist`,
            `kmnist-first7011`, `fashion-mnist` or `fashion-mnist-first8226`.
        training_images: Most training images.
        labels_per_class: Most training images of each class; `None` for all.
        validation_per_class: Training images of each class that models may be chosen on.
        test_images: Most images of the test.
        binary_cross_entropy: Whether the loss is the binary cross-entropy of each class's
            probability, averaged over classes, as in the released code; otherwise it is the
            cross-entropy.

    Raises:
        UnknownNameError: If there is no such data set.
        ValueError: If a number is out of range.

    Reference:
        lamb2022, section 4.5.1; Guo et al. 2017, equation 3, for the calibration error.
    """

    name: ClassVar[str] = "image-classes"
    version: ClassVar[int] = 1

    data_set: str = "cifar10"
    training_images: Count = 100_000
    labels_per_class: Count | None = None
    validation_per_class: int = 0
    test_images: Count = 100_000
    binary_cross_entropy: bool = False

    def _rows(self, labels: Int64[np.ndarray, " item"], branch: Stream) -> Rows:
        rows = self._split(labels, branch)
        del rows[UNLABELLED]
        return rows | {TRAINING: rows[TRAINING][: self.training_images]}

    def loss(
        self, outputs: Float[Tensor, "batch class"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Compute the cross-entropy of each answer, or the binary one of every class.

        Args:
            outputs: Logits.

        Raises:
            ValueError: If `outputs` is not of `(batch, num_outputs)`.
        """
        if not self.binary_cross_entropy:
            return super().loss(outputs, problems)
        check_outputs(outputs, problems, self.num_outputs)
        classes = torch.arange(self.num_outputs, device=outputs.device)
        wanted = (problems.target[:, None] == classes).to(outputs.dtype)
        shares = outputs.softmax(1)
        lost = shares.isnan()  # the cross-entropy raises for them, and a run is to go on
        losses = F.binary_cross_entropy(shares.masked_fill(lost, 0.5), wanted, reduction="none")
        return losses.mean(1).masked_fill(lost.any(1), torch.nan)


@final
@dataclass(frozen=True, kw_only=True)
class FewLabels(ImageTask):
    r"""Of which class is an image, when few training images have labels?

    **Task.** As in `ImageClasses`: a logit for each class of an image. Training shows few images
    with labels, and a set `unlabelled` of many more without, which objectives read by this name,
    e.g. `ICT(consistency="unlabelled")`.

    **Worked example** (CIFAR-10 as published, 400 labels of each class).

    ```text
      training     4,000 images with labels      validation   5,000 other images
      unlabelled  45,000 images, those of training among them, without labels
    ```

    **Regimes.** `training`, `validation` and `test` as in `ImageClasses`. `unlabelled` is no
    regime and is not scored: the target of its problems, −1, is no class. It has all images of the
    training file that are not held out for validation. Which have labels is drawn for each run,
    as many of each class; those of fewer labels are among those of more, and images for validation
    are the same.

    **Score, floor and ceiling.** As in `ImageClasses`.

    **Known shortcuts.** As in `ImageClasses`.

    **Source and deviations.** Lamb 2022, chapter 6. Its text counts all training images as
    unlabelled (50,000 of CIFAR-10, 73,257 of SVHN); its released code leaves out those for
    validation and has those with labels among them, and so has this task. The numbers of its
    command line too are for each class: 4,000 labels of CIFAR-10 are `labels_per_class=400`.

    Args:
        data_set: Name of the images, one of those of `ImageClasses`.
        labels_per_class: Training images of each class with labels.
        validation_per_class: Training images of each class that models may be chosen on.
        test_images: Most images of the test.

    Raises:
        UnknownNameError: If there is no such data set.
        ValueError: If a number is out of range. That a class has fewer images is found when they
            are drawn, before training.

    Reference:
        lamb2022, sections 6.3.1 and 6.3.3, Tables 1 to 3.
    """

    name: ClassVar[str] = "few-labels"
    version: ClassVar[int] = 1

    data_set: str = "cifar10"
    labels_per_class: Count = 400
    validation_per_class: int = 500
    test_images: Count = 100_000

    def _rows(self, labels: Int64[np.ndarray, " item"], branch: Stream) -> Rows:
        rows = self._split(labels, branch)
        counts = np.bincount(labels[rows[TRAINING]], minlength=self.num_outputs)
        if (fewest := counts.min()) < self.labels_per_class:
            raise ValueError(
                f"labels_per_class must be at most {fewest}, the images of class "
                f"{counts.argmin()} of {self.data_set} beside validation_per_class="
                f"{self.validation_per_class}, got {self.labels_per_class}"
            )
        return rows
