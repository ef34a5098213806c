"""Directions in which a small change of the items changes the answers most."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor


def adversarial_direction(
    divergence: Callable[[Tensor], Tensor], direction: Tensor, *, step: float, iterations: int
) -> Tensor:
    """Find the direction of each problem in which a divergence grows most.

    Args:
        divergence: Function from changes of the items to a number, which is least at 0.
        direction: First direction of each problem, `(batch, *)`, of any length.
        step: Length of the change at which the gradient is taken.
        iterations: Number of improvements.

    Returns:
        Directions of length 1, without gradient.
    """
    direction = _unit(direction)
    # Rounding errors of answers count 1 / step times in the gradient, also between seeds that
    # train together and alone.
    for _ in range(iterations):
        gradient = torch.func.grad(divergence)(step * direction)
        direction = _unit(gradient.detach())
    return direction


def _unit(x: Tensor) -> Tensor:
    """Scale the direction of each problem to length 1; a direction of zeros stays zero."""
    each = x.flatten(1)
    each = each / each.abs().amax(1, keepdim=True).clamp(min=torch.finfo(x.dtype).tiny)
    return torch.nn.functional.normalize(each, dim=1).reshape(x.shape)
