"""Graded changes of images: light, detail, position, shape, color."""

from __future__ import annotations

from collections.abc import Callable
from math import radians, sqrt
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter
from torch import Tensor
from torch.nn import functional as F

from farfield.analysis._perturbations import _grid, _matrices
from farfield.analysis._shifts._items import Items
from farfield.analysis._shifts._shift import Change, Group, Shift
from farfield.functional.internal import square_mask

Images = Float[Tensor, "item channel height width"]
Draw = np.random.Generator

LUMA = (0.299, 0.587, 0.114)
"""Weights of red, green and blue in the luma of a pixel."""


def image_shifts(items: Items) -> list[Shift]:
    """Return the shifts that images of this range and size can have.

    Args:
        items: Range, axes and size of the images.
    """
    return [*_of_light(items), *_of_detail(items), *_of_shape(items), *_of_color(items)]


def _shift(
    items: Items, name: str, unit: str, end: float, group: Group, change: Any, snap: Any = None
) -> Shift:
    """Make a shift from a change of images with their channels first."""
    changed = _on_images(items, change)
    return Shift(name=name, unit=unit, end=end, group=group, change=changed, snap=snap)


def _of_light(items: Items) -> list[Shift]:
    """Return shifts of brightness and contrast; only floats can leave the range."""
    low, high = items.low, items.high
    span = high - low
    changes: list[tuple[str, str, float, Any]] = [
        ("brightness+", "of the range", 1, lambda x, d, _: (x + d * span).clamp(low, high)),
        ("brightness-", "of the range", 1, lambda x, d, _: (x - d * span).clamp(low, high)),
        ("contrast-", "lost", 1, _flatter),
    ]
    if not items.is_whole:
        changes += [
            ("offset+", "of the range", 3, lambda x, d, _: x + d * span),
            ("offset-", "of the range", 3, lambda x, d, _: x - d * span),
            ("scale+", "doublings", 4, lambda x, d, _: x * 2**d),
            ("scale-", "doublings", 4, lambda x, d, _: x * 2**-d),
        ]
    return [_shift(items, name, unit, end, "light", change) for name, unit, end, change in changes]


def _of_detail(items: Items) -> list[Shift]:
    """Return shifts that hide details."""
    height, width = _sides(items)
    side = min(height, width)
    low, high = items.low, items.high

    def blurred(x: Images, d: float, _: Draw) -> Images:
        return torch.from_numpy(gaussian_filter(x.numpy(), (0, 0, d * side, d * side)))

    def noisy(x: Images, d: float, g: Draw) -> Images:
        noise = torch.from_numpy(g.standard_normal(x.shape, np.float32))
        return (x + d * (high - low) * noise).clamp(low, high)

    def coarser(x: Images, d: float, _: Draw) -> Images:
        small = F.interpolate(x, _coarse((height, width), d), mode="area")
        return F.interpolate(small, (height, width), mode="bilinear", align_corners=False)

    def square(d: float) -> int:
        return min(side, round(sqrt(d * height * width)))

    return [
        _shift(items, "noise", "of the range", 1, "detail", noisy),
        _shift(items, "blur", "of the side", 0.3, "detail", blurred),
        _shift(
            items, "resolution", "coarser", min(7, side - 1), "detail", coarser,
            lambda d: side / _coarse((side, side), d)[0] - 1,
        ),
        _shift(
            items, "occlusion", "of the area", 0.9, "detail",
            lambda x, d, g: _occluded(x, square(d), g),
            lambda d: square(d) ** 2 / (height * width),
        ),
    ]  # fmt: skip


def _of_shape(items: Items) -> list[Shift]:
    """Return shifts of position and shape."""
    return [
        _shift(items, "shift", "of the side", 0.5, "where", _shifted),
        _shift(items, "rotation", "degrees", 180, "shape", _rotated),
        _shift(items, "shear", "degrees", 70, "shape", _sheared),
        _shift(items, "smaller", "factor 1 + d", 2, "shape", lambda x, d, _: _zoomed(x, 1 + d)),
        _shift(
            items, "larger", "factor 1 + d", 2, "shape", lambda x, d, _: _zoomed(x, 1 / (1 + d))
        ),
    ]


def _of_color(items: Items) -> list[Shift]:
    """Return shifts of the colors of images with red, green and blue."""
    if "channel" not in items.axes or items.shape[items.axes.index("channel")] != 3:
        return []

    def turned(x: Images, d: float, _: Draw) -> Images:
        return _hue(x, d).clamp(items.low, items.high)

    return [
        _shift(items, "color", "of gray", 1, "light", _grayer),
        _shift(items, "hue", "degrees", 180, "light", turned),
    ]


def _sides(items: Items) -> tuple[int, int]:
    return items.shape[items.axes.index("height")], items.shape[items.axes.index("width")]


def _on_images(items: Items, change: Callable[[Images, float, Draw], Images]) -> Change:
    """Wrap a change so that it gets channels first and float32, and gives axes and type back."""
    order = [items.axes.index(one) for one in ("channel", "height", "width") if one in items.axes]
    back = np.argsort(order)

    def changed(x: NDArray[Any], strength: float, generator: Draw) -> NDArray[Any]:
        given = np.transpose(x, (0, *(1 + axis for axis in order)))
        images = given if len(order) == 3 else given[:, np.newaxis]
        found = change(torch.tensor(images, dtype=torch.float32), strength, generator).numpy()
        found = found if len(order) == 3 else found[:, 0]
        found = np.transpose(found, (0, *(1 + axis for axis in back)))
        if items.is_whole:
            found = found.round().clip(items.low, items.high)
        return np.ascontiguousarray(found.astype(x.dtype))

    return changed


def _flatter(x: Images, d: float, _: Draw) -> Images:
    mean = x.mean((1, 2, 3), keepdim=True)
    return mean + (1 - d) * (x - mean)


def _coarse(sides: tuple[int, int], d: float) -> tuple[int, int]:
    """Return the sides of a coarser image, in whole pixels."""
    height, width = (max(1, round(side / (1 + d))) for side in sides)
    return height, width


def _moved(x: Images, matrix: Tensor, offset: Tensor | None = None) -> Images:
    """Sample each pixel from elsewhere in its image; outside there is the median of the corners.

    Args:
        x: The images.
        matrix: For each image, from the position of a pixel to the position that is sampled, both
            in pixels from the center.
        offset: Pixels to the right and below, added to that position.
    """
    corners = x[:, :, [0, 0, -1, -1], [0, -1, 0, -1]]
    border = corners.sort(-1).values[..., 1:3].mean(-1)[..., None, None]
    grid = _grid(x, matrix)
    if offset is not None:
        sides = torch.tensor([x.shape[-1], x.shape[-2]])
        grid = grid + (2 * offset / sides)[:, None, None].to(grid)
    return border + F.grid_sample(x - border, grid, align_corners=False)


def _shifted(x: Images, d: float, g: Draw) -> Images:
    angle = torch.from_numpy(g.uniform(0, 2 * np.pi, len(x)))
    pixels = d * min(x.shape[-2:]) * torch.stack([angle.cos(), angle.sin()], -1)
    return _moved(x, torch.eye(2).expand(len(x), 2, 2), pixels)


def _signs(x: Images, g: Draw) -> Tensor:
    return torch.from_numpy(g.integers(0, 2, len(x)) * 2.0 - 1)


def _rotated(x: Images, d: float, g: Draw) -> Images:
    angle = radians(d) * _signs(x, g)
    cosine, sine = angle.cos(), angle.sin()
    return _moved(x, _matrices(cosine, -sine, sine, cosine))


def _sheared(x: Images, d: float, g: Draw) -> Images:
    slope = (radians(d) * _signs(x, g)).tan()
    one, zero = torch.ones_like(slope), torch.zeros_like(slope)
    return _moved(x, _matrices(one, slope, zero, one))


def _zoomed(x: Images, scale: float) -> Images:
    """Show a part of each image whose side is `scale` times the side of the image."""
    return _moved(x, scale * torch.eye(2).expand(len(x), 2, 2))


def _occluded(x: Images, size: int, g: Draw) -> Images:
    """Cover one square inside each image with the mean color of all images."""
    height, width = x.shape[-2:]
    at = g.random((len(x), 2)) * (height - size + 1, width - size + 1)
    center = torch.from_numpy(at.astype(int)) + size // 2
    covered = square_mask(center, size, (height, width))[:, None]
    return torch.where(covered, x.mean((0, 2, 3), keepdim=True), x)


def _grayer(x: Images, d: float, _: Draw) -> Images:
    luma = torch.einsum("nchw,c->nhw", x, torch.tensor(LUMA))[:, None]
    return (1 - d) * x + d * luma


def _hue(x: Images, degrees: float) -> Images:
    """Rotate colors around the gray axis (Rodrigues' formula)."""
    angle = torch.tensor(radians(degrees))
    cross = torch.tensor([[0.0, -1, 1], [1, 0, -1], [-1, 1, 0]]) / sqrt(3)
    turn = angle.cos() * torch.eye(3) + (1 - angle.cos()) / 3 + angle.sin() * cross
    return torch.einsum("ij,njhw->nihw", turn, x)
