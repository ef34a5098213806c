"""The state of any optimizer of torch as named tensors, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import torch
from torch import Tensor

PREFIX: Final = "optimizer."
"""First part of the names of everything that belongs to the state of an optimizer."""

_OUTLINE: Final = f"{PREFIX}outline"
"""Name of the part that holds, as JSON in bytes, all that is no tensor."""


def optimizer_state(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Everything that an optimizer remembers, as tensors by name.

    Args:
        optimizer: Any optimizer of torch.
    """
    tensors: dict[str, Tensor] = {}

    def outline(part: Any, path: str) -> Any:
        match part:
            case Tensor():
                tensors[path] = part
                return {"tensor": path}
            case dict():
                pairs = [[key, outline(inner, f"{path}.{key}")] for key, inner in part.items()]
                return {"dict": pairs}
            case list() | tuple():
                inner = [outline(one, f"{path}.{number}") for number, one in enumerate(part)]
                return {type(part).__name__: inner}
        return part

    found = outline(optimizer.state_dict(), PREFIX.rstrip("."))
    return tensors | {_OUTLINE: torch.tensor(list(json.dumps(found).encode()), dtype=torch.uint8)}


def load_optimizer_state(optimizer: torch.optim.Optimizer, state: Mapping[str, Tensor]) -> None:
    """Restore what `optimizer_state` returned.

    Args:
        optimizer: An optimizer of the same kind over as many parameters, changed in place.
        state: Tensors by name, among others.
    """

    def filled(part: Any) -> Any:
        match part:
            case {"tensor": str(path)}:
                return state[path].clone()
            case {"dict": list(pairs)}:
                return {key: filled(inner) for key, inner in pairs}
            case {"list": list(inner)}:
                return [filled(one) for one in inner]
            case {"tuple": list(inner)}:
                return tuple(filled(one) for one in inner)
        return part

    optimizer.load_state_dict(filled(json.loads(bytes(state[_OUTLINE].tolist()))))
