"""Whitening of whole images: zero-phase component analysis."""

from __future__ import annotations

from typing import NamedTuple, final

import torch
from jaxtyping import Float
from torch import Tensor


@final
class PixelSpectrum(NamedTuple):
    """Mean of flat images and spectral decomposition of their covariance (lamb2022, 6.3.1).

    Args:
        mean: Mean of each value.
        values: Variance along each principal direction, from the least on.
        vectors: The principal directions, one a column.
    """

    mean: Float[Tensor, " feature"]
    values: Float[Tensor, " feature"]
    vectors: Float[Tensor, "feature feature"]


def zca_matrix(
    spectrum: PixelSpectrum, *, eps: float = 1e-6, eps_inside: bool = False
) -> Float[Tensor, "feature feature"]:
    r"""Symmetric matrix that makes values uncorrelated, each of variance 1.

    $$W = U \, \mathrm{diag}\Bigl(\frac{1}{\sqrt{s_i}} + \epsilon\Bigr) \, U^\top$$

    for a covariance $U \, \mathrm{diag}(s) \, U^\top$. Of all whitening matrices it changes an
    image the least. With `eps_inside` the diagonal is $1 / \sqrt{s_i + \epsilon}$, which bounds
    what is made of directions without variance; outside of the root, $\epsilon$ hardly changes
    them.

    Args:
        spectrum: Of the images.
        eps: $\epsilon$.
        eps_inside: Whether it is added to the variances.

    Raises:
        ValueError: If a direction has no variance, and `eps` is not inside the root.

    Reference:
        lamb2022, section 6.3.1; the form with `eps` outside of the root is that of the released
        code.
    """
    values = spectrum.values + eps if eps_inside else spectrum.values
    least = values.max() * len(values) * torch.finfo(values.dtype).eps
    if not (values > least).all():
        raise ValueError(
            "pixel_spectrum must have variance along every direction, got none along "
            f"{int((values <= least).sum())} of {len(values)}: pass eps_inside=True or a larger eps"
        )
    scales = values.rsqrt() + (0.0 if eps_inside else eps)
    return (spectrum.vectors * scales) @ spectrum.vectors.mT
