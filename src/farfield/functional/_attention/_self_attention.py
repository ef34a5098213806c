"""Multi-head self-attention with few, large products."""

from __future__ import annotations

import math

import torch
from einops import rearrange
from jaxtyping import Bool, Float
from torch import Tensor

from farfield.functional._autograd._products import linear


def self_attention(
    z: Float[Tensor, "*batch time feature"],
    in_weight: Float[Tensor, "_ feature"],
    in_bias: Float[Tensor, " _"],
    *,
    num_heads: int,
    key_padding_mask: Bool[Tensor, "*batch time"] | None = None,
    added: Float[Tensor, "time time"] | None = None,
) -> Float[Tensor, "*batch time feature"]:
    r"""Self-attention over all positions, heads side by side, before the output layer.

    $$\mathrm{softmax}(Q K^\top / \sqrt{d / n}) \, V$$

    in each of the $n$ heads, with queries, keys and values of $d / n$ numbers from one layer.

    Args:
        z: The sequence.
        in_weight: Rows of all queries, then keys, then values: $(3d, d)$.
        in_bias: The same order: $(3d)$.
        num_heads: Number of heads $n$.
        key_padding_mask: True at places that no place attends to, as of
            `torch.nn.MultiheadAttention`; None for none. Where all of a sequence are, they attend
            to all alike.
        added: What is added to the scores of each place with each, as a mask of attention is.

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
            f"key_padding_mask must be of shape {tuple(z.shape[:-1])}, a place each, "
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
    # The softmax by hand, divided after the product: torch's own is slow on rows this short.
    powers = (scores - scores.detach().amax(-1, keepdim=True)).exp()
    gathered = (powers @ value) / powers.sum(-1, keepdim=True)
    return rearrange(gathered, "... head time feature -> ... time (head feature)")
