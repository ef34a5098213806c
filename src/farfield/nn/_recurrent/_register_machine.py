"""Recurrent layer of automata, registers and counters that are exact at any length."""

from __future__ import annotations

from typing import ClassVar, Unpack, final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core.internal import NonNegativeInt, Size, take_factory_arguments
from farfield.functional import Indexed
from farfield.functional.internal import linear, uninitialized
from farfield.nn._recurrent._sequence_layer import LayerOptions, SequenceLayer
from farfield.nn._recurrent._states import State

GAIN = 2.0
"""Factor before every softmax, sigmoid and tanh: decisions become sharp by small weights."""
STAY = 1.5
"""First bias of transitions from a state to itself."""
SHUT = -2.0
"""First bias of the gates of registers: most of a register is kept at first."""
STEERED = 0.3
"""Standard deviation of the first contribution of an automaton to a gate or a counter."""


@final
class RegisterMachine(SequenceLayer):
    r"""Recurrent layer of small automata, which steer registers and counters.

    Automaton $a$ is in one of $S$ states, its state a row vector $q$. The input chooses its
    transitions; the states of all automata open the registers $r$ and move the counters $c$:

    $$q^a_t = q^a_{t-1} T^a_t, \qquad
      T^a_{t,ij} = \mathrm{softmax}_j(\beta (W^a_{ij} x_t + b^a_{ij}))$$

    $$r_t = (1 - g_t) r_{t-1} + g_t \cdot (V x_t + b_V), \qquad
      g_t = \sigma(\beta (W_g x_t + U_g q_{t-1} + b_g))$$

    $$c_t = c_{t-1} + d_t, \qquad d_t = \tanh(\beta (W_d x_t + U_d q_{t-1} + b_d)), \qquad
      h_t = (q_t,\ r_t,\ c_t / (1 + |c_t|))$$

    with $\beta = 2$. In evaluation all of $T$, $g$ and $d$ are rounded: a state has one
    successor, a gate is 0 or 1, a step of a counter is −1, 0 or 1. So nothing leaks or drifts, and
    every output is in a range that training has shown, after any number of steps. In training all
    is soft, or `rounded` with the gradient of the soft values. The gates of `torch.nn.LSTM` never
    reach 0 or 1, and the counts of its cells leave the range of training. At first an input of
    zeros changes little: automata stay, gates are shut and counters stand still.

    Args:
        num_automata: Number of automata.
        num_states: Number of states of each.
        num_counters: Number of counters; the rest of the hidden units are registers.
        num_registers: Number of registers, each with a gate; must divide the units of all.
        rounded: Whether to round in training too, with the gradient of the soft values. It begins
            well from a layer that was trained without.

    Shape:
        `(time, batch, input_size)`, `(batch, time, input_size)` with `batch_first`, `(time,
        input_size)`, a `PackedSequence` or `Indexed`; and a state of `(1, batch, hidden_size)`.
        Out: $h$ after every step in the form of the input, and the last $(q, r, c)$.

    Attributes:
        weight_ih: $W^a$ (automaton, from, to), $W_g$, $W_d$ and $V$ below each other.
        weight_hh: $U_g$ above $U_d$.
        bias: Biases in the order of `weight_ih`.

    Raises:
        ValueError: If a size is below 1, the registers do not divide their units, or the input or
            the state has another shape.

    Reference:
        lamb2022, section 8.2: mechanisms that are not active keep their state. The layer itself is
        Farfield's own.
    """

    _runs_indexed: ClassVar[bool] = True

    @take_factory_arguments(SequenceLayer)
    def __init__(
        self,
        input_size: Size,
        hidden_size: Size,
        *,
        num_automata: Size = 4,
        num_states: Size = 8,
        num_counters: NonNegativeInt = 8,
        num_registers: Size = 8,
        rounded: bool = False,
        **options: Unpack[LayerOptions],
    ) -> None:
        super().__init__(input_size, hidden_size, **options)
        generator = options["generator"]
        states = num_automata * num_states
        held = hidden_size - states - num_counters
        if held < num_registers or held % num_registers:
            raise ValueError(
                f"hidden_size less the {states} states of automata and num_counters={num_counters} "
                f"must be a multiple of num_registers={num_registers}, got {hidden_size}"
            )
        self.num_automata, self.num_states = num_automata, num_states
        self.num_counters, self.num_registers = num_counters, num_registers
        self.rounded = rounded
        self._units = (states, held, num_counters)
        self._rows = (states * num_states, num_registers, num_counters, held)
        gates = num_registers + num_counters
        self.weight_ih = uninitialized(nn.Linear, input_size, sum(self._rows), bias=False).weight
        self.weight_hh = uninitialized(nn.Linear, states, gates, bias=False).weight
        stay = STAY * torch.eye(num_states).repeat(num_automata, 1).flatten()
        shut = torch.tensor([SHUT] * num_registers + [0.0] * (num_counters + held))
        self.bias = nn.Parameter(torch.cat([stay, shut]))
        with torch.no_grad():
            nn.init.normal_(self.weight_ih, generator=generator)
            nn.init.normal_(self.weight_hh, std=STEERED, generator=generator)

    def _first_state(self, x: Tensor) -> State:
        first = x.new_zeros(1, x.shape[1], self.hidden_size)
        begins = torch.arange(self.hidden_size, device=x.device) % self.num_states == 0
        begins[self._units[0] :] = False
        return (torch.where(begins, 1.0, first),)

    def _run(self, x: Tensor | Indexed, state: State) -> tuple[Tensor, State]:
        seen = x.items if isinstance(x, Indexed) else x
        moving, opening, counting, values = torch.split_with_sizes(
            linear(seen, self.weight_ih) + self.bias, self._rows, dim=-1
        )
        before, held, counts = state[0][0].split_with_sizes(self._units, dim=-1)
        states = (self._soft_states if self.training else self._hard_states)(x, moving, before)
        gates = torch.cat([opening, counting], dim=-1)
        gates = _placed(x, gates) + linear(states[:-1], self.weight_hh)
        opening, counting = gates.split_with_sizes((self.num_registers, self.num_counters), -1)
        opened, steps = torch.sigmoid(GAIN * opening), torch.tanh(GAIN * counting)
        if self.rounded or not self.training:
            opened, steps = (_straight_through(soft.round(), soft) for soft in (opened, steps))
        registers = self._registers(opened, _placed(x, values), held)
        counts = counts + steps.cumsum(0)
        outputs = torch.cat([states[1:], registers, counts / (1 + counts.abs())], dim=-1)
        return outputs, (torch.cat([states[-1:], registers[-1:], counts[-1:]], dim=-1),)

    def _soft_states(self, x: Tensor | Indexed, moving: Tensor, before: Tensor) -> Tensor:
        """Return mixtures of states, the first one included: `(time + 1, batch, feature)`."""
        square = (self.num_states, self.num_states)
        chances = torch.unflatten(moving, -1, (self.num_automata, *square))
        chances = torch.softmax(GAIN * chances, dim=-1)
        if self.rounded:
            best = chances.argmax(-1, keepdim=True)
            is_best = best == torch.arange(self.num_states, device=best.device)
            chances = _straight_through(is_best.to(chances), chances)
        chances = chances.flatten(-3)
        now = torch.unflatten(before, -1, (self.num_automata, 1, self.num_states))
        found = [now]
        for step in torch.unflatten(_placed(x, chances), -1, (self.num_automata, *square)).unbind():
            now = now @ step
            found.append(now)
        return torch.stack(found).flatten(-3)

    def _hard_states(self, x: Tensor | Indexed, moving: Tensor, before: Tensor) -> Tensor:
        """Return one state of each automaton as a one-hot vector, likewise."""
        square = (self.num_automata, self.num_states, self.num_states)
        successors = torch.unflatten(moving, -1, square).argmax(-1).flatten(-2)
        number = torch.unflatten(before, -1, square[:2]).argmax(-1, keepdim=True)
        found = [number]
        for step in torch.unflatten(_placed(x, successors), -1, square[:2]).unbind():
            number = step.gather(2, number)
            found.append(number)
        is_in = torch.stack(found) == torch.arange(self.num_states, device=before.device)
        return is_in.to(before).flatten(-2)

    def _registers(self, opened: Tensor, values: Tensor, held: Tensor) -> Tensor:
        """Return the registers after every step."""
        slots = (self.num_registers, -1)
        now = torch.unflatten(held, -1, slots)
        found = []
        for gate, value in zip(
            opened.unsqueeze(-1).unbind(), torch.unflatten(values, -1, slots).unbind(), strict=True
        ):
            now = torch.lerp(now, value, gate)
            found.append(now)
        return torch.stack(found).flatten(-2)

    def extra_repr(self) -> str:
        """Format the sizes for `print`."""
        sizes = f"{super().extra_repr()}, num_automata={self.num_automata}"
        sizes += f", num_states={self.num_states}, num_counters={self.num_counters}"
        sizes += f", num_registers={self.num_registers}"
        return f"{sizes}, rounded=True" if self.rounded else sizes


def _straight_through(rounded: Tensor, soft: Tensor) -> Tensor:
    """Return rounded values with the gradient of the soft values."""
    return rounded + (soft - soft.detach())


def _placed(x: Tensor | Indexed, rows: Tensor) -> Tensor:
    """Gather the rows of items at all positions; return the rows of a tensor unchanged."""
    if not isinstance(x, Indexed):
        return rows
    return F.embedding(x.index, rows)
