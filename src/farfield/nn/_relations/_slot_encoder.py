"""Encoder of pictures as slots, and the decoder that it learns with."""

from __future__ import annotations

from typing import Annotated, ClassVar, Unpack, final

import torch
from einops import rearrange
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from farfield.core.internal import FactoryOptions, Limits, Size, take_factory_arguments
from farfield.functional.internal import (
    as_fractions,
    default_layer,
    fan_in_uniform_,
    kaiming_normal_,
    uninitialized,
)
from farfield.nn._encoders._analogy_encoder import map_coordinates
from farfield.nn._encoders._encoders import check_items, image_shape
from farfield.nn._relations._slot_attention import SlotAttention

_KERNEL = 5
_NUM_CONVOLUTIONS = 4
_Halvings = Annotated[int, Limits(at_least=0, at_most=_NUM_CONVOLUTIONS)]
_Doublings = Annotated[int, Limits(at_least=0, at_most=12)]


@final
class SlotEncoder(nn.Module):
    """Divide a picture among slots, each of which holds an object.

    Four convolutions of 5×5 with ReLU make a map of features; a linear code of its positions is
    added, and a normalization, a network at each position and `farfield.nn.SlotAttention` follow.
    `PatchEncoder` gives an element for each patch; a slot follows an object wherever it is.

    Args:
        item_shape: Channels, height and width of a picture in pixels, or height and width of a gray
            one.
        num_slots: Number of slots.
        num_features: Features of a map, and of a slot.
        num_halvings: Number of convolutions, the first ones, that halve height and width.
        split: Whether an element is the mean features and the mean code of positions under
            the attention of a slot, side by side, as `farfield.models.OCRA` reads them; otherwise
            it is the slot, which `SlotDecoder` reads. Parameters are the same.
        white_ground: Whether pictures are dark objects on white ground: a pixel counts by its
            darkness, and the convolutions start Kaiming normal with biases of 0, so that empty
            ground has no features. Otherwise both are as published.

    Shape:
        `(item, *item_shape)`, uint8 of 0…255 or floating-point of 0…1, to
        `(item, num_slots, out_features)`.

    Attributes:
        out_features: Features of an element: `num_features`, or twice as many.
        num_elements: Number of slots.
        convolutions: The convolutions.
        position: The linear layer on distances of a position from top, left, bottom and right.
        norm, fc1, fc2: The normalization and the network.
        slots: The slot attention.

    Raises:
        ValueError: If a number is out of its range, or items have another shape.

    Reference:
        locatello2020, section 3 and appendix E; with `split` webb2023, section 3.1.
    """

    is_pure: ClassVar[bool] = True

    @take_factory_arguments()
    def __init__(
        self,
        item_shape: tuple[Size, ...] = (128, 128),
        *,
        num_slots: Size = 6,
        num_features: Size = 64,
        num_halvings: _Halvings = 0,
        split: bool = False,
        white_ground: bool = False,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        generator = options["generator"]
        channels, _, _ = image_shape(item_shape)
        draw = kaiming_normal_ if white_ground else fan_in_uniform_
        self.item_shape = tuple(item_shape)
        self.num_elements, self.split, self.white_ground = num_slots, split, white_ground
        self.out_features = num_features * (1 + split)
        self.convolutions = nn.ModuleList(
            draw(
                uninitialized(
                    nn.Conv2d,
                    num_features if layer else channels,
                    num_features,
                    _KERNEL,
                    stride=2 if layer < num_halvings else 1,
                    padding=_KERNEL // 2,
                ),
                generator,
            )
            for layer in range(_NUM_CONVOLUTIONS)
        )
        self.position = default_layer(4, num_features, generator)
        self.norm = nn.LayerNorm(num_features)
        self.fc1 = default_layer(num_features, num_features, generator)
        self.fc2 = default_layer(num_features, num_features, generator)
        self.slots = SlotAttention(num_features, num_slots=num_slots, generator=generator)

    def forward(
        self, items: Shaped[Tensor, "item *channel height width"]
    ) -> Float[Tensor, "item slot feature"]:
        """Compute the elements of every picture."""
        content = self._map(items)
        position = self.position(_borders(content))
        content = rearrange(content, "item feature row column -> item (row column) feature")
        hidden = self.fc1(self.norm(content + position)).relu()
        slots, attention = self.slots.slots_and_attention(self.fc2(hidden))
        if not self.split:
            return slots
        return torch.cat([attention @ content, attention @ position], dim=-1)

    def _map(self, items: Tensor) -> Float[Tensor, "item feature row column"]:
        check_items(items, self.item_shape)
        shown = as_fractions(items, self.norm.weight.dtype)
        shown = 1 - shown if self.white_ground else shown
        hidden = shown if shown.ndim == 4 else shown.unsqueeze(1)
        for convolution in self.convolutions:
            hidden = convolution(hidden).relu()
        return hidden

    def extra_repr(self) -> str:
        """Return the options, for `print`."""
        return f"item_shape={self.item_shape}, split={self.split}"


@final
class SlotDecoder(nn.Module):
    """Draw a picture from slots: each slot draws all of it, and masks say which slot is seen.

    A slot is repeated over a small map, a linear code of positions is added, and transposed
    convolutions of 5×5 with ReLU, then one of 3×3, draw its picture and its mask. The masks of a
    pixel are normalized by a softmax over slots. `FrameDecoder` draws from one embedding.

    Args:
        item_shape: Channels, height and width of a picture in pixels, or height and width of a gray
            one; height and width are multiples of two to the power of `num_doublings`.
        in_features: Features of a slot.
        channels: Kernels of each convolution but the last.
        num_doublings: Number of convolutions, the first ones, that double height and width.

    Shape:
        `(batch, slot, in_features)` to `(batch, *item_shape)`; pixels are of 0…1 when trained.

    Attributes:
        position: The linear layer on distances of a position from top, left, bottom and right.
        convolutions: The transposed convolutions.
        output: The last convolution.

    Raises:
        ValueError: If a number is out of its range, height or width is no such multiple, or slots
            have another shape.

    Reference:
        locatello2020, appendix E.
    """

    @take_factory_arguments()
    def __init__(
        self,
        item_shape: tuple[Size, ...] = (128, 128),
        in_features: Size = 64,
        *,
        channels: Size = 64,
        num_doublings: _Doublings = 4,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        generator = options["generator"]
        planes, height, width = image_shape(item_shape)
        scale = 2**num_doublings
        if height % scale or width % scale:
            raise ValueError(
                f"num_doublings={num_doublings} needs height and width that {scale} divides, got "
                f"item_shape={tuple(item_shape)}"
            )
        self.item_shape, self.in_features = tuple(item_shape), in_features
        self._start = height // scale, width // scale
        self.position = default_layer(4, in_features, generator)
        self.convolutions = nn.ModuleList(
            fan_in_uniform_(
                uninitialized(
                    nn.ConvTranspose2d,
                    channels if layer else in_features,
                    channels,
                    _KERNEL,
                    stride=2 if layer < num_doublings else 1,
                    padding=_KERNEL // 2,
                    output_padding=1 if layer < num_doublings else 0,
                ),
                generator,
            )
            for layer in range(num_doublings + 1)
        )
        self.output = fan_in_uniform_(
            uninitialized(nn.Conv2d, channels, planes + 1, 3, padding=1), generator
        )

    def forward(
        self, slots: Float[Tensor, "batch slot feature"]
    ) -> Float[Tensor, "batch *channel height width"]:
        """Draw a picture from every set of slots."""
        if slots.ndim != 3 or slots.shape[-1] != self.in_features:
            raise ValueError(
                f"slots must be (batch, slot, in_features={self.in_features}), got shape "
                f"{tuple(slots.shape)}"
            )
        hidden = slots.flatten(0, 1)[:, :, None, None].expand(-1, -1, *self._start)
        position = self.position(_borders(hidden)).mT.unflatten(-1, self._start)
        hidden = hidden + position
        for convolution in self.convolutions:
            hidden = convolution(hidden).relu()
        drawn = self.output(hidden).unflatten(0, slots.shape[:2])
        pictures = (drawn[:, :, :-1] * drawn[:, :, -1:].softmax(dim=1)).sum(1)
        return pictures if len(self.item_shape) == 3 else pictures.squeeze(1)


def _borders(maps: Tensor) -> Float[Tensor, "position distance"]:
    """Measure how far each position of a map is from top, left, bottom and right, as shares."""
    near = map_coordinates(maps)
    return torch.cat([near, 1 - near]).flatten(1).mT
