"""Scores of sets of generated images against the formulas, and at known distributions."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from farfield.metrics import frechet_distance, inception_score
from farfield.metrics.internal import MEASURES, measure_of
from made import drawn, generator
from oracles import adversarial as oracle


@pytest.mark.parametrize("features", [1, 3, 8])
def test_frechet_distance_is_that_of_the_formula(features: int) -> None:
    mix = drawn(features, features)
    first, second = drawn(40, features) @ mix + 0.3, 2 * drawn(25, features, seed=5)
    expected = oracle.frechet_distance(first.numpy(), second.numpy())
    assert frechet_distance(first, second) == pytest.approx(expected, rel=1e-9)
    assert frechet_distance(second, first) == pytest.approx(expected, rel=1e-9)


def test_frechet_distance_of_known_moments() -> None:
    # Of one standard deviation per feature: (1 − 3)² + (2 − 1)² and the shift squared.
    standard = torch.linalg.qr(drawn(50, 2) - drawn(50, 2).mean(0))[0] * math.sqrt(49)
    standard = standard - standard.mean(0)
    first = standard @ torch.linalg.inv(torch.linalg.cholesky(standard.T.cov()).T)
    one, two = first * torch.tensor([1.0, 2.0]), first * torch.tensor([3.0, 1.0]) + 2
    assert frechet_distance(one, two) == pytest.approx(4 + 1 + 8, rel=1e-9)
    assert frechet_distance(one, one) == pytest.approx(0, abs=1e-9)


def test_frechet_distance_with_fewer_rows_than_features() -> None:
    first, second = drawn(4, 9), drawn(5, 9, seed=5)
    found = frechet_distance(first, second)
    assert found == pytest.approx(oracle.frechet_distance(first.numpy(), second.numpy()), rel=1e-5)


def test_inception_score_is_that_of_the_formula() -> None:
    logits = 3 * drawn(47, 5)
    for splits in (1, 4, 10):
        expected = oracle.inception_score(logits.numpy(), splits)
        assert inception_score(logits, splits=splits) == pytest.approx(expected, rel=1e-9)


def test_inception_score_lies_between_one_and_the_number_of_classes() -> None:
    sure = 1e3 * torch.eye(4).repeat(10, 1)
    assert inception_score(sure, splits=1) == pytest.approx(4)
    assert inception_score(sure[:1].repeat(10, 1)) == pytest.approx(1)
    assert inception_score(torch.zeros(10, 4)) == pytest.approx(1)


def test_features_that_are_not_finite_have_no_distance() -> None:
    first = torch.rand(5, 2, generator=generator())
    assert math.isnan(frechet_distance(first / 0, first))
    assert np.isnan(inception_score(first * torch.nan, splits=1))


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: frechet_distance(torch.ones(1, 2), torch.ones(3, 2)), "first must be .* two rows"),
        (lambda: frechet_distance(torch.ones(3, 2), torch.ones(3, 4)), "second must be .*features"),
        (lambda: inception_score(torch.ones(3, 2)), "logits must be .* splits=10 rows, got shape"),
        (lambda: inception_score(torch.ones(3, 2), splits=0), "splits must be .*, got 0"),
    ],
)
def test_sets_that_cannot_be_scored_are_refused(call, message: str, unchecked: None) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_scores_of_judges_have_directions() -> None:
    assert measure_of("fid/some-network") is MEASURES["fid"]
    assert MEASURES["fid"].lower_is_better
    assert not MEASURES["is"].lower_is_better


def test_classes_without_probability_add_nothing_to_the_inception_score() -> None:
    sure = torch.eye(10, dtype=torch.float64).repeat(6, 1).log()
    assert inception_score(sure, splits=6) == pytest.approx(10, rel=1e-12)
    halves = torch.tensor([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]], dtype=torch.float64)
    mixed = -2 * 0.25 * math.log(0.25) - 0.5 * math.log(0.5)
    assert inception_score(halves.log(), splits=1) == pytest.approx(math.exp(mixed) / 2, rel=1e-12)
