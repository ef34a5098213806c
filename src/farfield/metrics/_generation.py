"""Scores of sets of generated images, from what a network makes of them."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor

from farfield.core import PositiveInt, check_arguments


def frechet_distance(
    first: Float[Tensor, "batch feature"], second: Float[Tensor, "item feature"]
) -> float:
    r"""Squared Fréchet distance of the normal distributions with the moments of two sets.

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
    r"""Inception score: how sure a classifier is of each image, and how many classes there are.

    $$\frac{1}{S} \sum_s \exp\left(\frac{1}{n_s} \sum_{i \in s}
      \mathrm{KL}\left(p(y \mid x_i) \,\|\, \bar p_s(y)\right)\right)$$

    with $\bar p_s$ the mean of $p$ over part $s$ of the images. It is 1 where all images look
    alike, and the number of classes where each is surely of one and all are equally frequent.

    Args:
        logits: Of a classifier, for each image; −∞ for a class of probability 0.
        splits: Number $S$ of parts, of consecutive images, as large as each other but for one.

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
    """The score of one part."""
    sure = logits.log_softmax(1)
    mean = sure.logsumexp(0) - math.log(len(sure))
    terms = (sure.exp() * (sure - mean)).where(~sure.isneginf(), 0.0)
    return terms.sum(1).mean().clamp(min=0).exp()
