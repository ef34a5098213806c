"""Rewards over the running deviation of discounted returns, beside a loop over all of them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from farfield.training._rollouts import RewardScale
from made import drawn, generator
from oracles import control as oracle


def test_rewards_are_divided_by_the_deviation_of_all_returns_so_far() -> None:
    rewards = 40 * drawn(3, 25, seed=1) + 15
    ends = torch.rand(3, 25, generator=generator()) < 0.2
    scale = RewardScale(3, 0.9)
    parts = [scale.scaled(rewards[:, a:b], ends[:, a:b]) for a, b in ((0, 1), (1, 11), (11, 25))]
    expected = oracle.scaled_rewards(rewards.numpy(), ends.numpy(), 0.9)
    np.testing.assert_allclose(torch.cat(parts, dim=1), expected, rtol=1e-9)


def test_two_steps_by_hand() -> None:
    """Returns 3 and 5 have variance 1; with 1 (an episode begins) and 4.5 it is 2.421875."""
    scale = RewardScale(2, 0.5)
    first = scale.scaled(torch.tensor([[3.0], [5.0]]), torch.tensor([[True], [False]]))
    second = scale.scaled(torch.tensor([[1.0], [2.0]]), torch.tensor([[False], [False]]))
    assert first[:, 0].tolist() == pytest.approx([3.0, 5.0], rel=1e-3)
    assert second[:, 0].tolist() == pytest.approx([2.421875**-0.5, 2 * 2.421875**-0.5], rel=1e-3)
    assert second.dtype == torch.float32


def test_the_unit_of_rewards_does_not_matter_and_a_state_goes_on() -> None:
    rewards, ends = drawn(2, 9, seed=3), torch.zeros(2, 9, dtype=torch.bool)
    scales = [RewardScale(2, 0.9) for _ in range(3)]
    small, large = (
        scale.scaled(factor * rewards, ends)
        for scale, factor in zip(scales, (1, 1e3), strict=False)
    )
    torch.testing.assert_close(small[:, 4:], large[:, 4:], rtol=1e-3, atol=0)
    scales[2].load_state(scales[0].state())
    again = [scale.scaled(rewards, ends) for scale in (scales[0], scales[2])]
    assert torch.equal(*again)
