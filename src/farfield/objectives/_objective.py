"""The contract of a learning rule: its inputs, draws, loss and memory."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, ClassVar, Final, Protocol, final, runtime_checkable

from torch import Tensor, nn

from farfield.core import Problems, Stream, tap_layers
from farfield.core.internal import TRAINING, call_with

_POWER_VECTOR: Final = re.compile(r"(?:^|[._])[uv]\d*$")
"""Names of buffers of the power method."""


@final
@dataclass
class Carry:
    """The state of a network that goes on from batch to batch, before and after a call.

    Args:
        state: Its parts; `None` for a fresh one.
    """

    state: tuple[Tensor, ...] | None = None


@final
@dataclass(frozen=True, kw_only=True)
class Bound:
    """A network whose methods are called with given parameters.

    Args:
        module: The network.
        parameters: Parameters and buffers that replace the module's, by name.
        build: Function that makes the network anew, its weights drawn from a stream; `None` where
            none is known.
        carry: State that a call of `forward` goes on from, and the one after the call, with which
            it is replaced; `None` where the network starts afresh in each call.
    """

    module: nn.Module
    parameters: Mapping[str, Tensor] = field(default_factory=dict)
    build: Callable[[Stream], nn.Module] | None = None
    carry: Carry | None = None

    def call(
        self, method: str, *inputs: Any, parameters: Mapping[str, Tensor] | None = None
    ) -> Any:
        """Call a method of the network.

        Args:
            method: Name of the method, e.g. `"forward"`.
            inputs: Its arguments.
            parameters: Parameters in place of the bound ones, for this call.

        Raises:
            TypeError: If the network has no such method.
        """
        if self.carry is not None and method == "forward":
            going_on = dataclasses.replace(self, carry=None)
            outputs, self.carry.state = going_on.call(
                "continued", *inputs, self.carry.state, parameters=parameters
            )
            return outputs
        if not callable(getattr(self.module, method, None)):
            raise TypeError(
                f"model must have a method {method}, got {type(self.module).__name__} without"
            )
        given = {**self.parameters, **(parameters or {})}
        if not given:
            call = self.module if method == "forward" else getattr(self.module, method)
            return call(*inputs)
        return call_with(self.module, {**self.tensors(), **given}, method, *inputs)

    def tensors(self) -> dict[str, Tensor]:
        """List all parameters and buffers, by the first name of each."""
        own = chain(self.module.named_parameters(), self.module.named_buffers())
        return {**dict(own), **self.parameters}

    def fixed_tensors(self) -> dict[str, Tensor]:
        """List all parameters and buffers without their gradient, by the first name of each."""
        return {name: tensor.detach() for name, tensor in self.tensors().items()}

    def copied_buffers(self) -> dict[str, Tensor]:
        """Copy the buffers that a call may change, so that a call with the copies leaves them."""
        tensors = self.tensors()
        return {name: tensors[name].clone() for name in self.mutable_buffers()}

    @contextmanager
    def watched(self, layer: str) -> Iterator[list[Tensor]]:
        """List the outputs of a layer, call by call, as long as a `with` block lasts.

        Args:
            layer: Name of the layer.

        Raises:
            ValueError: If the network has no layer of the name.
        """
        seen = list[Tensor]()

        def see(output: Tensor) -> Tensor:
            seen.append(output)
            return output

        with tap_layers(self.module, {layer: see}):
            yield seen

    def mutable_buffers(self) -> list[str]:
        """List the names of buffers that a call may change: all but the buffers of pure modules.

        A module whose class says `is_pure = True` keeps nothing, so that its buffers are fixed and
        every call may read the same ones: the matrix of a whitening has millions of numbers.
        """
        fixed = tuple(
            f"{path}." if path else ""
            for path, part in self.module.named_modules()
            if vars(type(part)).get("is_pure") is True
        )
        return [name for name, _ in self.module.named_buffers() if not name.startswith(fixed)]

    def power_vectors(self) -> list[str]:
        """List the names of buffers with singular vectors of weights, for spectral normalization.

        Each call of the network in training moves them towards those of the weight of that call. A
        mean of such vectors belongs to no weight. They are recognized by the names that torch and
        published code give them: `_u`, `weight_v`, `u0`.
        """
        return [name for name, _ in self.module.named_buffers() if _POWER_VECTOR.search(name)]

    def redraw(self, stream: Stream) -> dict[str, Tensor]:
        """Draw the trained parameters and buffers anew, as before the first step.

        Singular vectors of weights that are trained are from that draw as well.

        Args:
            stream: Source of the weights.

        Raises:
            ValueError: If it is not known how the network is made.
        """
        if self.build is None:
            raise ValueError(
                "network must be that of an experiment to be drawn anew, got build=None"
            )
        other = Bound(module=self.build(stream)).tensors()
        own = self.tensors()
        drawn = {name for name, tensor in own.items() if tensor.requires_grad}
        drawn |= {name for name in self.power_vectors() if self._has_trained_weight(name)}
        return {name: (other if name in drawn else own)[name] for name in own}

    def _has_trained_weight(self, vector: str) -> bool:
        """Tell if a parameter is trained in the innermost module around a buffer that has any."""
        path = vector
        while path:
            path = path.rpartition(".")[0]
            if parameters := [*self.module.get_submodule(path).parameters()]:
                return any(parameter.requires_grad for parameter in parameters)
        return False


Tensors = Mapping[str, Tensor]
"""Tensors by name."""


@final
@dataclass(frozen=True, kw_only=True)
class Update:
    """One step of training of one network, as its objective sees it.

    Args:
        network: The network with its current parameters.
        batches: Problems by the name of the set that they are from.
        task_loss: Loss of the task, one number per problem.
        rows: Positions of the problems in their sets, by the name of the set.
        draws: Tensors that the objective drew for this step.
        state: Tensors that the objective remembers.
        progress: Fraction of the steps that are done, 0 at the first.
        second_views: The same problems, their items changed at random a second time, by the name of
            the set; empty where nothing is changed.
        num_domains: Number of training domains; a batch of an objective that reads `by_domain` has
            equally many problems of each, domain after domain.
    """

    network: Bound
    batches: Mapping[str, Problems]
    task_loss: Callable[[Tensor, Problems], Tensor]
    rows: Tensors = field(default_factory=dict)
    draws: Tensors = field(default_factory=dict)
    state: Tensors = field(default_factory=dict)
    progress: float = 0.0
    second_views: Mapping[str, Problems] = field(default_factory=dict)
    num_domains: int = 1

    @property
    def problems(self) -> Problems:
        """Batch of training problems."""
        return self.batches[TRAINING]

    def second_view(self, name: str) -> Problems:
        """Change the batch of a set by a second draw; without draws it stays.

        Args:
            name: Name of the set.
        """
        return self.second_views.get(name, self.batches[name])

    def outputs(self, problems: Problems | None = None, parameters: Tensors | None = None) -> Any:
        """Compute outputs of the network.

        Args:
            problems: Problems that it answers; the batch of training problems if `None`.
            parameters: Parameters that replace the network's, by name; `None` for none.
        """
        problems = self.problems if problems is None else problems
        return self.network.call("forward", problems.items, problems.index, parameters=parameters)


@runtime_checkable
class Objective(Protocol):
    """A learning rule: a frozen description whose methods are pure.

    A rule that only minimizes defines `loss`; the other methods say that nothing is drawn and
    nothing remembered. Networks of several seeds train as one program under any rule: `start`,
    `draw` and `evaluated` are called for each seed by itself, the others are mapped over the seeds.
    """

    takes_embeddings: ClassVar[bool] = False
    """True if items may be embeddings already, where the encoder is fixed."""

    in_lanes: ClassVar[bool] = False
    """Continuity of rows: each shows the problem behind its problem of the step before."""

    @property
    def sets(self) -> tuple[str, ...]:
        """Names of the sets of problems from which a step reads batches."""
        return (TRAINING,)

    @property
    def second_views(self) -> tuple[str, ...]:
        """Names of the sets whose problems a step compares with themselves, changed anew."""
        return ()

    @property
    def by_domain(self) -> bool:
        """True if a batch has equally many training problems of each domain, in their order."""
        return False

    @property
    def restart(self) -> float | None:
        """Progress from which on optimizers go on without their memory; `None` for never."""
        return None

    @property
    def validates(self) -> str | None:
        """Name of the set whose mean loss `evaluated` is given; `None` for none."""
        return None

    @property
    def renews_statistics(self) -> bool:
        """True if scored networks get new running statistics of batch normalization."""
        return False

    def start(self, network: Bound, sets: Mapping[str, Problems], stream: Stream) -> Tensors:
        """List the tensors to remember from the start.

        Args:
            network: The network before its first step.
            sets: Whole sets of problems, by name.
        """
        del network, sets, stream
        return {}

    def draw(self, batches: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Draw the random tensors of one step: mixing weights, partners, noise.

        Args:
            batches: Batches of the step, by the name of the set.
            stream: Source of random numbers, another one at each step.
        """
        del batches, stream
        return {}

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """Compute the loss to minimize, and the tensors to remember."""
        ...

    def after(self, state: Tensors, parameters: Tensors, progress: float) -> Tensors:
        """List the tensors to remember after the parameters have changed.

        Args:
            state: Tensors that `loss` returned.
            parameters: Parameters after the step, by name.
            progress: Fraction of the steps that are done, this one included.
        """
        del parameters, progress
        return state

    def evaluated(self, state: Tensors, loss: float) -> Tensors:
        """List the tensors to remember after an evaluation.

        Args:
            state: Tensors to remember after a step.
            loss: Mean loss of the trained network on the set that `validates` names.
        """
        del loss
        return state

    def scored(self, state: Tensors) -> Tensors:
        """List the parameters and buffers with which the network is scored and kept.

        Args:
            state: Tensors to remember after a step.
        """
        del state
        return {}
