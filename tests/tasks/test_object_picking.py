"""Object picking beside a room that is simulated cell by cell; its frozen version; its levels."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest

from farfield.core import stream
from farfield.core.internal import UnknownNameError
from farfield.tasks import (
    ENVIRONMENTS,
    TRAINING,
    Environment,
    ObjectPicking,
    VectorEnv,
    random_score,
)
from farfield.tasks._worlds._rooms import COLORS, KINDS, KNOWN_COLORS, KNOWN_KINDS, Rooms
from farfield.tasks.internal import HasExpert, expert_score, metric_of, play
from oracles.rooms import OneRoom

TASK = ObjectPicking()
SMALL = ObjectPicking(side=4, distractors=3, more_distractors=(9,), larger_sides=(6,), view=5)
REGIMES = [regime.name for regime in TASK.regimes]
# The head of SHA-256 over five hundred steps of seven rooms; a change of one byte raises `version`.
FROZEN = {
    "training": "072a2983fe509898",
    "novel-distractors": "d8b99a650527c3f2",
    "distractors-8": "6b3b4d1e878b8833",
    "distractors-16": "9260014baed7370a",
    "side-12": "3954afb9af5f4e73",
    "side-16": "d3285ca724f4945c",
}


def played(worlds: Rooms, steps: int) -> str:
    """Digest of all that a number of random steps returns."""
    generator, total = stream(3).numpy(), hashlib.sha256()
    total.update(worlds.reset()[0].tobytes())
    for _ in range(steps):
        actions = generator.bit_generator.random_raw(worlds.num_envs) % np.uint64(4)
        for found in worlds.step(actions.astype(np.int64))[:4]:
            total.update(found.astype(found.dtype.newbyteorder("<")).tobytes())
    return total.hexdigest()[:16]


def rebuilt(worlds: Rooms, row: int, side: int, view: int, limit: int) -> OneRoom:
    """The room of a row, read from what was drawn."""
    now, width, margin = worlds.layouts, side + 2 * (view - 1), view - 1

    def place(cell: int) -> tuple[int, int]:
        return cell // width - margin, cell % width - margin

    objects = {
        place(cell): divmod(int(code) - 2, len(COLORS))
        for cell, code in enumerate(now.grid[row])
        if code >= 2
    }
    agent, target = place(int(now.position[row])), place(int(now.target[row]))
    return OneRoom(side, view, limit, agent, int(now.direction[row]), objects, target)


@pytest.mark.parametrize("regime", [regime.name for regime in SMALL.regimes])
def test_every_step_is_that_of_a_room_simulated_cell_by_cell(regime: str) -> None:
    side = 6 if regime == "side-6" else 4
    worlds, generator = SMALL.make(regime, 3, stream(1)), np.random.default_rng(0)
    sizes = (len(KINDS), len(COLORS), KNOWN_KINDS, KNOWN_COLORS)
    observations, _ = worlds.reset()
    rooms = [rebuilt(worlds, row, side, 5, side**2) for row in range(3)]
    ends = 0
    for _ in range(300):
        for seen, room in zip(observations, rooms, strict=True):
            np.testing.assert_array_equal(seen, 255 * room.seen(*sizes))
        actions = generator.choice(4, size=3, p=[0.2, 0.2, 0.5, 0.1])
        observations, rewards, terminations, truncations, infos = worlds.step(actions)
        for row, room in enumerate(rooms):
            found = (rewards[row], terminations[row], truncations[row])
            assert found == pytest.approx(room.act(actions[row]))
            if terminations[row] or truncations[row]:
                ends += 1
                np.testing.assert_array_equal(infos["final_obs"][row], 255 * room.seen(*sizes))
                rooms[row] = rebuilt(worlds, row, side, 5, side**2)
    assert ends > 20


def test_drawn_episodes_are_frozen_for_this_version() -> None:
    assert TASK.version == 1
    assert {name: played(TASK.make(name, 7, stream(0)), 500) for name in REGIMES} == FROZEN
    assert played(TASK.make(TRAINING, 7, stream(1)), 500) != FROZEN[TRAINING]


@pytest.mark.parametrize("regime", REGIMES)
def test_rooms_are_those_of_their_regime(regime: str) -> None:
    worlds = TASK.make(regime, 200, stream(2))
    worlds.reset()
    side = int(regime[5:]) if regime.startswith("side") else 8
    asked = np.zeros((KNOWN_KINDS, KNOWN_COLORS))
    for row in range(200):
        room = rebuilt(worlds, row, side, 7, side**2)
        target = room.objects.pop(room.target)
        asked[target] += 1
        others = [*room.objects.values()]
        assert len(others) == (int(regime[12:]) if regime.startswith("distractors") else 4)
        assert target not in others
        is_new = [kind >= KNOWN_KINDS and color >= KNOWN_COLORS for kind, color in others]
        is_known = [kind < KNOWN_KINDS and color < KNOWN_COLORS for kind, color in others]
        assert all(is_new if regime == "novel-distractors" else is_known)
        assert room.agent not in {room.target, *room.objects}
    assert asked.min() > 0
    assert asked.max() < 200 / asked.size + 5 * (200 / asked.size) ** 0.5


def test_the_expert_goes_a_shortest_way() -> None:
    worlds = SMALL.make("distractors-9", 40, stream(0))
    found = play(worlds, lambda _: SMALL.expert(worlds))
    again = SMALL.make("distractors-9", 40, stream(0))
    again.reset()
    fewest = [rebuilt(again, row, 4, 5, 16).fewest_actions() for row in range(40)]
    assert None in fewest
    for length, score, least in zip(found.lengths, SMALL.score(found.returns), fewest, strict=True):
        assert (length, score) == ((16, 0) if least is None else (least, 1))


def test_floor_and_ceiling_are_those_of_random_and_expert_players() -> None:
    floor, ceiling = SMALL.chance(TRAINING), expert_score(SMALL, TRAINING)
    assert 0.05 < floor < 0.3
    assert 0.9 < ceiling <= 1
    assert floor == random_score(SMALL, TRAINING)
    assert metric_of(TASK) == "success"


@pytest.mark.parametrize("steps", [0, 41])
def test_a_state_leads_on_to_the_same_bytes(steps: int) -> None:
    def go_on(worlds: Rooms) -> list[np.ndarray]:
        generator = np.random.default_rng(1)
        return [part for _ in range(300) for part in worlds.step(generator.integers(4, size=5))[:4]]

    worlds, generator = TASK.make("novel-distractors", 5, stream(4)), np.random.default_rng(0)
    observations, _ = worlds.reset()
    for _ in range(steps):
        observations = worlds.step(generator.integers(4, size=5))[0]
    kept = json.loads(json.dumps(worlds.state()))
    other = TASK.make("novel-distractors", 5, stream(4))
    np.testing.assert_array_equal(other.load_state(kept), observations)
    for first, second in zip(go_on(worlds), go_on(other), strict=True):
        np.testing.assert_array_equal(first, second)


def test_a_seed_begins_again_and_without_one_episodes_go_on() -> None:
    worlds = TASK.make(TRAINING, 4, stream(0))
    first, second, again = worlds.reset(seed=0)[0], worlds.reset()[0], worlds.reset(seed=0)[0]
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(first, TASK.make(TRAINING, 4, stream(0)).reset()[0])
    assert (first != second).any()
    assert (first != worlds.reset(seed=1)[0]).any()
    worlds.close()


def test_environments_are_tasks_to_act_in() -> None:
    assert [*ENVIRONMENTS] == [cls.name for cls in ENVIRONMENTS.values()]
    assert isinstance(TASK, Environment)
    assert isinstance(TASK, HasExpert)
    assert isinstance(TASK.make(TRAINING, 1, stream(0)), VectorEnv)
    assert [regime.distance for regime in TASK.regimes] == [0, 4, 4, 12, 4, 8]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"side": 1}, "side must be an int 2…64, got 1"),
        ({"distractors": 63}, "distractors must be an int 1…62, got 63"),
        ({"more_distractors": (4,)}, "more_distractors must be an int 5…62, got 4"),
        ({"larger_sides": (8,)}, "larger_sides must be an int 9…64, got 8"),
        ({"view": 6}, "view must be odd, got 6"),
    ],
)
def test_wrong_fields_are_refused(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        ObjectPicking(**wrong)


def test_wrong_rooms_are_refused() -> None:
    with pytest.raises(ValueError, match="count must be an int 1…1000000, got 0"):
        TASK.make(TRAINING, 0, stream(0))
    with pytest.raises(UnknownNameError, match="novel-distractors"):
        TASK.make("novel", 1, stream(0))
    with pytest.raises(ValueError, match="actions must be integers 0…3, one for each of 2 rooms"):
        TASK.make(TRAINING, 2, stream(0)).step(np.array([0, 4]))


def test_gymnasium_finds_nothing_wrong() -> None:
    gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed: [rl]")
    from gymnasium.utils.env_checker import check_env

    class One(gymnasium.Env):
        """The first of one room, in gymnasium's interface for single environments."""

        def __init__(self) -> None:
            self.worlds = TASK.make(TRAINING, 1, stream(0))
            self.observation_space = gymnasium.spaces.Box(0, 255, TASK.item_shape, np.uint8)
            self.action_space = gymnasium.spaces.Discrete(TASK.num_actions)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            observations, infos = self.worlds.reset(seed=seed, options=options)
            return observations[0], infos

        def step(self, action):
            found = self.worlds.step(np.array([action]))
            observations, rewards, terminations, truncations, infos = found
            seen = infos["final_obs"][0] if infos else observations[0]
            return seen, float(rewards[0]), bool(terminations[0]), bool(truncations[0]), {}

    check_env(One(), skip_render_check=True)


def test_a_picture_shows_what_stands_where() -> None:
    """Two colors where something stands, and other ground where the agent looks."""
    task = ObjectPicking(side=4, distractors=3, more_distractors=(), larger_sides=(), view=3)
    worlds = task.make(TRAINING, 6, stream(0))
    observations, _ = worlds.reset()
    codes = worlds.layouts.grid.reshape(6, 8, 8)[:, 1:7, 1:7]
    for row in range(6):
        cells = task.picture(worlds, row).reshape(6, 8, 6, 8, 3).swapaxes(1, 2).reshape(36, 64, 3)
        colors = [len(np.unique(cell, axis=0)) for cell in cells]
        full = np.flatnonzero(codes[row] > 1)
        empty = np.flatnonzero(codes[row] == 0)
        assert {colors[place] for place in full} == {2}
        assert sorted(colors[place] for place in empty)[-2:] == [1, 2]  # the last is the agent's
        ground = {tuple(cells[place, 0]) for place in empty}
        seen = observations[row, 0].size - np.count_nonzero(observations[row, 0])
        assert len(ground) == 2 - (seen == 0)
        kind, color = np.flatnonzero(observations[row, -7:, 0, 0])
        assert task.mission(worlds, row) == f"{COLORS[color - 3]} {KINDS[kind]}"
