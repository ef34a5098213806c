"""Mean absolute values of the outputs of modules, over all their calls."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

Share = tuple[Tensor, int]
"""Mean absolute value and number of the elements of one call."""


def share_of(x: Tensor) -> Share:
    """Mean absolute value and number of the elements of a tensor.

    Args:
        x: What passed through a module in one call.
    """
    return x.abs().mean(), x.numel()


def joined(shares: Sequence[Share], *, mean: bool) -> Tensor:
    """The mean absolute values of all calls of one module, summed up, or their mean.

    Args:
        shares: Of each call; at least one.
        mean: Whether it is the mean, in which every number counts the same.
    """
    if not mean:
        return torch.stack([each for each, _ in shares]).sum()
    numbers = sum(count for _, count in shares)
    return torch.stack([each * (count / numbers) for each, count in shares]).sum()
