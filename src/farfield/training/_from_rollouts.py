"""Practice with rollouts: each is learned from a few times, and then forgotten."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, final

import numpy as np
import torch
from torch import Tensor

from farfield.core import Stream, stream
from farfield.models import ActorCritic
from farfield.objectives import PPO
from farfield.training._practice import Lesson, Policy
from farfield.training._reward_scale import RewardScale
from farfield.training._rollouts import Actor, Agents, Rollout, sequences_of, uniform
from farfield.training._scored_worlds import ScoredWorlds
from farfield.training._turns import part_of


@final
class FromRollouts:
    """Rollouts of an agent with memory, by the rule of `PPO`.

    Args:
        model: The agent.
        rule: The learning rule.
        worlds: The copies of the environment.
        seed: Number of the run.
    """

    def __init__(self, model: ActorCritic, rule: PPO, worlds: ScoredWorlds, seed: int) -> None:
        self.worlds, self._model, self._rule = worlds, model, rule
        self._actor = Actor(model, worlds)
        self._stream = stream(seed, "agent")
        self._scale = RewardScale(worlds.count, rule.discount) if rule.scale_rewards else None

    def act(self, step: int) -> Iterator[Lesson]:
        """Act for a rollout, and give its sequences in parts, all of them once an epoch.

        Args:
            step: Number of the step.
        """
        rollout = self._actor.play(self._rule.rollout_length, self._stream.child("actions", step))
        if self._scale is not None:
            rewards = self._scale.scaled(rollout.rewards, rollout.ends)
            rollout = rollout._replace(rewards=rewards)
        steps = self._steps(rollout)
        return (
            Lesson(sequences_of(rollout, rows, steps), rows, {}) for rows in self._minibatches(step)
        )

    def _minibatches(self, step: int) -> Iterator[Tensor]:
        """Copies of the environment, in parts: all of them once an epoch."""
        for epoch in range(self._rule.epochs):
            order = self._stream.child("order", step, epoch).numpy().permutation(self.worlds.count)
            yield from torch.from_numpy(order).tensor_split(self._rule.minibatches)

    def _steps(self, rollout: Rollout) -> dict[str, Tensor]:
        """Numbers of each step that the rule compares with."""
        advantages, returns = self._rule.advantages(
            rollout.rewards, rollout.values, rollout.next_values, rollout.ends
        )
        return {
            "log_probs": rollout.log_probs,
            "values": rollout.values,
            "advantages": advantages,
            "returns": returns,
        }

    def stops(self, state: Mapping[str, Tensor]) -> bool:
        """True beyond the limit of the rule's divergence.

        Args:
            state: What the loss gave beside it.
        """
        return self._rule.is_beyond_limit(state)

    def after(self, lesson: Lesson, state: Mapping[str, Tensor], step: int) -> None:
        """Nothing is noted."""

    def policy(self, count: int, stream: Stream) -> Policy:
        """A policy that draws from what the agent answers, as in training.

        Args:
            count: Number of episodes.
            stream: Where actions are drawn from.
        """
        agents, num_actions, steps = Agents(self._model, count), self.worlds.num_actions, 0

        def act(observations: np.ndarray) -> np.ndarray:
            nonlocal steps
            steps += 1
            noise = uniform(stream.child(steps), count, num_actions)
            return agents.act(observations, noise).actions.numpy()

        return act

    def state(self) -> dict[str, Any]:
        """Where the agent is in its episodes, and the scale of its rewards."""
        scale = {} if self._scale is None else self._scale.state()
        return self._actor.state() | {f"scale.{name}": part for name, part in scale.items()}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go back to a state that `state` returned.

        Args:
            state: The state.
        """
        self._actor.load_state(state)
        if self._scale is not None:
            self._scale.load_state(part_of(state, "scale."))
