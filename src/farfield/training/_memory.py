"""A memory of the latest steps of agents, from which steps are drawn by their priorities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, final

import numpy as np
import torch
from jaxtyping import Bool, Float, Float64, Int64, Shaped
from torch import Tensor

from farfield.functional import prioritized_rows
from farfield.training._scored_worlds import Outcome


@final
class Remembered(NamedTuple):
    """Steps drawn from a memory, each with those that follow it in its copy.

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

    An observation is kept once. Where an episode is truncated, its last one has a row of its own,
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
            outcome: What came of it.
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
        """Steps in proportion to their priorities.

        Args:
            uniform: Numbers of 0…1, as `farfield.functional.prioritized_rows` takes them.
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
        """Observation some steps after each of the steps drawn.

        Args:
            rows: Rows of the memory.
            steps: How many steps after each.
        """
        step, copy = self._steps_of(rows, steps.unsqueeze(1))
        return self._parts["observations"][step[:, 0], copy[:, 0]]

    def _steps_of(self, rows: Tensor, offsets: Tensor) -> tuple[Tensor, Tensor]:
        """Places in the ring of a copy behind each row, and the copy."""
        step, copy = rows.unsqueeze(1) // self._copies, rows.unsqueeze(1) % self._copies
        return (step + offsets) % self._rows, copy

    def set_priorities(
        self, rows: Int64[Tensor, " batch"], priorities: Float64[Tensor, " batch"]
    ) -> None:
        """Priorities with which steps are drawn from now on.

        Args:
            rows: Rows of the memory.
            priorities: Of each.
        """
        self._parts["priorities"].view(-1)[rows] = priorities
        self._highest = self._highest.maximum(priorities.max())

    def state(self) -> dict[str, Tensor]:
        """The rows that are written, for a checkpoint."""
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
