"""Proximal policy optimization of recurrent agents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from farfield.core.internal import Checked, Fraction, NonNegativeFloat, PositiveFloat, Size
from farfield.functional.internal import (
    clipped_policy_loss,
    clipped_value_loss,
    generalized_advantages,
)
from farfield.objectives._objective import Objective, Tensors, Update


@final
@dataclass(frozen=True, kw_only=True)
class PPO(Checked, Objective):
    r"""Proximal policy optimization: clipped policy loss and value loss, less the entropy.

    $$L = \frac{1}{B} \sum_b \left(-\min(\rho_b A_b, \mathrm{clip}(\rho_b, 1 - \epsilon,
      1 + \epsilon)\, A_b) + c\, \ell(V_b, R_b) - h\, H(\pi_b)\right)$$

    over the steps $b$ of whole sequences of a rollout, with $\rho$ the probability of an action
    over that when it was taken, $A$ its advantage, brought to mean 0 and variance 1 over the
    rollout, $\ell$ half the squared error of the value or, with `value_clip`, the clipped one, $R$
    the old value plus the advantage before that, and $H$ the entropy.

    A step of the recipe is a rollout: each of `Recipe.batch_size` copies of the environment is
    acted in for `rollout_length` steps, and its sequences are learned from `epochs` times, a part
    of the copies at a time.

    Args:
        rollout_length: Steps of a rollout in each copy.
        epochs: How often a rollout is learned from.
        minibatches: Number of parts of the copies, each of which gives an update of the parameters.
        discount: Discount $\gamma$ of later rewards.
        decay: Decay $\lambda$ of the advantages (generalized advantage estimation).
        clip: The bound $\epsilon$ of the change of probability ratios.
        value_clip: Bound of the change of values, in the unit of the rewards; `None` for none. 0.1,
            that of the ratios, in the released code.
        value_weight: Weight $c$ of the error of the values.
        entropy_weight: Weight $h$ of the entropy.
        reward_clip: Largest size of a reward that is learned from; `None` for unclipped rewards.
            1 in the released code for Atari.
        scale_rewards: Whether rewards are divided by the running standard deviation of the
            discounted returns of all steps so far, before they are clipped (`reward_clip=10` beside
            it equals `VecNormalize` of stable-baselines3). Where returns are far above 1, the
            error of the values outweighs the policy in the layers of both without it.
        divergence_limit: Largest divergence of the policy from that of the rollout, estimated as
            the mean of $\rho - 1 - \log \rho$: a part of the copies beyond it gives no update, and
            the rollout is learned from no more. `None` for no limit.

    Raises:
        ValueError: If a number is out of range.

    Reference:
        Schulman et al. 2017; lamb2022, section 8.4.3. The defaults are those of the released code,
        except `value_clip`.
    """

    rollout_length: Size = 128
    epochs: Size = 4
    minibatches: Size = 4
    discount: Fraction = 0.99
    decay: Fraction = 0.95
    clip: PositiveFloat = 0.1
    value_clip: PositiveFloat | None = None
    value_weight: NonNegativeFloat = 0.5
    entropy_weight: NonNegativeFloat = 0.01
    reward_clip: PositiveFloat | None = None
    scale_rewards: bool = False
    divergence_limit: PositiveFloat | None = None

    def advantages(
        self,
        rewards: Float[Tensor, "batch time"],
        values: Float[Tensor, "batch time"],
        next_values: Float[Tensor, "batch time"],
        ends: Bool[Tensor, "batch time"],
    ) -> tuple[Float[Tensor, "batch time"], Float[Tensor, "batch time"]]:
        """Compute the standardized advantages of a rollout, and the returns, targets of the values.

        Args:
            rewards: Reward of each step.
            values: Value of the state before it.
            next_values: Value of the state after it; 0 where the episode terminated.
            ends: Whether the episode ends with it.
        """
        if self.reward_clip is not None:
            rewards = rewards.clamp(-self.reward_clip, self.reward_clip)
        found = generalized_advantages(
            rewards, values, next_values, ends, discount=self.discount, decay=self.decay
        )
        deviation = found.std(correction=0)
        return (found - found.mean()) / (deviation + 1e-8), found + values

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """Compute the mean over the steps of a batch of sequences, and the policy's divergence.

        Args:
            update: The step. Its problems are sequences of observations, their target the actions
                taken; beside those stand `log_probs`, `values`, `advantages` and `returns`, whether
                there `is_step` at a position, the state of the agent before the first of them, in
                parts `state.0` and so on, and whether the sequence `begins` an episode.
        """
        problems = update.problems
        latent = problems.latent
        parts = [name for name in latent if name.startswith("state.")]
        state = tuple(latent[name].transpose(0, 1) for name in parts)
        is_step = latent["is_step"]
        logits, values, _ = update.network.call(
            "forward", problems.items, problems.index, state, latent["begins"], is_step.sum(1)
        )
        log_probs = logits.log_softmax(-1)
        taken = log_probs.gather(-1, problems.target.unsqueeze(-1)).squeeze(-1)
        entropy = -(log_probs.exp() * log_probs).sum(-1)
        policy = clipped_policy_loss(
            taken, latent["log_probs"], latent["advantages"], clip=self.clip
        )
        losses = policy + self.value_weight * self._value_loss(values, latent)
        losses = losses - self.entropy_weight * entropy
        loss = torch.where(is_step, losses, 0.0).sum() / is_step.sum()
        if self.divergence_limit is None:
            return loss, update.state
        change = (taken - latent["log_probs"]).detach()[is_step]
        return loss, {**update.state, "divergence": (change.exp() - 1 - change).mean()}

    def _value_loss(
        self, values: Float[Tensor, "batch time"], latent: Tensors
    ) -> Float[Tensor, "batch time"]:
        if self.value_clip is None:
            return (values - latent["returns"]).square() / 2
        return clipped_value_loss(values, latent["values"], latent["returns"], clip=self.value_clip)

    def is_beyond_limit(self, state: Tensors) -> bool:
        """Tell if the policy has gone further from the rollout's policy than the limit.

        Args:
            state: State that `loss` returned.
        """
        return self.divergence_limit is not None and bool(
            state["divergence"] > self.divergence_limit
        )
