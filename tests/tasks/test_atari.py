"""Games of the Atari 2600: frames, scores, regimes, states played again, without the package."""

from __future__ import annotations

import importlib
import json

import numpy as np
import pytest

from farfield.core import UnknownNameError, stream
from farfield.tasks import TRAINING, Atari, Environment, VectorEnv, is_at_hand, metric_of
from farfield.tasks._worlds._atari_games import ale_py, has_ale

TASK = Atari(game="ms_pacman", modes=(1,))
installed = pytest.mark.skipif(not has_ale(), reason="ale-py is not installed: [atari]")


def actions_of(count: int, steps: int) -> np.ndarray:
    return np.random.default_rng(0).integers(9, size=(steps, count))


@installed
def test_a_game_is_an_environment() -> None:
    assert isinstance(TASK, Environment)
    assert (TASK.num_actions, metric_of(TASK), is_at_hand(TASK)) == (9, "return", True)
    worlds = TASK.make(TRAINING, 2, stream(0))
    assert isinstance(worlds, VectorEnv)
    observations, _ = worlds.reset()
    assert (observations.shape, observations.dtype) == ((2, 4, 84, 84), np.uint8)
    assert [regime.name for regime in TASK.regimes] == [TRAINING, "mode-1"]


@installed
def test_the_latest_image_is_the_last_and_a_score_is_the_sum_of_rewards() -> None:
    worlds = TASK.make(TRAINING, 1, stream(0))
    before, _ = worlds.reset()
    total = 0.0
    for actions in actions_of(1, 150):
        seen, rewards, _, _, _ = worlds.step(actions)
        np.testing.assert_array_equal(seen[0, :-1], before[0, 1:])
        before, total = seen, total + rewards[0]
    assert total >= 50
    assert total % 10 == 0
    assert TASK.score(np.array([total])) == total


@installed
def test_a_mode_is_another_game() -> None:
    first, second = (TASK.make(name, 1, stream(0)).reset()[0] for name in (TRAINING, "mode-1"))
    assert (first != second).any()


@installed
def test_a_state_is_played_again() -> None:
    worlds, actions = TASK.make(TRAINING, 2, stream(0)), actions_of(2, 80)
    observations, _ = worlds.reset()
    for own in actions[:40]:
        observations = worlds.step(own)[0]
    kept = json.loads(json.dumps(worlds.state()))
    other = TASK.make(TRAINING, 2, stream(0))
    np.testing.assert_array_equal(other.load_state(kept), observations)
    for own in actions[40:]:
        for first, second in zip(worlds.step(own)[:4], other.step(own)[:4], strict=True):
            np.testing.assert_array_equal(first, second)


@installed
def test_what_there_is_none_of_is_named() -> None:
    with pytest.raises(UnknownNameError, match="ms_pacman"):
        assert Atari(game="mspacman").num_actions
    with pytest.raises(ValueError, match="mode of pong must be one of 0, 1, got 7"):
        Atari(game="pong", modes=(7,)).make("mode-7", 1, stream(0))
    with pytest.raises(ValueError, match="count must be an int"):
        TASK.make(TRAINING, 0, stream(0))


def test_without_the_package_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'farfield\[atari\]'"):
        ale_py()
