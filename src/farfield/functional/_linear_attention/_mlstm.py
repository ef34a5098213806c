"""The memory of an mLSTM: a matrix with exponential gates."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from farfield.functional._linear_attention._chunks import (
    chunks_of,
    join_chunks,
    segment_sums,
    split_chunks,
)

_CHUNK = 32

EPS = 1e-6
"""Added to the divisor of an output."""


class MLSTMState(NamedTuple):
    """State of an mLSTM, with memory and normalizer divided by the exponential of the stabilizer.

    Attributes:
        memory: $C e^{-m}$.
        normalizer: $n e^{-m}$.
        stabilizer: $m$; −∞ before the first step.

    Reference:
        beck2024, appendix A.2.
    """

    memory: Float[Tensor, "batch head key value"]
    normalizer: Float[Tensor, "batch head key"]
    stabilizer: Float[Tensor, "batch head"]


def mlstm(
    query: Float[Tensor, "time batch head key"],
    key: Float[Tensor, "time batch head key"],
    value: Float[Tensor, "time batch head value"],
    input_gate: Float[Tensor, "time batch head"],
    forget_gate: Float[Tensor, "time batch head"],
    state: MLSTMState,
    *,
    exponential_forget: bool = False,
) -> tuple[Float[Tensor, "time batch head value"], MLSTMState]:
    r"""Write values under keys to a matrix with exponential gates, and read it by queries.

    $$C_t = f_t C_{t-1} + i_t \tfrac{k_t}{\sqrt K} v_t^\top, \quad
      n_t = f_t n_{t-1} + i_t \tfrac{k_t}{\sqrt K}, \quad
      h_t = \frac{C_t^\top q_t}{\max(|n_t^\top q_t|, 1)}, \quad
      i_t = e^{\tilde i_t}, \quad f_t = \sigma(\tilde f_t)$$

    for each head. Exponentials would overflow, so $C$ and $n$ are kept divided by $e^{m_t}$ with
    $m_t = \max(\log f_t + m_{t-1}, \tilde i_t)$, and the 1 becomes $e^{-m_t}$; $10^{-6}$ is added
    to the divisor in these units. With $m_0 = -\infty$ the outputs do not depend on how a sequence
    is cut; a state of zeros with $m_0 = 0$, the released start of steps, changes them by about
    $10^{-6}$. The steps of a chunk are computed in parallel.

    Args:
        query: $q$.
        key: $k$.
        value: $v$.
        input_gate: $\tilde i$.
        forget_gate: $\tilde f$.
        state: State before the first step.
        exponential_forget: True for $f_t = e^{\tilde f_t}$.

    Returns:
        The outputs $h$, and the last state, in float32 at least.

    Reference:
        beck2024, equations 19 to 27; appendix A.2 for the stabilizer.
    """
    dtype = torch.promote_types(state.memory.dtype, torch.float32)
    chunks = chunks_of(len(query), _CHUNK)
    with torch.autocast(query.device.type, enabled=False):
        memory, normalizer, m = (part.to(dtype) for part in state)
        log_forget = forget_gate.to(dtype)
        if not exponential_forget:
            log_forget = F.logsigmoid(log_forget)
        q, k, v = (split_chunks(x, chunks, dtype) for x in (query, key, value))
        entering = split_chunks(input_gate, chunks, dtype, -math.inf).unsqueeze(-2)
        forget = split_chunks(log_forget, chunks, dtype)
        kept = forget.cumsum(-1)
        weights = segment_sums(forget) + entering
        largest = weights.amax(-1)
        earlier, later = [], []
        for total, high in zip(kept[..., -1].unbind(0), largest[..., -1].unbind(0), strict=True):
            earlier.append(m)
            m = torch.maximum(total + m, high)
            later.append(m)
        before, after = torch.stack(earlier), torch.stack(later)
        held = kept + before.unsqueeze(-1)
        stabilizer = torch.maximum(held, largest)
        k = k * key.shape[-1] ** -0.5
        # The normalizer is the memory of a value that is 1 at every step.
        v = torch.cat([v, v.new_ones(*v.shape[:-1], 1)], dim=-1)
        written = (weights[..., -1, :] - after.unsqueeze(-1)).exp().unsqueeze(-1)
        added = (k * written).transpose(-1, -2) @ v
        decay = (kept[..., -1] + before - after).exp()[..., None, None]
        states = [torch.cat([memory, normalizer.unsqueeze(-1)], dim=-1)]
        for own, keep in zip(added.unbind(0), decay.unbind(0), strict=True):
            states.append(torch.addcmul(own, keep, states[-1]))
        scores = q @ k.transpose(-1, -2) * (weights - stabilizer.unsqueeze(-1)).exp()
        asked = q * (held - stabilizer).exp().unsqueeze(-1)
        read = scores @ v + asked @ torch.stack(states[:-1])
        least = (-stabilizer).exp().unsqueeze(-1)
        outputs = read[..., :-1] / (torch.maximum(read[..., -1:].abs(), least) + EPS)
        last = MLSTMState(states[-1][..., :-1], states[-1][..., -1], m)
        return join_chunks(outputs, value), last
