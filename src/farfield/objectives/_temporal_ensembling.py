"""Temporal ensembling: consistency with the running mean of past answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, final

import torch
from torch import Tensor

from farfield.core import (
    Fraction,
    Limits,
    NonNegativeFloat,
    Problems,
    Size,
    Stream,
)
from farfield.objectives._bound import Bound
from farfield.objectives._consistency import ConsistencyRule, probabilities, ramp_up
from farfield.objectives._objective import Tensors, Update


@final
@dataclass(frozen=True, kw_only=True)
class TemporalEnsembling(ConsistencyRule):
    r"""The task's loss, and the distance of answers from the mean of past ones to each problem.

    $$L = \frac{1}{B} \sum_b \ell(f(x_b), y_b) + w(p)\, \frac{1}{B' K} \sum_{b, k}
      \left(\sigma_k(f(u_b)) - \frac{Z_{bk}}{1 - d^{n_b}}\right)^2, \qquad
      Z_b \leftarrow d\, Z_b + (1 - d)\, \sigma(f(u_b))$$

    with $\sigma$ the probabilities of classes, $u$ problems of the set `consistency`, $Z_b$ what is
    remembered of a problem and $n_b$ how often it was seen before; a problem that was not has no
    distance. The weight $w$ grows as that of `MeanTeacher`.

    Args:
        num_outputs: Logits of a problem, `task.num_outputs`.
        weight: Largest weight of the distance.
        ramp: Fraction of the run over which the weight grows.
        decay: Decay $d$ of the running mean, from 0 to below 1.
        consistency: Name of the set on which answers are to agree with past ones.

    Raises:
        ValueError: If a number is out of range.

    Reference:
        Laine and Aila 2017, section 2.2.
    """

    num_outputs: Size
    weight: NonNegativeFloat = 1.0
    ramp: Fraction = 0.25
    decay: Annotated[float, Limits(at_least=0, below=1)] = 0.6

    def start(self, network: Bound, sets: Mapping[str, Problems], stream: Stream) -> Tensors:
        """No answers yet.

        Args:
            network: The network before its first step, not used.
            sets: Whole sets of problems.
            stream: Source of random numbers, not used.

        Raises:
            ValueError: If answers are no classes, or there is no problem to agree on.
        """
        super().start(network, sets, stream)
        index = sets[self.consistency].index
        answers = torch.zeros(len(index), self.num_outputs, dtype=torch.float64)
        visits = torch.zeros(len(index), dtype=torch.int64)
        return {"answers": answers.to(index.device), "visits": visits.to(index.device)}

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """The mean loss and the weighted distance.

        Args:
            update: The step.

        Raises:
            ValueError: If the outputs are not `num_outputs` logits of each problem.
        """
        supervised = self.supervised(update)
        rows, problems = update.rows[self.consistency], update.batches[self.consistency]
        outputs = update.outputs(problems)
        if outputs.shape[1:] != (self.num_outputs,):
            raise ValueError(
                f"num_outputs must be that of the network, {tuple(outputs.shape[1:])}, "
                f"got {self.num_outputs}"
            )
        new = probabilities(outputs)
        old, visits = update.state["answers"][rows], update.state["visits"][rows]
        seen = visits > 0
        total = (1 - self.decay ** visits.double()).where(seen, torch.ones_like(old[:, 0]))
        past = (old / total[:, None]).to(new.dtype)
        distance = ((new - past).square() * seen[:, None]).mean()
        kept = self.decay * old + (1 - self.decay) * new.detach().to(old.dtype)
        state = {
            "answers": update.state["answers"].index_copy(0, rows, kept),
            "visits": update.state["visits"].index_copy(0, rows, visits + 1),
        }
        weight = self.weight * ramp_up(update.progress, self.ramp)
        return supervised + weight * distance, state
