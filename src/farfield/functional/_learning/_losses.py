"""Losses of classes, with smoothed labels too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from farfield.core.internal import Fraction, check_arguments

Reduction = Literal["mean", "sum", "none"]
"""Reduction of a loss over its values, as in `torch.nn.functional`."""


def reduce(values: Tensor, reduction: Reduction) -> Tensor:
    """Reduce the values of a loss by their mean, their sum, or not at all.

    Args:
        values: Values of the loss.
        reduction: `"mean"`, `"sum"` or `"none"`.
    """
    if reduction == "none":
        return values
    return values.mean() if reduction == "mean" else values.sum()


def class_loss(outputs: Tensor, target: Tensor) -> Tensor:
    """Compute the cross-entropy of each answer, also of one logit for yes and no.

    Args:
        outputs: Logits, `(*answer, class)`.
        target: Classes as integers, `(*answer)`.

    Raises:
        ValueError: If targets are no integers, or not one for each answer.
    """
    if target.is_floating_point() or target.shape != outputs.shape[:-1]:
        raise ValueError(
            f"target must be integers of shape {tuple(outputs.shape[:-1])}, one class for each "
            f"answer, got {target.dtype} of shape {tuple(target.shape)}; other targets need a loss"
        )
    if outputs.shape[-1] == 1:
        yes = target.to(outputs.dtype)
        return F.binary_cross_entropy_with_logits(outputs.squeeze(-1), yes, reduction="none")
    values = F.cross_entropy(outputs.flatten(0, -2), target.flatten(), reduction="none")
    return values.reshape(target.shape)


@check_arguments
def label_smoothing(
    outputs: Float[Tensor, "*answer class"],
    target: Tensor,
    *,
    smoothing: Fraction = 0.1,
    loss: Callable[[Tensor, Tensor], Tensor] | None = None,
    reduction: Reduction = "mean",
) -> Tensor:
    r"""Compute a loss for the right class, and a little of that for every class.

    $$L = (1 - s)\, \ell(f, y) + \frac{s}{K} \sum_k \ell(f, k)$$

    with $\ell$ the loss, $f$ the outputs, $y$ the target and $K$ classes, two for one logit of yes
    and no. For cross-entropy and several classes it equals `torch.nn.functional.cross_entropy`
    with `label_smoothing`; here the loss is free and classes are the last axis. Every target
    counts. The objective is `farfield.objectives.LabelSmoothing`.

    Args:
        outputs: Logits.
        target: Classes as integers.
        smoothing: Weight $s$ of all classes, in 0…1.
        loss: Function from outputs and targets to the values of a loss; None is the cross-entropy
            of each answer, binary for one logit.
        reduction: `"mean"`, `"sum"` or `"none"` of the values.

    Shape:
        outputs `(*answer, class)`, target `(*answer)`; the loss is `()`, without reduction as the
        values of `loss`.

    Raises:
        ValueError: If the smoothing is out of range, the reduction unknown, or targets do not fit.

    Reference:
        Szegedy et al. 2016, section 7.
    """
    loss = class_loss if loss is None else loss
    classes = max(2, outputs.shape[-1])
    every = [loss(outputs, torch.full_like(target, k)) for k in range(classes)]
    right, even = loss(outputs, target), torch.stack(every).mean(0)
    return reduce((1 - smoothing) * right + smoothing * even, reduction)
