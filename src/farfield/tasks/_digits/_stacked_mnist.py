"""Images of several digits, more or fewer than training shows (lamb2022)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import comb
from typing import ClassVar, Final, final

import numpy as np
import torch
from jaxtyping import Bool, Float, Int64, UInt8
from numpy.lib.stride_tricks import sliding_window_view
from torch import Tensor
from torch.nn import functional as F

from farfield.core import Problems, Stream
from farfield.core.internal import LazyItems, check_fields
from farfield.tasks._files._known_data_sets import MNIST
from farfield.tasks._files._labelled_images import Labels, idx_images
from farfield.tasks._protocol._answers import AnswerTask, check_outputs
from farfield.tasks._protocol._draws import arrangement, integers, label_split
from farfield.tasks._protocol._task import (
    GRAY,
    TRAINING,
    VALIDATION,
    VALIDATION_PROBLEMS,
    Count,
    CountOrNone,
    Form,
    Regime,
    SingleItem,
    check_number,
    check_regime,
    regimes_at,
)

CANVAS: Final = 64
"""Height and width of an image, pixels."""
SMALL: Final = 28
"""Height and width of one digit, pixels."""
ABSENT: Final = -1
"""Number of a digit that an image lacks."""


@final
@dataclass(frozen=True, eq=False)
class StackedImages:
    """Renderer of images of several digits, for `farfield.core.internal.LazyItems`.

    Args:
        originals: All images of a file; 0 is paper.
    """

    originals: UInt8[np.ndarray, "item 28 28"]

    def __call__(self, latent: Int64[Tensor, "item slot 3"]) -> UInt8[Tensor, "item 64 64"]:
        """Draw images of several digits; where digits overlap, the larger pixel is shown.

        Args:
            latent: Number in the file of each digit, and row and column of its upper left corner.
        """
        shown = np.zeros((len(latent), CANVAS, CANVAS), np.uint8)
        windows = sliding_window_view(shown, (SMALL, SMALL), axis=(1, 2), writeable=True)
        for slot in latent.numpy().transpose(1, 0, 2):
            rows = np.flatnonzero(slot[:, 0] != ABSENT)
            number, row, column = slot[rows].T
            windows[rows, row, column] = np.maximum(
                windows[rows, row, column], self.originals[number]
            )
        return torch.from_numpy(shown)


_FROM_TRAINING: Final = (TRAINING, VALIDATION)
"""Regimes whose digits are from the training file."""
DIGITS: Final = 10
"""Different digits: outputs, and most digits of an image."""


@final
@dataclass(frozen=True, kw_only=True)
class StackedMNIST(SingleItem, AnswerTask):
    r"""Which digits are in the image? Tested on more and fewer of them than training shows.

    **Task.** A gray image of 64 × 64 pixels, as bytes, shows one or several different handwritten
    digits. The answer is a logit for each of the ten digits, positive if it is there.

    **Worked example.**

    ```text
      ┌────────┐
      │ 7      │
      │    3   │  →   0 1 2 3 4 5 6 7 8 9
      │   0    │      + − − + − − − + − −
      └────────┘
    ```

    **Regimes.** `training` has images of one and of three digits in turns, or of one and of five
    with `StackedMNIST(digits=(1, 5))`. There is a test for each number of digits, `digits-1` to
    `digits-5`; its distance is the difference to the nearest number in training. The digits of an
    image are drawn without replacement; each is shown by a random image of MNIST with 28 × 28
    pixels, of the training file in training and of the test file in tests. Positions are uniform
    and independent: digits overlap, and the larger value of a pixel is shown.

    **Score, floor and ceiling.** Share of images with all ten answers right. The floor for n digits
    is to name always the same n, 1 / C(10, n): 0.1, 0.022, 0.0083, 0.0048, 0.0040 for one to five.
    The share of right answers about each digit is recorded as well (`accuracy/digit-7`). The
    ceiling is that of the published labels, 1; where digits hide each other, no reader gets there.

    **Known shortcuts.** The amount of ink says about how many digits there are. A network may use
    it to learn that there are either one or three, which the other tests contradict.

    **Source and deviations.** Lamb 2022, section 10.4.2, which says no more than that images of
    64 × 64 contain several digits of MNIST, and that each digit has a binary label. The rest is our
    reading. Table 5 must count images with all labels right: with five digits, half of the ten
    labels are right by guessing, and the table goes down to 24 %. Its digits must overlap: with
    99 % of single digits right, 98 % of images of three that lie apart would be, and the table has
    88 %. If the digits of a pair hide each other with a probability of 4 %, 88 % of images are left
    of three digits (three pairs) and 66 % of five (ten pairs); the table has 88 % and 69 %. Its
    digits should differ: drawn with replacement, a quarter of the training images of three digits
    would have two labels, and two digits would hardly be harder than three. Numbers of images
    are not said.

    Args:
        digits: Numbers of digits in training images, ascending, of 1…10.
        test_digits: Number of digits of each test, ascending.
        training_images: Number of training images, as many of each number of digits.
        test_images: Number of images of each test.
        validation_images: Number of validation images, of digits that training then lacks: a tenth
            of those in its file; 0 for no such regime.

    Raises:
        ValueError: If a number is out of range, or numbers of digits are not ascending.

    Reference:
        lamb2022, section 10.4.2 and Table 5.
    """

    name: ClassVar[str] = "stacked-mnist"
    version: ClassVar[int] = 1
    form: ClassVar[Form] = Form(axes=GRAY, arrangement="single")
    training_scored: ClassVar[int] = 2_000

    digits: tuple[int, ...] = (1, 3)
    test_digits: tuple[int, ...] = (1, 2, 3, 4, 5)
    training_images: Count = 60_000
    test_images: Count = 10_000
    validation_images: CountOrNone = 0

    def __post_init__(self) -> None:
        check_fields(self)
        for name in ("digits", "test_digits"):
            numbers = getattr(self, name)
            for number in numbers:
                check_number(name, number, 1, DIGITS)
            if not numbers or sorted(set(numbers)) != list(numbers):
                raise ValueError(f"{name} must be one or more ascending numbers, got {numbers}")

    @property
    def item_shape(self) -> tuple[int, ...]:
        """Height and width of an image."""
        return (CANVAS, CANVAS)

    @property
    def num_outputs(self) -> int:
        """Number of digits, each with a logit."""
        return DIGITS

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Training, validation if any, then the tests by their difference in number of digits."""
        far = {n: min(abs(n - known) for known in self.digits) for n in self.test_digits}
        tests = {_name(number): far[number] for number in sorted(far, key=far.__getitem__)}
        near = {TRAINING: 0} | ({VALIDATION: 0} if self.validation_images else {})
        return regimes_at("digits more or fewer than in training", near | tests)

    def with_validation(self) -> StackedMNIST:
        """Copy the task with validation on images of digits that training lacks."""
        return replace(self, validation_images=VALIDATION_PROBLEMS)

    def _numbers(self, regime: str) -> tuple[int, ...]:
        """Return the numbers of digits of a regime."""
        return {_name(number): (number,) for number in self.test_digits}.get(regime, self.digits)

    def is_at_hand(self) -> bool:
        """Check whether the four files of MNIST are on this machine."""
        return MNIST.is_at_hand()

    def draw(self, stream: Stream) -> dict[str, Problems]:
        """Draw the sets of a run, by regime name.

        Raises:
            ValueError: If the files are missing, or differ from the published ones.
        """
        branch = stream.child(self.name, f"v{self.version}")
        training, test = (idx_images(MNIST, part) for part in ("train", "t10k"))
        files = {TRAINING: training}
        if self.validation_images:
            images, labels = training
            rows = label_split(
                labels,
                DIGITS,
                branch.child(VALIDATION, "split"),
                labels_per_class=None,
                validation_per_class=max(1, len(labels) // (10 * DIGITS)),
            )
            files = {name: (images[rows[name]], labels[rows[name]]) for name in _FROM_TRAINING}
        counts = {TRAINING: self.training_images, VALIDATION: self.validation_images}
        found = {}
        for regime in self.regimes:
            name = regime.name
            images, labels = files.get(name, test)
            count = counts.get(name, self.test_images)
            found[name] = _problems(
                _stacks(self._numbers(name), count, labels, branch.child(name)), images, labels
            )
        return found

    def loss(
        self, outputs: Float[Tensor, "batch class"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Compute the binary cross-entropy, averaged over the digits.

        Args:
            outputs: Logits.

        Raises:
            ValueError: If `outputs` is not of `(batch, 10)`.
        """
        check_outputs(outputs, problems, DIGITS)
        wanted = problems.target.to(outputs.dtype)
        return F.binary_cross_entropy_with_logits(outputs, wanted, reduction="none").mean(1)

    def score(
        self, outputs: Float[Tensor, "batch class"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Score 1 where all ten answers are right, 0 where one is wrong, 0 itself or not a number.

        Raises:
            ValueError: As `loss`.
        """
        return _right(outputs, problems).all(1).float()

    def answer_scores(
        self, outputs: Float[Tensor, "batch class"], problems: Problems
    ) -> dict[str, Float[Tensor, " batch"]]:
        """Score 1 where the answer to a digit is right, by the name of the digit.

        Args:
            outputs: Logits.

        Raises:
            ValueError: If `outputs` is not of `(batch, 10)`.
        """
        columns = _right(outputs, problems).float().unbind(1)
        return {f"digit-{digit}": column for digit, column in enumerate(columns)}

    def chance(self, regime: str) -> float:
        """Return the best share of right answers of a constant answer."""
        check_regime(regime, self.regimes)
        numbers = self._numbers(regime)
        return max(1 / comb(DIGITS, number) for number in numbers) / len(numbers)

    def oracle(self, problems: Problems) -> Float[Tensor, "batch class"]:
        """Return the published labels as outputs."""
        return problems.target.float() * 2 - 1


def _name(number: int) -> str:
    """Return the name of the test with a number of digits."""
    return f"digits-{number}"


def _right(
    outputs: Float[Tensor, "batch class"], problems: Problems
) -> Bool[Tensor, "batch class"]:
    """Check whether each logit has the right sign."""
    check_outputs(outputs, problems, DIGITS)
    return torch.where(problems.target, outputs > 0, outputs < 0)


def _stacks(
    numbers: tuple[int, ...], count: int, labels: Labels, branch: Stream
) -> Int64[np.ndarray, "batch slot 3"]:
    """Draw image in the file, row and column of each digit; −1 for absent digits.

    Args:
        numbers: Numbers of digits, which take turns.
        count: Number of images.
        labels: Labels of the file.
        branch: Stream of the regime.
    """
    most = max(numbers)
    own = branch.child("digits").numpy()
    picks = [integers(own, DIGITS - slot, count) for slot in range(most)]
    digits = arrangement(np.stack(picks, axis=1))
    sizes = np.bincount(labels, minlength=DIGITS)
    words = np.atleast_1d(branch.child("images").numpy().bit_generator.random_raw(count * most))
    # A word of 64 bits modulo the size: short of uniform by less than one part in 2^50.
    rank = (words.reshape(count, most) % sizes[digits].astype(np.uint64)).astype(np.int64)
    image = np.argsort(labels, kind="stable")[(np.cumsum(sizes) - sizes)[digits] + rank]
    room = CANVAS - SMALL + 1
    corner = integers(branch.child("corners").numpy(), room, 2 * count * most)
    stacks = np.concatenate([image[:, :, None], corner.reshape(count, most, 2)], axis=2)
    stacks[np.arange(most) >= np.resize(numbers, count)[:, None]] = ABSENT
    return stacks


def _problems(
    stacks: Int64[np.ndarray, "batch slot 3"],
    images: UInt8[np.ndarray, "item 28 28"],
    labels: Labels,
) -> Problems:
    """Make a problem for each image, which is made when it is asked for."""
    is_there = stacks[:, :, 0] != ABSENT
    item, _ = np.nonzero(is_there)
    target = np.zeros((len(stacks), DIGITS), bool)
    target[item, labels[stacks[is_there, 0]]] = True
    return Problems(
        items=LazyItems(latent=torch.from_numpy(stacks), draw=StackedImages(images)),
        index=torch.arange(len(stacks))[:, None],
        target=torch.from_numpy(target),
        latent={"digits": torch.from_numpy(is_there.sum(1))},
    )
