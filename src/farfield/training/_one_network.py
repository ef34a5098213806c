"""A single network in training: plain module, plain autograd."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, final

import torch
from torch import Tensor, nn

from farfield.core import Problems, Stream, stream
from farfield.core.internal import forked_generators, seed_generators
from farfield.experiments import Experiment
from farfield.experiments.internal import is_ours
from farfield.models.internal import FitsAtOnce
from farfield.objectives import Bound, Update
from farfield.records import Score
from farfield.records.internal import from_tensors, to_tensors
from farfield.tasks import TRAINING
from farfield.training._batches import Batches
from farfield.training._evaluate import (
    calibrate,
    calibrated_on,
    loss_on,
    metric_points,
    problems_of_run,
    renew_statistics,
    score_all,
    score_problems,
    scoring_stream,
)
from farfield.training._loop import update
from farfield.training._networks import (
    embedded,
    first_network,
    has_fixed_encoder,
    with_tensors,
    without_encoder,
)
from farfield.training._settings import fixed_settings
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
from farfield.training._turns import (
    Turn,
    optimizers_of,
    part_of,
    renews_statistics,
    scored_tensors,
    turns_of,
)

SUBSET = 256
"""Training problems behind a point of a training curve, and behind the score shown."""

SUBSET_NUMBERS = 4_000_000
"""Most numbers in the items that these problems show: problems with large items are fewer."""


def train_subset(problems: Problems) -> Problems:
    """Select the problems that training metrics are measured on: fewer where their items are large.

    Args:
        problems: Training problems.
    """
    numbers = problems.index.shape[1] * math.prod(problems.items.shape[1:])
    return problems[: max(1, min(SUBSET, SUBSET_NUMBERS // max(1, numbers)))]


@final
class OneNetwork:
    """A single network: plain module, plain autograd.

    Where nothing of its encoder is trained, each item is embedded once, before the first update. A
    network without parameters is scored without an update. A part that fits at once is computed
    from the training problems when the network is built.

    Args:
        dtype: Floating-point type of items and parameters.
        start: The trained network that the experiment starts from, by the names of its state;
            `None` where it starts from none.
        sets: Problems by the name of their set, as the task draws them for the seed; `None` to draw
            them.

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
        sets: Mapping[str, Problems] | None = None,
    ) -> None:
        self.seeds: tuple[int, ...] = (seed,)
        self._experiment = experiment
        drawn = problems_of_run(experiment.problem_task, seed) if sets is None else sets
        self._sets = {name: problems.to(device, dtype) for name, problems in drawn.items()}
        self.again: Callable[[], OneNetwork] | None = partial(
            OneNetwork,
            experiment,
            seed,
            device=device,
            dtype=dtype,
            start=start,
            sets=self._sets if is_ours(type(experiment.task)) else None,
        )

        def build(weights: Stream | None = None) -> nn.Module:
            network = first_network(experiment, seed, start, weights=weights, dtype=dtype)
            return network.to(device=device, dtype=dtype)

        self.model = build()
        self._names = [*self.model.state_dict()]
        self._training = self._sets[TRAINING]
        for part in self.model.modules():
            if isinstance(part, FitsAtOnce):
                with fixed_settings():
                    part.fit_at_once(self._training, stream(seed, "fit").torch())
        self._learned = {n: p for n, p in self.model.named_parameters() if p.requires_grad}
        has_parameters = any(True for _ in self.model.parameters())
        self._turns = turns_of(experiment, self._learned) if has_parameters else []
        objectives = [turn.objective for turn in self._turns]
        self._held = held_generators(self.model, experiment.task, *objectives)
        self._is_embedded = has_fixed_encoder(self.model) and all(
            turn.objective.takes_embeddings for turn in self._turns
        )
        if self._is_embedded:
            with fixed_settings():
                self._training = embedded(self.model, self._training)
        read = self._sets | {TRAINING: self._training}
        self._batches = [turn.batches(read, seed) for turn in self._turns]
        self._shown = self._turns[0].batches(self._sets, seed) if self._is_embedded else {}
        self._stream = stream(seed, "objective")
        self._noise = stream(seed, "noise")
        for turn in self._turns:
            first = turn.stream_of(self._stream, "start")
            network = Bound(module=self.model, build=build)
            turn.state = dict(turn.objective.start(network, read, first))

    def first_problems(self) -> dict[str, Tensor]:
        """Collect the training problems as tensors by name, without items drawn when needed."""
        problems = self._sets[TRAINING]
        found = {"items": problems.items, "index": problems.index, "target": problems.target}
        return {name: part for name, part in found.items() if isinstance(part, Tensor)}

    def update(self, step: int) -> Tensor:
        """Do update number `step`, counted from 0; gives its loss, `(1,)`, the sum over turns.

        It leaves the global generators seeded, which `train` puts back.
        """
        return update(self, self._experiment.recipe, step)

    def draw(self, step: int) -> Iterator[tuple[Turn, Update]]:
        """Draw the batch of every turn of the players, and seed the generators for it."""
        self.model.train()
        for turn, batches in zip(self._turns, self._batches, strict=True):
            for number in turn.numbers(step):
                yield turn, self._batch(turn, batches, number, step)

    def _batch(self, turn: Turn, batches: Mapping[str, Batches], number: int, step: int) -> Update:
        drawn = {name: of(number) for name, of in batches.items()}
        draws = turn.objective.draw(drawn, turn.stream_of(self._stream, number))
        self._seed(turn.stream_of(self._noise, number))
        return Update(
            network=Bound(module=self.model),
            batches=drawn,
            task_loss=lambda outputs, problems: self._loss(outputs, problems, number),
            rows={name: of.rows(number) for name, of in batches.items()},
            draws=draws,
            state=turn.state,
            progress=step / self._experiment.recipe.steps,
            num_domains=turn.num_domains,
        )

    def differentiate(self, turn: Turn, batch: Update) -> tuple[Tensor, Mapping[str, Tensor]]:
        """Compute the loss of a batch and its gradients by the parameters of the turn."""
        for name, parameter in self._learned.items():
            parameter.grad = None
            parameter.requires_grad_(name in turn.learned)
        with self._on_training_items():
            loss, state = turn.objective.loss(batch)
        loss.backward()  # type: ignore[no-untyped-call]
        return loss.detach(), {name: tensor.detach() for name, tensor in state.items()}

    def remember(self, turn: Turn, batch: Update, state: Mapping[str, Tensor], step: int) -> None:
        """Keep the state of the objective after an update of the parameters."""
        del batch
        learned = {name: parameter.detach() for name, parameter in self._learned.items()}
        progress = (step + 1) / self._experiment.recipe.steps
        turn.state = dict(turn.objective.after(state, learned, progress))
        if step == 0:
            self._check_names()

    def join(self, losses: Sequence[Tensor]) -> Tensor:
        """Add the losses of all turns, `(1,)`; a network without parameters has none."""
        return torch.stack([*losses]).sum(0, keepdim=True) if losses else torch.zeros(1)

    def _seed(self, numbers: Stream) -> None:
        """Seed all generators that modules may draw from (dropout): they hold no state of a run."""
        seed_generators(numbers)
        reseed_all(self._held, numbers)

    def _check_names(self) -> None:
        """Raise `ValueError` if the network has made parameters or buffers in training."""
        if new := [name for name in self.model.state_dict() if name not in self._names]:
            raise ValueError(
                f"every parameter and buffer must be made with its module, got {new[0]}, which is "
                "there since the first update; make it in the constructor, or register it with "
                "persistent=False"
            )

    def _on_training_items(self) -> contextlib.AbstractContextManager[None]:
        """Context manager: the network takes training problems, embedded or not."""
        return without_encoder(self.model) if self._is_embedded else contextlib.nullcontext()

    def _loss(self, outputs: Tensor, problems: Problems, number: int) -> Tensor:
        """Compute the task's loss, which may look at the items themselves."""
        if self._shown:
            shown = self._shown[TRAINING](number)
            problems = dataclasses.replace(problems, items=shown.items, index=shown.index)
        return self._experiment.problem_task.loss(outputs, problems)

    def score(self, step: int) -> list[list[Score]]:
        """Compute scores of every regime after `step` updates."""
        self._validate()
        with self._as_scored():
            self._calibrate()
            with self._scoring():
                return [score_all(self._experiment, self.model, self._sets, step, self.seeds[0])]

    def _validate(self) -> None:
        """Give objectives the loss of the trained network on the sets that they validate on."""
        for turn in self._turns:
            if (name := turn.objective.validates) is not None:
                with self._scoring():
                    calibrate(self.model, self._sets[TRAINING])
                    loss = loss_on(self.model, self._experiment.problem_task, self._sets, name)
                turn.state = dict(turn.objective.evaluated(turn.state, loss))

    def _as_scored(self) -> contextlib.AbstractContextManager[None]:
        """Build the network with the tensors that an objective wants it to be scored with."""
        tensors = scored_tensors(self._turns)
        return with_tensors(self.model, tensors) if tensors else contextlib.nullcontext()

    def _calibrate(self) -> None:
        with self._on_training_items(), self._scoring():
            calibrate(self.model, self._training)
            if renews_statistics(self._turns):
                renew_statistics(self.model, self._training, self.seeds[0])

    @contextlib.contextmanager
    def _scoring(self) -> Iterator[None]:
        """Context manager: generators start equally at every scoring; global states return."""
        with forked_generators(numbers := scoring_stream(self.seeds[0])):
            self._seed(numbers)
            yield

    def training_metrics(self, step: int) -> list[list[Score]]:
        """Measure metric, then loss, on some training problems after `step` updates, per seed."""
        some, task = train_subset(self._sets[TRAINING]), self._experiment.problem_task
        with self._as_scored(), self._scoring():
            model = calibrated_on(self.model, some)
            if renews_statistics(self._turns):
                renew_statistics(model, some, self.seeds[0])
            return [metric_points(step, task, *score_problems(model, task, some))]

    def weights(self) -> list[dict[str, Any]]:
        """Return the state dictionary of the scored network."""
        if not scored_tensors(self._turns):
            return [dict(self.model.state_dict())]
        with fixed_settings(flush_denormal=True), self._as_scored():
            self._calibrate()
            return [copy.deepcopy(dict(self.model.state_dict()))]

    def state(self) -> dict[str, Tensor]:
        """Collect parameters, buffers, and the state of optimizers and objectives."""
        state = {f"model.{name}": content for name, content in self.model.state_dict().items()}
        state |= passing_buffers(self.model) | plain_state(self.model)
        for turn in self._turns:
            state |= turn.remembered()
        return to_tensors(state | optimizer_state(optimizers_of(self._turns)))

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Go back to a state that `state` returned."""
        whole = from_tensors(state)
        self.model.load_state_dict(part_of(whole, "model."))
        load_passing_buffers(self.model, state)
        load_plain_state(self.model, state)
        for turn in self._turns:
            turn.remember(whole)
        load_optimizer_state(optimizers_of(self._turns), whole)
