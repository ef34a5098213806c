"""Recurrent layers with a normalizer in every step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Unpack, final

import torch
from torch import Tensor, nn
from torch.types import Device

from farfield.core.internal import Depth, Fraction, Size, extend_arguments
from farfield.functional.internal import divisive_lstm
from farfield.nn._norm._divisive_norm import DivisiveNorm1d
from farfield.nn._recurrent._fused_layers import check_projection
from farfield.nn._recurrent._recurrence import (
    Normalized,
    NormalizerOptions,
    PerProjection,
    Placement,
    Recurrence,
)
from farfield.nn._recurrent._states import State


@final
@dataclass(frozen=True, kw_only=True)
class RNNStep:
    """A step of a plain recurrent network."""

    gates: ClassVar = ("sum",)
    carried: ClassVar = ()
    nonlinearity: Callable[[Tensor], Tensor]

    def step(self, inputs: Tensor, hidden: Tensor, state: State, normalized: Normalized) -> State:
        """Return the state after a step."""
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
        nonlinearity: The function $g$, e.g. `torch.tanh` or `torch.relu`.

    Shape:
        As in `torch.nn.RNN`: `(time, batch, input_size)`, `(batch, time, input_size)` with
        `batch_first`, `(time, input_size)`, a `PackedSequence` or `Indexed`; and a state
        `(num_layers, batch, hidden_size)`. Out: the hidden states of the last layer in the form
        of the input, and the last state.

    Attributes:
        weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0: Weights and biases of the first layer;
            `_l1` those of the second.
        normalizers: Normalizers of each layer, by name: `sum`, or `input` and `hidden`.

    Raises:
        ValueError: If a size is below 1, $g$ no function, `dropout` no probability, a second
            direction asked for, an unknown name in `placement`, a normalizer over time steps, or an
            input or state of another shape.

    Reference:
        ren2017, equations 8 to 11.
    """

    _num_gates = 1

    @extend_arguments(Recurrence)
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
        **options: Unpack[NormalizerOptions],
    ) -> None:
        self._cell = RNNStep(nonlinearity=nonlinearity)
        given = (input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional)
        super().__init__(*given, device, dtype, **options)


@final
@dataclass(frozen=True, kw_only=True)
class GRUStep:
    """A step of a gated recurrent unit."""

    gates: ClassVar = ("reset_gate", "update_gate", "candidate")
    carried: ClassVar = ()

    def step(self, inputs: Tensor, hidden: Tensor, state: State, normalized: Normalized) -> State:
        """Return the state after a step."""
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

    with $\bar\sigma(x) = \sigma(N(x))$ and $\overline{\tanh}(x) = \tanh(N(x))$, and a separate
    normalizer $N$ for each of the three non-linearities. It is called as `torch.nn.GRU` is, has the
    same parameters by the same names, and without a normalizer gives the same; moreover it can be
    mapped with `torch.func.vmap`. There is no second direction.

    Args:
        placement: Placement of the normalizers; None is `PerNonlinearity()`. With `PerProjection`
            the reset gate scales the normalized projection of the hidden state.

    Shape:
        As in `torch.nn.GRU`: `(time, batch, input_size)`, `(batch, time, input_size)` with
        `batch_first`, `(time, input_size)`, a `PackedSequence` or `Indexed`; and a state
        `(num_layers, batch, hidden_size)`. Out: the hidden states of the last layer in the form
        of the input, and the last state.

    Attributes:
        weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0: Weights and biases of the first layer,
            rows in the order reset, update, candidate; `_l1` those of the second.
        normalizers: Normalizers of each layer, by name: `reset_gate`, `update_gate` and
            `candidate`, or `input` and `hidden`.

    Raises:
        ValueError: If a size is below 1, `dropout` no probability, a second direction asked for,
            an unknown name in `placement`, a normalizer over time steps, or an input or state of
            another shape.

    Reference:
        Cho et al. 2014; the normalizers as in ren2017, equations 19 and 20.
    """

    _num_gates = 3
    _cell = GRUStep()


@final
@dataclass(frozen=True, kw_only=True)
class LSTMStep:
    """A step of an LSTM, the cell besides the hidden state carried along."""

    gates: ClassVar = ("input_gate", "forget_gate", "candidate", "output_gate")
    carried: ClassVar = ("cell",)
    forget_bias: float
    forget_bias_normalized: bool
    carry_normalized: bool

    def unroll(
        self, inputs: Tensor, weight_hh: Tensor, state: State, normalized: Normalized
    ) -> tuple[Tensor, State] | None:
        """Run a layer with divisive normalization of vectors before all non-linearities."""
        norm = normalized.shared((*self.gates, *self.carried))
        changed = self.forget_bias or self.carry_normalized
        # Narrower types have their statistics taken in float32, step by step.
        wide = inputs.dtype in (torch.float32, torch.float64)
        if changed or not wide or not isinstance(norm, DivisiveNorm1d):
            return None
        outputs, cell = divisive_lstm(
            inputs,
            weight_hh,
            *state,
            sigma=float(norm.sigma),
            window=norm.window,
            suppression_window=norm.suppression_window or norm.window,
        )
        return outputs, (outputs[-1], cell)

    def step(self, inputs: Tensor, hidden: Tensor, state: State, normalized: Normalized) -> State:
        """Return the state after a step."""
        sums = normalized("input", inputs) + normalized("hidden", hidden)
        if self.forget_bias and self.forget_bias_normalized:
            enter, keep, *others = sums.chunk(4, dim=-1)
            sums = torch.cat((enter, keep + self.forget_bias, *others), dim=-1)
        enter, keep, candidate, leave = normalized.each(self.gates, sums)
        if self.forget_bias and not self.forget_bias_normalized:
            keep = keep + self.forget_bias
        cell = keep.sigmoid() * state[1] + enter.sigmoid() * candidate.tanh()
        scaled = normalized("cell", cell)
        return leave.sigmoid() * scaled.tanh(), scaled if self.carry_normalized else cell


@final
class NormalizedLSTM(Recurrence):
    r"""An LSTM with a normalizer of one's choice before each non-linearity.

    $$i, f, g, o = W_x x_t + b_x + W_h h_{t-1} + b_h, \qquad
      c_t = \bar\sigma(f) c_{t-1} + \bar\sigma(i) \overline{\tanh}(g), \qquad
      h_t = \bar\sigma(o) \overline{\tanh}(c_t)$$

    with $\bar\sigma(x) = \sigma(N(x))$ and $\overline{\tanh}(x) = \tanh(N(x))$, and a separate
    normalizer $N$ for each of the five non-linearities. It is called as `torch.nn.LSTM` is, has the
    same parameters by the same names, and without a normalizer gives the same; moreover it can be
    mapped with `torch.func.vmap`. There is no second direction.

    The cell that TensorFlow calls `LayerNormBasicLSTMCell`, which is webb2020's recurrent layer
    normalization, is `NormalizedLSTM(…, bias=False, forget_bias=1.0, carry_normalized=True,
    normalizer=partial(nn.LayerNorm, eps=1e-12))`. The LSTM that the released code of ren2017 calls
    LN is `NormalizedLSTM(…, placement=PerProjection(), carry_normalized=True,
    normalizer=partial(nn.LayerNorm, eps=1e-4))`.

    Args:
        proj_size: Refused unless 0.
        forget_bias: Added to the forget gate after its normalizer.
        forget_bias_normalized: Whether it is added before instead, and normalized with the gate, as
            in the released code of ren2017 with `PerNonlinearity`.
        carry_normalized: Whether the next step finds the normalized cell, as in TensorFlow and the
            released code of ren2017 with `PerProjection`, or the cell itself, as published.

    Shape:
        As in `torch.nn.LSTM`: `(time, batch, input_size)`, `(batch, time, input_size)` with
        `batch_first`, `(time, input_size)`, a `PackedSequence` or `Indexed`; and a state of
        two times `(num_layers, batch, hidden_size)`. Out: the hidden states of the last layer in
        the form of the input, and the last state.

    Attributes:
        weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0: Weights and biases of the first layer,
            rows in the order input, forget, candidate, output; `_l1` those of the second.
        normalizers: Normalizers of each layer, by name: `input_gate`, `forget_gate`,
            `candidate`, `output_gate` and `cell`, or `input`, `hidden` and `cell`.

    Raises:
        ValueError: If a size is below 1, `dropout` no probability, a second direction asked for,
            an unknown name in `placement`, a normalizer over time steps, or an input or state of
            another shape.

    Reference:
        ren2017, equations 16 to 20.
    """

    _num_gates, _num_states = 4, 2

    @extend_arguments(Recurrence)
    def __init__(  # noqa: PLR0913, PLR0917 — ten are torch's
        self,
        input_size: Size,
        hidden_size: Size,
        num_layers: Depth = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: Fraction = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Device = None,
        dtype: torch.dtype | None = None,
        *,
        forget_bias: float = 0.0,
        forget_bias_normalized: bool = False,
        carry_normalized: bool = False,
        **options: Unpack[NormalizerOptions],
    ) -> None:
        check_projection(proj_size)
        self._cell = LSTMStep(
            forget_bias=forget_bias,
            forget_bias_normalized=forget_bias_normalized,
            carry_normalized=carry_normalized,
        )
        given = (input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional)
        super().__init__(*given, device, dtype, **options)

    @classmethod
    def released(
        cls,
        input_size: int,
        hidden_size: int = 200,
        num_layers: int = 2,
        *,
        normalizer: Callable[[int], nn.Module],
        placement: Placement | None = None,
        generator: torch.Generator | None = None,
    ) -> NormalizedLSTM:
        """Build the LSTM of ren2017's released code, which has either placement.

        With a normalizer for each non-linearity the bias of the forget gate, 0 there, is normalized
        with it; with one for each projection the normalized cell is carried on.

        Args:
            num_layers: Number of layers.
            normalizer: Class or function that makes a normalizer from its number of features.
            placement: Placement of the normalizers; None is `PerNonlinearity()`.
        """
        classical = isinstance(placement, PerProjection)
        return cls(
            input_size,
            hidden_size,
            num_layers,
            normalizer=normalizer,
            placement=placement,
            forget_bias_normalized=not classical,
            carry_normalized=classical,
            generator=generator,
        )
