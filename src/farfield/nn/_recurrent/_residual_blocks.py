"""Residual blocks of sequence layers with one state each: mixing over time, then over features."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Unpack, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core.internal import Limits, take_factory_arguments
from farfield.functional.internal import uninitialized, xavier_layer
from farfield.nn._recurrent._sequence_layer import LayerOptions, SequenceLayer
from farfield.nn._recurrent._states import State

Units = Annotated[int, Limits(at_least=0, at_most=2**24)]
"""Number of hidden units of a network behind a mixer; 0 for no network."""


class Mixer(nn.Module):
    """Base of the part of a block that mixes time steps: `outputs, state = mixer(x, state)`.

    A subclass gives the first state and runs `(time, batch, feature)`. Each part of a state has
    the batch on its first axis.
    """

    def first_state(self, x: Tensor) -> State:
        """Make the first state of inputs `(time, batch, feature)`.

        Args:
            x: The inputs, for their batch, type and device.
        """
        raise NotImplementedError

    def forward(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """Mix time steps; return the last state too."""
        raise NotImplementedError


class ResidualLayer(SequenceLayer):
    r"""Base of layers of residual blocks, normalized before each part.

    $$u = x + \mathrm{Mix}(N(x)), \qquad y = u + \mathrm{FF}(N(u))$$

    behind a linear layer on the inputs and before a last normalization.

    Args:
        num_layers: Number of blocks.
        mixer: Function that makes the mixer of a block from its number; their states have the same
            shapes.
        feedforward_size: Hidden units of the network behind each mixer; 0 for none.
        generator: Source of the draws: of the linear layer, then of mixers, then of networks.
        centered: True for layer normalization, False for division by the root of the mean square.
        gelu: As in `GatedFeedforward`.
    """

    @take_factory_arguments(SequenceLayer)
    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int,
        mixer: Callable[[int], Mixer],
        *,
        centered: bool,
        feedforward_size: int = 0,
        gelu: bool = False,
        **options: Unpack[LayerOptions],
    ) -> None:
        super().__init__(input_size, hidden_size, **options)
        generator = options["generator"]
        self.encode = xavier_layer(input_size, hidden_size, generator)
        mixers = [mixer(number) for number in range(num_layers)]
        feedforwards = [
            GatedFeedforward(hidden_size, feedforward_size, generator, gelu=gelu)
            if feedforward_size
            else None
            for _ in range(num_layers)
        ]
        self.blocks = nn.ModuleList(
            _Block(mixed, feedforward, hidden_size, centered=centered)
            for mixed, feedforward in zip(mixers, feedforwards, strict=True)
        )
        self.norm = _norm(hidden_size, centered=centered)

    def _first_state(self, x: Tensor) -> State:
        states = [cast("_Block", block).mixer.first_state(x) for block in self.blocks]
        return tuple(torch.stack(parts) for parts in zip(*states, strict=True))

    def _run(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        x, last = self.encode(x), []
        for block, *before in zip(self.blocks, *state, strict=True):
            x, after = block(x, tuple(before))
            last.append(after)
        return self.norm(x), tuple(torch.stack(parts) for parts in zip(*last, strict=True))


def _norm(size: int, *, centered: bool) -> nn.Module:
    return nn.LayerNorm(size, bias=False) if centered else RootMeanSquareNorm(size)


class _Block(nn.Module):
    """Residual block: a mixer of time steps, then a network for each step."""

    def __init__(
        self, mixer: Mixer, feedforward: nn.Module | None, size: int, *, centered: bool
    ) -> None:
        super().__init__()
        self.norm1, self.mixer = _norm(size, centered=centered), mixer
        self.norm2 = None if feedforward is None else _norm(size, centered=centered)
        self.feedforward = feedforward

    def forward(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """Run the block on `(time, batch, feature)`; return its last state too."""
        mixed, last = self.mixer(self.norm1(x), state)
        x = x + mixed
        if self.norm2 is not None and self.feedforward is not None:
            x = x + self.feedforward(self.norm2(x))
        return x, last


class GatedFeedforward(nn.Module):
    r"""Two-layer network for each step, with a gate: $W_3 (g(W_1 x) \odot W_2 x)$.

    Args:
        size: Number of features of inputs and outputs.
        hidden_size: Number of hidden units.
        gelu: True for a GELU as $g$, False for a SiLU.
    """

    def __init__(
        self, size: int, hidden_size: int, generator: torch.Generator | None, *, gelu: bool = False
    ) -> None:
        super().__init__()
        self.gelu = gelu
        self.enter = xavier_layer(size, 2 * hidden_size, generator, bias=False)
        self.leave = xavier_layer(hidden_size, size, generator, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Apply the network to `(*batch, feature)`."""
        gate, value = self.enter(x).chunk(2, dim=-1)
        return cast("Tensor", self.leave((F.gelu(gate) if self.gelu else F.silu(gate)) * value))


class Convolution(nn.Module):
    """Weights of a causal convolution of each feature, with torch's default distribution.

    Args:
        size: Number of features.
        kernel_size: Number of steps that an output reads.
        bias: True for a bias per feature.
    """

    def __init__(
        self, size: int, kernel_size: int, generator: torch.Generator | None, *, bias: bool = True
    ) -> None:
        super().__init__()
        bound = 1 / math.sqrt(kernel_size)
        self.weight = nn.Parameter(torch.empty(size, kernel_size))
        self.bias = nn.Parameter(torch.empty(size)) if bias else None
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -bound, bound, generator=generator)

    def first_state(self, x: Tensor) -> Tensor:
        """Make zeros for the inputs before the first step.

        Args:
            x: Inputs of the layer, for their batch, type and device.
        """
        size, kernel_size = self.weight.shape
        return x.new_zeros(x.shape[1], kernel_size - 1, size)


class HeadNorm(nn.Module):
    """Layer normalization of each head, with a gain per feature and no shift.

    Args:
        size: Number of features of all heads.
    """

    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x: Tensor) -> Tensor:
        """Normalize `(*batch, head, feature)`, and join the heads."""
        return F.layer_norm(x, x.shape[-1:], eps=1e-5).flatten(-2) * self.weight


class RootMeanSquareNorm(nn.Module):
    """Division by the root of the mean square, with a gain per feature.

    Args:
        size: Number of features.
    """

    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x: Tensor) -> Tensor:
        """Normalize `(*batch, feature)`."""
        return F.rms_norm(x, x.shape[-1:], eps=1e-5) * self.weight


def normal_layer(
    in_features: int, out_features: int, std: float, generator: torch.Generator | None
) -> nn.Linear:
    """Build a linear layer without biases, its weights normal around 0.

    Args:
        std: Standard deviation of the weights.
    """
    layer = uninitialized(nn.Linear, in_features, out_features, bias=False)
    nn.init.normal_(layer.weight, std=std, generator=generator)
    return layer


def wide_zeros(x: Tensor, *shape: int) -> Tensor:
    """Make zeros of a type of 32 bits at least.

    Args:
        x: Tensor of the type, and on the device.
        shape: The shape.
    """
    return x.new_zeros(shape, dtype=torch.promote_types(x.dtype, torch.float32))


def wide_linear(x: Tensor, weight: Tensor, bias: Tensor, dtype: torch.dtype) -> Tensor:
    """Apply a linear layer in a wide type under `torch.autocast` too, for exponential gates.

    Args:
        x: The inputs.
        weight: (out, in).
        bias: (out).
        dtype: The type.
    """
    with torch.autocast(x.device.type, enabled=False):
        return F.linear(x.to(dtype), weight.to(dtype), bias.to(dtype))


def by_head(x: Tensor, num_heads: int) -> Tensor:
    """Split features into heads: `(*batch, head, feature)`.

    Args:
        x: `(*batch, feature)`.
        num_heads: Number of heads.
    """
    return torch.unflatten(x, -1, (num_heads, x.shape[-1] // num_heads))
