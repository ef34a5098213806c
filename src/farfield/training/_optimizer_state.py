"""The state of any optimizers of torch as named tensors, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

import torch
from torch import Tensor

from farfield.training._outline import fill, outline

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
    found = outline([one.state_dict() for one in optimizers], PREFIX.rstrip("."), tensors)
    return tensors | {_OUTLINE: torch.tensor(list(json.dumps(found).encode()), dtype=torch.uint8)}


def load_optimizer_state(
    optimizers: Sequence[torch.optim.Optimizer], state: Mapping[str, Tensor]
) -> None:
    """Restore what `optimizer_state` returned.

    Args:
        optimizers: Optimizers of the same kinds over as many parameters, changed in place.
        state: Tensors by name, among others.
    """
    found = fill(json.loads(bytes(state[_OUTLINE].tolist())), state)
    for optimizer, own in zip(optimizers, found, strict=True):
        optimizer.load_state_dict(own)
