"""Smooth neighbors on teacher graphs: features of one class near each other, others apart."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

from farfield.core import Problems, Stream
from farfield.core.internal import NonNegativeFloat, PositiveFloat, layer_by_name
from farfield.objectives._consistency import ComparingRule, ramp_up
from farfield.objectives._objective import Bound, Tensors, Update
from farfield.objectives._over_another import OWN, RuleOverRule, named, tensors_of


@final
@dataclass(frozen=True, kw_only=True)
class SNTG(RuleOverRule):
    r"""A rule with a teacher, and features near each other where the teacher sees one class.

    $$L = L_\text{rule} + w(p)\, \frac{2}{B} \sum_{b < B / 2} \begin{cases}
      \lVert h_b - h_{b'} \rVert^2 & \text{if the teacher has one class for both} \\
      \max(0, m - \lVert h_b - h_{b'} \rVert)^2 & \text{otherwise} \end{cases}$$

    with $h$ the features of the problems on which the rule compares answers, and $b' = b + B / 2$:
    each problem of the first half of the batch is paired with one of the second half. The class is
    the teacher's most probable one. The weight $w$ grows with that of the rule.

    Args:
        objective: Rule with a teacher: `PiModel`, `TemporalEnsembling` or `MeanTeacher`.
        layer: Name of the layer whose outputs are the features, a row for each problem.
        weight: Largest weight of the second term.
        margin: Distance $m$ from which features of two classes are left alone.

    Raises:
        TypeError: If the rule compares no answers with those of a teacher.
        ValueError: If a number is out of range.

    Reference:
        Luo et al. 2018, equations 5 and 6. There, labeled problems are paired by their labels; here
        all pairs are of the set that the rule compares on.
    """

    objective: ComparingRule
    layer: str
    weight: NonNegativeFloat = 1.0
    margin: PositiveFloat = 1.0

    @property
    def second_views(self) -> tuple[str, ...]:
        """Names of the sets whose problems the rule compares with themselves, changed anew."""
        return self.objective.second_views

    def start(self, network: Bound, sets: Mapping[str, Problems], stream: Stream) -> Tensors:
        """List the tensors that the rule remembers from the start.

        Raises:
            ValueError: If the network has no layer of the name.
        """
        layer_by_name(network.module, self.layer)
        return super().start(network, sets, stream)

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """Compute the loss of the rule, and the weighted distances of features.

        Raises:
            ValueError: If the layer does not give one output for each of two or more problems.
        """
        rule = self.objective
        supervised = rule.supervised(update)
        own = dataclasses.replace(update, state=tensors_of(OWN, update.state))
        with update.network.watched(self.layer) as seen:
            comparison = rule.compare(own)
        count = len(update.batches[rule.consistency])
        if not seen or len(seen[0]) != count or count < 2:
            shapes = [tuple(output.shape) for output in seen]
            raise ValueError(
                f"layer must give one output of ({count}, …), a row for each problem, two or more, "
                f"got shapes {shapes} from {self.layer!r}"
            )
        apart = neighbor_distance(seen[0].flatten(1), comparison.teacher, margin=self.margin)
        terms = rule.weight * comparison.distance + self.weight * apart
        loss = supervised + ramp_up(update.progress, rule.ramp) * terms
        return loss, named(OWN, comparison.state)


def neighbor_distance(features: Tensor, teacher: Tensor, *, margin: float) -> Tensor:
    """Compute how far neighbors are apart and others are near, each with one of the other half.

    Args:
        features: A vector for each problem, `(batch, feature)`, two or more.
        teacher: Probabilities of classes, `(batch, class)`.
        margin: Distance from which features of two classes cost nothing.
    """
    half = len(features) // 2
    first, second = features[:half], features[half : 2 * half]
    labels = teacher.argmax(-1)
    same = labels[:half] == labels[half : 2 * half]
    squares = (first - second).square().sum(-1)
    # Two equal vectors have a distance without a slope; theirs is that of the margin at 0.
    near = (margin - squares.clamp(min=torch.finfo(squares.dtype).tiny).sqrt()).clamp(min=0)
    return torch.where(same, squares, near.square()).mean()
