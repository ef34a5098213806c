"""The recurrence of an sLSTM: exponential gates with a normalizer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from farfield.functional._autograd._unroll import Layer, Product, Several, State, unroll


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
        step = partial(_step, exponential_forget=exponential_forget)
        outputs, last = unroll(step, [Layer(weight.to(dtype))], [entering], begun)
        ended = SLSTMState(*(part.transpose(0, 1) for part in last))
        return outputs.transpose(1, 2).to(inputs.dtype), ended


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
