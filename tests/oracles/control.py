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
    value_clip: float | None,
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
        before, aim = latent["values"][row, t], latent["returns"][row, t]
        of_value = (values[row, t] - aim) ** 2 / 2
        if value_clip is not None:
            of_value = value_loss(values[row, t], before, aim, value_clip)
        losses.append(loss + value_weight * of_value - entropy_weight * entropy)
    return sum(losses) / len(losses)


def scaled_rewards(rewards: Array, ends: Array, discount: float) -> Array:
    """Rewards (batch, time) over the deviation of all discounted returns up to their step.

    One ten-thousandth of a return of mean 0 and variance 1 stands at the beginning.
    """
    copies, length = rewards.shape
    found, returns, weight, first, second = rewards.copy(), [0.0] * copies, 1e-4, 0.0, 1e-4
    for t in range(length):
        for copy in range(copies):
            returns[copy] = discount * returns[copy] + rewards[copy, t]
            weight, first = weight + 1, first + returns[copy]
            second += returns[copy] ** 2
        variance = second / weight - (first / weight) ** 2
        for copy in range(copies):
            found[copy, t] = rewards[copy, t] / math.sqrt(variance + 1e-8)
            returns[copy] = 0.0 if ends[copy, t] else returns[copy]
    return found


def quantile_loss(values: Array, fractions: Array, targets: Array, threshold: float) -> float:
    """Dabney et al. 2018, equation 3, pair by pair."""
    total = 0.0
    for value, fraction in zip(values, fractions, strict=True):
        for target in targets:
            error = target - value
            size = abs(error)
            huber = error**2 / 2 if size <= threshold else threshold * (size - threshold / 2)
            side = fraction - 1 if error < 0 else fraction
            total += abs(side) * huber / threshold / len(targets)
    return total


def n_step(
    rewards: Array, terminations: Array, truncations: Array, discount: float
) -> tuple[float, float, int]:
    """Return, factor of the value after it, and number of the steps of one stretch."""
    total, weight = 0.0, 1.0
    for k, reward in enumerate(rewards):
        total += weight * reward
        weight *= discount
        if terminations[k]:
            return total, 0.0, k + 1
        if truncations[k]:
            return total, weight, k + 1
    return total, weight, len(rewards)


def proportional_row(priorities: Array, point: float) -> int:
    """The first row at which the sum of priorities is above a share of all."""
    passed = 0.0
    for row, priority in enumerate(priorities):
        passed += priority
        if passed > point * sum(priorities):
            return row
    raise AssertionError


def noisy(x: Array, weight: Array, bias: Array, scale: Array, bias_scale: Array, noise: Array):
    """Fortunato et al. 2018, equations 9 to 11: the weights of one row, then their product."""
    inner, outer = noise[: len(x)], noise[len(x) :]
    found = np.zeros(len(bias))
    for out in range(len(bias)):
        share = math.copysign(math.sqrt(abs(outer[out])), outer[out])
        found[out] = bias[out] + bias_scale[out] * share
        for k, number in enumerate(x):
            own = math.copysign(math.sqrt(abs(inner[k])), inner[k])
            found[out] += (weight[out, k] + scale[out, k] * share * own) * number
    return found


def quantiles(z: Array, fraction: float, state: dict[str, Array], noise: Array) -> Array:
    """Quantiles of every action for one embedding and fraction (Dabney et al. 2018, eq. 4)."""
    hidden = np.zeros(len(z))
    for feature in range(len(z)):
        total = state["cosine.bias"][feature]
        for i, weight in enumerate(state["cosine.weight"][feature]):
            total += weight * math.cos(math.pi * i * fraction)
        hidden[feature] = z[feature] * max(total, 0.0)
    found, start = {}, 0
    for stream in ("value", "advantage"):
        now = hidden
        for layer in ("0", "1"):
            part = f"{stream}.{layer}"
            names = ("weight", "bias", "weight_scale", "bias_scale")
            given = [state[f"{part}.{name}"] for name in names]
            size = sum(given[0].shape)
            now = noisy(now, *given, noise[start : start + size])
            start += size
            now = np.maximum(now, 0) if layer == "0" else now
        found[stream] = now
    return found["value"] + found["advantage"] - found["advantage"].mean()
