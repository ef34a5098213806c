"""Agents in training."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, final

import torch
from torch import Tensor, nn

from farfield.core import Problems, Stream, stream
from farfield.core.internal import forked_generators, seed_generators
from farfield.experiments import Experiment
from farfield.models import ActorCritic, QuantileAgent
from farfield.objectives import PPO, Bound, RainbowIQN, Update
from farfield.records import Score
from farfield.records.internal import from_tensors, to_tensors
from farfield.tasks import TRAINING, Environment
from farfield.tasks.internal import metric_of
from farfield.training._loop import update
from farfield.training._memory import FromMemory
from farfield.training._networks import first_network
from farfield.training._practice import Lesson, Practice, ScoredWorlds, score_policy
from farfield.training._rollouts import FromRollouts
from farfield.training._state import (
    held_generators,
    load_optimizer_state,
    load_passing_buffers,
    load_plain_state,
    optimizer_state,
    passing_buffers,
    plain_state,
    reseed_all,
)
from farfield.training._turns import REMEMBERED, Turn, optimizers_of, part_of, turns_of

PRACTICE: Final = f"{REMEMBERED}."
"""Prefix of the state of a practice in a checkpoint; a memory grows."""


class _Batch(NamedTuple):
    """A lesson of the practice, and the update that is made of it."""

    lesson: Lesson
    update: Update


@final
class OneAgent:
    """A single agent that acts in an environment and learns from its steps there.

    Args:
        start: The trained agent that the experiment starts from, by the names of its state; `None`
            where it starts from none.

    Raises:
        ValueError: If `start` is missing, given for nothing, or does not fit.
    """

    def __init__(
        self, experiment: Experiment, seed: int, *, start: Mapping[str, Any] | None = None
    ) -> None:
        self.seeds: tuple[int, ...] = (seed,)
        self.again: Callable[[], OneAgent] | None = partial(OneAgent, experiment, seed, start=start)
        self._experiment = experiment
        self.model = first_network(experiment, seed, start)
        self._environment, self._practice = _practice_of(experiment, self.model, seed)
        self._practice.worlds.state()  # refused now where worlds have none, not after minutes
        self._learned = {n: p for n, p in self.model.named_parameters() if p.requires_grad}
        (self._turn,) = turns_of(experiment, self._learned)
        self._noise = stream(seed, "noise")
        self._held = held_generators(self.model, experiment.task, self._turn.objective)
        self._loss = torch.zeros(1)

    def update(self, step: int) -> Tensor:
        """Act and learn from the steps; return the mean of the losses, `(1,)`.

        It leaves the global generators seeded, which `train` puts back.
        """
        return update(self, self._experiment.recipe, step)

    def draw(self, step: int) -> Iterator[tuple[Turn, _Batch]]:
        """Act in the environment, and draw the batches that are learned from at a step."""
        self.model.eval()
        self._seed(self._noise.child(step, "rollout"))
        lessons = self._practice.act(step)
        self.model.train()
        self._seed(self._noise.child(step))
        for lesson in lessons:
            update_of_lesson = Update(
                network=Bound(module=self.model),
                batches={TRAINING: lesson.problems},
                task_loss=_no_loss,
                draws=lesson.draws,
                state=self._turn.state,
                progress=step / self._experiment.recipe.steps,
            )
            yield self._turn, _Batch(lesson, update_of_lesson)

    def differentiate(
        self, turn: Turn, batch: _Batch
    ) -> tuple[Tensor, Mapping[str, Tensor] | None]:
        """Compute the loss of a batch and its gradients; no state where the rule stops."""
        for parameter in self._learned.values():
            parameter.grad = None
        loss, state = turn.objective.loss(batch.update)
        if self._practice.stops(state):
            return loss.detach(), None
        loss.backward()  # type: ignore[no-untyped-call]
        return loss.detach(), state

    def remember(self, turn: Turn, batch: _Batch, state: Mapping[str, Tensor], step: int) -> None:
        """Let the practice take note of an update of the parameters."""
        del turn
        self._practice.after(batch.lesson, state, step)

    def join(self, losses: Sequence[Tensor]) -> Tensor:
        """Average the losses of all batches of a step, `(1,)`."""
        self._loss = torch.stack([*losses]).mean(0, keepdim=True)
        return self._loss

    def _seed(self, numbers: Stream) -> None:
        """Seed all generators that modules may draw from: they hold no state of a run."""
        seed_generators(numbers)
        reseed_all(self._held, numbers)

    def score(self, step: int) -> list[list[Score]]:
        """Compute scores of every regime after `step` updates."""
        self.model.eval()
        source = stream(self.seeds[0], "scoring")
        with forked_generators(source):
            self._seed(source)
            found = score_policy(self._practice.policy, self._environment, step, source)
        return [[*found, self._loss_point(step)]]

    def training_metrics(self, step: int) -> list[list[Score]]:
        """Compute the mean score of the last episodes, then the loss of the last rollout."""
        value, count = self._practice.worlds.score()
        metric = metric_of(self._environment)
        first = Score(step=step, regime=TRAINING, metric=metric, value=value, count=count)
        return [[first, self._loss_point(step)]]

    def _loss_point(self, step: int) -> Score:
        loss = float(self._loss.mean())
        return Score(
            step=step,
            regime=TRAINING,
            metric="loss",
            value=loss,
            count=self._experiment.recipe.batch_size,
        )

    def weights(self) -> list[dict[str, Any]]:
        """Read the state dictionary of the agent."""
        return [dict(self.model.state_dict())]

    def state(self) -> dict[str, Tensor]:
        """Collect parameters, buffers, and the state of the optimizer and of the practice."""
        state = {f"model.{name}": content for name, content in self.model.state_dict().items()}
        state |= passing_buffers(self.model) | plain_state(self.model)
        worlds, practice = self._practice.worlds.state(), self._practice.state()
        state |= {f"agent.{name}": content for name, content in worlds.items()}
        state |= {f"{PRACTICE}{name}": content for name, content in practice.items()}
        state |= {"agent.loss": self._loss}
        return to_tensors(state | optimizer_state(optimizers_of([self._turn])))

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Go back to a state that `state` returned."""
        whole = from_tensors(state)
        self.model.load_state_dict(part_of(whole, "model."))
        load_passing_buffers(self.model, state)
        load_plain_state(self.model, state)
        own = part_of(whole, "agent.")
        self._loss = own["loss"]
        self._practice.worlds.load_state(own)
        self._practice.load_state(part_of(whole, PRACTICE))
        load_optimizer_state(optimizers_of([self._turn]), whole)


def _practice_of(
    experiment: Experiment, model: nn.Module, seed: int
) -> tuple[Environment, Practice]:
    """Make the environment of an agent, and its practice before the first step."""
    task, rule, recipe = experiment.task, experiment.objective, experiment.recipe
    source = stream(seed, "problems")
    if isinstance(task, Environment):
        if isinstance(model, ActorCritic) and isinstance(rule, PPO):
            worlds = ScoredWorlds(task, TRAINING, recipe.batch_size, source)
            return task, FromRollouts(model, rule, worlds, seed)
        if isinstance(model, QuantileAgent) and isinstance(rule, RainbowIQN):
            worlds = ScoredWorlds(task, TRAINING, rule.copies, source)
            return task, FromMemory(model, rule, worlds, recipe, seed)
    raise ValueError(
        "experiment must be of an environment, with an AgentNetwork and PPO, or with a "
        f"QuantileNetwork and RainbowIQN, got {type(task).__name__}, {type(model).__name__} and "
        f"{type(rule).__name__}"
    )


def _no_loss(_outputs: Tensor, _problems: Problems) -> Tensor:
    """Refuse a loss: an environment has rewards."""
    raise ValueError("objective must not ask for the loss of a task that is an environment")
