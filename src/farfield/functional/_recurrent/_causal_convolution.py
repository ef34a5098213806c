"""Causal convolution of each feature over time."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor


def causal_convolution(
    x: Float[Tensor, "time batch feature"],
    weight: Float[Tensor, "feature _"],
    bias: Float[Tensor, " feature"] | None,
    state: Float[Tensor, "batch _ feature"],
) -> tuple[Float[Tensor, "time batch feature"], Float[Tensor, "batch _ feature"]]:
    r"""Convolve each feature with the steps before, from a state of their last values.

    $$y_t = b + \sum_{j=1}^{k} w_j \odot x_{t - k + j}$$

    Args:
        x: The sequence.
        weight: $w$; the last column is that of the present step.
        bias: $b$, or None for zeros.
        state: The $k - 1$ inputs before the first step, the newest last.

    Returns:
        The outputs, and the last $k - 1$ inputs.

    Raises:
        ValueError: If the state has another number of steps.

    Reference:
        gu2023, section 3.4; beck2024, appendix A.4.
    """
    before, size = state.shape[1], weight.shape[1]
    if before != size - 1:
        raise ValueError(f"state must have {size - 1} steps, one less than weight, got {before}")
    padded = torch.cat([state.transpose(0, 1).to(x.dtype), x]) if before else x
    found = padded[before:] * weight[:, -1]
    if bias is not None:
        found = found + bias
    for lag in range(1, size):
        found = torch.addcmul(found, padded[before - lag : len(padded) - lag], weight[:, -1 - lag])
    return found, padded[len(x) :].transpose(0, 1)
