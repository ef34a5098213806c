"""Projections of representations: principal components and t-SNE."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor


class PrincipalComponents(NamedTuple):
    """The directions in which points vary most.

    Attributes:
        center: Mean of the points.
        axes: Directions of length 1, the one with the largest variance first; the entry of each
            that is largest in size is positive.
        shares: Share of the variance of the points along each direction.
    """

    center: Float[Tensor, " feature"]
    axes: Float[Tensor, "component feature"]
    shares: Float[Tensor, " component"]

    def project(self, points: Float[Tensor, "*batch feature"]) -> Float[Tensor, "*batch component"]:
        """Project points to their coordinates along the directions, from the center.

        Args:
            points: Any points of the same space.
        """
        return (points.double() - self.center) @ self.axes.T


def principal_components(
    points: Float[Tensor, "batch feature"], num_components: int = 2
) -> PrincipalComponents:
    """Center, directions and shares of variance, in float64.

    Args:
        points: The points.
        num_components: Directions wanted.

    Raises:
        ValueError: If there are fewer directions than asked for, or the points do not vary.
    """
    most = min(points.shape[1], len(points) - 1)
    if not 1 <= num_components <= most:
        raise ValueError(
            f"num_components must be 1…{most} for points of shape {tuple(points.shape)}, "
            f"got {num_components}"
        )
    center = points.double().mean(0)
    _, lengths, axes = torch.linalg.svd(points.double() - center, full_matrices=False)
    total = lengths.square().sum()
    if not total > 0:
        raise ValueError("points must vary, got the same point throughout")
    axes = axes[:num_components]
    largest = axes.gather(1, axes.abs().argmax(1, keepdim=True))
    return PrincipalComponents(
        center=center,
        axes=axes * largest.sign(),
        shares=lengths[:num_components].square() / total,
    )


FEWEST = 8
"""Least number of points of a map."""


def tsne(points: Float[Tensor, "item feature"], *, seed: int = 0) -> Float[Tensor, "item 2"]:
    """Project points to the plane by scikit-learn's t-SNE.

    It starts from the first two principal components. Distances between far points mean nothing,
    and neither do the axes.

    Args:
        points: The points.
        seed: Number from which scikit-learn draws.

    Raises:
        ValueError: If there are fewer than 8 points.
        ModuleNotFoundError: If scikit-learn is missing; the message says how to install it.

    Reference:
        van der Maaten and Hinton 2008; gondal2021, Figure 4.
    """
    if len(points) < FEWEST:
        raise ValueError(f"points must be at least {FEWEST}, got {len(points)}")
    try:
        from sklearn.manifold import TSNE  # noqa: PLC0415 - an extra, and a second to import
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "a map of types needs scikit-learn: pip install 'farfield[stats]'"
        ) from error
    perplexity = min(30.0, (len(points) - 1) / 4)
    made = TSNE(n_components=2, init="pca", perplexity=perplexity, random_state=seed, n_jobs=1)
    return torch.from_numpy(made.fit_transform(points.double().cpu().numpy()))
