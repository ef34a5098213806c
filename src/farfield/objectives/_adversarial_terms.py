"""Terms that are added to the losses of a generator and a discriminator."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor


def info_nce(
    local: Float[Tensor, "batch feature place"], whole: Float[Tensor, "batch feature"]
) -> Float[Tensor, ""]:
    r"""Negative log-probability of finding the places of an image among those of all others.

    $$-\frac{1}{B P} \sum_{b, p} \log \frac{e^{l_{bp} \cdot g_b}}
      {e^{l_{bp} \cdot g_b} + \sum_{b' \ne b} \sum_{p'} e^{l_{b'p'} \cdot g_b}}$$

    It is a bound on the mutual information of the features of places $l$ and of the image $g$. The
    released code does not leave the places of the image itself out of the sum, but counts
    $e^{-10}$ for each.

    Args:
        local: Features of the places of each image.
        whole: Features of each image.

    Reference:
        Lee et al. 2021, section 3.
    """
    products = torch.einsum("bf,cfp->bcp", whole, local)
    is_own = torch.eye(len(whole), dtype=torch.bool, device=whole.device)
    own = (products * is_own[:, :, None]).sum(1)
    others = products.masked_fill(is_own[:, :, None], -torch.inf).flatten(1).logsumexp(1)
    return (torch.logaddexp(own, others[:, None]) - own).mean()


def quarter_turns(
    images: Float[Tensor, "batch channel height width"],
) -> tuple[Float[Tensor, "batch channel height width"], Tensor]:
    """A batch whose four parts are turned by 0, 90, 180 and 270 degrees, and the turns of each.

    Args:
        images: Square images.

    Raises:
        ValueError: If they are not square.

    Reference:
        Chen et al. 2019, section 4.
    """
    if images.shape[-1] != images.shape[-2]:
        raise ValueError(f"images must be square to be turned, got shape {tuple(images.shape)}")
    turns = torch.arange(len(images), device=images.device) * 4 // len(images)
    ends = [-(-len(images) * part // 4) for part in range(5)]
    parts = [images[ends[part] : ends[part + 1]].rot90(part, (-2, -1)) for part in range(4)]
    return torch.cat(parts), turns
