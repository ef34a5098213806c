"""Networks of several seeds in training, as one program."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, Final, final

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import grad_and_value, stack_module_state, vmap

from farfield._machine import takes
from farfield.core import Problems, Stream, stream
from farfield.core.internal import first_names, forked_generators
from farfield.experiments import Experiment
from farfield.models.internal import FitsAtOnce
from farfield.objectives import Bound, Update
from farfield.records import Score
from farfield.tasks import TRAINING
from farfield.tasks.internal import metric_of, scored_sets
from farfield.training._batches import StackedBatches, stacked
from farfield.training._evaluate import (
    Answered,
    Together,
    calibrate,
    calibrated_on,
    can_be_together,
    loss_on,
    measured_of,
    metric_points,
    problems_of_run,
    renew_statistics,
    score_all,
    score_problems,
    scores_of,
    scoring_stream,
)
from farfield.training._loop import update
from farfield.training._networks import first_network
from farfield.training._one_network import train_subset
from farfield.training._settings import fixed_settings
from farfield.training._state import held_generators, load_optimizer_state, optimizer_state
from farfield.training._turns import (
    Turn,
    optimizers_of,
    renews_statistics,
    scored_tensors,
    turns_of,
)

Inputs = Mapping[str, Mapping[str, Tensor]]
"""Tensors by name, in groups by name."""

WARM_UP: Final = 3
"""Calls before a program is recorded, in which libraries choose their kernels."""


@final
class Captured:
    """A function of tensors that a GPU records once for every set of shapes, and then replays.

    A step of small networks is some hundred kernels of a few microseconds each, and to ask for one
    takes longer than it runs. A replay asks once for all of them (CUDA graphs). Its outputs lie
    where those of the call before lay. On a CPU, and where the function cannot be recorded since
    it waits for a number, it is called directly.

    Args:
        function: Function from groups of tensors to any outputs.
        changed: Tensors outside of the groups that a call changes in place.
        replay: False to call it directly on a GPU too.
    """

    def __init__(
        self, function: Callable[[Inputs], Any], changed: Sequence[Tensor], *, replay: bool = True
    ) -> None:
        self._function = function
        self._changed = changed
        self._programs: dict[Any, tuple[torch.cuda.CUDAGraph, list[Tensor], Any]] = {}
        self._replays = replay

    def __call__(self, inputs: Inputs) -> Any:
        """Compute outputs of the function.

        Args:
            inputs: Its groups of tensors.
        """
        given = _flat(inputs)
        if not (self._replays and takes("graphs", all(tensor.is_cuda for tensor in given))):
            return self._function(inputs)
        shapes = tuple((tensor.shape, tensor.dtype) for tensor in given)
        if shapes not in self._programs:
            before = [tensor.clone() for tensor in self._changed]
            try:
                self._programs[shapes] = self._record(inputs)
            except RuntimeError:
                self._replays = False
            finally:
                for tensor, value in zip(self._changed, before, strict=True):
                    tensor.copy_(value)
            if not self._replays:
                return self._function(inputs)
        graph, held, outputs = self._programs[shapes]
        torch._foreach_copy_(held, given)
        graph.replay()
        return outputs

    @property
    def is_recorded(self) -> bool:
        """True if there is a program to be replayed."""
        return bool(self._programs)

    def _record(self, inputs: Inputs) -> tuple[torch.cuda.CUDAGraph, list[Tensor], Any]:
        """Record a program; return it with the tensors of its inputs and outputs."""
        own = {
            group: {name: tensor.clone() for name, tensor in part.items()}
            for group, part in inputs.items()
        }
        aside = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(WARM_UP):
                self._function(own)
        torch.cuda.current_stream().wait_stream(aside)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            outputs = self._function(own)
        return graph, _flat(own), outputs


def _flat(inputs: Inputs) -> list[Tensor]:
    return [tensor for part in inputs.values() for tensor in part.values()]


def check_alike(networks: Sequence[nn.Module]) -> None:
    """Raise `ValueError` unless networks differ in separate parameters and buffers only.

    Args:
        networks: Networks of one experiment, at least one.
    """
    names = first_names(networks[0])
    for name in networks[0].state_dict():
        if name not in names:
            raise ValueError(f"{name} is neither parameter nor buffer, and cannot be stacked")
    if any(held_generators(network) for network in networks):
        raise ValueError("a module holds a generator, which would draw alike for all networks")
    _check_separate(networks[0])
    for network in networks[1:]:
        if first_names(network) != names:
            raise ValueError("networks of several seeds must have the same tied weights")
        for (name, first), other in zip(
            networks[0].named_modules(), network.modules(), strict=True
        ):
            _check_same_attributes(name, vars(first), vars(other))


def _check_separate(network: nn.Module) -> None:
    """Raise `ValueError` for tensors that share memory without being one tensor."""
    attributes = {
        f"{path}.{name}".removeprefix("."): value
        for path, module in network.named_modules()
        for name, value in vars(module).items()
        if isinstance(value, Tensor)
    }
    owner = dict[int, str]()
    tensors = chain(network.named_parameters(), network.named_buffers(), attributes.items())
    for name, tensor in tensors:
        if not tensor.numel():
            continue
        other = owner.setdefault(tensor.untyped_storage().data_ptr(), name)
        if other != name:
            raise ValueError(f"{name} shares memory with {other}, which stacked they would not")


def _check_same_attributes(path: str, first: Mapping[str, Any], other: Mapping[str, Any]) -> None:
    for name in (first.keys() | other.keys()) - vars(nn.Module()).keys():
        if not _is_equal(first.get(name), other.get(name)):
            where = f"{path}.{name}".removeprefix(".")
            raise ValueError(
                f"{where} differs from seed to seed and is neither parameter nor buffer; "
                "register it as a buffer"
            )


def _is_equal(first: Any, other: Any) -> bool:
    """Tell if two plain values are the same, or cannot be compared."""
    if type(first) is not type(other):
        return False
    match first:
        case Tensor():
            return isinstance(first, nn.Parameter) or torch.equal(first, other)
        case dict():
            return _is_equal([*first.items()], [*other.items()])
        case list() | tuple():
            return len(first) == len(other) and all(map(_is_equal, first, other))
        case int() | float() | str() | np.ndarray():
            return np.array_equal(first, other)
    return True


@final
class Stack:
    """Networks of several seeds as one program: `vmap` over stacked parameters.

    The code of a single network is mapped unchanged; each seed has its own problems, batches and
    initial weights, the same as alone. In float64 the results are those of `OneNetwork`.

    Args:
        seeds: Numbers of the runs.
        dtype: Floating-point type of items and parameters.
        starts: The trained networks that the experiment starts from, one per seed; `None` where it
            starts from none.
        replay: Whether a GPU records a step and replays it; each kernel is asked for by itself
            otherwise.

    Raises:
        ValueError: If a network to start from is missing, given for nothing, or does not fit, if
            the networks hold state that nobody can stack, or if the optimizer does not update every
            number by itself.
    """

    def __init__(
        self,
        experiment: Experiment,
        seeds: Sequence[int],
        *,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
        starts: Sequence[Mapping[str, Any] | None] | None = None,
        replay: bool = True,
    ) -> None:
        self.seeds = tuple(seeds)
        self._device = device
        self._experiment = experiment
        self._sets = [
            {
                name: problems.to(device, dtype)
                for name, problems in problems_of_run(experiment.problem_task, seed).items()
            }
            for seed in seeds
        ]
        for player in chain.from_iterable(experiment.turns):
            optimizer = player.optimizer or experiment.recipe.optimizer
            if not optimizer.elementwise:
                raise ValueError(
                    "optimizer must update every number by itself to train stacked networks, "
                    f"got {optimizer!r}"
                )
        self._streams = [stream(seed, "objective") for seed in seeds]

        def build(index: int, weights: Stream | None = None) -> nn.Module:
            start = None if starts is None else starts[index]
            network = first_network(experiment, seeds[index], start, weights=weights, dtype=dtype)
            return network.to(device, dtype)

        models = [build(index) for index in range(len(seeds))]
        if any(isinstance(part, FitsAtOnce) for part in models[0].modules()):
            raise ValueError("a network with a part that fits at once is not stacked")
        check_alike(models)
        self._model = models[0]
        parameters, self._fixed = stack_module_state(models)
        learned = {name for name, p in self._model.named_parameters() if p.requires_grad}
        self._fixed |= {name: p.detach() for name, p in parameters.items() if name not in learned}
        self._learned = {
            name: p.detach().requires_grad_() for name, p in parameters.items() if name in learned
        }
        self._turns = turns_of(experiment, self._learned, stacked=True)
        self._batches = [self._batches_of(turn) for turn in self._turns]
        for turn in self._turns:
            starting = [
                turn.objective.start(
                    Bound(module=model, build=partial(build, index)),
                    self._sets[index],
                    turn.stream_of(self._streams[index], "start"),
                )
                for index, model in enumerate(models)
            ]
            turn.state = stacked(starting)
        self._programs = [
            Captured(partial(self._gradients, turn), [*self._fixed.values()], replay=replay)
            for turn in self._turns
        ]

    def _batches_of(self, turn: Turn) -> dict[str, StackedBatches]:
        pairs = zip(self.seeds, self._sets, strict=True)
        alone = [turn.batches(sets, seed, same_shape=True) for seed, sets in pairs]
        return {
            name: StackedBatches([batches[name] for batches in alone])
            for name in turn.objective.sets
        }

    def _gradients(
        self, turn: Turn, inputs: Inputs
    ) -> tuple[dict[str, Tensor], tuple[Tensor, dict[str, Tensor]]]:
        """Compute gradients, losses and state from the batches, draws and state of an update."""
        learned, fixed = self._parts()
        own = {name: learned.pop(name) for name in turn.learned}
        batches = {name: inputs[f"batch {name}"] for name in turn.objective.sets}
        [progress] = inputs["progress"].values()
        of = partial(
            self._loss,
            turn,
            # A GPU would have to be waited for.
            progress=progress if progress.is_cuda else progress.item(),
        )
        differentiated = vmap(grad_and_value(of, has_aux=True))
        found: tuple[dict[str, Tensor], tuple[Tensor, dict[str, Tensor]]] = differentiated(
            own, fixed | learned, batches, inputs["draws"], inputs["state"]
        )
        return found

    def _loss(
        self,
        turn: Turn,
        learned: dict[str, Tensor],
        fixed: dict[str, Tensor],
        batches: dict[str, dict[str, Tensor]],
        draws: dict[str, Tensor],
        state: dict[str, Tensor],
        *,
        progress: Any,
    ) -> tuple[Tensor, dict[str, Tensor]]:
        loss, after = turn.objective.loss(
            Update(
                network=Bound(module=self._model, parameters=learned | fixed),
                batches={name: _problems(**batch) for name, batch in batches.items()},
                task_loss=self._experiment.problem_task.loss,
                rows={name: batch["rows"] for name, batch in batches.items()},
                draws=draws,
                state=state,
                progress=progress,
                num_domains=turn.num_domains,
            )
        )
        return loss, dict(after)

    def update(self, step: int) -> Tensor:
        """Do update number `step`, counted from 0, in every network; gives the loss of each."""
        return update(self, self._experiment.recipe, step)

    def draw(self, step: int) -> Iterator[tuple[Turn, Inputs]]:
        """Draw the batches of every turn of the players, stacked over networks."""
        self._model.train()
        for turn in self._turns:
            for number in turn.numbers(step):
                yield turn, self._batch(turn, number, step)

    def _batch(self, turn: Turn, number: int, step: int) -> Inputs:
        drawn = {name: of(number) for name, of in self._batches[turn.number].items()}
        draws = [
            turn.objective.draw(
                {name: alone[index] for name, (_, alone) in drawn.items()},
                turn.stream_of(numbers, number),
            )
            for index, numbers in enumerate(self._streams)
        ]
        progress = step / self._experiment.recipe.steps
        return {
            **{f"batch {name}": batch for name, (batch, _) in drawn.items()},
            "draws": stacked(draws),
            "state": turn.state,
            "progress": {"": torch.full((), progress, dtype=torch.float64, device=self._device)},
        }

    def differentiate(self, turn: Turn, batch: Inputs) -> tuple[Tensor, dict[str, Tensor]]:
        """Compute the loss of each network and its gradients by the parameters of the turn."""
        gradients, (losses, state) = self._programs[turn.number](batch)
        for name, parameter in turn.learned.items():
            # The fused optimizer walks gradients as they lie, whatever their strides say.
            parameter.grad = gradients[name].contiguous()
        return losses, state

    def remember(self, turn: Turn, batch: Inputs, state: Mapping[str, Tensor], step: int) -> None:
        """Keep the state of the objective after an update of the parameters."""
        del batch
        if state:
            learned = {name: parameter.detach() for name, parameter in self._learned.items()}
            after = vmap(turn.objective.after, in_dims=(0, 0, None))
            state = after(state, learned, (step + 1) / self._experiment.recipe.steps)
        turn.state = dict(state)

    def join(self, losses: Sequence[Tensor]) -> Tensor:
        """Add the losses of all turns for each network."""
        return torch.stack([*losses]).sum(0)

    @property
    def is_recorded(self) -> bool:
        """True if a GPU has recorded the steps and replays them."""
        return all(program.is_recorded for program in self._programs)

    def rehearse(self) -> None:
        """Try an update and a score as one program; the networks are unusable afterwards.

        The stack must not replay: a recorded step would not draw again.

        Raises:
            ValueError: If an update or a score depends on Python's or NumPy's global generator, or
                on the calls before, which would be alike for all networks; `vmap` itself refuses
                draws of torch's.
        """
        first, second = self._rehearsed(0), self._rehearsed(1)
        if not _are_alike(first, second):
            if _are_alike(second, self._rehearsed(1)):
                what = "draws from the global generator of Python or NumPy"
            else:
                what = "does something else at every call, as a counter of calls does"
            raise ValueError(f"the network {what}, which would be alike for all networks")
        self.update(0)
        self.network(0)

    def _rehearsed(self, seed: int) -> list[Tensor]:
        """Compute the gradients, losses and scores of an update, with seeded global generators."""
        fixed = {name: tensor.clone() for name, tensor in self._fixed.items()}
        with forked_generators(stream(seed, "noise")):
            self._model.train()
            moves = [self._programs[t.number](self._batch(t, 0, 0)) for t in self._turns]
            shown = self.training_metrics(0)
        self._fixed = fixed
        values = torch.tensor([[score.value for score in scores] for scores in shown])
        tensors = [[*gradients.values(), losses] for gradients, (losses, _) in moves]
        return [*chain.from_iterable(tensors), values]

    def network(self, position: int) -> nn.Module:
        """Copy the scored network of the seed at a position among the seeds."""
        return self._copy(position, self._scored())

    def _copy(self, position: int, tensors: Mapping[str, Tensor]) -> nn.Module:
        network = copy.deepcopy(self._model)
        with torch.no_grad():
            for name, tensor in chain(network.named_parameters(), network.named_buffers()):
                tensor.copy_(tensors[name][position])
        return network

    def _parts(self) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        return {n: p.detach() for n, p in self._learned.items()}, self._fixed

    def _scored(self) -> dict[str, Tensor]:
        """Collect all parameters and buffers with which the networks are scored."""
        learned, fixed = self._parts()
        return learned | fixed | scored_tensors(self._turns)

    def score(self, step: int) -> list[list[Score]]:
        """Compute scores of every regime after `step` updates, one list per seed."""
        self._validate()
        task = self._experiment.problem_task
        asked = [scored_sets(task, sets) for sets in self._sets]
        regimes = {name: [sets[name] for sets in asked] for name in asked[0]}
        if self._experiment.perturbations or not all(map(self._is_together, regimes.values())):
            return [self._scored_alone(index, step) for index in range(len(self.seeds))]
        found = [
            scores_of(task, several, self._answered(several), step, regime)
            for regime, several in regimes.items()
        ]
        return [[*chain.from_iterable(own)] for own in zip(*found, strict=True)]

    def _validate(self) -> None:
        """Give objectives the loss of each trained network on the sets that they validate on."""
        task, (learned, fixed) = self._experiment.problem_task, self._parts()
        for turn in self._turns:
            if (name := turn.objective.validates) is None:
                continue
            states = []
            for index, seed in enumerate(self.seeds):
                network, sets = self._copy(index, learned | fixed), self._sets[index]
                with forked_generators(scoring_stream(seed)):
                    calibrate(network, sets[TRAINING])
                    loss = loss_on(network, task, sets, name)
                state = {key: tensor[index] for key, tensor in turn.state.items()}
                states.append(turn.objective.evaluated(state, loss))
            turn.state = stacked(states)

    def _is_together(self, several: Sequence[Problems]) -> bool:
        return not renews_statistics(self._turns) and can_be_together(
            self._model, self._experiment.problem_task, several
        )

    def _answered(self, several: Sequence[Problems]) -> Iterator[Answered]:
        return Together(self._model.eval(), self._scored()).answered(several)

    def _scored_alone(self, index: int, step: int) -> list[Score]:
        """Compute scores of the network of a seed, by itself."""
        network, seed = self._calibrated(index), self.seeds[index]
        if not scored_tensors(self._turns):
            self._keep(index, network)
        with forked_generators(scoring_stream(seed)):
            return score_all(self._experiment, network, self._sets[index], step, seed)

    def _calibrated(self, index: int) -> nn.Module:
        """Build the network of a seed with its statistics of the training problems."""
        network = self.network(index)
        with forked_generators(scoring_stream(self.seeds[index])):
            calibrate(network, self._sets[index][TRAINING])
            if renews_statistics(self._turns):
                renew_statistics(network, self._sets[index][TRAINING], self.seeds[index])
        return network

    def _keep(self, index: int, network: nn.Module) -> None:
        """Take over the buffers of a network, which calibration may have filled."""
        for name, buffer in network.named_buffers():
            self._fixed[name][index] = buffer

    def training_metrics(self, step: int) -> list[list[Score]]:
        """Measure metric, then loss, on some training problems after `step` updates, per seed."""
        some = [train_subset(sets[TRAINING]) for sets in self._sets]
        task = self._experiment.problem_task
        if self._is_together(some):
            measured = measured_of(task, self._answered(some))
            pairs = [(values[metric_of(task)], values["loss"]) for values in measured]
        else:
            alone = [calibrated_on(self.network(index), part) for index, part in enumerate(some)]
            if renews_statistics(self._turns):
                for one, part, seed in zip(alone, some, self.seeds, strict=True):
                    renew_statistics(one, part, seed)
            both = zip(alone, some, strict=True)
            pairs = [score_problems(one, task, part) for one, part in both]
        return [metric_points(step, task, *pair) for pair in pairs]

    def weights(self) -> list[dict[str, Any]]:
        """Return the state dictionaries of the scored networks, one per seed."""
        indices = range(len(self.seeds))
        if not scored_tensors(self._turns):
            return [dict(self.network(index).state_dict()) for index in indices]
        with fixed_settings(flush_denormal=True):
            return [dict(self._calibrated(index).state_dict()) for index in indices]

    def state(self) -> dict[str, Tensor]:
        """Collect parameters, buffers and the state of optimizers and objectives, stacked."""
        learned, fixed = self._parts()
        state = {f"model.{name}": tensor for name, tensor in (learned | fixed).items()}
        for turn in self._turns:
            state |= turn.remembered()
        return state | optimizer_state(optimizers_of(self._turns))

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Go back to a state that `state` returned."""
        with torch.no_grad():
            for name, parameter in (self._learned | self._fixed).items():
                parameter.copy_(state[f"model.{name}"])
        for turn in self._turns:
            turn.remember(state)
        load_optimizer_state(optimizers_of(self._turns), state)


def _are_alike(first: Sequence[Tensor], second: Sequence[Tensor]) -> bool:
    """Tell if numbers differ by rounding at most: a GPU adds in any order."""
    return all(
        torch.allclose(
            one, two, rtol=0.0, atol=1e-3 * float(one.nan_to_num().abs().sum()), equal_nan=True
        )
        for one, two in zip(first, second, strict=True)
    )


def vmap_error(experiment: Experiment, device: str) -> str | None:
    """Reason that the networks of an experiment cannot be one program, or `None` if they can."""
    drawn = dataclasses.replace(experiment, starts_from=None)  # which weights does not matter
    try:
        with fixed_settings():
            Stack(drawn, [0, 1], device=device, replay=False).rehearse()
    except Exception as error:  # noqa: BLE001 — what it is shows where the networks run alone
        return str(error).strip().partition("\n")[0][:200] or type(error).__name__
    return None


def _problems(items: Tensor, index: Tensor, target: Tensor, rows: Tensor) -> Problems:
    """Make the batch of one seed from its tensors."""
    del rows
    return Problems(items=items, index=index, target=target)
