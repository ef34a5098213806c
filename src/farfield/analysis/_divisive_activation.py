"""Divisive normalization of two units with a ReLU behind it, as an activation function."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from farfield.functional import divisive_norm_2d


def divisive_activation(
    first: Float[Tensor, "*batch"], second: Float[Tensor, "*batch"], sigma: float
) -> Float[Tensor, "*batch"]:
    r"""Output of the first of two units that are normalized together, behind a ReLU.

    $$v = \tfrac{1}{2} (x_1 - x_2), \qquad
      y_1 = \max\Bigl(\frac{v}{\sqrt{\sigma^2 + v^2}}, 0\Bigr)$$

    which is `divisive_norm_2d` of an image of one pixel and two channels. A ReLU alone does not
    depend on the second unit, and goes on rising.

    Args:
        first: Inputs of the first unit, $x_1$.
        second: Inputs of the second, $x_2$.
        sigma: The constant $\sigma$.

    Reference:
        ren2017, figure 2.
    """
    pixels = torch.stack([first, second], -1).reshape(-1, 2, 1, 1)
    return divisive_norm_2d(pixels, 1, sigma=sigma).relu()[:, 0].reshape(first.shape)
