"""Adversarial training: the loss of problems that are moved against the network."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

from farfield.core import Problems, Stream
from farfield.core.internal import TRAINING, Checked, PositiveFloat, Size
from farfield.functional.internal import box_around, check_bounds
from farfield.objectives._objective import Objective, Tensors, Update


@final
@dataclass(frozen=True, kw_only=True)
class AdversarialTraining(Checked, Objective):
    r"""The task's loss of problems that are moved to where it is large.

    $$L = \frac{1}{B} \sum_b \ell(f(x_b^{(T)}), y_b), \qquad
      x^{(t + 1)} = \Pi\left(x^{(t)} + \alpha \operatorname{sign} \nabla_x \ell(f(x^{(t)}), y)
      \right)$$

    with $\Pi$ the nearest point of the box $|x - x_b| \leq \epsilon$ around the items, as far as it
    lies within the bounds. The first point is drawn from the box. No gradient passes to the moved
    items. Statistics of batch normalization are those of the moved problems.
    `farfield.analysis.PGD` measures a trained network under the same attack. A step costs `steps`
    steps of training more.

    Args:
        eps: Largest change of a number, in the unit of the items; pixels of bytes are 0…1.
        steps: Number $T$ of steps of the attack.
        step_size: Size $\alpha$ of a step, in the same unit.
        random_start: Whether the first point is drawn from the box; otherwise it is the item.
        bounds: Least and largest number of an item, e.g. `(0.0, 1.0)`; `None` for no bounds. Images
            of bytes stay within 0…1.

    Raises:
        ValueError: If a number is out of range.

    Reference:
        Madry et al. 2018, section 2.1; the defaults are those of its CIFAR-10.
    """

    eps: PositiveFloat = 8 / 255
    steps: Size = 7
    step_size: PositiveFloat = 2 / 255
    random_start: bool = True
    bounds: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_bounds(self.bounds)

    def draw(self, batches: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Draw the first point of the attack on every item of every problem, in −1…1.

        Args:
            batches: The batches.
            stream: Source of the points.
        """
        if not self.random_start:
            return {}
        problems = batches[TRAINING]
        shape = (*problems.index.shape, *problems.items.shape[1:])
        start = torch.rand(shape, generator=stream.torch()) * 2 - 1
        return {"start": start.to(problems.index.device)}

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """Compute the mean loss of the moved problems.

        Raises:
            ValueError: If the items are neither floating-point numbers nor bytes.
        """
        shown = update.problems.unshared()
        items, low, high = box_around(shown.table(), self.eps, self.bounds)
        fixed = update.network.fixed_tensors()

        def total(moved: Tensor) -> Tensor:
            given = {**fixed, **update.network.copied_buffers()}
            problems = dataclasses.replace(shown, items=moved)
            return update.task_loss(update.outputs(problems, given), problems).sum()

        moved = items
        if self.random_start:
            start = update.draws["start"].flatten(0, 1).to(items.dtype)
            moved = (items + self.eps * start).clamp(low, high)
        for _ in range(self.steps):
            slope = torch.func.grad(total)(moved).detach()
            moved = (moved + self.step_size * slope.sign()).clamp(low, high)
        problems = dataclasses.replace(shown, items=moved)
        return update.task_loss(update.outputs(problems), problems).mean(), update.state
