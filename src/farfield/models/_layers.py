"""Linear layers with their first weights."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from farfield.functional.internal import (
    fan_in_uniform_,
    kaiming_normal_,
    uninitialized,
    xavier_normal_,
)


def relu_layer(
    in_features: int, out_features: int, generator: torch.Generator | None, *, bias: bool = True
) -> nn.Linear:
    """Build the layer of ReLU units: Kaiming normal weights, biases of 0.

    Args:
        in_features: Number of inputs.
        out_features: Number of units.
        bias: Whether units have biases.
    """
    layer = uninitialized(nn.Linear, in_features, out_features, bias=bias)
    return kaiming_normal_(layer, generator)


def linear_layer(
    in_features: int, out_features: int, generator: torch.Generator | None, *, bias: bool = True
) -> nn.Linear:
    """Build a layer without activation: Xavier normal weights, biases of 0.

    Args:
        in_features: Number of inputs.
        out_features: Number of outputs.
        bias: Whether outputs have biases.
    """
    return xavier_normal_(uninitialized(nn.Linear, in_features, out_features, bias=bias), generator)


def default_layer(
    in_features: int, out_features: int, generator: torch.Generator | None, *, bias: bool = True
) -> nn.Linear:
    """Build a layer with torch's default distribution of weights and biases.

    Args:
        in_features: Number of inputs.
        out_features: Number of outputs.
        bias: Whether outputs have biases.
    """
    return fan_in_uniform_(
        uninitialized(nn.Linear, in_features, out_features, bias=bias), generator
    )


def weights_of(cell: nn.LSTMCell) -> dict[str, Tensor]:
    """Return the weights and biases of an LSTM by name.

    Args:
        cell: Module that holds the weights.
    """
    return {
        "weight_ih": cell.weight_ih,
        "weight_hh": cell.weight_hh,
        "bias_ih": cell.bias_ih,
        "bias_hh": cell.bias_hh,
    }
