"""The second derivative of a function whose first one is written by hand.

Two ways, for the two ways of writing the first one: a function of its own whose backward is
`gradient_of_gradient`, or a backward that gives `differentiable_gradients` when it is asked to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

Gradients = tuple[Tensor | None, ...]


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


def gradient_of_gradient(
    plain: Callable[..., Tensor],
    primals: Sequence[Tensor | None],
    gradient: Tensor,
    upstream: Sequence[Tensor | None],
) -> Gradients:
    """Pull a cotangent back through the gradient of `plain`.

    A gradient written by hand knows nothing of its own derivative. Rather than a wrong one it
    gives this, which torch derives from the plain formulation.

    Args:
        plain: The function, of `primals`.
        primals: Where the gradient was taken; None for arguments left out.
        gradient: Gradient of the function's result that was pulled back.
        upstream: Gradients of what the pull back gave, one for each primal; None is zero.

    Returns:
        Gradients of `gradient` and of each primal, None for those left out.
    """
    present = [number for number, primal in enumerate(primals) if primal is not None]
    given = [primal for primal in primals if primal is not None]

    def pulled_back(outer: Tensor, *tensors: Tensor) -> tuple[Tensor, ...]:
        def function(*inner: Tensor) -> Tensor:
            arguments = dict(zip(present, inner, strict=True))
            return plain(*(arguments.get(number) for number in range(len(primals))))

        return torch.func.vjp(function, *tensors)[1](outer)

    # The type of vjp leaves open whether it returns two things or, with has_aux, three.
    results, pull = torch.func.vjp(pulled_back, gradient, *given)  # type: ignore[misc]
    wanted = (upstream[number] for number in present)
    cotangents = tuple(
        torch.zeros_like(result) if cotangent is None else cotangent
        for result, cotangent in zip(results, wanted, strict=True)
    )
    first, *rest = pull(cotangents)
    found = dict(zip(present, rest, strict=True))
    return (first, *(found.get(number) for number in range(len(primals))))
