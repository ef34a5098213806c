"""Scores of a trained agent in every regime of an environment."""

from __future__ import annotations

from typing import Final, final

import numpy as np
import torch

from farfield.core import Stream
from farfield.models import ActorCritic
from farfield.records import Score
from farfield.tasks import Environment, metric_of, play
from farfield.training._rollouts import Agents, uniform

ABREAST: Final = 256
"""Most episodes played side by side."""


@final
class _Play:
    """A policy that draws from what an agent answers, from the beginning of an episode."""

    def __init__(self, agents: Agents, num_actions: int, stream: Stream) -> None:
        self._agents, self._num_actions, self._stream = agents, num_actions, stream
        self._step = 0

    def __call__(self, observations: np.ndarray) -> np.ndarray:
        self._step += 1
        place = self._stream.child(self._step)
        noise = uniform(place, len(observations), self._num_actions)
        return self._agents.act(observations, noise).actions.numpy()


def score_agent(
    model: ActorCritic, environment: Environment, step: int, stream: Stream
) -> list[Score]:
    """Mean score and mean length of episodes in every regime.

    Actions are drawn from the policy, as in training.

    Args:
        model: The agent.
        environment: The environment.
        step: Updates done so far, noted in the scores.
        stream: Where episodes and actions are drawn from.
    """
    found = []
    for regime in environment.regimes:
        scores, lengths = [], []
        for first in range(0, environment.scored_episodes, ABREAST):
            place = stream.child(regime.name, first)
            count = min(ABREAST, environment.scored_episodes - first)
            worlds = environment.make(regime.name, count, place)
            policy = _Play(Agents(model, count), environment.num_actions, place.child("actions"))
            episodes = play(worlds, policy)
            worlds.close()
            scores.append(environment.score(episodes.returns))
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
