"""Self-attention over a sequence, causal too, and sinusoidal positions."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from einops import rearrange
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional as F

from farfield.functional._autograd._products import is_transformed, linear
from farfield.functional._autograd._unroll import Product, recur


def sinusoidal_position(
    length: int,
    num_features: int,
    *,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str | None = None,
) -> Float[Tensor, "time feature"]:
    r"""Compute sines and cosines of geometrically spaced wavelengths.

    $$p_{t,2i} = \sin(t / 10000^{2i/d}), \qquad p_{t,2i+1} = \cos(t / 10000^{2i/d})$$

    with $d$ features.

    Args:
        length: Number of positions.
        num_features: Number of features $d$; an odd number leaves out the last cosine.
        dtype: Of the result; the table is computed in float64.
        device: Of the result.

    Raises:
        ValueError: If `length` or `num_features` is below one.

    Reference:
        Vaswani et al. 2017, section 3.5, as used in webb2021, appendix A.3.9.
    """
    if length < 1 or num_features < 1:
        raise ValueError(
            "length and num_features must be at least 1, "
            f"got length={length} and num_features={num_features}"
        )
    position = torch.arange(length, dtype=torch.float64, device=device).unsqueeze(-1)
    even = torch.arange(0, num_features, 2, dtype=torch.float64, device=device)
    angle = position * torch.exp(even * (-math.log(10_000.0) / num_features))
    pairs = torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(-2)
    return pairs[:, :num_features].to(dtype)


def self_attention(
    z: Float[Tensor, "*batch time feature"],
    in_weight: Float[Tensor, "_ feature"],
    in_bias: Float[Tensor, " _"],
    *,
    num_heads: int,
    key_padding_mask: Bool[Tensor, "*batch time"] | None = None,
    added: Float[Tensor, "time time"] | None = None,
) -> Float[Tensor, "*batch time feature"]:
    r"""Compute self-attention over all positions, heads side by side, before the output layer.

    $$\mathrm{softmax}(Q K^\top / \sqrt{d / n}) \, V$$

    in each of the $n$ heads, with queries, keys and values of $d / n$ numbers from one layer.

    Args:
        z: The sequence.
        in_weight: Rows of all queries, then keys, then values: $(3d, d)$.
        in_bias: The same order: $(3d)$.
        num_heads: Number of heads $n$.
        key_padding_mask: True at positions that no position attends to, as of
            `torch.nn.MultiheadAttention`; None for none. Where all of a sequence are, they attend
            to all alike.
        added: Term of the score of each pair of positions, as a mask of attention is.

    Raises:
        ValueError: If the number of features cannot be divided among the heads, or the mask has
            another shape.

    Reference:
        Vaswani et al. 2017, section 3.2; webb2021, appendix A.3.9.
    """
    num_features = z.shape[-1]
    if num_heads < 1 or num_features % num_heads:
        raise ValueError(
            f"num_heads must divide the {num_features} features, got num_heads={num_heads}"
        )
    if key_padding_mask is not None and key_padding_mask.shape != z.shape[:-1]:
        raise ValueError(
            f"key_padding_mask must be of shape {tuple(z.shape[:-1])}, a position each, "
            f"got {tuple(key_padding_mask.shape)}"
        )
    query, key, value = rearrange(
        linear(z, in_weight, in_bias),
        "... time (three head feature) -> three ... head time feature",
        three=3,
        head=num_heads,
    ).unbind(0)
    scores = (query / math.sqrt(num_features // num_heads)) @ key.transpose(-1, -2)
    if added is not None:
        scores = scores + added
    if key_padding_mask is not None:
        hidden = key_padding_mask[..., None, None, :]
        scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
    # Divided after the product: 0.8 to 1.1 times as fast as a softmax, which rounds otherwise.
    powers = (scores - scores.detach().amax(-1, keepdim=True)).exp()
    gathered = (powers @ value) / powers.sum(-1, keepdim=True)
    return rearrange(gathered, "... head time feature -> ... time (head feature)")


_BLOCK = 256
"""Queries at once, which limits the size of the mask of queries by keys for each head."""


def alibi_slopes(
    num_heads: int,
    *,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str | None = None,
) -> Float[Tensor, " head"]:
    r"""Compute slopes $m_h$ of attention with linear biases (ALiBi), one for each head.

    $$m_h = 2^{-8 h / n}, \qquad h = 1, …, n$$

    for a number of heads $n$ that is a power of two. Otherwise the slopes of the next smaller
    power come first, then those between them: every other one of twice that power, from the first.

    Args:
        num_heads: Number of heads $n$.
        dtype: Of the result; the slopes are computed in float64.
        device: Of the result.

    Raises:
        ValueError: If `num_heads` is below one.

    Reference:
        press2022, section 3.
    """
    if num_heads < 1:
        raise ValueError(f"num_heads must be at least 1, got {num_heads}")
    power = 2 ** math.floor(math.log2(num_heads))
    slopes = [2 ** (-8 * head / power) for head in range(1, power + 1)]
    between = [2 ** (-4 * head / power) for head in range(1, 2 * power, 2)]
    return torch.tensor((slopes + between)[:num_heads], dtype=dtype, device=device)


def causal_attention(
    query: Float[Tensor, "batch head time feature"],
    key: Float[Tensor, "batch head _ feature"],
    value: Float[Tensor, "batch head _ feature"],
    *,
    window: int | None = None,
) -> Float[Tensor, "batch head time feature"]:
    r"""Compute causal attention with linear biases, which favor near keys.

    $$y_t = \sum_{s \le t} w_{ts} v_s, \qquad
      w_{t\cdot} = \mathrm{softmax}_s(q_t \cdot k_s / \sqrt d - m_h (t - s))$$

    Only the distance enters, so a length that was never trained on is nothing new, and a sequence
    can go on from the keys and values of before. Queries are taken a block at a time: of a
    sequence of any length no table of all positions by all positions is made.

    Args:
        query: $q$, the last positions of the sequence.
        key: $k$, of these positions and, before them, of earlier ones.
        value: $v$, likewise.
        window: How many positions a query sees, its own among them; None is all.

    Raises:
        ValueError: If there are no queries, there are fewer keys than queries, or another number of
            values than of keys, or `window` is below 1.

    Reference:
        press2022, section 3; Vaswani et al. 2017, section 3.2.
    """
    positions, seen = query.shape[-2], key.shape[-2]
    if seen < positions:
        raise ValueError(f"key must have a position per query, {positions}, got {seen}")
    if value.shape[-2] != seen:
        raise ValueError(f"value must have a position per key, {seen}, got {value.shape[-2]}")
    if positions == 0:
        raise ValueError("query must have at least one position, got none")
    if window is not None and window < 1:
        raise ValueError(f"window must be at least 1, got {window}; None is all positions")
    at_least_single = torch.promote_types(query.dtype, torch.float32)
    slopes = alibi_slopes(query.shape[1], dtype=at_least_single, device=query.device)
    blocks = []
    for start in range(0, positions, _BLOCK):
        own = range(seen - positions + start, seen - positions + min(start + _BLOCK, positions))
        first = 0 if window is None else max(0, own.start - window + 1)
        gathered = _attend(
            query[..., start : start + len(own), :],
            key[..., first : own.stop, :],
            value[..., first : own.stop, :],
            _bias(slopes, own, first, window).to(query.dtype),
        )
        blocks.append(gathered)
    return torch.cat(blocks, dim=-2)


def _bias(slopes: Tensor, own: range, first: int, window: int | None) -> Tensor:
    """Compute biases of queries at `own` with keys from `first` on: (head, _, _)."""
    position = torch.arange(own.start, own.stop, device=slopes.device).unsqueeze(-1)
    distance = position - torch.arange(first, own.stop, device=slopes.device)
    hidden = distance < 0
    if window is not None:
        hidden = hidden | (distance >= window)
    return (-slopes[:, None, None] * distance).masked_fill(hidden, -torch.inf)


def _attend(query: Tensor, key: Tensor, value: Tensor, bias: Tensor) -> Tensor:
    """Compute attention by torch's kernels, which have no second gradient and no `torch.func`."""
    # 0.8 times as fast as the formula for 50 positions, 1.3 times for 256, 1.5 times for 784.

    def fused(_: Sequence[Product], query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(query, key, value, attn_mask=bias.unsqueeze(0))

    def plain(_: Sequence[Product], query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        scores = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])
        return (scores + bias).softmax(-1) @ value

    return recur(plain if is_transformed() else fused, (), query, key, value, plain=plain)
