"""One episode of a trained agent, seen from outside, with the mechanisms that were active."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, final

import numpy as np
import torch
from jaxtyping import Bool, UInt8

from farfield.core import Stream
from farfield.functional.internal import as_fractions
from farfield.models import ActorCritic, QuantileAgent
from farfield.nn import RIMs
from farfield.tasks import Environment
from farfield.tasks.internal import CheckedWorlds, HasPictures

Policy = Callable[[np.ndarray], np.ndarray]
"""Function from observations `(batch, *)` to actions `(batch,)`."""

QUANTILES: Final = 32
"""Evenly spaced quantiles over which the return of an action is averaged."""


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
    """Play one episode: an `ActorCritic` draws actions, a `QuantileAgent` takes the best.

    The network is one of `trained_network`, or any other of these two classes, with a core, an
    encoder or a head of your own.

    Args:
        agent: A trained agent.
        environment: Environment that the agent acts in; it can be shown from outside.
        regime: The regime of the episode.
        stream: Where the episode and the actions are drawn from.

    Raises:
        ValueError: If the network is no agent, or the environment cannot be shown.

    Reference:
        lamb2022, section 8.4.2; Figure 2 shows the same of a sequence.
    """
    if not isinstance(agent, ActorCritic | QuantileAgent):
        raise ValueError(
            f"agent must be an ActorCritic or a QuantileAgent, got {type(agent).__name__}"
        )
    if not isinstance(environment, HasPictures):
        raise ValueError(
            f"environment must have methods picture and mission, got {type(environment).__name__}"
        )
    made = environment.make(regime, 1, stream)
    worlds = CheckedWorlds(made)
    policy = _drawing(agent, stream) if isinstance(agent, ActorCritic) else _choosing(agent)
    seen, pictures, total, is_over = list[np.ndarray](), list[np.ndarray](), 0.0, False
    observations, _ = worlds.reset()
    mission = environment.mission(made, 0)
    while not is_over:
        seen.append(observations)
        pictures.append(np.array(environment.picture(made, 0)))
        observations, rewards, terminations, truncations, _ = worlds.step(policy(observations))
        total += float(rewards[0])
        is_over = bool(terminations[0] | truncations[0])
    worlds.close()
    return WatchedEpisode(
        mission=mission,
        pictures=np.stack(pictures),
        active=_active(agent, np.concatenate(seen)),
        score=float(environment.score(np.array([total]))[0]),
    )


def _drawing(agent: ActorCritic, stream: Stream) -> Policy:
    """Make the policy that draws actions by their probabilities."""
    generator, index = stream.child("actions").torch(), torch.zeros(1, 1, dtype=torch.int64)
    state, begins = agent.first_state(1), torch.ones(1, dtype=torch.bool)

    def act(observations: np.ndarray) -> np.ndarray:
        nonlocal state, begins
        with torch.inference_mode():
            logits, _, state = agent(torch.from_numpy(observations), index, state, begins)
        begins = torch.zeros_like(begins)
        return torch.multinomial(logits[0, 0].softmax(-1), 1, generator=generator).numpy()

    return act


def _choosing(agent: QuantileAgent) -> Policy:
    """Make the policy that takes the action of the largest mean return."""
    fractions = ((torch.arange(QUANTILES) + 0.5) / QUANTILES).unsqueeze(0)

    def act(observations: np.ndarray) -> np.ndarray:
        with torch.inference_mode():
            return agent(torch.from_numpy(observations), fractions).mean(1).argmax(-1).numpy()

    return act


def _active(agent: torch.nn.Module, seen: np.ndarray) -> Bool[torch.Tensor, "time mechanism"]:
    """Record active mechanisms of the last layer, of an agent that reads an episode once more."""
    if not isinstance(agent, ActorCritic) or not isinstance(agent.core, RIMs):
        return torch.zeros(len(seen), 0, dtype=torch.bool)
    with torch.inference_mode():
        items = as_fractions(torch.from_numpy(seen), agent.actor.weight.dtype)
        trace = agent.core.trace(agent.encoder(items).unsqueeze(0), agent.first_state(1))
    return trace[-1].active[:, 0].bool()
