"""Gated linear attention: a memory whose rows decay at rates of their inputs."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor

from farfield.functional._linear_attention._chunks import chunks_of, join_chunks, split_chunks

_CHUNK = 8
"""Steps of a chunk. The table of decays between steps has this number of entries per key."""


def gated_linear_attention(
    query: Float[Tensor, "time batch head key"],
    key: Float[Tensor, "time batch head key"],
    value: Float[Tensor, "time batch head value"],
    log_decay: Float[Tensor, "time batch head key"],
    state: Float[Tensor, "batch head key value"],
) -> tuple[Float[Tensor, "time batch head value"], Float[Tensor, "batch head key value"]]:
    r"""Write values under keys to a memory whose rows decay, and read it by queries.

    $$S_t = \mathrm{diag}(\alpha_t) S_{t-1} + k_t v_t^\top, \qquad
      o_t = K^{-1/2} S_t^\top q_t$$

    for each head. The steps of a chunk are computed in parallel from the state before it. Decays
    enter as $e^{G_t - G_s}$ for each pair of steps, and never as $e^{-G_s}$, so that a gate near
    0 overflows nothing.

    Args:
        query: $q$.
        key: $k$.
        value: $v$.
        log_decay: $\log \alpha$, at most 0.
        state: $S_0$.

    Returns:
        The outputs $o$, and the last state, in float32 at least.

    Reference:
        yang2024, section 3 and equation 3.
    """
    dtype = torch.promote_types(state.dtype, torch.float32)
    chunks = chunks_of(len(query), _CHUNK)
    with torch.autocast(query.device.type, enabled=False):
        q, k, v, g = (split_chunks(x, chunks, dtype) for x in (query, key, value, log_decay))
        cumulated = g.cumsum(-2)
        last = cumulated[..., -1:, :]
        entering = (k * (last - cumulated).exp()).transpose(-1, -2) @ v
        decay = last.exp().transpose(-1, -2)
        states = [state.to(dtype)]
        for own, kept in zip(entering.unbind(0), decay.unbind(0), strict=True):
            states.append(torch.addcmul(own, kept, states[-1]))
        before = torch.stack(states[:-1])
        outputs = _weights(q, k, cumulated) @ v + (q * cumulated.exp()) @ before
        return join_chunks(outputs * query.shape[-1] ** -0.5, value), states[-1]


def _weights(query: Tensor, key: Tensor, cumulated: Tensor) -> Tensor:
    """Compute the weight of each earlier step of the same chunk, `(…, step, step)`."""
    length = query.shape[-2]
    later = torch.ones(length, length, dtype=torch.bool, device=query.device).triu(1).unsqueeze(-1)
    gap = cumulated.unsqueeze(-2) - cumulated.unsqueeze(-3)
    decayed = gap.masked_fill(later, -math.inf).exp() * query.unsqueeze(-2)
    return (decayed * key.unsqueeze(-3)).sum(-1)
