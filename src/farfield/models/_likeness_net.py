"""A reasoner over how alike figures are, each in its best turn."""

from __future__ import annotations

import math
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from farfield.core.internal import NonNegativeFloat, PositiveFloat, Size, check_arguments
from farfield.functional.internal import linear_layer, relu_layer
from farfield.models._sequence_reader import SequenceReader

_STEP = 7.5
"""Degrees between two turns."""
_SHARPNESS = 8.0


@final
class LikenessNet(SequenceReader):
    r"""Answer from how alike the figures of a problem are, and from nothing else.

    $$y = W \, \mathrm{ReLU}(V \, \mathrm{flatten}(R) + b) + c, \qquad
      R_{ij} = \frac{e^{\kappa a_{ij}}}{\sum_k e^{\kappa a_{ik}}}, \qquad
      a_{ij} = \sigma\left(\frac{\ell_{ij} - \theta}{\tau}\right), \qquad
      \ell_{ij} = \max_\alpha \frac{z_i \cdot T_\alpha z_j}{|z_i| \, |T_\alpha z_j|}$$

    with the greater of $\ell_{ij}$ and $\ell_{ji}$, $\kappa = 8$, and $T_\alpha$ the turn of an
    embedding, a square image, by the angle $\alpha$, in steps of 7.5°. `CoRelNet` compares
    embeddings by their inner products, in which a likeness of 0.95 and one of 0.8 hardly differ;
    here a threshold parts them. The likeness is set by hand; the answer from it is learned.

    Args:
        length: Number of positions of a sequence; the matrix has its square.
        hidden_size: Units of the hidden layer.
        turn: Greatest angle $\alpha$ in degrees, to either side.
        threshold: $\theta$, the likeness between different and the same.
        width: $\tau$, the width of the threshold.

    Shape:
        `(batch, length, in_features)`, square images such as those of `PoseEncoder`, to
        `(batch, num_outputs)`.

    Attributes:
        hidden: The hidden layer, of ReLU units.
        output: The linear output layer.

    Raises:
        ValueError: If a size is below 1, `in_features` no square, or a sequence has another
            length.

    Reference:
        Kerg et al. 2022 (kerg2022), section 3, for the layers above the matrix. Made for the
        regimes of webb2021's tasks in which no image is shown twice.
    """

    grid: Tensor

    @check_arguments
    def __init__(
        self,
        in_features: Size,
        num_outputs: Size,
        length: Size,
        *,
        hidden_size: Size = 256,
        turn: NonNegativeFloat = 30.0,
        threshold: float = 0.9,
        width: PositiveFloat = 0.0125,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(in_features, length)
        side = math.isqrt(in_features)
        if side**2 != in_features:
            raise ValueError(
                f"in_features must be the pixels of a square image, got {in_features}: "
                "PoseEncoder makes such embeddings"
            )
        self.side, self.threshold, self.width = side, threshold, width
        self.register_buffer("grid", _turned_grids(side, turn), persistent=False)
        self.hidden = relu_layer(length**2, hidden_size, generator)
        self.output = linear_layer(hidden_size, num_outputs, generator)

    def _read(self, z: Tensor) -> Tensor:
        alike = torch.sigmoid((self.likeness(z) - self.threshold) / self.width)
        relations = torch.softmax(_SHARPNESS * alike, -1)
        return torch.relu(self.hidden(relations.flatten(1)))

    def likeness(self, z: Float[Tensor, "batch time feature"]) -> Float[Tensor, "batch time time"]:
        """Compare all figures of each problem, each pair in its best turn; equal figures give 1."""
        batch, time, _ = z.shape
        images = z.reshape(-1, 1, self.side, self.side)
        grid = self.grid.to(z.dtype).expand(len(images), -1, -1, -1)
        turned = F.grid_sample(images, grid, align_corners=False)
        turned = F.normalize(turned.reshape(batch, -1, self.in_features), dim=-1)
        found = F.normalize(z, dim=-1) @ turned.mT
        best = found.reshape(batch, time, time, -1).amax(-1)
        return torch.maximum(best, best.mT)

    def extra_repr(self) -> str:
        """Format the options for `print`."""
        return f"length={self.length}, threshold={self.threshold}"


def _turned_grids(side: int, turn: float) -> Float[Tensor, "1 _ side 2"]:
    """Return the points of a square image in each turn, one below the other, for `grid_sample`."""
    steps = round(turn / _STEP)
    angles = torch.linspace(-turn, turn, 2 * steps + 1).deg2rad() if steps else torch.zeros(1)
    points = (torch.arange(side) + 0.5) / side * 2 - 1
    y, x = torch.meshgrid(points, points, indexing="ij")
    cos, sin = angles.cos()[:, None, None], angles.sin()[:, None, None]
    return torch.stack((cos * x - sin * y, sin * x + cos * y), dim=-1).flatten(0, 1).unsqueeze(0)
