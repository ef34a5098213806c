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
_CELL = 3
"""Side of a cell, in pixels."""
_TINY = 1e-8
"""Contrast of an image without edges, so that the roots have gradients."""


@final
class LikenessNet(SequenceReader):
    r"""Answer from how alike the figures of a problem are, and from nothing else.

    $$y = W \, \mathrm{ReLU}(V \, \mathrm{flatten}(R) + b) + c, \qquad
      R_{ij} = \frac{e^{a_{ij}}}{\sum_k e^{a_{ik}}}, \qquad
      a_{ij} = \frac{\ell_{ij} - \theta}{\tau}, \quad a_{ii} = 0, \qquad
      \ell_{ij} = \max_\alpha \sum_c \sqrt{h_c(z_i) \, h_c(T_\alpha z_j)}$$

    with the greater of $\ell_{ij}$ and $\ell_{ji}$. $h$ is a histogram, of sum 1, of the contrast
    along edges of four directions in cells of 3×3 pixels, and $T_\alpha$ the turn of an embedding,
    a square image, by the angle $\alpha$, in steps of 7.5°. $R_{ij}$ says which of the others
    figure i is, $R_{ii}$ that it is none of them. `CoRelNet` compares embeddings by their inner
    products, in which a likeness of 0.95 and one of 0.8 hardly differ. The likeness is set by
    hand; the answer from it is learned.

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
        Kerg et al. 2022 (kerg2022), section 3, for the layers above the matrix; Dalal and Triggs
        2005 for histograms of edges. Made for the regimes of webb2021's tasks in which no image
        is shown twice.
    """

    grids: Tensor

    @check_arguments
    def __init__(
        self,
        in_features: Size,
        num_outputs: Size,
        length: Size,
        *,
        hidden_size: Size = 256,
        turn: NonNegativeFloat = 30.0,
        threshold: float = 0.82,
        width: PositiveFloat = 0.025,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(in_features, length)
        side = math.isqrt(in_features)
        if side**2 != in_features or side < _CELL:
            raise ValueError(
                "in_features must be the pixels of a square image of 3×3 or more, got "
                f"{in_features}: PoseEncoder makes such embeddings"
            )
        self.side, self.threshold, self.width = side, threshold, width
        self.register_buffer("grids", _turned_grids(side, turn), persistent=False)
        self.hidden = relu_layer(length**2, hidden_size, generator)
        self.output = linear_layer(hidden_size, num_outputs, generator)

    def _read(self, z: Tensor) -> Tensor:
        alike = (self.likeness(z) - self.threshold) / self.width
        alone = torch.eye(z.shape[1], dtype=torch.bool, device=z.device)
        relations = torch.softmax(alike.masked_fill(alone, 0.0), -1)
        return torch.relu(self.hidden(relations.flatten(1)))

    def likeness(self, z: Float[Tensor, "batch time feature"]) -> Float[Tensor, "batch time time"]:
        """Compare all figures of each problem, each pair in its best turn; equal figures give 1."""
        images = F.normalize(z, dim=-1).reshape(-1, 1, self.side, self.side)
        features = 4 * (self.side // _CELL) ** 2
        upright = _edges(images).reshape(*z.shape[:2], features)
        best = upright @ upright.mT
        for grid in self.grids.to(z.dtype):
            points = grid.expand(len(images), -1, -1, -1)
            turned = _edges(F.grid_sample(images, points, align_corners=False))
            best = torch.maximum(best, upright @ turned.reshape_as(upright).mT)
        return torch.maximum(best, best.mT)

    def extra_repr(self) -> str:
        """Format the options for `print`."""
        return f"length={self.length}, threshold={self.threshold}"


def _turned_grids(side: int, turn: float) -> Float[Tensor, "_ side side 2"]:
    """Return the points of a square image in each turn, for `grid_sample`."""
    steps = round(turn / _STEP)
    angles = torch.linspace(-turn, turn, 2 * steps + 1).deg2rad()
    angles = torch.cat((angles[:steps], angles[steps + 1 :]))
    points = (torch.arange(side) + 0.5) / side * 2 - 1
    y, x = torch.meshgrid(points, points, indexing="ij")
    cos, sin = angles.cos()[:, None, None], angles.sin()[:, None, None]
    return torch.stack((cos * x - sin * y, sin * x + cos * y), dim=-1)


def _edges(images: Float[Tensor, "item 1 height width"]) -> Float[Tensor, "item feature"]:
    """Return the roots of the histograms of edges, whose inner products are likenesses."""
    framed = F.pad(images.squeeze(1), (1, 1, 1, 1))
    rows = framed[:, :-2] + 2 * framed[:, 1:-1] + framed[:, 2:]
    columns = framed[:, :, :-2] + 2 * framed[:, :, 1:-1] + framed[:, :, 2:]
    x, y = (rows[:, :, 2:] - rows[:, :, :-2]) / 8, (columns[:, 2:] - columns[:, :-2]) / 8
    contrast = (x.square() + y.square() + _TINY**2).sqrt()
    # Cosine and sine of twice the angle, so that both sides of a stroke have one direction.
    straight, slanted = (x.square() - y.square()) / contrast, 2 * x * y / contrast
    directions = torch.stack((straight, -straight, slanted, -slanted), dim=1).clamp(min=0)
    cells = F.avg_pool2d(directions, _CELL).flatten(1)
    return F.normalize((cells + _TINY).sqrt(), dim=1)
