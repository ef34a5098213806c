"""Learning on images that are shifted and mirrored at random."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor
from torch.nn import functional as F

from farfield.core import NonNegativeInt, Problems, Stream, check_fields
from farfield.objectives._bound import Bound
from farfield.objectives._objective import Objective, Tensors, Update
from farfield.objectives._supervised import Supervised


@final
@dataclass(frozen=True, kw_only=True)
class CropAndFlip(Objective):
    r"""Another learning rule, on images that are shifted and mirrored at random.

    Every image gets a border of zeros, of which a window of its size is cut out at a place drawn
    evenly, and is then mirrored left to right with probability ½: drawn anew for every problem of
    every batch that the rule reads, and the same for all images of a problem. Bytes stay bytes. A
    rule that compares two answers to the same problems, such as `PiModel`, compares those to two
    draws.

    Args:
        objective: The learning rule.
        padding: Width of the border in pixels.
        flip: Whether images are mirrored.

    Raises:
        ValueError: If the width is negative.

    Reference:
        lamb2022, section 6.3.1, for CIFAR-10; for SVHN `flip=False`. The released code of ICT shows
        the same draws of labelled images again and again within a pass over the others, which is
        not followed.
    """

    objective: Objective = Supervised()
    padding: NonNegativeInt = 2
    flip: bool = True

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def sets(self) -> tuple[str, ...]:
        """Names of the sets of problems from which a step reads batches."""
        return self.objective.sets

    def start(self, network: Bound, sets: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Tensors that the rule remembers from the start.

        Args:
            network: The network before its first step.
            sets: Whole sets of problems, by name.
            stream: Source of random numbers.
        """
        return self.objective.start(network, sets, stream)

    def draw(self, batches: Mapping[str, Problems], stream: Stream) -> Tensors:
        """The images as they are shown, and what the rule draws.

        Args:
            batches: Batches over images of `(item, *, height, width)`.
            stream: Source of random numbers.

        Raises:
            ValueError: If the items are no images.
        """
        views = {
            view: {name: self._changed(batches[name], stream.child(view, name)) for name in names}
            for view, names in (("first", self.sets), ("second", self.objective.second_views))
        }
        images = {
            f"{view}.{name}": items for view, each in views.items() for name, items in each.items()
        }
        shown = {name: batches[name].with_items(views["first"][name]) for name in self.sets}
        drawn = self.objective.draw(shown, stream.child("objective"))
        return {**images, **{f"objective.{name}": tensor for name, tensor in drawn.items()}}

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """The loss of the rule on changed images.

        Args:
            update: The step.
        """
        parts: dict[str, dict[str, Tensor]] = {"first": {}, "second": {}, "objective": {}}
        for name, tensor in update.draws.items():
            part, _, rest = name.partition(".")
            parts[part][rest] = tensor
        first, second = (
            {name: update.batches[name].with_items(items) for name, items in parts[view].items()}
            for view in ("first", "second")
        )
        return self.objective.loss(
            dataclasses.replace(
                update, batches=first, second_views=second, draws=parts["objective"]
            )
        )

    def after(self, state: Tensors, parameters: Tensors, progress: float) -> Tensors:
        """Tensors that the rule remembers after the parameters have changed.

        Args:
            state: Tensors that `loss` returned.
            parameters: Parameters after the step, by name.
            progress: Fraction of the steps that are done.
        """
        return self.objective.after(state, parameters, progress)

    def scored(self, state: Tensors) -> Tensors:
        """Parameters and buffers with which the rule wants the network to be scored.

        Args:
            state: Tensors that the rule remembers.
        """
        return self.objective.scored(state)

    def _changed(self, problems: Problems, stream: Stream) -> Tensor:
        """The images of every position of every problem, shifted and mirrored."""
        images = problems.unshared().table()
        if images.ndim < 3:
            raise ValueError(
                f"items must be images of (item, *, height, width), got {tuple(images.shape)}"
            )
        generator, (size, time) = stream.numpy(), problems.index.shape
        shift = generator.integers(2 * self.padding + 1, size=(2, size, 1)).repeat(time, axis=2)
        mirrored = (generator.random((size, 1)) < 0.5 * self.flip).repeat(time, axis=1)
        rows, columns = (torch.from_numpy(each.flatten()).to(images.device) for each in shift)
        flips = torch.from_numpy(mirrored.flatten()).to(images.device)
        return crop_and_flip(images, rows, columns, flips, padding=self.padding)


def crop_and_flip(
    images: Tensor, rows: Tensor, columns: Tensor, flips: Tensor, *, padding: int
) -> Tensor:
    """Images of a border and the images in it, of the size of the images.

    Args:
        images: `(image, *, height, width)`.
        rows: Rows above each window, `(image,)`.
        columns: Columns left of each window, `(image,)`.
        flips: True for a window that is mirrored left to right, `(image,)`.
        padding: Width of the border, in pixels of zero.
    """
    height, width = images.shape[-2:]
    padded = F.pad(images, (padding,) * 4)
    down, across = (torch.arange(size, device=images.device) for size in (height, width))
    across = torch.where(flips[:, None], across.flip(0), across)
    pixels = (rows[:, None] + down)[:, :, None] * padded.shape[-1]
    pixels = pixels + (columns[:, None] + across)[:, None, :]
    flat = padded.reshape(len(images), -1, padded.shape[-2] * padded.shape[-1])
    every = pixels.reshape(len(images), 1, -1).expand(-1, flat.shape[1], -1)
    return flat.gather(2, every).reshape(images.shape)
