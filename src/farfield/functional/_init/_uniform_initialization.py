"""The default initialization of torch's layers, from a given generator."""

from __future__ import annotations

import math
from typing import TypeVar

import torch
from torch import Tensor, nn

_Layer = TypeVar("_Layer", nn.Linear, nn.Conv2d, nn.ConvTranspose2d)


def fan_in_uniform_(layer: _Layer, generator: torch.Generator | None = None) -> _Layer:
    r"""Draw weights and biases from $U(-1/\sqrt n, 1/\sqrt n)$, as torch's layers do themselves.

    $n$ is the number of inputs of a unit, as torch counts it: the size of one slice of the weight
    along its first axis. (For a transposed convolution that counts output channels, not inputs.)

    Args:
        layer: Layer to initialize, in place.

    Reference:
        webb2020, section 4.3.
    """
    bound = 1 / math.sqrt(layer.weight[0].numel())
    bias: Tensor | None = layer.bias
    for parameter in (layer.weight, *(() if bias is None else (bias,))):
        nn.init.uniform_(parameter, -bound, bound, generator=generator)
    return layer


def uniform_weights_(
    module: nn.Module, bound: float, generator: torch.Generator | None = None
) -> nn.Module:
    """Draw all weights of a module from one uniform distribution; set the biases beside them to 0.

    Vectors of parts that have no weights, such as the gain and shift of a normalization, stay.

    Args:
        module: Module to initialize, in place, with all of its parts.
        bound: Weights lie between −`bound` and `bound`.

    Reference:
        Zaremba et al. 2014; ren2017, section 4.2, as in its released code.
    """
    for part in module.modules():
        own = list(part.parameters(recurse=False))
        if any(parameter.ndim > 1 for parameter in own):
            for parameter in own:
                if parameter.ndim > 1:
                    nn.init.uniform_(parameter, -bound, bound, generator=generator)
                else:
                    nn.init.zeros_(parameter)
    return module


def lstm_uniform_(cell: nn.LSTMCell, generator: torch.Generator | None = None) -> nn.LSTMCell:
    r"""Draw all of an LSTM from $U(-1/\sqrt H, 1/\sqrt H)$, as torch does for $H$ hidden units.

    Args:
        cell: Cell to initialize, in place.

    Reference:
        webb2020, section 4.3.
    """
    bound = 1 / math.sqrt(cell.hidden_size)
    for parameter in cell.parameters():
        nn.init.uniform_(parameter, -bound, bound, generator=generator)
    return cell
