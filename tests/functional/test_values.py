"""Quantile losses, returns of several steps and prioritized draws, beside loops over numbers."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from farfield.functional.internal import (
    double_estimate,
    importance_weights,
    n_step_returns,
    noisy_linear,
    prioritized_rows,
    quantile_huber_loss,
)
from made import drawn, generator, gradcheck
from oracles import control as oracle


@pytest.mark.parametrize("threshold", [1.0, 0.3])
def test_the_quantile_loss_is_that_of_every_pair(threshold: float) -> None:
    values, targets = drawn(4, 5), drawn(4, 3, seed=1)
    fractions = torch.rand(4, 5, dtype=torch.float64, generator=generator())
    found = quantile_huber_loss(values, fractions, targets, threshold=threshold)
    rows = zip(values.numpy(), fractions.numpy(), targets.numpy(), strict=True)
    expected = [oracle.quantile_loss(*row, threshold) for row in rows]
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    values.requires_grad_()
    assert gradcheck(lambda q: quantile_huber_loss(q, fractions, targets), values)


def test_quantiles_of_samples_have_the_smallest_loss() -> None:
    """With a small threshold the minimum is where the fraction of the samples lies below."""
    samples = drawn(1, 1001)
    fractions = torch.tensor([[0.1, 0.5, 0.9]]).double()
    right = samples.quantile(fractions[0], dim=1).T
    for wrong in (right + 0.1, right - 0.1):
        losses = [
            quantile_huber_loss(q, fractions, samples, threshold=1e-3) for q in (right, wrong)
        ]
        assert losses[0] < losses[1]


@pytest.mark.parametrize("discount", [0.9, 1.0, 0.0])
def test_returns_stop_where_the_episode_does(discount: float) -> None:
    rewards = drawn(60, 4)
    terminations, truncations = torch.rand(2, 60, 4, generator=generator()) < 0.2
    found = n_step_returns(rewards, terminations, truncations, discount=discount)
    rows = zip(rewards.numpy(), terminations.numpy(), truncations.numpy(), strict=True)
    expected = np.array([oracle.n_step(*row, discount) for row in rows])
    assert {*expected[:, 2]} == {1, 2, 3, 4}
    for own, theirs in zip(found, expected.T, strict=True):
        np.testing.assert_allclose(own, theirs, rtol=1e-9)


def test_one_network_chooses_and_the_other_estimates() -> None:
    quantiles, choosing = drawn(6, 5, 3), drawn(6, 4, 3, seed=1)
    found = double_estimate(quantiles, choosing)
    for row in range(6):
        best = max(range(3), key=lambda action: choosing[row, :, action].mean().item())
        assert torch.equal(found[row], quantiles[row, :, best])
    assert not torch.equal(found, double_estimate(quantiles, quantiles))


def test_rows_are_drawn_in_proportion_to_priorities() -> None:
    priorities = drawn(50).square()
    priorities[[0, 7, 49]] = 0
    uniform = torch.rand(400, dtype=torch.float64, generator=generator())
    found = prioritized_rows(priorities, uniform).tolist()
    points = [(k + own) / 400 for k, own in enumerate(uniform.tolist())]
    assert found == [oracle.proportional_row(priorities.numpy(), point) for point in points]
    counts = torch.tensor(found).bincount(minlength=50)
    expected = 400 * priorities / priorities.sum()
    assert (counts - expected).abs().max() < 2  # a share of its own for every draw
    last = torch.full((1,), 1 - 2.0**-53, dtype=torch.float64)
    assert prioritized_rows(priorities, last).item() == 48


def test_weights_make_up_for_the_draws() -> None:
    """Weighted with a full exponent, the mean over drawn rows is that over all of them."""
    priorities, content = drawn(30).square() + 0.1, drawn(30, seed=1)
    rows = prioritized_rows(priorities, torch.full((100_000,), 0.5).double())
    weights = importance_weights(priorities[rows], exponent=1.0)
    assert weights.max() == 1
    found = (weights * content[rows]).sum() / weights.sum()
    torch.testing.assert_close(found, content.mean(), rtol=1e-3, atol=1e-3)
    assert importance_weights(priorities[rows], exponent=0.0).unique().tolist() == [1.0]


def test_noise_of_a_row_is_that_of_its_weights() -> None:
    x, weight, scale = drawn(4, 3), drawn(2, 3, seed=1), drawn(2, 3, seed=2)
    bias, bias_scale, noise = drawn(2, seed=3), drawn(2, seed=4), drawn(4, 5, seed=5)
    found = noisy_linear(x, weight, bias, scale, bias_scale, noise)
    given = [part.numpy() for part in (weight, bias, scale, bias_scale)]
    rows = zip(x.numpy(), noise.numpy(), strict=True)
    expected = [oracle.noisy(own, *given, of) for own, of in rows]
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    together = noisy_linear(x, weight, bias, scale, bias_scale, noise[:1])
    torch.testing.assert_close(together[0], found[0])
    assert not torch.allclose(together[1:], found[1:])
