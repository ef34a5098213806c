"""Scores of a trained agent in every regime of an environment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import torch

from farfield.core import Stream
from farfield.records import Score
from farfield.tasks import Environment, metric_of, play
from farfield.training._practice import Policy

ABREAST: Final = 256
"""Most episodes played side by side."""


def score_policy(
    policy: Callable[[int, Stream], Policy], environment: Environment, step: int, stream: Stream
) -> list[Score]:
    """Mean score and mean length of episodes in every regime.

    Args:
        policy: Makes the policy of some agents in episodes that begin, from their number and the
            stream of what they draw.
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
            episodes = play(worlds, policy(count, place.child("actions")))
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
