"""Classification of images of which few have labels (lamb2022)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from jaxtyping import Int64

from farfield.core import Stream, check_fields
from farfield.tasks._images._image_task import ImageTask, Rows
from farfield.tasks._protocol._checks import Count
from farfield.tasks._protocol._form import CHANNELS_FIRST, Form
from farfield.tasks._protocol._label_split import label_split
from farfield.tasks._protocol._task import TRAINING


@final
@dataclass(frozen=True, kw_only=True)
class FewLabels(ImageTask):
    r"""Of which class is an image, when few training images have labels?

    **What is asked.** As in `ImageClasses`: a logit for each class of an image. Training shows
    few images with labels, and a set `unlabelled` of many more without, which objectives read by
    this name, e.g. `ICT(consistency="unlabelled")`.

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
    form: ClassVar[Form] = Form(axes=CHANNELS_FIRST, arrangement="single")
    training_scored: ClassVar[int] = 2_000

    data_set: str = "cifar10"
    labels_per_class: Count = 400
    validation_per_class: int = 500
    test_images: Count = 100_000

    def __post_init__(self) -> None:
        check_fields(self)
        self._check_images()

    def _rows(self, labels: Int64[np.ndarray, " item"], place: Stream) -> Rows:
        rows = label_split(
            labels,
            self.num_outputs,
            place,
            labels_per_class=self.labels_per_class,
            validation_per_class=self.validation_per_class,
        )
        counts = np.bincount(labels[rows[TRAINING]], minlength=self.num_outputs)
        if (fewest := counts.min()) < self.labels_per_class:
            raise ValueError(
                f"labels_per_class must be at most {fewest}, which is what class "
                f"{counts.argmin()} of {self.data_set} has beside validation_per_class="
                f"{self.validation_per_class}, got {self.labels_per_class}"
            )
        return rows
