"""Layer normalization with the smoothing constant of divisive normalization."""

from __future__ import annotations

from typing import ClassVar, final

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.types import Device

from farfield.core import NonNegativeFloat, Size, check_arguments
from farfield.functional import over_features
from farfield.nn._norm._smoothed_norm import SmoothedNorm


@final
class LayerNorm(SmoothedNorm):
    r"""Normalize every vector over its own features, smoothed by a constant.

    $$v = z - \mathbb{E}[z], \qquad
      y = \gamma \frac{v}{\sqrt{\sigma^2 + \mathbb{E}[v^2]}} + \beta$$

    with means over the features of one place. It is `torch.nn.LayerNorm` with $\sigma^2$ for its
    `eps`, which here can be learned. For images ren2017 pools channels and places: that is
    `GroupNorm` with one group.

    Args:
        num_features: Number of features.
        sigma: The constant $\sigma$, whose square is added to the variance; at first, if it is
            learned. The paper smooths with 0.25 to 1; 0.01 is what its released code adds else.
        learned_sigma: Whether $\sigma$ is learned, one number for the layer.
        affine: Whether gain and shift of each feature are learned.
        device: Where its tensors are.
        dtype: Of its parameters.

    Shape:
        `(*batch, feature)` in and out.

    Attributes:
        weight: Gain $\gamma$, starts at 1; None without `affine`.
        bias: Shift $\beta$, starts at 0; None without `affine`.
        sigma: The constant, a parameter with `learned_sigma`.

    Raises:
        ValueError: If an argument is out of range or the features are others.

    Reference:
        ren2017, table 1 and section 3.2 (LN-s); webb2020, section 4.2.
    """

    @check_arguments
    def __init__(
        self,
        num_features: Size,
        *,
        sigma: NonNegativeFloat = 0.01,
        learned_sigma: bool = False,
        affine: bool = True,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(
            num_features,
            affine=affine,
            sigma=sigma,
            learned_sigma=learned_sigma,
            device=device,
            dtype=dtype,
        )

    by_vector: ClassVar[bool] = True
    _field = staticmethod(over_features)

    def _by_torch(self, z: Tensor, eps: float) -> Tensor:
        return F.layer_norm(z, (self.num_features,), self.weight, self.bias, eps)
