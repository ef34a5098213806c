"""Practice with rollouts: each is learned from a few times, and then forgotten."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, final

import numpy as np
import torch
from jaxtyping import Bool, Float, Int64, Shaped
from torch import Tensor

from farfield.core import Problems, Stream, stream
from farfield.models import ActorCritic
from farfield.objectives import PPO
from farfield.training._practice import Lesson, Policy, ScoredWorlds
from farfield.training._turns import part_of

EPS: Final = 1e-8
FIRST_WEIGHT: Final = 1e-4
"""Weight of the first variance, which is 1, in numbers of returns."""


@final
class RewardScale:
    r"""Running variance of the discounted returns $G_t = \gamma G_{t-1} + r_t$ of all copies.

    A reward is divided by its root, the returns of the same step included, so that the values
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
        """Divide the rewards of the next steps, and update the variance.

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
        """Update mean and variance by further returns (Chan et al. 1979)."""
        count, change = len(returns), returns.mean() - self._mean
        total = self._weight + count
        squares = self._variance * self._weight + returns.var(correction=0) * count
        self._variance = (squares + change.square() * self._weight * count / total) / total
        self._mean = self._mean + change * count / total
        self._weight = total

    def state(self) -> dict[str, Tensor]:
        """Collect everything that changes with a step, for a checkpoint."""
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


State = tuple[Tensor, ...]
"""Parts of the state of agents, the batch on axis 1 of each."""


@final
class Rollout(NamedTuple):
    """Steps of several copies of an environment, with the decisions of the agents.

    Attributes:
        observations: Observation before each step.
        actions: Action taken.
        log_probs: Its log-probability.
        rewards: Reward.
        values: Value before the step.
        next_values: Value after it; 0 where the episode terminated.
        ends: Whether the episode ends with the step.
        begins: Whether an episode begins with the first step.
        state: State of the agents before it.
    """

    observations: Shaped[Tensor, "batch time ..."]
    actions: Int64[Tensor, "batch time"]
    log_probs: Float[Tensor, "batch time"]
    rewards: Float[Tensor, "batch time"]
    values: Float[Tensor, "batch time"]
    next_values: Float[Tensor, "batch time"]
    ends: Bool[Tensor, "batch time"]
    begins: Bool[Tensor, " batch"]
    state: State


class Decision(NamedTuple):
    """Actions of agents at one step, their log-probabilities, and values."""

    actions: Int64[Tensor, " batch"]
    log_probs: Float[Tensor, " batch"]
    values: Float[Tensor, " batch"]


@final
class Agents:
    """Copies of one agent with a state each, which act and remember.

    Args:
        model: The agent.
        count: Number of copies.

    Attributes:
        begins: Whether the next observation is the first of an episode.
        state: State of the copies.
    """

    def __init__(self, model: ActorCritic, count: int) -> None:
        self._model = model
        self._index = torch.arange(count).unsqueeze(1)
        self.begins = torch.ones(count, dtype=torch.bool)
        self.state: State = tuple(part.detach() for part in model.first_state(count))

    @torch.no_grad()
    def act(self, observations: np.ndarray, noise: Float[Tensor, "batch class"]) -> Decision:
        """Draw an action for each observation, and go on to the state after it.

        Args:
            observations: Observation of each copy.
            noise: Uniform numbers in 0…1, a row for each.
        """
        logits, values, self.state = self._read(observations)
        log_probs = logits.log_softmax(-1)
        # The largest of logits with Gumbel noise is drawn with the probabilities (Gumbel 1954).
        actions = (log_probs - (-noise.log()).log()).argmax(-1)
        taken = log_probs.gather(-1, actions.unsqueeze(-1)).squeeze(-1)
        self.begins = torch.zeros_like(self.begins)
        return Decision(actions, taken, values)

    @torch.no_grad()
    def values(self, observations: np.ndarray) -> Float[Tensor, " batch"]:
        """Estimate the value of each observation; no state changes.

        Args:
            observations: Observation of each copy.
        """
        return self._read(observations)[1]

    def _read(self, observations: np.ndarray) -> tuple[Tensor, Tensor, State]:
        items = torch.from_numpy(observations)
        logits, values, state = self._model(items, self._index, self.state, self.begins)
        return logits[:, 0], values[:, 0], state


def uniform(stream: Stream, *shape: int) -> Tensor:
    """Draw uniform numbers above 0 and below 1, for `Agents.act`.

    Args:
        stream: Where they are drawn from.
        shape: Of the tensor.
    """
    drawn = torch.rand(shape, generator=stream.torch())
    return drawn.clamp(torch.finfo(drawn.dtype).tiny, 1 - torch.finfo(drawn.dtype).eps)


@final
class Actor:
    """An agent in training, with the copies of the environment that it acts in.

    Args:
        model: The agent.
        worlds: The copies.
    """

    def __init__(self, model: ActorCritic, worlds: ScoredWorlds) -> None:
        self._worlds, self._agents = worlds, Agents(model, worlds.count)

    def play(self, length: int, stream: Stream) -> Rollout:
        """Act for some steps in every copy.

        Args:
            length: Number of steps.
            stream: Where actions are drawn from.
        """
        noise = uniform(stream, length, self._worlds.count, self._worlds.num_actions)
        begins, state = self._agents.begins, self._agents.state
        seen, steps = [], []
        for own in noise:
            observations = self._worlds.observations
            seen.append(torch.from_numpy(observations))
            decision = self._agents.act(observations, own)
            steps.append((*decision, *self._step(decision.actions)))
        actions, log_probs, values, rewards, ends, after = (
            torch.stack(parts, dim=1) for parts in zip(*steps, strict=True)
        )
        last = self._agents.values(self._worlds.observations).unsqueeze(1)
        following = torch.cat([values[:, 1:], last], dim=1)
        return Rollout(
            observations=torch.stack(seen, dim=1),
            actions=actions,
            log_probs=log_probs,
            rewards=rewards,
            values=values,
            next_values=torch.where(ends, after, following),
            ends=ends,
            begins=begins,
            state=state,
        )

    def _step(self, actions: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Act, and return rewards, ends, and values after steps that truncate an episode."""
        outcome = self._worlds.step(actions)
        values = torch.zeros(len(actions))
        if outcome.truncations.any():
            values = self._agents.values(outcome.final).where(outcome.truncations, 0.0)
        self._agents.begins = outcome.ends
        return outcome.rewards, outcome.ends, values

    def state(self) -> dict[str, Any]:
        """Collect the state of the agents, for a checkpoint."""
        parts = {f"memory.{n}": part for n, part in enumerate(self._agents.state)}
        return parts | {"begins": self._agents.begins}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go back to a state that `state` returned.

        Args:
            state: The state, among others.
        """
        self._agents.state = tuple(state[f"memory.{n}"] for n in range(len(self._agents.state)))
        self._agents.begins = state["begins"]


def sequences_of(
    rollout: Rollout, rows: Int64[Tensor, " batch"], steps: Mapping[str, Tensor]
) -> Problems:
    """Cut the steps of some copies into problems, one for each part of an episode.

    The shorter ones are filled up with positions at which there is no step.

    Args:
        rollout: The rollout.
        rows: The copies.
        steps: Further numbers of each step, `(batch, time)` by name.
    """
    length = rollout.ends.shape[1]
    begins = torch.cat([torch.ones(len(rows), 1).bool(), rollout.ends[rows, :-1]], dim=1)
    starts = begins.flatten().nonzero().squeeze(1)
    ends = torch.cat([starts[1:], torch.tensor([begins.numel()])])
    offsets = torch.arange(int((ends - starts).max()))
    is_step = offsets < (ends - starts).unsqueeze(1)
    index = torch.where(is_step, starts.unsqueeze(1) + offsets, 0)
    copies, is_first = rows[starts // length], starts % length == 0
    latent = {name: own[rows].flatten()[index] for name, own in steps.items()}
    state = {
        f"state.{number}": part[:, copies].transpose(0, 1)
        for number, part in enumerate(rollout.state)
    }
    return Problems(
        items=rollout.observations[rows].flatten(0, 1),
        index=index,
        target=rollout.actions[rows].flatten()[index],
        latent={
            **latent,
            **state,
            "is_step": is_step,
            "begins": ~is_first | rollout.begins[copies],
        },
    )


@final
class FromRollouts:
    """Rollouts of an agent with memory, by the rule of `PPO`.

    Args:
        model: The agent.
        rule: The learning rule.
        worlds: The copies of the environment.
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
        """Divide the copies of the environment into parts: all of them once an epoch."""
        for epoch in range(self._rule.epochs):
            order = self._stream.child("order", step, epoch).numpy().permutation(self.worlds.count)
            yield from torch.from_numpy(order).tensor_split(self._rule.minibatches)

    def _steps(self, rollout: Rollout) -> dict[str, Tensor]:
        """Collect the numbers of each step that the rule compares with."""
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
        """Tell if the divergence is beyond the limit of the rule.

        Args:
            state: State that the loss returned.
        """
        return self._rule.is_beyond_limit(state)

    def after(self, lesson: Lesson, state: Mapping[str, Tensor], step: int) -> None:
        """Note nothing."""

    def policy(self, count: int, stream: Stream) -> Policy:
        """Make a policy that draws actions by their probabilities, as in training.

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
        """Collect the state of the agent in its episodes, and the scale of its rewards."""
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
