"""Networks in training: one alone, or a stack of them as one program."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatch
from typing import Any, Protocol, final, runtime_checkable

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
from farfield.objectives import Bound, Update
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
from farfield.training._optimizer_state import load_optimizer_state, optimizer_state
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
        """Everything that changes with a step, no two tensors sharing memory."""
        ...

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Go back to a state that `state` returned."""
        ...


def build_optimizer(learned: Mapping[str, Tensor], recipe: Recipe) -> torch.optim.Optimizer:
    """The optimizer of a recipe, with a group for each learning rate and weight decay.

    Args:
        learned: Parameters that it updates, by name.
        recipe: The recipe.

    Raises:
        ValueError: If a part that has a learning rate of its own has nothing that is updated.
    """
    groups: dict[tuple[float, bool], list[Tensor]] = {}
    for factor, (name, parameter) in zip(recipe.factors([*learned]), learned.items(), strict=True):
        decays = not any(fnmatch(name, pattern) for pattern in recipe.optimizer.undecayed)
        groups.setdefault((factor, decays), []).append(parameter)
    decay = recipe.optimizer.weight_decay
    return recipe.optimizer.build(
        [
            {"params": parameters, "factor": factor, "weight_decay": decay if decays else 0.0}
            for (factor, decays), parameters in groups.items()
        ],
        recipe.learning_rate,
    )


def set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Set the learning rate of an optimizer of `build_optimizer`; parts keep their proportion.

    Args:
        optimizer: The optimizer, changed in place.
        rate: The learning rate.
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


def batches_of(
    experiment: Experiment, sets: Mapping[str, Problems], seed: int, *, same_shape: bool = False
) -> dict[str, Batches]:
    """The batches of every set that the objective of an experiment reads.

    Args:
        experiment: The experiment.
        sets: Problems by the name of their set.
        seed: Number of the run.
        same_shape: As `Batches` has it.

    Raises:
        ValueError: If the task has no set of a name.
    """
    base, found = stream(seed, "batches"), dict[str, Batches]()
    for name in experiment.objective.sets:
        if name not in sets:
            raise ValueError(
                f"objective must read sets that the task draws ({', '.join(sets)}), got {name!r}"
            )
        found[name] = Batches(
            sets[name],
            batch_size=experiment.recipe.batch_size,
            stream=base if name == TRAINING else base.child(name),
            same_shape=same_shape,
        )
    return found


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
    values = (value for module in network.modules() for value in vars(module).values())
    return [value for value in values if isinstance(value, Generator)]


def glimpsed(problems: Problems) -> Problems:
    """The problems behind a glance: fewer where their items are large.

    Args:
        problems: Training problems.
    """
    numbers = problems.index.shape[1] * math.prod(problems.items.shape[1:])
    return problems[: max(1, min(GLANCE, GLANCE_NUMBERS // max(1, numbers)))]


def part_of(state: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """The parts whose names begin with a prefix, by the rest of their names.

    Args:
        state: Parts by name.
        prefix: The prefix, e.g. `"model."`.
    """
    return {n.removeprefix(prefix): t for n, t in state.items() if n.startswith(prefix)}


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
        self._is_embedded = experiment.objective.takes_embeddings and has_fixed_encoder(self.model)
        if self._is_embedded:
            with fixed_settings():
                self._training = embedded(self.model, self._training)
        read = self._sets | {TRAINING: self._training}
        self._batches = batches_of(experiment, read, seed)
        self._shown = batches_of(experiment, self._sets, seed) if self._is_embedded else {}
        self._learned = {n: p for n, p in self.model.named_parameters() if p.requires_grad}
        self._optimizer = build_optimizer(self._learned, experiment.recipe)
        self._stream = stream(seed, "objective")
        self._noise = stream(seed, "noise")
        self._remembered = dict(
            experiment.objective.start(Bound(module=self.model), read, self._stream.child("start"))
        )

    def update(self, step: int) -> Tensor:
        """Do update number `step`, counted from 0; gives its loss, `(1,)`.

        It leaves the global generators seeded, which `train` puts back.
        """
        objective, recipe = self._experiment.objective, self._experiment.recipe
        self.model.train()
        self._optimizer.zero_grad(set_to_none=True)
        drawn = {name: batches(step) for name, batches in self._batches.items()}
        draws = objective.draw(drawn, self._stream.child(step))
        self._seed(self._noise.child(step))
        with self._on_training_items():
            loss, state = objective.loss(
                Update(
                    network=Bound(module=self.model),
                    batches=drawn,
                    task_loss=lambda outputs, problems: self._loss(outputs, problems, step),
                    rows={name: batches.rows(step) for name, batches in self._batches.items()},
                    draws=draws,
                    state=self._remembered,
                    progress=step / recipe.steps,
                )
            )
        loss.backward()  # type: ignore[no-untyped-call]
        gradients = [p.grad for p in self._learned.values() if p.grad is not None]
        shorten(gradients, recipe.clip_norm)
        set_rate(self._optimizer, recipe.rate(step))
        self._optimizer.step()
        state = {name: tensor.detach() for name, tensor in state.items()}
        learned = {name: parameter.detach() for name, parameter in self._learned.items()}
        self._remembered = dict(objective.after(state, learned, (step + 1) / recipe.steps))
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
        if self._shown:
            shown = self._shown[TRAINING](step)
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
        """Parameters, buffers, and what optimizer and objective remember."""
        model = {f"model.{name}": content for name, content in self.model.state_dict().items()}
        state = {f"objective.{name}": tensor for name, tensor in self._remembered.items()}
        model |= passing_buffers(self.model)
        return to_tensors(model | state | optimizer_state(self._optimizer))

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Go back to a state that `state` returned."""
        whole = from_tensors(state)
        self.model.load_state_dict(part_of(whole, "model."))
        load_passing_buffers(self.model, state)
        self._remembered = part_of(whole, "objective.")
        load_optimizer_state(self._optimizer, whole)
