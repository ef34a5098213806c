"""The rows of pictures that are read as sequences: their length, and where they begin."""

from __future__ import annotations

from statistics import NormalDist
from typing import Final, NamedTuple

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor
from torch.nn import functional as F

from farfield.functional._recurrent._periods import FEWEST

FAINT: Final = 0.15
"""Contrast below this part of the largest contrast of a sequence counts as background."""
CHANCE: Final = 1e-3
"""Probability that a sequence of independent steps has a significant row length."""

ROUNDING: Final = 1e-5
"""Least difference between scores that is no rounding error."""


class Rows(NamedTuple):
    """Frames of the figures that sequences show, row by row.

    Args:
        length: Number of steps of a row.
        first: Step at which a row begins, less than `length`.
        row: Center of the figure, in rows from the row that ends before `first`.
        column: Center of the figure, in steps from the beginning of a row.
        significant: True where a sequence of independent steps would hardly have such rows.
    """

    length: Int64[Tensor, " batch"]
    first: Int64[Tensor, " batch"]
    row: Float[Tensor, " batch"]
    column: Float[Tensor, " batch"]
    significant: Bool[Tensor, " batch"]


def find_rows(x: Float[Tensor, "batch time feature"]) -> Rows:
    r"""Find the rows of each sequence, whether or not they divide its steps.

    $$c_t = x_t - \operatorname{median}_s x_s, \qquad
      \rho(d) = \frac{\sum_t c_t \cdot c_{t + d}}{\sum_t |c_t|^2}, \qquad
      d = \arg\max_{4 \le d \le T / 4} \rho(d) + g(d)$$

    with contrasts below 0.15 of the largest set to 0, and $g(d)$ the largest fraction of adjacent
    columns without contrast, cyclically, in rows of $d$ steps. In rows of a wrong length a figure
    leans, and no column is empty. A row begins in the middle of the columns of least contrast:
    steps before, after or missing move the rows and change nothing else. The center is the center
    of mass of $|c|^2$.

    A length is significant if the correlation of the deviations from the mean, as in `periods`, is
    larger than independent steps give at any length with a probability of 0.001.

    Args:
        x: The sequences.

    Raises:
        ValueError: If a sequence has fewer than 16 steps.

    Reference:
        Farfield's own, for pictures read in rows as in lamb2022, section 8.4.1.
    """
    steps = x.shape[1]
    if steps < FEWEST**2:
        raise ValueError(f"x must have {FEWEST**2} steps or more, got {steps}")
    x = x.to(torch.promote_types(x.dtype, torch.float32)).detach()
    contrast = x - x.median(1, keepdim=True).values
    size = contrast.square().sum(2)
    contrast = contrast * (size > FAINT**2 * size.amax(1, keepdim=True)).unsqueeze(2)
    mass = contrast.square().sum(2)
    shared = _correlations(contrast)
    best = torch.full_like(shared[:, 0], -1.0)
    length = torch.full((len(x),), FEWEST, device=x.device)
    for lag in range(FEWEST, steps // FEWEST + 1):
        score = shared[:, lag] / shared[:, 0] + _gap(mass, lag)
        length = torch.where(score > best + ROUNDING, lag, length)  # never where nothing happens
        best = best.maximum(score.nan_to_num(-1.0))
    return Rows(length, *_frame(mass, length), _is_significant(x, length))


def _correlations(c: Float[Tensor, "batch time feature"]) -> Float[Tensor, "batch lag"]:
    """Correlate sequences with themselves at all lags, in a tenth of the time of their sums."""
    steps = 2 * c.shape[1]
    if not len(c):
        return c.new_zeros(0, steps)  # which a Fourier transform refuses
    spectrum = torch.fft.rfft(c, steps, dim=1).abs().square().sum(2)
    return torch.fft.irfft(spectrum, steps, dim=1)


def _gap(mass: Float[Tensor, "batch time"], length: int) -> Float[Tensor, " batch"]:
    """Measure the largest fraction of adjacent columns without contrast."""
    height = -(-mass.shape[1] // length)
    whole = F.pad(mass, (0, height * length - mass.shape[1]))
    columns = whole.view(len(mass), height, length).amax(1) > 0
    place = torch.arange(2 * length, device=mass.device)
    last = torch.where(columns.repeat(1, 2), place, -1).cummax(1).values
    return (place - last).amax(1).clamp(max=length) / length


def _frame(
    mass: Float[Tensor, "batch time"], length: Int64[Tensor, " batch"]
) -> tuple[Int64[Tensor, " batch"], Float[Tensor, " batch"], Float[Tensor, " batch"]]:
    """Find the first step of a row, and the row and column of the center of mass."""
    time = torch.arange(mass.shape[1], device=mass.device)
    longest = int(length.max()) if len(length) else 1
    phase, own = torch.arange(longest, device=mass.device), length.unsqueeze(1)
    profile = mass.new_zeros(len(mass), longest).scatter_add(1, time % own, mass)
    # Contrast around each column, weighted by a triangle of a quarter of a row on either side.
    apart = (phase[:, None] - phase).abs()
    apart = apart.minimum((own[..., None] - apart).abs())
    near = F.relu(1 - apart / (own[..., None] / 4 + 1))
    around = (near * profile.unsqueeze(1)).sum(2)
    first = around.masked_fill(phase >= own, torch.inf).argmin(1)
    since = time - first.unsqueeze(1) + own
    total = mass.sum(1).clamp(min=torch.finfo(mass.dtype).tiny)
    row = (mass * (since // own)).sum(1) / total + 0.5
    column = (mass * (since % own)).sum(1) / total + 0.5
    return first, row, column


def _is_significant(
    x: Float[Tensor, "batch time feature"], length: Int64[Tensor, " batch"]
) -> Bool[Tensor, " batch"]:
    """Compare the correlation at each length with independent steps."""
    steps = x.shape[1]
    x = x - x[:, :1]  # a constant sequence becomes 0, and so does its mean, without rounding error
    centered = x - x.mean(1, keepdim=True)
    energy = centered.square().sum(2)
    time = torch.arange(steps, device=x.device)
    later = time + length.unsqueeze(1)
    moved = centered.gather(1, (later % steps).unsqueeze(2).expand_as(centered))
    shared = ((centered * moved).sum(2) * (later < steps)).sum(1) * (steps / (steps - length))
    lags = max(1, steps // FEWEST - FEWEST + 1)
    return shared > NormalDist().inv_cdf(1 - CHANCE / lags) * energy.square().sum(1).sqrt()


def row_positions(
    rows: Rows,
    down: Float[Tensor, "*#batch height width"],
    across: Float[Tensor, "*#batch height width"],
    steps: int,
) -> Int64[Tensor, "batch height width"]:
    """List the steps nearest to points of the frame of each figure.

    A point outside a sequence gets the nearest step of its column.

    Args:
        rows: The rows.
        down: Rows of the points from the center, as a fraction of all rows.
        across: Columns of the points from the center, as a fraction of a row.
        steps: Number of steps of a sequence.

    Reference:
        Made for the sequential digits of lamb2022, section 8.4.1.
    """
    length, first = rows.length[:, None, None], rows.first[:, None, None]
    row = torch.floor(rows.row[:, None, None] + down * (steps / length)).long()
    column = torch.floor(rows.column[:, None, None] + across * length).long()
    position = (row - 1) * length + column.clamp(min=0).minimum(length - 1) + first
    early = position % length
    late = steps - length + (position - steps) % length
    return torch.where(position < 0, early, torch.where(position < steps, position, late))


def row_points(rows: Rows, steps: int, side: int) -> Int64[Tensor, "batch time"]:
    """List the points of a square grid over the frame of each figure that are nearest to its steps.

    Args:
        rows: The rows.
        steps: Number of steps of a sequence.
        side: Rows and columns of the grid.

    Reference:
        Made for the sequential digits of lamb2022, section 8.4.1.
    """
    time = torch.arange(steps, device=rows.length.device)
    length = rows.length.unsqueeze(1)
    since = time - rows.first.unsqueeze(1) + length
    down = (since // length + 0.5 - rows.row.unsqueeze(1)) / (steps / length)
    across = (since % length + 0.5 - rows.column.unsqueeze(1)) / length
    row, column = (
        torch.floor((part + 0.5) * side).long().clamp(0, side - 1) for part in (down, across)
    )
    return row * side + column
