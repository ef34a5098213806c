"""A linear layer with noise in its weights."""

from __future__ import annotations

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.types import Device

from farfield.core import NonNegativeFloat, Size, check_arguments
from farfield.functional import fan_in_uniform_, noisy_linear, uninitialized


@final
class NoisyLinear(nn.Module):
    r"""A linear layer whose weights and biases have factorized noise of learned size.

    $$y = (W + S \circ f(\epsilon')\, f(\epsilon)^\top)\, x + b + s \circ f(\epsilon'), \qquad
      f(\epsilon) = \mathrm{sgn}(\epsilon) \sqrt{|\epsilon|}$$

    An agent that always takes its best action explores by the noise, as far as it has not learned
    to do without. Unlike in `torch.nn.Dropout` nothing is drawn here: noise is given.

    Args:
        in_features: Number of inputs $n$.
        out_features: Number of outputs.
        noise_scale: First size of noise, $\sigma_0$: all of $S$ and $s$ begin as
            $\sigma_0 / \sqrt n$.
        device: Where its tensors are.
        dtype: Of its parameters.
        generator: Where the first weights are drawn from; None is torch's global generator.

    Shape:
        `(*batch, in_features)`, with noise `(*batch, noise_size)`, to `(*batch, out_features)`.

    Attributes:
        weight: Mean $W$ of the weights.
        bias: Mean $b$ of the biases.
        weight_scale: Size $S$ of the noise of the weights.
        bias_scale: Size $s$ of the noise of the biases.
        noise_size: Numbers of noise for a row: `in_features + out_features`.

    Raises:
        ValueError: If a size is below 1 or `noise_scale` below 0.

    Reference:
        lamb2022, section 10.4.5; Fortunato et al. 2018, section 3.
    """

    @check_arguments
    def __init__(
        self,
        in_features: Size,
        out_features: Size,
        *,
        noise_scale: NonNegativeFloat = 0.5,
        device: Device = None,
        dtype: torch.dtype | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.noise_size = in_features + out_features
        mean = fan_in_uniform_(uninitialized(nn.Linear, in_features, out_features), generator)
        self.weight, self.bias = mean.weight, mean.bias
        scale = noise_scale / in_features**0.5
        self.weight_scale = nn.Parameter(torch.full_like(self.weight, scale))
        self.bias_scale = nn.Parameter(torch.full_like(self.bias, scale))
        self.to(device=device, dtype=dtype)

    def forward(
        self, x: Float[Tensor, "*batch feature"], noise: Float[Tensor, "*_ both"] | None = None
    ) -> Float[Tensor, "*batch out"]:
        """The outputs.

        Args:
            x: The inputs.
            noise: Standard normal numbers, as in `farfield.functional.noisy_linear`; `None` for the
                mean weights.
        """
        if noise is None:
            return nn.functional.linear(x, self.weight, self.bias)
        return noisy_linear(
            x, self.weight, self.bias, self.weight_scale, self.bias_scale, noise.to(x)
        )

    def extra_repr(self) -> str:
        """The sizes, for `print`."""
        return f"in_features={self.in_features}, out_features={self.out_features}"
