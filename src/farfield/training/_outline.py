"""Nested lists, dictionaries, numbers and tensors as named tensors and an outline in JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor


def outline(value: Any, path: str, tensors: dict[str, Tensor]) -> Any:
    """The outline of a value: JSON that names the tensors in it.

    Args:
        value: Tensors, arrays, and what JSON takes, in lists, tuples and dictionaries.
        path: Beginning of the names of its tensors.
        tensors: Its tensors are added here.
    """
    match value:
        case Tensor():
            tensors[path] = value
            return {"tensor": path}
        case np.ndarray():
            tensors[path] = torch.from_numpy(value)
            return {"array": path}
        case dict():
            pairs = [[key, outline(one, f"{path}.{key}", tensors)] for key, one in value.items()]
            return {"dict": pairs}
        case list() | tuple():
            inner = [outline(one, f"{path}.{n}", tensors) for n, one in enumerate(value)]
            return {type(value).__name__: inner}
    return value


def fill(outlined: Any, tensors: Mapping[str, Tensor]) -> Any:
    """The value that `outline` described, with copies of its tensors.

    Args:
        outlined: What `outline` gave, after JSON.
        tensors: Tensors by name, among others.
    """
    match outlined:
        case {"tensor": str(path)}:
            return tensors[path].clone()
        case {"array": str(path)}:
            return tensors[path].numpy().copy()
        case {"dict": list(pairs)}:
            return {key: fill(one, tensors) for key, one in pairs}
        case {"list": list(inner)}:
            return [fill(one, tensors) for one in inner]
        case {"tuple": list(inner)}:
            return tuple(fill(one, tensors) for one in inner)
    return outlined
