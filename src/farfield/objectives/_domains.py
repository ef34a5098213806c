"""Learning rules over several training domains: GroupDRO, VREx, IRM and CORAL."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import torch
from torch import Tensor

from farfield.core import Problems, Stream
from farfield.core.internal import TRAINING, Checked, Fraction, NonNegativeFloat, layer_by_name
from farfield.functional.internal import (
    covariance_distance,
    group_weights,
    invariance_penalty,
    risk_variance,
    scale_slopes,
)
from farfield.objectives._objective import Bound, Objective, Tensors, Update


class DomainRule(Checked, Objective):
    """A learning rule that reads equally many problems of each training domain at every step."""

    @property
    def by_domain(self) -> bool:
        """True: a batch has equally many training problems of each domain, in their order."""
        return True


def domain_losses(update: Update, losses: Tensor) -> Tensor:
    """Compute the mean loss of each domain.

    Args:
        update: The step.
        losses: Loss of each problem of the batch, domain after domain.
    """
    return losses.reshape(update.num_domains, -1).mean(1)


@final
@dataclass(frozen=True, kw_only=True)
class GroupDRO(DomainRule):
    r"""The losses of the training domains, weighted towards the domains with the largest losses.

    $$L = \sum_e q_e \ell_e, \qquad
      q_e \leftarrow \frac{q_e\, e^{\eta \ell_e}}{\sum_d q_d\, e^{\eta \ell_d}}$$

    with $\ell_e$ the mean loss of domain $e$ in the batch. The weights start equal, and are updated
    before the loss; no gradient passes to them. At $\eta = 0$ it is empirical risk minimization
    with equally many problems of each domain. A step reads `recipe.batch_size` problems of each
    domain.

    Args:
        step_size: Step size $\eta$ of the weights.

    Raises:
        ValueError: If the step size is negative.

    Reference:
        Sagawa et al. 2020, algorithm 1; the default is that of Gulrajani and Lopez-Paz 2021.
    """

    step_size: NonNegativeFloat = 0.01

    def start(self, network: Bound, sets: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Start with a weight of 1 for each domain, before they are normalized."""
        del network, stream
        domains = sets[TRAINING].latent["domain"]
        return {"weights": torch.ones(int(domains.max()) + 1, device=domains.device)}

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """Compute the weighted loss, and the next weights."""
        losses = domain_losses(update, update.task_loss(update.outputs(), update.problems))
        before = update.state["weights"].to(losses.dtype)
        weights = group_weights(before, losses, self.step_size)
        return (weights * losses).sum(), {"weights": weights}


@dataclass(frozen=True, kw_only=True)
class PenaltyRule(DomainRule):
    """A learning rule with a penalty whose weight changes once.

    Args:
        weight: Weight of the penalty after the warm-up.
        warmup: Fraction of the run before that.
        warmup_weight: Weight of the penalty in the warm-up.
        restarts: Whether the optimizer loses its memory at the end of the warm-up.

    Raises:
        ValueError: If a number is out of range.
    """

    weight: NonNegativeFloat
    warmup: Fraction = 0.1
    warmup_weight: NonNegativeFloat = 1.0
    restarts: bool = False

    @property
    def restart(self) -> float | None:
        """Progress at the end of the warm-up, if the optimizer loses its memory there."""
        return self.warmup if self.restarts else None

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """Compute the mean of the domains' losses, and the weighted penalty.

        Raises:
            ValueError: If a domain has fewer problems in the batch than the penalty needs.
        """
        outputs = update.outputs()
        losses = domain_losses(update, update.task_loss(outputs, update.problems))
        weight = _step(update.progress, self.warmup, self.warmup_weight, self.weight)
        return losses.mean() + weight * self.penalty(update, outputs, losses), update.state

    @abstractmethod
    def penalty(self, update: Update, outputs: Any, losses: Tensor) -> Tensor:
        """Compute the penalty.

        Args:
            update: The step.
            outputs: Outputs of the network for the batch.
            losses: Mean loss of each domain.
        """


def _step(progress: Any, edge: float, before: float, after: float) -> Any:
    """Return the value of a step function of the progress, which may be a tensor."""
    if isinstance(progress, Tensor):
        return torch.where(progress >= edge, after, before)
    return after if progress >= edge else before


@final
@dataclass(frozen=True, kw_only=True)
class VREx(PenaltyRule):
    r"""The mean loss of the training domains, and the variance of their losses.

    $$L = \frac{1}{E} \sum_e \ell_e + \lambda\, \frac{1}{E} \sum_e
      \left(\ell_e - \frac{1}{E} \sum_d \ell_d\right)^2$$

    with $\ell_e$ the mean loss of domain $e$ of $E$ in the batch. A step reads `recipe.batch_size`
    problems of each domain.

    Args:
        weight: Weight $\lambda$ of the variance after the warm-up.
        warmup: Fraction of the run before that.
        warmup_weight: Weight of the variance in the warm-up.
        restarts: Whether the optimizer loses its memory at the end of the warm-up, as in the code
            of Gulrajani and Lopez-Paz 2021.

    Raises:
        ValueError: If a number is out of range.

    Reference:
        Krueger et al. 2021, equation 8; the defaults are those of Gulrajani and Lopez-Paz 2021,
        500 of 5,001 steps of warm-up.
    """

    weight: NonNegativeFloat = 10.0

    def penalty(self, update: Update, outputs: Any, losses: Tensor) -> Tensor:
        """Compute the variance of the domains' losses."""
        del update, outputs
        return risk_variance(losses)


@final
@dataclass(frozen=True, kw_only=True)
class IRM(PenaltyRule):
    r"""The mean loss of the training domains, and how far each wants the outputs to be scaled.

    $$L = \frac{1}{E} \sum_e \left(\ell_e + \lambda
      \left[\frac{\partial}{\partial w} \ell_e(w f)\right]^2_{w = 1}\right)$$

    with $\ell_e(w f)$ the mean loss of domain $e$ at $w$ times the outputs $f$. The square is
    estimated without bias, as the product of the derivatives of every other problem and of the
    rest; it may be negative. A step reads `recipe.batch_size` problems of each domain, at least
    two.

    Args:
        weight: Weight $\lambda$ of the penalty after the warm-up.
        warmup: Fraction of the run before that.
        warmup_weight: Weight of the penalty in the warm-up.
        restarts: Whether the optimizer loses its memory at the end of the warm-up, as in the code
            of Gulrajani and Lopez-Paz 2021.

    Raises:
        ValueError: If a number is out of range.

    Reference:
        Arjovsky et al. 2019, equation IRMv1 and section 3.2; the defaults are those of Gulrajani
        and Lopez-Paz 2021, 500 of 5,001 steps of warm-up.
    """

    weight: NonNegativeFloat = 100.0

    def penalty(self, update: Update, outputs: Any, losses: Tensor) -> Tensor:
        """Compute the mean penalty of the domains."""
        del losses
        slopes = scale_slopes(outputs, lambda scaled: update.task_loss(scaled, update.problems))
        domains = slopes.reshape(update.num_domains, -1)
        return torch.stack([invariance_penalty(own) for own in domains.unbind()]).mean()


@final
@dataclass(frozen=True, kw_only=True)
class CORAL(DomainRule):
    r"""The mean loss of the training domains, and the distance of the covariances of features.

    $$L = \frac{1}{E} \sum_e \ell_e + \frac{2 \gamma}{E (E - 1)} \sum_{a < b}
      \frac{1}{d^2} \lVert \Sigma_a - \Sigma_b \rVert_F^2$$

    with $\ell_e$ the mean loss of domain $e$ of $E$ in the batch, and $\Sigma_e$ the covariance of
    $d$ features. A step reads `recipe.batch_size` problems of each domain, at least two. The
    paper's factor of a quarter is part of the weight here.

    Args:
        layer: Name of the layer whose outputs are the features, one vector a problem.
        weight: Weight $\gamma$ of the distance.
        means: Whether squared differences of the mean features are added, $\frac{1}{d} \lVert \mu_a
            - \mu_b \rVert^2$, as in the code of Gulrajani and Lopez-Paz 2021.

    Raises:
        ValueError: If the weight is negative.

    Reference:
        Sun and Saenko 2016, equation 1.
    """

    layer: str
    weight: NonNegativeFloat = 1.0
    means: bool = False

    def start(self, network: Bound, sets: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Remember nothing; the name of the layer is checked.

        Raises:
            ValueError: If the network has no layer of the name.
        """
        del sets, stream
        layer_by_name(network.module, self.layer)
        return {}

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """Compute the mean loss, and the weighted distance of covariances.

        Raises:
            ValueError: If the layer is not called once, with one vector for each problem.
        """
        with update.network.watched(self.layer) as seen:
            outputs = update.outputs()
        losses = domain_losses(update, update.task_loss(outputs, update.problems))
        count = len(update.problems)
        if len(seen) != 1 or len(seen[0]) != count:
            shapes = [tuple(output.shape) for output in seen]
            raise ValueError(
                f"layer must give one output of ({count}, …), a row for each problem, got shapes "
                f"{shapes} from {self.layer!r}"
            )
        groups = seen[0].reshape(update.num_domains, count // update.num_domains, -1).unbind()
        distance = covariance_distance(groups, means=self.means)
        return losses.mean() + self.weight * distance, update.state
