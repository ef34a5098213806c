"""Deformations of images: rotations, shears and zooms."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from math import radians
from typing import Annotated, final

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from farfield.analysis._attacks import Loss, Model
from farfield.core import Limits, PositiveFloat, Problems, Stream, check_fields
from farfield.functional import as_fractions
from farfield.tasks import Regime, axes_of


@final
@dataclass(frozen=True, kw_only=True)
class Rotation:
    """Rotation of each image around its center, by an angle drawn uniformly to both sides.

    Numbers between pixels are interpolated bilinearly; outside an image there are zeros, black if
    it is not standardized. Images of uint8 become fractions 0…1. Axes are as in `axes_of`.

    Args:
        degrees: Largest angle to either side.
        of: Name of the regime whose problems are deformed.

    Raises:
        ValueError: If a field is of another type, or out of its range.

    Reference:
        lamb2022, Table 4.
    """

    degrees: Annotated[float, Limits(above=0, at_most=180)]
    of: str

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def regime(self) -> Regime:
        """The regime of rotated problems."""
        name = f"rotation-{self.degrees:g}-{self.of}"
        return Regime(name=name, distance=self.degrees, unit="degrees of rotation")

    def __call__(self, model: Model, problems: Problems, loss: Loss, stream: Stream) -> Problems:
        """The rotated problems, each with items of its own.

        Args:
            model: Not used.
            problems: The problems.
            loss: Not used.
            stream: Source of the angles.
        """
        del model, loss
        angle = _angles(self.degrees, problems, stream)
        cosine, sine = angle.cos(), angle.sin()
        return _sampled(problems, _matrices(cosine, -sine, sine, cosine))


@final
@dataclass(frozen=True, kw_only=True)
class Shear:
    """Horizontal shear of each image around its center, by an angle drawn uniformly to both sides.

    An upright line is tilted by the angle, so that a row moves by its height over the center times
    the tangent. Pixels and axes are as in `Rotation`.

    Args:
        degrees: Largest angle to either side.
        of: Name of the regime whose problems are deformed.

    Raises:
        ValueError: If a field is of another type, or out of its range.

    Reference:
        lamb2022, Table 4, whose angles are 0.5 and 1 in radians.
    """

    degrees: Annotated[float, Limits(above=0, below=90)]
    of: str

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def regime(self) -> Regime:
        """The regime of sheared problems."""
        name = f"shear-{self.degrees:g}-{self.of}"
        return Regime(name=name, distance=self.degrees, unit="degrees of shear")

    def __call__(self, model: Model, problems: Problems, loss: Loss, stream: Stream) -> Problems:
        """The sheared problems, each with items of its own.

        Args:
            model: Not used.
            problems: The problems.
            loss: Not used.
            stream: Source of the angles.
        """
        del model, loss
        slope = _angles(self.degrees, problems, stream).tan()
        one, zero = torch.ones_like(slope), torch.zeros_like(slope)
        return _sampled(problems, _matrices(one, slope, zero, one))


@final
@dataclass(frozen=True, kw_only=True)
class Zoom:
    """Zoom of every image into or out of its center, by one scale.

    The scale is the share of the side that is seen: at 0.6 the middle 60 % of the rows and columns
    fill the image (zoom in), at 1.4 the image is shrunk to 1/1.4 of its side (zoom out). Pixels and
    axes are as in `Rotation`.

    Args:
        scale: Side of the part that is seen, as a multiple of the side of the image.
        of: Name of the regime whose problems are deformed.

    Raises:
        ValueError: If a field is of another type, or out of its range.

    Reference:
        lamb2022, Table 4, where 60 % is "Zoom In" and 140 % is "Zoom Out".
    """

    scale: PositiveFloat
    of: str

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def regime(self) -> Regime:
        """The regime of zoomed problems, at the distance of what is cut off or added."""
        change = round(100 * abs(self.scale - 1), 9)
        unit = f"% of the side {'cut off' if self.scale < 1 else 'added'}"
        return Regime(name=f"zoom-{self.scale:g}-{self.of}", distance=change, unit=unit)

    def __call__(self, model: Model, problems: Problems, loss: Loss, stream: Stream) -> Problems:
        """The problems zoomed in or out, each with items of its own.

        Args:
            model: Not used.
            problems: The problems.
            loss: Not used.
            stream: Not used.
        """
        del model, loss, stream
        scale = torch.full((problems.index.numel(),), self.scale, dtype=torch.float64)
        zero = torch.zeros_like(scale)
        return _sampled(problems, _matrices(scale, zero, zero, scale))


def _angles(degrees: float, problems: Problems, stream: Stream) -> Float[Tensor, " item"]:
    """Angles in radians, one for each image of each problem."""
    largest = radians(degrees)
    return torch.from_numpy(stream.numpy().uniform(-largest, largest, problems.index.numel()))


def _matrices(xx: Tensor, xy: Tensor, yx: Tensor, yy: Tensor) -> Float[Tensor, "item 2 2"]:
    """A matrix for each image, from its entries."""
    return torch.stack([xx, xy, yx, yy], dim=-1).reshape(-1, 2, 2)


def _sampled(problems: Problems, matrix: Float[Tensor, "item 2 2"]) -> Problems:
    """The problems with every pixel taken from elsewhere in its image.

    Args:
        problems: Problems over images.
        matrix: For each image of each problem, from the position of a pixel to that from which its
            number is taken, both in pixels to the right of the center and below it.

    Raises:
        ValueError: If the items are no images.
    """
    problems = problems.unshared()
    items = as_fractions(problems.table())
    axes = axes_of(tuple(items.shape[1:]))
    if "height" not in axes:
        raise ValueError(f"items must be images to be deformed, got shape {(*items.shape[1:],)}")
    by_channel = items.unsqueeze(1) if "channel" not in axes else items
    last = axes[-1] == "channel"
    images = by_channel.movedim(-1, 1) if last else by_channel
    moved = F.grid_sample(images, _grid(images, matrix), align_corners=False)
    moved = moved.movedim(1, -1) if last else moved
    return dataclasses.replace(problems, items=moved.reshape(items.shape))


def _grid(
    images: Float[Tensor, "item channel height width"], matrix: Float[Tensor, "item 2 2"]
) -> Float[Tensor, "item height width 2"]:
    """Where each pixel is taken from, in halves of the sides."""
    height, width = images.shape[-2:]
    in_halves = matrix * matrix.new_tensor([[1, height / width], [width / height, 1]])
    linear = F.pad(in_halves, (0, 1)).to(images)
    return F.affine_grid(linear, list(images.shape), align_corners=False)
