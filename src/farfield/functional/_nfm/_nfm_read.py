"""Attention over the layers of a network, position by position."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from farfield.functional._nfm._nfm_rules import NFMRules
from farfield.functional._nfm._rescale_state import rescale_state
from farfield.functional._rims._top_k_mask import top_k_mask

_EPS = 1e-7
"""Of the released code, where weights are lowered and where they are divided."""


class WrittenState(NamedTuple):
    """Keys and values of the state of a layer, for the layers that read it.

    Attributes:
        key: (batch, *position, head · key).
        value: (batch, *position, head · value).

    Reference:
        lamb2022, section 10.3.2.1.
    """

    key: Tensor
    value: Tensor


class NFMRead(NamedTuple):
    """Result of a read of neural function modules.

    Attributes:
        values: Heads side by side: (batch, *position, head · value).
        attention: Weights of each state that was written: (batch, *position, head, window), one
            for every position of a larger state that falls on one of the reader's.
        null: Weight of the null element: (batch, *position, head).

    Reference:
        lamb2022, section 10.3.2.
    """

    values: Tensor
    attention: tuple[Tensor, ...]
    null: Tensor


def nfm_read(
    query: Float[Tensor, "batch *position _"],
    written: Sequence[WrittenState],
    rules: NFMRules,
    *,
    training: bool = False,
    generator: torch.Generator | None = None,
) -> NFMRead:
    r"""Attention of every position over a null element and all states that were written.

    $$A = \mathrm{softmax}\left(\frac{\hat Q \hat K^\top}{d_k}\right) \hat V$$

    in each head, over the $k$ largest scores. Keys and values are those at the same position, for
    which `rescale_state` brings them to the sizes of the reader; the null element's are zero.

    Args:
        query: $\hat Q$ of all heads, side by side.
        written: $\hat K$ and $\hat V$ of each state, of any sizes.
        rules: The options.
        training: Whether weights are dropped.
        generator: Where attention weights are drawn from, as standard normal numbers in place of
            those of the scores: the ablation of section 10.4.4. None draws none.

    Raises:
        ValueError: If nothing was written, or states of another batch or of sizes that do not fit.

    Reference:
        lamb2022, section 10.3.2 and algorithm 2.
    """
    _check(query, written)
    keys, values = zip(*(_at(query, each, rules) for each in written), strict=True)
    own = _by_head(query / rules.temperature, rules).unsqueeze(-2)
    scores = [(own * key).sum(-1) for key in keys]
    null = torch.zeros_like(scores[0][..., :1])
    entries = [null, *scores] if rules.null_first else [*scores, null]
    weights = _weights(torch.cat(entries, -1), rules, training=training, generator=generator)
    parts = torch.split_with_sizes(weights, [each.shape[-1] for each in entries], -1)
    *attention, null = [*parts[1:], parts[0]] if rules.null_first else parts
    read = [
        (weight.unsqueeze(-1) * value).sum(-2)
        for weight, value in zip(attention, values, strict=True)
    ]
    return NFMRead(reduce(torch.add, read).flatten(-2), tuple(attention), null.squeeze(-1))


def _check(query: Tensor, written: Sequence[WrittenState]) -> None:
    if not written:
        raise ValueError("written must hold a state before the first read, got none")
    if any(each.key.shape[0] != query.shape[0] for each in written):
        sizes = [each.key.shape[0] for each in written]
        raise ValueError(f"written must be of the reader's batch of {len(query)}, got {sizes}")


def _at(query: Tensor, state: WrittenState, rules: NFMRules) -> list[Tensor]:
    """Keys and values at the positions of the queries: (batch, *position, head, window, number)."""
    resize = partial(rescale_state, sizes=query.shape[1:-1], space_to_depth=rules.space_to_depth)
    return [_by_head(resize(each), rules).transpose(-3, -2) for each in state]


def _by_head(x: Tensor, rules: NFMRules) -> Tensor:
    return torch.unflatten(x, -1, (rules.num_heads, x.shape[-1] // rules.num_heads))


def _weights(
    scores: Tensor, rules: NFMRules, *, training: bool, generator: torch.Generator | None
) -> Tensor:
    """Attention weights from scores, both (batch, *position, head, entry)."""
    if generator is not None:
        drawn = torch.randn(scores.shape, generator=generator, device=generator.device)
        return drawn.to(scores)
    k = rules.top_k
    if k is None or scores.shape[-1] <= k + rules.subtract_next:
        return F.dropout(scores.softmax(-1), rules.dropout, training)
    if rules.subtract_next:
        return _above_next(F.dropout(scores.softmax(-1), rules.dropout, training), k)
    chosen = scores.masked_fill(~top_k_mask(scores, k), -torch.inf)
    return F.dropout(chosen.softmax(-1), rules.dropout, training)


def _above_next(weights: Tensor, k: int) -> Tensor:
    """The k largest weights less the next one, over their sum, as in the released code."""
    least = weights.topk(k + 1).values[..., k:] + _EPS
    above = (weights - least).clamp(min=0)
    return above / (above.sum(-1, keepdim=True) + _EPS)
