"""The convolutional network of super-resolution that normalizers are compared on."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from typing import Final, Unpack, final

import torch
from jaxtyping import Float
from PIL import Image
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core.internal import (
    FactoryOptions,
    Size,
    expand_home,
    kind_of,
    printable,
    read_picture,
    take_factory_arguments,
)
from farfield.functional.internal import (
    bicubic_resize,
    normal_,
    rgb_to_ycbcr,
    uninitialized,
    ycbcr_to_rgb,
)
from farfield.models._images._maps import normalizer_of

_STD: Final = 1e-3
"""Standard deviation of the first weights."""
_AT_ONCE: Final = 2**18
"""Pixels of several images that are read at once in evaluation: of each there are 64 maps."""
_LARGEST: Final = 2**24
"""Pixels of an enlarged picture."""


@final
class SRCNN(nn.Module):
    """Three convolutions that sharpen an enlarged image, with any normalizer before each ReLU.

    Of 9×9, 5×5 and 5×5 with 64, 32 and one channel, each with a bias; the first two are followed by
    a normalizer and a ReLU. It reads images of any size.

    Args:
        channels: Channels of the first two convolutions.
        kernel_sizes: Sides of the windows of the convolutions, odd.
        normalizer: Function that makes a normalizer from a number of channels and the side of a
            window, such as a `MapNormalizer`; None for no normalizers.
        windows: Sides of the windows of the normalizers, pixels.
        padded: Whether zeros around all maps keep their size, and so that of the image; otherwise
            it loses 8 pixels along each border, as in the released code.
        truncated: Whether first weights beyond two standard deviations are drawn again, as in the
            released code.

    Shape:
        `(batch, height, width)` to `(batch, height − 16, width − 16)`, or to the same if padded.

    Attributes:
        border: Pixels that an image loses along each border.
        convolutions: The convolutions, whose outputs but the last are normalized.
        norms: The normalizers.

    Raises:
        ValueError: If a size is out of range or even, or an image is not larger than its borders.

    Reference:
        Dong et al. 2016; ren2017, section 4.3.

    Example:
        >>> SRCNN(padded=True)(torch.rand(2, 20, 30)).shape
        torch.Size([2, 20, 30])
    """

    @take_factory_arguments()
    def __init__(
        self,
        *,
        channels: tuple[Size, Size] = (64, 32),
        kernel_sizes: tuple[Size, Size, Size] = (9, 5, 5),
        normalizer: Callable[[int, int], nn.Module] | None = None,
        windows: tuple[Size, Size] = (5, 5),
        padded: bool = False,
        truncated: bool = False,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        if not all(side % 2 for side in kernel_sizes):
            raise ValueError(f"kernel_sizes must be odd, got {tuple(kernel_sizes)}")
        self.padded = padded
        self.border = 0 if padded else sum(side // 2 for side in kernel_sizes)
        self.convolutions = nn.ModuleList(
            normal_(
                uninitialized(nn.Conv2d, *pair, side, padding=side // 2 if padded else 0),
                _STD,
                truncated=truncated,
                generator=options["generator"],
            )
            for pair, side in zip(itertools.pairwise((1, *channels, 1)), kernel_sizes, strict=True)
        )
        self.norms = nn.ModuleList(
            normalizer_of(normalizer, *pair) for pair in zip(channels, windows, strict=True)
        )

    def forward(self, items: Float[Tensor, "batch height width"]) -> Float[Tensor, "batch _ _"]:
        """Sharpen every image.

        Args:
            items: Enlarged images, luma as fractions.

        Raises:
            ValueError: If they are not larger than the borders that they lose.
        """
        if items.ndim != 3 or min(items.shape[1:]) <= 2 * self.border:
            least = 2 * self.border + 1
            raise ValueError(
                f"items must be images (batch, height, width) of at least {least} × {least} "
                f"pixels, got shape {tuple(items.shape)}"
            )
        if self.training or items.numel() <= _AT_ONCE:
            return self._sharpened(items)
        return torch.cat([self._sharpened(image) for image in torch.split(items, 1)])

    def _sharpened(self, images: Tensor) -> Tensor:
        maps = images.unsqueeze(1)
        *convolutions, last = self.convolutions
        for convolve, norm in zip(convolutions, self.norms, strict=True):
            maps = F.relu(norm(convolve(maps)))
        return last(maps).squeeze(1)

    @torch.no_grad()
    def enlarge(self, path: str | os.PathLike[str], scale: int) -> Image.Image:
        """Enlarge a picture: luma by bicubic interpolation and this network, colors by the former.

        Args:
            path: A BMP, JPEG or PNG file, gray or in red, green and blue.
            scale: Factor by which it becomes larger, the one that the network was trained for.

        Returns:
            The picture, to be shown or saved.

        Raises:
            ValueError: If the factor is not an integer of 2 or more, the file cannot be read, has
                an alpha channel or other colors, or the result would have too many pixels.
        """
        scale = kind_of(Size).take("scale", scale)
        pixels = torch.from_numpy(read_picture(expand_home(path)))
        height, width = (side * scale for side in pixels.shape[:2])
        if scale < 2 or height * width > _LARGEST:
            raise ValueError(
                f"scale must be 2 or more and leave at most {_LARGEST:,} pixels of "
                f"{printable(path)}, got {scale}, which makes {height} × {width}"
            )
        levels = pixels.double().reshape(*pixels.shape[:2], -1).movedim(-1, 0)
        planes = rgb_to_ycbcr(levels) if len(levels) == 3 else levels
        planes = bicubic_resize(planes, (height, width))
        planes[0] = 255 * self._whole(planes[0] / 255)
        planes = ycbcr_to_rgb(planes) if len(planes) == 3 else planes
        found = planes.round().clamp(0, 255).to(torch.uint8).movedim(0, -1).squeeze(-1)
        return Image.fromarray(found.numpy())

    def _whole(self, luma: Tensor) -> Tensor:
        """Sharpen an image at its size, with its borders repeated as far as the network needs."""
        weight = next(self.parameters())
        around = F.pad(luma[None, None], [self.border] * 4, mode="replicate")[0]
        was_training = self.training
        self.eval()
        try:
            return self(around.to(weight))[0].to(luma)
        finally:
            self.train(was_training)
