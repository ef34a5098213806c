"""Base of learning rules over another learning rule, whose tensors are kept beside others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from torch import Tensor

from farfield.core import Problems, Stream
from farfield.core.internal import Checked
from farfield.objectives._objective import Bound, Objective, Tensors
from farfield.objectives._supervised import Supervised

OWN: Final = "objective."
"""Prefix of the names of the tensors of the other rule."""


@dataclass(frozen=True, kw_only=True)
class RuleOverRule(Checked, Objective):
    """Another learning rule, with a change: sets, domains and evaluations are as the rule asks.

    Args:
        objective: The learning rule.
    """

    objective: Objective = Supervised()

    @property
    def sets(self) -> tuple[str, ...]:
        """Names of the sets of problems from which a step reads batches."""
        return self.objective.sets

    @property
    def by_domain(self) -> bool:
        """True if the rule reads equally many training problems of each domain."""
        return self.objective.by_domain

    @property
    def restart(self) -> float | None:
        """Progress from which on optimizers go on without their memory, as the rule says."""
        return self.objective.restart

    @property
    def validates(self) -> str | None:
        """Name of the set whose mean loss the rule is given."""
        return self.objective.validates

    @property
    def renews_statistics(self) -> bool:
        """True if the rule wants new running statistics in scored networks."""
        return self.objective.renews_statistics

    def start(self, network: Bound, sets: Mapping[str, Problems], stream: Stream) -> Tensors:
        """List the tensors that the rule remembers from the start."""
        return named(OWN, self.objective.start(network, sets, stream))

    def draw(self, batches: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Draw the random tensors of the rule.

        Args:
            batches: Batches of the step, by the name of the set.
        """
        return self.objective.draw(batches, stream)

    def after(self, state: Tensors, parameters: Tensors, progress: float) -> Tensors:
        """List the tensors to remember after the parameters have changed.

        Args:
            state: Tensors that `loss` returned.
            parameters: Parameters after the step, by name.
            progress: Fraction of the steps that are done.
        """
        own = self.objective.after(tensors_of(OWN, state), parameters, progress)
        return besides(state) | named(OWN, own)

    def evaluated(self, state: Tensors, loss: float) -> Tensors:
        """List the tensors to remember after an evaluation.

        Args:
            state: Tensors to remember after a step.
            loss: Mean loss of the trained network on the set that `validates` names.
        """
        own = self.objective.evaluated(tensors_of(OWN, state), loss)
        return besides(state) | named(OWN, own)

    def scored(self, state: Tensors) -> Tensors:
        """List the parameters and buffers with which the rule wants the network to be scored.

        Args:
            state: Tensors to remember after a step.
        """
        return self.objective.scored(tensors_of(OWN, state))


def named(prefix: str, tensors: Tensors) -> dict[str, Tensor]:
    """Put a prefix before the names of tensors."""
    return {prefix + name: tensor for name, tensor in tensors.items()}


def tensors_of(prefix: str, tensors: Tensors) -> dict[str, Tensor]:
    """Select the tensors with a prefix, by their names behind it."""
    return {
        name.removeprefix(prefix): tensor
        for name, tensor in tensors.items()
        if name.startswith(prefix)
    }


def besides(state: Tensors) -> dict[str, Tensor]:
    """Select the tensors that are not of the other rule."""
    return {name: tensor for name, tensor in state.items() if not name.startswith(OWN)}
