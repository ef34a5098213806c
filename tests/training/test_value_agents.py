"""Agents that learn from a memory: its rows, its draws, what is aimed at, and that they learn."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from farfield.core import stream
from farfield.experiments import Experiment, QuantileNetwork, Recipe, Spec
from farfield.models import ActorCritic
from farfield.nn import LinearEncoder, QuantileHead
from farfield.objectives import PPO, RainbowIQN
from farfield.tasks import TRAINING, ObjectPicking
from farfield.training import train
from farfield.training._memory import Memory
from farfield.training._practice import Outcome
from farfield.training.internal import OneAgent
from made import generator
from oracles import control as oracle
from worlds import Recall

PICKING = ObjectPicking(side=3, distractors=1, more_distractors=(), larger_sides=(), view=3)
RULE = RainbowIQN(copies=4, memory_size=200, first_steps=40, acting_quantiles=5, target_period=3)


def experiment_of(task=Recall(delay=0), rule: RainbowIQN = RULE, **recipe) -> Experiment:  # noqa: B008
    return Experiment(
        task=task,
        model=QuantileNetwork(
            encoder=Spec(LinearEncoder, out_features=8, bound=1.0),
            head=Spec(QuantileHead, hidden_size=6, num_cosines=5),
        ),
        recipe=Recipe(**{"steps": 10, "batch_size": 32} | recipe),
        objective=rule,
    )


def filled(rounds: int = 30, copies: int = 3, rows: int = 12) -> tuple[Memory, list[list[dict]]]:
    """A memory, and all that each copy met: observations that count up, and what came of them."""
    random = np.random.default_rng(0)
    memory = Memory(copies * rows + 1, np.zeros((copies, 2), np.uint8), 3)
    history: list[list[dict]] = [[] for _ in range(copies)]
    for number in range(rounds):
        seen = np.array([[number, copy] for copy in range(copies)], np.uint8)
        ended = random.random((2, copies)) < 0.2
        terminations, truncations = ended[0], ended[1] & ~ended[0]
        final = np.array([[100 + number, copy] for copy in range(copies)], np.uint8)
        actions = torch.from_numpy(random.integers(5, size=copies))
        flags = (torch.from_numpy(part) for part in (terminations, truncations))
        rewards = torch.from_numpy(random.random(copies).astype(np.float32))
        memory.add(seen, actions, Outcome(rewards, *flags, final))
        for copy, own in enumerate(history):
            step = {"seen": seen[copy], "action": actions[copy].item(), "reward": rewards[copy]}
            own.append(step | {"ends": (terminations[copy], truncations[copy]), "is_step": True})
            if truncations[copy]:
                last = {"seen": final[copy], "action": 0, "reward": 0.0, "ends": (False, False)}
                own.append(last | {"is_step": False})
    return memory, history


def test_a_memory_gives_the_latest_steps_with_those_that_follow() -> None:
    memory, history = filled()
    found = memory.draw(torch.rand(500, dtype=torch.float64, generator=generator()))
    after = memory.observations_after(found.rows, torch.full_like(found.rows, 2))
    drawn = set()
    for k in range(500):
        number, copy = found.observations[k].tolist()
        own = history[copy]
        place = next(n for n, step in enumerate(own) if tuple(step["seen"]) == (number, copy))
        drawn.add((copy, place))
        window = own[place : place + 3]
        assert found.actions[k] == own[place]["action"]
        assert found.rewards[k].tolist() == [float(step["reward"]) for step in window]
        ends = torch.stack([found.terminations[k], found.truncations[k]], dim=1)
        assert ends.tolist() == [[bool(flag) for flag in step["ends"]] for step in window]
        assert after[k].tolist() == own[place + 2]["seen"].tolist()
    expected = {
        (copy, place)
        for copy, own in enumerate(history)
        for place in range(len(own) - 12, len(own) - 3)
        if own[place]["is_step"]
    }
    assert drawn == expected
    assert found.probabilities.unique().tolist() == pytest.approx([1 / len(expected)])


def test_priorities_decide_the_draws_and_new_steps_have_the_highest() -> None:
    memory, _ = filled()
    uniform = torch.rand(500, dtype=torch.float64, generator=generator())
    rows = memory.draw(uniform).rows.unique()
    memory.set_priorities(rows, torch.full((len(rows),), 1e-9).double())
    memory.set_priorities(rows[:1], torch.tensor([4.0]).double())
    assert memory.draw(uniform).rows.unique().tolist() == rows[:1].tolist()
    never = torch.zeros(3, dtype=torch.bool)
    seen = np.zeros((3, 2), np.uint8)
    memory.add(seen, torch.zeros(3).long(), Outcome(torch.zeros(3), never, never, seen))
    found = memory.draw(uniform)
    assert found.probabilities.max().item() == pytest.approx(1 / 4, abs=1e-6)


def test_targets_are_those_of_each_step() -> None:
    """On the network itself, from the rows that were drawn."""
    learner = OneAgent(experiment_of(PICKING), 0)
    practice, rule = learner._practice, RULE
    learner.model.eval()
    (lesson,) = practice.act(0)
    place = practice._stream.child("lesson", 0)
    uniform = torch.rand(32, dtype=torch.float64, generator=place.child("rows").torch())
    found = practice._memory.draw(uniform)
    assert torch.equal(found.rows, lesson.rows)
    draws = {
        name: practice._draws(place.child(name), 32, count)
        for name, count in (("choosing", 5), ("aimed", 8))
    }
    for k in range(32):
        given = (found.rewards[k], found.terminations[k], found.truncations[k])
        total, factor, steps = oracle.n_step(*(part.numpy() for part in given), rule.discount)
        after = practice._memory.observations_after(found.rows[k : k + 1], torch.tensor([steps]))
        own = {
            name: {part: of[k : k + 1] for part, of in drawn.items()}
            for name, drawn in draws.items()
        }
        best = learner.model(after, **own["choosing"])[0].mean(0).argmax()
        values = practice._target(after, **own["aimed"])[0, :, best]
        expected = total + factor * values.detach()
        torch.testing.assert_close(lesson.problems.latent["targets"][k], expected)
    weights = (found.probabilities / found.probabilities.min()) ** -rule.weight_exponent
    torch.testing.assert_close(lesson.problems.latent["weights"], weights.float())


def test_losses_become_priorities_and_the_target_follows_in_periods() -> None:
    learner = OneAgent(experiment_of(), 0)
    target = learner._practice._target.head.cosine.weight
    before = target.clone()
    for step in range(3):
        assert torch.equal(target, before)
        learner.update(step)
    assert torch.equal(target, learner.model.head.cosine.weight)
    assert not torch.equal(target, before)
    priorities = learner._practice._memory.state()["priorities"]
    assert len(priorities.unique()) > 10
    assert not target.requires_grad


def test_a_checkpoint_has_the_rows_that_are_written() -> None:
    learner = OneAgent(experiment_of(), 0)
    learner.update(0)
    rows = {len(part) for name, part in learner.state().items() if "memory.obs" in name}
    assert rows == {40 // 4}


def test_agents_learn_what_is_right() -> None:
    experiment = experiment_of(steps=150, learning_rate=1e-2)
    scores, _ = train(OneAgent(experiment, 0), experiment)
    final = {(s.regime, s.metric): s.value for s in scores[0] if s.step == 150}
    assert final[TRAINING, "success"] > 0.95
    assert final[TRAINING, "length"] == 1


def test_a_rule_needs_its_network() -> None:
    with pytest.raises(ValueError, match="objective must be a RainbowIQN with QuantileNetwork"):
        dataclasses.replace(experiment_of(), objective=PPO())
    with pytest.raises(ValueError, match="memory_size must be at least twice first_steps"):
        RainbowIQN(memory_size=100, first_steps=80, copies=4)
    with pytest.raises(ValueError, match="first_steps must be at least 16"):
        RainbowIQN(first_steps=15, copies=4)
    model = experiment_of().model.build(Recall(), stream(0))
    assert not isinstance(model, ActorCritic)
