"""Mixtures of pairs of items, and losses on them."""

from __future__ import annotations

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from farfield.core.internal import PositiveFloat, check_arguments
from farfield.functional._learning._consistency import probabilities, squared_distance
from farfield.functional._learning._losses import Reduction, class_loss, reduce


def mix(first: Tensor, second: Tensor, weight: Tensor) -> Tensor:
    """Compute the mixture `weight · first + (1 − weight) · second`.

    Args:
        first: Any tensor.
        second: One of the same shape.
        weight: Weight of the first, `()`, or one for each row.
    """
    weight = weight.to(first.dtype)
    if weight.ndim:
        weight = weight.reshape(-1, *(1,) * (first.ndim - 1))
    return torch.lerp(second, first, weight)


def mix_pairs(x: Tensor, weight: Tensor, partner: Tensor) -> Tensor:
    """Mix every problem with its partner.

    Args:
        x: `(batch, *)`.
        weight: Weight of the first, `()` or `(batch,)`.
        partner: Positions of the second, `(batch,)`.
    """
    return mix(x, x.index_select(0, partner), weight)


def draw_mixture(
    x: Tensor, alpha: float, generator: torch.Generator | None
) -> tuple[Tensor, Tensor]:
    """Draw the weight of the first of each pair, and the positions of the second.

    Args:
        x: Batch of items to mix, `(batch, *)`.
        alpha: Both parameters of the Beta distribution of the weight.
        generator: Source of random numbers; None is torch's global generator.

    Raises:
        ValueError: If `x` is no batch of floating-point numbers.
    """
    if not (x.ndim and x.is_floating_point()):
        raise ValueError(
            f"x must be a batch of floating-point numbers, got {x.dtype} of shape {tuple(x.shape)}"
        )
    from scipy.special import betaincinv  # noqa: PLC0415 — a tenth of a second to import

    device = "cpu" if generator is None else generator.device
    quantile = torch.rand((), generator=generator, dtype=torch.float64, device=device)
    weight = betaincinv(alpha, alpha, quantile.item())  # torch's Beta takes no generator
    partner = torch.randperm(len(x), generator=generator, device=device)
    return torch.tensor(weight, dtype=torch.float64, device=x.device), partner.to(x.device)


@check_arguments
def mixup(
    model: Callable[[Tensor], Tensor],
    x: Float[Tensor, " batch *item"],
    target: Tensor,
    *,
    alpha: PositiveFloat = 1.0,
    loss: Callable[[Tensor, Tensor], Tensor] | None = None,
    generator: torch.Generator | None = None,
    reduction: Reduction = "mean",
) -> Tensor:
    r"""Compute the loss on mixtures of pairs of items, weighed as the items are.

    $$L = \lambda\, \ell(f(\tilde x_b), y_b) + (1 - \lambda)\, \ell(f(\tilde x_b), y_{\pi(b)}),
      \qquad \tilde x_b = \lambda x_b + (1 - \lambda) x_{\pi(b)}$$

    with $\ell$ the loss, $f$ the model, $\pi$ a permutation of the batch and
    $\lambda \sim \mathrm{Beta}(\alpha, \alpha)$, both drawn in each call. The objective is
    `farfield.objectives.Mixup`.

    Args:
        model: Module or function from items to logits.
        x: Batch of items.
        target: Targets of the batch: classes as integers, or the targets of `loss`.
        alpha: Both parameters of the Beta distribution: near 0 leaves most items unmixed.
        loss: Function from outputs and targets to the values of a loss; None is the cross-entropy
            of each answer, binary for one logit.
        generator: Source of random numbers; None is torch's global generator.
        reduction: `"mean"`, `"sum"` or `"none"` of the values.

    Shape:
        x `(batch, *item)`, target `(batch, *answer)`, outputs of the model
        `(batch, *answer, class)`; the loss is `()`, without reduction as the values of `loss`.

    Raises:
        ValueError: If `alpha` is not positive and finite, `x` is no batch of floating-point
            numbers, targets do not fit, or the reduction is unknown.

    Reference:
        Zhang et al. 2018.
    """
    loss = class_loss if loss is None else loss
    weight, partner = draw_mixture(x, alpha, generator)
    if not target.ndim or len(target) != len(x):
        raise ValueError(
            f"target must have a row for each of {len(x)} items, got shape {tuple(target.shape)}"
        )
    outputs = model(mix_pairs(x, weight, partner))
    first, second = (loss(outputs, y) for y in (target, target.index_select(0, partner)))
    return reduce(mix(first, second, weight), reduction)


@check_arguments
def ict_loss(
    model: Callable[[Tensor], Tensor],
    teacher: Callable[[Tensor], Tensor],
    x: Float[Tensor, " batch *item"],
    *,
    alpha: PositiveFloat = 1.0,
    generator: torch.Generator | None = None,
    reduction: Reduction = "mean",
) -> Tensor:
    r"""Compute the distance of answers to mixtures from mixtures of a teacher's answers.

    $$L = \frac{1}{A K} \sum_{a, k} \left(\sigma_k(f(\lambda u + (1 - \lambda) u_\pi))
      - \lambda\, \sigma_k(g(u)) - (1 - \lambda)\, \sigma_k(g(u_\pi))\right)^2$$

    with $\sigma$ the probabilities of classes of $A$ answers, $f$ the model, $g$ the teacher, $u$
    items without labels, $\pi$ a permutation of the batch and
    $\lambda \sim \mathrm{Beta}(\alpha, \alpha)$, both drawn in each call. Add it, weighted, to the
    loss of labeled items, `mixup` in the paper; `mean_teacher` updates the teacher. The objective
    is `farfield.objectives.ICT`.

    Args:
        model: Module or function from items to logits.
        teacher: Module or function from items to logits, to which no gradient passes; the model
            itself for none.
        x: Batch of items; their labels are not needed.
        alpha: Both parameters of the Beta distribution: near 0 leaves most items unmixed.
        generator: Source of random numbers; None is torch's global generator.
        reduction: `"mean"`, `"sum"` or `"none"` of the squared distances.

    Shape:
        x `(batch, *item)`, outputs of model and teacher `(batch, *answer, class)`; the loss is
        `()`, without reduction `(batch, *answer, class)`.

    Raises:
        ValueError: If `alpha` is not positive and finite, `x` is no batch of floating-point
            numbers, outputs of model and teacher differ in shape, or the reduction is unknown.

    Reference:
        lamb2022, section 6.2 and equation 6.1.
    """
    weight, partner = draw_mixture(x, alpha, generator)
    with torch.no_grad():
        target = mix_pairs(probabilities(teacher(x)), weight, partner)
    outputs = model(mix_pairs(x, weight, partner))
    if outputs.shape != target.shape:
        raise ValueError(
            f"model and teacher must have outputs of one shape, got {tuple(outputs.shape)} and "
            f"{tuple(target.shape)}"
        )
    return reduce(squared_distance(outputs, target), reduction)
