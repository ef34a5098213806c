"""Spectral normalization."""

from __future__ import annotations

from typing import Final, TypeVar, final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils import parametrize

_Layer = TypeVar("_Layer", nn.Linear, nn.Conv2d)
_FIRST_ITERATIONS: Final = 15
"""Iterations before the first call, as torch has them."""


def spectral_norm(layer: _Layer, generator: torch.Generator | None) -> _Layer:
    r"""Divide the weights of a layer by an estimate of their largest singular value.

    $$\bar W = \frac{W}{u^\top W v}$$

    with $u$ and $v$ from an iteration of the power method at each call in training. It has the
    parameter and the buffers of `torch.nn.utils.parametrizations.spectral_norm` by the same names;
    that one writes to buffers in ways that cannot be mapped over stacked networks, and draws from
    the global generator.

    Args:
        layer: A layer, changed in place.
        generator: Where the first $u$ and $v$ are drawn from; None is torch's global generator.

    Reference:
        Miyato et al. 2018, algorithm 1.
    """
    parametrize.register_parametrization(layer, "weight", _SpectralNorm(layer.weight, generator))
    return layer


@final
class _SpectralNorm(nn.Module):
    """The divided weights."""

    _u: Tensor
    _v: Tensor

    def __init__(self, weight: Tensor, generator: torch.Generator | None) -> None:
        super().__init__()
        matrix = weight.detach().flatten(1)
        for name, size in zip(("_u", "_v"), matrix.shape, strict=True):
            first = torch.empty(size, dtype=weight.dtype, device=weight.device)
            self.register_buffer(name, F.normalize(first.normal_(generator=generator), dim=0))
        for _ in range(_FIRST_ITERATIONS):
            self._iterate(matrix)

    @torch.no_grad()
    def _iterate(self, matrix: Float[Tensor, "feature value"]) -> None:
        """One iteration of the power method."""
        self._u.copy_(F.normalize(matrix @ self._v, dim=0))
        self._v.copy_(F.normalize(matrix.mT @ self._u, dim=0))

    def forward(self, weight: Float[Tensor, "feature ..."]) -> Float[Tensor, "feature ..."]:
        """The weights, divided."""
        matrix = weight.flatten(1)
        if self.training:
            self._iterate(matrix)
        # Copies, as the next call changes the buffers before the gradient of this one is taken.
        u, v = self._u.clone(), self._v.clone()
        return weight / (u @ (matrix @ v))
