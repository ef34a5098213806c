"""Attacks by steps along the sign of the gradient: FGSM and PGD."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

from farfield.core import PositiveFloat, Problems, Size, Stream, check_fields
from farfield.functional import as_fractions
from farfield.tasks import Regime

Model = Callable[[Tensor, Tensor], Tensor]
"""Function from `(items, index)` to outputs."""

Loss = Callable[[Tensor, Problems], Tensor]
"""Loss of a task, one number per problem."""


@final
@dataclass(frozen=True, kw_only=True)
class FGSM:
    r"""Step of the items along the sign of the loss gradient, of one size for all numbers.

    $$x' = \operatorname{clip}\left(x + \epsilon \operatorname{sign} \nabla_x \ell(f(x), y)\right)$$

    Images of uint8 are taken as fractions 0…1, and stay within them.

    Args:
        eps: Size of the step, in the unit of the items (of images, a fraction of full intensity).
        of: Name of the regime whose problems are attacked.
        bounds: Least and largest number of an item, e.g. `(0.0, 1.0)`; `None` for no bounds.

    Raises:
        ValueError: If a field is of another type, or out of its range.

    Reference:
        Goodfellow et al. 2015; lamb2022, section 4.5.3.
    """

    eps: PositiveFloat
    of: str
    bounds: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def regime(self) -> Regime:
        """The regime of attacked problems."""
        return Regime(name=f"fgsm-{self.eps:g}-{self.of}", distance=self.eps, unit="ε")

    def __call__(self, model: Model, problems: Problems, loss: Loss, stream: Stream) -> Problems:
        """The attacked problems, each with items of its own.

        Args:
            model: The network that is attacked.
            problems: The problems.
            loss: Loss of the task, one number per problem.
            stream: Not used.
        """
        del stream
        attacked, box = _start(problems, self.eps, self.bounds)
        return _step(model, attacked, loss, self.eps, box)


@final
@dataclass(frozen=True, kw_only=True)
class PGD:
    r"""Projected gradient descent: steps along the sign of the loss gradient within a box.

    $$x_{t + 1} = \Pi\left(x_t + \alpha \operatorname{sign} \nabla_x \ell(f(x_t), y)\right)$$

    with $\Pi$ the nearest point of the box $|x - x_0| \leq \epsilon$, as far as it lies within the
    bounds. `FGSM` is one step of size ε from $x_0$.

    An attack without a bound, with ε as large as the range of the items and hundreds of steps from
    $x_0$, is a check for masked gradients: it brings a network whose gradients can be trusted to an
    accuracy near 0. Images of uint8 are taken as fractions 0…1, and stay within them.

    Args:
        eps: Largest change of a number, in the unit of the items.
        steps: Number of steps.
        step_size: Size $\alpha$ of a step, in the same unit.
        of: Name of the regime whose problems are attacked.
        random_start: Whether the first point is drawn from the box; otherwise it is $x_0$.
        bounds: Least and largest number of an item, e.g. `(0.0, 1.0)`; `None` for no bounds.

    Raises:
        ValueError: If a field is of another type, or out of its range.

    Reference:
        Madry et al. 2018; Athalye et al. 2018, section 3.1, for the check; lamb2022, section
        4.5.3. The released code has neither a projection nor a random start.
    """

    eps: PositiveFloat
    steps: Size
    step_size: PositiveFloat
    of: str
    random_start: bool = True
    bounds: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def regime(self) -> Regime:
        """The regime of attacked problems."""
        name = f"pgd-{self.steps}-{self.eps:g}-{self.of}"
        return Regime(name=name, distance=self.eps, unit="ε")

    def __call__(self, model: Model, problems: Problems, loss: Loss, stream: Stream) -> Problems:
        """The attacked problems, each with items of its own.

        Args:
            model: The network that is attacked.
            problems: The problems.
            loss: Loss of the task, one number per problem.
            stream: Source of the first points.
        """
        attacked, box = _start(problems, self.eps, self.bounds)
        if self.random_start:
            items = attacked.table()
            shift = torch.rand(items.shape, generator=stream.torch()).to(items) * 2 - 1
            moved = (items + self.eps * shift).clamp(*box)
            attacked = dataclasses.replace(attacked, items=moved)
        for _ in range(self.steps):
            attacked = _step(model, attacked, loss, self.step_size, box)
        return attacked


def _start(
    problems: Problems, eps: float, bounds: tuple[float, float] | None
) -> tuple[Problems, tuple[Tensor, Tensor]]:
    """Problems with items of their own as numbers, and the least and largest that they may be."""
    problems = problems.unshared()
    items = problems.table()
    if items.dtype == torch.uint8:
        bounds = (0.0, 1.0)
    items = as_fractions(items)
    box = (items - eps, items + eps)
    if bounds is not None:
        box = (box[0].clamp(*bounds), box[1].clamp(*bounds))
    return dataclasses.replace(problems, items=items), box


def _step(
    model: Model, problems: Problems, loss: Loss, size: float, box: tuple[Tensor, Tensor]
) -> Problems:
    """The problems one step on along the sign of the gradient, within the box."""
    with torch.enable_grad():
        items = problems.table().detach().requires_grad_()
        shown = dataclasses.replace(problems, items=items)
        total = loss(model(items, problems.index), shown).sum()
        (slope,) = torch.autograd.grad(total, items)
    moved = (items.detach() + size * slope.sign()).clamp(*box)
    return dataclasses.replace(problems, items=moved)
