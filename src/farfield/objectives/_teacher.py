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

    Args:
        weight: Largest weight of the distance from the teacher's answers.
        ramp: Fraction of the run over which the weight grows.
        decay: Decay of the running mean, in 0…1; `None` for no teacher.
        warmup: Whether the decay of update $n$ is at most $1 - 1 / (n + 1)$.
        scores_teacher: Whether the teacher is scored and kept, and not the student.

    Raises:
        ValueError: If a field is of another type, or a number out of range.
    """

    weight: NonNegativeFloat = 1.0
    ramp: Fraction = 0.2
    decay: Fraction | None = 0.99
    warmup: bool = False
    scores_teacher: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.warmup and self.decay is None:
            raise ValueError("warmup must be False where decay is None: there is no teacher")

    def start(self, network: Bound, sets: Mapping[str, Problems], stream: Stream) -> Tensors:
        """The teacher, if there is one: the first weights and buffers of the network.

        Args:
            network: The network before its first step.
            sets: Whole sets of problems.
            stream: Source of random numbers, not used.

        Raises:
            ValueError: If answers are no classes, or there is no problem to agree on.
        """
        super().start(network, sets, stream)
        if self.decay is None:
            return {}
        tensors = {name: tensor.detach().clone() for name, tensor in network.tensors().items()}
        if self.warmup:
            device = next(iter(tensors.values())).device
            tensors[COUNT] = torch.zeros((), dtype=torch.int64, device=device)
        return tensors

    def after(self, state: Tensors, parameters: Tensors, progress: float) -> Tensors:
        """The running mean of the weights, one step on.

        Args:
            state: The teacher, or nothing.
            parameters: Parameters after the step.
            progress: Fraction of the steps that are done, not used.
        """
        del progress
        return state if self.decay is None else averaged(state, parameters, self.decay)

    def scored(self, state: Tensors) -> Tensors:
        """The teacher, if it is scored.

        Args:
            state: The teacher, or nothing.
        """
        if not self.scores_teacher:
            return {}
        return {name: tensor for name, tensor in state.items() if name != COUNT}


def taught(update: Update, problems: Problems) -> tuple[Tensor, dict[str, Tensor]]:
    """Answers of a teacher, and the teacher with what they changed in its own buffers.

    Args:
        update: The step, whose state is the teacher.
        problems: What is answered.
    """
    names = [name for name, _ in update.network.module.named_buffers() if name in update.state]
    state = {**update.state, **{name: update.state[name].clone() for name in names}}
    return update.outputs(problems, state), state


def averaged(state: Tensors, parameters: Tensors, decay: float) -> dict[str, Tensor]:
    """A teacher one step on: the running mean of weights.

    While it is warmed up, the decay of update $n$ is at most $1 - 1 / (n + 1)$, so that the teacher
    is the plain mean of all weights so far.

    Args:
        state: The teacher.
        parameters: Parameters after the step.
        decay: Decay of the running mean.
    """
    kept: float | Tensor = decay
    after = dict(state)
    if COUNT in state:
        count = after[COUNT] = state[COUNT] + 1
        kept = (count.double() / (count + 1)).clamp(max=decay)
    for name in state.keys() & parameters.keys():
        old = state[name]
        own = kept.to(old.dtype) if isinstance(kept, Tensor) else kept
        after[name] = own * old + (1 - own) * parameters[name]
    return after
