"""Rules with averaged weights: mean teacher and interpolation consistency."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, final

import torch
from torch import Tensor

from farfield.core import Problems, Stream
from farfield.core.internal import TRAINING, Fraction, NonNegativeFloat, PositiveFloat
from farfield.functional import consistency
from farfield.functional.internal import mix_pairs, probabilities, running_mean
from farfield.objectives._consistency import (
    ComparingRule,
    Comparison,
    ConsistencyRule,
    check_logits,
    distance,
    mean_of_asked,
    ramp_up,
)
from farfield.objectives._mixup import (
    INPUT,
    check_hidden,
    check_layers,
    draw_pairs,
    mixed_loss,
    mixed_outputs,
)
from farfield.objectives._objective import Bound, Objective, Tensors, Update

COUNT: Final = "number of updates"
"""Name of the count of updates among the tensors of a teacher; no parameter has blanks in its."""


OF_AVERAGES: Final = ("warmup", "scores_teacher", "independent_teacher", "averages_buffers")
"""Fields that say nothing where no weights are averaged."""


@dataclass(frozen=True, kw_only=True)
class AveragedRule(ConsistencyRule):
    """A learning rule that remembers running means of weights, by the names of the weights.

    Parameters that are not trained and buffers that no call changes are those of the network.

    Args:
        decay: Decay of the running mean, in 0…1; `None` for no mean.
        warmup: Whether the decay of update $n$ is at most $1 - 1 / (n + 1)$.

    Raises:
        ValueError: If a field is of another type, or a number out of range.
    """

    decay: Fraction | None = 0.99
    warmup: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in OF_AVERAGES:
            default = getattr(type(self), name, None)
            if self.decay is None and getattr(self, name, None) is not default:
                raise ValueError(
                    f"{name} must be left out where decay is None: there is no teacher"
                )

    def start(self, network: Bound, sets: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Start the means, if there are any: the first weights and buffers of the network.

        Raises:
            ValueError: If answers are no classes, or there is no problem to agree on.
        """
        super().start(network, sets, stream)
        if self.decay is None:
            return {}
        first = network.tensors()
        learned = (name for name, p in network.module.named_parameters() if p.requires_grad)
        names = (*learned, *network.mutable_buffers())
        tensors = {name: first[name].detach().clone() for name in names}
        if self.warmup:
            device = next(iter(tensors.values())).device
            tensors[COUNT] = torch.zeros((), dtype=torch.int64, device=device)
        return tensors

    def average_buffers(self, update: Update, state: Tensors) -> Tensors:
        """Compute the running means of the buffers of the network after all answers, one step on.

        Args:
            state: The means, or nothing.
        """
        if self.decay is None:
            return state
        tensors = update.network.tensors()
        vectors = update.network.power_vectors()
        names = (name for name in update.network.mutable_buffers() if name not in vectors)
        buffers = {name: tensors[name].detach().clone() for name in names}
        return {**state, **running_mean(state, buffers, _kept(state, self.decay))}

    def after(self, state: Tensors, parameters: Tensors, progress: float) -> Tensors:
        """Compute the running mean of the weights, one step on.

        Args:
            state: The means, or nothing.
            parameters: Parameters after the step.
            progress: Fraction of the steps that are done, not used.
        """
        del progress
        if self.decay is None:
            return state
        weights = running_mean(state, parameters, _kept(state, self.decay))
        count = {COUNT: state[COUNT] + 1} if self.warmup else {}
        return {**state, **weights, **count}

    def scored(self, state: Tensors) -> Tensors:
        """Select the means; other tensors have blanks in their names.

        Args:
            state: The means, or nothing.
        """
        return {name: tensor for name, tensor in state.items() if " " not in name}


@dataclass(frozen=True, kw_only=True)
class TeacherRule(AveragedRule):
    """A learning rule that remembers a teacher, by the names of its parameters and buffers.

    Args:
        weight: Largest weight of the distance from the teacher's answers.
        ramp: Fraction of the run over which the weight grows.
        decay: Decay of the running mean, in 0…1; `None` for no teacher.
        warmup: Whether the decay of update $n$ is at most $1 - 1 / (n + 1)$.
        scores_teacher: Whether the teacher is scored and kept, and not the student.
        independent_teacher: Whether the teacher starts from a separate draw.
        averages_buffers: Whether buffers of the teacher are running means of the student's. The
            vectors of spectral normalization never are: they follow the teacher's own weights.

    Raises:
        ValueError: If a field is of another type, or a number out of range.
    """

    weight: NonNegativeFloat = 1.0
    ramp: Fraction = 0.2
    scores_teacher: bool = True
    independent_teacher: bool = False
    averages_buffers: bool = False

    def start(self, network: Bound, sets: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Start the teacher, if there is one: the first weights and buffers of the network.

        Args:
            stream: Source of the weights of an independent teacher.

        Raises:
            ValueError: If answers are no classes, or there is no problem to agree on.
        """
        state = super().start(network, sets, stream)
        if not self.independent_teacher:
            return state
        own = network.redraw(stream.child("teacher"))
        return {n: own[n].detach().clone() if n in own else t for n, t in state.items()}

    def teach(self, update: Update, problems: Problems) -> tuple[Tensor, Tensors]:
        """Compute answers of the teacher, and the teacher with its buffers after them.

        Args:
            update: The step, whose state is the teacher.
        """
        buffers = {name: update.state[name].clone() for name in update.network.mutable_buffers()}
        state = {**update.state, **buffers}
        outputs = update.outputs(problems, state)
        if not self.averages_buffers:
            return outputs, state
        vectors = {n: buffers[n] for n in update.network.power_vectors() if n in buffers}
        return outputs, {**update.state, **vectors}

    def follow(self, update: Update, state: Tensors) -> Tensors:
        """Update the teacher after all answers: its buffers one step on if they are means.

        Args:
            state: Teacher that `teach` returned.
        """
        return self.average_buffers(update, state) if self.averages_buffers else state

    def scored(self, state: Tensors) -> Tensors:
        """Select the teacher, if it is scored.

        Args:
            state: The teacher, or nothing.
        """
        return super().scored(state) if self.scores_teacher else {}


def _kept(state: Tensors, decay: float) -> float | Tensor:
    """Compute the weight of the past in the running mean.

    While the teacher is warmed up, it is at most $1 - 1 / (n + 1)$ at update $n$, so that the
    teacher is the plain mean of all weights so far.
    """
    if COUNT not in state:
        return decay
    count = state[COUNT].double() + 1
    return (count / (count + 1)).clamp(max=decay)


FIRST_WEIGHT: Final = 0.1
"""Largest weight of the first weights of a network in a teacher, at the end of training."""


def teacher_warning(objective: Objective, steps: int) -> str | None:
    """Write a warning if the first weights of a network still count in its teacher at the end.

    Args:
        objective: Learning rule; only a rule with a teacher and without warm-up has a warning.
        steps: Number of steps of the run.
    """
    if not isinstance(objective, AveragedRule) or objective.decay is None or objective.warmup:
        return None
    first = objective.decay**steps
    if first <= FIRST_WEIGHT:
        return None
    most = math.floor(1000 * FIRST_WEIGHT ** (1 / steps)) / 1000
    return (
        f"decay of {type(objective).__name__} must make decay ** steps at most {FIRST_WEIGHT:g}, "
        f"got {objective.decay:g} ** {steps:,} = {first:.2g}, the part of untrained weights in the "
        f"teacher; take at most {most:g}, warmup=True or more steps"
    )


@final
@dataclass(frozen=True, kw_only=True)
class MeanTeacher(TeacherRule, ComparingRule):
    r"""The task's loss, and the distance from the answers of a teacher.

    $$L = \frac{1}{B} \sum_b \ell(f_\theta(x_b), y_b) + w(p)\, \frac{1}{B' K} \sum_{b, k}
      \left(\sigma_k(f_\theta(u_b)) - \sigma_k(f_{\theta'}(u_b))\right)^2, \qquad
      \theta' \leftarrow d\, \theta' + (1 - d)\, \theta$$

    with $\sigma$ the probabilities of classes, $u$ problems of the set `consistency`, and $\theta'$
    the running mean of the weights, which is the teacher. The weight $w$ grows over the first part
    of the run as $\exp(-5 (1 - p / r)^2)$ with $p$ the progress. Where `CropAndFlip` changes
    images, student and teacher see different draws. The functions are
    `farfield.functional.consistency` and `farfield.functional.mean_teacher`.

    Args:
        weight: Largest weight of the distance.
        decay: Decay $d$ of the running mean, in 0…1.
        ramp: Fraction $r$ of the run over which the weight grows.
        consistency: Name of the set on which student and teacher are to agree.
        warmup: Whether the decay of update $n$ is at most $1 - 1 / (n + 1)$, so that the teacher
            is at first the plain mean of all weights.
        scores_teacher: Whether the teacher is scored and kept, as published, and not the student.
        independent_teacher: Whether the teacher starts from a separate draw, and not from the
            weights of the student.
        averages_buffers: Whether buffers of the teacher, such as statistics of batch
            normalization, are running means of the student's, and do not follow its answers.
            The vectors of spectral normalization follow the teacher's own weights always.

    Raises:
        ValueError: If a number is out of range.

    Reference:
        Tarvainen and Valpola 2017.
    """

    decay: Fraction = 0.99

    @property
    def second_views(self) -> tuple[str, ...]:
        """Set on which student and teacher are to agree."""
        return (self.consistency,)

    def compare(self, update: Update) -> Comparison:
        """Compare the answers of student and teacher; no gradient passes to the teacher."""
        problems = update.batches[self.consistency]
        student = update.outputs(problems)
        teacher, state = self.teach(update, update.second_view(self.consistency))
        teacher = teacher.detach()
        apart = mean_of_asked(consistency(student, teacher, reduction="none"), problems)
        return Comparison(apart, probabilities(teacher), self.follow(update, state))


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

    The rule assumes classes with few items between them, and costs accuracy elsewhere. Without
    labels, begin with a weight of 10. Choose a decay for which `decay ** steps`, the part of
    untrained weights in the teacher, is below 0.1, or `warmup=True`; a run warns otherwise. The
    functions are `farfield.functional.ict_loss` and `farfield.functional.mean_teacher`.

    Args:
        alpha: Both parameters of the Beta distribution, of labeled and other mixtures.
        weight: Largest weight of the distance.
        ramp: Fraction of the run over which the weight grows.
        decay: Decay of the running mean, in 0…1; `None` to take the network's own answers, without
            a gradient, in place of a teacher's.
        warmup: Whether the decay of update $n$ is at most $1 - 1 / (n + 1)$, as in the released
            code.
        scores_teacher: Whether the teacher, if there is one, is scored and kept, as published, and
            not the student.
        independent_teacher: Whether the teacher starts from a separate draw, as in the released
            code, and not from the weights of the student.
        averages_buffers: Whether buffers of the teacher are running means, as `MeanTeacher` has it.
        supervised_mixup: Whether labeled problems are mixed too; otherwise they stay unmixed.
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
        """Start the teacher, if there is one: the first weights and buffers of the network.

        Args:
            stream: Source of the weights of an independent teacher.

        Raises:
            ValueError: If the network has no layer of a name, or declares none and none is named;
                if answers are no classes, or there is no problem to agree on.
        """
        check_hidden(network, self.layers)
        return super().start(network, sets, stream)

    def draw(self, batches: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Draw weights, partners and layers, for labeled problems and for problems to agree on.

        Args:
            batches: The batches.
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
        """Compute the mean loss and the weighted distance.

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
    """Draw pairs of one of the two losses."""
    return {n: update.draws[f"{of}.{n}"] for n in ("weight", "partner", "layer")}
