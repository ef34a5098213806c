"""Agents in training."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, final

import torch
from torch import Tensor

from farfield.core import Problems, forked_generators, seed_generators, stream
from farfield.experiments import Experiment
from farfield.models import ActorCritic
from farfield.objectives import PPO, Bound, Update
from farfield.records import Score, from_tensors, to_tensors
from farfield.tasks import TRAINING, Environment, metric_of
from farfield.training._learner import load_passing_buffers, passing_buffers
from farfield.training._optimizer_state import load_optimizer_state, optimizer_state
from farfield.training._play import score_agent
from farfield.training._rollouts import Actor, Rollout, sequences_of
from farfield.training._start import first_network
from farfield.training._turns import optimizers_of, part_of, turns_of


@final
class OneAgent:
    """A single agent that acts in an environment and learns from what it met there.

    Args:
        experiment: What is trained.
        seed: Number of the run.
        start: The trained agent that the experiment starts from, by the names of its state; `None`
            where it starts from none.

    Raises:
        ValueError: If `start` is missing, given for nothing, or does not fit.
    """

    def __init__(
        self, experiment: Experiment, seed: int, *, start: Mapping[str, Any] | None = None
    ) -> None:
        self.seeds: tuple[int, ...] = (seed,)
        self._experiment = experiment
        self.model, self._environment, self._rule = _parts(experiment, seed, start)
        self._learned = {n: p for n, p in self.model.named_parameters() if p.requires_grad}
        (self._turn,) = turns_of(experiment, self._learned)
        self._stream = stream(seed, "agent")
        self._noise = stream(seed, "noise")
        self._copies = experiment.recipe.batch_size
        place = stream(seed, "problems")
        self._actor = Actor(self.model, self._environment, TRAINING, self._copies, place)
        self._loss = torch.zeros(1)

    def update(self, step: int) -> Tensor:
        """Act for a rollout and learn from it; gives the mean of its losses, `(1,)`.

        It leaves the global generators seeded, which `train` puts back.
        """
        self.model.eval()
        seed_generators(self._noise.child(step, "rollout"))
        rollout = self._actor.play(self._rule.rollout_length, self._stream.child("actions", step))
        steps = self._steps(rollout)
        self.model.train()
        seed_generators(self._noise.child(step))
        losses = [
            self._move(sequences_of(rollout, rows, steps), step) for rows in self._minibatches(step)
        ]
        self._loss = torch.stack(losses).mean(0, keepdim=True)
        return self._loss

    def _minibatches(self, step: int) -> Iterator[Tensor]:
        """Copies of the environment, in parts: all of them once an epoch."""
        for epoch in range(self._rule.epochs):
            order = self._stream.child("order", step, epoch).numpy().permutation(self._copies)
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

    def _move(self, sequences: Problems, step: int) -> Tensor:
        """One update of the parameters; gives its loss."""
        for parameter in self._learned.values():
            parameter.grad = None
        update = Update(
            network=Bound(module=self.model),
            batches={TRAINING: sequences},
            task_loss=_no_loss,
            state=self._turn.state,
            progress=step / self._experiment.recipe.steps,
        )
        loss, _ = self._rule.loss(update)
        loss.backward()  # type: ignore[no-untyped-call]
        self._turn.step(step)
        return loss.detach()

    def score(self, step: int) -> list[list[Score]]:
        """Scores of every regime after `step` updates."""
        self.model.eval()
        place = stream(self.seeds[0], "scoring")
        with forked_generators(place):
            found = score_agent(self.model, self._environment, step, place)
        return [[*found, self._loss_point(step)]]

    def training_metrics(self, step: int) -> list[list[Score]]:
        """Mean score of the last episodes, then the loss of the last rollout."""
        value, count = self._actor.score()
        metric = metric_of(self._environment)
        first = Score(step=step, regime=TRAINING, metric=metric, value=value, count=count)
        return [[first, self._loss_point(step)]]

    def _loss_point(self, step: int) -> Score:
        loss = float(self._loss.mean())
        return Score(step=step, regime=TRAINING, metric="loss", value=loss, count=self._copies)

    def weights(self) -> list[dict[str, Any]]:
        """The state dictionary of the agent."""
        return [dict(self.model.state_dict())]

    def state(self) -> dict[str, Tensor]:
        """Parameters, buffers, the optimizer's memory, and where the agent is in its episodes."""
        state = {f"model.{name}": content for name, content in self.model.state_dict().items()}
        state |= passing_buffers(self.model)
        state |= {f"agent.{name}": content for name, content in self._actor.state().items()}
        state |= {"agent.loss": self._loss}
        return to_tensors(state | optimizer_state(optimizers_of([self._turn])))

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Go back to a state that `state` returned."""
        whole = from_tensors(state)
        self.model.load_state_dict(part_of(whole, "model."))
        load_passing_buffers(self.model, state)
        own = part_of(whole, "agent.")
        self._loss = own["loss"]
        self._actor.load_state(own)
        load_optimizer_state(optimizers_of([self._turn]), whole)


def _parts(
    experiment: Experiment, seed: int, start: Mapping[str, Any] | None
) -> tuple[ActorCritic, Environment, PPO]:
    """The agent before its first step, its environment and its learning rule."""
    model, task, rule = (
        first_network(experiment, seed, start),
        experiment.task,
        experiment.objective,
    )
    if isinstance(model, ActorCritic) and isinstance(task, Environment) and isinstance(rule, PPO):
        return model, task, rule
    raise ValueError(
        "experiment must be of an environment, with an AgentNetwork and PPO, got "
        f"{type(task).__name__}, {type(model).__name__} and {type(rule).__name__}"
    )


def _no_loss(_outputs: Tensor, _problems: Problems) -> Tensor:
    """An environment has rewards in place of a loss."""
    raise ValueError("objective must not ask for the loss of a task that is an environment")
