"""Quality of images: restored against original images, sets of generated images, blobs."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import torch
from jaxtyping import Bool, Float, Float64
from torch import Tensor, from_numpy
from torch.nn import functional as F

from farfield.core.internal import PositiveFloat, PositiveInt, check_arguments

_RADIUS: Final = 5
"""Pixels of the window of the structural similarity on either side of its middle."""
_WINDOW: Final = 2 * _RADIUS + 1
_DEVIATION: Final = 1.5
"""Standard deviation of its weights, pixels."""
_CONSTANTS: Final = (0.01, 0.03)
"""Constants of luminance and contrast, in peaks."""


@check_arguments
def psnr(
    first: Float[Tensor, "*batch height width"],
    second: Float[Tensor, "*batch height width"],
    *,
    peak: PositiveFloat = 255.0,
) -> Float64[Tensor, "*batch"]:
    r"""Compute the peak signal-to-noise ratio in decibels, one number per image.

    $$10 \log_{10} \frac{L^2}{\frac{1}{n} \sum_i (x_i - y_i)^2}$$

    Args:
        first: Some images, $x$.
        second: The others, $y$.
        peak: $L$, the largest value that a pixel can have.

    Shape:
        Two times `(*batch, height, width)` to `(*batch)`.

    Returns:
        Decibels; infinite for equal images.

    Raises:
        ValueError: If the shapes differ or `peak` is not positive.
    """
    _check(first, second)
    error = (first.double() - second.double()).square().mean((-2, -1))
    return 10 * torch.log10(peak**2 / error)


@check_arguments
def ssim(
    first: Float[Tensor, "*batch height width"],
    second: Float[Tensor, "*batch height width"],
    *,
    peak: PositiveFloat = 255.0,
    padded: bool = False,
) -> Float64[Tensor, "*batch"]:
    r"""Compute the structural similarity, averaged over the image, one number per image.

    $$\frac{(2 \mu_x \mu_y + C_1)(2 \sigma_{xy} + C_2)}
           {(\mu_x^2 + \mu_y^2 + C_1)(\sigma_x^2 + \sigma_y^2 + C_2)}, \qquad
      C_1 = (0.01 L)^2, \quad C_2 = (0.03 L)^2$$

    with means, variances and covariance under Gaussian weights of standard deviation 1.5 in a
    window of 11 × 11 pixels, divided by the sum of the weights.

    Args:
        first: Some images, $x$.
        second: The others, $y$.
        peak: $L$, the largest value that a pixel can have.
        padded: Whether windows stand around all pixels, with those of the border repeated outwards,
            as in MATLAB's `ssim`; otherwise they lie within the image, as in the paper and in
            scikit-image.

    Shape:
        Two times `(*batch, height, width)` to `(*batch)`.

    Raises:
        ValueError: If the shapes differ, `peak` is not positive, or no window lies within the
            image.

    Reference:
        Wang et al. 2004.
    """
    _check(first, second)
    if not padded and min(first.shape[-2:]) < _WINDOW:
        raise ValueError(
            f"first must be of at least {_WINDOW} × {_WINDOW} pixels, or padded, "
            f"got shape {tuple(first.shape)}"
        )
    x, y = (images.double().reshape(-1, *images.shape[-2:]) for images in (first, second))
    if padded:
        x, y = (F.pad(images, [_RADIUS] * 4, mode="replicate") for images in (x, y))
    mean_x, mean_y = _blurred(x), _blurred(y)
    variances = _blurred(x * x) - mean_x**2 + _blurred(y * y) - mean_y**2
    covariance = _blurred(x * y) - mean_x * mean_y
    luminance, contrast = ((constant * peak) ** 2 for constant in _CONSTANTS)
    similarity = (2 * mean_x * mean_y + luminance) * (2 * covariance + contrast)
    similarity /= (mean_x**2 + mean_y**2 + luminance) * (variances + contrast)
    return similarity.mean((-2, -1)).reshape(first.shape[:-2])


def _blurred(images: Float64[Tensor, "item height width"]) -> Float64[Tensor, "item _ _"]:
    """Compute Gaussian means over the windows that lie within the images."""
    weights = [math.exp(-(step**2) / (2 * _DEVIATION**2)) for step in range(-_RADIUS, _RADIUS + 1)]
    # Not a convolution, for which torch has no fast code in float64.
    for dim in (-2, -1):
        length = images.shape[dim] - 2 * _RADIUS
        total = images.narrow(dim, 0, length) * (weights[0] / sum(weights))
        for place, weight in enumerate(weights[1:], start=1):
            total.add_(images.narrow(dim, place, length), alpha=weight / sum(weights))
        images = total
    return images


def _check(first: Tensor, second: Tensor) -> None:
    """Raise `ValueError` unless these are images of one shape."""
    if first.shape != second.shape or first.ndim < 2:
        raise ValueError(
            "first and second must be (*batch, height, width) of one shape, "
            f"got {tuple(first.shape)} and {tuple(second.shape)}"
        )


def frechet_distance(
    first: Float[Tensor, "batch feature"], second: Float[Tensor, "item feature"]
) -> float:
    r"""Compute the squared Fréchet distance of normal distributions with the moments of two sets.

    $$\lVert \mu_1 - \mu_2 \rVert^2
      + \mathrm{tr}\left(\Sigma_1 + \Sigma_2 - 2 (\Sigma_1 \Sigma_2)^{1/2}\right)$$

    Of features of the Inception network it is the Fréchet inception distance, FID. Covariances are
    the unbiased ones. The distance itself is biased: of two sets of one distribution it is above 0
    and falls as they grow, so that only numbers of equally large sets compare.

    Args:
        first: Features of one set.
        second: Features of another.

    Shape:
        - first: `(batch, feature)`, at least two rows
        - second: `(item, feature)`, at least two rows

    Returns:
        The distance, computed in float64; NaN if a feature is not finite.

    Raises:
        ValueError: If the sets have different features, or fewer than two rows.

    Reference:
        Heusel et al. 2017, equation 6; lamb2022, section 10.4.1.
    """
    for name, features in (("first", first), ("second", second)):
        if features.ndim != 2 or len(features) < 2 or features.shape[1] != first.shape[1]:
            raise ValueError(
                f"{name} must be (batch, feature) of at least two rows, with the features of the "
                f"other set, got shapes {tuple(first.shape)} and {tuple(second.shape)}"
            )
    if not (first.isfinite().all() and second.isfinite().all()):
        return float("nan")
    first, second = first.double(), second.double()
    shift = (first.mean(0) - second.mean(0)).square().sum()
    one, two = (rows.T.cov().reshape(rows.shape[1], -1) for rows in (first, second))
    # The product of covariances has the eigenvalues of the symmetric R two R, with R R = one.
    values, vectors = torch.linalg.eigh(one)
    root = (vectors * values.clamp(min=0).sqrt()) @ vectors.T
    common = torch.linalg.eigvalsh(root @ two @ root).clamp(min=0).sqrt().sum()
    return float((shift + one.trace() + two.trace() - 2 * common).clamp(min=0))


@check_arguments
def inception_score(logits: Float[Tensor, "batch class"], *, splits: PositiveInt = 10) -> float:
    r"""Compute the Inception score: a classifier's certainty of each image, and number of classes.

    $$\frac{1}{S} \sum_s \exp\left(\frac{1}{n_s} \sum_{i \in s}
      \mathrm{KL}\left(p(y \mid x_i) \,\|\, \bar p_s(y)\right)\right)$$

    with $\bar p_s$ the mean of $p$ over part $s$ of the images. It is 1 where all images look
    alike, and the number of classes where each is surely of one and all are equally frequent.

    Args:
        logits: Of a classifier, for each image; −∞ for a class of probability 0.
        splits: Number $S$ of parts, of consecutive images, whose sizes differ by at most one.

    Shape:
        - logits: `(batch, class)`

    Returns:
        The score, computed in float64.

    Raises:
        ValueError: If there are fewer images than parts.

    Reference:
        Salimans et al. 2016; lamb2022, section 10.4.1.
    """
    if logits.ndim != 2 or len(logits) < splits:
        raise ValueError(
            f"logits must be (batch, class) of at least splits={splits} rows, got shape "
            f"{tuple(logits.shape)}"
        )
    scores = [_part_score(part) for part in logits.double().tensor_split(splits)]
    return float(torch.stack(scores).mean())


def _part_score(logits: Tensor) -> Tensor:
    """Score one part."""
    sure = logits.log_softmax(1)
    mean = sure.logsumexp(0) - math.log(len(sure))
    terms = (sure.exp() * (sure - mean)).where(~sure.isneginf(), 0.0)
    return terms.sum(1).mean().clamp(min=0).exp()


def blob_distance(
    first: Bool[Tensor, "*batch height width"],
    second: Bool[Tensor, "*batch height width"],
    *,
    cutoff: float,
) -> Float64[Tensor, "*batch"]:
    r"""Average the distance of the blobs of two frames, optimally matched.

    A blob is a region of white pixels that touch along an edge; its position is its center. With
    $m$ blobs in the frame that has fewer, $n$ in the other and $d_c = \min(d, c)$,

    $$\frac{1}{n} \Bigl(\min_\pi \sum_{i=1}^{m} d_c(x_i, y_{\pi(i)}) + c (n - m)\Bigr)$$

    over all ways to give each of the $m$ one of the others. It is 0 for equal frames and $c$
    where only one has blobs, and a metric between sets of points (the OSPA metric of order 1).

    Args:
        first: White pixels of some frames.
        second: White pixels of the others.
        cutoff: $c$, the distance of a blob that the other frame does not have, pixels.

    Shape:
        Two times `(*batch, height, width)` to `(*batch)`.

    Returns:
        Distances, pixels.

    Raises:
        ValueError: If the shapes differ or `cutoff` is not positive.
    """
    if first.shape != second.shape:
        raise ValueError(
            f"first and second must have one shape, got {tuple(first.shape)} "
            f"and {tuple(second.shape)}"
        )
    if not cutoff > 0:
        raise ValueError(f"cutoff must be positive, got {cutoff!r}")
    height, width = first.shape[-2:]
    pairs = zip(
        first.reshape(-1, height, width).cpu().numpy(),
        second.reshape(-1, height, width).cpu().numpy(),
        strict=True,
    )
    found = [_distance(_centers(one), _centers(other), cutoff) for one, other in pairs]
    return from_numpy(np.array(found, np.float64)).reshape(first.shape[:-2])


def _centers(white: Bool[np.ndarray, "height width"]) -> Float64[np.ndarray, "item 2"]:
    """Find the centers of the blobs of a frame, row and column."""
    from scipy import ndimage  # noqa: PLC0415 — with optimize a quarter of a second to import

    labels, count = ndimage.label(white)
    rows, columns = np.nonzero(white)
    numbers = labels[rows, columns] - 1
    sizes = np.bincount(numbers, minlength=count)
    middles = [np.bincount(numbers, axis, count) / sizes for axis in (rows, columns)]
    return np.stack(middles, axis=1)


def _distance(
    one: Float64[np.ndarray, "item 2"], other: Float64[np.ndarray, "slot 2"], cutoff: float
) -> float:
    """Average the distance of two sets of points, optimally matched."""
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415
    from scipy.spatial.distance import cdist  # noqa: PLC0415

    most = max(len(one), len(other))
    if most == 0:
        return 0.0
    costs = np.minimum(cdist(one, other), cutoff)
    matched = costs[linear_sum_assignment(costs)].sum()
    return float(matched + cutoff * abs(len(one) - len(other))) / most
