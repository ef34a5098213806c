"""Weight normalization."""

from __future__ import annotations

from typing import TypeVar, final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.utils import parametrize

_Layer = TypeVar("_Layer", nn.Linear, nn.Conv2d)


def weight_norm(layer: _Layer) -> _Layer:
    r"""Learn length and direction of the weights of each unit apart.

    $$w = g \, \frac{v}{\lVert v \rVert}$$

    The weights stay as they are: $v$ starts as $w$ and $g$ as its length. It has the parameters of
    `torch.nn.utils.parametrizations.weight_norm` by the same names; that one's kernel cannot be
    mapped over stacked networks.

    Args:
        layer: A layer, changed in place.
    """
    parametrize.register_parametrization(layer, "weight", _WeightNorm())
    return layer


@final
class _WeightNorm(nn.Module):
    """The weights from length and direction, and the way back."""

    def forward(
        self, length: Float[Tensor, "feature ..."], direction: Float[Tensor, "feature ..."]
    ) -> Float[Tensor, "feature ..."]:
        """The weights."""
        return direction * (length / _lengths(direction))

    def right_inverse(
        self, weight: Float[Tensor, "feature ..."]
    ) -> tuple[Float[Tensor, "feature ..."], Float[Tensor, "feature ..."]]:
        """Length and direction."""
        return _lengths(weight), weight


def _lengths(weight: Tensor) -> Tensor:
    """Length of the weights of each unit, with all axes."""
    axes = tuple(range(1, weight.ndim))
    return torch.linalg.vector_norm(weight, dim=axes, keepdim=True)
