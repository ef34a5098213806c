"""Practice of agents: copies of an environment, lessons, and the scoring of a policy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple, Protocol, final

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from farfield.core import Problems, Stream
from farfield.records import Score
from farfield.tasks import Environment
from farfield.tasks.internal import CheckedWorlds, metric_of, play

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
        """Average the score of the last finished episodes, 0 if there is none; and count them."""
        known = self.recent[~self.recent.isnan()]
        return (float(known.mean()) if len(known) else 0.0), len(known)

    def state(self) -> dict[str, Any]:
        """Collect everything that changes with a step, for a checkpoint."""
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


Policy = Callable[[np.ndarray], np.ndarray]
"""Function from observations `(batch, *)` to actions `(batch,)`."""


@final
class Lesson(NamedTuple):
    """A batch of steps of an agent, for one update of its parameters.

    Attributes:
        problems: The batch, as the learning rule reads it.
        rows: Where they are from.
        draws: Tensors drawn for the update.
    """

    problems: Problems
    rows: Tensor
    draws: Mapping[str, Tensor]


class Practice(Protocol):
    """Copies of an environment that an agent acts in, and the lessons that it takes from there."""

    worlds: ScoredWorlds

    def act(self, step: int) -> Iterable[Lesson]:
        """Act, and yield the lessons of a step of the recipe."""
        ...

    def stops(self, state: Mapping[str, Tensor]) -> bool:
        """Tell if a lesson and all later lessons give no update; `state` is its loss's."""
        ...

    def after(self, lesson: Lesson, state: Mapping[str, Tensor], step: int) -> None:
        """Take note of an update, and of the state that its loss returned."""
        ...

    def policy(self, count: int, stream: Stream) -> Policy:
        """Make the policy of `count` agents in new episodes; it draws from `stream`."""
        ...

    def state(self) -> dict[str, Any]:
        """Collect everything that changes with a step, except `worlds` and the agent."""
        ...

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go back to a state that `state` returned."""
        ...


ABREAST: Final = 256
"""Most episodes played side by side."""


def score_policy(
    policy: Callable[[int, Stream], Policy], environment: Environment, step: int, stream: Stream
) -> list[Score]:
    """Compute the mean score and mean length of episodes in every regime.

    Args:
        policy: Makes the policy of some agents in episodes that begin, from their number and the
            stream of their random numbers.
        environment: The environment.
        step: Updates done so far, noted in the scores.
        stream: Where episodes and actions are drawn from.
    """
    found = []
    for regime in environment.regimes:
        scores, lengths = [], []
        for first in range(0, environment.scored_episodes, ABREAST):
            source = stream.child(regime.name, first)
            count = min(ABREAST, environment.scored_episodes - first)
            worlds = environment.make(regime.name, count, source)
            episodes = play(worlds, policy(count, source.child("actions")))
            worlds.close()
            scores.append(np.array(environment.score(episodes.returns)))
            lengths.append(episodes.lengths)
        for metric, parts in ((metric_of(environment), scores), ("length", lengths)):
            values = torch.from_numpy(np.concatenate(parts)).double()
            found.append(
                Score(
                    step=step,
                    regime=regime.name,
                    metric=metric,
                    value=float(values.mean()),
                    count=len(values),
                )
            )
    return found
