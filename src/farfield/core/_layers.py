"""Layers of a network by name, and functions on what they give."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from difflib import get_close_matches

from torch import Tensor, nn


def layer_by_name(network: nn.Module, name: str) -> nn.Module:
    """A layer of a network.

    Args:
        network: The network.
        name: Name of the layer, as in `named_modules`.

    Raises:
        ValueError: If no layer has that name.
    """
    layers = dict(network.named_modules())
    if name not in layers:
        near = get_close_matches(name, layers, n=1)
        named = ", ".join(filter(None, layers))
        hint = f"; did you mean {near[0]!r}?" if near else f"; it has {named}"
        raise ValueError(f"layers must be layers of the network, got {name!r}{hint}")
    return layers[name]


@contextmanager
def tap_layers(
    network: nn.Module, taps: Mapping[str, Callable[[Tensor], Tensor]]
) -> Iterator[None]:
    """Replace the outputs of named layers as long as a `with` block lasts.

    Args:
        network: The network.
        taps: Functions from the output of a layer to another output, by the name of the layer.

    Raises:
        ValueError: If a layer is not in the network, or its output is more than one tensor.
    """

    def hook(name: str, tap: Callable[[Tensor], Tensor]) -> Callable[..., Tensor]:
        def change(module: nn.Module, _: object, output: object) -> Tensor:
            if not isinstance(output, Tensor):
                raise ValueError(
                    f"layers must each return one tensor, got {type(output).__name__} from "
                    f"{name!r}, a {type(module).__name__}; name a layer inside or after it"
                )
            return tap(output)

        return change

    with ExitStack() as hooks:
        for name, tap in taps.items():
            handle = layer_by_name(network, name).register_forward_hook(hook(name, tap))
            hooks.callback(handle.remove)
        yield
