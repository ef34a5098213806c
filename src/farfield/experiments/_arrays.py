"""Digests of arrays and tensors."""

from __future__ import annotations

import hashlib

import numpy as np
import torch


def array_digest(array: np.ndarray) -> str:
    """SHA-256 over type, shape and bytes of an array."""
    head = f"{array.dtype.str}{array.shape}".encode()
    return hashlib.sha256(head + np.ascontiguousarray(array).tobytes()).hexdigest()


def tensor_digest(tensor: torch.Tensor) -> str:
    """SHA-256 over type, shape and bytes of a tensor.

    Args:
        tensor: Of any device.

    Raises:
        TypeError: If it has no plain bytes, as one that is sparse.
    """
    if tensor.layout is not torch.strided or tensor.is_quantized or tensor.is_meta:
        raise TypeError(f"a tensor of layout {tensor.layout} has no plain bytes")
    numbers = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
    head = f"{tensor.dtype}{tuple(tensor.shape)}".encode()
    return hashlib.sha256(head + numbers.tobytes()).hexdigest()
