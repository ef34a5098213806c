"""Images with a square in front of them."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import final

import torch

from farfield.analysis._attacks import Loss, Model
from farfield.core import Problems, Size, Stream, check_fields
from farfield.functional import as_fractions, square_mask
from farfield.tasks import Regime, axes_of


@final
@dataclass(frozen=True, kw_only=True)
class Occlusion:
    """One square in each image, around a pixel that is drawn evenly.

    Some of a square may lie outside the image. Within it each channel has its mean over all images
    that are changed together, which is what a zero is in standardized images. Images of uint8
    become fractions 0…1. Axes are as in `axes_of`.

    Args:
        size: Side of the square in pixels.
        of: Name of the regime whose problems are occluded.
        fill: What all numbers in the square are instead, e.g. 0 for black.

    Raises:
        ValueError: If a field is of another type, or the side below 1.

    Reference:
        lamb2022, section 10.4.4, as DeVries and Taylor 2017 cut squares out of training images.
    """

    size: Size
    of: str
    fill: float | None = None

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def regime(self) -> Regime:
        """The regime of occluded problems."""
        name = f"occlusion-{self.size}-{self.of}"
        return Regime(name=name, distance=self.size, unit="pixels of a side occluded")

    def __call__(self, model: Model, problems: Problems, loss: Loss, stream: Stream) -> Problems:
        """The occluded problems, each with items of its own.

        Args:
            model: Not used.
            problems: The problems.
            loss: Not used.
            stream: Source of the centers.

        Raises:
            ValueError: If the items are no images.
        """
        del model, loss
        problems = problems.unshared()
        items = as_fractions(problems.table())
        axes = axes_of(tuple(items.shape[1:]))
        if "height" not in axes:
            raise ValueError(
                f"items must be images to be occluded, got shape {(*items.shape[1:],)}"
            )
        height, width = (items.shape[1 + axes.index(side)] for side in ("height", "width"))
        drawn = stream.numpy().integers((height, width), size=(len(items), 2))
        covered = square_mask(torch.from_numpy(drawn).to(items.device), self.size, (height, width))
        if "channel" in axes:
            covered = covered.unsqueeze(1 + axes.index("channel"))
        flat = [0, *(1 + axes.index(side) for side in ("height", "width"))]
        fill = items.mean(flat, keepdim=True) if self.fill is None else items.new_tensor(self.fill)
        return dataclasses.replace(problems, items=torch.where(covered, fill, items))
