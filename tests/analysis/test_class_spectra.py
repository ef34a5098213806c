"""Singular values of each class, and the theorem that mixing makes classes flat."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from farfield.analysis.internal import class_spectra
from oracles.representations import singular_values

CLASSES, EACH = 3, 6


@pytest.mark.parametrize("centered", [False, True])
def test_values_are_those_of_the_matrix_of_each_class(centered: bool) -> None:
    source = torch.Generator().manual_seed(0)
    points = torch.randn(30, 4, dtype=torch.float64, generator=source)
    classes = torch.tensor([1, 5, 5, 7, 5] * 6)
    classes[-2] = 9  # a class of one example
    found = class_spectra(points, classes, centered=centered)
    assert found.classes.tolist() == [1, 5, 7, 9]
    for number, one in enumerate((1, 5, 7, 9)):
        rows = points[classes == one].numpy()
        rows = rows - rows.mean(0) if centered else rows
        expected = singular_values(rows)
        # The oracle squares, so that a value of 0 is known to the root of the rounding.
        np.testing.assert_allclose(found.values[number], expected, atol=1e-7)
        assert float(found.largest[number]) == pytest.approx(expected[0], abs=1e-7)
        assert float(found.others[number]) == pytest.approx(sum(expected[1:]), abs=1e-7)


def test_a_mean_counts_unless_it_is_subtracted() -> None:
    flat = torch.tensor([[3.0, 4.0], [3.0, 4.0], [3.0, 4.0], [3.0, 4.0]])
    classes = torch.zeros(4, dtype=torch.int64)
    torch.testing.assert_close(
        class_spectra(flat, classes).values, torch.tensor([[10.0, 0.0]]).double()
    )
    assert not class_spectra(flat, classes, centered=True).values.any()


@pytest.mark.parametrize("examples, classes", [(0, 0), (3, 2)])
def test_examples_without_a_class_are_refused(examples: int, classes: int, unchecked) -> None:
    with pytest.raises(
        ValueError, match=f"classes must be one for each .*{classes} for {examples}"
    ):
        class_spectra(torch.zeros(examples, 2), torch.zeros(classes).long())


# --- lamb2022, section 4.3.1 ---------------------------------------------------------------------


class Mixing:
    """Free representations and a head on top, brought to the least loss of all mixtures of pairs.

    The loss is the squared distance of the answer from the mixed one-hot target.
    """

    def __init__(self, dimensions: int, *, hidden: int = 0, weights: tuple[float, ...]) -> None:
        source = torch.Generator().manual_seed(0)

        def drawn(*shape: int, scale: float = 1.0) -> Tensor:
            numbers = torch.randn(shape, dtype=torch.float64, generator=source)
            return (scale * numbers).requires_grad_()

        self.classes = torch.arange(CLASSES * EACH) % CLASSES
        self.points = drawn(CLASSES * EACH, dimensions)
        self.linear, self.bias = drawn(dimensions, CLASSES, scale=0.5), drawn(CLASSES, scale=0.0)
        self.inner, self.shift = drawn(dimensions, hidden), drawn(hidden)
        self.outer = drawn(hidden, CLASSES, scale=0.5)
        self.parameters = [self.points, self.linear, self.bias]
        self.parameters += [self.inner, self.shift, self.outer] if hidden else []
        self.first, self.second = torch.triu_indices(CLASSES * EACH, CLASSES * EACH, 1)
        self.weights = torch.tensor(weights, dtype=torch.float64)[:, None, None]

    def mixed(self, rows: Tensor) -> Tensor:
        return self.weights * rows[self.first] + (1 - self.weights) * rows[self.second]

    @property
    def targets(self) -> Tensor:
        return self.mixed(torch.eye(CLASSES, dtype=torch.float64)[self.classes])

    def loss(self) -> Tensor:
        points = self.mixed(self.points)
        answers = points @ self.linear + self.bias
        answers = answers + torch.tanh(points @ self.inner + self.shift) @ self.outer
        return (answers - self.targets).square().sum(-1).mean()

    def minimize(self, steps: int) -> float:
        optimizer = torch.optim.LBFGS(
            self.parameters, max_iter=steps, max_eval=2 * steps, history_size=30,
            tolerance_grad=1e-12, tolerance_change=1e-18, line_search_fn="strong_wolfe",
        )  # fmt: skip

        def closure() -> Tensor:
            optimizer.zero_grad()
            loss = self.loss()
            loss.backward()
            return loss

        optimizer.step(closure)
        return float(self.loss().detach())

    def values(self) -> Tensor:
        return class_spectra(self.points.detach(), self.classes, centered=True).values


MIXED = (0.0, 0.25, 0.5, 0.75, 1.0)


@pytest.mark.parametrize("dimensions", [CLASSES - 1, CLASSES, CLASSES + 1])
def test_mixing_reaches_no_loss_and_classes_of_fewer_dimensions(dimensions: int) -> None:
    """With dim H ≥ d − 1, the loss is 0 and a class varies in dim H − d + 1 dimensions."""
    mixing = Mixing(dimensions, weights=MIXED)
    assert mixing.minimize(1500) < 1e-8
    free = dimensions - CLASSES + 1
    assert float(mixing.values()[:, free:].max()) < 1e-3
    assert (mixing.values().mean(0)[:free] > 0.1).all()


def test_fewer_dimensions_than_that_leave_a_loss() -> None:
    """Targets vary alike in d − 1 dimensions, of which one less can be met."""
    mixing = Mixing(CLASSES - 2, weights=MIXED)
    spread = (mixing.targets - 1 / CLASSES).square().sum(-1).mean()
    assert mixing.minimize(1500) == pytest.approx(float(spread) / (CLASSES - 1))


def test_it_is_mixing_that_makes_classes_flat() -> None:
    """A head that need not be linear fits any points, but mixtures only of flat classes."""
    dimensions = CLASSES + 1
    plain, mixing = (
        Mixing(dimensions, hidden=8, weights=weights) for weights in ((1.0, 0.0), MIXED)
    )
    assert plain.minimize(1000) < 1e-8
    assert (plain.values().mean(0)[:dimensions] > 0.1).all()
    assert mixing.minimize(2000) < 1e-5
    assert float(mixing.values()[:, 2:].max()) < 0.01
