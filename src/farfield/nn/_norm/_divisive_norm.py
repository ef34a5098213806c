"""Divisive normalization as modules."""

from __future__ import annotations

from typing import ClassVar, final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.types import Device

from farfield.core.internal import NonNegativeFloat, Size, check_arguments
from farfield.functional import divisive_norm_1d, divisive_norm_2d
from farfield.functional.internal import divisive_center_1d, divisive_center_2d
from farfield.nn._norm._normalizer import Normalizer


@final
class DivisiveNorm2d(Normalizer):
    r"""Normalize every unit of an image by the units around it, over all channels.

    $$v = z - \mathbb{E}_{\mathcal{A}}[z], \qquad
      y = \gamma \frac{v}{\sqrt{\sigma^2 + \mathbb{E}_{\mathcal{B}}[v^2]}} + \beta$$

    with the mean over all channels of a square window around the unit, $\mathcal{A}$ for the mean
    and $\mathcal{B}$ for the squares. Beyond the border there are zeros, and means are divided by
    the full window. `GroupNorm` with one group has the whole image for its window, and
    `torch.nn.LocalResponseNorm` divides by neighboring channels without centering.

    Args:
        window: Side of the summation field, pixels; the paper's radius R is 2 R + 1 here.
        suppression_window: Side of the suppression field, pixels. None is `window`.
        released_suppression: Divide the sum over the suppression field by the size of the summation
            field, as the released code does by mistake; with equal windows nothing changes.

    Shape:
        `(batch, channel, height, width)` in and out.

    Raises:
        ValueError: If an argument is out of range or the number of channels differs.

    Reference:
        ren2017, equations 3 and 4, table 1.

    Example:
        >>> DivisiveNorm2d(8, window=5, sigma=0.5)(torch.rand(2, 8, 16, 16)).shape
        torch.Size([2, 8, 16, 16])
    """

    feature_axis = 1
    sigma: float | nn.Parameter

    @check_arguments
    def __init__(  # noqa: PLR0913 — two are torch's
        self,
        num_channels: Size,
        window: Size,
        *,
        suppression_window: Size | None = None,
        sigma: NonNegativeFloat = 1.0,
        learned_sigma: bool = False,
        affine: bool = False,
        released_suppression: bool = False,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(num_channels, affine, learned_sigma, device, dtype, sigma=sigma)
        self.num_channels = num_channels
        self.window = window
        self.suppression_window = suppression_window
        self.released_suppression = released_suppression

    @classmethod
    def released(
        cls,
        num_channels: int,
        window: int,
        *,
        suppression_window: int | None = None,
        sigma: float = 1.0,
    ) -> DivisiveNorm2d:
        """Build the normalizer of ren2017's released code, which divides by the wrong window size.

        Args:
            window: Side of the summation field, pixels.
            suppression_window: Side of the suppression field, pixels. None is `window`.
            sigma: The constant, whose square is added.
        """
        return cls(
            num_channels,
            window,
            suppression_window=suppression_window,
            sigma=sigma,
            released_suppression=True,
        )

    def forward(
        self, z: Float[Tensor, "batch channel height width"]
    ) -> Float[Tensor, "batch channel height width"]:
        """Normalize the activations."""
        self._check(z)
        scaled = divisive_norm_2d(
            z,
            self.window,
            suppression_window=self.suppression_window,
            sigma=self.sigma,
            released_suppression=self.released_suppression,
        )
        return self._scaled_and_shifted(scaled)

    def center(
        self, z: Float[Tensor, "batch channel height width"]
    ) -> Float[Tensor, "batch channel height width"]:
        """Subtract the mean of the field from the activations, and divide nothing."""
        self._check(z)
        return divisive_center_2d(z, self.window)


@final
class DivisiveNorm1d(Normalizer):
    r"""Normalize every unit of a vector by the units beside it.

    $$v_j = z_j - \frac{1}{n} \sum_{i \in W_j} z_i, \qquad
      y_j = \gamma \frac{v_j}{\sqrt{\sigma^2 + \frac{1}{n} \sum_{i \in W_j} v_i^2}} + \beta$$

    with the window $W_j$ of $n$ units around $j$. Beyond both ends there are zeros, and sums are
    divided by the full window. `LayerNorm` has the whole vector for its window.

    Args:
        window: Number of units in the summation field, an even one reaching one further after the
            unit than before. The paper's radius R is 2 R + 1 here; 30 and 60 of the released code
            are the same numbers here.
        suppression_window: Number of units in the suppression field. None is `window`.

    Shape:
        `(*batch, feature)` in and out.

    Raises:
        ValueError: If an argument is out of range or the number of features differs.

    Reference:
        ren2017, equations 6 and 7.
    """

    by_vector: ClassVar[bool] = True
    sigma: float | nn.Parameter

    @check_arguments
    def __init__(
        self,
        num_features: Size,
        window: Size,
        *,
        suppression_window: Size | None = None,
        sigma: NonNegativeFloat = 1.0,
        learned_sigma: bool = False,
        affine: bool = False,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(num_features, affine, learned_sigma, device, dtype, sigma=sigma)
        self.window = window
        self.suppression_window = suppression_window

    def forward(self, z: Float[Tensor, "*batch feature"]) -> Float[Tensor, "*batch feature"]:
        """Normalize the activations."""
        self._check(z)
        scaled = divisive_norm_1d(
            z, self.window, suppression_window=self.suppression_window, sigma=self.sigma
        )
        return self._scaled_and_shifted(scaled)

    def center(self, z: Float[Tensor, "*batch feature"]) -> Float[Tensor, "*batch feature"]:
        """Subtract the mean of the field from the activations, and divide nothing."""
        self._check(z)
        return divisive_center_1d(z, self.window)
