"""Agents with memory: whole sequences and steps give the same, and episodes begin anew."""

from __future__ import annotations

import pytest
import torch

from farfield.models import ActorCritic
from farfield.nn import SEQUENCE_LAYERS, CausalTransformer, LinearEncoder, LSTMLayer
from made import drawn, generator, unsettled

LAYERS = {name: cls for name, cls in SEQUENCE_LAYERS.items() if cls is not CausalTransformer}


def agent(cls: type = LSTMLayer) -> ActorCritic:
    source = generator()
    core = cls(5, 96, batch_first=True, generator=source)
    encoder = LinearEncoder((2, 3), out_features=5, generator=source)
    return unsettled(ActorCritic(encoder, core, num_actions=3, generator=source)).eval()


@pytest.mark.parametrize("name", LAYERS)
def test_steps_give_what_the_whole_sequence_gives(name: str) -> None:
    model, items = agent(LAYERS[name]), drawn(20, 2, 3)
    index = torch.arange(20).reshape(4, 5)
    begins = torch.tensor([True, False, True, False])
    never = torch.zeros(4, dtype=torch.bool)
    _, _, state = model(items, index.flip(1), model.first_state(4), never)
    whole = model(items, index, state, begins)
    found = []
    for step in range(5):
        logits, values, state = model(items, index[:, step : step + 1], state, begins)
        found.append((logits, values))
        begins = never
    logits, values = (torch.cat(parts, dim=1) for parts in zip(*found, strict=True))
    torch.testing.assert_close(logits, whole.logits, rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(values, whole.values, rtol=1e-9, atol=1e-12)
    for ours, theirs in zip(state, whole.state, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", LAYERS)
def test_an_episode_that_begins_knows_of_none_before(name: str) -> None:
    model, items, index = agent(LAYERS[name]), drawn(6, 2, 3), torch.arange(6).reshape(2, 3)
    fresh = model(items, index, model.first_state(2), torch.ones(2).bool())
    other = tuple(part + 1 for part in model.first_state(2))
    again = model(items, index, other, torch.tensor([True, False]))
    torch.testing.assert_close(again.logits[0], fresh.logits[0], rtol=0, atol=0)
    assert not torch.allclose(again.logits[1], fresh.logits[1])


def test_bytes_are_fractions() -> None:
    model, index = agent(), torch.zeros(1, 1, dtype=torch.int64)
    full = torch.full((1, 2, 3), 255, dtype=torch.uint8)
    begins = torch.ones(1).bool()
    found = model(full, index, model.first_state(1), begins)
    ones = model(torch.ones(1, 2, 3).double(), index, model.first_state(1), begins)
    assert torch.equal(found.logits, ones.logits)


def test_all_actions_begin_about_equally_likely() -> None:
    core = LSTMLayer(5, 12, batch_first=True)
    model = ActorCritic(LinearEncoder((6,), out_features=5), core, num_actions=3)
    torch.testing.assert_close(
        model.actor.weight @ model.actor.weight.T, 1e-4 * torch.eye(3), rtol=1e-4, atol=1e-8
    )
    assert model.critic.weight.norm().item() == pytest.approx(1.0)


@pytest.mark.parametrize("core", [torch.nn.LSTM(5, 12), CausalTransformer(5, 12, num_heads=2)])
def test_a_core_without_a_state_of_one_size_is_refused(core: torch.nn.Module) -> None:
    with pytest.raises(ValueError, match=r"core must be a layer .* first_state\(batch\)"):
        ActorCritic(LinearEncoder((6,), out_features=5), core, num_actions=3)
