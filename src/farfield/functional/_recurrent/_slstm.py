"""The recurrence of an sLSTM: exponential gates with a normalizer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from farfield._machine import on_cpu
from farfield.functional._autograd._products import is_rewritten
from farfield.functional._autograd._unroll import (
    Layer,
    Product,
    Several,
    State,
    differentiable_gradients,
    has_memory,
    unroll,
)


class SLSTMState(NamedTuple):
    """State of an sLSTM, with cell and normalizer divided by the exponential of the stabilizer.

    Attributes:
        hidden: $h$.
        cell: $c e^{-m}$.
        normalizer: $n e^{-m}$.
        stabilizer: $m$; −∞ before the first step.

    Reference:
        beck2024, equations 15 to 17.
    """

    hidden: Float[Tensor, "batch head feature"]
    cell: Float[Tensor, "batch head feature"]
    normalizer: Float[Tensor, "batch head feature"]
    stabilizer: Float[Tensor, "batch head feature"]


def slstm(
    inputs: Float[Tensor, "time batch head gates"],
    weight: Float[Tensor, "head gates feature"],
    state: SLSTMState,
    *,
    exponential_forget: bool = False,
) -> tuple[Float[Tensor, "time batch head feature"], SLSTMState]:
    r"""Run an sLSTM, whose heads have recurrent weights each: states after every step.

    $$(\tilde i, \tilde f, \tilde z, \tilde o) = u_t + R h_{t-1}, \quad
      c_t = f_t c_{t-1} + i_t \tanh \tilde z, \quad n_t = f_t n_{t-1} + i_t, \quad
      h_t = \sigma(\tilde o) \frac{c_t}{n_t}, \quad i_t = e^{\tilde i}, \quad
      f_t = \sigma(\tilde f)$$

    Exponentials would overflow, so $c$ and $n$ are kept divided by $e^{m_t}$ with
    $m_t = \max(\log f_t + m_{t-1}, \tilde i)$. No constant is added to $n$, which is at least 1 in
    these units after a step from $m_0 = -\infty$, and the outputs do not depend on $m_0$ where
    $c_0 = n_0 = 0$.

    Args:
        inputs: $u$: contributions of the inputs to the gates, in the order input, forget, cell,
            output.
        weight: $R$.
        state: State before the first step.
        exponential_forget: True for $f_t = e^{\tilde f}$.

    Returns:
        The states $h$, and the last state, in float32 at least.

    Reference:
        beck2024, equations 8 to 17.
    """
    dtype = torch.promote_types(state.cell.dtype, torch.float32)
    with torch.autocast(inputs.device.type, enabled=False):
        entering = inputs.to(dtype).transpose(1, 2)
        begun = tuple(part.to(dtype).transpose(0, 1) for part in state)
        run: Any = partial(_plain, exponential_forget)
        if on_cpu(inputs) and not is_rewritten():  # a quarter of the time of autograd
            run = partial(_SLSTM.apply, exponential_forget)
        outputs, *last = run(entering, weight.to(dtype), *begun)
        ended = SLSTMState(*(part.transpose(0, 1) for part in last))
        return outputs.transpose(1, 2).to(inputs.dtype), ended


def _plain(
    exponential_forget: bool,
    inputs: Tensor,
    weight: Tensor,
    *state: Tensor,
) -> tuple[Tensor, ...]:
    step = partial(_step, exponential_forget=exponential_forget)
    outputs, last = unroll(step, [Layer(weight)], [inputs], state)
    return outputs, *last


def _step(
    products: Sequence[Product],
    inputs: Several,
    state: State,
    shared: Several,
    *,
    exponential_forget: bool,
) -> tuple[Tensor, State]:
    """Run a step; all tensors are `(head, batch, …)`."""
    del shared
    (product,), (entering,), (hidden, cell, normalizer, m) = products, inputs, state
    enter, forget, candidate, leave = (entering + product(hidden)).chunk(4, dim=-1)
    held = (forget if exponential_forget else F.logsigmoid(forget)) + m
    m = torch.maximum(held, enter)
    enter, held = (enter - m).exp(), (held - m).exp()
    cell = torch.addcmul(enter * candidate.tanh(), held, cell)
    normalizer = torch.addcmul(enter, held, normalizer)
    hidden = leave.sigmoid() * (cell / normalizer)
    return hidden, (hidden, cell, normalizer, m)


class _SLSTM(torch.autograd.Function):
    """The recurrence with a gradient by hand; `_plain` where it is differentiated again.

    Given the stabilizers, a step is a few products. Outputs do not depend on them; the gradient of
    the last one goes back, step by step, to the gate that set it.
    """

    @staticmethod
    def forward(
        ctx: Any,
        exponential: bool,
        inputs: Tensor,
        weight: Tensor,
        *state: Tensor,
    ) -> tuple[Tensor, ...]:
        time, size = len(inputs), weight.shape[-1]
        gates = torch.empty_like(inputs, memory_format=torch.contiguous_format)
        enter, forget, candidate, leave = (
            gate.unbind(0) for gate in torch.unflatten(gates, -1, (4, size)).unbind(-2)
        )
        parts = [part.new_empty(time + 1, *part.shape) for part in state]
        for part, first in zip(parts, state, strict=True):
            part[0] = first
        hidden, cell, normalizer, stabilizer = (part.unbind(0) for part in parts)
        logs, back, held = [], weight.transpose(1, 2), torch.empty_like(stabilizer[0])
        for t in range(time):
            torch.baddbmm(inputs[t], hidden[t], back, out=gates[t])
            log = forget[t].clone() if exponential else F.logsigmoid(forget[t])
            logs.append(log)
            torch.add(log, stabilizer[t], out=held)
            torch.maximum(held, enter[t], out=stabilizer[t + 1])
            enter[t].sub_(stabilizer[t + 1]).exp_()
            torch.sub(held, stabilizer[t + 1], out=forget[t]).exp_()
            torch.mul(forget[t], cell[t], out=cell[t + 1])
            cell[t + 1].addcmul_(enter[t], candidate[t].tanh_())
            torch.addcmul(enter[t], forget[t], normalizer[t], out=normalizer[t + 1])
            torch.div(cell[t + 1], normalizer[t + 1], out=hidden[t + 1])
            hidden[t + 1].mul_(leave[t].sigmoid_())
        ctx.exponential = exponential
        ctx.set_materialize_grads(False)  # those of the last state are rarely wanted
        ctx.save_for_backward(inputs, weight, *state, gates, torch.stack(logs), *parts[:3])
        return parts[0][1:].clone(), *(part[-1].clone() for part in parts)

    @staticmethod
    def backward(ctx: Any, *given: Tensor | None) -> tuple[Tensor | None, ...]:
        primals, saved = ctx.saved_tensors[:6], ctx.saved_tensors[6:]
        like = (saved[2][1:], *primals[2:])
        gradients = [
            torch.zeros_like(part) if own is None else own
            for own, part in zip(given, like, strict=True)
        ]
        if torch.is_grad_enabled() or is_rewritten() or not all(map(has_memory, gradients)):
            with torch.enable_grad():
                plain = partial(_plain, ctx.exponential)
                return (None, *differentiable_gradients(plain, primals, gradients))
        _, weight, *state = primals
        gates, logs, hidden, cell, normalizer = saved
        of_outputs, of_hidden, of_cell, of_normalizer, of_stabilizer = gradients
        size = weight.shape[-1]
        enter, forget, candidate, leave = torch.unflatten(gates, -1, (4, size)).unbind(-2)
        of_cell, of_normalizer = of_cell.clone(), of_normalizer.clone()
        found = torch.empty_like(gates)
        out = torch.unflatten(found, -1, (4, size)).unbind(-2)
        slope = torch.ones_like(logs) if ctx.exponential else -torch.expm1(logs)
        of_first = torch.zeros_like(of_stabilizer)
        has_last = any(own is not None for own in given[2:])
        if has_last:
            of_stabilizer = of_stabilizer - of_cell * cell[-1] - of_normalizer * normalizer[-1]
            of_first = _through_stabilizers(enter, forget, slope, of_stabilizer, out)
        slope *= forget
        inverse = normalizer[1:].reciprocal()
        factors = (
            leave * inverse,
            hidden[1:] * inverse,
            hidden[1:] * (1 - leave),
            enter * (1 - candidate.square()),
            enter * candidate,
            enter,
            cell[:-1] * slope,
            normalizer[:-1] * slope,
            forget,
            *out,
        )
        g = of_hidden
        steps = [*zip(*(factor.unbind(0) for factor in factors), strict=True)]
        for t in reversed(range(len(steps))):
            by_cell, by_normalizer, to_leave, cell_in, entering, both = steps[t][:6]
            kept, counted, keep, i, f, z, o = steps[t][6:]
            g = g + of_outputs[t]
            of_cell.addcmul_(g, by_cell)
            of_normalizer.addcmul_(g, by_normalizer, value=-1)
            torch.mul(g, to_leave, out=o)
            torch.mul(of_cell, cell_in, out=z)
            if has_last:
                i.addcmul_(of_cell, entering)
                f.addcmul_(of_cell, kept)
            else:
                torch.mul(of_cell, entering, out=i)
                torch.mul(of_cell, kept, out=f)
            i.addcmul_(of_normalizer, both)
            f.addcmul_(of_normalizer, counted)
            of_cell.mul_(keep)
            of_normalizer.mul_(keep)
            g = torch.bmm(found[t], weight)
        of_weight = torch.einsum("thbg,thbf->hgf", found, hidden[:-1])
        of_first = of_first + of_cell * state[1] + of_normalizer * state[2]
        return None, found, of_weight, g, of_cell, of_normalizer, of_first


def _through_stabilizers(
    enter: Tensor, forget: Tensor, slope: Tensor, of_last: Tensor, out: Sequence[Tensor]
) -> Tensor:
    """Propagate the gradient of the last stabilizer to the gates that set it, and to the first.

    The gate that set a stabilizer has the exponential 1; at a tie each has a half.

    Args:
        enter: Input gates, `(time, head, batch, feature)`.
        forget: Forget gates.
        slope: Derivatives of the logarithms of the forget gates.
        of_last: Gradient of the last stabilizer.
        out: Where the gradients of input and forget gates go.
    """
    by_forget = (forget == 1).to(slope.dtype) / (1 + ((forget == 1) & (enter == 1)))
    passed = by_forget.flip(0).cumprod(0).flip(0)
    after = torch.cat([passed[1:], torch.ones_like(passed[:1])]) * of_last
    torch.mul(after, 1 - by_forget, out=out[0])
    torch.mul(after * by_forget, slope, out=out[1])
    return passed[0] * of_last
