"""Supervised learning on images with a square cut out."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

from farfield.core import TRAINING, Problems, Size, Stream, check_fields, tap_layers
from farfield.functional import square_mask
from farfield.objectives._objective import Objective, Tensors, Update


@final
@dataclass(frozen=True, kw_only=True)
class Cutout(Objective):
    r"""The mean of the task's loss over the batch, with a square of every image set to zero.

    $$L = \frac{1}{B} \sum_b \ell(f(m_b \odot x_b), y_b)$$

    with $\ell$ the loss of the task, $f$ the model and $m_b$ zero in a square and one elsewhere.
    The center of each square is any pixel of the image, drawn evenly, so that some of a square may
    lie outside. Zero is the mean of standardized images, and black of others.

    Args:
        size: Side of the square in pixels.
        layer: Name of a layer whose outputs are cut in place of the items, and have their shape: a
            standardization in front of the others. `None` for the items.

    Raises:
        ValueError: If the side is below 1.

    Reference:
        DeVries and Taylor 2017; a rival in lamb2022, section 4.5.1. The default is that for
        CIFAR-10.
    """

    size: Size = 16
    layer: str | None = None

    def __post_init__(self) -> None:
        check_fields(self)

    def draw(self, batches: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Row and column of the center of each square.

        Args:
            batches: The batch of training problems, over images of `(item, *, height, width)`.
            stream: Source of the centers.

        Raises:
            ValueError: If the items are no images.
        """
        problems = batches[TRAINING]
        shape = problems.items.shape
        if len(shape) < 3:
            raise ValueError(f"items must be images of (item, *, height, width), got {(*shape,)}")
        centers = stream.numpy().integers(shape[-2:], size=(*problems.index.shape, 2))
        return {"center": torch.from_numpy(centers).to(problems.index.device)}

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """The mean loss on what is left of the images.

        Args:
            update: The step.
        """
        shown = update.problems.unshared()
        items = shown.table()
        center = update.draws["center"].flatten(0, 1)
        cut = square_mask(center, self.size, (items.shape[-2], items.shape[-1]))
        cut = cut.reshape(len(cut), *(1,) * (items.ndim - 3), *cut.shape[1:])

        def left(x: Tensor) -> Tensor:
            return torch.where(cut, torch.zeros_like(x), x)

        if self.layer is None:
            shown = dataclasses.replace(shown, items=left(items))
        with tap_layers(update.network.module, {} if self.layer is None else {self.layer: left}):
            outputs = update.outputs(shown)
        return update.task_loss(outputs, shown).mean(), update.state
