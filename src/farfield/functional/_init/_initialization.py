"""Initializations as the papers name them, from a given generator."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import torch
from torch import Tensor, nn

_Options = ParamSpec("_Options")
_Module = TypeVar("_Module", bound=nn.Module)
_Layer = TypeVar("_Layer", nn.Linear, nn.Conv2d, nn.ConvTranspose2d)

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
    module: _Module, bound: float, generator: torch.Generator | None = None
) -> _Module:
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


@torch.no_grad()
def lstm_controller(
    input_size: int, hidden_size: int, generator: torch.Generator | None
) -> nn.LSTMCell:
    r"""Build an LSTM with weights for tanh candidates and sigmoid gates; all biases 0.

    In each of the two weight matrices the rows of the input and forget gates together are one
    Xavier normal draw, those of the output gate another, and those of the candidate a third with
    gain 5/3. There is no bonus on the forget gate.

    Returns:
        The cell, with gate rows in the order input, forget, candidate, output.

    Reference:
        webb2021, appendix A.3.3 (the grouping of rows is that of the released code).
    """
    cell, size = uninitialized(nn.LSTMCell, input_size, hidden_size), hidden_size
    for weight in (cell.weight_ih, cell.weight_hh):
        nn.init.xavier_normal_(weight[: 2 * size], generator=generator)
        nn.init.xavier_normal_(weight[3 * size :], generator=generator)
        nn.init.xavier_normal_(weight[2 * size : 3 * size], gain=TANH_GAIN, generator=generator)
    nn.init.zeros_(cell.bias_ih)
    nn.init.zeros_(cell.bias_hh)
    return cell


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


def _zero_bias(layer: nn.Linear | nn.Conv2d | nn.ConvTranspose2d) -> None:
    bias: Tensor | None = layer.bias
    if bias is not None:
        nn.init.zeros_(bias)


def relu_layer(
    in_features: int, out_features: int, generator: torch.Generator | None, *, bias: bool = True
) -> nn.Linear:
    """Build the layer of ReLU units: Kaiming normal weights, biases of 0.

    Args:
        bias: True for a layer with biases.

    Reference:
        webb2021, appendix A.3.1.
    """
    layer = uninitialized(nn.Linear, in_features, out_features, bias=bias)
    return kaiming_normal_(layer, generator)


def linear_layer(
    in_features: int, out_features: int, generator: torch.Generator | None, *, bias: bool = True
) -> nn.Linear:
    """Build a layer without activation: Xavier normal weights, biases of 0.

    Args:
        bias: True for a layer with biases.

    Reference:
        Glorot and Bengio 2010; webb2021, appendix A.3.2.
    """
    layer = uninitialized(nn.Linear, in_features, out_features, bias=bias)
    nn.init.xavier_normal_(layer.weight, generator=generator)
    _zero_bias(layer)
    return layer


def xavier_layer(
    in_features: int, out_features: int, generator: torch.Generator | None, *, bias: bool = True
) -> nn.Linear:
    """Build a layer without activation: Xavier uniform weights, biases of 0.

    Args:
        bias: True for a layer with biases.

    Reference:
        webb2020, section 4.1.
    """
    layer = uninitialized(nn.Linear, in_features, out_features, bias=bias)
    return xavier_uniform_(layer, generator)


def default_layer(
    in_features: int, out_features: int, generator: torch.Generator | None, *, bias: bool = True
) -> nn.Linear:
    """Build a layer with torch's default distribution of weights and biases.

    Args:
        bias: True for a layer with biases.

    Reference:
        webb2020, section 4.3.
    """
    return fan_in_uniform_(
        uninitialized(nn.Linear, in_features, out_features, bias=bias), generator
    )


def inverse_softplus_(
    bias: Tensor,
    generator: torch.Generator | None = None,
    *,
    low: float = 1e-3,
    high: float = 0.1,
) -> Tensor:
    """Draw numbers whose softplus is log-uniform, as biases of step sizes.

    Args:
        bias: Numbers to draw, in place.
        low: Least softplus.
        high: Largest softplus.

    Reference:
        gu2023, section 3.6.
    """
    with torch.no_grad():
        size = bias.uniform_(math.log(low), math.log(high), generator=generator).exp_()
        return size.add_(torch.log(-torch.expm1(-size)))
