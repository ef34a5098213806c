"""Names of the layers at which problems are mixed."""

from __future__ import annotations

from typing import Final

from farfield.core import HasMixingLayers, layer_by_name
from farfield.objectives._bound import Bound

INPUT: Final = "input"
"""Name of the items among the layers at which problems are mixed."""


def check_layers(layers: tuple[str, ...] | None) -> None:
    """Raise `ValueError` unless at least one layer is named, and none twice.

    Args:
        layers: Names of layers; `None` for those that a network declares.
    """
    if layers is not None and (not layers or len(set(layers)) < len(layers)):
        raise ValueError(f"layers must be at least one name, each named once, got {layers!r}")


def layers_of(network: Bound, layers: tuple[str, ...] | None) -> tuple[str, ...]:
    """Names of the layers at which problems are mixed in a network.

    Args:
        network: The network.
        layers: Their names; `None` for the items and the layers that the network declares.

    Raises:
        ValueError: If no part of the network declares layers, and none is named.
    """
    if layers is not None:
        return layers
    declared = [
        f"{path}.{name}".removeprefix(".")
        for path, part in network.module.named_modules()
        if isinstance(part, HasMixingLayers)
        for name in part.mixing_layers
    ]
    if not declared:
        names = ", ".join(name for name, _ in network.module.named_modules() if name)
        raise ValueError(
            "layers must be named for a network no part of which has mixing_layers, got None for "
            f'{type(network.module).__name__}; it has "{INPUT}" and {names}'
        )
    return tuple(dict.fromkeys((INPUT, *declared)))


def check_hidden(network: Bound, layers: tuple[str, ...] | None) -> None:
    """Raise `ValueError` if a layer other than the items is not in a network.

    Args:
        network: The network.
        layers: Names of layers; `None` for those that the network declares.
    """
    for name in layers_of(network, layers):
        if name != INPUT:
            layer_by_name(network.module, name)
