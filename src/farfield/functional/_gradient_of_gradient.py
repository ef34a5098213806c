"""The second derivative of a function whose first one is written by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

Gradients = tuple[Tensor | None, ...]


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
