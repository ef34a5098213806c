"""Consistency of a network with itself: distances, ramps, the Π-model, temporal ensembling."""

from __future__ import annotations

import dataclasses
import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, NamedTuple, final

import torch
from torch import Tensor

from farfield.core import Problems, Stream
from farfield.core.internal import TRAINING, Checked, Fraction, Limits, NonNegativeFloat, Size
from farfield.functional import consistency
from farfield.functional.internal import as_fractions, probabilities, squared_distance
from farfield.objectives._objective import Bound, Objective, Tensors, Update


@dataclass(frozen=True, kw_only=True)
class ConsistencyRule(Checked, Objective):
    """A learning rule that reads, beside the training problems, a set of problems to agree on.

    Args:
        consistency: Name of the set on which answers are to agree.

    Raises:
        ValueError: If a field is of another type, or out of range.
    """

    consistency: str = TRAINING

    @property
    def sets(self) -> tuple[str, ...]:
        """Names of the sets of problems from which a step reads batches."""
        return tuple(dict.fromkeys((TRAINING, self.consistency)))

    def start(self, network: Bound, sets: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Remember nothing; the sets are checked.

        Raises:
            ValueError: If answers are no classes, or there is no problem to agree on.
        """
        del network, stream
        check_classes(sets, self.consistency)
        return {}

    def supervised(self, update: Update) -> Tensor:
        """Compute the mean loss of the unchanged training problems.

        Raises:
            ValueError: If the outputs are not logits of classes.
        """
        outputs = update.outputs()
        check_logits(outputs, update.problems)
        return update.task_loss(outputs, update.problems).mean()


@dataclass(frozen=True, kw_only=True)
class ComparingRule(ConsistencyRule):
    """The task's loss, and a weighted distance of the network's answers from a teacher's answers.

    Args:
        weight: Largest weight of the distance.
        ramp: Fraction of the run over which the weight grows.
        consistency: Name of the set on which answers are compared.
    """

    weight: NonNegativeFloat = 1.0
    ramp: Fraction = 0.25

    @abstractmethod
    def compare(self, update: Update) -> Comparison:
        """Compare answers of the network, which are its first call, with answers of a teacher.

        Args:
            update: The step.
        """

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """Compute the mean loss and the weighted distance.

        Raises:
            ValueError: If outputs are no logits of classes, or items cannot be compared.
        """
        supervised = self.supervised(update)
        comparison = self.compare(update)
        weight = self.weight * ramp_up(update.progress, self.ramp)
        return supervised + weight * comparison.distance, comparison.state


@final
class Comparison(NamedTuple):
    """Distance of a network's answers from a teacher's.

    Args:
        distance: The mean distance, a scalar.
        teacher: Probabilities of the teacher, `(batch, *answer, class)`, without gradient.
        state: Tensors to remember.
    """

    distance: Tensor
    teacher: Tensor
    state: Tensors


def check_logits(outputs: Tensor, problems: Problems) -> None:
    """Raise `ValueError` unless outputs are logits of classes for each answer of a problem.

    Args:
        outputs: Outputs of the network, for these problems or others of as many answers.
        problems: Problems with classes as targets.
    """
    answers = problems.target.shape[1:]
    if outputs.shape[1:-1] != answers:
        raise ValueError(
            "outputs must be logits of classes for each target, of shape "
            f"(batch, {''.join(f'{size}, ' for size in answers)}class), got {tuple(outputs.shape)}"
        )


def check_classes(sets: Mapping[str, Problems], consistency: str) -> None:
    """Raise `ValueError` unless answers are classes, and there are problems to agree on.

    Args:
        consistency: Name of the set on which answers are to agree.
    """
    if not len(sets[consistency]):
        raise ValueError(f"consistency must name a set with problems, got {consistency!r}, empty")
    target = sets[TRAINING].target
    if not isinstance(target, Tensor) or target.is_floating_point():
        kind = target.dtype if isinstance(target, Tensor) else type(target).__name__
        raise ValueError(f"targets must be classes, as integers, got {kind}")


def distance(outputs: Tensor, target: Tensor, *problems: Problems) -> Tensor:
    """Compute the mean squared distance of probabilities over problems, answers and classes.

    Args:
        outputs: Logits, `(batch, *answer, class)`.
        target: Probabilities of the same shape, to which no gradient passes.
        problems: The problems that are answered, as in `mean_of_asked`.
    """
    return mean_of_asked(squared_distance(outputs, target.detach()), *problems)


def mean_of_asked(values: Tensor, *problems: Problems) -> Tensor:
    """Compute the mean over all answers that are asked for.

    Args:
        values: A number for each answer, or for each of its classes, `(batch, *answer, …)`.
        problems: The problems that are answered; of mixtures all that are mixed, each of which
            must ask for an answer.
    """
    if all(each.target.ndim == 1 for each in problems):  # one answer each fills up nothing
        return values.mean()
    asked = torch.stack([each.asked for each in problems]).all(0)
    number = asked.sum() * (values.numel() // asked.numel())
    counted = asked if asked.ndim == values.ndim else asked.unsqueeze(-1)
    return values.where(counted, 0.0).sum() / number.clamp(min=1)


def ramp_up(progress: float, over: float) -> float:
    """Compute the sigmoid-shaped ramp from exp(−5) to 1.

    Args:
        progress: Fraction of the run that is done.
        over: Fraction of the run over which it grows; 0 for none.
    """
    return 1.0 if progress >= over else math.exp(-5 * (1 - progress / over) ** 2)


def draw_noise(problems: Problems, stream: Stream) -> Tensor:
    """Draw standard normal numbers for every item of every problem, `(batch, time, *shape)`.

    Args:
        problems: A batch.
        stream: Source of the numbers.
    """
    shape = (*problems.index.shape, *problems.items.shape[1:])
    return torch.randn(shape, generator=stream.torch()).to(problems.index.device)


def moved(problems: Problems, shift: Tensor) -> Problems:
    """Make problems with something added to their items.

    Args:
        problems: A batch.
        shift: Addend, `(batch, time, *shape)`.

    Raises:
        ValueError: If the items are neither floating-point numbers nor bytes.
    """
    shown = problems.unshared()
    items = as_fractions(shown.table())
    return dataclasses.replace(shown, items=items + shift.flatten(0, 1).to(items.dtype))


@final
@dataclass(frozen=True, kw_only=True)
class PiModel(ComparingRule):
    r"""The task's loss, and the distance of two answers to the same problems under noise.

    $$L = \frac{1}{B} \sum_b \ell(f(x_b), y_b) + w(p)\, \frac{1}{B' K} \sum_{b, k}
      \left(\sigma_k(f(u_b + s\, \epsilon_b)) - \sigma_k(f(u_b + s\, \epsilon'_b))\right)^2$$

    with $\sigma$ the probabilities of classes, $u$ problems of the set `consistency` and $\epsilon$
    and $\epsilon'$ standard normal numbers for every item. The gradient passes to both answers. The
    weight $w$ grows as that of `MeanTeacher`. Dropout in the network is noise too, and so are
    changes of images, which `CropAndFlip` draws for each of the two answers. The function is
    `farfield.functional.consistency`.

    Args:
        weight: Largest weight of the distance.
        ramp: Fraction of the run over which the weight grows.
        noise: Standard deviation $s$ of the noise; pixels of bytes are 0…1.
        consistency: Name of the set on which the two answers are to agree.

    Raises:
        ValueError: If a number is out of range.

    Reference:
        Laine and Aila 2017, section 2.1.
    """

    noise: NonNegativeFloat = 0.15

    @property
    def second_views(self) -> tuple[str, ...]:
        """Set on which the two answers are to agree."""
        return (self.consistency,)

    def draw(self, batches: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Draw the noise of both answers.

        Args:
            batches: The batches.
            stream: Source of the noise.
        """
        problems = batches[self.consistency]
        return {name: draw_noise(problems, stream.child(name)) for name in ("first", "second")}

    def compare(self, update: Update) -> Comparison:
        """Compare two answers under noise; the gradient of the distance passes to both.

        Raises:
            ValueError: If the items are neither floating-point numbers nor bytes.
        """
        views = update.batches[self.consistency], update.second_view(self.consistency)
        first, second = (
            update.outputs(moved(problems, self.noise * update.draws[name]))
            for name, problems in zip(("first", "second"), views, strict=True)
        )
        apart = mean_of_asked(consistency(first, second, reduction="none"), views[0])
        return Comparison(apart, probabilities(second.detach()), update.state)


@final
@dataclass(frozen=True, kw_only=True)
class TemporalEnsembling(ComparingRule):
    r"""The task's loss, and the distance of answers from the mean of past answers to each problem.

    $$L = \frac{1}{B} \sum_b \ell(f(x_b), y_b) + w(p)\, \frac{1}{B' K} \sum_{b, k}
      \left(\sigma_k(f(u_b)) - \frac{Z_{bk}}{1 - d^{n_b}}\right)^2, \qquad
      Z_b \leftarrow d\, Z_b + (1 - d)\, \sigma(f(u_b))$$

    with $\sigma$ the probabilities of classes, $u$ problems of the set `consistency`, $Z_b$ the
    memory of a problem and $n_b$ how often it was seen before; a problem that was not has no
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
    decay: Annotated[float, Limits(at_least=0, below=1)] = 0.6

    def start(self, network: Bound, sets: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Start without answers.

        Raises:
            ValueError: If answers are no classes, or there is no problem to agree on.
        """
        super().start(network, sets, stream)
        index = sets[self.consistency].index
        answers = torch.zeros(len(index), self.num_outputs, dtype=torch.float64)
        visits = torch.zeros(len(index), dtype=torch.int64)
        return {"answers": answers.to(index.device), "visits": visits.to(index.device)}

    def compare(self, update: Update) -> Comparison:
        """Compare answers with the mean of past answers, where a problem was seen before.

        Raises:
            ValueError: If the outputs are not `num_outputs` logits of each problem.
        """
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
        return Comparison(distance, past, state)
