"""Checks that networks of several seeds can be one program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from farfield.core import first_names
from farfield.training._held import held_generators


def check_alike(networks: Sequence[nn.Module]) -> None:
    """Raise `ValueError` unless networks differ in separate parameters and buffers only.

    Args:
        networks: Networks of one experiment, at least one.
    """
    names = first_names(networks[0])
    for name in networks[0].state_dict():
        if name not in names:
            raise ValueError(f"{name} is neither parameter nor buffer, and cannot be stacked")
    if any(held_generators(network) for network in networks):
        raise ValueError("a module holds a generator, which would draw alike for all networks")
    _check_separate(networks[0])
    for network in networks[1:]:
        if first_names(network) != names:
            raise ValueError("networks of several seeds must have the same tied weights")
        for (name, first), other in zip(
            networks[0].named_modules(), network.modules(), strict=True
        ):
            _check_same_attributes(name, vars(first), vars(other))


def _check_separate(network: nn.Module) -> None:
    """Raise `ValueError` for tensors that share memory without being one tensor."""
    attributes = {
        f"{path}.{name}".removeprefix("."): value
        for path, module in network.named_modules()
        for name, value in vars(module).items()
        if isinstance(value, Tensor)
    }
    owner = dict[int, str]()
    tensors = chain(network.named_parameters(), network.named_buffers(), attributes.items())
    for name, tensor in tensors:
        if not tensor.numel():
            continue
        other = owner.setdefault(tensor.untyped_storage().data_ptr(), name)
        if other != name:
            raise ValueError(f"{name} shares memory with {other}, which stacked they would not")


def _check_same_attributes(path: str, first: Mapping[str, Any], other: Mapping[str, Any]) -> None:
    for name in (first.keys() | other.keys()) - vars(nn.Module()).keys():
        if not _is_same(first.get(name), other.get(name)):
            where = f"{path}.{name}".removeprefix(".")
            raise ValueError(
                f"{where} differs from seed to seed and is neither parameter nor buffer; "
                "register it as a buffer"
            )


def _is_same(first: Any, other: Any) -> bool:
    """True if two plain values are the same, or cannot be compared."""
    if type(first) is not type(other):
        return False
    match first:
        case Tensor():
            return isinstance(first, nn.Parameter) or torch.equal(first, other)
        case dict():
            return _is_same([*first.items()], [*other.items()])
        case list() | tuple():
            return len(first) == len(other) and all(map(_is_same, first, other))
        case int() | float() | str() | np.ndarray():
            return np.array_equal(first, other)
    return True
