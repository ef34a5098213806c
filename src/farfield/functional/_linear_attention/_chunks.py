"""Chunks of sequences, whose steps a linear recurrence computes in parallel."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def chunks_of(time: int, at_most: int) -> tuple[int, int]:
    """Return the number and the length of chunks of a sequence, with little padding.

    Args:
        time: Number of time steps.
        at_most: Largest length of a chunk.
    """
    number = -(-time // at_most)
    return number, -(-time // number)


def split_chunks(
    x: Tensor, chunks: tuple[int, int], dtype: torch.dtype, padding: float = 0.0
) -> Tensor:
    """Split `(time, batch, head, …)` into chunks, `(chunk, batch, head, step, …)`.

    Args:
        x: The sequence.
        chunks: Number and length of the chunks.
        dtype: Type of the result.
        padding: Value of the steps behind the last one.
    """
    number, length = chunks
    x, missing = x.to(dtype), number * length - len(x)
    if missing:
        x = torch.cat([x, x.new_full((missing, *x.shape[1:]), padding)])
    return x.reshape(number, length, *x.shape[1:]).movedim(1, 3)


def join_chunks(x: Tensor, like: Tensor) -> Tensor:
    """Join chunks, `(chunk, batch, head, step, …)`, to a sequence, `(time, batch, head, …)`.

    Args:
        x: The chunks.
        like: Sequence of the same length and type as the result.
    """
    return x.movedim(3, 1).flatten(0, 1)[: len(like)].to(like.dtype)


def segment_sums(x: Tensor) -> Tensor:
    r"""Sum a number over each segment of steps: $\sum_{r=s+1}^t x_r$ in row $t$ and column $s$.

    Each sum adds the numbers of one segment, so that a large number before the segment costs no
    digits, as it would in a difference of two cumulated sums. Above the diagonal are −∞.

    Args:
        x: (…, step).
    """
    length = x.shape[-1]
    steps = torch.ones(length, length, dtype=torch.bool, device=x.device)
    rows = x.unsqueeze(-1).expand(*x.shape, length).masked_fill(~steps.tril(-1), 0.0)
    return rows.cumsum(-2).masked_fill(~steps.tril(), -math.inf)
