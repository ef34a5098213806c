"""The check of environments names everything that training would suffer from, and nothing else."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from farfield.tasks import (
    ENVIRONMENTS,
    Atari,
    BabyAIPicking,
    Environment,
    ObjectPicking,
    check_environment,
    is_at_hand,
)
from farfield.tasks.internal import metric_of
from worlds import Recall, RecallWorlds

SMALL = ObjectPicking(side=3, distractors=1, more_distractors=(2,), larger_sides=(4,), view=3)


ROWS: dict[str, Environment] = {
    "object-picking": SMALL,
    "babyai-picking": BabyAIPicking(side=3, distractors=1, more_distractors=(), larger_sides=()),
    "atari": Atari(),
}
"""A small environment of every name."""


def test_every_environment_has_a_row() -> None:
    assert {name: type(environment) for name, environment in ROWS.items()} == ENVIRONMENTS


@pytest.mark.parametrize("name", ROWS)
def test_every_environment_is_right(name: str) -> None:
    if not is_at_hand(ROWS[name]):
        pytest.skip("ale-py or minigrid is not installed")
    assert ROWS[name].name == name
    check_environment(ROWS[name], steps=40)


@pytest.mark.parametrize("truncates", [False, True])
@pytest.mark.parametrize("reuses", [False, True])
def test_environments_that_are_right_pass(truncates: bool, reuses: bool) -> None:
    check_environment(Recall(truncates=truncates, reuses=reuses), steps=40)


def faults_of(environment: Any, **options: int) -> list[str]:
    with pytest.raises(
        ValueError, match="agents would not learn rightly in the environment"
    ) as found:
        check_environment(environment, **({"steps": 30} | options))
    return str(found.value).split("\n- ")[1:]


def stepping(change: Callable[[list], None], **fields: bool) -> Callable[[pytest.MonkeyPatch], Any]:
    """`Recall`, whose worlds return something else from `step`."""
    step = RecallWorlds.step

    def changed(self: RecallWorlds, actions: np.ndarray) -> tuple:
        found = list(step(self, actions))
        change(found)
        return tuple(found)

    def environment(patch: pytest.MonkeyPatch) -> Recall:
        patch.setattr(RecallWorlds, "step", changed)
        return Recall(**fields)

    return environment


def set_to(place: int, make: Callable[[Any], Any]) -> Callable[[list], None]:
    def change(found: list) -> None:
        found[place] = make(found[place])

    return change


def with_first_as_last(found: list) -> None:
    if found[4]:
        found[4] = {"final_obs": found[0].copy()}


def patched(name: str, value: object, owner: type = Recall) -> Callable[[pytest.MonkeyPatch], Any]:
    def environment(patch: pytest.MonkeyPatch) -> Recall:
        patch.setattr(owner, name, value, raising=False)
        return Recall()

    return environment


def unseeded(self: RecallWorlds) -> np.ndarray:
    return np.random.default_rng().random((self.num_envs, 3)).astype(np.float32)


def forgetful(self: RecallWorlds, state: dict[str, Any]) -> np.ndarray:
    self.begun = state["begun"]
    self.bits, self.time = np.array(state["bits"]), np.zeros(self.num_envs, np.int64)
    return self.seen()


def brittle(self: RecallWorlds, actions: np.ndarray) -> tuple:
    raise KeyError("no such move")


def leaving(self: RecallWorlds, actions: np.ndarray) -> tuple:
    raise SystemExit("\x1b[2J")


CASES: dict[str, tuple[Callable[[pytest.MonkeyPatch], Any], list[str]]] = {
    "rewards and observations": (
        stepping(lambda found: found.__setitem__(slice(2), [found[0] * np.nan, found[1] * np.nan])),
        ["observations must be finite", "rewards must be finite"],
    ),
    "no last observation": (
        stepping(set_to(4, lambda _: {}), truncates=True),
        ["infos['final_obs'] must hold the last observation of each episode that is truncated"],
    ),
    "first as last": (
        stepping(with_first_as_last, truncates=True),
        ["infos['final_obs'] must be the last observation of an episode; it was the first"],
    ),
    "integers": (
        patched("seen", lambda self: np.zeros((self.num_envs, 3), np.int64), RecallWorlds),
        ["observations must be floating-point or uint8 of 0…255, got int64"],
    ),
    "shape": (
        patched("item_shape", (3, 1)),
        ["observations must have item_shape (3, 1), got (3,)"],
    ),
    "numbers": (
        patched("num_actions", 2.0),
        ["num_actions must be an int of at least 1, got 2.0"],
    ),
    "mode": (
        patched("metadata", {"autoreset_mode": "NextStep"}, RecallWorlds),
        ["worlds must begin the next episode in the mode SAME_STEP or DISABLED"],
    ),
    "seeds": (
        patched("seen", unseeded, RecallWorlds),
        ["episodes must be drawn from the stream that make takes"],
    ),
    "state": (
        patched("load_state", forgetful, RecallWorlds),
        ["load_state must go back to where state was asked for; it gave other"],
    ),
    "state that is no JSON": (
        patched("state", lambda self: {"bits": self.bits}, RecallWorlds),
        ["state must be JSON"],
    ),
    "an exit": (
        patched("step", leaving, RecallWorlds),
        [r"the regime 'training' must run for all of its actions, got SystemExit: \x1b[2J"],
    ),
    "no regime of training": (
        patched("regimes", Recall.regimes[1:]),
        ["regimes must have the name 'training' among them, got ('delay-4',)"],
    ),
    "actions": (
        patched("step", brittle, RecallWorlds),
        ["the regime 'training' must run for all of its actions, got KeyError: 'no such move'"],
    ),
    "score": (
        patched("score", lambda _self, returns: returns.mean()),
        ["score must return a number for each of 3 episodes"],
    ),
    "infinite score": (
        patched("score", lambda _self, returns: returns / 0),
        ["score must return finite numbers"],
    ),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", CASES)
def test_faults_are_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    make, expected = CASES[name]
    found = faults_of(make(monkeypatch))
    assert [fault[: len(said)] for fault, said in zip(found, expected, strict=False)] == expected


def test_worlds_are_made_anew_at_every_call(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: dict[str, RecallWorlds] = {}
    make = Recall.make

    def same(self: Recall, regime: str, count: int, place: Any) -> RecallWorlds:
        return kept.setdefault(regime, make(self, regime, count, place))

    monkeypatch.setattr(Recall, "make", same)
    assert faults_of(Recall())[0].startswith("make must return other worlds at every call")


def test_as_many_copies_are_made_as_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    make = Recall.make
    monkeypatch.setattr(Recall, "make", lambda self, regime, _, place: make(self, regime, 2, place))
    assert faults_of(Recall()) == [
        "make must return as many copies as are asked for, 3, got 2",
    ]


def test_what_is_no_environment_is_refused_by_its_missing_members() -> None:
    (fault,) = faults_of(3)
    assert fault == (
        "members of farfield.tasks.Environment are missing: name, version, regimes, chance, "
        "scored_episodes, item_shape, num_actions, make, score"
    )
    with pytest.raises(ValueError, match="steps must be an int 2…10000000, got 1"):
        check_environment(Recall(), steps=1)


def test_a_task_is_a_frozen_dataclass() -> None:
    class Open:
        pass

    for name in ("name", "version", "scored_episodes", "item_shape", "num_actions", "regimes"):
        setattr(Open, name, getattr(Recall, name))
    for name in ("make", "score", "chance"):
        setattr(Open, name, lambda _, *given, name=name: getattr(Recall(), name)(*given))
    assert faults_of(Open())[0].startswith("the environment must be a frozen dataclass")


def test_a_warning_says_that_no_episode_ended() -> None:
    with pytest.warns(UserWarning, match="no episode ended within 10 steps"):
        check_environment(dataclasses.replace(Recall(), delay=50), steps=10)


def test_a_warning_says_that_returns_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Returns so far are 40, 79.6 and 118.804 in episodes of three steps: of deviation 32.173."""
    environment = stepping(set_to(1, lambda old: 40.0 * (old >= 0)))(monkeypatch)
    with pytest.warns(UserWarning, match=r"deviation of 32\.2, far above 1: .*scale_rewards=True"):
        check_environment(environment, steps=30)


def test_environments_of_gymnasium() -> None:
    gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed: [rl]")
    with pytest.warns(UserWarning, match="discounted returns have a standard deviation of"):
        check_environment(gymnasium.make("CartPole-v1"), steps=60)

    class Count(gymnasium.Env):  # type: ignore[name-defined, misc]
        observation_space = gymnasium.spaces.Box(0, 1, (2,), np.float32)
        action_space = gymnasium.spaces.Discrete(2, start=1)

        def reset(self, *, seed: int | None = None, options: object = None) -> tuple:
            self.time = 0
            return np.zeros(2, np.float32), {}

        def step(self, action: int) -> tuple:
            self.time += 1
            return np.full(2, self.time, np.float32), 1.0, self.time >= 3, False, {}

    assert [fault.partition(",")[0] for fault in faults_of(Count())] == [
        "the action space must be Discrete(2)",
        "observations must lie in the observation space Box(0.0",
    ]
    vector = gymnasium.vector
    made = vector.SyncVectorEnv([Count], autoreset_mode=vector.AutoresetMode.SAME_STEP)
    assert faults_of(made)[0].startswith("worlds must have the methods state and load_state")
    Count.action_space = gymnasium.spaces.Box(0, 1)
    assert faults_of(Count())[0].startswith("action_space must be a Discrete one, got Box(0.0")


def test_an_environment_without_a_metric_is_scored_by_returns() -> None:
    class Unnamed:
        pass

    for name in ("name", "version", "scored_episodes", "item_shape", "regimes", "make", "score"):
        setattr(Unnamed, name, getattr(Recall, name))
    Unnamed.chance = Recall.chance
    assert metric_of(Unnamed()) == "return"
    assert metric_of(Recall()) == "success"
