"""Networks of several seeds in training, as one program."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any, Final, final

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad_and_value, stack_module_state, vmap

from farfield.core import Problems, Stream, forked_generators, stream
from farfield.experiments import Experiment
from farfield.records import Score
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
    wants_statistics,
)
from farfield.training._learner import adam, glimpsed, load_moments, moments, set_rate, shorten
from farfield.training._settings import fixed_settings
from farfield.training._stackable import check_alike, check_kept, first_names, names_to_set
from farfield.training._start import first_network

ONE_PROGRAM: Final = (
    "the objective draws at random: networks of several seeds are one program, which would draw "
    "alike for all of them; train them one after another"
)


@final
class Stack:
    """Networks of several seeds as one program: `vmap` over stacked parameters.

    The single-network code is mapped as it stands; each seed has its own problems, batches and
    initial weights, the same as alone. In float64 the results are those of `OneNetwork`.

    Args:
        experiment: What is trained.
        seeds: Numbers of the runs.
        device: Where.
        dtype: Floating-point type of items and parameters.
        starts: The trained networks that the experiment starts from, one per seed; `None` where it
            starts from none.

    Raises:
        ValueError: If a network to start from is missing, given for nothing, or does not fit; if
            the networks hold what cannot be stacked; and at an update, if the objective draws.
    """

    def __init__(
        self,
        experiment: Experiment,
        seeds: Sequence[int],
        *,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
        starts: Sequence[Mapping[str, Any] | None] | None = None,
    ) -> None:
        self.seeds = tuple(seeds)
        self._experiment = experiment
        self._sets = [
            {
                name: problems.to(device, dtype)
                for name, problems in problems_of_run(experiment.task, seed).items()
            }
            for seed in seeds
        ]
        self._batches = [
            Batches(
                sets[TRAINING],
                batch_size=experiment.recipe.batch_size,
                stream=stream(seed, "batches"),
                same_shape=True,
            )
            for seed, sets in zip(seeds, self._sets, strict=True)
        ]
        models = [
            first_network(experiment, seed, start).to(device, dtype)
            for seed, start in zip(seeds, starts or [None] * len(seeds), strict=True)
        ]
        check_alike(models)
        self._model = models[0]
        self._first_names = first_names(self._model)
        parameters, self._fixed = stack_module_state(models)
        learned = {name for name, p in self._model.named_parameters() if p.requires_grad}
        self._fixed |= {name: p.detach() for name, p in parameters.items() if name not in learned}
        self._learned = {
            name: p.detach().requires_grad_() for name, p in parameters.items() if name in learned
        }
        self._optimizer = adam(self._learned, experiment.recipe)
        self._gradient = vmap(grad_and_value(self._loss))
        self._outputs = vmap(self._call)

    def _call(
        self, learned: dict[str, Tensor], fixed: dict[str, Tensor], items: Tensor, index: Tensor
    ) -> Tensor:
        outputs: Tensor = _Called(self._model, learned, fixed)(items, index)
        return outputs

    def _loss(
        self,
        learned: dict[str, Tensor],
        fixed: dict[str, Tensor],
        items: Tensor,
        index: Tensor,
        target: Tensor,
    ) -> Tensor:
        mapped = _Called(self._model, learned, fixed)
        problems = Problems(items=items, index=index, target=target)
        return self._experiment.objective(
            mapped, problems, self._experiment.task.loss, Stream(0, closed=ONE_PROGRAM)
        )

    def update(self, step: int) -> Tensor:
        """Do update number `step`, counted from 0, in every network; gives the loss of each."""
        gradients, losses = self._gradients(step)
        # The fused optimizer walks gradients as they lie, whatever their strides say.
        gradients = {name: gradient.contiguous() for name, gradient in gradients.items()}
        shorten([*gradients.values()], self._experiment.recipe.clip_norm, stacked=True)
        for name, parameter in self._learned.items():
            parameter.grad = gradients[name]
        set_rate(self._optimizer, self._experiment.recipe.rate(step))
        self._optimizer.step()
        found: Tensor = losses
        return found

    def _gradients(self, step: int) -> tuple[dict[str, Tensor], Tensor]:
        self._model.train()
        batches = [batch(step) for batch in self._batches]
        gradients, losses = self._gradient(
            *self._parts(),
            torch.stack([batch.table() for batch in batches]),
            torch.stack([batch.index for batch in batches]),
            torch.stack([batch.target for batch in batches]),
        )
        return gradients, losses

    def rehearse(self) -> None:
        """Raise what keeps the networks from being one program; they are of no use afterwards.

        Raises:
            ValueError: If an update or a score depends on Python's or NumPy's global generator,
                which would draw alike for all networks; `vmap` itself refuses draws of torch's.
        """
        found = []
        for seed in (0, 1):
            fixed = {name: tensor.clone() for name, tensor in self._fixed.items()}
            with forked_generators(stream(seed, "noise")):
                (gradients, losses), shown = self._gradients(0), self.glance(0)
            values = torch.tensor([[score.value for score in scores] for scores in shown])
            found.append([*gradients.values(), losses, values])
            self._fixed = fixed
        for first, second in zip(*found, strict=True):
            # A GPU adds in any order: what differs by rounding alone was not drawn.
            rounding = 1e-3 * float(first.nan_to_num().abs().sum())
            if not torch.allclose(first, second, rtol=0.0, atol=rounding, equal_nan=True):
                raise ValueError(
                    "the network draws from the global generator of Python or NumPy, which would "
                    "draw alike for all networks"
                )
        self.update(0)
        self.network(0)

    def network(self, position: int) -> nn.Module:
        """A copy of the network of the seed at a position among the seeds."""
        network = copy.deepcopy(self._model)
        learned, fixed = self._parts()
        with torch.no_grad():
            for name, tensor in chain(network.named_parameters(), network.named_buffers()):
                tensor.copy_((learned | fixed)[name][position])
        return network

    def _parts(self) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        return {n: p.detach() for n, p in self._learned.items()}, self._fixed

    def score(self, step: int) -> list[list[Score]]:
        """Scores of every regime after `step` updates, one list per seed."""
        task = self._experiment.task
        scores = []
        for place, sets in enumerate(self._sets):
            network = self.network(place)
            with forked_generators(scoring_stream(self.seeds[place])):
                settle(network, sets[TRAINING])
            self._keep(place, network)
            with forked_generators(scoring_stream(self.seeds[place])):
                scores.append(score_regimes(network, task, sets, step))
        return scores

    def _keep(self, place: int, network: nn.Module) -> None:
        """Take over the buffers of a network, which settling may have filled."""
        for name, buffer in network.named_buffers():
            self._fixed[name][place] = buffer

    def glance(self, step: int) -> list[list[Score]]:
        """The metric, then the loss, after `step` updates on some training problems, per seed."""
        some, task = [glimpsed(sets[TRAINING]) for sets in self._sets], self._experiment.task
        if wants_statistics(self._model):
            alone = [settled_on(self.network(place), part) for place, part in enumerate(some)]
            pairs = zip(alone, some, strict=True)
            return [glanced(step, task, *score_problems(one, task, part)) for one, part in pairs]
        self._model.eval()
        outputs = self._outputs(
            *self._parts(),
            torch.stack([problems.table() for problems in some]),
            torch.stack([problems.index for problems in some]),
        )
        return [
            glanced(step, task, task.score(*pair).detach(), task.loss(*pair).detach())
            for pair in zip(outputs, some, strict=True)
        ]

    def weights(self) -> list[dict[str, Any]]:
        """The state dictionaries of the networks, one per seed."""
        names = {name: self._first_names[name] for name in self._model.state_dict()}
        learned, fixed = self._parts()
        both = learned | fixed
        return [
            {name: both[first][place] for name, first in names.items()}
            for place in range(len(self.seeds))
        ]

    def state(self) -> dict[str, Tensor]:
        """Parameters, buffers and moments, stacked over seeds."""
        learned, fixed = self._parts()
        model = {f"model.{name}": content for name, content in (learned | fixed).items()}
        return model | moments(self._optimizer, self._learned)

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Go back to a state that `state` returned."""
        with torch.no_grad():
            for name, parameter in (self._learned | self._fixed).items():
                parameter.copy_(state[f"model.{name}"])
        load_moments(self._optimizer, self._learned, state)


def why_not_stacked(experiment: Experiment, device: str) -> str | None:
    """Why the networks of an experiment cannot be one program, or `None` if they can.

    Args:
        experiment: What would be run.
        device: Where.
    """
    drawn = dataclasses.replace(experiment, starts_from=None)  # which weights does not matter
    try:
        with fixed_settings():
            Stack(drawn, [0, 1], device=device).rehearse()
    except Exception as error:  # noqa: BLE001 — what it is shows where the networks run alone
        return str(error).strip().partition("\n")[0][:200] or type(error).__name__
    return None


def _call_with(tensors: Mapping[str, Tensor], module: nn.Module, *arguments: Tensor) -> Any:
    """What a module gives under other parameters and buffers, which it may change in place.

    Tied weights are put under every name by hand: torch leaves a module that has two names with
    the weights of the call.
    """
    given = {name: tensors[first] for name, first in names_to_set(module).items()}
    left = dict(given)
    outputs = functional_call(module, left, arguments, tie_weights=False)
    check_kept(given, left)
    return outputs


@final
class _Called(nn.Module):
    """A shared module with given parameters, as a module from `(items, index)` to outputs."""

    def __init__(
        self, shared: nn.Module, learned: dict[str, Tensor], fixed: dict[str, Tensor]
    ) -> None:
        super().__init__()
        self._inner = (shared, learned, fixed)  # in a tuple, so that it is not registered again

    def forward(self, items: Tensor, index: Tensor) -> Tensor:
        """Outputs of the module under the given parameters."""
        shared, learned, fixed = self._inner
        outputs: Tensor = _call_with(learned | fixed, shared, items, index)
        return outputs

    def watched(self) -> nn.Module:
        """The shared module: its parts are what runs."""
        return self._inner[0]

    def answer_and_error(self, items: Tensor, index: Tensor) -> Any:
        """Outputs and reconstruction errors of the module under the given parameters."""
        return self._told(lambda shared: shared.answer_and_error(items, index))

    def predict(self, items: Tensor, index: Tensor) -> Any:
        """Predictions of the module under the given parameters, and what they should be."""
        return self._told(lambda shared: shared.predict(items, index))

    def _told(self, tell: Callable[[Any], Any]) -> Any:
        shared, learned, fixed = self._inner
        parts = {f"shared.{name}": tensor for name, tensor in (learned | fixed).items()}
        return _call_with(parts, _Telling(shared, tell))


@final
class _Telling(nn.Module):
    """A module whose outputs are what another tells."""

    def __init__(self, shared: nn.Module, tell: Callable[[Any], Any]) -> None:
        super().__init__()
        self.shared = shared
        self._tell = tell

    def forward(self) -> Any:
        """What the other tells."""
        return self._tell(self.shared)
