"""The fully connected layers that readers of maps answer with."""

from __future__ import annotations

from typing import Final

import torch
from torch import nn

from farfield.functional import fan_in_uniform_, uninitialized

HIDDEN_LAYERS: Final = 2


def answer_layers(
    in_features: int,
    num_outputs: int,
    *,
    hidden_size: int,
    dropout: float,
    generator: torch.Generator | None,
) -> nn.Sequential:
    """Two hidden layers of ReLU units, dropout and a linear layer.

    Args:
        in_features: Numbers that are read.
        num_outputs: Numbers in an answer.
        hidden_size: Units of a hidden layer.
        dropout: Probability that a unit of the second is dropped in training.
        generator: Where the first weights are drawn from.
    """
    layers = dense_layers(in_features, hidden_size, HIDDEN_LAYERS, generator)
    output = fan_in_uniform_(uninitialized(nn.Linear, hidden_size, num_outputs), generator)
    return nn.Sequential(*layers, nn.Dropout(dropout), output)


def dense_layers(
    in_features: int, hidden_size: int, number: int, generator: torch.Generator | None
) -> nn.Sequential:
    """Layers of ReLU units.

    Args:
        in_features: Numbers that are read.
        hidden_size: Units of a layer.
        number: Number of layers.
        generator: Where the first weights are drawn from.
    """
    layers: list[nn.Module] = []
    for layer in range(number):
        inputs = hidden_size if layer else in_features
        layers += [
            fan_in_uniform_(uninitialized(nn.Linear, inputs, hidden_size), generator),
            nn.ReLU(),
        ]
    return nn.Sequential(*layers)
