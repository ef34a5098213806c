"""An encoder that says which sets of levels the figures and the lines of a panel show."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Final, NamedTuple, final

import torch
from einops import rearrange
from jaxtyping import Bool, Float, Int64, Shaped
from torch import Tensor, nn
from torch.nn import functional as F
from torch.types import Device

from farfield.core import NonNegativeInt, Size, check_arguments
from farfield.functional import as_fractions, kaiming_normal_, uninitialized, xavier_uniform_
from farfield.nn._encoders._encoders import check_item_shape, check_items

_FAINTEST: Final = 0.05
_SHADES: Final = 32
_BLOCK: Final = 8
_STEP: Final = 1 / 32
"""From one size to the next, in sides of a cell; sizes begin at a quarter of one."""
_NUM_SIZES: Final = 27
_WIDTH: Final = 1 / 24
"""A size this far from one of the places counts as 1/e there."""
_FEWEST_PIXELS: Final = 14
_LEAST_SHARE: Final = 0.16
"""Of the square around it that a figure fills, at least: what is left of a line fills less."""
_FEWEST_OF_LINE: Final = 3
_FORM: Final = (
    (0.6, 0.95, 0.95, 0.0, 0.0, 0.07, 0.07, 0.0),
    (0.2, 0.1, 0.1, 0.05, 0.05, 0.02, 0.02, 0.01),
)
"""About the mean and the spread of the eight numbers of a form."""


class _Figures(NamedTuple):
    """What stands in each cell; zeros where nothing does."""

    there: Float[Tensor, "item cell"]
    shade: Int64[Tensor, "item cell"]
    size: Float[Tensor, "item cell"]
    form: Float[Tensor, "item cell 8"]


@final
class FigureEncoder(nn.Module):
    r"""Sets of levels that a panel shows: memberships of 0…1, place by place.

    | set | places |
    |---|---|
    | where figures stand | cells of the grid |
    | where lines run | blocks of 8×8 pixels |
    | shades of figures | 32, from white to black |
    | sizes of figures | 27, 1/32 of a cell apart, from a quarter of a cell |
    | kinds of figures | `num_kinds`, learned |
    | shades of lines | 32, from white to black |

    A figure is what is left in a cell when all that is one pixel wide is taken off (an opening by
    2×2), of the shade that most of these pixels have; all else that is drawn is a line. Its size is
    the longer side of its box. Its form is eight numbers that do not change with its size: the
    share of its box that it fills, the sides of the box, how far its center of mass is from that
    of the box, and the second moments. One network of these gives the kind, as probabilities, and
    one a factor for the size. What a set shows of a size or a shade outside the range of training
    are other places, and nothing else is new.

    Args:
        item_shape: Height and width of an image in pixels.
        cells: Rows and columns of the grid.
        margin: Pixels around the grid.
        num_kinds: Kinds of figures, at most.
        hidden_size: Units of each network.
        device: Where its tensors are.
        dtype: Of its parameters, and of the embedding.
        generator: Where the first weights are drawn from; None is torch's global generator.

    Shape:
        `(item, height, width)`, uint8 of 0…255 or floating-point of 0…1, to
        `(item, sum(set_sizes))`, set by set.

    Attributes:
        set_sizes: Number of places of each set.
        out_features: Size of an embedding.
        kind, scale: The networks of kinds and of the factor for the size.

    Raises:
        ValueError: If a side is no multiple of 8, or without its margins none of `cells`.

    Reference:
        Made for matrices as in gondal2021, section 4.3, whose panels are grids of figures and
        lines over them.
    """

    is_pure: ClassVar[bool] = True

    @check_arguments
    def __init__(
        self,
        item_shape: tuple[Size, ...] = (80, 80),
        *,
        cells: Size = 3,
        margin: NonNegativeInt = 4,
        num_kinds: Size = 12,
        hidden_size: Size = 32,
        device: Device = None,
        dtype: torch.dtype | None = None,
        generator: torch.Generator | None = None,
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
        if any(side % _BLOCK for side in item_shape):
            raise ValueError(f"item_shape must be multiples of {_BLOCK}, got {self.item_shape}")
        blocks = (item_shape[0] // _BLOCK) * (item_shape[1] // _BLOCK)
        self.set_sizes = (cells**2, blocks, _SHADES, _NUM_SIZES, num_kinds, _SHADES)
        self.out_features = sum(self.set_sizes)
        height, width = (side // cells for side in inner)
        y, x = torch.meshgrid(_centered(height), _centered(width), indexing="ij")
        powers = torch.stack([torch.ones_like(x), x, y, x * x, y * y, x * y], dim=-1)
        self.register_buffer("powers", powers.flatten(0, 1), persistent=False)
        self.register_buffer("sizes", 0.25 + _STEP * torch.arange(_NUM_SIZES), persistent=False)
        self.register_buffer("usual", torch.tensor(_FORM), persistent=False)
        self.powers: Tensor
        self.sizes: Tensor
        self.usual: Tensor

        def network(outputs: int, gain: float) -> nn.Sequential:
            hidden = kaiming_normal_(uninitialized(nn.Linear, 8, hidden_size), generator)
            output = xavier_uniform_(uninitialized(nn.Linear, hidden_size, outputs), generator)
            with torch.no_grad():
                output.weight.mul_(gain)
            return nn.Sequential(hidden, nn.ReLU(), output)

        self.kind, self.scale = network(num_kinds, 1), network(1, 0.1)
        self.to(device=device, dtype=dtype)

    def forward(self, items: Shaped[Tensor, "item height width"]) -> Float[Tensor, "item feature"]:
        """Embed every item."""
        check_items(items, self.item_shape)
        drawn = 1 - as_fractions(items, self.sizes.dtype)
        shades = (drawn * (_SHADES - 1)).round().long()
        figures, lines = self._apart(drawn, shades)
        form = (figures.form - self.usual[0]) / self.usual[1]
        there = figures.there[..., None]
        size = figures.size[..., None] * torch.exp(self.scale(form))
        near = torch.exp(-((size - self.sizes) / _WIDTH).square())
        of_figures = F.one_hot(figures.shade, _SHADES).to(drawn.dtype)
        of_lines = _counted(shades.flatten(1), lines.flatten(1), drawn.dtype)
        blocks = rearrange(lines, "b (r h) (c w) -> b (r c) (h w)", h=_BLOCK, w=_BLOCK)
        sets = [
            figures.there,
            blocks.any(2),
            (of_figures * there).amax(1),
            (near * there).amax(1),
            (self.kind(form).softmax(-1) * there).amax(1),
            of_lines >= _FEWEST_OF_LINE,
        ]
        return torch.cat([each.to(drawn.dtype) for each in sets], dim=1)

    def _apart(
        self,
        drawn: Float[Tensor, "item height width"],
        shades: Int64[Tensor, "item height width"],
    ) -> tuple[_Figures, Bool[Tensor, "item height width"]]:
        """The figures, and where lines are."""
        count = len(drawn) * self.cells**2
        pixels, thick = self._cut(shades), self._cut(_opened(drawn) > _FAINTEST)
        shade = _counted(pixels, thick, drawn.dtype).argmax(1)
        alike = pixels == shade[:, None]
        mask = alike & thick
        rows, columns = (
            mask.view(count, *self._cell_shape).any(axis).to(drawn.dtype) for axis in (2, 1)
        )
        (top, height), (left, width) = _box(rows), _box(columns)
        side = torch.maximum(height, width).clamp(min=1)
        sums = mask.to(drawn.dtype) @ self.powers
        area = sums[:, 0]
        x, y, xx, yy, xy = (sums[:, 1:] / area.clamp(min=1)[:, None]).unbind(1)
        there = (area >= _FEWEST_PIXELS) & (area >= _LEAST_SHARE * side**2)
        form = torch.stack(
            [
                area / side**2,
                width / side,
                height / side,
                (x - left) / side,
                (y - top) / side,
                (xx - x * x) / side**2,
                (yy - y * y) / side**2,
                (xy - x * y) / side**2,
            ],
            dim=1,
        )
        found = there.to(drawn.dtype)
        figures = _Figures(
            there=found,
            shade=shade,
            size=found * side / self._cell_shape[0],
            form=found[:, None] * form,
        )
        lines = (drawn > _FAINTEST) & ~self._put_back(alike & there[:, None])
        return _Figures(*(torch.unflatten(each, 0, (len(drawn), -1)) for each in figures)), lines

    @property
    def _cell_shape(self) -> tuple[int, int]:
        """Height and width of a cell in pixels."""
        height, width = ((side - 2 * self.margin) // self.cells for side in self.item_shape)
        return height, width

    def _cut(self, pixels: Shaped[Tensor, "item height width"]) -> Shaped[Tensor, "_ pixel"]:
        """The pixels of each cell, cell by cell."""
        margin = self.margin
        inner = pixels[
            :, margin : self.item_shape[0] - margin, margin : self.item_shape[1] - margin
        ]
        return rearrange(inner, "b (r h) (c w) -> (b r c) (h w)", r=self.cells, c=self.cells)

    def _put_back(self, cells: Bool[Tensor, "_ pixel"]) -> Bool[Tensor, "item height width"]:
        """The panels of these cells, with nothing in the margins."""
        inner = rearrange(
            cells,
            "(b r c) (h w) -> b (r h) (c w)",
            r=self.cells,
            c=self.cells,
            h=self._cell_shape[0],
        )
        return F.pad(inner, (self.margin,) * 4)

    def extra_repr(self) -> str:
        """The options, for `print`."""
        return f"item_shape={self.item_shape}, cells={self.cells}, margin={self.margin}"


def _centered(side: int) -> Tensor:
    """Coordinates of a cell's pixels, from its center."""
    return torch.arange(side) + 0.5 - side / 2


def _opened(drawn: Float[Tensor, "item height width"]) -> Float[Tensor, "item height width"]:
    """What is at least two pixels wide and high: the least of every 2×2, then the largest."""
    return _of_four(torch.maximum, F.pad(_of_four(torch.minimum, drawn), (1, 1, 1, 1)))


def _of_four(
    pick: Callable[[Tensor, Tensor], Tensor], pixels: Float[Tensor, "item _ _"]
) -> Float[Tensor, "item _ _"]:
    """One of the four pixels of every square."""
    pixels = pick(pixels[:, :-1], pixels[:, 1:])
    return pick(pixels[:, :, :-1], pixels[:, :, 1:])


def _counted(
    shades: Int64[Tensor, "item pixel"], there: Bool[Tensor, "item pixel"], dtype: torch.dtype
) -> Float[Tensor, "item shade"]:
    """The number of pixels of each shade, of those that are there."""
    nothing = torch.zeros(len(shades), _SHADES, dtype=dtype, device=shades.device)
    return nothing.scatter_add(1, shades, there.to(dtype))


def _box(
    lines: Float[Tensor, "item line"],
) -> tuple[Float[Tensor, " item"], Float[Tensor, " item"]]:
    """The middle of the lines that hold something, from that of the cell, and their extent."""
    side = lines.shape[1]
    up = torch.arange(1, side + 1, dtype=lines.dtype, device=lines.device)
    last, first = (lines * up).amax(1), side + 1 - (lines * up.flip(0)).amax(1)
    return (first + last - side - 1) / 2, last - first + 1
