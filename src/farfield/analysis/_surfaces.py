"""Class probabilities over a plane of items or representations, and confidence between classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from farfield.analysis._representations import probabilities_of, representations_of
from farfield.core import Problems
from farfield.functional.internal import as_fractions


class Surface(NamedTuple):
    """Probabilities of classes on a grid of the plane.

    Attributes:
        x: Values of the first number, ascending.
        y: Values of the second number, ascending.
        probabilities: Probabilities at each.
    """

    x: Float[Tensor, " width"]
    y: Float[Tensor, " height"]
    probabilities: Float[Tensor, "height width class"]

    @property
    def confidence(self) -> float:
        """Mean over the grid of the largest probability."""
        return float(self.probabilities.double().amax(-1).mean())


def plane_points(problems: Problems) -> Float[Tensor, "batch 2"]:
    """Return the items of problems of one item of two numbers.

    Raises:
        ValueError: If they have more than one item, or items of another shape.
    """
    items = problems.sequences()
    if items.shape[1:] != (1, 2):
        raise ValueError(
            "problems must have one item of two numbers, got "
            f"{items.shape[1]} of shape {(*items.shape[2:],)}"
        )
    return items.squeeze(1)


def plane_axes(
    points: Float[Tensor, "batch 2"], size: int, *, margin: float = 0.1
) -> tuple[Float[Tensor, " width"], Float[Tensor, " height"]]:
    """Space values of both numbers evenly over the range of points, and a margin around it.

    Args:
        points: Points of the plane.
        size: Number of values of each.
        margin: On each side, as a fraction of the range.

    Raises:
        ValueError: If there are no points, or fewer than two values.
    """
    if not len(points) or size < 2:
        raise ValueError(
            "points must be at least one and size at least 2, "
            f"got {len(points)} points and size {size}"
        )
    low, high = points.aminmax(dim=0)
    low, high = low - margin * (high - low), high + margin * (high - low)
    steps = torch.linspace(0, 1, size).to(points).unsqueeze(1)
    x, y = (low + (high - low) * steps).unbind(1)
    return x, y


def plane_problems(x: Float[Tensor, " width"], y: Float[Tensor, " height"]) -> Problems:
    """Build problems of one item each, the points of a grid: row by row, from the least `x` on.

    Args:
        x: Values of the first number.
        y: Values of the second number.
    """
    points = torch.cartesian_prod(y, x).flip(1)
    index = torch.arange(len(points), device=points.device).unsqueeze(1)
    return Problems(items=points, index=index, target=torch.zeros_like(index[:, 0]))


def surface_of(
    network: nn.Module,
    x: Float[Tensor, " width"],
    y: Float[Tensor, " height"],
    layer: str | None = None,
) -> Surface:
    """Compute class probabilities of a network over the plane of its items, or of a layer.

    Args:
        network: A trained network, in evaluation mode, for problems of one item of two numbers.
        x: Values of the first number.
        y: Values of the second number.
        layer: Name of a layer with two outputs, which take the values; `None` for the item.

    Raises:
        ValueError: If the network has no such layer, or the layer does not have two outputs.

    Reference:
        lamb2022, Figures 1 and 2 of chapter 4, Figure 1 of chapter 6.
    """
    plane = plane_problems(x, y)
    replaced = None if layer is None else {layer: plane.table()}
    probabilities = probabilities_of(network, plane, replaced)
    return Surface(x=x, y=y, probabilities=probabilities.reshape(len(y), len(x), -1))


def confidence_between(
    network: nn.Module, problems: Problems, weights: Sequence[float], layer: str | None = None
) -> list[float]:
    """Average the largest probability on segments between examples of different classes.

    Args:
        network: A trained network, in evaluation mode.
        problems: A few examples; all pairs of different classes are mixed.
        weights: Points of a segment, by the weight of the example of the lower class.
        layer: Name of the layer whose outputs are mixed; `None` for the items.

    Returns:
        For each weight the mean over all pairs.

    Raises:
        ValueError: If all examples are of one class, or the network has no such layer.
    """
    first, second = (problems.target[:, None] < problems.target).nonzero(as_tuple=True)
    if not len(first):
        raise ValueError("problems must be of at least two classes, got one")
    points = as_fractions(problems.sequences())
    if layer is not None:
        points = representations_of(network, problems, layer)
    found = []
    for weight in weights:
        mixture = weight * points[first] + (1 - weight) * points[second]
        probabilities = _answers(network, problems[first], mixture, layer)
        found.append(float(probabilities.double().amax(-1).mean()))
    return found


def _answers(network: nn.Module, problems: Problems, mixture: Tensor, layer: str | None) -> Tensor:
    """Compute probabilities of a network whose items, or outputs of a layer, are mixtures."""
    if layer is not None:
        return probabilities_of(network, problems, {layer: mixture})
    return probabilities_of(network, problems.with_items(mixture.flatten(0, 1)))
