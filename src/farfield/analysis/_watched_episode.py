"""One episode of a trained agent, seen from outside, with the mechanisms that were active."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
import torch
from jaxtyping import Bool, UInt8

from farfield.core import Stream
from farfield.functional.internal import as_fractions
from farfield.models import ActorCritic
from farfield.nn import RIMs
from farfield.tasks import CheckedWorlds, Environment
from farfield.tasks.internal import HasPictures


@final
@dataclass(frozen=True, kw_only=True)
class WatchedEpisode:
    """An episode of an agent.

    Args:
        mission: Mission of the agent.
        pictures: View before each step.
        active: Which of its mechanisms were active at each step; none where it has none.
        score: Score of the episode.
    """

    mission: str
    pictures: UInt8[np.ndarray, "time height width 3"]
    active: Bool[torch.Tensor, "time mechanism"]
    score: float


def watch_episode(
    agent: torch.nn.Module, environment: Environment, regime: str, stream: Stream
) -> WatchedEpisode:
    """Play one episode; actions are drawn from the policy, as in training.

    Args:
        agent: A trained agent, e.g. from `trained_network`.
        environment: Environment that the agent acts in; it can be shown from outside.
        regime: The regime of the episode.
        stream: Where the episode and the actions are drawn from.

    Raises:
        ValueError: If the network is no agent, or the environment cannot be shown.

    Reference:
        lamb2022, section 8.4.2; Figure 2 shows the same of a sequence.
    """
    if not isinstance(agent, ActorCritic):
        raise ValueError(f"agent must be an ActorCritic, got {type(agent).__name__}")
    if not isinstance(environment, HasPictures):
        raise ValueError(
            f"environment must have methods picture and mission, got {type(environment).__name__}"
        )
    made = environment.make(regime, 1, stream)
    worlds = CheckedWorlds(made)
    generator, index = stream.child("actions").torch(), torch.zeros(1, 1, dtype=torch.int64)
    seen, pictures, total, is_over = list[np.ndarray](), list[np.ndarray](), 0.0, False
    state, (observations, _) = agent.first_state(1), worlds.reset()
    mission = environment.mission(made, 0)
    while not is_over:
        begins = torch.tensor([not seen])
        seen.append(observations)
        pictures.append(np.array(environment.picture(made, 0)))
        with torch.inference_mode():
            logits, _, state = agent(torch.from_numpy(observations), index, state, begins)
        action = torch.multinomial(logits[0, 0].softmax(-1), 1, generator=generator)
        observations, rewards, terminations, truncations, _ = worlds.step(action.numpy())
        total += float(rewards[0])
        is_over = bool(terminations[0] | truncations[0])
    worlds.close()
    return WatchedEpisode(
        mission=mission,
        pictures=np.stack(pictures),
        active=_active(agent, np.concatenate(seen)),
        score=float(environment.score(np.array([total]))[0]),
    )


def _active(agent: ActorCritic, seen: np.ndarray) -> Bool[torch.Tensor, "time mechanism"]:
    """Record active mechanisms of the last layer, of an agent that reads an episode once more."""
    if not isinstance(agent.core, RIMs):
        return torch.zeros(len(seen), 0, dtype=torch.bool)
    with torch.inference_mode():
        items = as_fractions(torch.from_numpy(seen), agent.actor.weight.dtype)
        trace = agent.core.trace(agent.encoder(items).unsqueeze(0), agent.first_state(1))
    return trace[-1].active[:, 0].bool()
