"""Likelihood, the most likely classes, and calibration."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch

from farfield.core.internal import UNASKED
from farfield.metrics import accuracy, expected_calibration_error
from farfield.metrics.internal import negative_log_likelihood, top_k_accuracy
from oracles import probabilities as oracle

SCORES: dict[str, tuple[Callable, Callable]] = {
    "nll": (negative_log_likelihood, oracle.negative_log_likelihood),
    "top-1": (
        lambda *pair: top_k_accuracy(*pair, 1),
        lambda *pair: oracle.top_k_accuracy(*pair, 1),
    ),
    "top-3": (
        lambda *pair: top_k_accuracy(*pair, 3),
        lambda *pair: oracle.top_k_accuracy(*pair, 3),
    ),
    "ece": (
        expected_calibration_error,
        lambda *pair: oracle.expected_calibration_error(*pair, 15),
    ),
    "ece, four bins": (
        lambda *pair: expected_calibration_error(*pair, bins=4),
        lambda *pair: oracle.expected_calibration_error(*pair, 4),
    ),
}
every_score = pytest.mark.parametrize(("score", "expected"), SCORES.values(), ids=SCORES)


def answers(*leading: int, classes: int = 5, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits that are right more often than not, some of them sure."""
    random = np.random.default_rng(seed)
    target = random.integers(0, classes, leading)
    outputs = random.normal(size=(*leading, classes)) * random.uniform(0.2, 6, (*leading, 1))
    outputs[..., 0] += 1
    outputs += 2 * (np.arange(classes) == target[..., None])
    return torch.tensor(outputs), torch.tensor(target)


@every_score
def test_scores_are_those_of_the_definition(score, expected) -> None:
    outputs, target = answers(300)
    found = score(outputs, target)
    assert (found.shape, found.dtype) == ((), torch.float64)
    assert float(found) == pytest.approx(expected(outputs.tolist(), target.tolist()), rel=1e-9)
    assert float(score(outputs + 7, target)) == pytest.approx(float(found), rel=1e-9)


@every_score
def test_each_seed_has_a_score_of_its_own(score, expected) -> None:
    outputs, target = answers(3, 40)
    found = score(outputs, target)
    assert found.tolist() == [float(score(*pair)) for pair in zip(outputs, target, strict=True)]
    assert len(set(found.tolist())) > 1


def test_the_most_likely_class_is_the_answer() -> None:
    outputs, target = answers(300)
    assert top_k_accuracy(outputs, target, 1) == pytest.approx(float(accuracy(outputs, target)))
    shares = [float(top_k_accuracy(outputs, target, k)) for k in range(1, 5)]
    assert shares == sorted(shares)
    assert len(set(shares)) == 4


def test_a_tie_comes_before_the_right_class_and_nan_is_no_answer() -> None:
    target = torch.tensor([0, 0, 0])
    outputs = torch.tensor([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [torch.nan, 0.0, 0.0]])
    for k, right in ((1, 0.0), (2, 1 / 3)):
        assert float(top_k_accuracy(outputs, target, k)) == pytest.approx(right)
    assert math.isnan(negative_log_likelihood(outputs, target))
    assert math.isnan(expected_calibration_error(outputs, target))


def test_bins_are_open_below_and_closed_above() -> None:
    """Of four bins that of ¾ and 0.7 is (½, ¾], and that of ½ is (¼, ½]."""
    outputs = torch.tensor([[0.75, 0.25], [0.3, 0.7], [0.5, 0.5]], dtype=torch.float64).log()
    found = expected_calibration_error(outputs, torch.tensor([0, 1, 0]), bins=4)
    # The first two are right; the third is a tie, which is never right.
    expected = 2 / 3 * (1 - (0.75 + 0.7) / 2) + 1 / 3 * 0.5
    assert float(found) == pytest.approx(expected, rel=1e-12)


def test_answers_as_sure_as_they_are_right_are_calibrated() -> None:
    outputs = torch.tensor([[0.8, 0.2]], dtype=torch.float64).log().expand(10, 2)
    target = torch.tensor([0] * 8 + [1] * 2)
    assert float(expected_calibration_error(outputs, target)) == pytest.approx(0, abs=1e-12)
    sure = torch.tensor([[900.0, 0.0]]).expand(10, 2)
    assert float(expected_calibration_error(sure, target)) == pytest.approx(0.2)


@every_score
def test_shapes_that_would_broadcast_are_refused(score, expected, unchecked) -> None:
    outputs, target = answers(5)
    for wrong in (target[:, None], target[:4], target[:1]):
        with pytest.raises(ValueError, match="outputs must be"):
            score(outputs, wrong)
    with pytest.raises(ValueError, match="at least one problem"):
        score(outputs[:0], target[:0])
    with pytest.raises(ValueError, match="a logit for each class, got 1"):
        score(outputs[:, :1], target)


def test_as_many_classes_as_there_are_is_no_answer(unchecked) -> None:
    outputs, target = answers(5)
    for k in (5, 9):
        with pytest.raises(ValueError, match=f"k must be below the number of classes, 5, got {k}"):
            top_k_accuracy(outputs, target, k)
    with pytest.raises(ValueError, match="k must be an int of at least 1"):
        top_k_accuracy(outputs, target, 0)
    with pytest.raises(ValueError, match="bins must be an int of at least 1"):
        expected_calibration_error(outputs, target, bins=0)


@pytest.mark.parametrize("score", ["accuracy", *SCORES])
def test_answers_that_are_not_asked_for_do_not_count(score: str) -> None:
    find = accuracy if score == "accuracy" else SCORES[score][0]
    outputs = torch.randn(2, 60, 5, generator=torch.Generator().manual_seed(0))
    target = outputs.argmax(-1).where(torch.arange(60) % 3 > 0, 2)
    filled = torch.cat([target, torch.full((2, 30), UNASKED)], dim=1)
    longer = torch.cat([outputs, outputs[:, :30].flip(1)], dim=1)
    order = torch.randperm(90, generator=torch.Generator().manual_seed(1))
    expected = find(outputs, target)
    torch.testing.assert_close(
        find(longer[:, order], filled[:, order]), expected, rtol=1e-6, atol=0
    )


@pytest.mark.parametrize("score", ["accuracy", *SCORES])
def test_scores_can_be_mapped(score: str) -> None:
    find = accuracy if score == "accuracy" else SCORES[score][0]
    outputs = torch.randn(3, 60, 5, generator=torch.Generator().manual_seed(0))
    target = outputs.argmax(-1).where(torch.arange(60) % 3 > 0, UNASKED)
    torch.testing.assert_close(torch.func.vmap(find)(outputs, target), find(outputs, target))
