"""Rules with a teacher: a network whose weights are a running mean of the student's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from farfield.core import Fraction, NonNegativeFloat, Problems, Stream
from farfield.objectives._bound import Bound
from farfield.objectives._consistency import ConsistencyRule
from farfield.objectives._objective import Tensors, Update

COUNT: Final = "number of updates"
"""Name of the count of updates among the tensors of a teacher; no parameter has blanks in its."""


@dataclass(frozen=True, kw_only=True)
class TeacherRule(ConsistencyRule):
    """A learning rule that remembers a teacher, by the names of its parameters and buffers.

    Parameters that are not trained and buffers that no call changes are those of the student.

    Args:
        weight: Largest weight of the distance from the teacher's answers.
        ramp: Fraction of the run over which the weight grows.
        decay: Decay of the running mean, in 0…1; `None` for no teacher.
        warmup: Whether the decay of update $n$ is at most $1 - 1 / (n + 1)$.
        scores_teacher: Whether the teacher is scored and kept, and not the student.
        independent_teacher: Whether the teacher starts from a draw of its own.
        averages_buffers: Whether buffers of the teacher are running means of the student's. The
            vectors of spectral normalization never are: they follow the teacher's own weights.

    Raises:
        ValueError: If a field is of another type, or a number out of range.
    """

    weight: NonNegativeFloat = 1.0
    ramp: Fraction = 0.2
    decay: Fraction | None = 0.99
    warmup: bool = False
    scores_teacher: bool = True
    independent_teacher: bool = False
    averages_buffers: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("warmup", "scores_teacher", "independent_teacher", "averages_buffers"):
            if self.decay is None and getattr(self, name) is not getattr(type(self), name):
                raise ValueError(
                    f"{name} must be left out where decay is None: there is no teacher"
                )

    def start(self, network: Bound, sets: Mapping[str, Problems], stream: Stream) -> Tensors:
        """The teacher, if there is one: the first weights and buffers of the network.

        Args:
            network: The network before its first step.
            sets: Whole sets of problems.
            stream: Source of the weights of an independent teacher.

        Raises:
            ValueError: If answers are no classes, or there is no problem to agree on.
        """
        super().start(network, sets, stream)
        if self.decay is None:
            return {}
        own = self.independent_teacher
        first = network.redraw(stream.child("teacher")) if own else network.tensors()
        learned = (name for name, p in network.module.named_parameters() if p.requires_grad)
        names = (*learned, *network.mutable_buffers())
        tensors = {name: first[name].detach().clone() for name in names}
        if self.warmup:
            device = next(iter(tensors.values())).device
            tensors[COUNT] = torch.zeros((), dtype=torch.int64, device=device)
        return tensors

    def teach(self, update: Update, problems: Problems) -> tuple[Tensor, Tensors]:
        """Answers of the teacher, and the teacher with what they changed in its own buffers.

        Args:
            update: The step, whose state is the teacher.
            problems: What is answered.
        """
        buffers = {name: update.state[name].clone() for name in update.network.mutable_buffers()}
        state = {**update.state, **buffers}
        outputs = update.outputs(problems, state)
        if not self.averages_buffers:
            return outputs, state
        vectors = {n: buffers[n] for n in update.network.power_vectors() if n in buffers}
        return outputs, {**update.state, **vectors}

    def follow(self, update: Update, state: Tensors) -> Tensors:
        """The teacher once all answers are given, its buffers one step on if they are means.

        Args:
            update: The step.
            state: What `teach` gave.
        """
        if not self.averages_buffers or self.decay is None:
            return state
        tensors = update.network.tensors()
        names = update.network.mutable_buffers()
        vectors = update.network.power_vectors()
        buffers = {name: tensors[name].detach().clone() for name in names if name not in vectors}
        return {**state, **_mean(state, buffers, _kept(state, self.decay))}

    def after(self, state: Tensors, parameters: Tensors, progress: float) -> Tensors:
        """The running mean of the weights, one step on.

        Args:
            state: The teacher, or nothing.
            parameters: Parameters after the step.
            progress: Fraction of the steps that are done, not used.
        """
        del progress
        if self.decay is None:
            return state
        weights = _mean(state, parameters, _kept(state, self.decay))
        count = {COUNT: state[COUNT] + 1} if self.warmup else {}
        return {**state, **weights, **count}

    def scored(self, state: Tensors) -> Tensors:
        """The teacher, if it is scored.

        Args:
            state: The teacher, or nothing.
        """
        if not self.scores_teacher:
            return {}
        return {name: tensor for name, tensor in state.items() if name != COUNT}


def _kept(state: Tensors, decay: float) -> float | Tensor:
    """Weight of the past in the running mean.

    While the teacher is warmed up, it is at most $1 - 1 / (n + 1)$ at update $n$, so that the
    teacher is the plain mean of all weights so far.
    """
    if COUNT not in state:
        return decay
    count = state[COUNT].double() + 1
    return (count / (count + 1)).clamp(max=decay)


def _mean(state: Tensors, new: Tensors, kept: float | Tensor) -> dict[str, Tensor]:
    """The running means of floating-point numbers, one step on, and counts as they are."""

    def mean(old: Tensor, tensor: Tensor) -> Tensor:
        if not old.is_floating_point():
            return tensor
        own = kept.to(old.dtype) if isinstance(kept, Tensor) else kept
        return own * old + (1 - own) * tensor

    return {name: mean(state[name], new[name]) for name in state.keys() & new.keys()}
