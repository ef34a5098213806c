"""Agents in training: rollouts, whole sequences, resume, scores, and experiments that fit not."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from farfield.core import stream
from farfield.execution import Display, Here, jobs_of, results, run
from farfield.execution.internal import News
from farfield.experiments import (
    AgentNetwork,
    Experiment,
    Network,
    QuantileNetwork,
    Recipe,
    Spec,
)
from farfield.metrics.internal import measure_of
from farfield.models import ESBN, ActorCritic
from farfield.nn import (
    SEQUENCE_LAYERS,
    CausalTransformer,
    GRULayer,
    LinearEncoder,
    LSTMLayer,
    QuantileHead,
)
from farfield.objectives import PPO, RainbowIQN, Supervised
from farfield.records import Record, Score, Store
from farfield.records.internal import from_tensors, to_tensors
from farfield.reports import extrapolation_profile
from farfield.tasks import TRAINING, BabyAIPicking, Environment, ObjectPicking, SameDifferent
from farfield.training import trained_network
from farfield.training._practice import ScoredWorlds
from farfield.training._rollouts import Actor, sequences_of, uniform
from farfield.training.internal import Learner, OneAgent, Progress
from learners import check_resumed
from oracles import control as oracle
from worlds import Recall, RecallWorlds, score_episodes

LAYERS = {name: cls for name, cls in SEQUENCE_LAYERS.items() if cls is not CausalTransformer}
PICKING = ObjectPicking(side=3, distractors=1, more_distractors=(), larger_sides=(), view=3)
BABYAI = BabyAIPicking(side=3, distractors=1, more_distractors=(), larger_sides=())
VALUES = RainbowIQN(copies=3, memory_size=60, first_steps=15, acting_quantiles=4, target_period=2)


def experiment_of(task: Environment, *, core: type = GRULayer, width: int = 24, **recipe):
    given = {"steps": 6, "batch_size": 4, "evaluations": 2} | recipe
    return Experiment(
        task=task,
        model=AgentNetwork(
            core=Spec(core, hidden_size=width), encoder=Spec(LinearEncoder, out_features=8)
        ),
        recipe=Recipe(**given),
        objective=PPO(rollout_length=30, minibatches=2, epochs=2),
    )


def limited(task: Environment, **options: float) -> Experiment:
    """An agent that learns fast, with other options of the rule."""
    experiment = experiment_of(task, learning_rate=1e-2)
    rule = dataclasses.replace(experiment.objective, **options)
    return dataclasses.replace(experiment, objective=rule)


def values_of(task: Environment, rule: RainbowIQN = VALUES, **recipe):
    return Experiment(
        task=task,
        model=QuantileNetwork(
            encoder=Spec(LinearEncoder, out_features=8, bound=1.0),
            head=Spec(QuantileHead, hidden_size=6, num_cosines=5),
        ),
        recipe=Recipe(**{"steps": 6, "batch_size": 16, "evaluations": 2} | recipe),
        objective=rule,
    )


def actor_of(task: Environment, core: type = GRULayer, count: int = 5) -> tuple:
    network = experiment_of(task, core=core, width=96).model
    model = network.build(task, stream(0, "weights")).eval()
    return model, Actor(model, ScoredWorlds(task, TRAINING, count, stream(0)))


@pytest.mark.parametrize("name", LAYERS)
def test_sequences_are_read_as_they_were_acted_in(name: str) -> None:
    """From the state in which each begins, the agent answers what it answered step by step."""
    model, actor = actor_of(PICKING, LAYERS[name])
    assert isinstance(model, ActorCritic)
    ends = 0
    for number in range(2):
        rollout = actor.play(15, stream(number))
        rows = torch.tensor([3, 0, 2])
        steps = {"log_probs": rollout.log_probs, "values": rollout.values}
        problems = sequences_of(rollout, rows, steps)
        latent = problems.latent
        state = tuple(latent[n].transpose(0, 1) for n in latent if n.startswith("state."))
        is_step = latent["is_step"]
        given = (problems.items, problems.index, state, latent["begins"], is_step.sum(1))
        logits, values, _ = model(*given)
        taken = logits.log_softmax(-1).gather(-1, problems.target.unsqueeze(-1)).squeeze(-1)
        assert is_step.sum() == 45
        ends += int(rollout.ends.sum())
        near = {"rtol": 1e-5, "atol": 3e-5}  # in chunks or step by step, sums are rounded otherwise
        torch.testing.assert_close(taken[is_step], latent["log_probs"][is_step], **near)
        torch.testing.assert_close(values[is_step], latent["values"][is_step], **near)
    assert ends > 5


def test_sequences_hold_every_step_once_and_end_with_episodes() -> None:
    _, actor = actor_of(PICKING)
    actor.play(7, stream(1))
    rollout = actor.play(25, stream(0))
    numbers = torch.arange(5 * 25).reshape(5, 25)
    problems = sequences_of(rollout, torch.tensor([4, 1]), {"number": numbers})
    latent = problems.latent
    rows = zip(latent["number"], latent["is_step"], strict=True)
    found = [own[is_step].tolist() for own, is_step in rows]
    assert [n for own in found for n in own] == [*range(100, 125), *range(25, 50)]
    ends = rollout.ends.flatten()
    for own, begins in zip(found, latent["begins"], strict=True):
        assert not ends[own[:-1]].any()
        row, step = divmod(own[0], 25)
        assert bool(begins) == bool(ends[own[0] - 1] if step else rollout.begins[row])
        assert own[-1] % 25 == 24 or ends[own[-1]]
    assert not latent["begins"].all()


@pytest.mark.parametrize("truncates", [False, True])
def test_values_go_on_after_truncation_alone(truncates: bool) -> None:
    model, actor = actor_of(Recall(truncates=truncates))
    nn.init.constant_(model.critic.bias, 3.0)
    rollout = actor.play(10, stream(0))
    follows = rollout.next_values[:, :-1][~rollout.ends[:, :-1]]
    torch.testing.assert_close(follows, rollout.values[:, 1:][~rollout.ends[:, :-1]])
    after = rollout.next_values[rollout.ends]
    assert after.count_nonzero() == (len(after) if truncates else 0)
    if truncates:  # the last observation is empty, and read from the state after its episode
        assert not torch.isin(after, rollout.values).any()


def test_rewards_of_an_episode_that_goes_on_are_kept() -> None:
    first, second = (ScoredWorlds(PICKING, TRAINING, 2, stream(0)) for _ in range(2))
    first.returns += 0.5
    second.load_state(from_tensors(to_tensors(first.state())))
    assert torch.equal(second.returns, first.returns)


def test_rollouts_keep_no_graph_and_repeat() -> None:
    rollout = actor_of(PICKING)[1].play(9, stream(0))
    again = actor_of(PICKING)[1].play(9, stream(0))
    other = actor_of(PICKING)[1].play(9, stream(1))
    for one, two in zip(rollout[:-1], again[:-1], strict=True):
        assert torch.equal(one, two)
        assert not one.requires_grad
    assert not any(part.requires_grad for part in rollout.state)
    assert not torch.equal(rollout.actions, other.actions)


def test_actions_are_drawn_with_their_probabilities() -> None:
    model, actor = actor_of(Recall(), count=4000)
    with torch.no_grad():
        model.actor.bias.copy_(torch.tensor([1.0, 0.0]))
    rollout = actor.play(1, stream(0))
    share = (rollout.actions == 0).double().mean().item()
    expected = rollout.log_probs[rollout.actions == 0].exp().mean().item()
    assert expected == pytest.approx(1 / (1 + np.exp(-1)), abs=0.02)
    assert share == pytest.approx(expected, abs=4 * (0.2 / 4000) ** 0.5)
    assert 0 < uniform(stream(0), 9).min() < uniform(stream(0), 9).max() < 1


def test_an_update_is_that_of_the_rule() -> None:
    """One epoch in one part: the first loss is that of the oracle on the agent's own answers."""
    experiment = experiment_of(PICKING)
    rule = dataclasses.replace(experiment.objective, epochs=1, minibatches=1)
    learner = OneAgent(dataclasses.replace(experiment, objective=rule), 0)
    twin = OneAgent(dataclasses.replace(experiment, objective=rule), 0)
    rollout = twin._practice._actor.play(30, twin._practice._stream.child("actions", 0))
    given = (rollout.rewards, rollout.values, rollout.next_values, rollout.ends)
    found = oracle.advantages(*(part.double().numpy() for part in given), 0.99, 0.95)
    # At first the ratio is 1 and values are the old ones: what is left is known.
    probabilities = np.exp(rollout.log_probs.numpy())
    assert probabilities.std() < 0.02
    value_loss = (found**2).mean() / 2
    expected = -0.0 + 0.5 * value_loss - 0.01 * np.log(4)
    assert learner.update(0).item() == pytest.approx(expected, abs=1e-3)


def test_a_rollout_is_learned_from_until_the_policy_has_gone_too_far(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    learner = OneAgent(limited(Recall(), epochs=30, divergence_limit=1e-4), 0)
    practice, seen, made = learner._practice, list[float](), list[int]()
    stops, after = practice.stops, practice.after

    def look(state: dict) -> bool:
        seen.append(state["divergence"].item())
        return stops(state)

    monkeypatch.setattr(practice, "stops", look)
    monkeypatch.setattr(practice, "after", lambda *given: made.append(1) or after(*given))
    learner.update(0)
    assert len(made) == len(seen) - 1 < 59
    assert max(seen[:-1]) <= 1e-4 < seen[-1]
    first = len(seen)
    learner.update(1)
    assert len(seen) > first + 1  # a new rollout begins anew


def test_a_limit_that_is_never_reached_changes_nothing() -> None:
    learners = [OneAgent(limited(Recall(), **o), 0) for o in ({}, {"divergence_limit": 1e9})]
    for learner in learners:
        learner.update(0)
    states = [learner.state() for learner in learners]
    for name, tensor in states[0].items():
        np.testing.assert_array_equal(states[1][name], tensor, name)


def test_rewards_are_learned_from_in_units_of_their_returns() -> None:
    options = {"epochs": 1, "minibatches": 1, "scale_rewards": True, "reward_clip": 1.5}
    practice, twin = (OneAgent(limited(Recall(), **options), 0)._practice for _ in range(2))
    rollout = twin._actor.play(30, twin._stream.child("actions", 0))
    (lesson,) = practice.act(0)
    scaled = oracle.scaled_rewards(rollout.rewards.double().numpy(), rollout.ends.numpy(), 0.99)
    assert scaled.max() > 1.5
    given = (torch.from_numpy(scaled).float(), rollout.values, rollout.next_values, rollout.ends)
    rule = PPO(reward_clip=1.5)
    latent = lesson.problems.latent
    for name, expected in zip(("advantages", "returns"), rule.advantages(*given), strict=True):
        found = latent[name][latent["is_step"]]
        torch.testing.assert_close(found.sort().values, expected.flatten().sort().values)


def test_agents_learn_to_remember(tmp_path: Path) -> None:
    experiment = experiment_of(Recall(), steps=12, batch_size=16, learning_rate=4e-2)
    jobs, store = jobs_of([experiment], range(1)), Store(tmp_path)
    run(jobs, store, Here())
    [record] = results(jobs, store)
    assert record.final(TRAINING, "success") > 0.95
    assert record.final(TRAINING, "length") == 3
    assert record.final("delay-4", "length") == 5
    assert [r for r in record.scores if r.metric == "success" and r.step == 6]
    profile = str(extrapolation_profile(experiment.task, [record]))
    assert "delay-4" in profile
    network = trained_network(experiment, 0, store)
    assert isinstance(network, ActorCritic)


@pytest.mark.parametrize("metric", ["return", "points"])
def test_sums_of_rewards_are_no_percents(metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Recall, "metric", metric)
    experiment = experiment_of(Recall())
    (job,) = jobs_of([experiment], range(1))
    news = News(job=job, progress=Progress(step=3, steps=6, score=-195.5, seconds=1.0))
    with Display([job]) as display:
        line = display._line(news)
    label = measure_of(metric).label
    assert line == f"recall seed 0: step 3/6, training {label} -195.5000"
    scores = [
        Score(step=6, regime=regime.name, metric=metric, value=value, count=9)
        for regime, value in zip(experiment.task.regimes, (-195.5, 20.25), strict=True)
    ]
    described = experiment.to_json()
    record = Record(
        key=experiment.key,
        experiment=described,
        seed=0,
        steps=6,
        scores=tuple(scores),
        seconds=1.0,
        environment={},
    )
    points = extrapolation_profile(experiment.task, [record]).points
    assert [point.cells[2:5] for point in points] == [
        ("-195.5000", "-195.5000", "0.5000"),
        ("20.2500", "20.2500", "0.5000"),
    ]


@pytest.mark.parametrize("truncates", [False, True])
@pytest.mark.parametrize("of", [experiment_of, values_of])
def test_worlds_may_fill_the_same_arrays_at_every_step(of: Callable, truncates: bool) -> None:
    tasks = (Recall(truncates=truncates, reuses=reuses) for reuses in (False, True))
    first, second = (OneAgent(of(task), 0) for task in tasks)
    for step in range(2):
        first.update(step)
        second.update(step)
    shown = second.state()
    for name, tensor in first.state().items():
        np.testing.assert_array_equal(shown[name], tensor, name)


def test_worlds_that_do_not_fit_are_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Recall, "item_shape", (4,))
    with pytest.raises(ValueError, match=r"observations must have shape \(5, 4\), .* got \(5, 3\)"):
        ScoredWorlds(Recall(), TRAINING, 5, stream(0))
    monkeypatch.undo()
    monkeypatch.delattr(RecallWorlds, "state")
    with pytest.raises(ValueError, match="worlds must have the methods state and load_state"):
        OneAgent(experiment_of(Recall()), 0)


@pytest.mark.parametrize(
    ("experiment", "stop"),
    [
        (experiment_of(PICKING, core=LSTMLayer), 4),
        (limited(Recall(truncates=True), divergence_limit=1e-5, scale_rewards=True), 3),
        (values_of(PICKING, steps=20), 16),
        (values_of(Recall(truncates=True)), 3),
        pytest.param(
            experiment_of(BABYAI, core=LSTMLayer, steps=2),
            1,
            marks=pytest.mark.skipif(not BABYAI.is_at_hand(), reason="[rl]"),
        ),
    ],
    ids=["picking", "scaled", "full memory", "truncated", "babyai"],
)
def test_stopped_and_started_again_ends_with_the_same_bytes(
    tmp_path: Path, experiment: Experiment, stop: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    score_episodes(monkeypatch, 6)
    check_resumed(lambda: OneAgent(experiment, 1), experiment, tmp_path / "c", stop=stop)


def test_seeds_differ_and_an_agent_is_a_learner() -> None:
    first, second = (OneAgent(experiment_of(PICKING), seed) for seed in range(2))
    assert isinstance(first, Learner)
    assert first.seeds == (0,)
    assert first.update(0).item() != second.update(0).item()
    (points,) = first.training_metrics(1)
    assert [point.metric for point in points] == ["success", "loss"]
    assert points[0].count > 0


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"model": Network(reasoner=Spec(ESBN))}, "model must be an AgentNetwork"),
        ({"objective": Supervised()}, "objective must be a PPO with AgentNetwork"),
        ({"task": SameDifferent()}, "task must be one for a AgentNetwork, a Environment"),
        ({"task": "object-picking"}, r"write ObjectPicking\(…\), from farfield.tasks"),
        ({"recipe": Recipe(steps=2, batch_size=1)}, r"batch_size must be at least the minibatches"),
    ],
)
def test_experiments_that_do_not_fit_are_refused(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        dataclasses.replace(experiment_of(PICKING), **wrong)


def test_a_learning_rule_of_agents_needs_an_environment() -> None:
    with pytest.raises(ValueError, match="task must be an Environment for an agent"):
        Experiment(
            task=SameDifferent(),
            model=Network(reasoner=Spec(ESBN)),
            recipe=Recipe(steps=2),
            objective=PPO(),
        )
    with pytest.raises(ValueError, match="task must draw problems, got the environment"):
        assert experiment_of(PICKING).problem_task
    plain = Experiment(
        task=SameDifferent(), model=Network(reasoner=Spec(ESBN)), recipe=Recipe(steps=2)
    )
    with pytest.raises(ValueError, match="experiment must be of an environment"):
        OneAgent(plain, 0)


@pytest.mark.parametrize("experiment", [experiment_of(PICKING), values_of(PICKING)])
def test_experiments_with_agents_are_written_and_read(experiment: Experiment) -> None:
    assert Experiment.from_json(experiment.to_json()) == experiment
    space: dict[str, object] = {}
    exec(experiment.to_python(), space)
    assert space["experiment"] == experiment
