"""Networks in training: one alone, or a stack of them as one program."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, final, runtime_checkable

import numpy as np
import torch
from torch import Tensor, nn

from farfield.core import (
    Generator,
    Problems,
    Stream,
    forked_generators,
    reseed,
    seed_generators,
    stream,
)
from farfield.experiments import Experiment, Recipe
from farfield.records import Score, from_tensors, to_tensors
from farfield.tasks import TRAINING
from farfield.training._batches import Batches
from farfield.training._evaluate import (
    glanced,
    problems_of_run,
    score_problems,
    score_regimes,
    scoring_stream,
    settle,
    settled_on,
)
from farfield.training._settings import fixed_settings
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

    def weights(self) -> list[dict[str, Any]]:
        """The state dictionaries of the networks, one per seed."""
        ...

    def state(self) -> dict[str, Tensor]:
        """Parameters, buffers and moments: what changes with a step, none sharing memory."""
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


BUFFER = "buffer."
"""Beginning of the name of a buffer in a checkpoint that is in no state dictionary."""


def passing_buffers(network: nn.Module) -> dict[str, Tensor]:
    """The buffers of a network that its state dictionary leaves out, for a checkpoint.

    Args:
        network: The network.
    """
    kept = network.state_dict().keys()
    buffers = network.named_buffers(remove_duplicate=False)
    return {BUFFER + name: buffer for name, buffer in buffers if name not in kept}


def load_passing_buffers(network: nn.Module, state: Mapping[str, Tensor]) -> None:
    """Take over what `passing_buffers` gave.

    Args:
        network: The network, changed in place.
        state: Buffers, among other things.
    """
    for name, found in state.items():
        if not name.startswith(BUFFER):
            continue
        part, _, leaf = name.removeprefix(BUFFER).rpartition(".")
        module = network.get_submodule(part)
        own = getattr(module, leaf, None)
        if isinstance(own, Tensor) and own.shape == found.shape:
            own.copy_(found)
        else:
            module.register_buffer(leaf, found, persistent=False)


def held_generators(network: nn.Module) -> list[Generator]:
    """The generators of random numbers that the modules of a network hold as attributes.

    Args:
        network: The network.
    """
    kinds = (torch.Generator, np.random.Generator, np.random.RandomState, random.Random)
    values = (value for module in network.modules() for value in vars(module).values())
    return [value for value in values if isinstance(value, kinds)]


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
        ValueError: If `start` is missing, given for nothing, or does not fit, or if the state of
            the network cannot be kept, which the first update may show.
    """

    def __init__(
        self,
        experiment: Experiment,
        seed: int,
        *,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
        start: Mapping[str, Any] | None = None,
    ) -> None:
        self.seeds: tuple[int, ...] = (seed,)
        self._experiment = experiment
        self._sets = {
            name: problems.to(device, dtype)
            for name, problems in problems_of_run(experiment.task, seed).items()
        }
        self.model = first_network(experiment, seed, start).to(device=device, dtype=dtype)
        self._names = [*self.model.state_dict()]
        self._held = held_generators(self.model)
        self._training = self._sets[TRAINING]
        self._is_embedded = has_fixed_encoder(self.model)
        if self._is_embedded:
            with fixed_settings():
                self._training = embedded(self.model, self._training)
        self._batches = self._batches_of(self._training)
        self._shown = self._batches_of(self._sets[TRAINING]) if self._is_embedded else None
        self._learned = {n: p for n, p in self.model.named_parameters() if p.requires_grad}
        self._optimizer = adam(self._learned, experiment.recipe)
        self._objective_stream = stream(seed, "objective")
        self._noise = stream(seed, "noise")

    def _batches_of(self, problems: Problems) -> Batches:
        """The batches of the run over some form of the training problems."""
        return Batches(
            problems,
            batch_size=self._experiment.recipe.batch_size,
            stream=stream(self.seeds[0], "batches"),
        )

    def update(self, step: int) -> Tensor:
        """Do update number `step`, counted from 0; gives its loss, `(1,)`.

        It leaves the global generators seeded, which `train` puts back.
        """
        self.model.train()
        self._optimizer.zero_grad(set_to_none=True)
        batch = self._batches(step)
        self._seed(self._noise.child(step))
        with self._on_training_items():
            loss = self._experiment.objective(
                self.model,
                batch,
                lambda outputs, problems: self._loss(outputs, problems, step),
                self._objective_stream.child(step),
            )
        loss.backward()  # type: ignore[no-untyped-call]
        gradients = [p.grad for p in self._learned.values() if p.grad is not None]
        shorten(gradients, self._experiment.recipe.clip_norm)
        set_rate(self._optimizer, self._experiment.recipe.rate(step))
        self._optimizer.step()
        if step == 0:
            self._check_names()
        return loss.detach().reshape(1)

    def _seed(self, numbers: Stream) -> None:
        """Seed all generators that modules may draw from (dropout): they hold no state of a run."""
        seed_generators(numbers)
        for position, generator in enumerate(self._held):
            reseed(generator, numbers.child("held", position))

    def _check_names(self) -> None:
        """Refuse a network that has made parameters or buffers on the way."""
        if new := [name for name in self.model.state_dict() if name not in self._names]:
            raise ValueError(
                f"every parameter and buffer must be made with its module, got {new[0]}, which is "
                "there since the first update; make it in the constructor, or register it with "
                "persistent=False"
            )

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
        with self._on_training_items(), self._scoring():
            settle(self.model, self._training)
        with self._scoring():
            return [score_regimes(self.model, self._experiment.task, self._sets, step)]

    @contextlib.contextmanager
    def _scoring(self) -> Iterator[None]:
        """All generators as every scoring finds them; then the global ones as they were."""
        with forked_generators(numbers := scoring_stream(self.seeds[0])):
            self._seed(numbers)
            yield

    def glance(self, step: int) -> list[list[Score]]:
        """The metric, then the loss, after `step` updates on some training problems, per seed."""
        some, task = glimpsed(self._sets[TRAINING]), self._experiment.task
        with self._scoring():
            model = settled_on(self.model, some)
            return [glanced(step, task, *score_problems(model, task, some))]

    def weights(self) -> list[dict[str, Any]]:
        """The state dictionary of the network."""
        return [dict(self.model.state_dict())]

    def state(self) -> dict[str, Tensor]:
        """Parameters, buffers and moments."""
        model = {f"model.{name}": content for name, content in self.model.state_dict().items()}
        model |= passing_buffers(self.model)
        return to_tensors(model | moments(self._optimizer, self._learned))

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Go back to a state that `state` returned."""
        self.model.load_state_dict(
            {
                name.removeprefix("model."): content
                for name, content in from_tensors(state).items()
                if name.startswith("model.")
            }
        )
        load_passing_buffers(self.model, state)
        load_moments(self._optimizer, self._learned, state)
