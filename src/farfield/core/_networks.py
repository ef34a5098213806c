"""Networks by name: their layers, parameters and optional abilities."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from difflib import get_close_matches
from itertools import chain
from typing import Any, Protocol, final, runtime_checkable

import torch
from torch import Tensor, nn
from torch.func import functional_call


@runtime_checkable
class EncodesItems(Protocol):
    """A model that encodes items one by one before it reads problems."""

    def encode(self, items: Tensor) -> Tensor:
        """Map items `(item, *shape)` to embeddings `(item, *)`."""
        ...

    def answer(self, embeddings: Tensor, index: Tensor) -> Tensor:
        """Map embeddings and index to outputs."""
        ...


@runtime_checkable
class EncodesWithPart(EncodesItems, Protocol):
    """A model that encodes items with one of its parts."""

    encoder: nn.Module


@runtime_checkable
class HasMixingLayers(Protocol):
    """A network with layers at which problems can be mixed.

    Each gives one tensor with a row for every problem, and everything behind it is computed from
    that tensor alone.
    """

    @property
    def mixing_layers(self) -> tuple[str, ...]:
        """Names of the layers, as in `named_modules`, from the first to the last."""
        ...


def layer_by_name(network: nn.Module, name: str) -> nn.Module:
    """Look up a layer of a network.

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


def first_names(module: nn.Module) -> dict[str, str]:
    """Map every name of a parameter or buffer to the first name of the same tensor.

    Args:
        module: The module; tied weights have more than one name.
    """
    first = dict[int, str]()
    tensors = chain(
        module.named_parameters(remove_duplicate=False),
        module.named_buffers(remove_duplicate=False),
    )
    return {name: first.setdefault(id(tensor), name) for name, tensor in tensors}


def floating_dtype(module: nn.Module) -> torch.dtype | None:
    """Find the type of the first parameter of real floating-point numbers; `None` without one.

    Args:
        module: The module, which may have integer parameters beside it.
    """
    return next((p.dtype for p in module.parameters() if p.is_floating_point()), None)


def keeps_numbers(dtype: torch.dtype, found: torch.dtype) -> bool:
    """Check that all numbers of one type can be written in another with equal values.

    Args:
        dtype: Type that the numbers would get.
        found: Type of the numbers; integers, booleans and complex numbers have to keep theirs.
    """
    if found == dtype or not (found.is_floating_point and dtype.is_floating_point):
        return found == dtype
    narrow, wide = torch.finfo(found), torch.finfo(dtype)
    return narrow.eps >= wide.eps and narrow.max <= wide.max


def call_with(module: nn.Module, tensors: Mapping[str, Tensor], method: str, *inputs: Any) -> Any:
    """Call a method of a module with other parameters and buffers.

    The module may change them in place. Tied weights are put under every name: torch leaves a
    module that has two names with the weights of the call.

    Args:
        module: The module.
        tensors: All parameters and buffers, by the first name of each.
        method: Name of the method, e.g. `"forward"`.
        inputs: Its arguments.

    Raises:
        ValueError: If the module replaces a tensor instead of changing it in place.
    """
    called = module if method == "forward" else _Method(module, method)
    prefix = "" if method == "forward" else "module."
    given = {prefix + name: tensors[first] for name, first in _names_to_set(module).items()}
    left = dict(given)
    result = functional_call(called, left, inputs, tie_weights=False)
    for name, tensor in given.items():
        if left[name] is not tensor:
            raise ValueError(
                f"{name} is replaced in the forward pass, which would be lost; change it in place"
            )
    return result


def _names_to_set(module: nn.Module) -> dict[str, str]:
    """Compute `first_names` without second names of one module, which is set under its first."""
    every = first_names(module)
    kinds = {"recurse": False, "remove_duplicate": False}
    return {
        name: every[name]
        for path, part in module.named_modules()
        for name, _ in chain(
            part.named_parameters(path, **kinds), part.named_buffers(path, **kinds)
        )
    }


@final
class _Method(nn.Module):
    """A module whose call is a method of another."""

    def __init__(self, module: nn.Module, method: str) -> None:
        super().__init__()
        self.module = module
        self.method = method

    def forward(self, *inputs: Any) -> Any:
        """Call the method."""
        return getattr(self.module, self.method)(*inputs)
