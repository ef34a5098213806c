"""The fast gradient sign method."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

from farfield.core import PositiveFloat, Problems, Stream, check_fields
from farfield.tasks import Regime


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
        Goodfellow et al. 2015.
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

    def __call__(
        self,
        model: Callable[[Tensor, Tensor], Tensor],
        problems: Problems,
        loss: Callable[[Tensor, Problems], Tensor],
        stream: Stream,
    ) -> Problems:
        """The attacked problems, each with items of its own.

        Args:
            model: The network that is attacked.
            problems: The problems.
            loss: Loss of the task, one number per problem.
            stream: Not used.
        """
        del stream
        problems, bounds = problems.unshared(), self.bounds
        items = problems.table()
        if items.dtype == torch.uint8:
            items, bounds = items / 255, (0.0, 1.0)
        with torch.enable_grad():
            items = items.detach().requires_grad_()
            shown = dataclasses.replace(problems, items=items)
            total = loss(model(items, problems.index), shown).sum()
            (slope,) = torch.autograd.grad(total, items)
        moved = items.detach() + self.eps * slope.sign()
        moved = moved if bounds is None else moved.clamp(*bounds)
        return dataclasses.replace(problems, items=moved)
