"""Maps that keep what an object looks like apart from its color."""

from __future__ import annotations

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F
from torch.types import Device

from farfield.core import Depth, Size, check_arguments
from farfield.models._images._maps import maps_of, num_channels_of
from farfield.models._maps._conv_maps import ConvMaps

_TINY = 1e-6
"""Share of a window without objects, so that its color is a number."""


@final
class OutlineMaps(nn.Module):
    """Three kinds of maps of objects on a plain background: where, of what color, of what shape.

    A pixel belongs to an object if it differs from the median of the border. The first map is the
    share of object pixels in each window; the next ones are their mean color; the others are
    convolutions of the outline, in which every object has the same color. What is learned of shapes
    so holds in any color, whichever pairs of the two training has.

    Args:
        item_shape: Channels, height and width of a square image.
        width: Channels of the first scale of the convolutions.
        scales: Number of scales; a window is as large as a position of the last one.
        convolutions: Number of convolutions at each scale.
        colors: Whether convolutions read the colors too: a control.
        device: Where its tensors are.
        dtype: Of its parameters.
        generator: Where the first weights are drawn from; None is torch's global generator.

    Shape:
        `(batch, *item_shape)` to `(batch, *out_shape)`.

    Attributes:
        features: The convolutions.
        out_shape: Channels, height and width of all maps.

    Raises:
        ValueError: If a number is below 1, or images are not square or have another shape.

    Reference:
        Made for lamb2022, section 10.4.3 and Table 7.
    """

    @check_arguments
    def __init__(
        self,
        item_shape: tuple[Size, ...],
        *,
        width: Size = 12,
        scales: Depth = 2,
        convolutions: Size = 2,
        colors: bool = False,
        device: Device = None,
        dtype: torch.dtype | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.item_shape, self.window, self.colors = tuple(item_shape), 2**scales, colors
        channels = num_channels_of(self.item_shape)
        self.features = ConvMaps(
            self.item_shape if colors else self.item_shape[-2:],
            width=width,
            scales=scales,
            convolutions=convolutions,
            generator=generator,
        )
        features, height, columns = self.features.out_shape
        self.out_shape = (1 + channels + features, height, columns)
        self.to(device=device, dtype=dtype)

    def forward(
        self, items: Float[Tensor, "batch ..."]
    ) -> Float[Tensor, "batch channel height width"]:
        """Maps of every image."""
        contrast = maps_of(items, self.item_shape)
        contrast = contrast - _border_median(contrast)
        outline = (contrast != 0).any(1, keepdim=True).to(items.dtype)
        seen = F.pad(torch.cat((outline, contrast), dim=1), self.features.border)
        share, color = F.avg_pool2d(seen, self.window).tensor_split((1,), dim=1)
        shown = contrast if self.colors else outline[:, 0]
        features = self.features(shown.reshape(len(items), *self.features.item_shape))
        return torch.cat((share, color / (share + _TINY), features), dim=1)


def _border_median(maps: Tensor) -> Tensor:
    """Median of the border of each map: `(batch, channel, 1, 1)`."""
    sides = (maps[:, :, 0], maps[:, :, -1], maps[:, :, :, 0], maps[:, :, :, -1])
    return torch.cat(sides, dim=2).median(dim=2).values[:, :, None, None]
