"""Keys of trained networks: what is handed out, and what is measured of it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from farfield.analysis import principal_components
from farfield.analysis.internal import (
    Keys,
    key_overlap,
    keys_of,
    nearest_centroid_accuracy,
    second_appearance,
)
from farfield.core import Problems
from farfield.models import ESBN, LSTM
from farfield.models.internal import Relational
from farfield.tasks import DistributionOfThree
from made import drawn, generator, state_of, unsettled
from oracles import keys as oracle
from oracles import webb2021

FEATURES = 4


def network() -> Relational:
    reasoner = unsettled(ESBN(FEATURES, 4, hidden_size=5, key_size=3, generator=generator()))
    return Relational(torch.nn.Flatten(), None, reasoner)


def problems() -> Problems:
    index = torch.tensor([[0, 1, 2, 1, 0, 2, 3], [3, 2, 0, 0, 3, 1, 2]])
    return Problems(items=drawn(4, 2, 2), index=index, target=torch.zeros(2))


def test_keys_are_those_of_algorithm_1_at_the_right_places() -> None:
    model, shown = network(), problems()
    found = keys_of(model, shown)
    for row, places in enumerate(shown.index.tolist()):
        z = shown.items.flatten(1)[places].numpy()
        _, written, read = webb2021.esbn_and_keys(z, state_of(model.reasoner))
        again = oracle.second_appearance(places, 3)
        np.testing.assert_allclose(found.written[row], written, rtol=1e-9)
        np.testing.assert_allclose(found.recalled[row], read[again], rtol=1e-9)
    assert not found.written.requires_grad


def test_every_item_of_a_first_row_comes_again_in_distribution_of_three() -> None:
    drawn_sets = DistributionOfThree(withheld=95, max_problems=50)
    for regime in ("training", "withheld-95"):
        index = drawn_sets.sample(regime, 40, np.random.Generator(np.random.Philox(1))).index
        found = second_appearance(index, 3)
        expected = [oracle.second_appearance(places, 3) for places in index.tolist()]
        assert found.tolist() == expected


def test_items_that_do_not_come_again_are_refused(unchecked) -> None:
    with pytest.raises(ValueError, match="each of the first 2 items must occur again"):
        second_appearance(torch.tensor([[0, 1, 0, 1], [0, 1, 0, 2]]), 2)
    for first in (0, 4):
        with pytest.raises(ValueError, match=f"first must be 1…3 of 4 steps, got {first}"):
            second_appearance(torch.tensor([[0, 1, 0, 1]]), first)


def test_a_network_without_keys_is_refused() -> None:
    other = Relational(torch.nn.Flatten(), None, LSTM(FEATURES, 4, hidden_size=5))
    for wrong in (other, other.reasoner):
        with pytest.raises(ValueError, match="network must be a Relational one with an ESBN"):
            keys_of(wrong, problems())


def some_keys(seed: int, *, shift: float = 0.0) -> Keys:
    """Nine problems of five places, two of them followed; no two at the same spot."""
    centers = drawn(5, 4, seed=100)
    scatter = drawn(9, 7, 4, seed=seed)
    return Keys(
        written=centers + scatter[:, :5] + shift,
        recalled=centers[:2] + 0.5 * scatter[:, 5:] - shift,
    )


@pytest.mark.parametrize("shift", [0.0, 1.5])
def test_overlap_is_that_of_its_definition(shift: float) -> None:
    training, test = some_keys(1), some_keys(2, shift=shift)
    expected = oracle.overlap(*(tuple(part.numpy() for part in keys) for keys in (training, test)))
    found = dataclasses.asdict(key_overlap(training, test))
    assert found.keys() == expected.keys()
    for name, value in found.items():
        np.testing.assert_allclose(value, expected[name], rtol=1e-9, err_msg=name)
    assert 0 < found["confused"] < 1


def test_keys_that_are_constant_overlap_completely() -> None:
    place = drawn(3, 4)
    few, many = (
        Keys(written=place.expand(count, 3, 4), recalled=place[:2].expand(count, 2, 4))
        for count in (7, 30)
    )
    found = key_overlap(few, many)
    assert found.spread == (0.0,) * 3
    assert found.written_shift == found.recalled_shift == (0.0, 0.0)
    assert found.written_accuracy == found.recalled_accuracy == (0.5, 0.5)
    assert found.recognized == found.recalled == (1.0, 1.0)
    assert found.confused == 0.0


def test_sets_of_one_distribution_are_told_apart_by_chance_and_distant_ones_always() -> None:
    many = drawn(4000, 3, seed=3)
    assert nearest_centroid_accuracy(many[:1000], many[1000:]) == pytest.approx(0.5, abs=0.03)
    assert nearest_centroid_accuracy(many[:1000], many[1000:] + 20) == 1.0
    assert nearest_centroid_accuracy(many[:1000] + 1e-3, many[1000:] * 0 + 1e-3) != 1.0


@given(seed=st.integers(0, 99), factor=st.floats(0.01, 100))
def test_overlap_knows_neither_scale_nor_place(seed: int, factor: float) -> None:
    training, test = some_keys(seed), some_keys(seed + 1)
    moved = [Keys(*(factor * part + 7 for part in keys)) for keys in (training, test)]
    first, second = (dataclasses.asdict(key_overlap(*pair)) for pair in ((training, test), moved))
    for name, value in first.items():
        np.testing.assert_allclose(second[name], value, rtol=1e-6, err_msg=name)


def test_overlap_of_too_little_is_refused() -> None:
    keys = some_keys(1)
    alike = Keys(written=keys.written[:, :1].expand(-1, 5, -1), recalled=keys.recalled)
    with pytest.raises(ValueError, match="differ between the first steps"):
        key_overlap(alike, keys)
    for few in (0, 1):
        with pytest.raises(ValueError, match=f"at least two problems, got 9 and {few}"):
            key_overlap(keys, Keys(*(part[:few] for part in keys)))


def test_principal_components_are_the_directions_of_most_variance() -> None:
    points = drawn(40, 5) @ drawn(5, 5, seed=8) + 3
    found = principal_components(points, 3)
    expected = oracle.power_iteration(points.numpy(), 3)
    np.testing.assert_allclose(found.center, oracle.mean(points.numpy()), rtol=1e-9)
    for axis, share, (direction, part) in zip(found.axes, found.shares, expected, strict=True):
        np.testing.assert_allclose(axis, direction, atol=1e-7)
        assert float(share) == pytest.approx(part, 1e-9)
    coordinates = found.project(points)
    for row in range(3):
        offsets = points[row].numpy() - oracle.mean(points.numpy())
        wanted = [webb2021.dot(direction, offsets) for direction, _ in expected]
        np.testing.assert_allclose(coordinates[row], wanted, atol=1e-6)
    assert found.project(points[0]).shape == (3,)


def test_principal_components_of_too_little_are_refused(unchecked) -> None:
    for points, count in ((drawn(5, 2), 3), (drawn(2, 5), 2), (drawn(5, 2), 0)):
        with pytest.raises(ValueError, match=f"num_components must be .*, got {count}"):
            principal_components(points, count)
    with pytest.raises(ValueError, match="points must vary"):
        principal_components(torch.ones(5, 3))
