"""Running means of weights."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor


def running_mean(
    old: Mapping[str, Tensor], new: Mapping[str, Tensor], decay: float | Tensor
) -> dict[str, Tensor]:
    """Update the running means of floating-point numbers by one step; copy the new counts.

    Args:
        old: Means so far, by name.
        new: Numbers of this step; names that are not among the means are left out.
        decay: Weight of the past.
    """

    def mean(old: Tensor, tensor: Tensor) -> Tensor:
        if not old.is_floating_point():
            return tensor
        own = decay.to(old.dtype) if isinstance(decay, Tensor) else decay
        return own * old + (1 - own) * tensor

    return {name: mean(old[name], new[name]) for name in old.keys() & new.keys()}
