"""Multilayer perceptrons for items of few numbers."""

from __future__ import annotations

import itertools
import math
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.types import Device

from farfield.core import Dropout, NonNegativeFloat, Size, check_arguments
from farfield.functional import fan_in_uniform_, uninitialized
from farfield.models._images._maps import check_items


@final
class BottleneckMLP(nn.Module):
    """Hidden layers with ReLUs, and a linear bottleneck in their middle if there is one.

    A bottleneck of 2 is a representation that can be drawn. Three hidden layers of 20 without a
    bottleneck are the network of the two moons.

    Args:
        item_shape: Shape of an item, which is read as a vector.
        num_outputs: Numbers in an answer.
        hidden_sizes: Units of each hidden layer.
        bottleneck: Units of a layer without ReLU that stands in the middle of the hidden ones;
            None for no such layer.
        batch_norm: Whether what every layer but the output computes is normalized over the batch,
            before its ReLU.
        dropout: Probability that a unit of a hidden layer, the bottleneck excepted, is dropped in
            training.
        noise: Standard deviation of the Gaussian noise that is added to items in training; drawn
            from torch's global generator.
        device: Where its tensors are.
        dtype: Of its parameters.
        generator: Where the first weights are drawn from; None is torch's global generator.

    Shape:
        `(batch, *item_shape)` to `(batch, num_outputs)`.

    Attributes:
        layers: Hidden layers and bottleneck, in order.
        mixing_layers: The same, by name: the paper's layer $k$ is the $k$-th of them.

    Raises:
        ValueError: If a number is out of range, or items have another shape.

    Reference:
        lamb2022, figures 1 and 2 of chapter 4, and figure 1 of chapter 6. The paper does not say
        how wide the layers around the bottleneck are, nor whether it has a ReLU.
    """

    @check_arguments
    def __init__(  # noqa: PLR0913 — two are torch's
        self,
        item_shape: tuple[Size, ...],
        num_outputs: Size,
        *,
        hidden_sizes: tuple[Size, ...] = (20, 20, 20),
        bottleneck: Size | None = None,
        batch_norm: bool = False,
        dropout: Dropout = 0.0,
        noise: NonNegativeFloat = 0.0,
        device: Device = None,
        dtype: torch.dtype | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.item_shape, self.noise = tuple(item_shape), noise
        middle = len(hidden_sizes) // 2
        narrow = () if bottleneck is None else (bottleneck,)
        sizes = (*hidden_sizes[:middle], *narrow, *hidden_sizes[middle:])
        linear = [
            fan_in_uniform_(uninitialized(nn.Linear, *pair), generator)
            for pair in itertools.pairwise((math.prod(item_shape), *sizes, num_outputs))
        ]
        self.layers = nn.ModuleList()
        for k, layer in enumerate(linear[:-1]):
            parts: list[nn.Module] = [layer]
            if batch_norm:
                parts.append(nn.BatchNorm1d(layer.out_features))
            if k != middle or bottleneck is None:
                parts += [nn.ReLU(), nn.Dropout(dropout)]
            self.layers.append(nn.Sequential(*parts))
        self.output = linear[-1]
        self.mixing_layers = tuple(f"layers.{k}" for k in range(len(sizes)))
        self.to(device=device, dtype=dtype)

    def forward(self, items: Float[Tensor, "batch ..."]) -> Float[Tensor, "batch _"]:
        """Classify every item."""
        check_items(items, self.item_shape)
        hidden = items.flatten(1)
        if self.training and self.noise:
            hidden = hidden + self.noise * torch.randn_like(hidden)
        for layer in self.layers:
            hidden = layer(hidden)
        return self.output(hidden)
