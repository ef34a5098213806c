"""Frozen descriptions of torch's optimizers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Protocol, final, runtime_checkable

import torch

from farfield.core import Limits, NonNegativeFloat, check_fields

Decay = Annotated[float, Limits(at_least=0, below=1)]
"""Decay rate of a running mean."""

ParameterGroup = dict[str, Any]
"""Parameters with options of their own, as `torch.optim` takes them."""


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
        """The optimizer of torch.

        Args:
            groups: Parameters with their options, e.g. `{"params": […], "weight_decay": 0.0}`.
            learning_rate: Learning rate of the first step.
        """
        ...


@final
@dataclass(frozen=True, kw_only=True)
class Adam:
    """Adam, `torch.optim.Adam`.

    Args:
        betas: Decay rates of the running means of gradients and of their squares.
        eps: Added to the root of the mean square.
        weight_decay: Added to the gradient, times the weight.
        undecayed: Patterns of names of parameters that do not decay, e.g. `("*.bias", "*norm*")`.

    Raises:
        ValueError: If a number is out of range.

    Reference:
        Kingma and Ba 2015.
    """

    elementwise: ClassVar[bool] = True

    betas: tuple[Decay, Decay] = (0.9, 0.999)
    eps: NonNegativeFloat = 1e-8
    weight_decay: NonNegativeFloat = 0.0
    undecayed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_fields(self)

    def build(self, groups: Sequence[ParameterGroup], learning_rate: float) -> torch.optim.Adam:
        """The optimizer of torch, fused where the tensors allow it."""
        return torch.optim.Adam(
            list(groups), lr=learning_rate, betas=self.betas, eps=self.eps, fused=_fusible(groups)
        )


@final
@dataclass(frozen=True, kw_only=True)
class AdamW:
    """Adam whose weight decay does not pass through the running means, `torch.optim.AdamW`.

    Args:
        betas: Decay rates of the running means of gradients and of their squares.
        eps: Added to the root of the mean square.
        weight_decay: Fraction of a weight, times the learning rate, that a step takes off.
        undecayed: Patterns of names of parameters that do not decay, e.g. `("*.bias", "*norm*")`.

    Raises:
        ValueError: If a number is out of range.

    Reference:
        Loshchilov and Hutter 2019.
    """

    elementwise: ClassVar[bool] = True

    betas: tuple[Decay, Decay] = (0.9, 0.999)
    eps: NonNegativeFloat = 1e-8
    weight_decay: NonNegativeFloat = 0.01
    undecayed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_fields(self)

    def build(self, groups: Sequence[ParameterGroup], learning_rate: float) -> torch.optim.AdamW:
        """The optimizer of torch, fused where the tensors allow it."""
        return torch.optim.AdamW(
            list(groups), lr=learning_rate, betas=self.betas, eps=self.eps, fused=_fusible(groups)
        )


@final
@dataclass(frozen=True, kw_only=True)
class SGD:
    """Stochastic gradient descent, `torch.optim.SGD`.

    Args:
        momentum: Fraction of the last step that the next one keeps.
        nesterov: Whether the gradient is taken ahead of the step (Nesterov's momentum).
        weight_decay: Added to the gradient, times the weight.
        undecayed: Patterns of names of parameters that do not decay, e.g. `("*.bias", "*norm*")`.

    Raises:
        ValueError: If a number is out of range, or Nesterov's momentum is 0.

    Reference:
        Sutskever et al. 2013.
    """

    elementwise: ClassVar[bool] = True

    momentum: NonNegativeFloat = 0.0
    nesterov: bool = False
    weight_decay: NonNegativeFloat = 0.0
    undecayed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_fields(self)
        if self.nesterov and not self.momentum > 0:
            raise ValueError(f"momentum must be above 0 with nesterov, got {self.momentum}")

    def build(self, groups: Sequence[ParameterGroup], learning_rate: float) -> torch.optim.SGD:
        """The optimizer of torch."""
        return torch.optim.SGD(
            list(groups), lr=learning_rate, momentum=self.momentum, nesterov=self.nesterov
        )


@final
@dataclass(frozen=True, kw_only=True)
class RMSprop:
    """RMSprop, `torch.optim.RMSprop`.

    Args:
        alpha: Decay rate of the running mean of squared gradients.
        eps: Added to its root.
        momentum: Fraction of the last step that the next one keeps.
        centered: Whether the squared running mean of the gradients is taken off.
        weight_decay: Added to the gradient, times the weight.
        undecayed: Patterns of names of parameters that do not decay, e.g. `("*.bias", "*norm*")`.

    Raises:
        ValueError: If a number is out of range.

    Reference:
        Graves 2013, equations 38 to 45.
    """

    elementwise: ClassVar[bool] = True

    alpha: Decay = 0.99
    eps: NonNegativeFloat = 1e-8
    momentum: NonNegativeFloat = 0.0
    centered: bool = False
    weight_decay: NonNegativeFloat = 0.0
    undecayed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_fields(self)

    def build(self, groups: Sequence[ParameterGroup], learning_rate: float) -> torch.optim.RMSprop:
        """The optimizer of torch."""
        return torch.optim.RMSprop(
            list(groups),
            lr=learning_rate,
            alpha=self.alpha,
            eps=self.eps,
            momentum=self.momentum,
            centered=self.centered,
        )


def _fusible(groups: Sequence[ParameterGroup]) -> bool | None:
    """True where torch's fused optimizers take the parameters, `None` to leave it to torch."""
    return all(p.is_floating_point() for group in groups for p in group["params"]) or None
