"""Learning with a state that is carried from batch to batch."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, final

import torch
from torch import Tensor

from farfield.core import TRAINING, Problems, Stream, check_fields
from farfield.objectives._bound import Bound, Carry
from farfield.objectives._objective import Objective, Tensors, Update
from farfield.objectives._supervised import Supervised

_CARRIED = "carried."
_OWN = "objective."


@final
@dataclass(frozen=True, kw_only=True)
class CarriedState(Objective):
    r"""Another learning rule, on a network that goes on from its state after the batch before.

    $$(y_t, s_t) = f(x_t, \bar s_{t-1})$$

    with the network $f$, the batch $x_t$ and the state $s$, of which $\bar s$ is the value without
    its gradient: backpropagation through time is truncated at the beginning of a batch. Batches go
    through the training set in lanes, one a row (`in_lanes`); at the beginning of each pass the
    state is zero. For tasks whose problems follow each other, such as `farfield.tasks.WordText`.

    Args:
        objective: The learning rule.

    Raises:
        ValueError: If it is no learning rule.

    Reference:
        Williams and Peng 1990; ren2017, section 4.2, as in its released code.
    """

    in_lanes: ClassVar[bool] = True

    objective: Objective = Supervised()

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def sets(self) -> tuple[str, ...]:
        """Names of the sets of problems from which a step reads batches."""
        return self.objective.sets

    def start(self, network: Bound, sets: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Tensors that the rule remembers from the start.

        Args:
            network: The network before its first step.
            sets: Whole sets of problems, by name.
            stream: Source of random numbers.
        """
        return _named(_OWN, self.objective.start(network, sets, stream))

    def draw(self, batches: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Random tensors of the rule.

        Args:
            batches: Batches of the step, by the name of the set.
            stream: Source of random numbers.
        """
        return self.objective.draw(batches, stream)

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """The loss of the rule, and the state after the batch.

        Args:
            update: The step, of a network that goes on from a state (`continued`).

        Raises:
            TypeError: If the network cannot.
        """
        before, own = _of(_CARRIED, update.state), _of(_OWN, update.state)
        is_first = update.rows[TRAINING][0] == 0
        parts = [torch.where(is_first, 0.0, before[name]) for name in sorted(before)]
        carry = Carry(state=tuple(parts) or None)
        network = dataclasses.replace(update.network, carry=carry)
        loss, new = self.objective.loss(dataclasses.replace(update, network=network, state=own))
        after = {str(number): part.detach() for number, part in enumerate(carry.state or ())}
        return loss, _named(_CARRIED, after) | _named(_OWN, new)

    def after(self, state: Tensors, parameters: Tensors, progress: float) -> Tensors:
        """Tensors to remember after the parameters have changed.

        Args:
            state: Tensors that `loss` returned.
            parameters: Parameters after the step, by name.
            progress: Fraction of the steps that are done.
        """
        own = self.objective.after(_of(_OWN, state), parameters, progress)
        return _named(_CARRIED, _of(_CARRIED, state)) | _named(_OWN, own)

    def scored(self, state: Tensors) -> Tensors:
        """Parameters and buffers with which the rule wants the network to be scored.

        Args:
            state: Tensors to remember after a step.
        """
        return self.objective.scored(_of(_OWN, state))


def _named(prefix: str, tensors: Tensors) -> dict[str, Tensor]:
    return {prefix + name: tensor for name, tensor in tensors.items()}


def _of(prefix: str, tensors: Tensors) -> dict[str, Tensor]:
    return {
        name.removeprefix(prefix): tensor
        for name, tensor in tensors.items()
        if name.startswith(prefix)
    }
