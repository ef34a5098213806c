"""Practice with a memory: each step may be learned from many times, surprising steps more."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, NamedTuple, final

import numpy as np
import torch
from jaxtyping import Bool, Float, Float64, Int64, Shaped
from torch import Tensor

from farfield.core import Problems, Stream, stream
from farfield.experiments import Recipe
from farfield.functional.internal import double_estimate, importance_weights, prioritized_rows
from farfield.models import QuantileAgent
from farfield.objectives import RainbowIQN
from farfield.training._practice import Lesson, Outcome, Policy, ScoredWorlds
from farfield.training._turns import part_of


@final
class Remembered(NamedTuple):
    """Steps drawn from a memory, each with the next steps of its copy.

    Attributes:
        rows: Rows of the memory.
        probabilities: Probability of each to be drawn.
        observations: Observation before each.
        actions: Action taken.
        rewards: Rewards of it and of the steps that follow.
        terminations: Whether the episode terminates with them.
        truncations: Whether it is truncated there.
    """

    rows: Int64[Tensor, " batch"]
    probabilities: Float64[Tensor, " batch"]
    observations: Shaped[Tensor, "batch ..."]
    actions: Int64[Tensor, " batch"]
    rewards: Float[Tensor, "batch time"]
    terminations: Bool[Tensor, "batch time"]
    truncations: Bool[Tensor, "batch time"]


@final
class Memory:
    """The latest steps of several copies of an environment, a ring of rows for each copy.

    An observation is kept once. Where an episode is truncated, its last one has a separate row,
    which is never drawn. A step can be drawn once as many as `num_steps` stand behind it.

    Args:
        size: Rows of all copies.
        observations: Observations of the copies, for their number, shape and type.
        num_steps: Steps that are drawn together.
    """

    def __init__(self, size: int, observations: np.ndarray, num_steps: int) -> None:
        self._copies, self._rows = len(observations), size // len(observations)
        self._num_steps = num_steps
        types = {
            "actions": torch.int64,
            "rewards": torch.float32,
            "terminations": torch.bool,
            "truncations": torch.bool,
            "is_step": torch.bool,
            "priorities": torch.float64,
        }
        sizes = (self._rows, self._copies)
        self._parts = {name: torch.zeros(sizes, dtype=dtype) for name, dtype in types.items()}
        seen = torch.from_numpy(observations)
        self._parts["observations"] = torch.zeros(*sizes, *seen.shape[1:], dtype=seen.dtype)
        self._written = torch.zeros(self._copies, dtype=torch.int64)
        self._highest = torch.ones((), dtype=torch.float64)

    def add(self, observations: np.ndarray, actions: Tensor, outcome: Outcome) -> None:
        """Remember a step of every copy.

        Args:
            observations: Observation of each before it.
            actions: Action of each.
            outcome: Outcome of the step.
        """
        parts = {
            "observations": torch.from_numpy(observations),
            "actions": actions,
            "rewards": outcome.rewards,
            "terminations": outcome.terminations,
            "truncations": outcome.truncations,
            "is_step": torch.ones(self._copies, dtype=torch.bool),
        }
        self._write(torch.arange(self._copies), parts)
        if len(copies := outcome.truncations.nonzero().squeeze(1)):
            last = {name: torch.zeros_like(part[copies]) for name, part in parts.items()}
            self._write(copies, last | {"observations": torch.from_numpy(outcome.final)[copies]})

    def _write(self, copies: Tensor, parts: Mapping[str, Tensor]) -> None:
        """Write the next row of some copies, and let the steps be drawn that have enough now."""
        written, priorities = self._written[copies], self._parts["priorities"]
        for name, part in parts.items():
            self._parts[name][written % self._rows, copies] = part
        priorities[written % self._rows, copies] = 0.0
        ready = (written - self._num_steps) % self._rows
        is_step = (written >= self._num_steps) & self._parts["is_step"][ready, copies]
        priorities[ready, copies] = self._highest.where(is_step, 0.0)
        self._written[copies] += 1

    def draw(self, uniform: Float64[Tensor, " batch"]) -> Remembered:
        """Draw steps in proportion to their priorities.

        Args:
            uniform: Numbers of 0…1, as `farfield.functional.internal.prioritized_rows` takes them.
        """
        priorities = self._parts["priorities"].flatten()
        rows = prioritized_rows(priorities, uniform)
        step, copy = self._steps_of(rows, torch.arange(self._num_steps))
        return Remembered(
            rows=rows,
            probabilities=priorities[rows] / priorities.sum(),
            observations=self._parts["observations"][step[:, 0], copy[:, 0]],
            actions=self._parts["actions"][step[:, 0], copy[:, 0]],
            rewards=self._parts["rewards"][step, copy],
            terminations=self._parts["terminations"][step, copy],
            truncations=self._parts["truncations"][step, copy],
        )

    def observations_after(
        self, rows: Int64[Tensor, " batch"], steps: Int64[Tensor, " batch"]
    ) -> Shaped[Tensor, "batch ..."]:
        """Return the observation some steps after each of the drawn steps.

        Args:
            rows: Rows of the memory.
            steps: How many steps after each.
        """
        step, copy = self._steps_of(rows, steps.unsqueeze(1))
        return self._parts["observations"][step[:, 0], copy[:, 0]]

    def _steps_of(self, rows: Tensor, offsets: Tensor) -> tuple[Tensor, Tensor]:
        """Return rows of the ring behind each row, and the copy."""
        step, copy = rows.unsqueeze(1) // self._copies, rows.unsqueeze(1) % self._copies
        return (step + offsets) % self._rows, copy

    def set_priorities(
        self, rows: Int64[Tensor, " batch"], priorities: Float64[Tensor, " batch"]
    ) -> None:
        """Set the priorities with which steps are drawn from now on.

        Args:
            rows: Rows of the memory.
            priorities: Of each.
        """
        self._parts["priorities"].view(-1)[rows] = priorities
        self._highest = self._highest.maximum(priorities.max())

    def state(self) -> dict[str, Tensor]:
        """Collect the written rows for a checkpoint."""
        rows = int(self._written.max().clamp(max=self._rows))
        parts = {name: part[:rows] for name, part in self._parts.items()}
        return parts | {"written": self._written, "highest": self._highest}

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Go back to a state that `state` returned.

        Args:
            state: The state.
        """
        for name, part in self._parts.items():
            part[: len(state[name])] = state[name]
        self._written, self._highest = state["written"], state["highest"]


@final
class FromMemory:
    """Steps of an agent drawn from a memory, by the rule of `RainbowIQN`.

    Args:
        model: The agent.
        rule: The learning rule.
        worlds: The copies of the environment.
        recipe: The recipe.
    """

    def __init__(
        self,
        model: QuantileAgent,
        rule: RainbowIQN,
        worlds: ScoredWorlds,
        recipe: Recipe,
        seed: int,
    ) -> None:
        self.worlds, self._model, self._rule, self._recipe = worlds, model, rule, recipe
        self._target = copy.deepcopy(model).requires_grad_(False).eval()
        self._memory = Memory(rule.memory_size, worlds.observations, rule.num_steps)
        self._stream = stream(seed, "agent")

    def act(self, step: int) -> list[Lesson]:
        """Act once in every copy, before the first update more often, and draw a batch.

        Args:
            step: Number of the step.
        """
        rounds = 1 if step else -(-self._rule.first_steps // self.worlds.count)
        for number in range(rounds):
            observations = self.worlds.observations
            source = self._stream.child("actions", step, number)
            actions = self._best(observations, source)
            self._memory.add(observations, actions, self.worlds.step(actions))
        return [self._lesson(step)]

    @torch.no_grad()
    def _best(self, observations: np.ndarray, source: Stream) -> Tensor:
        """Choose the best action for each observation under the drawn noise."""
        draws = self._draws(source, len(observations), self._rule.acting_quantiles)
        return self._model(torch.from_numpy(observations), **draws).mean(1).argmax(-1)

    def _draws(self, source: Stream, count: int, quantiles: int) -> dict[str, Tensor]:
        """Draw fractions and noise for some observations."""
        generator = source.torch()
        return {
            "fractions": torch.rand(count, quantiles, generator=generator),
            "noise": torch.randn(count, self._model.noise_size, generator=generator),
        }

    @torch.no_grad()
    def _lesson(self, step: int) -> Lesson:
        """Draw a batch from the memory, with the target quantiles of its returns."""
        count, rule = self._recipe.batch_size, self._rule
        source = self._stream.child("lesson", step)
        uniform = torch.rand(count, dtype=torch.float64, generator=source.child("rows").torch())
        found = self._memory.draw(uniform)
        returns = rule.returns(found.rewards, found.terminations, found.truncations)
        after = self._memory.observations_after(found.rows, returns.steps)
        choosing = self._draws(source.child("choosing"), count, rule.acting_quantiles)
        aimed = self._draws(source.child("aimed"), count, rule.num_quantiles)
        values = double_estimate(self._target(after, **aimed), self._model(after, **choosing))
        exponent = rule.exponent(step / self._recipe.steps)
        problems = Problems(
            items=found.observations,
            index=torch.arange(count).unsqueeze(1),
            target=found.actions,
            latent={
                "targets": returns.returns.unsqueeze(1) + returns.factors.unsqueeze(1) * values,
                "weights": importance_weights(found.probabilities, exponent=exponent).float(),
            },
        )
        draws = self._draws(source.child("learning"), count, rule.num_quantiles)
        return Lesson(problems, found.rows, draws)

    def stops(self, state: Mapping[str, Tensor]) -> bool:
        """Stop never: every lesson gives an update.

        Args:
            state: State that the loss returned.
        """
        del state
        return False

    def after(self, lesson: Lesson, state: Mapping[str, Tensor], step: int) -> None:
        """Give the steps drawn their new priorities, and copy the network when it is time.

        Args:
            lesson: The lesson.
            state: The losses of its steps.
            step: Number of the step.
        """
        self._memory.set_priorities(lesson.rows, self._rule.priorities(state["losses"]))
        if (step + 1) % self._rule.target_period == 0:
            self._target.load_state_dict(self._model.state_dict())

    def policy(self, count: int, stream: Stream) -> Policy:
        """Make the policy of best actions with noise, as in training.

        Args:
            count: Number of episodes.
            stream: Where noise and fractions are drawn from.
        """
        del count
        steps = 0

        def act(observations: np.ndarray) -> np.ndarray:
            nonlocal steps
            steps += 1
            return self._best(observations, stream.child(steps)).numpy()

        return act

    def state(self) -> dict[str, Any]:
        """Collect the memory and the target network."""
        target = {f"target.{name}": part for name, part in self._target.state_dict().items()}
        return target | {f"memory.{name}": part for name, part in self._memory.state().items()}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go back to a state that `state` returned.

        Args:
            state: The state.
        """
        self._target.load_state_dict(part_of(state, "target."))
        self._memory.load_state(part_of(state, "memory."))
