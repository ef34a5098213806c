"""Advantages and clipped losses, beside loops over every step."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from farfield.functional.internal import (
    clipped_policy_loss,
    clipped_value_loss,
    generalized_advantages,
)
from made import drawn, generator, gradcheck
from oracles import control as oracle


def rollout(batch: int = 3, time: int = 9) -> tuple[torch.Tensor, ...]:
    rewards, values, following = (drawn(batch, time, seed=n) for n in range(3))
    ends = torch.rand(batch, time, generator=generator()) < 0.25
    return rewards, values, torch.where(ends & (rewards > 0), 0.0, following), ends


@pytest.mark.parametrize(("discount", "decay"), [(0.99, 0.95), (0.9, 0.0), (1.0, 1.0), (0.5, 0.7)])
def test_advantages_are_sums_over_the_rest_of_an_episode(discount: float, decay: float) -> None:
    given = rollout()
    found = generalized_advantages(*given, discount=discount, decay=decay)
    expected = oracle.advantages(*(part.numpy() for part in given), discount, decay)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_without_decay_returns_are_discounted_rewards() -> None:
    """Where values are consistent and nothing ends, all but rewards and the last value cancel."""
    rewards, values, _, _ = rollout(time=4)
    last = drawn(3, 1, seed=9)
    following = torch.cat([values[:, 1:], last], dim=1)
    ends = torch.zeros(3, 4, dtype=torch.bool)
    found = generalized_advantages(rewards, values, following, ends, discount=0.9, decay=1.0)
    returns = sum(0.9**t * rewards[:, t] for t in range(4)) + 0.9**4 * last[:, 0]
    torch.testing.assert_close(found[:, 0] + values[:, 0], returns, rtol=1e-9, atol=1e-12)


def test_nothing_of_another_episode_or_copy_counts() -> None:
    rewards, values, following, ends = rollout()
    ends[:, 4] = True
    before = generalized_advantages(rewards, values, following, ends, discount=0.9, decay=0.9)
    rewards[:, 5:] += 7
    rewards[0] += 7
    after = generalized_advantages(rewards, values, following, ends, discount=0.9, decay=0.9)
    torch.testing.assert_close(after[1:, :5], before[1:, :5], rtol=0, atol=0)


@pytest.mark.parametrize("clip", [0.1, 0.5])
def test_clipped_losses_are_those_of_each_number(clip: float) -> None:
    new, old, wanted = (drawn(40, seed=n) for n in range(3))
    found = clipped_policy_loss(new, old, wanted, clip=clip)
    expected = [oracle.policy_loss(*three, clip) for three in torch.stack([new, old, wanted]).T]
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    found = clipped_value_loss(new, old, wanted, clip=clip)
    expected = [oracle.value_loss(*three, clip) for three in torch.stack([new, old, wanted]).T]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_gradients_stop_where_a_change_is_clipped() -> None:
    new = torch.tensor([0.0, 0.5, -0.5, 0.5], dtype=torch.float64, requires_grad=True)
    advantages = torch.tensor([1.0, 1.0, -1.0, -1.0], dtype=torch.float64)
    clipped_policy_loss(new, torch.zeros(4).double(), advantages, clip=0.2).sum().backward()
    assert new.grad is not None
    assert (new.grad != 0).tolist() == [True, False, False, True]


def test_gradients_are_those_of_differences() -> None:
    new, old, wanted = (drawn(2, 5, seed=n) for n in range(3))
    new.requires_grad_()
    for loss in (clipped_policy_loss, clipped_value_loss):
        assert gradcheck(lambda x, f=loss: f(x, old, wanted, clip=0.3), new)
