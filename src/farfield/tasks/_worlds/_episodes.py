"""Episodes of an environment: their scores, and the scores of random and expert players."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final, NamedTuple, final

import numpy as np
from jaxtyping import Float, Int64

from farfield.core import stream
from farfield.tasks._protocol._draws import integers
from farfield.tasks._protocol._environment import Environment, HasExpert, VectorEnv
from farfield.tasks._worlds._checked_worlds import CheckedWorlds

EPISODES: Final = 1_000
"""Episodes that floors and ceilings are measured on."""

MOST_STEPS: Final = 100_000
"""Steps after which an episode counts as endless; episodes of Atari have 27,000."""

Policy = Callable[[np.ndarray], np.ndarray]
"""Function from observations `(batch, *)` to actions `(batch,)`."""


@final
class Episodes(NamedTuple):
    """Finished episodes.

    Attributes:
        returns: Sum of the rewards of each.
        lengths: Number of its steps.
    """

    returns: Float[np.ndarray, " batch"]
    lengths: Int64[np.ndarray, " batch"]


def play(worlds: VectorEnv, policy: Policy) -> Episodes:
    """Play one episode in every copy, from its beginning to its end.

    Each counts once, however short, so short episodes are not over-represented.

    Args:
        worlds: Copies of an environment; they are reset.
        policy: Called once a step, with the observations of all copies; of those whose episode is
            over, the actions do not count.

    Raises:
        ValueError: If an episode goes on after 100,000 steps.
    """
    worlds = CheckedWorlds(worlds)
    observations, _ = worlds.reset()
    returns = np.zeros(worlds.num_envs)
    lengths = np.zeros(worlds.num_envs, np.int64)
    running = np.ones(worlds.num_envs, bool)
    while running.any():
        observations, rewards, terminations, truncations, _ = worlds.step(policy(observations))
        returns += np.where(running, rewards, 0.0)
        lengths += running
        running &= ~(terminations | truncations)
        if running.any() and lengths.max() >= MOST_STEPS:
            raise ValueError(
                f"episodes must end within {MOST_STEPS:,} steps, got one that goes on in copy "
                f"{int(running.argmax())}: truncate episodes, as gymnasium's TimeLimit does"
            )
    return Episodes(returns, lengths)


@cache
def random_score(environment: Environment, regime: str, episodes: int = EPISODES) -> float:
    """Return the mean score of a player whose actions are drawn uniformly: the floor.

    Args:
        environment: The environment.
        episodes: Number of episodes.
    """
    branch = stream(0, environment.name, f"v{environment.version}", "floor", regime)
    generator = branch.child("actions").numpy()

    def policy(observations: np.ndarray) -> np.ndarray:
        return integers(generator, environment.num_actions, len(observations))

    found = play(environment.make(regime, episodes, branch), policy)
    return float(environment.score(found.returns).mean())


def expert_score(environment: Environment, regime: str, episodes: int = EPISODES) -> float:
    """Return the mean score of the expert of an environment: the ceiling.

    Args:
        environment: The environment.
        episodes: Number of episodes.

    Raises:
        ValueError: If the environment has no expert.
    """
    if not isinstance(environment, HasExpert):
        raise ValueError(f"environment must have an expert, got {environment!r}")
    branch = stream(0, environment.name, f"v{environment.version}", "ceiling", regime)
    worlds = environment.make(regime, episodes, branch)
    found = play(worlds, lambda _: environment.expert(worlds))
    return float(environment.score(found.returns).mean())
