"""The encoder of panels of shapes and lines, which rows of visual analogies are made of."""

from __future__ import annotations

from typing import ClassVar, cast, final

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn
from torch.types import Device

from farfield.core import Size, check_arguments
from farfield.functional import as_fractions, kaiming_normal_, uninitialized
from farfield.nn._encoders._encoders import check_item_shape, check_items

_CHANNELS = 32
_HALVINGS = 4


@final
class PanelEncoder(nn.Module):
    """Four convolutions with a ReLU each, and nothing behind them.

    Convolutions of 3×3 with stride 2, padding 1 and 32 channels halve the image four times; what
    remains, 5×5×32 = 800 numbers of an image of 80×80, is the embedding. `AnalogyEncoder` has
    layers behind its convolutions; here the embedding cannot be negative.

    Args:
        item_shape: Height and width of an image in pixels; a side that is odd, or becomes so, is
            halved upwards.
        device: Where its tensors are.
        dtype: Of its parameters.
        generator: Where the first weights are drawn from; None is torch's global generator.

    Shape:
        `(item, height, width)`, uint8 of 0…255 or floating-point of 0…1, to
        `(item, out_features)`, channel by channel.

    Attributes:
        convolutions: The four convolutions, Kaiming normal, biases 0.
        out_features: Size of an embedding, which the size of an image decides.

    Raises:
        ValueError: If a side is below 1.

    Reference:
        webb2020, supplement 2; hill2019.
    """

    is_pure: ClassVar[bool] = True

    @check_arguments
    def __init__(
        self,
        item_shape: tuple[Size, ...] = (80, 80),
        *,
        device: Device = None,
        dtype: torch.dtype | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.item_shape = check_item_shape(item_shape)
        height, width = (-(-side // 2**_HALVINGS) for side in item_shape)
        self.out_features = height * width * _CHANNELS
        self.convolutions = nn.ModuleList(
            _convolution(number, generator) for number in (1, *[_CHANNELS] * (_HALVINGS - 1))
        )
        self.to(device=device, dtype=dtype)

    def forward(self, items: Shaped[Tensor, "item height width"]) -> Float[Tensor, "item feature"]:
        """Embed every item."""
        check_items(items, self.item_shape)
        # Strides with the channels last: convolutions take half the time on a CPU.
        pixels = as_fractions(items, cast(nn.Conv2d, self.convolutions[0]).weight.dtype)
        maps = pixels.unsqueeze(-1).permute(0, 3, 1, 2)
        for convolution in self.convolutions:
            maps = torch.relu(convolution(maps))
        return maps.flatten(1)

    def extra_repr(self) -> str:
        """The options, for `print`."""
        return f"item_shape={self.item_shape}"


def _convolution(in_channels: int, generator: torch.Generator | None) -> nn.Conv2d:
    layer = uninitialized(nn.Conv2d, in_channels, _CHANNELS, kernel_size=3, stride=2, padding=1)
    return kaiming_normal_(layer, generator)
