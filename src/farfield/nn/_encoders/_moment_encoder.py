"""An encoder that says where things are, how wide and how strong."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Unpack, cast, final

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from farfield.core.internal import Depth, FactoryOptions, Size, take_factory_arguments
from farfield.functional.internal import (
    as_fractions,
    differing,
    is_recorded,
    is_transformed,
    spatial_moments,
    uninitialized,
    xavier_layer,
    xavier_uniform_,
)
from farfield.nn._encoders._encoders import check_color_shape, check_items, coordinates

_MOMENTS = 5


@final
class MomentEncoder(nn.Module):
    r"""Learned maps of the contrast with the background, and the moments of each over space.

    $$c = \text{image} - \text{median of its border}, \qquad
      m = W * c, \qquad
      z = A\,(\bar x, \bar y, s_x, s_y, \ell)(m) + b$$

    Convolutions without biases leave a map zero wherever the picture is background. Of each map
    the center, the spread and the level are kept (`spatial_moments`), and a
    linear layer mixes them. Where a picture changes by equal steps in place, width or brightness,
    so does the embedding, inside the range of training and outside. `AnalogyEncoder` learns its
    own code for position and width, within the range that it has seen.

    Args:
        item_shape: Height, width and channels of an image.
        num_maps: Number of maps.
        num_layers: Number of convolutions, with a ReLU between two.
        kernel_size: Side of their kernels, odd.

    Shape:
        `(item, height, width, channel)`, uint8 of 0…255 or floating-point of 0…1, to
        `(item, out_features)`.

    Attributes:
        convolutions: Convolutions that make the maps.
        output: The linear layer.

    Raises:
        ValueError: If a size is below 1, or the kernel even.

    Reference:
        Made for webb2020, whose supplement 4 names the lack of a code for location as the
        weakness of its encoder.
    """

    is_pure: ClassVar[bool] = True

    @take_factory_arguments()
    def __init__(
        self,
        item_shape: tuple[Size, ...] = (128, 128, 3),
        *,
        out_features: Size = 256,
        num_maps: Size = 8,
        num_layers: Depth = 1,
        kernel_size: Size = 1,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        generator = options["generator"]
        if kernel_size % 2 == 0:
            raise ValueError(f"kernel_size must be odd, got {kernel_size}")
        self.item_shape = check_color_shape(item_shape)
        self.out_features = out_features
        self.kernel_size = kernel_size
        self.convolutions = nn.ModuleList(
            xavier_uniform_(
                uninitialized(
                    nn.Conv2d, channels, num_maps, kernel_size, padding=kernel_size // 2, bias=False
                ),
                generator,
            )
            for channels in (item_shape[2], *[num_maps] * (num_layers - 1))
        )
        self.output = xavier_layer(_MOMENTS * num_maps, out_features, generator)

    def forward(
        self, items: Shaped[Tensor, "item height width channel"]
    ) -> Float[Tensor, "item feature"]:
        """Embed every item."""
        check_items(items, self.item_shape)
        background = border_median(items)
        down, across = self._extent(items, background)
        dtype = self.output.weight.dtype
        maps = as_fractions(items[:, down, across], dtype)
        maps = maps - as_fractions(background, dtype)[:, None, None]
        rows, columns = coordinates(self.item_shape, maps)
        rows, columns = rows[down], columns[across]
        moments = spatial_moments(self._mapped(maps), rows, columns)
        return self.output(moments.flatten(1))

    def _mapped(
        self, maps: Float[Tensor, "item height width channel"]
    ) -> Float[Tensor, "item height width feature"]:
        """Compute the maps, channels last; a convolution of single pixels is a matrix product."""
        first, *others = cast("Iterable[nn.Conv2d]", self.convolutions)
        if self.kernel_size == 1:
            maps = maps @ first.weight[:, :, 0, 0].t()
        else:
            maps = first(maps.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
        for layer in others:
            maps = layer(torch.relu(maps).permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
        return maps

    def _extent(
        self,
        items: Shaped[Tensor, "item height width channel"],
        background: Shaped[Tensor, "item channel"],
    ) -> tuple[slice, slice]:
        """Return the rows and columns outside of which all maps of all items are zero."""
        if (
            is_transformed()  # the window may not depend on values
            or is_recorded()
            or len(items) == 0
            or bool((background != background[:1]).any())
        ):
            return slice(0, self.item_shape[0]), slice(0, self.item_shape[1])
        seen = (items.amax(0) != items.amin(0)) | (items[0] != background[0])
        margin = len(self.convolutions) * (self.kernel_size // 2)
        down, across = (
            slice(max(0, part.start - margin), part.stop + margin)
            for part in differing(seen.any(-1))
        )
        return down, across

    def extra_repr(self) -> str:
        """Return the options, for `print`."""
        return f"item_shape={self.item_shape}, out_features={self.out_features}"


def border_median(
    pictures: Shaped[Tensor, "item height width channel"],
) -> Shaped[Tensor, "item channel"]:
    """Return the median of the border of each picture, its background, channel by channel.

    Args:
        pictures: The pictures; less than half of the border of each may show an object.
    """
    sides = [pictures[:, 0], pictures[:, -1], pictures[:, :, 0], pictures[:, :, -1]]
    return torch.cat(sides, dim=1).median(dim=1).values
