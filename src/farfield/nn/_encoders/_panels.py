"""Encoders of panels of figures and lines."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import ClassVar, Final, NamedTuple, Unpack, cast, final

import torch
from einops import rearrange
from jaxtyping import Bool, Float, Int64, Shaped
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core.internal import FactoryOptions, NonNegativeInt, Size, take_factory_arguments
from farfield.functional.internal import (
    as_fractions,
    kaiming_normal_,
    relu_layer,
    uninitialized,
    xavier_layer,
)
from farfield.nn._encoders._encoders import check_item_shape, check_items

_CHANNELS = 32
_HALVINGS = 4


@final
class PanelEncoder(nn.Module):
    """Four convolutions with a ReLU each, and nothing behind them.

    Convolutions of 3×3 with stride 2, padding 1 and 32 channels halve the image four times; the
    remaining numbers, 5×5×32 = 800 of an image of 80×80, are the embedding. `AnalogyEncoder` has
    layers behind its convolutions; here the embedding cannot be negative.

    Args:
        item_shape: Height and width of an image in pixels; a side that is odd, or becomes so, is
            halved upwards.

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

    @take_factory_arguments()
    def __init__(
        self,
        item_shape: tuple[Size, ...] = (80, 80),
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        self.item_shape = check_item_shape(item_shape)
        height, width = (-(-side // 2**_HALVINGS) for side in item_shape)
        self.out_features = height * width * _CHANNELS
        self.convolutions = nn.ModuleList(
            _convolution(number, options["generator"])
            for number in (1, *[_CHANNELS] * (_HALVINGS - 1))
        )

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
        """Return the options, for `print`."""
        return f"item_shape={self.item_shape}"


def _convolution(in_channels: int, generator: torch.Generator | None) -> nn.Conv2d:
    layer = uninitialized(nn.Conv2d, in_channels, _CHANNELS, kernel_size=3, stride=2, padding=1)
    return kaiming_normal_(layer, generator)


_FAINTEST: Final = 0.05
_SHADES: Final = 32
_BLOCK: Final = 8
_STEP: Final = 1 / 32
"""Difference between sizes, in sides of a cell; sizes begin at a quarter of a side."""
_NUM_SIZES: Final = 27
_WIDTH: Final = 1 / 24
"""Distance from a level at which the membership of a size is 1/e."""
_MIN_PIXELS: Final = 14
_MIN_FRACTION: Final = 0.16
"""Least fraction that a figure fills of the square around it; rests of lines fill less."""
_MIN_OF_LINE: Final = 3
_FORM: Final = (
    (0.6, 0.95, 0.95, 0.0, 0.0, 0.07, 0.07, 0.0),
    (0.2, 0.1, 0.1, 0.05, 0.05, 0.02, 0.02, 0.01),
)
"""About the mean and the spread of the eight numbers for disks, squares and triangles."""


class _Figures(NamedTuple):
    """The figure in each cell; zeros where there is none."""

    presence: Float[Tensor, "item cell"]
    shade: Int64[Tensor, "item cell"]
    size: Float[Tensor, "item cell"]
    form: Float[Tensor, "item cell 8"]


@final
class FigureEncoder(nn.Module):
    r"""Memberships of 0…1 of the levels that a panel shows, set by set.

    | set | levels |
    |---|---|
    | where figures are | cells of the grid |
    | where lines are | blocks of 8×8 pixels |
    | shades of figures | 32, from white to black |
    | sizes of figures | 27, 1/32 of a cell's longer side apart, from a quarter of it |
    | kinds of figures | `num_kinds`, learned |
    | shades of lines | 32, from white to black |

    Pixels darker than 5 % are drawn. A figure is the rest of an opening by 2×2 of them in a cell,
    of the commonest shade, if it has at least 14 pixels and fills 0.16 of the square around it. All
    pixels of that shade in its cell belong to it, and all else that is drawn is a line. A block has
    a line from one pixel on, a shade of lines from three. The size of a figure is the longer side
    of its box. Its form is eight numbers that do not change with its size: the fraction of that
    square that it fills, the sides of its box, how far its center of mass is from that of the box,
    and the second moments. One network of these gives the kind, as probabilities, and one a factor
    for the size. A size or a shade beyond those of training is another level of the same set.

    Args:
        item_shape: Height and width of an image in pixels.
        cells: Rows and columns of the grid.
        margin: Pixels around the grid; None is a twentieth of the shorter side, 4 of 80.
        num_kinds: Kinds of figures, at most.
        hidden_size: Units of each network.
        dtype: Of its parameters, and of the embedding.

    Shape:
        `(item, height, width)`, uint8 of 0…255 or floating-point of 0…1, to
        `(item, sum(set_sizes))`, set by set. Values beyond 0…1 count as 0 or 1;
        an image with NaN is NaN.

    Attributes:
        set_sizes: Number of levels of each set.
        out_features: Size of an embedding.
        kind, scale: The networks of kinds and of the factor for the size.

    Raises:
        ValueError: If a side is no multiple of 8, or without its margins none of `cells`, or a cell
            has fewer pixels than a figure.

    Reference:
        Made for matrices as in gondal2021, section 4.3, whose panels are grids of figures and
        lines over them.
    """

    is_pure: ClassVar[bool] = True

    @take_factory_arguments()
    def __init__(
        self,
        item_shape: tuple[Size, ...] = (80, 80),
        *,
        cells: Size = 3,
        margin: NonNegativeInt | None = None,
        num_kinds: Size = 12,
        hidden_size: Size = 32,
        **options: Unpack[FactoryOptions],
    ) -> None:
        super().__init__()
        generator = options["generator"]
        self.item_shape = check_item_shape(item_shape)
        margin = min(item_shape) // 20 if margin is None else margin
        self.cells, self.margin = cells, margin
        inner = [side - 2 * margin for side in item_shape]
        if any(side <= 0 or side % cells for side in inner):
            raise ValueError(
                f"item_shape without a margin of {margin} must be a multiple of cells={cells}, "
                f"got {self.item_shape}"
            )
        if any(side % _BLOCK for side in item_shape):
            raise ValueError(
                f"item_shape must have sides that are multiples of {_BLOCK}, got {self.item_shape}"
            )
        self.cell_shape = tuple(side // cells for side in inner)
        if math.prod(self.cell_shape) < _MIN_PIXELS:
            raise ValueError(
                f"cells must leave {_MIN_PIXELS} pixels to each, got {cells} for {self.item_shape}"
            )
        blocks = math.prod(side // _BLOCK for side in item_shape)
        self.set_sizes = (cells**2, blocks, _SHADES, _NUM_SIZES, num_kinds, _SHADES)
        self.out_features = sum(self.set_sizes)
        self.register_buffer("sizes", 0.25 + _STEP * torch.arange(_NUM_SIZES), persistent=False)
        self.sizes: Tensor

        def network(outputs: int, gain: float) -> nn.Sequential:
            hidden = relu_layer(8, hidden_size, generator)
            output = xavier_layer(hidden_size, outputs, generator)
            with torch.no_grad():
                output.weight.mul_(gain)
            return nn.Sequential(hidden, nn.ReLU(), output)

        self.kind, self.scale = network(num_kinds, 1), network(1, 0.1)

    def forward(self, items: Shaped[Tensor, "item height width"]) -> Float[Tensor, "item feature"]:
        """Embed every item."""
        check_items(items, self.item_shape)
        dtype = self.sizes.dtype
        pixels = as_fractions(items, torch.promote_types(dtype, torch.float32))
        drawn = (1 - pixels).clamp(0, 1).nan_to_num()
        shades = (drawn * (_SHADES - 1)).round().long()
        figures, lines = self._separate(drawn > _FAINTEST, shades)
        presence, form = figures.presence[..., None].to(dtype), figures.form.to(dtype)
        size = figures.size[..., None].to(dtype) * torch.exp(self.scale(form))
        near = torch.exp(-((size - self.sizes) / _WIDTH).square())
        blocks = rearrange(lines, "b (r h) (c w) -> b (r c) (h w)", h=_BLOCK, w=_BLOCK)
        sets = [
            figures.presence,
            blocks.any(2),
            _count_shades(figures.shade, figures.presence) > 0,
            (near * presence).amax(1),
            (self.kind(form).softmax(-1) * presence).amax(1),
            _count_shades(shades.flatten(1), lines.flatten(1)) >= _MIN_OF_LINE,
        ]
        unknown = pixels.isnan().flatten(1).any(1, keepdim=True)
        return torch.cat([each.to(dtype) for each in sets], dim=1).masked_fill(unknown, torch.nan)

    def _separate(
        self, drawn: Bool[Tensor, "item height width"], shades: Int64[Tensor, "item height width"]
    ) -> tuple[_Figures, Bool[Tensor, "item height width"]]:
        """Separate the figures from the pixels of lines; numbers in float32."""
        pixels, thick = self._cut(shades), self._cut(_open(drawn))
        shade = _count_shades(pixels, thick).argmax(1)
        alike = pixels == shade[:, None]
        mask = torch.unflatten(alike & thick, 1, self.cell_shape)
        (top, height), (left, width) = _box(mask.any(2)), _box(mask.any(1))
        side = torch.maximum(height, width).clamp(min=1)
        area, x, y, xx, yy, xy = _moments(mask)
        square = side**2
        present = (area >= _MIN_PIXELS) & (area >= _MIN_FRACTION * square)
        numbers = (
            area / square,
            width / side,
            height / side,
            (x - left) / side,
            (y - top) / side,
            xx / square,
            yy / square,
            xy / square,
        )
        form = [(number - m) / s for number, m, s in zip(numbers, *_FORM, strict=True)]
        found = present.float()
        figures = _Figures(
            presence=found,
            shade=shade,
            size=found * side / max(self.cell_shape),
            form=found[:, None] * torch.stack(form, dim=1),
        )
        lines = drawn & ~self._put_back(alike & present[:, None])
        grid = (drawn.shape[0], self.cells**2)
        return _Figures(*(torch.unflatten(each, 0, grid) for each in figures)), lines

    def _cut(self, pixels: Shaped[Tensor, "item height width"]) -> Shaped[Tensor, "_ pixel"]:
        """Cut panels into the pixels of each cell, cell by cell."""
        inner = F.pad(pixels, (-self.margin,) * 4)
        return rearrange(inner, "b (r h) (c w) -> (b r c) (h w)", r=self.cells, c=self.cells)

    def _put_back(self, cells: Bool[Tensor, "_ pixel"]) -> Bool[Tensor, "item height width"]:
        """Put cells back into panels, with nothing in the margins."""
        pattern = "(b r c) (h w) -> b (r h) (c w)"
        inner = rearrange(cells, pattern, r=self.cells, c=self.cells, h=self.cell_shape[0])
        return F.pad(inner, (self.margin,) * 4)

    def extra_repr(self) -> str:
        """Return the options, for `print`."""
        return f"item_shape={self.item_shape}, cells={self.cells}, margin={self.margin}"


def _open(drawn: Bool[Tensor, "item height width"]) -> Bool[Tensor, "item height width"]:
    """Mark the pixels of each 2×2 block that is drawn completely."""
    return _of_four(operator.or_, F.pad(_of_four(operator.and_, drawn), (1, 1, 1, 1)))


def _of_four(
    pick: Callable[[Tensor, Tensor], Tensor], pixels: Bool[Tensor, "item _ _"]
) -> Bool[Tensor, "item _ _"]:
    """Combine the four pixels of every 2×2 block by `and` or `or`."""
    pixels = pick(pixels[:, :-1], pixels[:, 1:])
    return pick(pixels[:, :, :-1], pixels[:, :, 1:])


def _count_shades(
    shades: Int64[Tensor, "item pixel"], there: Shaped[Tensor, "item pixel"]
) -> Float[Tensor, "item shade"]:
    """Count the pixels of each shade within a mask."""
    nothing = torch.zeros(shades.shape[0], _SHADES, device=shades.device)
    return nothing.scatter_add(1, shades, there.float())


def _box(
    occupied: Bool[Tensor, "item line"],
) -> tuple[Float[Tensor, " item"], Float[Tensor, " item"]]:
    """Find the middle, from the middle of the cell, and the extent of occupied rows or columns."""
    side = occupied.shape[1]
    up = torch.arange(1.0, side + 1, device=occupied.device)
    last, first = (occupied * up).amax(1), side + 1 - (occupied * up.flip(0)).amax(1)
    return (first + last - side - 1) / 2, last - first + 1


def _moments(mask: Bool[Tensor, "item height width"]) -> tuple[Float[Tensor, " item"], ...]:
    """Return area, center of mass from the center of the cell, and central second moments.

    Sums are of quarters of integers, exact in float32 for cells of a usual size.
    """
    y, x = torch.meshgrid(*(_centered(side, mask.device) for side in mask.shape[1:]), indexing="ij")
    powers = torch.stack([torch.ones_like(x), x, y, x * x, y * y, x * y], dim=-1).flatten(0, 1)
    sums = mask.flatten(1).float() @ powers
    area = sums[:, 0]
    x, y, xx, yy, xy = (sums[:, 1:] / area.clamp(min=1)[:, None]).unbind(1)
    return area, x, y, xx - x * x, yy - y * y, xy - x * y


def _centered(side: int, device: torch.device) -> Tensor:
    """Return coordinates of pixels, from the middle."""
    return torch.arange(side, device=device) + 0.5 - side / 2
