"""The weights of one layer of neural function modules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import torch
from torch import Tensor, nn

from farfield.functional import (
    NFMRead,
    NFMRules,
    NFMWeights,
    WrittenState,
    fan_in_uniform_,
    linear,
    nfm_change,
    nfm_trace,
    uninitialized,
)


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

        self.rules = rules
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

    def trace(
        self,
        x: Tensor,
        written: Sequence[WrittenState],
        *,
        generator: torch.Generator | None = None,
    ) -> tuple[Tensor, NFMRead]:
        """The change of a state by what it reads, and the read."""
        self._count()
        weights, moving, training = self._weights(), self._moving(), self.training
        return nfm_trace(
            x, written, weights, moving, self.rules, training=training, generator=generator
        )

    def change(self, x: Tensor, written: Sequence[WrittenState]) -> Tensor:
        """The change alone, of which gradients take little memory."""
        self._count()
        weights, moving, training = self._weights(), self._moving(), self.training
        return nfm_change(x, written, weights, moving, self.rules, training=training)

    def _weights(self) -> NFMWeights:
        hidden, norm, _, out = self.out
        network = (part for own in (hidden, norm, out) for part in (own.weight, own.bias))
        tensors: Any = (self.query.weight, self.query.bias, *network, self.gamma)
        return NFMWeights(*tensors)

    def _moving(self) -> tuple[Tensor, Tensor]:
        """The running statistics."""
        return self.out.get_buffer("1.running_mean"), self.out.get_buffer("1.running_var")

    def _count(self) -> None:
        """Count a batch, as batch normalization does."""
        if self.training:
            self.out.get_buffer("1.num_batches_tracked").add_(1)


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
