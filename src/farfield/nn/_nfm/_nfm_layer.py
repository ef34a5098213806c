"""The weights of one layer of neural function modules."""

from __future__ import annotations

from typing import final

import torch
from torch import Tensor, nn

from farfield.functional import NFMRules, WrittenState, fan_in_uniform_, linear, uninitialized


@final
class NFMLayer(nn.Module):
    """Weights with which a layer writes, and, if it reads, those with which it reads.

    States are given with their features last.

    Args:
        num_features: Of its state.
        rules: The options.
        reads: Whether it reads.
        generator: Where the first weights are drawn from.
    """

    def __init__(
        self, num_features: int, rules: NFMRules, *, reads: bool, generator: torch.Generator | None
    ) -> None:
        super().__init__()
        keys, values = (rules.num_heads * size for size in (rules.key_size, rules.value_size))

        def projection(outputs: int) -> nn.Linear:
            layer = uninitialized(nn.Linear, num_features, outputs, bias=rules.bias)
            return fan_in_uniform_(layer, generator)

        self.residual_input = rules.residual_input
        self.key, self.value = projection(keys), projection(values)
        if not reads:
            return
        self.query = projection(keys)
        inputs = values + num_features * rules.residual_input
        self.out = nn.Sequential(
            _convolution(inputs, num_features, rules, generator),
            nn.BatchNorm2d(num_features),
            nn.ReLU(),
            _convolution(num_features, num_features, rules, generator),
        )
        self.gamma = nn.Parameter(torch.zeros(()))

    def write(self, x: Tensor) -> WrittenState:
        """Keys and values of a state."""
        return WrittenState(_projected(x, self.key), _projected(x, self.value))

    def queries(self, x: Tensor) -> Tensor:
        """Queries of a state."""
        return _projected(x, self.query)

    def change(self, x: Tensor, values: Tensor) -> Tensor:
        """The change of a state by what was read."""
        read = torch.cat((values, x), -1) if self.residual_input else values
        maps = read.reshape(x.shape[0], *x.shape[1:-1], *[1] * (4 - x.ndim), read.shape[-1])
        found: Tensor = self.gamma * self.out(maps.movedim(-1, 1))
        return found.movedim(1, -1).reshape(x.shape)


def _convolution(
    inputs: int, outputs: int, rules: NFMRules, generator: torch.Generator | None
) -> nn.Conv2d:
    size = rules.kernel_size
    layer = uninitialized(nn.Conv2d, inputs, outputs, size, padding=size // 2, bias=rules.bias)
    return fan_in_uniform_(layer, generator)


def _projected(x: Tensor, layer: nn.Linear) -> Tensor:
    """A linear layer at all positions, as one product."""
    found = linear(x.reshape(-1, x.shape[-1]), layer.weight, layer.bias)
    return found.reshape(*x.shape[:-1], layer.out_features)
