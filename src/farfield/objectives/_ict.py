"""Interpolation consistency training: a teacher's answers to mixtures of problems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

from farfield.core import (
    TRAINING,
    Fraction,
    NonNegativeFloat,
    PositiveFloat,
    Problems,
    Stream,
)
from farfield.objectives._bound import Bound
from farfield.objectives._consistency import check_logits, distance, probabilities, ramp_up
from farfield.objectives._mixing import mixed_loss, mixed_outputs
from farfield.objectives._mixing_layers import INPUT, check_hidden, check_layers
from farfield.objectives._objective import Tensors, Update
from farfield.objectives._pairs import draw_pairs, mix_pairs
from farfield.objectives._teacher import TeacherRule


@final
@dataclass(frozen=True, kw_only=True)
class ICT(TeacherRule):
    r"""Mixup, and the distance of answers to mixtures from mixtures of a teacher's answers.

    $$L = L_\text{mixup} + w(p)\, \frac{1}{B' K} \sum_{b, k} \left(\sigma_k(f_\theta(
      \lambda u_b + (1 - \lambda) u_{\pi(b)})) - \lambda\, \sigma_k(f_{\theta'}(u_b))
      - (1 - \lambda)\, \sigma_k(f_{\theta'}(u_{\pi(b)}))\right)^2$$

    with $\sigma$ the probabilities of classes, $u$ problems of the set `consistency`, $\pi$ a
    permutation of their batch, $\lambda \sim \mathrm{Beta}(\alpha, \alpha)$ and $\theta'$ the
    running mean of the weights, which is the teacher. `MeanTeacher` asks for agreement on the
    problems themselves. The weight grows as there.

    Args:
        alpha: Both parameters of the Beta distribution, of labelled and other mixtures.
        weight: Largest weight of the distance.
        ramp: Fraction of the run over which the weight grows.
        decay: Decay of the running mean, in 0…1; `None` to take the network's own answers, without
            a gradient, in place of a teacher's.
        warmup: Whether the decay of update $n$ is at most $1 - 1 / (n + 1)$, as in the released
            code.
        scores_teacher: Whether the teacher, if there is one, is scored and kept, as published, and
            not the student.
        independent_teacher: Whether the teacher starts from a draw of its own, as in the released
            code, and not from the weights of the student.
        averages_buffers: Whether buffers of the teacher are running means, as `MeanTeacher` has it.
        supervised_mixup: Whether labelled problems are mixed too; otherwise they are learned plain.
        mixes_logits: Whether the teacher's logits are mixed and not its probabilities, as in the
            released code.
        layers: Names of the layers at which problems are mixed, as `ManifoldMixup` has them.
        consistency: Name of the set on which answers are to be consistent.

    Raises:
        ValueError: If a number is out of range, layers are an empty tuple, or one is named twice.

    Reference:
        lamb2022, section 6.2 and equation 6.1; the largest weight is that of its released commands
        for CIFAR-10, and decay and ramp are those of section 6.3.3.

    Example:
        >>> from farfield.experiments import Experiment, ItemNetwork, Recipe, Spec
        >>> from farfield.models import BottleneckMLP
        >>> from farfield.tasks import TwoMoons
        >>> experiment = Experiment(
        ...     task=TwoMoons(labels_per_class=3),
        ...     model=ItemNetwork(core=Spec(BottleneckMLP)),
        ...     recipe=Recipe(steps=1_000, learning_rate=0.01, batch_size=100),
        ...     objective=ICT(weight=10.0, consistency="unlabelled"),
        ... )
    """

    alpha: PositiveFloat = 1.0
    weight: NonNegativeFloat = 100.0
    ramp: Fraction = 0.25
    decay: Fraction | None = 0.999
    supervised_mixup: bool = True
    mixes_logits: bool = False
    layers: tuple[str, ...] | None = (INPUT,)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_layers(self.layers)

    def start(self, network: Bound, sets: Mapping[str, Problems], stream: Stream) -> Tensors:
        """The teacher, if there is one: the first weights and buffers of the network.

        Args:
            network: The network before its first step.
            sets: Whole sets of problems.
            stream: Source of the weights of an independent teacher.

        Raises:
            ValueError: If the network has no layer of a name, or declares none and none is named;
                if answers are no classes, or there is no problem to agree on.
        """
        check_hidden(network, self.layers)
        return super().start(network, sets, stream)

    def draw(self, batches: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Weights, partners and layers, for labelled problems and for those to agree on.

        Args:
            batches: The batches.
            stream: Source of random numbers.
        """
        return {
            f"{purpose}.{name}": tensor
            for purpose, of in (("supervised", TRAINING), ("consistency", self.consistency))
            for name, tensor in draw_pairs(
                batches[of],
                self.alpha,
                stream.child(purpose),
                layers=None if self.layers is None else len(self.layers),
            ).items()
        }

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """The mean loss and the weighted distance.

        Args:
            update: The step.

        Raises:
            ValueError: If problems cannot be mixed at a layer, or outputs are no logits of classes.
        """
        if self.supervised_mixup:
            supervised = mixed_loss(update, _pairs(update, "supervised"), self.layers)
        else:
            supervised = self.supervised(update)
        problems, pairs = update.batches[self.consistency], _pairs(update, "consistency")
        if self.decay is None:
            with torch.no_grad():
                answers, state = update.outputs(problems), update.state
        else:
            answers, state = self.teach(update, problems)
        check_logits(answers, update.problems)

        def mixture(x: Tensor) -> Tensor:
            return mix_pairs(x, pairs["weight"], pairs["partner"])

        if self.mixes_logits:
            target = probabilities(mixture(answers))
        else:
            target = mixture(probabilities(answers))
        outputs, *both = mixed_outputs(update, problems, pairs, self.layers)
        weight = self.weight * ramp_up(update.progress, self.ramp)
        return supervised + weight * distance(outputs, target, *both), self.follow(update, state)


def _pairs(update: Update, of: str) -> dict[str, Tensor]:
    """Pairs of one of the two losses."""
    return {n: update.draws[f"{of}.{n}"] for n in ("weight", "partner", "layer")}
