"""The gated delta rule: a memory that replaces the value under a key."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from farfield.functional._linear_attention._chunks import (
    chunks_of,
    join_chunks,
    segment_sums,
    split_chunks,
)

_CHUNK = 32


def gated_delta_rule(
    query: Float[Tensor, "time batch head key"],
    key: Float[Tensor, "time batch head key"],
    value: Float[Tensor, "time batch head value"],
    rate: Float[Tensor, "time batch head"],
    log_decay: Float[Tensor, "time batch head"] | None,
    state: Float[Tensor, "batch head key value"],
) -> tuple[Float[Tensor, "time batch head value"], Float[Tensor, "batch head key value"]]:
    r"""Move the value under each key towards a new value, in a memory that decays.

    $$S_t = \alpha_t (I - \beta_t k_t k_t^\top) S_{t-1} + \beta_t k_t v_t^\top, \qquad
      o_t = K^{-1/2} S_t^\top q_t$$

    for each head. With keys of length 1 the eigenvalue along a key is $\alpha (1 - \beta)$: in
    [0, 1] for a rate in [0, 1], and in [−1, 1] for a rate in [0, 2]. The steps of a chunk are
    computed in parallel: one triangular system gives the changes of all of them.

    Args:
        query: $q$.
        key: $k$, usually of length 1.
        value: $v$.
        rate: $\beta$.
        log_decay: $\log \alpha$, at most 0; None for $\alpha = 1$, the delta rule.
        state: $S_0$.

    Returns:
        The outputs $o$, and the last state, in float32 at least.

    Reference:
        yang2025, section 3; grazzi2025, section 4, for rates up to 2.
    """
    dtype = torch.promote_types(state.dtype, torch.float32)
    chunks = chunks_of(len(query), _CHUNK)
    with torch.autocast(query.device.type, enabled=False):
        q, k, v, beta = (split_chunks(x, chunks, dtype) for x in (query, key, value, rate))
        g = torch.zeros_like(beta) if log_decay is None else split_chunks(log_decay, chunks, dtype)
        decay = segment_sums(g).exp()
        kept = g.cumsum(-1).exp().unsqueeze(-1)
        moved = k * beta.unsqueeze(-1)
        mixed = (moved @ k.transpose(-1, -2) * decay).tril(-1)
        right = torch.cat([v * beta.unsqueeze(-1), moved * kept], dim=-1)
        solved = torch.linalg.solve_triangular(mixed, right, upper=False, unitriangular=True)
        new, erased = solved.split_with_sizes((v.shape[-1], k.shape[-1]), dim=-1)
        scores = q @ k.transpose(-1, -2) * decay
        asked, told = q * kept, (k * decay[..., -1, :].unsqueeze(-1)).transpose(-1, -2)
        steps = [part.unbind(0) for part in (new, erased, scores, asked, told, kept[..., -1:, :])]
        state, outputs = state.to(dtype), []
        for u, w, score, ask, tell, keep in zip(*steps, strict=True):
            change = u - w @ state
            outputs.append(ask @ state + score @ change)
            state = keep * state + tell @ change
        found = torch.stack(outputs) * query.shape[-1] ** -0.5
        return join_chunks(found, value), state
