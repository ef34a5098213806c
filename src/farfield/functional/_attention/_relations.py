"""Relations between the positions of a sequence: matrix, sum over pairs, attention to pairs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import torch
from einops import rearrange
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from farfield.functional._autograd._products import is_recorded, linear


def relation_matrix(
    z: Float[Tensor, "*batch time feature"], *, causal: bool = False
) -> Float[Tensor, "*batch time time"]:
    r"""Compute inner products of all embeddings with each other, as weights.

    $$R_{ij} = \frac{\exp z_i \cdot z_j}{\sum_k \exp z_i \cdot z_k}$$

    These are the weights of self-attention without scale, queries or keys; nothing is gathered
    with them.

    Args:
        z: The sequence.
        causal: Whether the sum goes over positions up to $i$ alone; later ones have weight zero.

    Reference:
        Kerg et al. 2022 (kerg2022), section 3.
    """
    scores = z @ z.transpose(-1, -2)
    if causal:
        later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=z.device).triu(1)
        scores = scores.masked_fill(later, -torch.inf)
    return scores.softmax(-1)


def tag_positions(z: Float[Tensor, "*batch time feature"]) -> Float[Tensor, "*batch time _"]:
    """Append the position, the integer $0, …, T - 1$, to each embedding of a sequence.

    Args:
        z: The sequence.

    Reference:
        webb2021, appendices A.3.7, A.3.8 and A.3.10.
    """
    position = torch.arange(z.shape[-2], dtype=z.dtype, device=z.device)
    return torch.cat((z, position.unsqueeze(-1).expand(*z.shape[:-1], 1)), dim=-1)


def relation_sum(
    z: Float[Tensor, "*batch time feature"],
    sets: Sequence[tuple[int, ...]],
    hidden_weight: Float[Tensor, "_ _"],
    hidden_bias: Float[Tensor, " _"],
    out_weight: Float[Tensor, "_ _"],
    out_bias: Float[Tensor, " _"],
) -> Float[Tensor, "*batch _"]:
    r"""Sum, over sets of positions, of a network of two ReLU layers on their embeddings.

    $$\sum_{(i, j, …)} \mathrm{ReLU}\left(W_2 \, \mathrm{ReLU}\left(
      W_1 (z_i \parallel z_j \parallel …) + b_1\right) + b_2\right)$$

    The first layer is a sum of layers on single embeddings, $W_1 (z_i \parallel z_j) = A z_i +
    B z_j$, so it is applied to the positions and never to the sets; a product with ones and zeros
    then adds up the rows of each set.

    Args:
        z: The sequence.
        sets: Positions of each set, in the order in which the network sees them. All sets have the
            same size n; no sets at all give zeros.
        hidden_weight: $W_1$, $(H, n \cdot \text{feature})$.
        hidden_bias: $b_1$, $(H)$.
        out_weight: $W_2$, $(\cdot, H)$.
        out_bias: $b_2$.

    Raises:
        ValueError: If a set names a position that is not there, sets differ in size, or the columns
            of `hidden_weight` are not those of a set.

    Reference:
        Santoro et al. 2017, equation 1; webb2021, appendices A.3.7 and A.3.8.
    """
    length, num_features = z.shape[-2:]
    # 1.3 times as fast as gathered pairs of 9 positions, 1.8 times as gathered triples.
    size = _size_of_sets(sets, length, num_features, hidden_weight)
    weight = rearrange(
        hidden_weight, "hidden (position feature) -> (position hidden) feature", position=size
    )
    # Each set has one first position, which brings the bias.
    bias = F.pad(hidden_bias, (0, weight.shape[0] - hidden_bias.shape[0]))
    rows = rearrange(
        linear(z, weight, bias),
        "... time (position hidden) -> ... (position time) hidden",
        position=size,
    )
    made = _chosen.__wrapped__ if is_recorded() else _chosen
    chosen = made(tuple(sets), size, length, z.dtype, z.device)
    hidden = torch.relu_(chosen @ rows)
    return torch.relu_(linear(hidden, out_weight, out_bias)).sum(-2)


@lru_cache(maxsize=64)
def _chosen(
    sets: tuple[tuple[int, ...], ...],
    size: int,
    length: int,
    dtype: torch.dtype,
    device: torch.device,
) -> Float[Tensor, "_ _"]:
    """Make one row for each set, with a one for each of its positions: `(set, position · time)`.

    Made once: a GPU is waited for where numbers of the processor's are copied to it.
    """
    with torch.inference_mode(False):
        positions = torch.tensor(sets, dtype=torch.long, device=device).reshape(-1, size, 1)
        return (positions == torch.arange(length, device=device)).to(dtype).flatten(1)


def _size_of_sets(
    sets: Sequence[tuple[int, ...]], length: int, num_features: int, hidden_weight: Tensor
) -> int:
    sizes = {len(positions) for positions in sets} or {hidden_weight.shape[-1] // num_features}
    columns = [size * num_features for size in sizes]
    if columns != [hidden_weight.shape[-1]]:
        raise ValueError(
            f"hidden_weight must have {columns} columns for sets of {sorted(sizes)} positions of "
            f"{num_features} features, got {hidden_weight.shape[-1]}"
        )
    if any(not 0 <= position < length for positions in sets for position in positions):
        raise ValueError(f"sets must name positions 0…{length - 1}, got {list(sets)}")
    return sizes.pop()


def pair_attention(
    z: Float[Tensor, "*batch time feature"],
    first_weight: Float[Tensor, "_ _"],
    second_weight: Float[Tensor, "_ _"],
    key_weight: Float[Tensor, "_ feature"],
) -> tuple[Float[Tensor, "*batch head time"], Float[Tensor, "*batch head time"]]:
    r"""Compute weights over positions of two queries in each head, asked by the whole sequence.

    $$a_h = \mathrm{softmax}(K q_h), \qquad
      q_h = W_h \, (z_1 \parallel … \parallel z_T), \qquad K = Z W_K^\top$$

    In self-attention each position asks; here the whole sequence does, twice, and all heads share
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
