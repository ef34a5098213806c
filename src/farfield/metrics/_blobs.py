"""Distance between the white blobs of two frames."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float64
from torch import Tensor, from_numpy


def blob_distance(
    first: Bool[Tensor, "*batch height width"],
    second: Bool[Tensor, "*batch height width"],
    *,
    cutoff: float,
) -> Float64[Tensor, "*batch"]:
    r"""Mean distance of the blobs of two frames, matched as well as can be.

    A blob is a region of white pixels that touch along an edge; it stands where its center is. With
    $m$ blobs in the frame that has fewer, $n$ in the other and $d_c = \min(d, c)$,

    $$\frac{1}{n} \Bigl(\min_\pi \sum_{i=1}^{m} d_c(x_i, y_{\pi(i)}) + c (n - m)\Bigr)$$

    over all ways to give each of the $m$ one of the others. It is 0 for equal frames and $c$
    where only one has blobs, and a metric between sets of places (the OSPA metric of order 1).

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
    """Centers of the blobs of a frame, row and column."""
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
    """Mean distance of two sets of points, optimally matched."""
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415
    from scipy.spatial.distance import cdist  # noqa: PLC0415

    most = max(len(one), len(other))
    if most == 0:
        return 0.0
    costs = np.minimum(cdist(one, other), cutoff)
    matched = costs[linear_sum_assignment(costs)].sum()
    return float(matched + cutoff * abs(len(one) - len(other))) / most
