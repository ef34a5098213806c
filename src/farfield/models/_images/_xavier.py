"""Layers whose weights are drawn from a Xavier uniform distribution, also when drawn anew."""

from __future__ import annotations

from typing import Self, final

import torch
from torch import nn

from farfield.functional import uninitialized


@final
class XavierConv2d(nn.Conv2d):
    """A convolution that keeps the size of maps."""

    gain = 1.0

    @classmethod
    def drawn(
        cls,
        in_channels: int,
        out_channels: int,
        side: int,
        *,
        gain: float = 1.0,
        generator: torch.Generator | None,
    ) -> Self:
        """The layer with its first weights, and biases of 0.

        Args:
            in_channels: Channels that are read.
            out_channels: Channels that are given.
            side: Side of the window, odd.
            gain: Gain of the distribution.
            generator: Where the weights are drawn from.
        """
        layer = uninitialized(cls, in_channels, out_channels, side, padding=side // 2)
        layer.gain = gain
        layer.reset_parameters(generator)
        return layer

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw the weights anew.

        Args:
            generator: Where they are drawn from; None is torch's global generator.
        """
        _draw(self, self.gain, generator)


@final
class XavierLinear(nn.Linear):
    """A linear layer."""

    @classmethod
    def drawn(
        cls, in_features: int, out_features: int, *, generator: torch.Generator | None
    ) -> Self:
        """The layer with its first weights, and biases of 0.

        Args:
            in_features: Numbers that are read.
            out_features: Numbers that are given.
            generator: Where the weights are drawn from.
        """
        layer = uninitialized(cls, in_features, out_features)
        layer.reset_parameters(generator)
        return layer

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw the weights anew.

        Args:
            generator: Where they are drawn from; None is torch's global generator.
        """
        _draw(self, 1.0, generator)


def _draw(layer: nn.Linear | nn.Conv2d, gain: float, generator: torch.Generator | None) -> None:
    nn.init.xavier_uniform_(layer.weight, gain, generator=generator)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
