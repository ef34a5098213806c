"""The state of any optimizers of torch as named tensors, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import torch
from torch import Tensor

PREFIX: Final = "optimizer."
"""First part of the names of everything that belongs to the state of optimizers."""

_OUTLINE: Final = f"{PREFIX}outline"
"""Name of the part that holds, as JSON in bytes, everything but tensors."""


def optimizer_state(optimizers: Sequence[torch.optim.Optimizer]) -> dict[str, Tensor]:
    """Everything that optimizers remember, as tensors by name.

    Args:
        optimizers: Any optimizers of torch.
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

    found = outline([one.state_dict() for one in optimizers], PREFIX.rstrip("."))
    return tensors | {_OUTLINE: torch.tensor(list(json.dumps(found).encode()), dtype=torch.uint8)}


def load_optimizer_state(
    optimizers: Sequence[torch.optim.Optimizer], state: Mapping[str, Tensor]
) -> None:
    """Restore what `optimizer_state` returned.

    Args:
        optimizers: Optimizers of the same kinds over as many parameters, changed in place.
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

    found = filled(json.loads(bytes(state[_OUTLINE].tolist())))
    for optimizer, own in zip(optimizers, found, strict=True):
        optimizer.load_state_dict(own)
