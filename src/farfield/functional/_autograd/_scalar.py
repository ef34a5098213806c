"""Numbers as tensors, made where they are used."""

from __future__ import annotations

import torch
from torch import Tensor


def scalar_like(number: float | Tensor, like: Tensor) -> Tensor:
    """A number as a tensor without axes, of the type and on the device of another.

    A number of Python's is written there and not copied from the processor's memory: a GPU would
    be waited for, and a recorded program (CUDA graph) may hold no such copy.

    Args:
        number: The number.
        like: The other tensor.
    """
    if isinstance(number, Tensor):
        return number.to(like.device, like.dtype)
    return torch.full((), number, dtype=like.dtype, device=like.device)
