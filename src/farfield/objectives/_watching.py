"""Mean absolute values of the outputs of modules, over all their calls."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

AbsoluteMean = tuple[Tensor, int]
"""Mean absolute value and number of the elements of one call."""


def absolute_mean(x: Tensor) -> AbsoluteMean:
    """Mean absolute value and number of the elements of a tensor.

    Args:
        x: What passed through a module in one call.
    """
    return x.abs().mean(), x.numel()


def over_calls(means: Sequence[AbsoluteMean], *, mean: bool) -> Tensor:
    """The mean absolute values of all calls of one module, summed up, or their mean.

    Args:
        means: Of each call; at least one.
        mean: Whether it is the mean, in which every number counts the same.
    """
    if not mean:
        return torch.stack([each for each, _ in means]).sum()
    numbers = sum(count for _, count in means)
    return torch.stack([each * (count / numbers) for each, count in means]).sum()
