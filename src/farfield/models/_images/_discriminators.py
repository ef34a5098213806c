"""Discriminators of images, with spectral norm."""

from __future__ import annotations

import math
from functools import partial
from typing import Final, TypeVar, Unpack, final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils import parametrize

from farfield.core.internal import FactoryOptions, Size, take_factory_arguments
from farfield.models._images._generators import XavierConv2d, XavierLinear
from farfield.models._images._maps import maps_of, num_channels_of

_Layer = TypeVar("_Layer", nn.Linear, nn.Conv2d)
_FIRST_ITERATIONS: Final = 15
"""Iterations before the first call, as torch has them."""


def spectral_norm(layer: _Layer, generator: torch.Generator | None) -> _Layer:
    r"""Divide the weights of a layer by an estimate of their largest singular value.

    $$\bar W = \frac{W}{u^\top W v}$$

    with $u$ and $v$ from an iteration of the power method at each call in training. It has the
    parameter and the buffers of `torch.nn.utils.parametrizations.spectral_norm` by the same names;
    that one writes to buffers in ways that cannot be mapped over stacked networks, and draws from
    the global generator.

    Args:
        layer: A layer, changed in place.
        generator: Where the first $u$ and $v$ are drawn from; None is torch's global generator.

    Reference:
        Miyato et al. 2018, algorithm 1.
    """
    parametrize.register_parametrization(layer, "weight", _SpectralNorm(layer.weight, generator))
    return layer


@final
class _SpectralNorm(nn.Module):
    """The divided weights."""

    _u: Tensor
    _v: Tensor

    def __init__(self, weight: Tensor, generator: torch.Generator | None) -> None:
        super().__init__()
        matrix = weight.detach().flatten(1)
        for name, size in zip(("_u", "_v"), matrix.shape, strict=True):
            first = torch.empty(size, dtype=weight.dtype, device=weight.device)
            self.register_buffer(name, F.normalize(first.normal_(generator=generator), dim=0))
        for _ in range(_FIRST_ITERATIONS):
            self._iterate(matrix)

    @torch.no_grad()
    def _iterate(self, matrix: Float[Tensor, "feature value"]) -> None:
        """Run one iteration of the power method."""
        self._u.copy_(F.normalize(matrix @ self._v, dim=0))
        self._v.copy_(F.normalize(matrix.mT @ self._u, dim=0))

    def forward(self, weight: Float[Tensor, "feature ..."]) -> Float[Tensor, "feature ..."]:
        """Divide the weights."""
        matrix = weight.flatten(1)
        if self.training:
            self._iterate(matrix)
        # Copies, as the next call changes the buffers before the gradient of this one is taken.
        u, v = self._u.clone(), self._v.clone()
        return weight / (u @ (matrix @ v))


_QUARTERS = 4


@final
class ResNetDiscriminator(nn.Module):
    """Features and scores of images: residual blocks with spectral normalization.

    Four blocks of two convolutions of 3×3, each activated before it except for the very first; the
    first two blocks halve the sides. The local features are the maps of the third block, and the
    features of an image the sum of the activated maps of the fourth over positions, on which a
    linear layer scores how real it is. All weights are divided by their largest singular value.

    Args:
        item_shape: Channels, height and width of a square image, or height and width of a gray one;
            4 pixels or more.
        width: Channels of all maps.
        projection_size: Size of the space in which features of positions and of an image are
            compared, for the InfoMax term; None for no such layers. 1024 in InfoMax-GAN.
        names_rotations: Whether a linear layer says by how many quarters an image is turned.

    Shape:
        `(batch, *item_shape)`, fractions of 0…1, to `(batch,)`.

    Raises:
        ValueError: If a size is below 1, or the images are not square, or smaller.

    Reference:
        Miyato et al. 2018, appendix B.4; Lee et al. 2021; Chen et al. 2019; lamb2022, section
        10.4.1.

    Example:
        >>> discriminator = ResNetDiscriminator((1, 28, 28), width=8)
        >>> discriminator(torch.rand(2, 1, 28, 28)).shape
        torch.Size([2])
    """

    @take_factory_arguments()
    def __init__(
        self,
        item_shape: tuple[Size, ...],
        *,
        width: Size = 128,
        projection_size: Size | None = None,
        names_rotations: bool = False,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        generator = options["generator"]
        channels = num_channels_of(item_shape, least_side=4)
        self.item_shape = tuple(item_shape)
        block = partial(_Block, generator=generator)
        self.local = nn.Sequential(
            block(channels, width, halves=True, is_first=True),
            block(width, width, halves=True),
            block(width, width),
        )
        self.whole = block(width, width)
        linear = partial(_linear, generator=generator)
        self.output = linear(width, 1)
        self.rotation = linear(width, _QUARTERS) if names_rotations else None
        self.local_projection = self.whole_projection = None
        if (size := projection_size) is not None:
            convolve = partial(_convolution, side=1, generator=generator)
            self.local_projection = _Projection(
                convolve(width, width), convolve(width, size), convolve(width, size)
            )
            self.whole_projection = _Projection(
                linear(width, width), linear(width, size), linear(width, size)
            )

    def forward(self, images: Float[Tensor, "batch ..."]) -> Float[Tensor, " batch"]:
        """Score every image."""
        return self.realness(self.look(images)[1])

    def look(
        self, images: Float[Tensor, "batch ..."]
    ) -> tuple[Float[Tensor, "batch feature _ _"], Float[Tensor, "batch feature"]]:
        """Compute features of the positions of each image, and of each image.

        Args:
            images: The images.
        """
        maps = self.local(2 * maps_of(images, self.item_shape) - 1)
        return maps, F.relu(self.whole(maps)).sum((-2, -1))

    def realness(self, whole: Float[Tensor, "batch feature"]) -> Float[Tensor, " batch"]:
        """Score images.

        Args:
            whole: Features of the images.
        """
        scores: Tensor = self.output(whole)
        return scores[:, 0]

    def project(
        self, maps: Float[Tensor, "batch feature _ _"], whole: Float[Tensor, "batch feature"]
    ) -> tuple[Float[Tensor, "batch value position"], Float[Tensor, "batch value"]]:
        """Project both kinds of features to one space.

        Args:
            maps: Features of positions.
            whole: Features of images.

        Raises:
            ValueError: If there are no layers for it.
        """
        if self.local_projection is None or self.whole_projection is None:
            raise ValueError(
                "projection_size of the discriminator must be a size where features are compared "
                "(info_max), got None"
            )
        return self.local_projection(maps).flatten(2), self.whole_projection(whole)

    def rotations(self, whole: Float[Tensor, "batch feature"]) -> Float[Tensor, "batch 4"]:
        """Compute a logit for each number of quarters that an image may be turned by.

        Args:
            whole: Features of images.

        Raises:
            ValueError: If there is no layer for it.
        """
        if self.rotation is None:
            raise ValueError(
                "names_rotations of the discriminator must be True where images are turned "
                "(rotation), got False"
            )
        logits: Tensor = self.rotation(whole)
        return logits


def _convolution(
    in_channels: int,
    out_channels: int,
    side: int,
    *,
    gain: float = 1.0,
    generator: torch.Generator | None,
) -> nn.Conv2d:
    layer: nn.Conv2d = XavierConv2d.drawn(
        in_channels, out_channels, side, gain=gain, generator=generator
    )
    return spectral_norm(layer, generator)


def _linear(in_features: int, out_features: int, *, generator: torch.Generator | None) -> nn.Linear:
    layer: nn.Linear = XavierLinear.drawn(in_features, out_features, generator=generator)
    return spectral_norm(layer, generator)


@final
class _Block(nn.Module):
    """Two convolutions, added to a shortcut; the first block does not activate its input."""

    def __init__(
        self,
        in_channels: int,
        width: int,
        *,
        halves: bool = False,
        is_first: bool = False,
        generator: torch.Generator | None,
    ) -> None:
        super().__init__()
        gain = math.sqrt(2)
        self.halves, self.is_first = halves, is_first
        self.first = _convolution(in_channels, width, 3, gain=gain, generator=generator)
        self.second = _convolution(width, width, 3, gain=gain, generator=generator)
        self.shortcut = _convolution(in_channels, width, 1, generator=generator) if halves else None

    def forward(self, maps: Tensor) -> Tensor:
        inner = self.second(F.relu(self.first(maps if self.is_first else F.relu(maps))))
        beside = maps if self.shortcut is None else self.shortcut(maps)
        return F.avg_pool2d(inner + beside, 2) if self.halves else inner + beside


@final
class _Projection(nn.Module):
    """A hidden layer, added to a linear shortcut."""

    def __init__(self, hidden: nn.Module, output: nn.Module, shortcut: nn.Module) -> None:
        super().__init__()
        self.hidden, self.output, self.shortcut = hidden, output, shortcut

    def forward(self, features: Tensor) -> Tensor:
        found: Tensor = self.output(F.relu(self.hidden(features))) + self.shortcut(features)
        return found
