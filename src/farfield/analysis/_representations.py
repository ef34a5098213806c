"""Representations at a named layer of a trained network, and answers with other values there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core import Problems, tap_layers

CHUNK: Final = 512
"""Problems that a network is shown at once."""


def representations_of(
    network: nn.Module, problems: Problems, layer: str
) -> Float[Tensor, "batch feature"]:
    """Record the outputs of a layer of a trained network, a row for each problem.

    Args:
        network: A trained network, in evaluation mode.
        layer: Name of the layer, as in `network.named_modules()`.

    Raises:
        ValueError: If the network has no such layer or does not call it once, or the layer gives
            anything but a row for each problem or each item of each problem.
    """
    found = []
    for some, output in layer_outputs(network, problems, layer):
        if not output.ndim or len(output) not in (len(some), some.index.numel()):
            raise ValueError(
                f"layer must give a row for each of {len(some)} problems or "
                f"{some.index.numel()} items, got {tuple(output.shape)} from {layer!r}"
            )
        found.append(output.reshape(len(some), -1))
    return torch.cat(found)


def layer_outputs(
    network: nn.Module, problems: Problems, layer: str
) -> Iterator[tuple[Problems, Tensor]]:
    """Yield some of the problems at a time, with the output of a layer.

    Args:
        network: A trained network, in evaluation mode.
        layer: Name of the layer, as in `network.named_modules()`.

    Raises:
        ValueError: If the network has no such layer or does not call it once.
    """
    for _, some in chunks(problems):
        seen: list[Tensor] = []
        _outputs(network, some, {layer: _keep(seen)})
        if len(seen) != 1:
            raise ValueError(f"layer must be called once, got {len(seen)} calls of {layer!r}")
        yield some, seen[0]


def probabilities_of(
    network: nn.Module, problems: Problems, replaced: Mapping[str, Tensor] | None = None
) -> Float[Tensor, "batch class"]:
    """Compute the probabilities of classes that a trained network answers with.

    Args:
        network: A trained network, in evaluation mode, with a logit for each class, or one for the
            second of two.
        replaced: Representations in place of the outputs of layers, a row for each problem, by the
            name of the layer.

    Raises:
        ValueError: If the network has no such layer, or its outputs are of another size.
    """
    found = []
    for rows, some in chunks(problems):
        taps = {name: _instead(name, own[rows]) for name, own in (replaced or {}).items()}
        outputs = _outputs(network, some, taps)
        logits = F.pad(outputs, (1, 0)) if outputs.shape[-1] == 1 else outputs
        found.append(logits.softmax(-1))
    return torch.cat(found)


def chunks(problems: Problems) -> Iterator[tuple[slice, Problems]]:
    """Yield some of the problems at a time, each with separate items.

    Args:
        problems: All of them.
    """
    for start in range(0, len(problems), CHUNK):
        rows = slice(start, start + CHUNK)
        yield rows, problems[rows].unshared()


def _outputs(
    network: nn.Module, problems: Problems, taps: Mapping[str, Callable[[Tensor], Tensor]]
) -> Tensor:
    """Compute the outputs of a network with hooks on its layers, without gradients."""
    with torch.inference_mode(), tap_layers(network, taps):
        outputs: Tensor = network(problems.table(), problems.index)
    return outputs


def _keep(seen: list[Tensor]) -> Callable[[Tensor], Tensor]:
    """Hook that adds the output of a layer to a list."""

    def see(output: Tensor) -> Tensor:
        seen.append(output)
        return output

    return see


def _instead(name: str, representations: Tensor) -> Callable[[Tensor], Tensor]:
    """Hook that puts representations in place of the output of a layer."""

    def replace(output: Tensor) -> Tensor:
        if output.numel() != representations.numel():
            raise ValueError(
                f"replaced must hold as many numbers as the outputs of {name!r}, of shape "
                f"{tuple(output.shape)}, got {tuple(representations.shape)}"
            )
        return representations.to(output).reshape(output.shape)

    return replace
