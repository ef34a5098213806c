"""The second derivative of a function whose first one is written by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor


def differentiable_gradients(
    plain: Callable[..., Tensor | tuple[Tensor, ...]],
    primals: Sequence[Tensor | None],
    gradients: Sequence[Tensor],
) -> list[Tensor | None]:
    """Differentiable gradients of those primals that require one.

    Args:
        plain: The function, of `primals`.
        primals: Where the gradients are taken; None for arguments left out.
        gradients: One for each of the function's results.
    """
    # One primal may be computed from another; views of them are not computed from each other.
    views = [None if tensor is None else tensor.view_as(tensor) for tensor in primals]
    wanted = {n: t for n, t in enumerate(views) if t is not None and t.requires_grad}
    found = torch.autograd.grad(
        plain(*views), list(wanted.values()), gradients, create_graph=True, allow_unused=True
    )
    by_number = dict(zip(wanted, found, strict=True))
    return [by_number.get(number) for number in range(len(primals))]
