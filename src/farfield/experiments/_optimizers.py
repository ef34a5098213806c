"""Optimizers, schedules of their learning rate, and players with a part of a network each."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Protocol, final, runtime_checkable

import torch

from farfield.core.internal import (
    Checked,
    Fraction,
    Limits,
    NonNegativeFloat,
    PositiveFloat,
    Size,
    check_fields,
)
from farfield.objectives import Objective, Supervised

Decay = Annotated[float, Limits(at_least=0, below=1)]
"""Decay rate of a running mean."""

ParameterGroup = dict[str, Any]
"""Parameters with separate options, as `torch.optim` takes them."""


@runtime_checkable
class Optimizer(Protocol):
    """A frozen description of an optimizer of torch."""

    elementwise: ClassVar[bool]
    """True if every number is updated by itself, so that parameters may be stacked."""

    @property
    def weight_decay(self) -> float:
        """Decay of the weights, as torch's optimizer of this name takes it."""
        ...

    @property
    def undecayed(self) -> tuple[str, ...]:
        """Patterns of names of parameters that do not decay, e.g. `("*.bias", "*norm*")`."""
        ...

    def build(
        self, groups: Sequence[ParameterGroup], learning_rate: float
    ) -> torch.optim.Optimizer:
        """Build the optimizer of torch.

        Args:
            groups: Parameters with their options, e.g. `{"params": […], "weight_decay": 0.0}`.
            learning_rate: Learning rate of the first step.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class _Elementwise(Checked):
    """Base of optimizers that step every number of a parameter by itself.

    Args:
        weight_decay: Added to the gradient, times the weight.
        undecayed: Patterns of names of parameters that do not decay, e.g. `("*.bias", "*norm*")`.
    """

    elementwise: ClassVar[bool] = True

    weight_decay: NonNegativeFloat = 0.0
    undecayed: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class _Moments(_Elementwise):
    """Base of Adam and its variant.

    Args:
        betas: Decay rates of the running means of gradients and of their squares.
        eps: Added to the root of the mean square.
    """

    _torch: ClassVar[type[torch.optim.Adam]]

    betas: tuple[Decay, Decay] = (0.9, 0.999)
    eps: NonNegativeFloat = 1e-8

    def build(self, groups: Sequence[ParameterGroup], learning_rate: float) -> torch.optim.Adam:
        """Build the optimizer of torch, fused where the tensors allow it."""
        return self._torch(
            list(groups), lr=learning_rate, betas=self.betas, eps=self.eps, fused=_fusible(groups)
        )


@final
@dataclass(frozen=True, kw_only=True)
class Adam(_Moments):
    """Adam, `torch.optim.Adam`.

    Raises:
        ValueError: If a number is out of range.

    Reference:
        Kingma and Ba 2015.
    """

    _torch: ClassVar[type[torch.optim.Adam]] = torch.optim.Adam


@final
@dataclass(frozen=True, kw_only=True)
class AdamW(_Moments):
    """Adam whose weight decay does not pass through the running means, `torch.optim.AdamW`.

    Args:
        weight_decay: Fraction of a weight, times the learning rate, that a step takes off.

    Raises:
        ValueError: If a number is out of range.

    Reference:
        Loshchilov and Hutter 2019.
    """

    _torch: ClassVar[type[torch.optim.Adam]] = torch.optim.AdamW
    weight_decay: NonNegativeFloat = 0.01


@final
@dataclass(frozen=True, kw_only=True)
class SGD(_Elementwise):
    """Stochastic gradient descent, `torch.optim.SGD`.

    Args:
        momentum: Fraction of the last step that the next one keeps.
        nesterov: Whether the gradient is taken ahead of the step (Nesterov's momentum).

    Raises:
        ValueError: If a number is out of range, or Nesterov's momentum is 0.

    Reference:
        Sutskever et al. 2013.
    """

    momentum: NonNegativeFloat = 0.0
    nesterov: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.nesterov and not self.momentum > 0:
            raise ValueError(f"momentum must be above 0 with nesterov, got {self.momentum}")

    def build(self, groups: Sequence[ParameterGroup], learning_rate: float) -> torch.optim.SGD:
        """Build the optimizer of torch."""
        return torch.optim.SGD(
            list(groups), lr=learning_rate, momentum=self.momentum, nesterov=self.nesterov
        )


@final
@dataclass(frozen=True, kw_only=True)
class RMSprop(_Elementwise):
    """RMSprop, `torch.optim.RMSprop`.

    Args:
        alpha: Decay rate of the running mean of squared gradients.
        eps: Added to its root.
        momentum: Fraction of the last step that the next one keeps.
        centered: Whether the squared running mean of the gradients is taken off.

    Raises:
        ValueError: If a number is out of range.

    Reference:
        Graves 2013, equations 38 to 45.
    """

    alpha: Decay = 0.99
    eps: NonNegativeFloat = 1e-8
    momentum: NonNegativeFloat = 0.0
    centered: bool = False

    def build(self, groups: Sequence[ParameterGroup], learning_rate: float) -> torch.optim.RMSprop:
        """Build the optimizer of torch."""
        return torch.optim.RMSprop(
            list(groups),
            lr=learning_rate,
            alpha=self.alpha,
            eps=self.eps,
            momentum=self.momentum,
            centered=self.centered,
        )


def _fusible(groups: Sequence[ParameterGroup]) -> bool | None:
    """Tell if torch's fused optimizers take the parameters; `None` leaves it to torch."""
    return all(p.is_floating_point() for group in groups for p in group["params"]) or None


Share = Annotated[float, Limits(above=0, at_most=1)]
"""Fraction above 0."""


@runtime_checkable
class Schedule(Protocol):
    """A frozen description of a schedule of the learning rate."""

    def factor(self, step: int, steps: int) -> float:
        """Compute the factor of the learning rate at a step.

        Args:
            step: Number of the step, counted from 0.
            steps: Number of steps of the run.
        """
        ...


@final
@dataclass(frozen=True, kw_only=True)
class Constant:
    """A constant learning rate."""

    def factor(self, step: int, steps: int) -> float:
        """Compute the factor of the learning rate: 1."""
        del step, steps
        return 1.0


@final
@dataclass(frozen=True, kw_only=True)
class Cosine(Checked):
    r"""A learning rate that falls as a cosine, and may repeat the end of its way down.

    $$f(p) = \tfrac{1}{2}\left(1 + \cos(\pi s\, p / a)\right)$$

    with $p$ the fraction of the steps that are done, $s$ the span and $a$ the fraction of the run
    that the way down takes. Behind it, the last part of the way, `again`, comes over and over.

    Args:
        span: Fraction of the way down, from 1 to 0, that the run takes, or its first part.
        first: Fraction of the run that the way down takes.
        again: Fraction of the way down that is repeated behind it.

    Raises:
        ValueError: If a number is out of range.

    Reference:
        Loshchilov and Hutter 2017; Athiwaratkun et al. 2019, section 4, for the repetition.
    """

    span: Share = 1.0
    first: Share = 1.0
    again: Share = 1.0

    def factor(self, step: int, steps: int) -> float:
        """Compute the factor of the learning rate."""
        done, first = float(step), self.first * steps
        if self.first < 1 and done >= first:
            length = self.again * first
            done = first - length + (done - first) % length
        return (1 + math.cos(math.pi * self.span * done / first)) / 2


@final
@dataclass(frozen=True, kw_only=True)
class Linear:
    """A learning rate that falls to 0 in equal parts."""

    def factor(self, step: int, steps: int) -> float:
        """Compute the factor of the learning rate."""
        return 1 - step / steps


@final
@dataclass(frozen=True, kw_only=True)
class Steps:
    """A learning rate that changes in steps.

    Args:
        factors: Pairs of progress (fraction of the steps that are done) and the factor from there
            on, e.g. `((0.5, 0.1), (0.75, 0.01))`; before the first the factor is 1.

    Raises:
        ValueError: If progress does not grow from pair to pair or a number is out of range.
    """

    factors: tuple[tuple[Fraction, NonNegativeFloat], ...]

    def __post_init__(self) -> None:
        check_fields(self)
        progress = [at for at, _ in self.factors]
        if sorted(set(progress)) != progress:
            raise ValueError(f"factors must grow in progress, got {progress}")

    def factor(self, step: int, steps: int) -> float:
        """Compute the factor of the learning rate."""
        return [1.0, *(factor for at, factor in self.factors if at * steps <= step)][-1]


@final
@dataclass(frozen=True, kw_only=True)
class Halving(Checked):
    """A learning rate that is halved again and again in the later part of a run.

    Args:
        after: Fraction of the steps before the first halving.
        every: Fraction of the steps between two halvings.

    Raises:
        ValueError: If a fraction is out of range.

    Reference:
        Zaremba et al. 2014, which halves after every epoch from some epoch on.
    """

    after: Fraction
    every: Share

    def factor(self, step: int, steps: int) -> float:
        """Compute the factor of the learning rate."""
        past = step - self.after * steps
        return 1.0 if past < 0 else 0.5 ** (1 + math.floor(past / (self.every * steps)))


@final
@dataclass(frozen=True, kw_only=True)
class Warmup(Checked):
    """A learning rate that grows in equal parts at first, and then follows another schedule.

    Args:
        fraction: Fraction of the steps over which it grows.
        then: Schedule of the steps after these.

    Raises:
        ValueError: If the fraction is out of range.
    """

    fraction: Fraction
    then: Schedule = Constant()

    def factor(self, step: int, steps: int) -> float:
        """Compute the factor of the learning rate."""
        growing = round(self.fraction * steps)
        if step < growing:
            return (step + 1) / growing
        return self.then.factor(step - growing, steps - growing)


@final
@dataclass(frozen=True, kw_only=True)
class Player:
    """An objective with the parts of the network that it trains and an optimizer.

    Players take turns at every step. Successive players with the same objective and repeats
    move at once, from one gradient; a part that two of them name belongs to the last. A part that
    no player names is not trained.

    Args:
        objective: Learning rule of the player.
        parts: Names of the parts that it trains, e.g. `("critic",)`; none named is the whole
            network.
        optimizer: Optimizer; `None` for that of the recipe.
        learning_rate: Largest learning rate; `None` for that of the recipe. It follows the
            schedule of the recipe.
        repeats: Number of updates at each step.

    Raises:
        ValueError: If a field is of another type, a number below its least one, or a part no name.
    """

    objective: Objective = Supervised()
    parts: tuple[str, ...] = ()
    optimizer: Optimizer | None = None
    learning_rate: PositiveFloat | None = None
    repeats: Size = 1

    def __post_init__(self) -> None:
        check_fields(self)
        check_names("parts", self.parts)

    def trains(self, name: str) -> bool:
        """Tell if a parameter is in the parts of the player.

        Args:
            name: Its name in the network, e.g. `"encoder.output.weight"`.
        """
        return not self.parts or any(is_within(name, part) for part in self.parts)


def is_within(name: str, part: str) -> bool:
    """Tell if a parameter or buffer is that part of a network, or in it.

    Args:
        name: Its name in the network, e.g. `"encoder.output.weight"`.
        part: Name of the part, e.g. `"encoder"`.
    """
    return f"{name}.".startswith(f"{part}.")


def check_names(field: str, parts: Iterable[str]) -> None:
    """Raise `ValueError` unless every name of a part is a name with more than dots.

    Args:
        field: Name of the argument, for the error.
        parts: Names of parts.
    """
    for part in parts:
        if not part.strip("."):
            raise ValueError(
                f'{field} must be names of parts of a network, such as "encoder", got {part!r}'
            )


def check_parts(field: str, parts: Iterable[str], names: Collection[str]) -> None:
    """Raise `ValueError` if a network has no parameter in a part.

    Args:
        field: Name of the argument, for the error.
        parts: Names of parts, e.g. `("encoder",)`.
        names: Of all that the network has, e.g. of its parameters.
    """
    for part in parts:
        if not any(is_within(name, part) for name in names):
            raise ValueError(
                f"{field} must name parts of the network, got {part!r}; it has {', '.join(names)}"
            )
