"""Right answers, counted."""

import math

import numpy as np
import pytest
import torch

from farfield.metrics import accuracy, correct


def test_one_output_answers_by_its_sign():
    outputs = torch.tensor([[0.3], [-0.3], [0.0], [2.0]])
    target = torch.tensor([1, 1, 0, 0])
    assert correct(outputs, target).tolist() == [1.0, 0.0, 0.0, 0.0]
    assert correct(-outputs, target).tolist() == [0.0, 1.0, 0.0, 1.0]


def test_several_outputs_answer_by_the_largest():
    outputs = torch.tensor([[0.0, 2.0, 1.0], [3.0, -1.0, 2.0]])
    assert correct(outputs, torch.tensor([1, 2])).tolist() == [1.0, 0.0]
    assert correct(outputs, torch.tensor([2, 0])).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("leading", [(), (1,), (1, 4), (3, 1), (2, 3, 4)])
def test_axes_before_that_of_classes_are_free(leading: tuple[int, ...]):
    target = torch.arange(math.prod(leading)).reshape(leading) % 2
    for outputs in (2 * target.unsqueeze(-1) - 1.0, torch.stack([0.5 - target, target - 0.5], -1)):
        assert torch.equal(correct(outputs, target), torch.ones(leading))
        assert torch.equal(correct(-outputs, target), torch.zeros(leading))


@pytest.mark.parametrize("target", range(3))
def test_a_tie_is_no_answer(target: int):
    outputs = torch.tensor([[1.0, 1.0, 1.0], [3.0, -1.0, 3.0], [torch.inf, torch.inf, 0.0]])
    assert correct(outputs, torch.full((3,), target)).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("target", range(2))
def test_what_is_no_number_is_no_answer(target: int):
    outputs = torch.tensor([[torch.nan, torch.nan], [torch.nan, 1.0], [1.0, torch.nan]])
    assert correct(outputs, torch.full((3,), target)).tolist() == [0.0, 0.0, 0.0]
    assert correct(outputs[:, :1] * torch.nan, torch.full((3,), target)).tolist() == [0.0] * 3


def test_each_seed_has_its_own_accuracy():
    random = np.random.default_rng(0)
    outputs, target = random.normal(size=(3, 50, 4)), random.integers(0, 4, size=(3, 50))
    expected = []
    for seed in range(3):
        right = 0
        for problem in range(50):
            right += max(range(4), key=lambda k: outputs[seed, problem, k]) == target[seed, problem]
        expected.append(right / 50)
    got = accuracy(torch.tensor(outputs), torch.tensor(target))
    np.testing.assert_allclose(got.numpy(), expected, rtol=1e-12)
    assert len(set(expected)) > 1


def test_a_model_of_one_answer_scores_what_it_is_worth_and_one_without_an_answer_nothing():
    target = torch.arange(100) % 4
    assert accuracy(torch.tensor([0.0, 1.0, 0.0, 0.0]).expand(100, 4), target) == 0.25
    assert accuracy(torch.ones(100, 1), torch.arange(100) % 2) == 0.5
    assert accuracy(torch.zeros(100, 4), target) == 0
    assert accuracy(torch.zeros(100, 1), torch.arange(100) % 2) == 0


@pytest.mark.usefixtures("unchecked")
def test_shapes_that_would_broadcast_are_refused():
    with pytest.raises(ValueError, match=r"got outputs \(5, 4\) and target \(5, 1\)"):
        correct(torch.zeros(5, 4), torch.zeros(5, 1, dtype=torch.int64))
    with pytest.raises(ValueError, match="at least one problem"):
        accuracy(torch.zeros(0, 4), torch.zeros(0, dtype=torch.int64))
