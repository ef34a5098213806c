"""Arrays of environments where they enter: copied, refused in words, in every mode of gymnasium."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

import numpy as np
import pytest

from farfield.core import stream
from farfield.tasks import GymnasiumWorlds
from farfield.tasks._worlds import _episodes
from farfield.tasks.internal import CheckedWorlds, play

LIMIT = 3
Faulty = Callable[[dict[str, Any]], None]


class AutoresetMode(Enum):
    """That of gymnasium."""

    NEXT_STEP = "NextStep"
    SAME_STEP = "SameStep"
    DISABLED = "Disabled"


class Counting:
    """Copies that count their steps from 10 on and are truncated after three.

    They hand out the same arrays at every step, and those of the actions are written over.
    """

    def __init__(self, count: int = 2, fault: Faulty = lambda _: None) -> None:
        self.num_envs, self.fault = count, fault
        self.seen = np.zeros((count, 2), np.float32)
        self.final = np.zeros_like(self.seen)
        self.rewards = np.zeros(count)
        self.flags = np.zeros((2, count), bool)
        self.reset()

    def reset(self, *, seed: object = None, options: dict[str, Any] | None = None) -> tuple:
        rows = (options or {}).get("reset_mask", np.ones(self.num_envs, bool))
        self.seen[rows] = 10
        return self.seen, {}

    def step(self, actions: np.ndarray) -> tuple:
        self.rewards[:] = actions
        actions[:] = 99
        self.seen += 1
        self.final[:] = self.seen
        self.flags[1] = self.seen[:, 0] >= 10 + LIMIT
        given = {
            "observations": self.seen,
            "rewards": self.rewards,
            "terminations": self.flags[0],
            "truncations": self.flags[1],
            "infos": {"final_obs": self.final},
        }
        self.begin()
        self.fault(given)
        return tuple(given.values())

    def begin(self) -> None:
        self.seen[self.flags[1]] = 10

    def close(self) -> None:
        pass

    def state(self) -> dict[str, Any]:
        return {"seen": self.seen.tolist()}

    def load_state(self, state: dict[str, Any]) -> np.ndarray:
        self.seen[:] = state["seen"]
        return self.seen


class Disabled(Counting):
    """The same in gymnasium's mode DISABLED."""

    def __init__(self, count: int = 2) -> None:
        super().__init__(count)
        self.metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.DISABLED}

    def begin(self) -> None:
        pass


def stepped(worlds: CheckedWorlds, count: int) -> Sequence[tuple]:
    worlds.reset()
    return [worlds.step(np.arange(worlds.num_envs)) for _ in range(count)]


@pytest.mark.parametrize("kind", [Counting, Disabled])
def test_arrays_are_the_callers_own_and_last_observations_are_kept(kind: type) -> None:
    worlds, actions = CheckedWorlds(kind()), np.arange(2)
    first, _ = worlds.reset()
    found = [worlds.step(actions) for _ in range(4)]
    shown = [first, *(step[0] for step in found)]
    assert [own[:, 0].tolist() for own in shown] == [[t, t] for t in (10, 11, 12, 10, 11)]
    assert actions.tolist() == [0, 1]
    assert [step[1].tolist() for step in found] == [[0.0, 1.0]] * 4
    assert [step[3].tolist() for step in found] == [[t, t] for t in (False, False, True, False)]
    assert [sorted(step[4]) for step in found] == [[], [], ["final_obs"], []]
    assert found[2][4]["final_obs"].tolist() == [[13, 13], [13, 13]]


def test_a_state_that_is_loaded_is_copied() -> None:
    worlds = CheckedWorlds(Counting())
    worlds.reset()
    shown = worlds.load_state({"seen": [[11, 11], [12, 12]]})
    worlds.step(np.zeros(2, int))
    assert shown.tolist() == [[11, 11], [12, 12]]
    assert worlds.state() == {"seen": [[12, 12], [10, 10]]}


def rows_of_objects(given: dict[str, Any]) -> None:
    """Last observations as gymnasium hands them out: arrays or `None`, and a mask."""
    rows = np.full(2, None, dtype=object)
    if (mask := given["truncations"].copy()).any():
        rows[0] = given["infos"]["final_obs"][0].copy()
        mask[1] = given["truncations"][1] = False
    given["infos"] = {"final_obs": rows, "_final_obs": mask} if mask.any() else {}


def test_rows_of_objects_are_read_and_all_others_are_zero() -> None:
    found = stepped(CheckedWorlds(Counting(fault=rows_of_objects)), 3)
    assert found[2][4]["final_obs"].tolist() == [[13, 13], [0, 0]]
    assert found[2][4]["final_obs"].dtype == np.float32


def put(name: str, make: Callable[[Any], Any]) -> Faulty:
    def fault(given: dict[str, Any]) -> None:
        given[name] = make(given[name])

    return fault


def without(row: int | None) -> Faulty:
    """No last observation, or none in a row, or none by its mask."""

    def fault(given: dict[str, Any]) -> None:
        mask = np.arange(2) != row
        given["infos"] = {} if row is None else given["infos"] | {"_final_obs": mask}

    return fault


FAULTS = {
    "no last observation": (without(None), r"missing for copy 0, with infos that are empty"),
    "none of a copy": (without(1), r"missing for copy 1, with infos of the names final_obs"),
    "infos": (put("infos", lambda _: [{}, {}]), "with infos that are a list"),
    "older name": (
        put("infos", lambda old: {"final_observation": old["final_obs"]}),
        "with infos of the names final_observation",
    ),
    "one for all": (
        put("infos", lambda old: {"final_obs": old["final_obs"][:1]}),
        "a row for each",
    ),
    "other shape": (
        put("infos", lambda old: {"final_obs": old["final_obs"][:, :1]}),
        r"an array of shape \(2,\) in row 0, got an array of shape \(1,\)",
    ),
    "nan in the last": (
        put("infos", lambda old: {"final_obs": old["final_obs"] * np.nan}),
        r"infos\['final_obs'\] must be finite, got nan",
    ),
    "dictionary": (
        put("observations", lambda old: {"image": old}),
        "one array, got a dict of image",
    ),
    "text": (put("observations", lambda _: np.array(["a", "b"])), "an array of numbers, a row for"),
    "rows": (put("observations", lambda old: old[:1]), r"2 copies, got an array of shape \(1, 2\)"),
    "shape": (
        put("observations", lambda old: old[:, :1]),
        r"keep their shape \(2, 2\), got \(2, 1\)",
    ),
    "type": (put("observations", np.float64), "keep their type float32, got float64"),
    "nan": (put("observations", lambda old: old * np.nan), "observations must be finite, got nan"),
    "reward": (put("rewards", lambda old: old / 0), "rewards must be finite, got nan"),
    "rewards in columns": (
        put("rewards", lambda old: old[:, None]),
        "rewards must be a number for",
    ),
    "complex": (put("rewards", lambda old: old * 1j), "rewards must be a number for each"),
    "one end": (
        put("terminations", lambda _: False),
        "terminations must be True or False for each",
    ),
    "half an end": (put("truncations", lambda old: old + 2), "truncations must be True or False"),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_refused_in_words(name: str) -> None:
    fault, said = FAULTS[name]
    with pytest.raises(ValueError, match=said):
        stepped(CheckedWorlds(Counting(fault=fault)), LIMIT)


def test_numbers_for_flags_and_lists_for_arrays_are_taken() -> None:
    def fault(given: dict[str, Any]) -> None:
        given["observations"] = given["observations"].astype(">f4")[::-1]
        given["truncations"] = given["truncations"].astype(np.int8)
        given["terminations"] = given["terminations"].tolist()
        given["rewards"] = [1, 2]

    observations, rewards, *flags, _ = stepped(CheckedWorlds(Counting(fault=fault)), LIMIT)[-1]
    assert observations.dtype.isnative
    assert rewards.tolist() == [1.0, 2.0]
    assert [part.tolist() for part in flags] == [[False, False], [True, True]]


def shared(given: dict[str, Any]) -> None:
    given["infos"] = {"final_obs": given["observations"]}


def shared_by_row(given: dict[str, Any]) -> None:
    rows = np.full(2, None, dtype=object)
    rows[:] = list(given["observations"])
    given["infos"] = {"final_obs": rows}


@pytest.mark.parametrize("fault", [shared, shared_by_row])
def test_last_observations_in_the_array_of_the_first_ones_are_refused(fault: Faulty) -> None:
    with pytest.raises(ValueError, match="must be a copy of the last observation"):
        stepped(CheckedWorlds(Counting(fault=fault)), LIMIT)


def test_an_array_of_the_copys_own_that_was_filled_again_is_refused() -> None:
    """As gymnasium in SAME_STEP hands out the array of an environment that fills one array."""
    own = [np.zeros(2, np.float32) for _ in range(2)]

    def fault(given: dict[str, Any]) -> None:
        rows = np.full(2, None, dtype=object)
        for row, (buffer, seen) in enumerate(zip(own, given["observations"], strict=True)):
            buffer[:] = seen
            rows[row] = buffer
        given["infos"] = {"final_obs": rows}

    with pytest.raises(ValueError, match="fills one array at every step"):
        stepped(CheckedWorlds(Counting(fault=fault)), LIMIT + 1)


def named(mode: object) -> Any:
    worlds = Disabled()
    worlds.metadata = {"autoreset_mode": mode}
    return worlds


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, "NextStep", "next-step", "other"])
def test_a_mode_that_feeds_steps_that_never_were_is_refused_by_name(mode: object) -> None:
    name = mode.name if isinstance(mode, AutoresetMode) else mode
    with pytest.raises(ValueError, match=f"in the mode {name}, in which the step after an end"):
        CheckedWorlds(named(mode))
    with pytest.raises(ValueError, match=r"autoreset_mode=AutoresetMode.SAME_STEP or DISABLED"):
        play(named(mode), lambda seen: np.zeros(len(seen), int))


@pytest.mark.parametrize("mode", ["Disabled", "DISABLED", "AutoresetMode.DISABLED"])
def test_a_mode_is_read_from_texts_too(mode: str) -> None:
    assert stepped(CheckedWorlds(named(mode)), LIMIT)[2][0].tolist() == [[10, 10], [10, 10]]


def test_a_reset_of_all_copies_is_refused_where_some_are_asked_for() -> None:
    worlds = Disabled()
    checked = CheckedWorlds(worlds)
    checked.reset()
    worlds.seen[0] = 12
    begin = worlds.reset
    worlds.reset = lambda **_: begin()  # type: ignore[method-assign]
    with pytest.raises(ValueError, match=r"in the copies of options\['reset_mask'\] alone"):
        checked.step(np.zeros(2, int))


def test_worlds_of_other_interfaces_are_refused() -> None:
    worlds = Counting()
    checked = CheckedWorlds(worlds)
    worlds.reset = lambda **_: worlds.seen  # type: ignore[method-assign]
    with pytest.raises(ValueError, match="reset must return observations and infos, got an array"):
        checked.reset()
    worlds.step = lambda _: (worlds.seen, 0.0, False, {})  # type: ignore[method-assign]
    with pytest.raises(ValueError, match="terminations, truncations and infos, got a tuple of 4"):
        checked.step(np.zeros(2, int))


class OneBuffer:
    """A single environment that fills one array, and ends after three steps."""

    def __init__(self) -> None:
        self.seen = np.zeros(2, np.float32)

    def reset(self, *, seed: int | None = None, options: object = None) -> tuple:
        self.seen[:] = 10
        return self.seen, {}

    def step(self, action: int) -> tuple:
        self.seen += 1
        return self.seen, 1.0, False, bool(self.seen[0] >= 10 + LIMIT), {}


def test_single_environments_may_fill_one_array() -> None:
    one = OneBuffer()
    worlds = GymnasiumWorlds([OneBuffer(), OneBuffer()], lambda _, found: found, stream(0))
    found = stepped(CheckedWorlds(worlds), LIMIT)
    assert found[2][4]["final_obs"].tolist() == [[13, 13], [13, 13]]
    state = {"seed": 0, "begun": 2, "episodes": [0, 1], "actions": [[0], [0, 0]]}
    both = GymnasiumWorlds([one, one], lambda _, found: found, stream(0))
    assert both.load_state(state).tolist() == [[11, 11], [12, 12]]
    with pytest.raises(ValueError, match="see must return one array, got a dict of image"):
        GymnasiumWorlds([one], lambda _, found: {"image": found}, stream(0)).reset()


@pytest.mark.parametrize("mode", ["SAME_STEP", "DISABLED", "NEXT_STEP"])
def test_vector_environments_of_gymnasium(mode: str) -> None:
    gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed: [rl]")

    class Count(gymnasium.Env):  # type: ignore[name-defined, misc]
        observation_space = gymnasium.spaces.Box(0, 100, (2,), np.float32)
        action_space = gymnasium.spaces.Discrete(2)

        def reset(self, *, seed: int | None = None, options: object = None) -> tuple:
            self.time = 10
            return np.full(2, 10, np.float32), {}

        def step(self, action: int) -> tuple:
            self.time += 1
            return np.full(2, self.time, np.float32), 1.0, False, self.time >= 10 + LIMIT, {}

    kind = gymnasium.vector.AutoresetMode[mode]
    made = gymnasium.vector.SyncVectorEnv([Count] * 2, copy=False, autoreset_mode=kind)
    if mode == "NEXT_STEP":
        with pytest.raises(ValueError, match="got a SyncVectorEnv in the mode NEXT_STEP"):
            CheckedWorlds(made)
        del made.metadata["autoreset_mode"]
        del made.autoreset_mode
        with pytest.raises(ValueError, match="a SyncVectorEnv of gymnasium without one"):
            CheckedWorlds(made)
        return
    found = stepped(CheckedWorlds(made), 4)
    assert [step[0][:, 0].tolist() for step in found] == [[t, t] for t in (11, 12, 10, 11)]
    assert found[2][4]["final_obs"].tolist() == [[13, 13], [13, 13]]
    with pytest.raises(ValueError, match="worlds must have the methods state and load_state"):
        CheckedWorlds(made).state()
    made.state, made.load_state = dict, lambda _: made.reset()[0]
    assert play(made, lambda seen: np.zeros(len(seen), int)).lengths.tolist() == [3, 3]


def test_an_episode_without_an_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two copies the second goes on."""

    def fault(given: dict[str, Any]) -> None:
        given["terminations"][1] = given["truncations"][1] = False

    worlds = Counting(fault=fault)
    monkeypatch.setattr(_episodes, "MOST_STEPS", 7)
    with pytest.raises(ValueError, match="must end within 7 steps, got one that goes on in copy 1"):
        play(worlds, lambda seen: np.zeros(len(seen), int))
