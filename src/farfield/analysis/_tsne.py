"""Embedding of points in a plane by t-SNE."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

FEWEST = 8
"""Least number of points of a map."""


def tsne(points: Float[Tensor, "item feature"], *, seed: int = 0) -> Float[Tensor, "item 2"]:
    """Coordinates in the plane by scikit-learn's t-SNE.

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
