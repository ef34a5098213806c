"""Heads that estimate the quantiles of returns, with noise in their weights."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import Unpack, final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core.internal import FactoryOptions, NonNegativeFloat, Size, take_factory_arguments
from farfield.functional.internal import default_layer, noisy_linear


@final
class NoisyLinear(nn.Module):
    r"""A linear layer whose weights and biases have factorized noise of learned size.

    $$y = (W + S \circ f(\epsilon')\, f(\epsilon)^\top)\, x + b + s \circ f(\epsilon'), \qquad
      f(\epsilon) = \mathrm{sgn}(\epsilon) \sqrt{|\epsilon|}$$

    An agent that always takes its best action explores by the noise until it learns to ignore the
    noise. Unlike in `torch.nn.Dropout` nothing is drawn here: noise is given.

    Args:
        in_features: Number of inputs $n$.
        out_features: Number of outputs.
        noise_scale: First size of noise, $\sigma_0$: all of $S$ and $s$ begin as
            $\sigma_0 / \sqrt n$.

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

    @take_factory_arguments()
    def __init__(
        self,
        in_features: Size,
        out_features: Size,
        *,
        noise_scale: NonNegativeFloat = 0.5,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.noise_size = in_features + out_features
        mean = default_layer(in_features, out_features, options["generator"])
        self.weight, self.bias = mean.weight, mean.bias
        scale = noise_scale / in_features**0.5
        self.weight_scale = nn.Parameter(torch.full_like(self.weight, scale))
        self.bias_scale = nn.Parameter(torch.full_like(self.bias, scale))

    def forward(
        self, x: Float[Tensor, "*batch feature"], noise: Float[Tensor, "*_ both"] | None = None
    ) -> Float[Tensor, "*batch out"]:
        """Apply the layer with noisy weights.

        Args:
            x: The inputs.
            noise: Standard normal numbers, as in `noisy_linear`; `None` for the
                mean weights.
        """
        if noise is None:
            return nn.functional.linear(x, self.weight, self.bias)
        return noisy_linear(
            x, self.weight, self.bias, self.weight_scale, self.bias_scale, noise.to(x)
        )

    def extra_repr(self) -> str:
        """Return the sizes, for `print`."""
        return f"in_features={self.in_features}, out_features={self.out_features}"


@final
class QuantileHead(nn.Module):
    r"""Quantiles of the return of every action, at any fractions that are asked for.

    An embedding $z$ is multiplied with one of the fraction $\tau$, and two streams of noisy layers
    make a value and the advantages of the actions of it:

    $$h = z \circ \phi\left(W c(\tau) + b\right), \qquad c_i(\tau) = \cos(\pi i \tau), \qquad
      q_a(\tau) = v(h) + d_a(h) - \frac{1}{A} \sum_{a'} d_{a'}(h)$$

    with $\phi$ a ReLU, $i$ from 0, and each stream $N_2\, \phi(N_1 h)$ of two `NoisyLinear`.

    Args:
        in_features: Numbers in an embedding.
        num_outputs: Number $A$ of actions.
        hidden_size: Units between the layers of a stream.
        num_cosines: Numbers $c_i$ of a fraction.
        noise_scale: First size of the noise, as in `NoisyLinear`.

    Shape:
        Embeddings `(batch, in_features)` and fractions `(batch, quantile)` of 0…1, with noise
        `(batch, noise_size)`, to `(batch, quantile, num_outputs)`.

    Attributes:
        cosine: The linear layer on the cosines.
        value: The noisy layers of the value.
        advantage: The noisy layers of the advantages.
        noise_size: Numbers of noise for a row.

    Raises:
        ValueError: If a size is below 1 or `noise_scale` below 0.

    Reference:
        lamb2022, section 10.4.5; Dabney et al. 2018, equation 4; Wang et al. 2016, equation 9.
    """

    @take_factory_arguments()
    def __init__(
        self,
        in_features: Size,
        num_outputs: Size,
        *,
        hidden_size: Size = 512,
        num_cosines: Size = 64,
        noise_scale: NonNegativeFloat = 0.5,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        generator = options["generator"]
        self.cosine = default_layer(num_cosines, in_features, generator)

        def stream(outputs: int) -> nn.ModuleList:
            sizes = ((in_features, hidden_size), (hidden_size, outputs))
            return nn.ModuleList(
                NoisyLinear(*pair, noise_scale=noise_scale, generator=generator) for pair in sizes
            )

        self.value, self.advantage = stream(1), stream(num_outputs)
        layers = (*self.value, *self.advantage)
        *self._noise_ends, self.noise_size = accumulate(layer.noise_size for layer in layers)

    def forward(
        self,
        z: Float[Tensor, "batch feature"],
        fractions: Float[Tensor, "batch quantile"],
        noise: Float[Tensor, "batch both"] | None = None,
    ) -> Float[Tensor, "batch quantile class"]:
        """Return the quantiles of each action.

        Args:
            z: The embeddings.
            fractions: Of each embedding, those asked for.
            noise: Standard normal numbers for each; `None` for the mean weights.
        """
        orders = torch.arange(self.cosine.in_features, device=z.device).to(z)
        cosines = (math.pi * orders * fractions.unsqueeze(-1).to(z)).cos()
        hidden = z.unsqueeze(-2) * F.relu(self.cosine(cosines))
        given: Sequence[Tensor | None] = [None] * 4
        if noise is not None:
            given = noise.unsqueeze(-2).tensor_split(self._noise_ends, dim=-1)
        value = _stream(self.value, hidden, given[:2])
        advantage = _stream(self.advantage, hidden, given[2:])
        return value + advantage - advantage.mean(-1, keepdim=True)


def _stream(layers: nn.ModuleList, x: Tensor, noise: Sequence[Tensor | None]) -> Tensor:
    first, second = layers
    found: Tensor = second(F.relu(first(x, noise[0])), noise[1])
    return found
