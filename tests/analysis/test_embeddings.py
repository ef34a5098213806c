"""What a scorer receives against what it shows: the first component, lines and means."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from farfield.analysis import embeddings_of
from farfield.analysis.internal import Embeddings, first_component, linear_fit, mean_line
from farfield.core import Problems
from farfield.core.internal import LazyItems
from farfield.models.internal import AnalogyScoring
from farfield.nn import ContextNorm
from made import drawn, unsettled
from oracles import keys as keys_oracle
from oracles import lines as oracle

LEVELS = torch.tensor([[0, 5], [1, 7], [2, 4], [3, 6], [4, 9]])
"""Items of two dimensions."""
INDEX = torch.tensor([[0, 1, 2, 3], [4, 3, 0, 1], [2, 2, 4, 0]])
"""Two premises and two candidates."""


def problems() -> Problems:
    items = LazyItems(latent=LEVELS, draw=lambda rows: rows.double().sin())
    return Problems(items=items, index=INDEX, target=torch.zeros(3, dtype=torch.int64))


def network(context: torch.nn.Module | None) -> AnalogyScoring:
    encoder = unsettled(torch.nn.Linear(2, 5).double())
    return AnalogyScoring(encoder, context, torch.nn.Identity(), num_candidates=2).eval()


def sequences(row: list[int]) -> list[list[int]]:
    return [[*row[:2], candidate] for candidate in row[2:]]


@pytest.mark.parametrize("normalized", [True, False])
def test_embeddings_and_levels_stand_in_contexts_of_one_kind(normalized: bool) -> None:
    own = unsettled(ContextNorm(5, eps=1e-8).double()) if normalized else None
    model, levels = network(own), ContextNorm(2, eps=1e-8).double() if normalized else None
    found = embeddings_of(model, problems(), levels)
    weight, bias = (p.detach().numpy() for p in (model.encoder.weight, model.encoder.bias))
    for place, row in enumerate(INDEX.tolist()):
        for candidate, terms in enumerate(sequences(row)):
            z = np.array([weight @ np.sin(LEVELS[term].numpy()) + bias for term in terms])
            v = LEVELS[terms].double().numpy()
            if normalized:
                z = oracle.normalized(z, own.weight.detach().numpy(), own.bias.detach().numpy())
                v = oracle.normalized(v, np.ones(2), np.zeros(2))
            np.testing.assert_allclose(found.points[place, candidate], z, rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(found.values[place, candidate], v, rtol=1e-9, atol=1e-12)
    assert not found.points.requires_grad


def some_embeddings() -> tuple[Embeddings, list[torch.Tensor]]:
    """Four problems of two candidates, a dimension each, along which most of the spread lies."""
    values = drawn(4, 2, 3, 2)
    axes = drawn(2, 5, seed=3) * torch.tensor([[3.0], [1.0]], dtype=torch.float64)
    points = values @ axes + 0.1 * drawn(4, 2, 3, 5, seed=4)
    shown = [torch.tensor([True, False, True, False]), torch.tensor([True] * 4)]
    return Embeddings(points=points, values=values), shown


def test_the_component_and_its_lines_are_those_of_their_definitions() -> None:
    embeddings, shown = some_embeddings()
    found = first_component(embeddings, shown)
    flat = embeddings.points.flatten(0, 2).numpy()
    ((axis, share),) = keys_oracle.power_iteration(flat, 1)
    assert found.share == pytest.approx(share, 1e-9)
    center = keys_oracle.mean(flat)
    for place, (along, chosen) in enumerate(zip(found.along, shown, strict=True)):
        rows = [row for row in range(4) if chosen[row]]
        points = [
            embeddings.points[r, c, t].numpy() for r in rows for c in (0, 1) for t in range(3)
        ]
        values = [
            float(embeddings.values[r, c, t, place]) for r in rows for c in (0, 1) for t in range(3)
        ]
        heights = [float(np.dot(axis, point - center)) for point in points]
        np.testing.assert_allclose(along.values, values, rtol=1e-12)
        np.testing.assert_allclose(along.heights, heights, atol=1e-6)
        assert tuple(along.fit) == pytest.approx(oracle.line(values, heights), abs=1e-6)
    assert found.along[0].fit.share > 0.7 > found.along[1].fit.share


@given(seed=st.integers(0, 99), slope=st.floats(-5, 5), rise=st.floats(-9, 9))
def test_a_line_is_that_of_least_squares(seed: int, slope: float, rise: float) -> None:
    values, noise = drawn(20, seed=seed), drawn(20, seed=seed + 1)
    heights = slope * values + rise + noise
    found = linear_fit(values, heights)
    expected = oracle.line(values.tolist(), heights.tolist())
    assert tuple(found) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    exact = linear_fit(values, slope * values + rise)
    assert exact.slope == pytest.approx(slope, abs=1e-9)
    assert exact.share == pytest.approx(1.0) or abs(slope) < 1e-6
    turned = linear_fit(-3 * values + 2, heights)
    assert turned.share == pytest.approx(found.share, rel=1e-9)


def test_the_mean_line_goes_through_the_means_of_the_levels() -> None:
    levels = torch.arange(60) % 7 + 14
    heights = drawn(60)
    found = mean_line(levels.double(), heights, 29)
    assert found[0].tolist() == pytest.approx(list(range(14, 21)))
    means = [heights[levels == level].mean() for level in range(14, 21)]
    assert found[1].tolist() == pytest.approx([float(mean) for mean in means])


def test_the_mean_line_is_that_of_its_bins() -> None:
    values, heights = drawn(50), drawn(50, seed=1)
    expected = oracle.bins(values.tolist(), heights.tolist(), 6)
    np.testing.assert_allclose(mean_line(values, heights, 6).T, expected, rtol=1e-9)
    assert mean_line(torch.ones(3), torch.tensor([1.0, 2.0, 6.0]), 4).tolist() == [[1.0], [3.0]]


def test_heights_that_do_not_vary_follow_nothing() -> None:
    assert tuple(linear_fit(drawn(5), torch.ones(5))) == (0.0, 1.0, 0.0)


def test_what_makes_no_line_is_refused(unchecked) -> None:
    with pytest.raises(ValueError, match=r"heights must be as many as values \(3\), got 2"):
        linear_fit(torch.arange(3.0), torch.ones(2))
    with pytest.raises(ValueError, match="values must vary"):
        linear_fit(torch.ones(3), torch.arange(3.0))
    with pytest.raises(ValueError, match="values and heights must be finite"):
        linear_fit(torch.arange(3.0), torch.tensor([0.0, torch.nan, 1.0]))
    with pytest.raises(ValueError, match="must be at least 1, got 0 and 3"):
        mean_line(torch.ones(3), torch.ones(3), 0)
    with pytest.raises(ValueError, match="must be at least 1, got 2 and 0"):
        mean_line(torch.ones(0), torch.ones(0), 2)


def test_other_networks_and_problems_are_refused() -> None:
    with pytest.raises(ValueError, match="network must be an AnalogyScoring, got Identity"):
        embeddings_of(torch.nn.Identity(), problems(), None)
    table = Problems(items=drawn(5, 2), index=INDEX, target=torch.zeros(3))
    with pytest.raises(ValueError, match="must have rendered items"):
        embeddings_of(network(None), table, None)
    embeddings, shown = some_embeddings()
    with pytest.raises(ValueError, match="for each of 2 dimensions, got 1"):
        first_component(embeddings, shown[:1])
