"""Learning from rewards, number by number in float64."""

from __future__ import annotations

import math

import numpy as np

Array = np.ndarray


def advantages(
    rewards: Array, values: Array, next_values: Array, ends: Array, discount: float, decay: float
) -> Array:
    """Sums of discounted errors over the rest of each episode (Schulman et al. 2016, eq. 16)."""
    found = np.zeros(rewards.shape)
    for row in range(rewards.shape[0]):
        for start in range(rewards.shape[1]):
            total, weight = 0.0, 1.0
            for t in range(start, rewards.shape[1]):
                error = rewards[row, t] + discount * next_values[row, t] - values[row, t]
                total += weight * error
                if ends[row, t]:
                    break
                weight *= discount * decay
            found[row, start] = total
    return found


def policy_loss(new: float, old: float, advantage: float, clip: float) -> float:
    """Schulman et al. 2017, equation 7, negated."""
    ratio = math.exp(new) / math.exp(old)
    bounded = min(max(ratio, 1 - clip), 1 + clip)
    return -min(ratio * advantage, bounded * advantage)


def value_loss(new: float, old: float, wanted: float, clip: float) -> float:
    """Half the larger squared error, of the value and of its clipped change."""
    bounded = old + min(max(new - old, -clip), clip)
    return max((new - wanted) ** 2, (bounded - wanted) ** 2) / 2


def ppo_loss(
    logits: Array,
    values: Array,
    actions: Array,
    latent: dict[str, Array],
    clip: float,
    value_weight: float,
    entropy_weight: float,
) -> float:
    """Mean over the steps that there are, of sequences (batch, time)."""
    losses = []
    for row, t in np.argwhere(latent["is_step"]):
        highest = max(logits[row, t])
        powers = [math.exp(logit - highest) for logit in logits[row, t]]
        probabilities = [power / sum(powers) for power in powers]
        entropy = -sum(p * math.log(p) for p in probabilities)
        new = math.log(probabilities[actions[row, t]])
        old, advantage = latent["log_probs"][row, t], latent["advantages"][row, t]
        loss = policy_loss(new, old, advantage, clip)
        of_value = value_loss(
            values[row, t], latent["values"][row, t], latent["returns"][row, t], clip
        )
        losses.append(loss + value_weight * of_value - entropy_weight * entropy)
    return sum(losses) / len(losses)
