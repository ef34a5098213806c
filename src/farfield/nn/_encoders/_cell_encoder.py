"""An encoder that says what is drawn in the cells of a grid, with nothing to learn."""

from __future__ import annotations

from typing import ClassVar, Final, final

import torch
from einops import rearrange
from jaxtyping import Float, Shaped
from torch import Tensor, nn
from torch.types import Device

from farfield.core import NonNegativeInt, Size, check_arguments
from farfield.functional import as_fractions
from farfield.nn._encoders._encoders import check_item_shape, check_items

_STATISTICS: Final = 6
_FAINTEST: Final = 0.05


@final
class CellEncoder(nn.Module):
    r"""Six statistics of what is drawn in each cell of a grid, in place and in ascending order.

    $$c = 1 - \text{image}, \qquad d = [c > 0.05], \qquad
      z = \big(\overline{d},\ \overline{c},\ \max c,\ \overline{d\,(x^2 + y^2)},\
      \overline{d\,x},\ \overline{d\,y}\big)$$

    with means over the pixels of a cell, whose center is the origin and whose border lies 1 from
    it: how much is drawn, how dark, the darkest, how far from the center, how far to the right and
    how far down. Of each statistic first come the cells in reading order, then the same numbers in
    ascending order, which do not tell where things are. Darkness changes by equal steps where a
    picture does, inside the range of training and outside. `PanelEncoder` learns what to look at.

    Args:
        item_shape: Height and width of an image in pixels.
        cells: Rows and columns of the grid.
        margin: Pixels around the grid that are left out.
        device: Where its tensors are.
        dtype: Of its coordinates, and of the embedding.

    Shape:
        `(item, height, width)`, uint8 of 0…255 or floating-point of 0…1, to
        `(item, 12 · cells²)`.

    Attributes:
        out_features: Size of an embedding.

    Raises:
        ValueError: If a side without its margins is no multiple of `cells`.

    Reference:
        Made for matrices as in gondal2021, section 4.3, whose panels are grids of 3×3.
    """

    is_pure: ClassVar[bool] = True

    @check_arguments
    def __init__(
        self,
        item_shape: tuple[Size, ...] = (80, 80),
        *,
        cells: Size = 3,
        margin: NonNegativeInt = 0,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.item_shape = check_item_shape(item_shape)
        self.cells, self.margin = cells, margin
        inner = [side - 2 * margin for side in item_shape]
        if any(side <= 0 or side % cells for side in inner):
            raise ValueError(
                f"item_shape without a margin of {margin} must be a multiple of cells={cells}, "
                f"got {self.item_shape}"
            )
        self.out_features = 2 * _STATISTICS * cells**2
        y, x = (_centered(side // cells) for side in inner)
        weights = torch.stack(
            [
                torch.ones(len(y), len(x)),
                y[:, None] ** 2 + x**2,
                x.expand(len(y), -1),
                y[:, None].expand(-1, len(x)),
            ]
        )
        self.register_buffer("weights", weights / weights[0].numel(), persistent=False)
        self.weights: Tensor
        self.to(device=device, dtype=dtype)

    def forward(self, items: Shaped[Tensor, "item height width"]) -> Float[Tensor, "item feature"]:
        """Embed every item."""
        check_items(items, self.item_shape)
        drawn = 1 - as_fractions(items, self.weights.dtype)
        inner = drawn[:, self.margin : self.item_shape[0] - self.margin]
        inner = inner[:, :, self.margin : self.item_shape[1] - self.margin]
        cells = rearrange(inner, "b (r h) (c w) -> b (r c) (h w)", r=self.cells, c=self.cells)
        there = (cells > _FAINTEST).to(cells.dtype) @ self.weights.flatten(1).t()
        area, *moments = there.unbind(-1)
        found = torch.stack([area, cells.mean(-1), cells.amax(-1), *moments], dim=1)
        return torch.cat([found, found.sort(dim=2).values], dim=2).flatten(1)

    def extra_repr(self) -> str:
        """The options, for `print`."""
        return f"item_shape={self.item_shape}, cells={self.cells}, margin={self.margin}"


def _centered(side: int) -> Tensor:
    """Coordinates of a cell's pixels, from its center, in halves of its side."""
    return (torch.arange(side) + 0.5) * 2 / side - 1
