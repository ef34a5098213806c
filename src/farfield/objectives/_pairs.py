"""Pairs of problems of a batch, and their mixtures."""

from __future__ import annotations

from typing import Final

import numpy as np
import torch
from torch import Tensor

from farfield.core import Problems, Stream

MANY: Final = 2**62
"""Bound of the number from which one of a yet unknown number of layers is taken."""


def mix(first: Tensor, second: Tensor, weight: Tensor) -> Tensor:
    """The mixture `weight · first + (1 − weight) · second`.

    Args:
        first: Any tensor.
        second: One of the same shape.
        weight: Weight of the first, `()`, or one for each row.
    """
    weight = weight.to(first.dtype)
    if weight.ndim:
        weight = weight.reshape(-1, *(1,) * (first.ndim - 1))
    return torch.lerp(second, first, weight)


def draw_pairs(
    problems: Problems,
    alpha: float,
    stream: Stream,
    *,
    layers: int | None = 1,
    per_example: bool = False,
) -> dict[str, Tensor]:
    """Pairs of problems of one batch: a weight, partners, and where they are mixed.

    Args:
        problems: The batch.
        alpha: Both parameters of the Beta distribution of the weight.
        stream: Source of random numbers.
        layers: Number of layers, one of which is drawn; `None` where it is not known yet.
        per_example: Whether each problem has a weight of its own.

    Returns:
        `weight` of the first of each pair, `()` or `(batch,)`; `partner`, the positions of the
        second, `(batch,)`; `layer`, a number which modulo that of layers is the position of one,
        `()`.
    """
    generator, size = stream.numpy(), len(problems)
    drawn = {
        "weight": generator.beta(alpha, alpha, size=size if per_example else None),
        "partner": generator.permutation(size),
        "layer": generator.integers(MANY if layers is None else layers),
    }
    device = problems.index.device
    return {name: torch.from_numpy(np.asarray(n)).to(device) for name, n in drawn.items()}


def mix_pairs(x: Tensor, weight: Tensor, partner: Tensor) -> Tensor:
    """Mix every problem with its partner.

    Args:
        x: `(batch, *)`.
        weight: Weight of the first, `()` or `(batch,)`.
        partner: Positions of the second, `(batch,)`.
    """
    return mix(x, x.index_select(0, partner), weight)
