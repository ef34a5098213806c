"""Supervised learning on images that are changed at random."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, final

import torch
from torch import Tensor
from torch.nn import functional as F

from farfield.core import Problems, Stream, tap_layers
from farfield.core.internal import (
    TRAINING,
    Checked,
    Depth,
    Limits,
    NonNegativeInt,
    Size,
    check_fields,
)
from farfield.functional.internal import square_mask
from farfield.objectives._objective import Bound, Objective, Tensors, Update
from farfield.objectives._over_another import RuleOverRule
from farfield.objectives._pillow_operations import change_images
from farfield.objectives._rand_augment import STRONGEST, rand_augmented


@final
@dataclass(frozen=True, kw_only=True)
class CropAndFlip(RuleOverRule):
    r"""Another learning rule, on images that are shifted and mirrored at random.

    Every image gets a border of zeros, of which a window of its size is cut out at a random
    position, and is then mirrored left to right with probability ½: drawn anew for every problem of
    every batch that the rule reads, and the same for all images of a problem. Bytes stay bytes. A
    rule that compares two answers to the same problems, such as `PiModel`, compares the answers to
    two draws.

    Args:
        objective: The learning rule.
        padding: Width of the border in pixels.
        flip: Whether images are mirrored.

    Raises:
        ValueError: If the width is negative.

    Reference:
        lamb2022, section 6.3.1, for CIFAR-10; for SVHN `flip=False`. The released code of ICT shows
        the same draws of labeled images again and again within a pass over the others, which is
        not followed.
    """

    padding: NonNegativeInt = 2
    flip: bool = True

    def start(self, network: Bound, sets: Mapping[str, Problems], stream: Stream) -> Tensors:
        """List the tensors that the rule remembers from the start."""
        return self.objective.start(network, sets, stream)

    def draw(self, batches: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Change the images, and draw for the rule.

        Args:
            batches: Batches over images of `(item, *, height, width)`.

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
        """Compute the loss of the rule on changed images."""
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
        """List the tensors that the rule remembers after the parameters have changed.

        Args:
            state: Tensors that `loss` returned.
            parameters: Parameters after the step, by name.
            progress: Fraction of the steps that are done.
        """
        return self.objective.after(state, parameters, progress)

    def evaluated(self, state: Tensors, loss: float) -> Tensors:
        """List the tensors that the rule remembers after an evaluation.

        Args:
            state: Tensors to remember after a step.
            loss: Mean loss of the trained network on the set that `validates` names.
        """
        return self.objective.evaluated(state, loss)

    def scored(self, state: Tensors) -> Tensors:
        """List the parameters and buffers with which the rule wants the network to be scored.

        Args:
            state: Tensors that the rule remembers.
        """
        return self.objective.scored(state)

    def _changed(self, problems: Problems, stream: Stream) -> Tensor:
        """Shift and mirror the images of every position of every problem."""
        return shift_and_flip(problems, stream, padding=self.padding, flip=self.flip)


def shift_and_flip(
    problems: Problems, stream: Stream, *, padding: int, flip: bool, reflect: bool = False
) -> Tensor:
    """Shift and mirror images at random, all of a problem alike, `(batch · time, *, …)`.

    Args:
        problems: A batch over images of `(item, *, height, width)`.
        stream: Source of the shifts and of the problems that are mirrored.
        padding: Largest shift in pixels.
        flip: Whether images are mirrored.
        reflect: Whether the border of images mirrors their pixels; otherwise it is zero.

    Raises:
        ValueError: If the items are no images.
    """
    images = problems.unshared().table()
    if images.ndim < 3:
        raise ValueError(
            f"items must be images of (item, *, height, width), got {tuple(images.shape)}"
        )
    generator, (size, time) = stream.numpy(), problems.index.shape
    shift = generator.integers(2 * padding + 1, size=(2, size, 1)).repeat(time, axis=2)
    mirrored = (generator.random((size, 1)) < 0.5 * flip).repeat(time, axis=1)
    rows, columns = (torch.from_numpy(each.flatten()).to(images.device) for each in shift)
    flips = torch.from_numpy(mirrored.flatten()).to(images.device)
    return crop_and_flip(images, rows, columns, flips, padding=padding, reflect=reflect)


def crop_and_flip(
    images: Tensor,
    rows: Tensor,
    columns: Tensor,
    flips: Tensor,
    *,
    padding: int,
    reflect: bool = False,
) -> Tensor:
    """Draw windows of the images in a border, of the size of the images.

    Args:
        images: `(image, *, height, width)`.
        rows: Rows above each window, `(image,)`.
        columns: Columns left of each window, `(image,)`.
        flips: True for a window that is mirrored left to right, `(image,)`.
        padding: Width of the border, in pixels; below the side of the image where it mirrors.
        reflect: Whether the border mirrors the pixels of the image; otherwise it is zero.
    """
    height, width = images.shape[-2:]
    down, across = (torch.arange(size, device=images.device) for size in (height, width))
    across = torch.where(flips[:, None], across.flip(0), across)
    down, across = rows[:, None] + down, columns[:, None] + across
    if reflect:
        padded = images
        down, across = (
            last - (last - (at - padding).abs()).abs()
            for at, last in ((down, height - 1), (across, width - 1))
        )
    else:
        padded = F.pad(images, (padding,) * 4)
    pixels = down[:, :, None] * padded.shape[-1] + across[:, None, :]
    flat = padded.reshape(len(images), -1, padded.shape[-2] * padded.shape[-1])
    every = pixels.reshape(len(images), 1, -1).expand(-1, flat.shape[1], -1)
    return flat.gather(2, every).reshape(images.shape)


@final
@dataclass(frozen=True, kw_only=True)
class Cutout(Checked, Objective):
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

    def draw(self, batches: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Draw row and column of the center of each square.

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
        """Compute the mean loss on the images without the squares."""
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


@final
@dataclass(frozen=True, kw_only=True)
class Augmented(Objective):
    r"""The mean of the task's loss over the batch, with every image changed at random.

    $$L = \frac{1}{B} \sum_b \ell(f(a_b(x_b)), y_b)$$

    with $\ell$ the loss of the task, $f$ the model and $a_b$ some operations one after the other,
    drawn for each image from fourteen that are equally likely: identity, auto-contrast, equalize,
    rotate, posterize, solarize, color, contrast, brightness, sharpness, shear and translate along
    either axis (RandAugment, Cubuk et al. 2020). Each distinct image of a batch is changed once.
    Items are images in color; those of bytes stay bytes, and numbers of 0…1 are rounded to bytes.

    With $s$ = `magnitude` / 30 and a sign that is drawn for each image and operation, the
    operations are Pillow's: `rotate` by ±30 $s$ degrees; `posterize` to 8 − 4 $s$ bits; `solarize`
    from a level of 256 (1 − $s$); `color`, `contrast`, `brightness` and `sharpness` by factors of
    1 ± 0.9 $s$; shear by ±0.3 $s$; translate by ±150/331 $s$ of the side. Bits, levels and pixels
    of a translation are rounded; pixels from outside an image are black. No operation is weaker at
    a larger magnitude.

    Args:
        operations: Number of operations on each image.
        magnitude: Strength of the operations, 0…30; 30 is the end of the published ranges.
        kornia_operations: Whether the operations are those of kornia
            (`pip install 'farfield[vision]'`), as in the recorded networks of gondal2021. There
            the magnitude is a position in kornia's ranges, not a strength: color, contrast,
            brightness and sharpness change nothing at 15, go down below and up above, and solarize
            is weaker at a larger magnitude.

    Raises:
        ValueError: If no operation is given, or the magnitude is out of range.

    Reference:
        gondal2021, section 4.2, which says neither how many operations nor how strong; the
        defaults are those for ImageNet of Cubuk et al. 2020. The ranges are those of Table 6 of
        Cubuk et al. 2019.
    """

    operations: Depth = 2
    magnitude: Annotated[float, Limits(at_least=0, at_most=STRONGEST)] = 9.0
    kornia_operations: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
        if self.kornia_operations and self.magnitude in (0, STRONGEST):
            raise ValueError(
                "magnitude must be above 0 and below 30 with kornia_operations, "
                f"got {self.magnitude:g}"
            )

    def draw(self, batches: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Change the images of the batch.

        Args:
            batches: The batch of training problems, over images of `(item, 3, height, width)`:
                bytes, or floating-point numbers of 0…1.
            stream: Source of the operations and of their signs.

        Raises:
            ValueError: If the items are no such images.
            ModuleNotFoundError: If the operations are those of kornia, which is not installed.
        """
        images = batches[TRAINING].table()
        change = rand_augmented if self.kornia_operations else change_images
        changed = change(
            images, operations=self.operations, magnitude=self.magnitude, stream=stream
        )
        return {"items": changed}

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """Compute the mean loss on changed images."""
        changed = dataclasses.replace(update.problems, items=update.draws["items"])
        return update.task_loss(update.outputs(changed), changed).mean(), update.state
