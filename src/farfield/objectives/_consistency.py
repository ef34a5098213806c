"""Agreement of a network with itself or with a teacher: distances, ramps, noise."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from farfield.core import TRAINING, Problems, Stream, check_fields
from farfield.functional import as_fractions
from farfield.objectives._bound import Bound
from farfield.objectives._objective import Objective, Tensors, Update


@dataclass(frozen=True, kw_only=True)
class ConsistencyRule(Objective):
    """A learning rule that reads, beside the training problems, a set of problems to agree on.

    Args:
        consistency: Name of the set on which answers are to agree.

    Raises:
        ValueError: If a field is of another type, or out of range.
    """

    consistency: str = TRAINING

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def sets(self) -> tuple[str, ...]:
        """Names of the sets of problems from which a step reads batches."""
        return tuple(dict.fromkeys((TRAINING, self.consistency)))

    def start(self, network: Bound, sets: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Nothing to remember; the sets are checked.

        Args:
            network: The network before its first step, not used.
            sets: Whole sets of problems.
            stream: Source of random numbers, not used.

        Raises:
            ValueError: If answers are no classes, or there is no problem to agree on.
        """
        del network, stream
        check_classes(sets, self.consistency)
        return {}

    def supervised(self, update: Update) -> Tensor:
        """The mean loss of the training problems as they are.

        Args:
            update: The step.

        Raises:
            ValueError: If the outputs are not logits of classes.
        """
        outputs = update.outputs()
        check_logits(outputs, update.problems)
        return update.task_loss(outputs, update.problems).mean()


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
        sets: Whole sets of problems, by name.
        consistency: Name of the set on which answers are to agree.
    """
    if not len(sets[consistency]):
        raise ValueError(f"consistency must name a set with problems, got {consistency!r}, empty")
    target = sets[TRAINING].target
    if not isinstance(target, Tensor) or target.is_floating_point():
        kind = target.dtype if isinstance(target, Tensor) else type(target).__name__
        raise ValueError(f"targets must be classes, as integers, got {kind}")


def probabilities(outputs: Tensor) -> Tensor:
    """Probabilities of classes; of yes, where there is one logit for yes and no.

    Args:
        outputs: Logits, `(*, class)`.
    """
    return outputs.sigmoid() if outputs.shape[-1] == 1 else outputs.softmax(-1)


def log_probabilities(outputs: Tensor) -> Tensor:
    """Logarithms of probabilities of classes, two of them for one logit of yes and no.

    Args:
        outputs: Logits, `(*, class)`.
    """
    if outputs.shape[-1] > 1:
        return outputs.log_softmax(-1)
    return torch.cat([logsigmoid(outputs), logsigmoid(-outputs)], dim=-1)


def distance(outputs: Tensor, target: Tensor, *problems: Problems) -> Tensor:
    """Mean squared distance of probabilities over problems, answers and classes.

    Args:
        outputs: Logits, `(batch, *answer, class)`.
        target: Probabilities of the same shape, to which no gradient passes.
        problems: The problems that are answered, as in `mean_of_asked`.
    """
    return mean_of_asked((probabilities(outputs) - target.detach()).square(), *problems)


def mean_of_asked(values: Tensor, *problems: Problems) -> Tensor:
    """Mean over all answers that are asked for.

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
    """Sigmoid-shaped ramp from exp(−5) to 1.

    Args:
        progress: Fraction of the run that is done.
        over: Fraction of the run over which it grows; 0 for none.
    """
    return 1.0 if progress >= over else math.exp(-5 * (1 - progress / over) ** 2)


def draw_noise(problems: Problems, stream: Stream) -> Tensor:
    """Standard normal numbers for every item of every problem, `(batch, time, *shape)`.

    Args:
        problems: A batch.
        stream: Source of the numbers.
    """
    shape = (*problems.index.shape, *problems.items.shape[1:])
    return torch.randn(shape, generator=stream.torch()).to(problems.index.device)


def moved(problems: Problems, shift: Tensor) -> Problems:
    """Problems with something added to their items.

    Args:
        problems: A batch.
        shift: What is added, `(batch, time, *shape)`.

    Raises:
        ValueError: If the items are neither floating-point numbers nor bytes.
    """
    shown = problems.unshared()
    items = as_fractions(shown.table())
    return dataclasses.replace(shown, items=items + shift.flatten(0, 1).to(items.dtype))
