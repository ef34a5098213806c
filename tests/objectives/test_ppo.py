"""The loss of PPO beside loops over every step, and its standardized advantages."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from farfield.core import Problems
from farfield.core.internal import TRAINING
from farfield.objectives import PPO, Bound, Update
from farfield.objectives.internal import AGENT_OBJECTIVES
from made import drawn, generator
from oracles import control as oracle


class Table(nn.Module):
    """Logits and a value for every observation, which is a number."""

    def __init__(self) -> None:
        super().__init__()
        self.logits = nn.Parameter(drawn(20, 3, seed=5))
        self.values = nn.Parameter(drawn(20, seed=6))

    def forward(self, items: Tensor, index: Tensor, state: tuple, begins: Tensor, lengths: Tensor):
        assert lengths.tolist() == [6, 1, 4, 3]
        assert [part.shape for part in state] == [(1, 4, 2)]
        seen = items[index]
        return self.logits[seen], self.values[seen], state


def sequences() -> Problems:
    """Four sequences of up to six steps."""
    lengths = torch.tensor([6, 1, 4, 3])
    latent = {
        name: drawn(4, 6, seed=n)
        for n, name in enumerate(["log_probs", "values", "advantages", "returns"])
    }
    return Problems(
        items=torch.arange(20),
        index=torch.randint(20, (4, 6), generator=generator()),
        target=torch.randint(3, (4, 6), generator=generator(1)),
        latent={
            **latent,
            "state.0": drawn(4, 1, 2),
            "is_step": torch.arange(6) < lengths.unsqueeze(1),
            "begins": torch.tensor([True, False, True, True]),
        },
    )


def loss_of(rule: PPO, module: nn.Module, problems: Problems) -> Tensor:
    update = Update(
        network=Bound(module=module), batches={TRAINING: problems}, task_loss=lambda *_: None
    )
    return rule.loss(update)[0]


@pytest.mark.parametrize(
    "rule",
    [
        PPO(),
        PPO(value_clip=0.1),
        PPO(clip=0.5, value_weight=0.0, entropy_weight=0.3),
        PPO(clip=0.01, value_clip=0.3, value_weight=2.0),
        PPO(divergence_limit=1.0),
    ],
    ids=["default", "released", "entropy", "value", "limit"],
)
def test_the_loss_is_the_mean_over_steps(rule: PPO) -> None:
    module, problems = Table(), sequences()
    index = problems.index.numpy()
    expected = oracle.ppo_loss(
        module.logits.detach().numpy()[index],
        module.values.detach().numpy()[index],
        problems.target.numpy(),
        {name: part.numpy() for name, part in problems.latent.items()},
        rule.clip,
        rule.value_clip,
        rule.value_weight,
        rule.entropy_weight,
    )
    assert loss_of(rule, module, problems).item() == pytest.approx(expected, rel=1e-9)


def test_values_are_clipped_by_their_own_bound_alone() -> None:
    """Where an old value of 1 is to be 3: a change to 2.5 counts as one of 0.2 at most."""
    module, problems = Table(), sequences()
    with torch.no_grad():
        module.values.fill_(2.5)
    problems.latent["values"].fill_(1.0)
    problems.latent["returns"].fill_(3.0)
    plain, clipped, loose, none = (
        loss_of(PPO(clip=clip, value_clip=value_clip, value_weight=1.0), module, problems).item()
        for clip, value_clip in ((0.1, None), (0.1, 0.2), (0.1, 9.0), (0.1, None))
    )
    assert clipped - plain == pytest.approx((1.8**2 - 0.5**2) / 2)
    assert loose == pytest.approx(plain)
    assert none == plain


def test_the_divergence_is_that_of_the_steps() -> None:
    module, problems = Table(), sequences()
    update = Update(
        network=Bound(module=module), batches={TRAINING: problems}, task_loss=lambda *_: None
    )
    assert PPO().loss(update)[1] == {}
    rule = PPO(divergence_limit=0.5)
    logits = module.logits.detach().numpy()[problems.index.numpy()]
    logits = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    found = []
    for row, t in np.argwhere(problems.latent["is_step"].numpy()):
        new = logits[row, t, problems.target[row, t]]
        change = new - problems.latent["log_probs"][row, t].item()
        found.append(np.exp(change) - 1 - change)
    state = rule.loss(update)[1]
    assert state["divergence"].item() == pytest.approx(np.mean(found), rel=1e-9)
    assert not state["divergence"].requires_grad
    assert [rule.is_beyond_limit({"divergence": torch.tensor(d)}) for d in (0.5, 0.51)] == [
        False,
        True,
    ]
    assert not PPO().is_beyond_limit({})


def test_positions_without_a_step_do_not_count() -> None:
    module, problems, other = Table(), sequences(), sequences()
    empty = ~problems.latent["is_step"]
    other.index[empty] = 0
    for name in ("log_probs", "values", "advantages", "returns"):
        other.latent[name][empty] = 1e6
    loss = loss_of(PPO(), module, problems)
    assert loss_of(PPO(), module, other).item() == loss.item()
    loss.backward()
    unseen = ~torch.isin(torch.arange(20), problems.index[~empty])
    assert module.logits.grad is not None
    assert not module.logits.grad[unseen].any()


def test_advantages_are_standardized_and_returns_are_not() -> None:
    rewards, values, following = (drawn(3, 7, seed=n) for n in range(3))
    ends = torch.rand(3, 7, generator=generator()) < 0.3
    rule = PPO(discount=0.9, decay=0.8)
    found, returns = rule.advantages(rewards, values, following, ends)
    given = (part.numpy() for part in (rewards, values, following, ends))
    expected = oracle.advantages(*given, 0.9, 0.8)
    np.testing.assert_allclose(returns, expected + values.numpy(), rtol=1e-9)
    scaled = (expected - expected.mean()) / expected.std()
    np.testing.assert_allclose(found, scaled, rtol=1e-6)


def test_rewards_are_clipped_where_that_is_asked_for() -> None:
    rewards, zeros = torch.tensor([[3.0, -0.2, -7.0]]), torch.zeros(1, 3)
    never = torch.zeros(1, 3, dtype=torch.bool)
    rule = PPO(discount=0.0, reward_clip=0.5)
    assert rule.advantages(rewards, zeros, zeros, never)[1][0].tolist() == pytest.approx(
        [0.5, -0.2, -0.5]
    )


def test_wrong_numbers_are_refused() -> None:
    assert AGENT_OBJECTIVES["ppo"] is PPO
    for wrong in (
        {"clip": 0.0},
        {"value_clip": 0.0},
        {"divergence_limit": -1.0},
        {"discount": 1.1},
        {"epochs": 0},
        {"rollout_length": 0},
    ):
        (name,) = wrong
        with pytest.raises(ValueError, match=f"{name} must be"):
            PPO(**wrong)
