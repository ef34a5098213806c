"""Initializations as the papers name them, from a given generator."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

import torch
from torch import Tensor, nn

_Options = ParamSpec("_Options")
_Module = TypeVar("_Module", bound=nn.Module)
_Layer = TypeVar("_Layer", nn.Linear, nn.Conv2d)

TANH_GAIN = 5 / 3
"""Xavier gain of a tanh unit."""


def uninitialized(
    module: Callable[_Options, _Module], *args: _Options.args, **kwargs: _Options.kwargs
) -> _Module:
    """Build a module of torch without the draws that its constructor makes.

    torch's layers initialize themselves from the global generator; this one leaves that generator
    alone, and the parameters without values until one of the functions beside it sets them.

    Args:
        module: Class of the module, e.g. `torch.nn.Linear`.
        args: Of the class.
        kwargs: Of the class.

    Returns:
        The module on torch's default device, its parameters not yet set.
    """
    device = torch.get_default_device()
    with torch.device("meta"):
        built = module(*args, **kwargs)
    return built.to_empty(device=device)


def xavier_normal_(layer: nn.Linear, generator: torch.Generator | None = None) -> nn.Linear:
    """Draw the weights from a Xavier normal distribution of gain 1; set the bias to 0.

    Args:
        layer: Layer to initialize, in place.

    Reference:
        Glorot and Bengio 2010; webb2021, appendix A.3.2.
    """
    nn.init.xavier_normal_(layer.weight, generator=generator)
    _zero_bias(layer)
    return layer


def xavier_uniform_(layer: _Layer, generator: torch.Generator | None = None) -> _Layer:
    """Draw the weights from a Xavier uniform distribution of gain 1; set the bias to 0.

    Args:
        layer: Layer to initialize, in place.

    Reference:
        Glorot and Bengio 2010; webb2020, section 4.1.
    """
    nn.init.xavier_uniform_(layer.weight, generator=generator)
    _zero_bias(layer)
    return layer


def kaiming_normal_(layer: _Layer, generator: torch.Generator | None = None) -> _Layer:
    """Draw the weights from a Kaiming normal distribution for ReLU units; set the bias to 0.

    Args:
        layer: Layer to initialize, in place.

    Reference:
        He et al. 2015; webb2021, appendix A.3.1.
    """
    nn.init.kaiming_normal_(layer.weight, nonlinearity="relu", generator=generator)
    _zero_bias(layer)
    return layer


def normal_(
    layer: _Layer,
    std: float,
    *,
    truncated: bool = False,
    generator: torch.Generator | None = None,
) -> _Layer:
    """Draw the weights from a normal distribution around 0; set the bias to 0.

    Args:
        layer: Layer to initialize, in place.
        std: Standard deviation of the distribution.
        truncated: Whether numbers beyond two standard deviations are drawn again, as TensorFlow's
            truncated normal initializer does; that leaves 0.88 of the deviation.

    Reference:
        ren2017, sections 4.1 and 4.3; its released code truncates.
    """
    if truncated:
        nn.init.trunc_normal_(layer.weight, std=std, a=-2 * std, b=2 * std, generator=generator)
    else:
        nn.init.normal_(layer.weight, std=std, generator=generator)
    _zero_bias(layer)
    return layer


@torch.no_grad()
def lstm_init_(cell: nn.LSTMCell, generator: torch.Generator | None = None) -> nn.LSTMCell:
    r"""Initialize an LSTM for tanh candidates and sigmoid gates; all biases 0.

    In each of the two weight matrices the rows of the input and forget gates together are one
    Xavier normal draw, those of the output gate another, and those of the candidate a third with
    gain 5/3. There is no bonus on the forget gate.

    Args:
        cell: Cell to initialize, in place, with gate rows in the order input, forget, candidate,
            output.

    Reference:
        webb2021, appendix A.3.3 (the grouping of rows is that of the released code).
    """
    size = cell.hidden_size
    for weight in (cell.weight_ih, cell.weight_hh):
        nn.init.xavier_normal_(weight[: 2 * size], generator=generator)
        nn.init.xavier_normal_(weight[3 * size :], generator=generator)
        nn.init.xavier_normal_(weight[2 * size : 3 * size], gain=TANH_GAIN, generator=generator)
    nn.init.zeros_(cell.bias_ih)
    nn.init.zeros_(cell.bias_hh)
    return cell


def _zero_bias(layer: nn.Linear | nn.Conv2d) -> None:
    bias: Tensor | None = layer.bias
    if bias is not None:
        nn.init.zeros_(bias)
