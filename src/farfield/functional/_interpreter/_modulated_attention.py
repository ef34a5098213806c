"""Attention among the elements that a function may look at."""

from __future__ import annotations

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor


def modulated_attention(  # noqa: PLR0913 # what attention is given, and four options
    query: Float[Tensor, "function batch item _"],
    key: Float[Tensor, "_ batch item _"],
    value: Float[Tensor, "function batch item feature"],
    compatibility: Float[Tensor, "function batch item"],
    *,
    num_heads: int,
    scale: float | None = None,
    position_scores: Float[Tensor, "function _ item item"] | None = None,
    key_padding_mask: Bool[Tensor, "batch item"] | None = None,
    eps: float = 1e-6,
) -> Float[Tensor, "function batch item feature"]:
    r"""Attention of each element to the others in each function, heads side by side.

    $$\tilde y_{uhi} = \sum_j W_{uhij} v_{uhj}, \qquad
      W_{uhij} = \frac{\tilde W_{uhij}}{\epsilon + \sum_l \tilde W_{uhil}}, \qquad
      \tilde W_{uhij} = C_{ui} C_{uj} \, \mathrm{softmax}_j\left(
        \frac{q_{uhi} \cdot k_{uhj} + r_{uhij}}{\sqrt d}\right)$$

    Elements that a function has no access to neither gather nor are gathered.

    Args:
        query: $q$, heads side by side, $d$ numbers each.
        key: $k$, likewise; or of one head, which all have.
        value: $v$, heads side by side.
        compatibility: $C$.
        num_heads: Number of heads.
        scale: In place of $1 / \sqrt d$; None is that.
        position_scores: $r$ by function and head; None is zeros.
        key_padding_mask: True where an element is padding: it is not gathered.
        eps: $\epsilon$.

    Raises:
        ValueError: If the heads do not divide the width of keys or values.

    Reference:
        gondal2021, section 2, equations 7 and 8; positions as in the released code.
    """
    for name, width in (("query", query.shape[-1]), ("value", value.shape[-1])):
        if num_heads < 1 or width % num_heads:
            raise ValueError(
                f"num_heads must divide the {width} features of {name}, got num_heads={num_heads}"
            )
    size = query.shape[-1] // num_heads
    q, k, v = (
        torch.unflatten(part, -1, (-1, width)).transpose(2, 3)
        for part, width in ((query, size), (key, size), (value, value.shape[-1] // num_heads))
    )
    scores = q @ k.transpose(-1, -2)
    if position_scores is not None:
        scores = scores + position_scores.unsqueeze(1)
    scores = scores * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    if key_padding_mask is not None:
        hidden = key_padding_mask[:, None, None, :]
        scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
        compatibility = compatibility.masked_fill(key_padding_mask, 0.0)
    own = compatibility[:, :, None, :, None]
    # The compatibilities of the query stand before the sums: nothing of (item, item) is kept twice.
    weights = scores.softmax(-1) * compatibility[:, :, None, None, :]
    gathered = own * (weights @ v) / (eps + own * weights.sum(-1, keepdim=True))
    return gathered.transpose(2, 3).flatten(3)
