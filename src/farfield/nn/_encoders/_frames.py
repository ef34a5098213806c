"""Encoder and decoder of gray frames: a narrow embedding, and a frame back from it."""

from __future__ import annotations

from typing import ClassVar, Final, Unpack, final

from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn

from farfield.core.internal import FactoryOptions, Size, take_factory_arguments
from farfield.functional.internal import default_layer, fan_in_uniform_, uninitialized
from farfield.nn._encoders._encoders import check_items

HALVINGS: Final = 3
"""Convolutions of stride 2: the map is an eighth of the frame in height and width."""


@final
class FrameEncoder(nn.Module):
    """Embed gray frames with three convolutions and two hidden layers.

    Each convolution has kernels of 4 × 4 and a stride of 2; ReLU follows all layers but the
    last, linear one. All parameters start as torch's layers do.

    Args:
        item_shape: Height and width of a frame, multiples of 8.
        channels: Kernels of each convolution.
        hidden_size: Units of each hidden layer.

    Shape:
        `(item, height, width)` to `(item, out_features)`.

    Attributes:
        out_features: Size of an embedding.

    Raises:
        ValueError: If a size is below 1 or the frame is not a multiple of 8.

    Reference:
        webb2020, section 4.3.
    """

    is_pure: ClassVar[bool] = True

    @take_factory_arguments()
    def __init__(
        self,
        item_shape: tuple[Size, ...] = (64, 64),
        *,
        out_features: Size = 10,
        channels: Size = 32,
        hidden_size: Size = 256,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        generator = options["generator"]
        self._item_shape = _checked(item_shape)
        self.out_features = out_features
        self.convolutions = nn.ModuleList(
            fan_in_uniform_(
                uninitialized(nn.Conv2d, into, channels, 4, stride=2, padding=1), generator
            )
            for into in (1, *[channels] * (HALVINGS - 1))
        )
        flat = channels * _cells(self._item_shape)
        self.layers = nn.ModuleList(
            default_layer(*sizes, generator)
            for sizes in ((flat, hidden_size), (hidden_size, hidden_size))
        )
        self.output = default_layer(hidden_size, out_features, generator)

    def forward(self, items: Float[Tensor, "item height width"]) -> Float[Tensor, "item feature"]:
        """Embed every frame."""
        check_items(items, self._item_shape)
        hidden = items.unsqueeze(1)
        for convolution in self.convolutions:
            hidden = convolution(hidden).relu()
        hidden = hidden.flatten(1)
        for layer in self.layers:
            hidden = layer(hidden).relu()
        return self.output(hidden)


@final
class FrameDecoder(nn.Module):
    """Draw gray frames from embeddings: the layers of `FrameEncoder` the other way round.

    Two hidden layers and one that is folded into a map, then three transposed convolutions with
    kernels of 4 × 4 that each double height and width. ReLU follows all layers but the last,
    whose outputs a sigmoid brings to 0…1, or which gives logits.

    Args:
        item_shape: Height and width of a frame, multiples of 8.
        channels: Channels of the maps.
        hidden_size: Units of each of the two hidden layers.
        squashed: Whether the pixels are brought to 0…1; otherwise they are logits.

    Shape:
        `(*batch, in_features)` to `(*batch, height, width)`.

    Raises:
        ValueError: If a size is below 1 or the frame is not a multiple of 8.

    Reference:
        webb2020, section 4.3.
    """

    @take_factory_arguments()
    def __init__(
        self,
        item_shape: tuple[Size, ...] = (64, 64),
        in_features: Size = 10,
        *,
        channels: Size = 32,
        hidden_size: Size = 256,
        squashed: bool = True,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        generator = options["generator"]
        self._item_shape = _checked(item_shape)
        self.in_features = in_features
        self.squashed = squashed
        self._channels = channels
        flat = channels * _cells(self._item_shape)
        self.layers = nn.ModuleList(
            default_layer(*sizes, generator)
            for sizes in (
                (in_features, hidden_size),
                (hidden_size, hidden_size),
                (hidden_size, flat),
            )
        )
        self.convolutions = nn.ModuleList(
            fan_in_uniform_(
                uninitialized(nn.ConvTranspose2d, channels, out, 4, stride=2, padding=1), generator
            )
            for out in (*[channels] * (HALVINGS - 1), 1)
        )

    def forward(self, z: Float[Tensor, "*batch feature"]) -> Float[Tensor, "*batch height width"]:
        """Draw a frame for every embedding."""
        if z.ndim == 0 or z.shape[-1] != self.in_features:
            raise ValueError(
                f"z must have in_features={self.in_features} features, got shape {tuple(z.shape)}"
            )
        hidden = z.reshape(-1, self.in_features)
        for layer in self.layers:
            hidden = layer(hidden).relu()
        hidden = rearrange(
            hidden,
            "item (channel height width) -> item channel height width",
            channel=self._channels,
            height=self._item_shape[0] >> HALVINGS,
        )
        *inner, last = self.convolutions
        for convolution in inner:
            hidden = convolution(hidden).relu()
        pixels = last(hidden).reshape(*z.shape[:-1], *self._item_shape)
        return pixels.sigmoid() if self.squashed else pixels


def _cells(item_shape: tuple[int, int]) -> int:
    """Count the pixels of the smallest map."""
    return (item_shape[0] >> HALVINGS) * (item_shape[1] >> HALVINGS)


def _checked(item_shape: tuple[int, ...]) -> tuple[int, int]:
    """Return height and width, if they can be halved three times."""
    whole = 1 << HALVINGS
    if len(item_shape) != 2 or any(side % whole for side in item_shape):
        raise ValueError(
            f"item_shape must be (height, width), multiples of {whole}, got {item_shape}"
        )
    return (item_shape[0], item_shape[1])
