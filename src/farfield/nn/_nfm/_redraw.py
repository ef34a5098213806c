"""A copy of a network with weights of its own."""

from __future__ import annotations

import copy

import torch
from torch import nn

from farfield.core import forked_generators, stream


def redraw(network: nn.Module, generator: torch.Generator | None) -> nn.Module:
    """A copy of a network whose weights are drawn anew, by `reset_parameters` of each layer.

    Args:
        network: The network, which stays as it is.
        generator: Where the seed of the draws comes from; None is torch's global generator.

    Raises:
        ValueError: If a layer has parameters and no `reset_parameters`.
    """
    drawn = copy.deepcopy(network)
    seed = int(torch.randint(2**63 - 1, (), generator=generator))
    # torch's layers draw from the global generator alone.
    with forked_generators(stream(seed, "weights")):
        for name, layer in reversed([*drawn.named_modules()]):  # whole layers after their parts
            _reset(name, layer)
    return drawn


def _reset(name: str, layer: nn.Module) -> None:
    # The attention of torch keeps it to itself.
    reset = getattr(layer, "reset_parameters", getattr(layer, "_reset_parameters", None))
    if callable(reset):
        reset()
    elif any(True for _ in layer.parameters(recurse=False)):
        raise ValueError(
            f"network must have reset_parameters in every layer with weights, with which those of "
            f"another pass are drawn, got {name!r}, a {type(layer).__name__} without; "
            f"shared=True needs none"
        )
