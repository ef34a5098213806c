"""Small classifiers of images and points."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import ClassVar, Final, TypeVar, Unpack, final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core.internal import (
    Dropout,
    FactoryOptions,
    NonNegativeFloat,
    Size,
    take_factory_arguments,
)
from farfield.functional.internal import default_layer, normal_, uninitialized
from farfield.models._images._maps import (
    check_items,
    convolution,
    maps_of,
    normalizer_of,
    num_channels_of,
)


@final
class BottleneckMLP(nn.Module):
    """Hidden layers with ReLUs, and a linear bottleneck in their middle if there is one.

    A bottleneck of 2 is a representation that can be drawn. Three hidden layers of 20 without a
    bottleneck are the network of the two moons.

    Args:
        item_shape: Shape of an item, which is read as a vector.
        hidden_sizes: Units of each hidden layer.
        bottleneck: Units of a layer without ReLU in the middle of the hidden layers;
            None for no such layer.
        batch_norm: Whether the sums of every layer except the output are normalized over the batch,
            before its ReLU.
        dropout: Probability that a unit of a hidden layer, the bottleneck excepted, is dropped in
            training.
        noise: Standard deviation of the Gaussian noise that is added to items in training; drawn
            from torch's global generator.

    Shape:
        `(batch, *item_shape)` to `(batch, num_outputs)`.

    Attributes:
        layers: Hidden layers and bottleneck, in order.
        mixing_layers: The same, by name: the paper's layer $k$ is the $k$-th of them.

    Raises:
        ValueError: If a number is out of range, or items have another shape.

    Reference:
        lamb2022, figures 1 and 2 of chapter 4, and figure 1 of chapter 6. The paper does not say
        how wide the layers around the bottleneck are, nor whether it has a ReLU.
    """

    @take_factory_arguments()
    def __init__(
        self,
        item_shape: tuple[Size, ...],
        num_outputs: Size,
        *,
        hidden_sizes: tuple[Size, ...] = (20, 20, 20),
        bottleneck: Size | None = None,
        batch_norm: bool = False,
        dropout: Dropout = 0.0,
        noise: NonNegativeFloat = 0.0,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        self.item_shape, self.noise = tuple(item_shape), noise
        middle = len(hidden_sizes) // 2
        narrow = () if bottleneck is None else (bottleneck,)
        sizes = (*hidden_sizes[:middle], *narrow, *hidden_sizes[middle:])
        linear = [
            default_layer(*pair, options["generator"])
            for pair in itertools.pairwise((math.prod(item_shape), *sizes, num_outputs))
        ]
        self.layers = nn.ModuleList()
        for k, layer in enumerate(linear[:-1]):
            parts: list[nn.Module] = [layer]
            if batch_norm:
                parts.append(nn.BatchNorm1d(layer.out_features))
            if k != middle or bottleneck is None:
                parts += [nn.ReLU(), nn.Dropout(dropout)]
            self.layers.append(nn.Sequential(*parts))
        self.output = linear[-1]
        self.mixing_layers = tuple(f"layers.{k}" for k in range(len(sizes)))

    def forward(self, items: Float[Tensor, "batch ..."]) -> Float[Tensor, "batch _"]:
        """Classify every item."""
        check_items(items, self.item_shape)
        hidden = items.flatten(1)
        if self.training and self.noise:
            hidden = hidden + self.noise * torch.randn_like(hidden)
        for layer in self.layers:
            hidden = layer(hidden)
        return self.output(hidden)


_Layer = TypeVar("_Layer", nn.Conv2d, nn.Linear)

_SIDE: Final = 5
"""Side of the windows of the convolutions."""

_POOLS: Final[tuple[Callable[..., Tensor], ...]] = (F.max_pool2d, F.avg_pool2d, F.avg_pool2d)
_STDS: Final = (1e-4, 1e-2, 1e-2)
"""Standard deviations of the first weights of the convolutions."""

_STD: Final = 1e-1
"""Standard deviation of the first weights of the linear layers."""

_LEAST_SIDE: Final = 8
"""Side of an image of which the last pooling leaves a pixel."""


@final
class QuickCNN(nn.Module):
    """Three convolutions of 5×5, each with a normalizer, a ReLU and a pooling, and linear layers.

    The convolutions have `width`, `width` and twice as many channels, and biases; behind each come
    the normalizer, the ReLU and the maximum, behind the second and third the mean, of windows of
    3×3 two pixels apart. Two linear layers follow, the first with twice `width` units, and nothing
    between them. A window that reaches beyond the last row or column pools the pixels inside.

    Args:
        item_shape: Channels, height and width of a square image, or height and width of a gray one;
            8 pixels or more.
        width: Channels of the first convolution.
        normalizer: Function that makes a normalizer from a number of channels and the side of a
            window, such as a `MapNormalizer`; None for no normalizers.
        windows: Sides of the windows of the normalizers, pixels.
        dropout: Probability that an output of either linear layer is dropped in training, the
            logits among them, as in the released code.
        truncated: Whether first weights beyond two standard deviations are drawn again, as in the
            released code.

    Shape:
        `(batch, *item_shape)` to `(batch, num_outputs)`.

    Attributes:
        convolutions: The convolutions, whose outputs are normalized.
        norms: The normalizers.
        mixing_layers: The first two convolutions.

    Raises:
        ValueError: If a number is out of range, or the images are not square, smaller, or of
            another shape.

    Reference:
        ren2017, section 4.1 and table 2.
    """

    mixing_layers: ClassVar[tuple[str, ...]] = ("convolutions.0", "convolutions.1")

    @take_factory_arguments()
    def __init__(
        self,
        item_shape: tuple[Size, ...],
        num_outputs: Size,
        *,
        width: Size = 32,
        normalizer: Callable[[int, int], nn.Module] | None = None,
        windows: tuple[Size, Size, Size] = (5, 3, 3),
        dropout: Dropout = 0.0,
        truncated: bool = False,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        self.item_shape, self.dropout = tuple(item_shape), dropout
        channels = (width, width, 2 * width)
        sizes = (num_channels_of(self.item_shape, least_side=_LEAST_SIDE), *channels)

        def draw(layer: _Layer, std: float) -> _Layer:
            return normal_(layer, std, truncated=truncated, generator=options["generator"])

        self.convolutions = nn.ModuleList(
            draw(uninitialized(nn.Conv2d, *pair, _SIDE, padding=_SIDE // 2), std)
            for pair, std in zip(itertools.pairwise(sizes), _STDS, strict=True)
        )
        self.norms = nn.ModuleList(
            normalizer_of(normalizer, *pair) for pair in zip(channels, windows, strict=True)
        )
        pixels = (self.item_shape[-1] // 2 ** len(_POOLS)) ** 2
        self.hidden = draw(uninitialized(nn.Linear, pixels * channels[-1], 2 * width), _STD)
        self.output = draw(uninitialized(nn.Linear, 2 * width, num_outputs), _STD)

    def forward(self, items: Float[Tensor, "batch ..."]) -> Float[Tensor, "batch _"]:
        """Classify every image."""
        maps = maps_of(items, self.item_shape)
        for convolve, norm, pool in zip(self.convolutions, self.norms, _POOLS, strict=True):
            maps = pool(F.relu(norm(convolve(maps))), 3, stride=2, ceil_mode=True)
        hidden = maps.flatten(1)
        for layer in (self.hidden, self.output):
            hidden = F.dropout(layer(hidden), self.dropout, self.training)
        return hidden


_GROUPS: Final = 8
"""Groups of channels that are normalized together."""


@final
class DigitCNN(nn.Module):
    """Four convolutions of 3×3, each with a ReLU and group normalization, and the mean of the maps.

    The convolutions have `width` channels, then twice as many; the second one moves by two pixels.
    Each ReLU comes before its normalizer, of 8 groups of channels. A linear layer reads the mean of
    each channel over the image. With the default width it has 371,394 parameters for two classes of
    images of two channels.

    Args:
        item_shape: Channels, height and width of a square image, or height and width of a gray one.
        width: Channels of the first convolution.
        normalizer: Function that makes a normalizer from a number of channels and the side of a
            window, such as a `MapNormalizer`; None for group normalization.

    Shape:
        `(batch, *item_shape)` to `(batch, num_outputs)`.

    Attributes:
        convolutions: The convolutions.
        norms: The normalizers.
        features: The mean over the image, one vector an item.
        mixing_layers: The first two normalizers.

    Raises:
        ValueError: If the width is no multiple of 8 with group normalization, or the images are not
            square or of another shape.

    Reference:
        Gulrajani and Lopez-Paz 2021, appendix D: the network for digits.
    """

    mixing_layers: ClassVar[tuple[str, ...]] = ("norms.0", "norms.1")

    @take_factory_arguments()
    def __init__(
        self,
        item_shape: tuple[Size, ...],
        num_outputs: Size,
        *,
        width: Size = 64,
        normalizer: Callable[[int, int], nn.Module] | None = None,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        if normalizer is None and width % _GROUPS:
            raise ValueError(
                f"width must be a multiple of {_GROUPS} for group normalization, got {width}"
            )
        self.item_shape = tuple(item_shape)
        sizes = (num_channels_of(self.item_shape), width, *[2 * width] * 3)
        self.convolutions = nn.ModuleList(
            convolution(
                *pair, 3, stride=1 + (number == 1), bias=True, generator=options["generator"]
            )
            for number, pair in enumerate(itertools.pairwise(sizes))
        )
        norm = normalizer or (lambda channels, _: nn.GroupNorm(_GROUPS, channels))
        self.norms = nn.ModuleList(norm(channels, 3) for channels in sizes[1:])
        self.features = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.output = default_layer(sizes[-1], num_outputs, options["generator"])

    def forward(self, items: Float[Tensor, "batch ..."]) -> Float[Tensor, "batch _"]:
        """Classify every image."""
        maps = maps_of(items, self.item_shape)
        for convolve, norm in zip(self.convolutions, self.norms, strict=True):
            # Group normalization under vmap takes no maps with channels last.
            maps = norm(F.relu(convolve(maps)).contiguous())
        return self.output(self.features(maps))
