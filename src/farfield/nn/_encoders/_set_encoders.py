"""Encoders that make a set of elements of each item: patches of an image, parts of a vector."""

from __future__ import annotations

from typing import ClassVar, Unpack, final

import torch
from einops import rearrange
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from farfield.core.internal import FactoryOptions, Size, take_factory_arguments
from farfield.functional.internal import as_fractions, default_layer
from farfield.nn._encoders._encoders import check_items, image_shape


@final
class PatchEncoder(nn.Module):
    """One linear layer on each patch of an image.

    Args:
        item_shape: Channels, height and width of an image in pixels, or height and width of a gray
            one.
        patch_size: Side of a patch in pixels; must divide height and width.
        out_features: Features of an element.
        positions: Whether a learned vector for each patch is added, as in a Vision Transformer; a
            core that knows where a patch is needs none.

    Shape:
        `(item, *item_shape)`, uint8 of 0…255 or floating-point of 0…1, to
        `(item, element, out_features)`, patches row by row.

    Attributes:
        embedding: The layer, on the pixels of a patch row by row, the channels of a pixel together.
        positions: The vectors, `(element, out_features)`, or None. Drawn from a normal
            distribution of standard deviation 0.02.
        num_elements: Number of patches.

    Raises:
        ValueError: If a size is below 1, patches do not fill the image, or images have another
            shape.

    Reference:
        gondal2021, section 4.2; Dosovitskiy et al. 2021, equation 1.
    """

    is_pure: ClassVar[bool] = True

    @take_factory_arguments()
    def __init__(
        self,
        item_shape: tuple[Size, ...] = (3, 32, 32),
        *,
        patch_size: Size = 4,
        out_features: Size = 192,
        positions: bool = False,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        generator = options["generator"]
        channels, height, width = image_shape(item_shape)
        if height % patch_size or width % patch_size:
            raise ValueError(
                f"patch_size must divide height and width of {item_shape}, got {patch_size}"
            )
        self.item_shape = tuple(item_shape)
        self.patch_size = patch_size
        self.out_features = out_features
        self.num_elements = (height // patch_size) * (width // patch_size)
        pixels = channels * patch_size**2
        self.embedding = default_layer(pixels, out_features, generator)
        self.positions = (
            _drawn((self.num_elements, out_features), 0.02, generator) if positions else None
        )

    def forward(
        self, items: Shaped[Tensor, "item *channel height width"]
    ) -> Float[Tensor, "item element feature"]:
        """Embed the patches of every item."""
        check_items(items, self.item_shape)
        shown = as_fractions(items, self.embedding.weight.dtype)
        patches = rearrange(
            shown if shown.ndim == 4 else shown.unsqueeze(1),
            "item channel (row y) (column x) -> item (row column) (y x channel)",
            y=self.patch_size,
            x=self.patch_size,
        )
        elements = self.embedding(patches)
        return elements if self.positions is None else elements + self.positions

    def extra_repr(self) -> str:
        """Return the options, for `print`."""
        return f"item_shape={self.item_shape}, patch_size={self.patch_size}"


@final
class ComponentEncoder(nn.Module):
    r"""An element of each number of a vector, with a learned vector that says which it is.

    $$e_i = x_i \, w + p_i$$

    Args:
        item_shape: The one size of a vector.
        out_features: Features of an element.

    Shape:
        `(item, element)` to `(item, element, out_features)`.

    Attributes:
        weight: $w$, `(out_features,)`.
        positions: $p$, `(element, out_features)`. Both are drawn from a standard normal
            distribution.
        num_elements: Numbers of a vector.

    Raises:
        ValueError: If a size is below 1, or items are no vectors of that size.

    Reference:
        gondal2021, section 4.1.
    """

    is_pure: ClassVar[bool] = True

    @take_factory_arguments()
    def __init__(
        self,
        item_shape: tuple[Size, ...] = (5,),
        *,
        out_features: Size = 64,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        generator = options["generator"]
        if len(item_shape) != 1:
            raise ValueError(f"item_shape must be the size of a vector, got {item_shape}")
        self.item_shape = tuple(item_shape)
        self.out_features = out_features
        self.num_elements = item_shape[0]
        self.weight = _drawn((out_features,), 1.0, generator)
        self.positions = _drawn((self.num_elements, out_features), 1.0, generator)

    def forward(self, items: Float[Tensor, "item element"]) -> Float[Tensor, "item element _"]:
        """Embed the numbers of every item."""
        check_items(items, self.item_shape)
        return items.unsqueeze(-1) * self.weight + self.positions

    def extra_repr(self) -> str:
        """Return the options, for `print`."""
        return f"item_shape={self.item_shape}, out_features={self.out_features}"


def _drawn(shape: tuple[int, ...], std: float, generator: torch.Generator | None) -> nn.Parameter:
    """Draw parameters from a normal distribution."""
    numbers = nn.Parameter(torch.empty(shape))
    nn.init.normal_(numbers, std=std, generator=generator)
    return numbers
