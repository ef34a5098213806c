"""Probabilities of classes, and distances between them."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import logsigmoid

from farfield.core.internal import check_arguments
from farfield.functional._learning._losses import Reduction, reduce


def probabilities(outputs: Tensor) -> Tensor:
    """Compute the probabilities of classes; of yes, where there is one logit for yes and no.

    Args:
        outputs: Logits, `(*, class)`.
    """
    return outputs.sigmoid() if outputs.shape[-1] == 1 else outputs.softmax(-1)


def log_probabilities(outputs: Tensor) -> Tensor:
    """Compute the logarithms of probabilities of classes, two of them for one logit of yes and no.

    Args:
        outputs: Logits, `(*, class)`.
    """
    if outputs.shape[-1] > 1:
        return outputs.log_softmax(-1)
    return torch.cat([logsigmoid(outputs), logsigmoid(-outputs)], dim=-1)


def squared_distance(outputs: Tensor, target: Tensor) -> Tensor:
    """Compute the squared difference of each probability from another.

    Args:
        outputs: Logits, `(*, class)`.
        target: Probabilities of the same shape.
    """
    return (probabilities(outputs) - target).square()


def kl_divergence(first: Tensor, second: Tensor) -> Tensor:
    """Compute the Kullback–Leibler divergence of the second probabilities from the first.

    Args:
        first: Logarithms of probabilities, `(*, class)`.
        second: Logarithms of probabilities of the same shape.
    """
    return (first.exp() * (first - second)).sum(-1)


@check_arguments
def consistency(
    first: Float[Tensor, "*answer class"],
    second: Float[Tensor, "*answer class"],
    *,
    reduction: Reduction = "mean",
) -> Tensor:
    r"""Compute the squared distance between the probabilities of two predictions.

    $$L = \frac{1}{A K} \sum_{a, k} \left(\sigma_k(f_a) - \sigma_k(g_a)\right)^2$$

    with $\sigma$ the probabilities of classes, $f$ and $g$ the logits of two predictions of $A$
    answers and $K$ classes. The gradient passes to both, as in `farfield.objectives.PiModel`;
    compute the logits of a teacher under `torch.no_grad`, as `farfield.objectives.MeanTeacher`
    does.

    Args:
        first: Logits of one prediction; the last axis is that of classes, or one logit for yes.
        second: Logits of the other prediction.
        reduction: `"mean"`, `"sum"` or `"none"` of the squared distances.

    Shape:
        first and second `(*answer, class)`; the loss is `()`, without reduction
        `(*answer, class)`.

    Raises:
        ValueError: If the two shapes differ, or the reduction is unknown.

    Reference:
        Laine and Aila 2017, section 2.1; Tarvainen and Valpola 2017.
    """
    if first.shape != second.shape:
        raise ValueError(
            f"first and second must have one shape, got {tuple(first.shape)} and "
            f"{tuple(second.shape)}"
        )
    return reduce(squared_distance(first, probabilities(second)), reduction)
