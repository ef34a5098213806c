"""Mean teacher: consistency with a running mean of the weights."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from torch import Tensor

from farfield.core import (
    TRAINING,
    Fraction,
    NonNegativeFloat,
    Problems,
    Stream,
    check_fields,
)
from farfield.objectives._bound import Bound
from farfield.objectives._objective import Objective, Tensors, Update


@final
@dataclass(frozen=True, kw_only=True)
class MeanTeacher(Objective):
    r"""The task's loss, and the distance from the answers of a teacher.

    $$L = \frac{1}{B} \sum_b \ell(f_\theta(x_b), y_b) + w(p)\, \frac{1}{B' K} \sum_{b, k}
      \left(\sigma_k(f_\theta(u_b)) - \sigma_k(f_{\theta'}(u_b))\right)^2, \qquad
      \theta' \leftarrow d\, \theta' + (1 - d)\, \theta$$

    with $\sigma$ the softmax over classes, $u$ problems of the set `consistency`, and $\theta'$ the
    running mean of the weights, which is the teacher. The weight $w$ grows over the first part of
    the run as $\exp(-5 (1 - p / r)^2)$ with $p$ the progress.

    Args:
        weight: Largest weight of the distance.
        decay: Decay $d$ of the running mean, in 0…1.
        ramp: Fraction $r$ of the run over which the weight grows.
        consistency: Name of the set on which student and teacher are to agree.

    Raises:
        ValueError: If a number is out of range.

    Reference:
        Tarvainen and Valpola 2017.
    """

    weight: NonNegativeFloat = 1.0
    decay: Fraction = 0.99
    ramp: Fraction = 0.2
    consistency: str = TRAINING

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def sets(self) -> tuple[str, ...]:
        """Names of the sets of problems from which a step reads batches."""
        return tuple(dict.fromkeys((TRAINING, self.consistency)))

    def start(self, network: Bound, sets: Mapping[str, Problems], stream: Stream) -> Tensors:
        """The teacher: the first weights and buffers of the network.

        Args:
            network: The network before its first step.
            sets: Whole sets of problems.
            stream: Source of random numbers, not used.
        """
        del sets, stream
        return {name: tensor.detach().clone() for name, tensor in network.tensors().items()}

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """The mean loss and the weighted distance.

        Args:
            update: The step.
        """
        supervised = update.task_loss(update.outputs(), update.problems).mean()
        problems = update.batches[self.consistency]
        student = update.outputs(problems).softmax(-1)
        names = [name for name, _ in update.network.module.named_buffers()]
        statistics = {name: update.state[name].clone() for name in names}  # of the teacher's own
        state = {**update.state, **statistics}
        teacher = update.outputs(problems, state).detach().softmax(-1)
        weight = self.weight * ramp_up(update.progress, self.ramp)
        return supervised + weight * (student - teacher).square().mean(), state

    def after(self, state: Tensors, parameters: Tensors, progress: float) -> Tensors:
        """The running mean of the weights, one step on.

        Args:
            state: The teacher.
            parameters: Parameters after the step.
            progress: Fraction of the steps that are done, not used.
        """
        del progress
        kept, new = self.decay, 1 - self.decay
        return {
            name: kept * tensor + new * parameters[name] if name in parameters else tensor
            for name, tensor in state.items()
        }


def ramp_up(progress: float, over: float) -> float:
    """Sigmoid-shaped ramp from exp(−5) to 1.

    Args:
        progress: Fraction of the run that is done.
        over: Fraction of the run over which it grows; 0 for none.
    """
    return 1.0 if progress >= over else math.exp(-5 * (1 - progress / over) ** 2)
