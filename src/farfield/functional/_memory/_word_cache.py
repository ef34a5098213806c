"""The continuous cache of language models."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor


def cached_log_probs(
    logits: Float[Tensor, "batch time value"],
    hidden: Float[Tensor, "batch position feature"],
    words: Int[Tensor, "batch position"],
    *,
    size: int,
    scale: float,
    weight: float,
) -> Float[Tensor, "batch time value"]:
    r"""Log probabilities of the next words, mixed with the words that followed similar states.

    $$p(w) = (1 - \lambda)\, p_\text{model}(w) + \lambda\,
      \frac{\sum_{i=t-n}^{t-1} \exp(\theta\, h_t \cdot h_i)\, [x_{i+1} = w]}
      {\sum_{i=t-n}^{t-1} \exp(\theta\, h_t \cdot h_i)}$$

    with $h_t$ the hidden state that the model answers from and $x_t$ the word that it reads. Where
    nothing is remembered yet, the model answers alone.

    Args:
        logits: Answers of the model at the last `time` positions.
        hidden: Hidden states at all positions, those that are remembered first.
        words: Numbers of the words read there.
        size: Number of positions $n$ that are looked back on.
        scale: Sharpness $\theta$ of the attention.
        weight: Share $\lambda$ of the cache.

    Reference:
        Grave, Joulin and Usunier 2017, equations 2 to 5.
    """
    now = torch.arange(hidden.shape[1] - logits.shape[1], hidden.shape[1], device=words.device)
    past = torch.arange(hidden.shape[1] - 1, device=words.device)
    seen = (past < now[:, None]) & (past >= now[:, None] - size)
    similar = scale * (hidden[:, now] @ hidden[:, :-1].mT)
    lowest = torch.finfo(similar.dtype).min
    attention = similar.masked_fill(~seen, lowest).softmax(-1) * seen
    follower = words[:, None, 1:].expand_as(attention)
    cached = torch.zeros_like(logits).scatter_add(-1, follower, attention)
    share = weight * seen.any(-1, keepdim=True).to(logits.dtype)
    return torch.logaddexp(logits.log_softmax(-1) + torch.log1p(-share), (share * cached).log())
