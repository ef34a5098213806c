"""Scores of the probabilities of classes: likelihood, the most likely ones, calibration."""

from __future__ import annotations

from jaxtyping import Float, Int
from torch import Tensor

from farfield.core import UNASKED, PositiveInt, check_arguments
from farfield.metrics._accuracy import correct, known_class, mean_of_asked


def negative_log_likelihood(
    outputs: Float[Tensor, "*seed batch class"], target: Int[Tensor, "*seed batch"]
) -> Float[Tensor, "*seed"]:
    r"""Mean negative log-likelihood of the right class, one number per seed.

    $$-\frac{1}{n} \sum_i \log p_{i y_i}$$

    with $p$ the softmax of the outputs.

    Args:
        outputs: Logits, seeds before problems; without a seed axis the result is one number.
        target: The right class, or `UNASKED` as in `accuracy`.

    Shape:
        - outputs: `(*seed, batch, class)`
        - target: `(*seed, batch)`
        - result: `(*seed)`, float64

    Raises:
        ValueError: If the leading axes differ, or there are no problems to score.
    """
    _check(outputs, target)
    own = known_class(target).unsqueeze(-1)
    losses = -outputs.double().log_softmax(-1).gather(-1, own).squeeze(-1)
    return mean_of_asked(losses, target)


@check_arguments
def top_k_accuracy(
    outputs: Float[Tensor, "*seed batch class"], target: Int[Tensor, "*seed batch"], k: PositiveInt
) -> Float[Tensor, "*seed"]:
    """Share of problems whose right class is among the `k` largest outputs, one number per seed.

    A tie counts as in `correct`: classes with the same output as the right one come before it.

    Args:
        outputs: Logits, seeds before problems; without a seed axis the result is one number.
        target: The right class, or `UNASKED` as in `accuracy`.
        k: Number of classes that count as an answer, below the number of classes.

    Shape:
        - outputs: `(*seed, batch, class)`
        - target: `(*seed, batch)`
        - result: `(*seed)`, float64

    Raises:
        ValueError: If the leading axes differ, there are no problems to score, or no more than `k`
            classes.
    """
    _check(outputs, target)
    if k >= (classes := outputs.shape[-1]):
        raise ValueError(f"k must be below the number of classes, {classes}, got {k}")
    own = outputs.gather(-1, known_class(target).unsqueeze(-1))
    # Those below are counted, since what is compared with NaN is neither less nor more.
    return mean_of_asked(((outputs < own).sum(-1) >= classes - k).double(), target)


@check_arguments
def expected_calibration_error(
    outputs: Float[Tensor, "*seed batch class"],
    target: Int[Tensor, "*seed batch"],
    *,
    bins: PositiveInt = 15,
) -> Float[Tensor, "*seed"]:
    r"""Difference of confidence and accuracy, averaged over bins of confidence, per seed.

    $$\mathrm{ECE} = \sum_{m=1}^{M} \frac{|B_m|}{n} \, |\mathrm{acc}(B_m) - \mathrm{conf}(B_m)|$$

    with $B_m$ the problems whose largest probability lies in $(\frac{m-1}{M}, \frac{m}{M}]$,
    accuracy the share of right answers among them, and confidence the mean of their largest
    probability.

    Args:
        outputs: Logits, seeds before problems; without a seed axis the result is one number.
        target: The right class, or `UNASKED` as in `accuracy`.
        bins: $M$.

    Shape:
        - outputs: `(*seed, batch, class)`
        - target: `(*seed, batch)`
        - result: `(*seed)`, float64; NaN where an output is.

    Raises:
        ValueError: If the leading axes differ, there are no problems to score, or fewer than two
            classes.

    Reference:
        Guo, C. et al. (2017), On Calibration of Modern Neural Networks, ICML, equation 3.
    """
    _check(outputs, target)
    confidence = outputs.double().softmax(-1).amax(-1)
    asked = target != UNASKED
    gap = (confidence - correct(outputs, target).double()).where(asked, 0.0)
    number = (confidence * bins).ceil().clamp(1, bins).nan_to_num(1).long() - 1
    total = gap.new_zeros(*gap.shape[:-1], bins).scatter_add(-1, number, gap)
    return total.abs().sum(-1) / asked.sum(-1)


def _check(outputs: Tensor, target: Tensor) -> None:
    """Raise `ValueError` unless there are logits of classes for one problem or more."""
    if outputs.ndim < 2 or outputs.shape[:-1] != target.shape or 0 in target.shape[-1:]:
        raise ValueError(
            "outputs must be (*seed, batch, class) for at least one problem, and target the same "
            f"without its last axis, got {tuple(outputs.shape)} and {tuple(target.shape)}"
        )
    if outputs.shape[-1] < 2:
        raise ValueError(f"outputs must have a logit for each class, got {outputs.shape[-1]}")
