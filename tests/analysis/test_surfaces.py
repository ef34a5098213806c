"""Answers over the plane of items or of a layer, and confidence between classes."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from farfield.analysis import representations_of
from farfield.analysis.internal import (
    confidence_between,
    plane_axes,
    plane_points,
    plane_problems,
    surface_of,
)
from farfield.core import Problems

POINTS = torch.tensor([[0.0, 4.0], [2.0, 5.0], [1.0, 6.0]], dtype=torch.float64)


class Bottleneck(nn.Module):
    """Three classes of one item of two numbers, through a layer of two."""

    def __init__(self) -> None:
        super().__init__()
        source = torch.Generator().manual_seed(0)
        self.below = nn.Linear(2, 5, dtype=torch.float64)
        self.bottleneck = nn.Linear(5, 2, dtype=torch.float64)
        self.above = nn.Linear(2, 3, dtype=torch.float64)
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.normal_(generator=source)

    def forward(self, items: Tensor, index: Tensor) -> Tensor:
        return self.above(self.bottleneck(self.below(items[index[:, 0]]).tanh()))


def softmax(logits: np.ndarray) -> np.ndarray:
    shares = np.exp(logits)
    return shares / shares.sum()


def answer(network: Bottleneck, x: float, y: float, *, inside: bool) -> np.ndarray:
    """Probabilities at one point, of the items or of the bottleneck, in NumPy."""
    weights = {name: value.detach().numpy() for name, value in network.named_parameters()}
    point = np.array([x, y])
    if not inside:
        hidden = np.tanh(weights["below.weight"] @ point + weights["below.bias"])
        point = weights["bottleneck.weight"] @ hidden + weights["bottleneck.bias"]
    return softmax(weights["above.weight"] @ point + weights["above.bias"])


@pytest.mark.parametrize("layer", [None, "bottleneck"])
def test_a_surface_holds_the_answer_at_every_point(layer: str | None) -> None:
    network = Bottleneck()
    x, y = plane_axes(POINTS, 3)[0], plane_axes(POINTS, 4)[1]
    surface = surface_of(network, x, y, layer)
    assert surface.probabilities.shape == (4, 3, 3)
    largest = []
    for row, height in enumerate(y.tolist()):
        for column, width in enumerate(x.tolist()):
            expected = answer(network, width, height, inside=layer is not None)
            np.testing.assert_allclose(surface.probabilities[row, column], expected, rtol=1e-12)
            largest.append(expected.max())
    assert surface.confidence == pytest.approx(np.mean(largest))


def test_axes_cover_the_points_and_a_margin() -> None:
    x, y = plane_axes(POINTS, 5, margin=0.25)
    assert x.tolist() == [-0.5, 0.25, 1.0, 1.75, 2.5]
    assert y.tolist() == [3.5, 4.25, 5.0, 5.75, 6.5]
    assert [axis[[0, -1]].tolist() for axis in plane_axes(POINTS, 2, margin=0)] == [[0, 2], [4, 6]]


def test_a_grid_is_read_row_by_row() -> None:
    grid = plane_problems(torch.tensor([1.0, 2.0, 3.0]), torch.tensor([7.0, 8.0]))
    expected = [[1, 7], [2, 7], [3, 7], [1, 8], [2, 8], [3, 8]]
    assert grid.sequences().squeeze(1).tolist() == expected
    hidden = representations_of(Bottleneck(), plane_problems(*plane_axes(POINTS, 6)), "bottleneck")
    assert hidden.shape == (36, 2)


@pytest.mark.parametrize("layer", [None, "bottleneck"])
def test_confidence_between_classes_is_the_mean_over_all_pairs(layer: str | None) -> None:
    network, target = Bottleneck(), torch.tensor([2, 0, 0, 1])
    items = torch.cat([POINTS, -POINTS[:1]])
    problems = Problems(items=items, index=torch.arange(4)[:, None], target=target)
    weights = (0.0, 0.3, 1.0)
    found = confidence_between(network, problems, weights, layer)
    points = items if layer is None else representations_of(network, problems, layer)
    pairs = [(i, j) for i in range(4) for j in range(4) if target[i] < target[j]]
    for weight, mean in zip(weights, found, strict=True):
        largest = []
        for low, high in pairs:
            x, y = (weight * points[low] + (1 - weight) * points[high]).tolist()
            largest.append(answer(network, x, y, inside=layer is not None).max())
        assert mean == pytest.approx(np.mean(largest), rel=1e-12)
    assert len(pairs) == 5


def test_a_sharp_boundary_is_sure_of_all_but_itself() -> None:
    """Two classes by the sign of the first number: halfway between is a half, elsewhere 1."""

    class Sign(nn.Module):
        def forward(self, items: Tensor, index: Tensor) -> Tensor:
            return 1e6 * items[index[:, 0], :1]

    items = torch.tensor([[-1.0, 0.0], [1.0, 0.0]], dtype=torch.float64)
    problems = Problems(items=items, index=torch.tensor([[0], [1]]), target=torch.tensor([0, 1]))
    assert confidence_between(Sign(), problems, (0.1, 0.5, 0.9)) == [1.0, 0.5, 1.0]
    x, y = plane_axes(items + torch.tensor([[0.0, 0.0], [0.0, 1.0]]), 4)
    assert math.isclose(surface_of(Sign(), x, y).confidence, 1.0)


def test_one_class_and_empty_planes_are_refused() -> None:
    problems = Problems(
        items=POINTS, index=torch.arange(3)[:, None], target=torch.zeros(3, dtype=torch.int64)
    )
    with pytest.raises(ValueError, match="problems must be of at least two classes, got one"):
        confidence_between(Bottleneck(), problems, (0.5,))
    for points, size in ((POINTS, 1), (POINTS[:0], 5)):
        with pytest.raises(ValueError, match=f"got {len(points)} points and size {size}"):
            plane_axes(points, size)


def test_items_that_are_no_points_of_a_plane_are_refused() -> None:
    problems = Problems(
        items=torch.zeros(4, 3), index=torch.arange(4)[:, None], target=torch.zeros(4)
    )
    with pytest.raises(ValueError, match=r"one item of two numbers, got 1 of shape \(3,\)"):
        plane_points(problems)
    pairs = dataclasses.replace(problems, index=torch.zeros(4, 2, dtype=torch.int64))
    with pytest.raises(ValueError, match=r"one item of two numbers, got 2 of shape \(3,\)"):
        plane_points(pairs)
