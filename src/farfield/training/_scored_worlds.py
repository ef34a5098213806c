"""Copies of an environment that are acted in, with the scores of their last episodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, final

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from farfield.core import Stream
from farfield.tasks import CheckedWorlds, Environment

RECENT: Final = 100
"""Last finished episodes whose mean score is shown during training."""


@final
class Outcome(NamedTuple):
    """Outcome of a step of all copies.

    Attributes:
        rewards: Reward of each.
        terminations: Whether its episode terminated.
        truncations: Whether its episode was truncated, and did not terminate.
        final: Last observation of those whose episode ended; all zeros where none did.
    """

    rewards: Float[Tensor, " batch"]
    terminations: Bool[Tensor, " batch"]
    truncations: Bool[Tensor, " batch"]
    final: np.ndarray

    @property
    def ends(self) -> Bool[Tensor, " batch"]:
        """True where an episode ended."""
        return self.terminations | self.truncations


@final
class ScoredWorlds:
    """Copies of an environment in training.

    Args:
        environment: The environment.
        regime: Its regime.
        count: Number of copies.
        stream: Where their episodes are drawn from.

    Raises:
        ValueError: If observations are of another number or shape, or one of `CheckedWorlds` is.

    Attributes:
        count: Number of copies.
        observations: Observation of each copy, before its next step.
        returns: Sum of the rewards of the episode of each copy so far.
        recent: Score of the last finished episodes, the latest first; NaN where there are fewer.
    """

    def __init__(self, environment: Environment, regime: str, count: int, stream: Stream) -> None:
        self.count, self._environment = count, environment
        self._worlds = CheckedWorlds(environment.make(regime, count, stream))
        self.observations, _ = self._worlds.reset()
        if self.observations.shape != (count, *environment.item_shape):
            raise ValueError(
                f"observations must have shape {(count, *environment.item_shape)}, a row for each "
                f"of {count} copies and item_shape, got {self.observations.shape}"
            )
        self.returns = torch.zeros(count, dtype=torch.float64)
        self.recent = torch.full((RECENT,), torch.nan, dtype=torch.float64)

    @property
    def num_actions(self) -> int:
        """Number of actions."""
        return self._environment.num_actions

    def step(self, actions: Tensor) -> Outcome:
        """Act in every copy.

        Args:
            actions: One for each.
        """
        found = self._worlds.step(actions.numpy())
        self.observations, rewards, terminations, truncations, infos = found
        final = infos.get("final_obs")
        outcome = Outcome(
            torch.from_numpy(rewards).float(),
            torch.from_numpy(terminations),
            torch.from_numpy(truncations & ~terminations),
            np.zeros_like(self.observations) if final is None else final,
        )
        self.returns += torch.from_numpy(rewards)
        if outcome.ends.any():
            self._remember(outcome.ends)
        return outcome

    def _remember(self, ends: Tensor) -> None:
        """Note the scores of finished episodes."""
        scores = torch.from_numpy(self._environment.score(self.returns[ends].numpy()))
        self.recent = torch.cat([scores, self.recent])[:RECENT]
        self.returns = self.returns.where(~ends, 0.0)

    def score(self) -> tuple[float, int]:
        """Mean score of the last finished episodes, and their number; 0 where there is none."""
        known = self.recent[~self.recent.isnan()]
        return (float(known.mean()) if len(known) else 0.0), len(known)

    def state(self) -> dict[str, Any]:
        """Everything that changes with a step, for a checkpoint."""
        return {
            "returns": self.returns,
            "recent": self.recent,
            "worlds._extra_state": self._worlds.state(),
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go back to a state that `state` returned.

        Args:
            state: The state, among others.
        """
        self.returns, self.recent = state["returns"], state["recent"]
        self.observations = self._worlds.load_state(state["worlds._extra_state"])
