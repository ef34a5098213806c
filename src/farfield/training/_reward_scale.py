"""Rewards divided by the running standard deviation of discounted returns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, final

import torch
from jaxtyping import Bool, Float
from torch import Tensor

EPS: Final = 1e-8
FIRST_WEIGHT: Final = 1e-4
"""Weight of the first variance, which is 1, in numbers of returns."""


@final
class RewardScale:
    r"""Running variance of the discounted returns $G_t = \gamma G_{t-1} + r_t$ of all copies.

    A reward is divided by its root as it is with the returns of the same step, so that the values
    of an agent stay near 1 whatever the unit of the rewards. An episode begins at $G = 0$.

    Args:
        count: Number of copies of the environment.
        discount: Discount $\gamma$ of later rewards.

    Reference:
        Engstrom et al. 2020, section 3; the numbers are those of `VecNormalize` of
        stable-baselines3.
    """

    def __init__(self, count: int, discount: float) -> None:
        self._discount = discount
        self._returns = torch.zeros(count, dtype=torch.float64)
        self._mean = torch.zeros((), dtype=torch.float64)
        self._variance = torch.ones((), dtype=torch.float64)
        self._weight = torch.full((), FIRST_WEIGHT, dtype=torch.float64)

    def scaled(
        self, rewards: Float[Tensor, "batch time"], ends: Bool[Tensor, "batch time"]
    ) -> Float[Tensor, "batch time"]:
        """Rewards of the next steps, divided, while the variance goes on.

        Args:
            rewards: Reward of each step.
            ends: Whether the episode ends with it.
        """
        found = list[Tensor]()
        for own, over in zip(rewards.unbind(1), ends.unbind(1), strict=True):
            self._returns = self._discount * self._returns + own
            self._add(self._returns)
            found.append(own / (self._variance + EPS).sqrt())
            self._returns = self._returns.where(~over, 0.0)
        return torch.stack(found, dim=1)

    def _add(self, returns: Float[Tensor, " batch"]) -> None:
        """Mean and variance with further returns, by those of both parts (Chan et al. 1979)."""
        count, change = len(returns), returns.mean() - self._mean
        total = self._weight + count
        squares = self._variance * self._weight + returns.var(correction=0) * count
        self._variance = (squares + change.square() * self._weight * count / total) / total
        self._mean = self._mean + change * count / total
        self._weight = total

    def state(self) -> dict[str, Tensor]:
        """Everything that changes with a step, for a checkpoint."""
        return {
            "returns": self._returns,
            "mean": self._mean,
            "variance": self._variance,
            "weight": self._weight,
        }

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Go back to a state that `state` returned.

        Args:
            state: The state.
        """
        self._returns, self._mean = state["returns"], state["mean"]
        self._variance, self._weight = state["variance"], state["weight"]
