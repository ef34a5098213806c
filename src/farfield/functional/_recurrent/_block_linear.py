"""Block-diagonal linear layers."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor


def block_linear(
    x: Float[Tensor, "*batch _"], weight: Float[Tensor, "block _ _"]
) -> Float[Tensor, "*batch _"]:
    """Apply a separate linear layer without bias to each block of features.

    Args:
        x: Inputs; the features of a block follow each other.
        weight: `(block, out, in)`.

    Returns:
        The outputs of all blocks, one block after another.

    Raises:
        ValueError: If the inputs do not have the features of all blocks.

    Reference:
        beck2024, figures 10 and 11.
    """
    blocks, _, size = weight.shape
    if x.shape[-1] != blocks * size:
        raise ValueError(f"x must have {blocks * size} features, got {x.shape[-1]}")
    parts = torch.unflatten(x, -1, (blocks, size))
    return torch.einsum("...bi,boi->...bo", parts, weight).flatten(-2)
