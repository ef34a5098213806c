"""Accuracy of answers, and scores of the probabilities of classes."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from farfield.core.internal import UNASKED, PositiveInt, check_arguments


def correct(
    outputs: Float[Tensor, "*batch class"], target: Int[Tensor, "*batch"]
) -> Float[Tensor, "*batch"]:
    r"""Score each answer: 1 if it is right, 0 if it is wrong.

    One output is the logit of class 1: above 0 it answers 1, below 0 it answers 0. Two outputs or
    more are the logits of as many classes, and the largest is the answer. A tie is never right,
    whichever class comes first: a model whose outputs are all alike scores 0, and so does one that
    gives NaN. Every task counts by this rule.

    Args:
        outputs: Logits. Leading axes are free: seeds, problems, positions.
        target: The right class; no answer is right for `UNASKED`.

    Shape:
        - outputs: `(*batch, class)`
        - target: `(*batch)`
        - result: `(*batch)`, in the dtype of `outputs`

    Raises:
        ValueError: If the leading axes differ, which broadcasting would hide.
    """
    if outputs.ndim == 0 or outputs.shape[:-1] != target.shape:
        raise ValueError(
            "target must have the shape of outputs without its last axis, "
            f"got outputs {tuple(outputs.shape)} and target {tuple(target.shape)}"
        )
    if outputs.shape[-1] == 1:
        logit = outputs[..., 0]
        right = ((logit > 0) & (target == 1)) | ((logit < 0) & (target == 0))
        return right.to(outputs.dtype)
    own = outputs.gather(-1, known_class(target).unsqueeze(-1))
    # Counted, since a number compared with NaN is neither less nor more.
    right = ((outputs < own).sum(-1) == outputs.shape[-1] - 1) & (target != UNASKED)
    return right.to(outputs.dtype)


def accuracy(
    outputs: Float[Tensor, "*seed batch class"], target: Int[Tensor, "*seed batch"]
) -> Float[Tensor, "*seed"]:
    """Compute the share of right answers in 0…1, one number per seed.

    Every problem counts the same, however the problems were cut into batches.

    Args:
        outputs: Logits, seeds before problems; without a seed axis the result is one number.
        target: The right class; `UNASKED` where no answer is asked for, which does not count.

    Shape:
        - outputs: `(*seed, batch, class)`
        - target: `(*seed, batch)`
        - result: `(*seed)`

    Raises:
        ValueError: If the leading axes differ, or there are no problems to score.

    Example:
        >>> accuracy(torch.tensor([[0.1, 0.9], [0.8, 0.2]]), torch.tensor([1, 1]))
        tensor(0.5000)
    """
    right = correct(outputs, target)
    if right.ndim == 0 or right.shape[-1] == 0:
        raise ValueError(
            f"outputs must hold at least one problem, got shape {tuple(outputs.shape)}"
        )
    return mean_of_asked(right, target)


def known_class(target: Tensor) -> Tensor:
    """Convert the right classes to int64, 0 where no answer is asked for.

    Args:
        target: The right classes, or `UNASKED`.
    """
    return target.to(torch.int64).where(target != UNASKED, 0)


def mean_of_asked(values: Tensor, target: Tensor) -> Tensor:
    """Average over the last axis, without answers that are not asked for.

    Args:
        values: A number for each answer.
        target: The right classes, `UNASKED` where no answer is asked for.
    """
    asked = target != UNASKED
    kind = torch.promote_types(values.dtype, torch.float32)
    total = values.where(asked, 0.0).sum(-1, dtype=kind)
    return (total / asked.sum(-1)).to(values.dtype)


def negative_log_likelihood(
    outputs: Float[Tensor, "*seed batch class"], target: Int[Tensor, "*seed batch"]
) -> Float[Tensor, "*seed"]:
    r"""Average the negative log-likelihood of the right class, one number per seed.

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
    """Compute the share of problems with the right class among the `k` largest outputs, per seed.

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
    # Lower outputs are counted, since a number compared with NaN is neither less nor more.
    return mean_of_asked(((outputs < own).sum(-1) >= classes - k).double(), target)


@check_arguments
def expected_calibration_error(
    outputs: Float[Tensor, "*seed batch class"],
    target: Int[Tensor, "*seed batch"],
    *,
    bins: PositiveInt = 15,
) -> Float[Tensor, "*seed"]:
    r"""Average the difference of confidence and accuracy over bins of confidence, per seed.

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
