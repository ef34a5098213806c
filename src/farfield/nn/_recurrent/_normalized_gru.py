"""The gated recurrent unit with normalizers inside."""

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
class GRUStep:
    """A step of a gated recurrent unit."""

    gates: ClassVar = ("reset_gate", "update_gate", "candidate")
    carried: ClassVar = ()

    def step(self, inputs: Tensor, hidden: Tensor, state: State, normalized: Normalized) -> State:
        """The state after a step."""
        inputs, hidden = normalized("input", inputs), normalized("hidden", hidden)
        size = state[0].shape[-1]
        sums = inputs[..., : 2 * size] + hidden[..., : 2 * size]
        reset, keep = sums.chunk(2, dim=-1)
        reset = normalized("reset_gate", reset).sigmoid()
        keep = normalized("update_gate", keep).sigmoid()
        candidate = inputs[..., 2 * size :] + reset * hidden[..., 2 * size :]
        new = normalized("candidate", candidate).tanh()
        return (new + keep * (state[0] - new),)


@final
class NormalizedGRU(Recurrence):
    r"""A gated recurrent unit with a normalizer of one's choice before each non-linearity.

    $$r, z = \bar\sigma(W_x x_t + b_x + W_h h_{t-1} + b_h), \qquad
      n = \overline{\tanh}(W_x' x_t + b_x' + r (W_h' h_{t-1} + b_h')), \qquad
      h_t = (1 - z) n + z h_{t-1}$$

    with $\bar\sigma(x) = \sigma(N(x))$ and $\overline{\tanh}(x) = \tanh(N(x))$, a normalizer $N$
    of its own at each of the three places. It is called as `torch.nn.GRU` is, has the same
    parameters by the same names, and without a normalizer gives the same; moreover it can be
    mapped with `torch.func.vmap`. There is no second direction.

    Args:
        input_size: Number of features of an input.
        hidden_size: Number of hidden units.
        num_layers: Number of layers, each reading the hidden states of the one before.
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
            refused. None is a GRU without.
        placement: Where normalizers stand; None is `PerNonlinearity()`. With `PerProjection` the
            reset gate scales the normalized projection of the hidden state.
        generator: Where the first weights are drawn from, on the CPU; None is torch's global
            generator.

    Shape:
        As in `torch.nn.GRU`: `(time, batch, input_size)`, `(batch, time, input_size)` with
        `batch_first`, `(time, input_size)`, a `PackedSequence` or `Indexed`; and a state
        `(num_layers, batch, hidden_size)`. Out: the hidden states of the last layer in the form
        of the input, and the last state.

    Attributes:
        weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0: Weights and biases of the first layer,
            rows in the order reset, update, candidate; `_l1` those of the second.
        normalizers: For each layer its normalizers, by place: `reset_gate`, `update_gate` and
            `candidate`, or `input` and `hidden`.

    Raises:
        ValueError: If a size is below 1, `dropout` no probability, a second direction asked for,
            a place unknown, a normalizer over places in time, or the input or the state of
            another shape.

    Reference:
        Cho et al. 2014; the normalizers as in ren2017, equations 19 and 20.
    """

    @check_arguments
    def __init__(  # noqa: PLR0913, PLR0917 — nine are torch's
        self,
        input_size: Size,
        hidden_size: Size,
        num_layers: Depth = 1,
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
            num_gates=3,
            num_states=1,
            num_layers=num_layers,
            bias=bias,
            batch_first=batch_first,
            dropout=dropout,
            bidirectional=bidirectional,
        )
        self._finish(GRUStep(), normalizer, placement, device, dtype, generator)
