"""The contract of a learning rule: what it reads, draws, minimizes and remembers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, final, runtime_checkable

from torch import Tensor

from farfield.core import TRAINING, Problems, Stream
from farfield.objectives._bound import Bound

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
    """

    network: Bound
    batches: Mapping[str, Problems]
    task_loss: Callable[[Tensor, Problems], Tensor]
    rows: Tensors = field(default_factory=dict)
    draws: Tensors = field(default_factory=dict)
    state: Tensors = field(default_factory=dict)
    progress: float = 0.0
    second_views: Mapping[str, Problems] = field(default_factory=dict)

    @property
    def problems(self) -> Problems:
        """The batch of training problems."""
        return self.batches[TRAINING]

    def second_view(self, name: str) -> Problems:
        """The batch of a set as a second draw of changes shows it; as it is where there is none.

        Args:
            name: Name of the set.
        """
        return self.second_views.get(name, self.batches[name])

    def outputs(self, problems: Problems | None = None, parameters: Tensors | None = None) -> Any:
        """Outputs of the network.

        Args:
            problems: Problems that it answers; the batch of training problems if `None`.
            parameters: Parameters in place of its own, by name; its own if `None`.
        """
        problems = self.problems if problems is None else problems
        return self.network.call("forward", problems.items, problems.index, parameters=parameters)


@runtime_checkable
class Objective(Protocol):
    """A learning rule: a frozen description whose methods are pure.

    A rule that only minimizes defines `loss`; the other methods say that nothing is drawn and
    nothing remembered. Networks of several seeds train as one program under any rule: `start` and
    `draw` are called for each seed by itself, the others are mapped over the seeds.
    """

    takes_embeddings: ClassVar[bool] = False
    """True if items may be embeddings already, where the encoder is fixed."""

    in_lanes: ClassVar[bool] = False
    """True if each row of a batch shows the problem behind that of the step before."""

    @property
    def sets(self) -> tuple[str, ...]:
        """Names of the sets of problems from which a step reads batches."""
        return (TRAINING,)

    @property
    def second_views(self) -> tuple[str, ...]:
        """Names of the sets whose problems a step compares with themselves, changed anew."""
        return ()

    def start(self, network: Bound, sets: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Tensors to remember from the start.

        Args:
            network: The network before its first step.
            sets: Whole sets of problems, by name.
            stream: Source of random numbers.
        """
        del network, sets, stream
        return {}

    def draw(self, batches: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Random tensors of one step: mixing weights, partners, noise.

        Args:
            batches: Batches of the step, by the name of the set.
            stream: Source of random numbers, another one at each step.
        """
        del batches, stream
        return {}

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """Loss to minimize, and the tensors to remember.

        Args:
            update: The step.
        """
        ...

    def after(self, state: Tensors, parameters: Tensors, progress: float) -> Tensors:
        """Tensors to remember after the parameters have changed.

        Args:
            state: Tensors that `loss` returned.
            parameters: Parameters after the step, by name.
            progress: Fraction of the steps that are done, this one included.
        """
        del parameters, progress
        return state

    def scored(self, state: Tensors) -> Tensors:
        """Parameters and buffers with which the network is scored and kept, in place of its own.

        Args:
            state: Tensors to remember after a step.
        """
        del state
        return {}
