"""The loss of RainbowIQN beside loops over every step."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from farfield.core import Problems
from farfield.core.internal import TRAINING
from farfield.objectives import Bound, RainbowIQN, Update
from farfield.objectives.internal import AGENT_OBJECTIVES
from made import drawn, generator
from oracles import control as oracle


class Table(nn.Module):
    """Quantiles for every observation, which is a number; noise and fractions are added."""

    def __init__(self) -> None:
        super().__init__()
        self.quantiles = nn.Parameter(drawn(20, 1, 3))

    def forward(self, items: Tensor, fractions: Tensor, noise: Tensor) -> Tensor:
        return self.quantiles[items] + fractions.unsqueeze(-1) + noise.sum(-1)[:, None, None]


@pytest.mark.parametrize("threshold", [1.0, 0.2])
def test_the_loss_is_the_weighted_mean_over_steps(threshold: float) -> None:
    module, items = Table(), torch.randint(20, (7,), generator=generator())
    actions, targets, noise = torch.tensor([0, 2, 1, 1, 0, 2, 2]), drawn(7, 5), drawn(7, 2, seed=1)
    fractions = torch.rand(7, 4, dtype=torch.float64, generator=generator(1))
    weights = drawn(7, seed=2).abs()
    problems = Problems(
        items=items,
        index=torch.arange(7).unsqueeze(1),
        target=actions,
        latent={"targets": targets, "weights": weights},
    )
    update = Update(
        network=Bound(module=module),
        batches={TRAINING: problems},
        task_loss=lambda *_: None,
        draws={"fractions": fractions, "noise": noise},
    )
    loss, state = RainbowIQN(threshold=threshold).loss(update)
    quantiles = module(items, fractions, noise).detach().numpy()
    expected = [
        oracle.quantile_loss(
            quantiles[k, :, actions[k]], fractions[k].numpy(), targets[k].numpy(), threshold
        )
        for k in range(7)
    ]
    np.testing.assert_allclose(state["losses"], expected, rtol=1e-9)
    assert loss.item() == pytest.approx(np.mean(weights.numpy() * expected), rel=1e-9)
    assert not state["losses"].requires_grad


def test_rewards_are_clipped_and_exponents_grow() -> None:
    rewards, never = torch.tensor([[3.0, -0.2, -7.0]]), torch.zeros(1, 3, dtype=torch.bool)
    found = RainbowIQN(discount=1.0, reward_clip=0.5).returns(rewards, never, never)
    assert found.returns.item() == pytest.approx(0.5 - 0.2 - 0.5)
    assert RainbowIQN(discount=1.0).returns(rewards, never, never).returns.item() < -4
    rule = RainbowIQN(weight_exponent=0.4, priority_exponent=0.5)
    assert [rule.exponent(part) for part in (0.0, 0.5, 1.0)] == pytest.approx([0.4, 0.7, 1.0])
    losses = torch.tensor([4.0, 0.0, torch.nan, torch.inf])
    assert rule.priorities(losses).tolist() == pytest.approx([2.0, 1e-3, 1e-3, 1e-3], rel=1e-6)


def test_wrong_numbers_are_refused() -> None:
    assert AGENT_OBJECTIVES["rainbow-iqn"] is RainbowIQN
    for wrong in ({"discount": 1.1}, {"num_quantiles": 0}, {"threshold": 0.0}, {"copies": 0}):
        (name,) = wrong
        with pytest.raises(ValueError, match=f"{name} must be"):
            RainbowIQN(**wrong)
