"""The fixed sinusoidal code of positions in a sequence."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor


def sinusoidal_position(
    length: int,
    num_features: int,
    *,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str | None = None,
) -> Float[Tensor, "time feature"]:
    r"""Sines and cosines of geometrically spaced wavelengths.

    $$p_{t,2i} = \sin(t / 10000^{2i/d}), \qquad p_{t,2i+1} = \cos(t / 10000^{2i/d})$$

    with $d$ features.

    Args:
        length: Number of places.
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
    place = torch.arange(length, dtype=torch.float64, device=device).unsqueeze(-1)
    even = torch.arange(0, num_features, 2, dtype=torch.float64, device=device)
    angle = place * torch.exp(even * (-math.log(10_000.0) / num_features))
    pairs = torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(-2)
    return pairs[:, :num_features].to(dtype)
