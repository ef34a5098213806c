"""Practice with a memory: every step may be learned from many times, the surprising ones more."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, final

import numpy as np
import torch
from torch import Tensor

from farfield.core import Problems, Stream, stream
from farfield.experiments import Recipe
from farfield.functional import double_estimate, importance_weights
from farfield.models import QuantileAgent
from farfield.objectives import RainbowIQN
from farfield.training._memory import Memory
from farfield.training._practice import Lesson, Policy
from farfield.training._scored_worlds import ScoredWorlds
from farfield.training._turns import part_of


@final
class FromMemory:
    """Steps of an agent drawn from a memory, by the rule of `RainbowIQN`.

    Args:
        model: The agent.
        rule: The learning rule.
        worlds: The copies of the environment.
        recipe: The recipe.
        seed: Number of the run.
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
            place = self._stream.child("actions", step, number)
            actions = self._best(observations, place)
            self._memory.add(observations, actions, self.worlds.step(actions))
        return [self._lesson(step)]

    @torch.no_grad()
    def _best(self, observations: np.ndarray, place: Stream) -> Tensor:
        """The action for each observation that is best with the noise drawn for it."""
        draws = self._draws(place, len(observations), self._rule.acting_quantiles)
        return self._model(torch.from_numpy(observations), **draws).mean(1).argmax(-1)

    def _draws(self, place: Stream, count: int, quantiles: int) -> dict[str, Tensor]:
        """Fractions and noise for some observations."""
        generator = place.torch()
        return {
            "fractions": torch.rand(count, quantiles, generator=generator),
            "noise": torch.randn(count, self._model.noise_size, generator=generator),
        }

    @torch.no_grad()
    def _lesson(self, step: int) -> Lesson:
        """A batch from the memory with the quantiles that its returns are to have."""
        count, rule = self._recipe.batch_size, self._rule
        place = self._stream.child("lesson", step)
        uniform = torch.rand(count, dtype=torch.float64, generator=place.child("rows").torch())
        found = self._memory.draw(uniform)
        returns = rule.returns(found.rewards, found.terminations, found.truncations)
        after = self._memory.observations_after(found.rows, returns.steps)
        choosing = self._draws(place.child("choosing"), count, rule.acting_quantiles)
        aimed = self._draws(place.child("aimed"), count, rule.num_quantiles)
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
        draws = self._draws(place.child("learning"), count, rule.num_quantiles)
        return Lesson(problems, found.rows, draws)

    def stops(self, state: Mapping[str, Tensor]) -> bool:
        """Every lesson gives an update.

        Args:
            state: What the loss gave beside it.
        """
        del state
        return False

    def after(self, lesson: Lesson, state: Mapping[str, Tensor], step: int) -> None:
        """Give the steps drawn their new priorities, and copy the network when it is time.

        Args:
            lesson: What was learned from.
            state: The losses of its steps.
            step: Number of the step.
        """
        self._memory.set_priorities(lesson.rows, self._rule.priorities(state["losses"]))
        if (step + 1) % self._rule.target_period == 0:
            self._target.load_state_dict(self._model.state_dict())

    def policy(self, count: int, stream: Stream) -> Policy:
        """The policy of best actions with noise, as in training.

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
        """The memory, and the network that is aimed at."""
        target = {f"target.{name}": part for name, part in self._target.state_dict().items()}
        return target | {f"memory.{name}": part for name, part in self._memory.state().items()}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go back to a state that `state` returned.

        Args:
            state: The state.
        """
        self._target.load_state_dict(part_of(state, "target."))
        self._memory.load_state(part_of(state, "memory."))
