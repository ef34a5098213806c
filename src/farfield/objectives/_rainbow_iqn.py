"""Implicit quantile networks in the form of Rainbow: learning values from a memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

from jaxtyping import Bool, Float
from torch import Tensor

from farfield.core.internal import Fraction, PositiveFloat, Size, check_fields
from farfield.functional.internal import NStepReturns, n_step_returns, quantile_huber_loss
from farfield.objectives._objective import Objective, Tensors, Update

LEAST_PRIORITY: Final = 1e-6
"""Added to a loss, so that no step is forgotten."""


@final
@dataclass(frozen=True, kw_only=True)
class RainbowIQN(Objective):
    r"""Quantile regression of the returns of actions, from steps drawn out of a memory.

    $$L = \frac{1}{B} \sum_b w_b\, \rho\left(q_{a_b}(s_b, \tau),\;
      \sum_{k<m} \gamma^k r_{b,k} + \gamma^m q'_{a^*}(s'_b, \tau')\right)$$

    with $\rho$ the quantile Huber loss over all pairs of fractions $\tau$, $\tau'$ drawn
    uniformly, $s'$ the state after $m$ steps, $q'$ the network as it was at the last multiple of
    `target_period`, $a^*$ the best action there by the network of now, and $w$ the weights that
    make up for draws in proportion to priorities $(\rho + 10^{-6})^\alpha$. A step that was not
    drawn yet has the highest priority so far.

    A step of the recipe is a step in each of `copies` copies of the environment, of the action that
    is best with the noise drawn for it, and an update from `Recipe.batch_size` steps of the memory.
    Before the first, the copies are acted in until the memory holds `first_steps`.

    Args:
        copies: Copies of the environment.
        memory_size: Steps of all copies that are remembered, the latest ones.
        first_steps: Steps that are remembered before the first update.
        num_steps: Most steps whose rewards are added before the value of the next state, $m$.
        num_quantiles: Number of fractions, of those learned and of those aimed at.
        acting_quantiles: Number of fractions over which an agent takes the mean when it acts.
        threshold: Error from which on the loss is linear.
        discount: Discount $\gamma$ of later rewards.
        target_period: Updates between two copies of the network that is aimed at.
        priority_exponent: The exponent $\alpha$; 0 for draws without priorities.
        weight_exponent: First exponent of the weights $w$, which grows to 1 over the run.
        reward_clip: Largest size of a reward that is learned from; `None` for unclipped rewards.

    Raises:
        ValueError: If a number is out of range, or the memory too small.

    Reference:
        Dabney et al. 2018; Hessel et al. 2018; lamb2022, section 10.4.5. Fractions and threshold
        are those of Dabney et al., the other defaults those of Hessel et al., but that several
        copies are acted in, and the memory and the period of copies are smaller.
    """

    copies: Size = 32
    memory_size: Size = 100_000
    first_steps: Size = 5_000
    num_steps: Size = 3
    num_quantiles: Size = 8
    acting_quantiles: Size = 32
    threshold: PositiveFloat = 1.0
    discount: Fraction = 0.99
    target_period: Size = 1_000
    priority_exponent: Fraction = 0.5
    weight_exponent: Fraction = 0.4
    reward_clip: PositiveFloat | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        least = self.copies * (self.num_steps + 1)
        if self.first_steps < least:
            raise ValueError(
                f"first_steps must be at least {least}, num_steps and one more in each of the "
                f"{self.copies} copies, got {self.first_steps}"
            )
        if self.memory_size < 2 * self.first_steps:
            raise ValueError(
                f"memory_size must be at least twice first_steps ({self.first_steps}), "
                f"got {self.memory_size}"
            )

    def returns(
        self,
        rewards: Float[Tensor, "batch time"],
        terminations: Bool[Tensor, "batch time"],
        truncations: Bool[Tensor, "batch time"],
    ) -> NStepReturns:
        """Compute the return of stretches of `num_steps`, and the weight of the value after it.

        Args:
            rewards: Reward of each step.
            terminations: Whether the episode terminates with it.
            truncations: Whether it is truncated there.
        """
        if self.reward_clip is not None:
            rewards = rewards.clamp(-self.reward_clip, self.reward_clip)
        return n_step_returns(rewards, terminations, truncations, discount=self.discount)

    def priorities(self, losses: Float[Tensor, " batch"]) -> Float[Tensor, " batch"]:
        """Compute priorities of steps from their losses; a loss that is not finite has the least.

        Args:
            losses: Loss of each.
        """
        finite = losses.nan_to_num(0.0, 0.0, 0.0)
        return (finite.double() + LEAST_PRIORITY) ** self.priority_exponent

    def exponent(self, progress: float) -> float:
        """Compute the exponent of the weights.

        Args:
            progress: Fraction of the steps that are done.
        """
        return self.weight_exponent + progress * (1 - self.weight_exponent)

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """Compute the weighted mean over a batch of steps, and remember their `losses`.

        Args:
            update: The step. The items of its problems are observations, their target the actions
                taken; beside those stand `targets`, quantiles of the return of each, and `weights`.
                Drawn are `fractions` and the `noise` of the network.
        """
        problems, fractions = update.problems, update.draws["fractions"]
        quantiles = update.network.call("forward", problems.items, fractions, update.draws["noise"])
        taken = problems.target[:, None, None].expand(*fractions.shape, 1)
        values = quantiles.gather(-1, taken).squeeze(-1)
        losses = quantile_huber_loss(
            values, fractions, problems.latent["targets"], threshold=self.threshold
        )
        loss = (problems.latent["weights"] * losses).mean()
        return loss, {"losses": losses.detach()}
