"""Probabilities of classes, and distances between them."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid


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
