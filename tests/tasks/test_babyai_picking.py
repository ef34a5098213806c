"""Object picking in BabyAI: the levels, what is seen, states played again, without the package."""

from __future__ import annotations

import importlib
import importlib.util
import json

import numpy as np
import pytest

from farfield.core import stream
from farfield.tasks import TRAINING, BabyAIPicking, Environment, VectorEnv, is_at_hand
from farfield.tasks._worlds._babyai_picking import minigrid
from farfield.tasks._worlds._checked_worlds import GymnasiumWorlds
from farfield.tasks.internal import HasExpert, play

TASK = BabyAIPicking()
installed = pytest.mark.skipif(
    importlib.util.find_spec("minigrid") is None, reason="minigrid is not installed: [rl]"
)
LEFT, RIGHT, FORWARD, PICK_UP, DROP = range(5)


def actions_of(count: int, steps: int) -> np.ndarray:
    words = stream(3).numpy().bit_generator.random_raw(count * steps)
    return (words % np.uint64(7)).astype(np.int64).reshape(steps, count)


@installed
def test_environments_of_babyai_are_tasks_to_act_in() -> None:
    assert isinstance(TASK, Environment)
    assert isinstance(TASK, HasExpert)
    assert isinstance(TASK.make(TRAINING, 1, stream(0)), VectorEnv)
    assert is_at_hand(TASK)
    assert [regime.distance for regime in TASK.regimes] == [0, 4, 4, 4]


@installed
@pytest.mark.parametrize("regime", [regime.name for regime in TASK.regimes])
def test_rooms_are_those_of_their_regime(regime: str) -> None:
    worlds = TASK.make(regime, 20, stream(2))
    worlds.reset()
    for room in worlds.copies:
        cells = [cell for cell in room.grid.grid if cell is not None and cell.type != "wall"]
        asked = (room.instrs.desc.type, room.instrs.desc.color)
        others = [(cell.type, cell.color) for cell in cells]
        others.remove(asked)
        assert asked not in others
        assert len(others) == (8 if regime == "distractors-8" else 4)
        assert room.width == room.height == (11 if regime == "side-9" else 7)
        assert room.max_steps == room.width**2
        is_new = [kind == "box" and color in {"purple", "grey"} for kind, color in others]
        assert all(is_new) if regime == "novel-distractors" else not any(is_new)


@installed
def test_an_observation_is_the_view_of_the_package() -> None:
    """What is one cell ahead, and what is asked for, are where they are said to be."""
    worlds = TASK.make("novel-distractors", 30, stream(0))
    worlds.reset()
    for actions in actions_of(30, 12) % 3:
        observations = worlds.step(actions)[0]
    names = ["unseen", "wall", "key", "ball", "box"]
    colors = ["red", "green", "blue", "yellow", "purple", "grey"]
    ahead = set()
    for room, seen in zip(worlds.copies, observations, strict=True):
        assert seen.shape == TASK.item_shape
        assert set(np.unique(seen)) <= {0, 255}
        cell = room.grid.get(*room.front_pos)
        kinds = [name for name, plane in zip(names, seen, strict=False) if plane[5, 3]]
        assert kinds == ([] if cell is None else [cell.type])
        tints = [name for name, plane in zip(colors, seen[5:], strict=False) if plane[5, 3]]
        assert tints == ([] if cell is None or cell.type == "wall" else [cell.color])
        ahead |= {*kinds}
        asked = seen[11:, 0, 0]
        assert (seen[11:] == asked[:, None, None]).all()
        assert names[2 + asked[:3].argmax()] == room.instrs.desc.type
        assert colors[asked[3:].argmax()] == room.instrs.desc.color
        assert (asked > 0).sum() == 2
    assert ahead >= {"wall", "box"}


@installed
def test_the_expert_of_the_package_always_succeeds() -> None:
    worlds = TASK.make("distractors-8", 20, stream(0))
    found = play(worlds, lambda _: TASK.expert(worlds))
    assert TASK.score(found.returns).all()
    worlds.close()


@installed
@pytest.mark.parametrize("steps", [0, 1, 60])
def test_a_state_is_played_again(steps: int) -> None:
    worlds = TASK.make(TRAINING, 3, stream(4))
    observations, _ = worlds.reset()
    for actions in actions_of(3, steps):
        observations = worlds.step(actions)[0]
    kept = json.loads(json.dumps(worlds.state()))
    other = TASK.make(TRAINING, 3, stream(4))
    np.testing.assert_array_equal(other.load_state(kept), observations)
    for actions in actions_of(3, 70):
        for first, second in zip(worlds.step(actions)[:4], other.step(actions)[:4], strict=True):
            np.testing.assert_array_equal(first, second)
    assert worlds.state() == other.state()


@installed
def test_episodes_follow_one_another_and_keep_their_last_observation() -> None:
    worlds = TASK.make(TRAINING, 2, stream(0))
    first, _ = worlds.reset()
    ended = 0
    for _ in range(120):
        seen, _, terminations, truncations, infos = worlds.step(np.array([LEFT, DROP]))
        ends = terminations | truncations
        assert ("final_obs" in infos) == ends.any()
        ended += int(ends.sum())
        if ends.any():
            assert (infos["final_obs"] != seen).any()
    assert ended == 2 * (120 // 49)
    assert worlds.episodes == (4, 5)
    np.testing.assert_array_equal(worlds.reset(seed=0)[0], first)


def test_a_field_out_of_range_is_refused() -> None:
    for wrong in ({"side": 2}, {"distractors": 13}, {"more_distractors": (4,)}):
        (name,) = wrong
        with pytest.raises(ValueError, match=f"{name} must be an int"):
            BabyAIPicking(**wrong)


def test_without_the_package_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'farfield\[rl\]'"):
        minigrid("core.constants")


def test_worlds_of_gymnasium_take_any_environment() -> None:
    gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed: [rl]")
    copies = [gymnasium.make("CartPole-v1") for _ in range(2)]
    worlds = GymnasiumWorlds(copies, lambda _, found: found, stream(0))
    assert worlds.reset()[0].shape == (2, 4)
    for actions in actions_of(2, 60) % 2:
        assert worlds.step(actions)[0].shape == (2, 4)
    assert max(worlds.episodes) > 2
    worlds.close()
