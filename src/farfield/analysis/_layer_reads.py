"""Reads of the neural function modules of a network."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from farfield.core import Problems
from farfield.nn import LayerRead, MultiPass


def multi_pass_of(network: nn.Module) -> MultiPass:
    """The one `MultiPass` in a network.

    Args:
        network: Any network.

    Raises:
        ValueError: If there is none, or several.
    """
    found = [part for part in network.modules() if isinstance(part, MultiPass)]
    if len(found) != 1:
        raise ValueError(
            f"network must hold one MultiPass, got {len(found)} in {type(network).__name__}"
        )
    return found[0]


def layer_reads_of(network: nn.Module, problems: Problems) -> tuple[LayerRead, ...]:
    """All reads of a trained network on some problems, as `MultiPass.trace` gives them.

    Args:
        network: A network with a `MultiPass`, e.g. from `trained_network`.
        problems: What it is shown.

    Raises:
        ValueError: If the network has no `MultiPass`, or several.

    Reference:
        lamb2022, section 10.3.2.
    """
    part, problems = multi_pass_of(network), problems.compact()
    shown: list[Any] = []
    hook = part.register_forward_pre_hook(lambda _, given: shown.append(given))
    try:
        with torch.inference_mode():
            network(problems.table(), problems.index)
            return part.trace(*shown[0])
    finally:
        hook.remove()
