"""The plain recurrent network with normalizers inside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, final

import torch
from torch import Tensor, nn
from torch.types import Device

from farfield.core import Depth, Fraction, Size, check_arguments
from farfield.nn._encoders._placements import Placement
from farfield.nn._recurrent._recurrence import Normalized, Recurrence
from farfield.nn._recurrent._states import State


@final
@dataclass(frozen=True, kw_only=True)
class RNNStep:
    """A step of a plain recurrent network."""

    gates: ClassVar = ("sum",)
    carried: ClassVar = ()
    nonlinearity: Callable[[Tensor], Tensor]

    def step(self, inputs: Tensor, hidden: Tensor, state: State, normalized: Normalized) -> State:
        """The state after a step."""
        del state
        total = normalized("input", inputs) + normalized("hidden", hidden)
        return (self.nonlinearity(normalized("sum", total)),)


@final
class NormalizedRNN(Recurrence):
    r"""A plain recurrent network with a normalizer of one's choice before its non-linearity.

    $$h_t = g(N(W_x x_t + b_x + W_h h_{t-1} + b_h))$$

    or, with `PerProjection`, $h_t = g(N_x(W_x x_t + b_x) + N_h(W_h h_{t-1} + b_h))$. It is called
    as `torch.nn.RNN` is, has the same parameters by the same names, and without a normalizer
    gives the same; moreover it can be mapped with `torch.func.vmap`, and $g$ is a function
    instead of a name. There is no second direction.

    Args:
        input_size: Number of features of an input.
        hidden_size: Number of hidden units.
        num_layers: Number of layers, each reading the hidden states of the one before.
        nonlinearity: The function $g$, e.g. `torch.tanh` or `torch.relu`.
        bias: Whether there are the biases $b_x$ and $b_h$.
        batch_first: Whether the first axis of inputs and outputs is the batch, not time.
        dropout: Probability that a hidden state between two layers is dropped in training; drawn
            from torch's global generator, as in torch.
        bidirectional: Refused unless False.
        device: Where the weights are.
        dtype: Of the weights.
        normalizer: What makes a normalizer from its number of features: a class or a function.
            It is called on `(batch, feature)` at every step, so a normalizer over the batch takes
            statistics of its own at each; one over places in time, such as `ContextNorm`, is
            refused. None is a network without.
        placement: Where normalizers stand; None is `PerNonlinearity()`.
        generator: Where the first weights are drawn from, on the CPU; None is torch's global
            generator.

    Shape:
        As in `torch.nn.RNN`: `(time, batch, input_size)`, `(batch, time, input_size)` with
        `batch_first`, `(time, input_size)`, a `PackedSequence` or `Indexed`; and a state
        `(num_layers, batch, hidden_size)`. Out: the hidden states of the last layer in the form
        of the input, and the last state.

    Attributes:
        weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0: Weights and biases of the first layer;
            `_l1` those of the second.
        normalizers: For each layer its normalizers, by place: `sum`, or `input` and `hidden`.

    Raises:
        ValueError: If a size is below 1, $g$ no function, `dropout` no probability, a second
            direction asked for, a place unknown, a normalizer over places in time, or the input or
            the state of another shape.

    Reference:
        ren2017, equations 8 to 11.
    """

    @check_arguments
    def __init__(  # noqa: PLR0913, PLR0917 — ten are torch's
        self,
        input_size: Size,
        hidden_size: Size,
        num_layers: Depth = 1,
        nonlinearity: Callable[[Tensor], Tensor] = torch.tanh,
        bias: bool = True,
        batch_first: bool = False,
        dropout: Fraction = 0.0,
        bidirectional: bool = False,
        device: Device = None,
        dtype: torch.dtype | None = None,
        *,
        normalizer: Callable[[int], nn.Module] | None = None,
        placement: Placement | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(
            input_size,
            hidden_size,
            num_gates=1,
            num_states=1,
            num_layers=num_layers,
            bias=bias,
            batch_first=batch_first,
            dropout=dropout,
            bidirectional=bidirectional,
        )
        cell = RNNStep(nonlinearity=nonlinearity)
        self._finish(cell, normalizer, placement, device, dtype, generator)
