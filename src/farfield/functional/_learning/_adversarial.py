"""Directions in which a small change of the items changes the answers most."""

from __future__ import annotations

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from farfield.core.internal import Depth, PositiveFloat, call_with, check_arguments
from farfield.functional._learning._consistency import kl_divergence, log_probabilities
from farfield.functional._learning._losses import Reduction, reduce


def adversarial_direction(
    divergence: Callable[[Tensor], Tensor], direction: Tensor, *, step: float, iterations: int
) -> Tensor:
    """Find the direction of each problem in which a divergence grows most.

    Args:
        divergence: Function from changes of the items to a number, which is least at 0.
        direction: First direction of each problem, `(batch, *)`, of any length.
        step: Length of the change at which the gradient is taken.
        iterations: Number of improvements.

    Returns:
        Directions of length 1, without gradient.
    """
    direction = _unit(direction)
    # Rounding errors of answers count 1 / step times in the gradient, also between seeds that
    # train together and alone.
    for _ in range(iterations):
        gradient = torch.func.grad(divergence)(step * direction)
        direction = _unit(gradient.detach())
    return direction


def _unit(x: Tensor) -> Tensor:
    """Scale the direction of each problem to length 1; a direction of zeros stays zero."""
    each = x.flatten(1)
    each = each / each.abs().amax(1, keepdim=True).clamp(min=torch.finfo(x.dtype).tiny)
    return torch.nn.functional.normalize(each, dim=1).reshape(x.shape)


@check_arguments
def vat_loss(
    model: Callable[[Tensor], Tensor],
    x: Float[Tensor, " batch *item"],
    *,
    radius: PositiveFloat,
    step: PositiveFloat = 0.01,
    iterations: Depth = 1,
    generator: torch.Generator | None = None,
    reduction: Reduction = "mean",
) -> Tensor:
    r"""Compute the divergence of answers to items that are moved adversarially.

    $$L = \frac{1}{B} \sum_b D(x_b, r_b), \qquad
      D(x, r) = \mathrm{KL}\left(\sigma(f(x)) \,\|\, \sigma(f(x + r))\right)$$

    with $\sigma$ the probabilities of classes and $f$ the model. $r_b$ has length $\epsilon$ and
    the direction of $\nabla_r D(x_b, r)$ at $r = \xi d$, with $d$ a random direction. No gradient
    passes to $r_b$ and to $f(x)$. Buffers of a module, such as statistics of batch normalization,
    stay; a function keeps its buffers by its own means. Add the loss, weighted, to that of labeled
    items. The objective is `farfield.objectives.VAT`.

    Args:
        model: Module or function from items to logits.
        x: Batch of items; their labels are not needed.
        radius: Length $\epsilon$ of the change of an item, in the unit of `x` and over all of its
            numbers; a change of this length must keep the answer. Without labels, begin with half
            of the median distance of standardized items from their nearest neighbor.
        step: Length $\xi$ at which the gradient is taken; rounding errors count where it is small.
        iterations: Number of improvements of the direction.
        generator: Source of random numbers; None is torch's global generator.
        reduction: `"mean"`, `"sum"` or `"none"` of the divergences.

    Shape:
        x `(batch, *item)`, outputs of the model `(batch, *answer, class)`; the loss is `()`,
        without reduction `(batch, *answer)`.

    Raises:
        ValueError: If a number is out of range, `x` is no batch of floating-point items, or the
            reduction is unknown.

    Reference:
        Miyato et al. 2018, section 3.
    """
    if x.ndim < 2 or not x.is_floating_point():
        raise ValueError(
            "x must be a batch of items of floating-point numbers, (batch, …), "
            f"got {x.dtype} of shape {tuple(x.shape)}"
        )
    with torch.no_grad():
        before = log_probabilities(_call(model, x))

    def divergences(shift: Tensor) -> Tensor:
        return kl_divergence(before, log_probabilities(_call(model, x + shift)))

    device = x.device if generator is None else generator.device
    noise = torch.randn(x.shape, generator=generator, dtype=x.dtype, device=device).to(x.device)
    with torch.no_grad():  # of parameters; the gradient of the change is taken all the same
        direction = adversarial_direction(
            lambda shift: divergences(shift).mean(), noise, step=step, iterations=iterations
        )
    return reduce(divergences(radius * direction), reduction)


def _call(model: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Compute outputs with copies of the buffers of a module, which a call may change."""
    if not isinstance(model, nn.Module):
        return model(x)
    buffers = {name: buffer.clone() for name, buffer in model.named_buffers()}
    return call_with(model, {**dict(model.named_parameters()), **buffers}, "forward", x)
