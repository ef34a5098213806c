"""Networks in training: one alone, or a stack of them as one program."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Protocol, final, runtime_checkable

import torch
from torch import Tensor

from farfield.core import Problems, stream
from farfield.experiments import Experiment, Recipe
from farfield.records import Score
from farfield.tasks import TRAINING
from farfield.training._batches import Batches
from farfield.training._evaluate import (
    glanced,
    problems_of_run,
    score_problems,
    score_regimes,
    settle,
    settled_on,
)
from farfield.training._start import embedded, first_network, has_fixed_encoder, without_encoder

GLANCE = 256
"""Training problems behind a point of a training curve, and behind what a person is shown."""

GLANCE_NUMBERS = 4_000_000
"""Most numbers in the items that these problems show: those with large items are fewer."""


@runtime_checkable
class Learner(Protocol):
    """One or more networks of one experiment, updated in step."""

    seeds: tuple[int, ...]

    def update(self, step: int) -> Tensor:
        """Do update number `step`, counted from 0, in every network; gives the loss of each."""
        ...

    def score(self, step: int) -> list[list[Score]]:
        """Scores of every regime after `step` updates, one list per seed."""
        ...

    def glance(self, step: int) -> list[list[Score]]:
        """The metric, then the loss, after `step` updates on some training problems, per seed."""
        ...

    def weights(self) -> list[dict[str, Tensor]]:
        """The state of the networks by name, one mapping per seed."""
        ...

    def state(self) -> dict[str, Tensor]:
        """Everything that changes with a step: parameters, buffers, moments."""
        ...

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Go back to a state that `state` returned."""
        ...


def adam(learned: Mapping[str, Tensor], recipe: Recipe) -> torch.optim.Adam:
    """Adam with torch's defaults, fused where the tensors allow it.

    Args:
        learned: What it updates, by name.
        recipe: Its step sizes.

    Raises:
        ValueError: If a part that has a step size of its own has nothing that is updated.
    """
    groups: dict[float, list[Tensor]] = {}
    for factor, parameter in zip(recipe.factors([*learned]), learned.values(), strict=True):
        groups.setdefault(factor, []).append(parameter)
    fused = all(parameter.is_floating_point() for parameter in learned.values())
    return torch.optim.Adam(
        [{"params": parameters, "factor": factor} for factor, parameters in groups.items()],
        lr=recipe.learning_rate,
        fused=fused or None,
    )


def set_rate(optimizer: torch.optim.Adam, rate: float) -> None:
    """Give an optimizer of `adam` another step size, and its parts theirs in proportion.

    Args:
        optimizer: The optimizer, changed in place.
        rate: The step size.
    """
    for group in optimizer.param_groups:
        group["lr"] = rate * group["factor"]


def shorten(gradients: Sequence[Tensor], clip_norm: float | None, *, stacked: bool = False) -> None:
    """Bring gradients whose norm, all together, is above `clip_norm` down to it, in place.

    Args:
        gradients: Of the parameters of a network.
        clip_norm: The largest norm; `None` changes nothing.
        stacked: Whether the first axis is that of networks, each of which is taken for itself.
    """
    if clip_norm is None:
        return
    first = int(stacked)
    squares = [g.square().reshape(*g.shape[:first], -1).sum(-1) for g in gradients]
    scale = (clip_norm / torch.stack(squares).sum(0).sqrt()).clamp(max=1)
    for gradient in gradients:
        gradient.mul_(scale.reshape(scale.shape + (1,) * (gradient.ndim - first)))


def moments(optimizer: torch.optim.Adam, learned: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """What the optimizer keeps of each parameter.

    Args:
        optimizer: The optimizer.
        learned: Its parameters by name.
    """
    return {
        f"adam.{moment}.{name}": content
        for name, parameter in learned.items()
        for moment, content in optimizer.state[parameter].items()
    }


def load_moments(
    optimizer: torch.optim.Adam, learned: Mapping[str, Tensor], state: Mapping[str, Tensor]
) -> None:
    """Take over what `moments` gave.

    Args:
        optimizer: The optimizer, changed in place.
        learned: Its parameters by name.
        state: Moments, among other things.
    """
    for name, parameter in learned.items():
        optimizer.state[parameter] = {
            moment: state[f"adam.{moment}.{name}"].to(parameter.device)
            for moment in ("step", "exp_avg", "exp_avg_sq")
            if f"adam.{moment}.{name}" in state
        }


def glimpsed(problems: Problems) -> Problems:
    """The problems behind a glance: fewer where their items are large.

    Args:
        problems: Training problems.
    """
    numbers = problems.index.shape[1] * math.prod(problems.items.shape[1:])
    return problems[: max(1, min(GLANCE, GLANCE_NUMBERS // max(1, numbers)))]


@final
class OneNetwork:
    """A single network: plain module, plain autograd.

    Where nothing of its encoder is trained, each item is embedded once, before the first update.

    Args:
        experiment: What is trained.
        seed: Number of the run.
        device: Where.
        dtype: Floating-point type of items and parameters.
        start: The trained network that the experiment starts from, by the names of its state;
            `None` where it starts from none.

    Raises:
        ValueError: If `start` is missing, given for nothing, or does not fit.
    """

    def __init__(
        self,
        experiment: Experiment,
        seed: int,
        *,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
        start: Mapping[str, Tensor] | None = None,
    ) -> None:
        self.seeds: tuple[int, ...] = (seed,)
        self._experiment = experiment
        self._sets = {
            name: problems.to(device, dtype)
            for name, problems in problems_of_run(experiment.task, seed).items()
        }
        self.model = first_network(experiment, seed, start).to(device=device, dtype=dtype)
        self._training = self._sets[TRAINING]
        self._is_embedded = has_fixed_encoder(self.model)
        if self._is_embedded:
            self._training = embedded(self.model, self._training)
        self._batches = self._batches_of(self._training)
        self._shown = self._batches_of(self._sets[TRAINING]) if self._is_embedded else None
        self._learned = {n: p for n, p in self.model.named_parameters() if p.requires_grad}
        self._optimizer = adam(self._learned, experiment.recipe)
        self._objective_stream = stream(seed, "objective")

    def _batches_of(self, problems: Problems) -> Batches:
        """The batches of the run over some form of the training problems."""
        return Batches(
            problems,
            batch_size=self._experiment.recipe.batch_size,
            stream=stream(self.seeds[0], "batches"),
        )

    def update(self, step: int) -> Tensor:
        """Do update number `step`, counted from 0; gives its loss, `(1,)`."""
        self.model.train()
        self._optimizer.zero_grad(set_to_none=True)
        with self._on_training_items():
            loss = self._experiment.objective(
                self.model,
                self._batches(step),
                lambda outputs, problems: self._loss(outputs, problems, step),
                self._objective_stream.child(step),
            )
        loss.backward()  # type: ignore[no-untyped-call]
        gradients = [p.grad for p in self._learned.values() if p.grad is not None]
        shorten(gradients, self._experiment.recipe.clip_norm)
        set_rate(self._optimizer, self._experiment.recipe.rate(step))
        self._optimizer.step()
        return loss.detach().reshape(1)

    def _on_training_items(self) -> contextlib.AbstractContextManager[None]:
        """The network as it takes the training problems: without encoder if they are embedded."""
        return without_encoder(self.model) if self._is_embedded else contextlib.nullcontext()

    def _loss(self, outputs: Tensor, problems: Problems, step: int) -> Tensor:
        """The task's loss, which may look at the items themselves."""
        if self._shown is not None:
            shown = self._shown(step)
            problems = dataclasses.replace(problems, items=shown.items, index=shown.index)
        return self._experiment.task.loss(outputs, problems)

    def score(self, step: int) -> list[list[Score]]:
        """Scores of every regime after `step` updates."""
        with self._on_training_items():
            settle(self.model, self._training)
        return [score_regimes(self.model, self._experiment.task, self._sets, step)]

    def glance(self, step: int) -> list[list[Score]]:
        """The metric, then the loss, after `step` updates on some training problems, per seed."""
        some, task = glimpsed(self._sets[TRAINING]), self._experiment.task
        model = settled_on(self.model, some)
        return [glanced(step, task, *score_problems(model, task, some))]

    def weights(self) -> list[dict[str, Tensor]]:
        """The state of the network by name."""
        return [dict(self.model.state_dict())]

    def state(self) -> dict[str, Tensor]:
        """Parameters, buffers and moments."""
        model = {f"model.{name}": content for name, content in self.model.state_dict().items()}
        return model | moments(self._optimizer, self._learned)

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Go back to a state that `state` returned."""
        self.model.load_state_dict(
            {n.removeprefix("model."): t for n, t in state.items() if n.startswith("model.")}
        )
        load_moments(self._optimizer, self._learned, state)
