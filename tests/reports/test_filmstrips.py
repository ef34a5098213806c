"""filmstrips: episodes of trained agents, and the mechanisms that were active in them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from farfield.analysis import watch_episode
from farfield.core import stream
from farfield.execution import Here, run
from farfield.execution.internal import Job
from farfield.experiments import AgentNetwork, Experiment, QuantileNetwork, Recipe, Spec
from farfield.models import ActorCritic
from farfield.nn import GRULayer, LinearEncoder, QuantileHead, RIMs
from farfield.objectives import PPO
from farfield.records import Store
from farfield.reports import Figure, film, illustrate, tabulate
from farfield.reports._exhibits import _mechanisms
from farfield.reports._exhibits._mechanisms import filmstrips
from farfield.reports._exhibits._time_courses import time_courses
from farfield.reports.internal import LIGHT
from farfield.reproductions import Claim, Table, Unpublished, VerdictRule
from farfield.tasks import TRAINING, CheckedWorlds, ObjectPicking
from worlds import score_episodes

ROOM = ObjectPicking(side=3, distractors=1, more_distractors=(), larger_sides=(), view=3)


def experiment(core: Spec) -> Experiment:
    return Experiment(
        task=ROOM,
        model=AgentNetwork(core=core, encoder=Spec(LinearEncoder, out_features=8)),
        recipe=Recipe(steps=2, batch_size=4),
        objective=PPO(rollout_length=5, epochs=1),
    )


MECHANISMS = experiment(Spec(RIMs, hidden_size=12, num_mechanisms=3, num_active=2))
WITHOUT = experiment(Spec(GRULayer, hidden_size=4))


def agent_of(what: Experiment) -> torch.nn.Module:
    return what.model.build(ROOM, stream(3)).eval()


def claim(row: str, what: Experiment) -> Claim:
    return Claim(
        paper="lamb2022",
        table="agents",
        row=row,
        column="training",
        published=Unpublished(runs=2, selection="last", split="new"),
        experiment=what,
        rule=VerdictRule(),
        metric="success",
        regime=TRAINING,
        quick=1,
        subject="Rooms",
    )


def test_mechanisms_are_those_of_every_step() -> None:
    """Read one observation at a time, from the state in which the one before left the agent."""
    agent = agent_of(MECHANISMS)
    assert isinstance(agent, ActorCritic)
    steps = []

    def take_down(core: RIMs, given: tuple, _: object) -> None:
        steps.append(core.trace(*given)[-1].active[0, 0])

    handle = agent.core.register_forward_hook(take_down)
    episode = watch_episode(agent, ROOM, TRAINING, stream(0))
    handle.remove()
    assert torch.equal(episode.active, torch.stack(steps))
    assert (episode.active.sum(1) == 2).all()
    assert len(episode.pictures) == len(steps)
    worlds = ROOM.make(TRAINING, 1, stream(0))
    worlds.reset()
    np.testing.assert_array_equal(episode.pictures[0], ROOM.picture(worlds, 0))
    assert episode.mission == ROOM.mission(worlds, 0)
    again, other = (watch_episode(agent, ROOM, TRAINING, stream(n)) for n in (0, 1))
    np.testing.assert_array_equal(again.pictures, episode.pictures)
    assert not np.array_equal(other.pictures[0], episode.pictures[0])


def test_an_agent_without_mechanisms_has_none_active() -> None:
    assert watch_episode(agent_of(WITHOUT), ROOM, TRAINING, stream(0)).active.shape[1] == 0
    with pytest.raises(
        ValueError, match="agent must be an ActorCritic or a QuantileAgent, got Linear"
    ):
        watch_episode(torch.nn.Linear(1, 1), ROOM, TRAINING, stream(0))


def test_an_agent_of_quantiles_takes_the_action_of_the_largest_mean(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network = QuantileNetwork(
        head=Spec(QuantileHead, num_cosines=4), encoder=Spec(LinearEncoder, out_features=8)
    )
    agent = network.build(ROOM, stream(3)).eval()
    best, chosen = [], []

    def take_down(_: object, given: tuple, returns: torch.Tensor) -> None:
        torch.testing.assert_close(given[1].diff(), torch.full((1, 31), 1 / 32))
        best.append(int(returns.mean(1).argmax()))

    step = CheckedWorlds.step

    def watched(worlds: CheckedWorlds, actions: np.ndarray) -> tuple:
        chosen.extend(actions.tolist())
        return step(worlds, actions)

    agent.register_forward_hook(take_down)
    monkeypatch.setattr(CheckedWorlds, "step", watched)
    episode = watch_episode(agent, ROOM, TRAINING, stream(0))
    assert chosen == best
    assert episode.active.shape == (len(best), 0)


def test_a_film_is_a_strip_or_moves(tmp_path: Path) -> None:
    episode = watch_episode(agent_of(MECHANISMS), ROOM, TRAINING, stream(0))
    with Image.open(film(episode, tmp_path / "film.gif")) as moving:
        differ = np.diff(episode.pictures.astype(int), axis=0).any((1, 2, 3))
        assert moving.n_frames == 1 + differ.sum()  # equal frames are one that lasts longer
        first = np.array(moving.convert("RGB").resize(episode.pictures.shape[2:0:-1], 0))
    np.testing.assert_allclose(first.astype(int), episode.pictures[0], atol=8)
    with Image.open(film(episode, tmp_path / "film.png")) as strip:
        assert strip.width > strip.height
    with pytest.raises(ValueError, match=r"path must end in \.png or \.gif, got"):
        film(episode, tmp_path / "film.jpg")


def test_a_filmstrip_shows_frames_over_mechanisms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    score_episodes(monkeypatch, 4)
    monkeypatch.setattr(_mechanisms, "EPISODES", 6)
    store = Store(tmp_path / "runs")
    for own in (MECHANISMS, WITHOUT):
        run([Job(experiment=own, seed=0)], store, Here())
    table = Table(
        key="lamb2022/agents",
        title="Agents",
        claims=(claim("RIMs", MECHANISMS), claim("GRU", WITHOUT)),
    )
    exhibits = (time_courses(level=0.9, metric="success"), filmstrips(regime=TRAINING, least=3))
    report = tabulate(table, lambda own: store.records(own.experiment.key))
    courses, strips = illustrate(Figure(table=table, exhibits=exhibits), report, store)
    assert "the last 100 episodes of training" in courses.caption
    assert [finding.what for finding in strips.findings] == ["RIMs: active sets"]
    assert strips.draw is not None
    (axes,) = strips.draw(LIGHT).axes
    assert len(axes.images) >= 3
    bars = [label for label in axes.texts if set(label.get_text()) == {"▆"}]
    assert len(bars) == 2 * len(axes.images)
    said = [" ".join(label.get_text().split()) for label in axes.texts]
    assert {"mechanism 1", "mechanism 2", "step 1"} <= {*said}
    scores = [row.values[0] for row in report.rows]
    (note,) = [one for one in said if one.startswith("1 of 1 network, seed 0, 100 % of steps;")]
    assert f"success (%) of these {scores[0]:.1f}" in note
    assert f"all agents: {min(scores):.1f}" in note
    assert "chance" in note
    last = max(image.get_extent()[1] for image in axes.images)
    assert axes.get_xlim()[1] == pytest.approx(last, abs=0.07)  # no room beside the last frame
    assert "only RIMs have mechanisms" in strips.caption
