"""Attention that picks two places of a sequence, in each of several heads."""

from __future__ import annotations

from einops import rearrange
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from farfield.functional._autograd._products import linear


def pair_attention(
    z: Float[Tensor, "*batch time feature"],
    first_weight: Float[Tensor, "_ _"],
    second_weight: Float[Tensor, "_ _"],
    key_weight: Float[Tensor, "_ feature"],
) -> tuple[Float[Tensor, "*batch head time"], Float[Tensor, "*batch head time"]]:
    r"""Weights over places of two queries in each head, asked by the whole sequence.

    $$a_h = \mathrm{softmax}(K q_h), \qquad
      q_h = W_h \, (z_1 \parallel … \parallel z_T), \qquad K = Z W_K^\top$$

    In self-attention each place asks; here the whole sequence does, twice, and all heads share
    the keys. The products are not scaled.

    Args:
        z: The sequence.
        first_weight: Rows of the first queries, head by head: (head · key, time · feature).
        second_weight: Those of the second queries.
        key_weight: $W_K$, (key, feature).

    Returns:
        The weights of the first queries and those of the second.

    Raises:
        ValueError: If the weights of a query do not fit the sequence or the keys.

    Reference:
        Shanahan et al. 2020; webb2021, appendix A.3.10.
    """
    size, columns = key_weight.shape[0], z.shape[-2] * z.shape[-1]
    for name, weight in (("first_weight", first_weight), ("second_weight", second_weight)):
        if weight.shape[0] % size or weight.shape[1] != columns:
            raise ValueError(
                f"{name} must have rows in multiples of {size}, the size of a key, and {columns} "
                f"columns, all features of a sequence; got shape {tuple(weight.shape)}"
            )
    whole, keys = z.flatten(-2), F.linear(z, key_weight)
    first, second = (
        rearrange(linear(whole, weight), "... (head key) -> ... head key", key=size)
        @ keys.transpose(-1, -2)
        for weight in (first_weight, second_weight)
    )
    return first.softmax(-1), second.softmax(-1)
