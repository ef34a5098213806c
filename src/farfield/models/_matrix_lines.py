"""Rows and columns of a matrix of panels, whose last panel is a candidate."""

from __future__ import annotations

from typing import Final

import torch
from jaxtyping import Float
from torch import Tensor

ROW: Final = 3
"""Panels of a line of a matrix, of which there are as many."""

PAIRS: Final = ([0, 0, 1], [1, 2, 2])
"""The first and the second of each pair of rows, or of columns."""


def check_matrix(length: int) -> None:
    """Raise `ValueError` unless a sequence of `length` is a matrix with one candidate."""
    if length != ROW * ROW:
        raise ValueError(f"length must be {ROW * ROW}, the panels of a matrix, got {length}")


def lines_of(panels: Float[Tensor, "batch time _"]) -> Float[Tensor, "batch 2 3 3 _"]:
    """The rows of matrices, then their columns."""
    rows = torch.unflatten(panels, 1, (ROW, ROW))
    return torch.stack([rows, rows.transpose(1, 2)], dim=1)
