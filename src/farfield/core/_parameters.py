"""Functional calls of modules with given parameters and buffers."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any, final

import torch
from torch import Tensor, nn
from torch.func import functional_call


def first_names(module: nn.Module) -> dict[str, str]:
    """For every name of a parameter or buffer, the first name of the same tensor.

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
    """Type of the first parameter that is of real floating-point numbers; `None` without one.

    Args:
        module: The module, which may have integer parameters beside it.
    """
    return next((p.dtype for p in module.parameters() if p.is_floating_point()), None)


def keeps_numbers(dtype: torch.dtype, found: torch.dtype) -> bool:
    """True if all numbers of one type can be written in another with equal values.

    Args:
        dtype: Type that the numbers would get.
        found: Type of the numbers; integers, booleans and complex numbers have to keep theirs.
    """
    if found == dtype or not (found.is_floating_point and dtype.is_floating_point):
        return found == dtype
    narrow, wide = torch.finfo(found), torch.finfo(dtype)
    return narrow.eps >= wide.eps and narrow.max <= wide.max


def call_with(module: nn.Module, tensors: Mapping[str, Tensor], method: str, *inputs: Any) -> Any:
    """The result of a method of a module under other parameters and buffers.

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
    """`first_names` without second names of one module, which is set under its first."""
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
        """Result of the method."""
        return getattr(self.module, self.method)(*inputs)
