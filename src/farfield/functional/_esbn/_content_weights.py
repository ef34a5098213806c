"""Retrieval from a content-addressed memory of earlier embeddings, for all steps at once."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor


def content_scores(
    z: Float[Tensor, "*batch time feature"],
    default: Float[Tensor, " feature"] | None = None,
) -> Float[Tensor, "*batch time-1 slot"]:
    r"""Match of each embedding from the second on with every value a memory may hold.

    $$s_{ti} = z_t \cdot v_i$$

    with $v_i$ the embeddings $z_1, …, z_{T-1}$, behind the default value if there is one. Later
    values are scored too; `content_weights` gives them no weight.

    Args:
        z: Embeddings of one problem, in order.
        default: Value that stands in the memory from the start.

    Reference:
        webb2021, algorithm 1.
    """
    values = z[..., :-1, :]
    if default is not None:
        first = default.to(z.dtype).expand(*z.shape[:-2], 1, -1)
        values = torch.cat((first, values), dim=-2)
    return z[..., 1:, :] @ values.transpose(-1, -2)


def content_weights(
    scores: Float[Tensor, "*batch time slot"],
) -> Float[Tensor, "*batch time slot"]:
    r"""Softmax over the memory written so far.

    $$w_{ti} = \frac{\exp s_{ti}}{\sum_{j \text{ before } t} \exp s_{tj}}$$

    A read sees the values of all earlier places (and the default), not its own and no later one.

    Args:
        scores: From `content_scores`.

    Returns:
        Weights that sum to one over the slots; exactly zero for what is not yet written.

    Raises:
        ValueError: If there are fewer slots than reads.

    Reference:
        webb2021, algorithm 1.
    """
    num_reads, num_slots = scores.shape[-2:]
    if num_slots < num_reads:
        raise ValueError(
            f"scores must have at least one slot per read, got {num_slots} for {num_reads} reads"
        )
    written = torch.ones(num_reads, num_slots, dtype=torch.bool, device=scores.device)
    later = ~written.tril(num_slots - num_reads)
    return scores.masked_fill(later, -torch.inf).softmax(-1)


def read_confidence(
    scores: Float[Tensor, "*batch time slot"],
    weights: Float[Tensor, "*batch time slot"],
    gain: Float[Tensor, " *_"],
    bias: Float[Tensor, " *_"],
) -> Float[Tensor, "*batch time"]:
    r"""Confidence of each read in 0…1.

    $$c_t = \sum_i w_{ti} \, \sigma(\gamma s_{ti} + \beta)$$

    A softmax gives the same weights to a good and to a bad best match; the confidence keeps them
    apart.

    Args:
        scores: From `content_scores`.
        weights: From `content_weights`.
        gain: The learned gain $\gamma$, one number.
        bias: The learned shift $\beta$, one number.

    Reference:
        webb2021, algorithm 1.
    """
    return (weights * torch.sigmoid(gain * scores + bias)).sum(-1)
