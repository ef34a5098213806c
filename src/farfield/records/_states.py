"""Conversion of state dictionaries to tensors that share no memory, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import torch
from torch import Tensor
from torch.nn.parameter import is_lazy

from farfield.core import excerpt

JSON: Final = "_extra_state.json"
"""Suffix of the name of extra state stored as JSON text in UTF-8."""


def to_tensors(state: Mapping[str, Any]) -> dict[str, Tensor]:
    """A state dictionary as tensors that share no memory: tied weights are there twice.

    Args:
        state: Tensors, and what modules return as extra state, by name.

    Raises:
        ValueError: If an entry is neither a dense tensor nor JSON.
    """
    if not isinstance(state, Mapping):
        raise ValueError(f"state must be tensors by name, got {excerpt(repr(state))}")
    tensors, memory = dict[str, Tensor](), set[int]()
    for name, value in state.items():
        _check_name(name)
        if not isinstance(value, Tensor):
            tensors[f"{name}.json"] = _text(name, value)
            continue
        if is_lazy(value) or value.layout is not torch.strided or value.is_meta:
            raise ValueError(
                f"{name} must be a dense tensor with values, got {excerpt(repr(value))}"
            )
        start = value.untyped_storage().data_ptr()
        tensors[name] = value.clone() if start in memory else value
        memory.add(start)
    return tensors


def _check_name(name: object) -> None:
    """Raise `ValueError` for the name of a tensor that a file of tensors cannot hold."""
    is_text = isinstance(name, str) and name != "__metadata__"
    if not is_text or str(name).encode(errors="replace").decode() != name:
        raise ValueError(
            f"state must have names that are text, not '__metadata__', got {excerpt(repr(name))}"
        )


def from_tensors(tensors: Mapping[str, Tensor]) -> dict[str, Any]:
    """A state dictionary from what `to_tensors` gave.

    Args:
        tensors: Tensors by name.
    """
    return {
        name.removesuffix(".json"): json.loads(bytes(tensor.cpu().numpy()))
        if name.endswith(JSON)
        else tensor
        for name, tensor in tensors.items()
    }


def _text(name: str, value: Any) -> Tensor:
    """A value as the bytes of its JSON."""
    try:
        text = json.dumps(value)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be a tensor or JSON, got {excerpt(repr(value))}: {error}"
        ) from error
    if repr(json.loads(text)) != repr(value):
        raise ValueError(
            f"{name} must be a tensor or JSON, which would read {excerpt(repr(value))} as "
            f"{excerpt(repr(json.loads(text)))}"
        )
    return torch.frombuffer(bytearray(text.encode()), dtype=torch.uint8)
