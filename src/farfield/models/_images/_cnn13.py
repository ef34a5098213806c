"""The convolutional network of 13 layers, with weight norm."""

from __future__ import annotations

from typing import ClassVar, Final, TypeVar, Unpack, final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils import parametrize

from farfield.core.internal import Dropout, FactoryOptions, Size, take_factory_arguments
from farfield.functional.internal import default_layer
from farfield.models._images._maps import convolution, maps_of, num_channels_of

_Layer = TypeVar("_Layer", nn.Linear, nn.Conv2d)


def weight_norm(layer: _Layer) -> _Layer:
    r"""Learn length and direction of the weights of each unit apart.

    $$w = g \, \frac{v}{\lVert v \rVert}$$

    The weights are unchanged: $v$ starts as $w$ and $g$ as its length. It has the parameters of
    `torch.nn.utils.parametrizations.weight_norm` by the same names; that one's kernel cannot be
    mapped over stacked networks.

    Args:
        layer: A layer, changed in place.
    """
    parametrize.register_parametrization(layer, "weight", _WeightNorm())
    return layer


@final
class _WeightNorm(nn.Module):
    """The weights from length and direction, and the way back."""

    def forward(
        self, length: Float[Tensor, "feature ..."], direction: Float[Tensor, "feature ..."]
    ) -> Float[Tensor, "feature ..."]:
        """Compute the weights."""
        return direction * (length / _lengths(direction))

    def right_inverse(
        self, weight: Float[Tensor, "feature ..."]
    ) -> tuple[Float[Tensor, "feature ..."], Float[Tensor, "feature ..."]]:
        """Split weights into length and direction."""
        return _lengths(weight), weight


def _lengths(weight: Tensor) -> Tensor:
    """Compute the length of the weights of each unit, with all axes."""
    axes = tuple(range(1, weight.ndim))
    return torch.linalg.vector_norm(weight, dim=axes, keepdim=True)


_SLOPE: Final = 0.1
"""Slope of the activations below 0."""

_LEAST_SIDE: Final = 12
"""Side of an image of which the convolution without padding leaves a pixel."""


@final
class CNN13(nn.Module):
    """Nine convolutions in three groups, with weight normalization and batch normalization.

    Three convolutions of 3×3 with `width` channels and three with twice as many, each group
    followed by the maximum of 2×2; one of 3×3 without padding with four times as many, and two of
    1×1 with twice and once as many; a linear layer on the mean of each channel over the image.
    After each convolution come batch normalization and a leaky ReLU of slope 0.1. Lengths and
    directions of all weights are learned apart.

    Args:
        item_shape: Channels, height and width of a square image, or height and width of a gray one;
            12 pixels or more.
        width: Channels of the first group.
        dropout: Probability that a number is dropped after the first and the second group in
            training: 0.5 in the network's first publication, 0 in lamb2022.

    Shape:
        `(batch, *item_shape)` to `(batch, num_outputs)`.

    Attributes:
        mixing_layers: The three groups up to their last batch normalization, behind which the
            released code mixes.
        pooled1, pooled2: Layers that change nothing, behind the maxima of the first two groups.
        features: Layer that changes nothing, before the linear layer.

    Raises:
        ValueError: If a number is out of range, or the images are not square, smaller, or of
            another shape.

    Reference:
        Laine and Aila 2017; lamb2022, section 6.3.2, which leaves the noise out.
    """

    mixing_layers: ClassVar[tuple[str, ...]] = ("group1", "group2", "group3")

    @take_factory_arguments()
    def __init__(
        self,
        item_shape: tuple[Size, ...],
        num_outputs: Size,
        *,
        width: Size = 128,
        dropout: Dropout = 0.0,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        generator = options["generator"]
        self.item_shape, self.dropout = tuple(item_shape), dropout
        channels = num_channels_of(self.item_shape, least_side=_LEAST_SIDE)

        def convolve(*sizes: int, padding: int | None = None) -> nn.Conv2d:
            layer = convolution(*sizes, padding=padding, bias=True, generator=generator)
            return weight_norm(layer)

        twice, fourfold = 2 * width, 4 * width
        self.group1 = _group(
            convolve(channels, width, 3), convolve(width, width, 3), convolve(width, width, 3)
        )
        self.group2 = _group(
            convolve(width, twice, 3), convolve(twice, twice, 3), convolve(twice, twice, 3)
        )
        self.group3 = _group(
            convolve(twice, fourfold, 3, padding=0),
            convolve(fourfold, twice, 1),
            convolve(twice, width, 1),
        )
        self.pooled1, self.pooled2, self.features = (nn.Identity() for _ in range(3))
        output = default_layer(width, num_outputs, generator)
        self.output = weight_norm(output)

    def forward(self, items: Float[Tensor, "batch ..."]) -> Float[Tensor, "batch _"]:
        """Classify every image."""
        maps = maps_of(items, self.item_shape)
        for group, pooled in ((self.group1, self.pooled1), (self.group2, self.pooled2)):
            maps = pooled(F.max_pool2d(F.leaky_relu(group(maps), _SLOPE), 2))
            maps = F.dropout(maps, self.dropout, self.training)
        maps = F.leaky_relu(self.group3(maps), _SLOPE)
        return self.output(self.features(maps.mean((-2, -1))))


def _group(*convolutions: nn.Conv2d) -> nn.Sequential:
    """Build convolutions, each normalized, and activated before the next."""
    layers = [
        layer
        for convolve in convolutions
        for layer in (convolve, nn.BatchNorm2d(convolve.out_channels), nn.LeakyReLU(_SLOPE))
    ]
    return nn.Sequential(*layers[:-1])
