"""Maps as sets of their positions."""

from __future__ import annotations

from typing import Annotated

import torch
from jaxtyping import Float
from torch import Tensor

from farfield.core import Limits

QuestionSize = Annotated[int, Limits(at_least=0, at_most=10_000)]
"""Numbers of a question; 0 for none."""


def check_read(
    maps: Tensor, question: Tensor, *, map_shape: tuple[int, ...], question_size: int
) -> None:
    """Raise `ValueError` unless maps and questions are those that a reader was made for.

    Args:
        maps: The maps.
        question: The questions.
        map_shape: Channels, height and width of the maps.
        question_size: Numbers of a question.
    """
    if tuple(maps.shape[1:]) != map_shape:
        raise ValueError(
            f"maps must be (batch, {', '.join(map(str, map_shape))}), got {tuple(maps.shape)}"
        )
    if question.shape != (len(maps), question_size):
        raise ValueError(
            f"question must be ({len(maps)}, {question_size}), got {tuple(question.shape)}"
        )


def located(
    maps: Float[Tensor, "batch channel height width"],
) -> Float[Tensor, "batch item feature"]:
    """Features of each position, row by row, its row and column from −1 to 1 behind them.

    Args:
        maps: The maps.
    """
    rows, columns = (
        torch.linspace(-1, 1, side, dtype=maps.dtype, device=maps.device)
        for side in maps.shape[-2:]
    )
    where = torch.stack(torch.meshgrid(rows, columns, indexing="ij"))
    with_place = torch.cat((maps, where.expand(len(maps), -1, -1, -1)), dim=1)
    return with_place.flatten(2).transpose(1, 2)
