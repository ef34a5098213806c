"""A normalizer of the maps of convolutions, described before their number is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final

from torch import nn

from farfield.core import NonNegativeFloat, check_fields
from farfield.nn._norm._divisive_norm import DivisiveNorm2d
from farfield.nn._norm._group_norm import GroupNorm
from farfield.nn._norm._image_batch_norm import ImageBatchNorm


@final
@dataclass(frozen=True, kw_only=True)
class MapNormalizer:
    r"""Batch, layer or divisive normalization of maps, made once their number is known.

    $$v = z - \mathbb{E}_{\mathcal{A}}[z], \qquad
      y = \gamma \frac{v}{\sqrt{\sigma^2 + \mathbb{E}_{\mathcal{A}}[v^2]}} + \beta$$

    over a field $\mathcal{A}$ of each number: those of its channel in the whole batch
    (`ImageBatchNorm`, BN of the paper), all of its image (`GroupNorm` with one group, LN), or all
    channels of a window around it (`DivisiveNorm2d`, DN). Networks that take a normalizer call it
    with the number of channels and the side of the window; any function of the two serves them.

    Args:
        field: What is pooled: `"batch"`, `"layer"` or `"window"`.
        sigma: The constant $\sigma$, whose square is added; at first, if it is learned.
        learned_sigma: Whether $\sigma$ is learned, one number for each normalizer.
        affine: Whether gain $\gamma$ and shift $\beta$ of each channel are learned.

    Raises:
        ValueError: If a field is of another type, or the constant is below 0.

    Reference:
        ren2017, table 1 and section 3.3.
    """

    field: Literal["batch", "layer", "window"] = "batch"
    sigma: NonNegativeFloat = 0.01
    learned_sigma: bool = False
    affine: bool = False

    def __post_init__(self) -> None:
        check_fields(self)

    def __call__(self, num_channels: int, window: int) -> nn.Module:
        """The normalizer of so many maps.

        Args:
            num_channels: Number of maps.
            window: Side of the window of divisive normalization, pixels.
        """
        sigma, learned, affine = self.sigma, self.learned_sigma, self.affine
        match self.field:
            case "batch":
                return ImageBatchNorm(
                    num_channels, sigma=sigma, learned_sigma=learned, affine=affine
                )
            case "layer":
                return GroupNorm(1, num_channels, sigma=sigma, learned_sigma=learned, affine=affine)
            case _:
                return DivisiveNorm2d(
                    num_channels, window, sigma=sigma, learned_sigma=learned, affine=affine
                )
