"""Films of trained agents: episodes, and the mechanisms that were active in them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from farfield.analysis import watch_episode
from farfield.core import stream
from farfield.experiments import QuantileNetwork, Spec
from farfield.models import ActorCritic
from farfield.nn import LinearEncoder, QuantileHead, RIMs
from farfield.records import Store
from farfield.reports import Plate, film
from farfield.reports._exhibits._time_courses import time_courses
from farfield.reports.internal import LIGHT
from farfield.tasks import TRAINING
from farfield.tasks.internal import CheckedWorlds
from reports.exhibits import AGENTS, ROOM, of_filmstrips, on_networks

pytestmark = pytest.mark.usefixtures("small_world")
Plates = Callable[[str], Plate]


def agent_of(row: str) -> torch.nn.Module:
    return AGENTS[row].model.build(ROOM, stream(3)).eval()


def test_mechanisms_are_those_of_every_step() -> None:
    """Read one observation at a time, from the state in which the one before left the agent."""
    agent = agent_of("RIMs")
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
    assert watch_episode(agent_of("GRU"), ROOM, TRAINING, stream(0)).active.shape[1] == 0
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
    episode = watch_episode(agent_of("RIMs"), ROOM, TRAINING, stream(0))
    with Image.open(film(episode, tmp_path / "film.gif")) as moving:
        differ = np.diff(episode.pictures.astype(int), axis=0).any((1, 2, 3))
        assert moving.n_frames == 1 + differ.sum()  # equal frames are one that lasts longer
        first = np.array(moving.convert("RGB").resize(episode.pictures.shape[2:0:-1], 0))
    np.testing.assert_allclose(first.astype(int), episode.pictures[0], atol=8)
    with Image.open(film(episode, tmp_path / "film.png")) as strip:
        assert strip.width > strip.height
    with pytest.raises(ValueError, match=r"path must end in \.png or \.gif, got"):
        film(episode, tmp_path / "film.jpg")


def test_a_filmstrip_shows_frames_over_mechanisms(plate: Plates, store: Store) -> None:
    strips, figure = plate("filmstrips"), of_filmstrips()
    report = on_networks(figure, store)
    courses = time_courses(level=0.9, metric="success").plate(figure, report, None)
    assert "the last 100 episodes of training" in courses.caption
    assert [finding.what for finding in strips.findings] == ["RIMs: active sets"]
    assert strips.draw is not None
    (axes,) = strips.draw(LIGHT).axes
    assert len(axes.images) >= 3
    bars = [label for label in axes.texts if set(label.get_text()) == {"▆"}]
    assert len(bars) == 2 * len(axes.images)
    said = [" ".join(label.get_text().split()) for label in axes.texts]
    assert {"mechanism 1", "mechanism 2", "step 1"} <= {*said}
    scores = [np.mean(row.values) for row in report.rows]
    (note,) = [one for one in said if one.startswith("1 of 2 networks, seed 0, 100 % of steps;")]
    assert f"success (%) of these {scores[0]:.1f} ± " in note
    assert f"all agents: {min(scores):.1f}" in note
    assert "chance" in note
    last = max(image.get_extent()[1] for image in axes.images)
    assert axes.get_xlim()[1] == pytest.approx(last, abs=0.07)  # no room beside the last frame
    assert "only RIMs have mechanisms" in strips.caption
