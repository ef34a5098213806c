"""An encoder that shows every figure at one position and in one size."""

from __future__ import annotations

from typing import Annotated, ClassVar, final

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn
from torch.nn import functional as F
from torch.types import Device

from farfield.core.internal import (
    FractionBelowOne,
    Limits,
    PositiveFloat,
    Size,
    check_arguments,
)
from farfield.functional.internal import as_fractions, spatial_moments
from farfield.nn._encoders._encoders import check_item_shape, check_items, coordinates
from farfield.nn._encoders._moment_encoder import border_median


@final
class PoseEncoder(nn.Module):
    r"""Move and scale the figure of each image to one position and one size, without learning.

    $$c = \left| G * (\text{image} - \text{median of its border}) \right|, \qquad
      m = \max(0, c - f \max c), \qquad
      z = \frac{m(\bar p + s\,q / r)}{\lVert m(\bar p + s\,q / r) \rVert}$$

    for a narrow Gaussian $G$, the center $\bar p$ and the spread $s = \sqrt{s_x^2 + s_y^2}$ of
    the figure $m$ (`spatial_moments`), and the points $q$ of a square grid.
    Two showings of a figure that differ in position, size, contrast and noise have almost equal
    embeddings, whether the figure was ever seen in training or not. `ConvEncoder` learns such
    equality for the figures of training only. The turn of a figure is kept: `LikenessNet`
    compares embeddings in several turns.

    Args:
        item_shape: Height and width of an image in pixels.
        side: Side of the grid; an embedding has its square.
        radius: $r$, the spread of a figure on the grid, as a part of half its side.
        floor: $f$; contrast below this part of the greatest one counts as background.
        blur: Standard deviation of $G$ in pixels.

    Shape:
        `(item, height, width)`, uint8 of 0…255 or floating-point of 0…1, to
        `(item, side²)`, rows of length 1.

    Raises:
        ValueError: If a size is below 1, a part outside 0…1, or the images have another shape.

    Reference:
        Normalization by moments: Hu 1962. Made for the regimes of webb2021's tasks in which no
        image is shown twice.
    """

    is_pure: ClassVar[bool] = True
    kernel: Tensor

    @check_arguments
    def __init__(
        self,
        item_shape: tuple[Size, ...] = (32, 32),
        *,
        side: Size = 24,
        radius: Annotated[float, Limits(above=0, at_most=1)] = 0.5,
        floor: FractionBelowOne = 0.15,
        blur: PositiveFloat = 0.7,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.item_shape = check_item_shape(item_shape)
        self.side = side
        self.out_features = side**2
        self.radius = radius
        self.floor = floor
        self.blur = blur
        reach = torch.arange(-2.0, 3.0, device=device, dtype=dtype)
        kernel = torch.exp(-(reach**2) / (2 * blur**2))
        self.register_buffer("kernel", kernel / kernel.sum(), persistent=False)

    def forward(self, items: Shaped[Tensor, "item height width"]) -> Float[Tensor, "item feature"]:
        """Embed every item."""
        check_items(items, self.item_shape)
        figures = self._figures(as_fractions(items, self.kernel.dtype))
        rows, columns = coordinates(self.item_shape, figures)
        moments = spatial_moments(figures.unsqueeze(-1), rows, columns).squeeze(-1)
        x, y, across, down, _ = moments.unbind(1)
        spread = torch.hypot(across, down) / self.radius

        # Points of the grid in coordinates of `grid_sample`, where the image spans −1…1.
        points = (torch.arange(self.side, device=x.device, dtype=x.dtype) + 0.5) / self.side * 2 - 1
        height, width = self.item_shape
        longer = max(height, width)
        steps = spread.unsqueeze(1) * points
        on_x = ((x.unsqueeze(1) + steps) * longer + 0.5) / width * 2 - 1
        on_y = ((y.unsqueeze(1) + steps) * longer + 0.5) / height * 2 - 1
        grid = torch.stack(
            (
                on_x.unsqueeze(1).expand(-1, self.side, -1),
                on_y.unsqueeze(2).expand(-1, -1, self.side),
            ),
            dim=-1,
        )
        posed = F.grid_sample(figures.unsqueeze(1), grid, align_corners=False)
        return F.normalize(posed.flatten(1), dim=1)

    def _figures(
        self, images: Float[Tensor, "item height width"]
    ) -> Float[Tensor, "item height width"]:
        """Return the contrast with the background, blurred, and zero where it is weak."""
        background = border_median(images.unsqueeze(-1))
        contrast = (images - background.unsqueeze(-1)).unsqueeze(1)
        contrast = F.conv2d(contrast, self.kernel[None, None, None], padding=(0, 2))
        contrast = F.conv2d(contrast, self.kernel[None, None, :, None], padding=(2, 0))
        contrast = contrast.squeeze(1).abs()
        return torch.relu(contrast - self.floor * contrast.amax((1, 2), keepdim=True))

    def extra_repr(self) -> str:
        """Return the options, for `print`."""
        return f"item_shape={self.item_shape}, side={self.side}"
