"""Games of the Atari 2600: frames, scores, regimes, states played again, without the package."""

from __future__ import annotations

import importlib
import json
from fractions import Fraction
from math import ceil

import numpy as np
import pytest

from farfield.core import stream
from farfield.core.internal import UnknownNameError
from farfield.tasks import TRAINING, Atari, Environment, VectorEnv, is_at_hand
from farfield.tasks._worlds._atari import Game, ale_py, has_ale
from farfield.tasks.internal import metric_of

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


def mean_of_area(screen: np.ndarray, row: int, column: int) -> int:
    """The mean over the area of a pixel of 84×84, halves up, in fractions."""
    total, whole = Fraction(0), Fraction(1)
    ends = [
        (Fraction(place * size, 84), Fraction((place + 1) * size, 84))
        for place, size in zip((row, column), screen.shape, strict=True)
    ]
    for (low, high), size in zip(ends, screen.shape, strict=True):
        whole *= high - low
        assert 0 <= low < high <= size
    parts = [
        [(pixel, min(high, pixel + 1) - max(low, pixel)) for pixel in range(int(low), ceil(high))]
        for low, high in ends
    ]
    for y, height in parts[0]:
        for x, width in parts[1]:
            total += height * width * int(screen[y, x])
    return int(total / whole + Fraction(1, 2))


@pytest.mark.parametrize("shape", [(210, 160), (250, 160)])
def test_pixels_are_the_exact_means_of_areas(shape: tuple[int, int]) -> None:
    screen = np.random.default_rng(0).integers(256, size=shape, dtype=np.uint8)
    found = Game._image(screen)
    assert (found.shape, found.dtype) == ((84, 84), np.uint8)
    places = [(row, column) for row in (0, 1, 41, 82, 83) for column in range(84)]
    places += [(row, column) for row in range(84) for column in (0, 19, 83)]
    expected = [mean_of_area(screen, *place) for place in places]
    assert [int(found[place]) for place in places] == expected


def test_half_a_level_is_rounded_up_and_even_pictures_stay() -> None:
    screen = np.zeros((210, 160), np.uint8)
    screen[0:5] = np.array([1, 1, 0, 2, 0])[:, None]  # 2½ rows each: means of 0.8 and 0.8
    screen[5:10] = np.array([0, 1, 1, 0, 1])[:, None]  # 0.6, then 0.6
    screen[10:15] = np.array([1, 0, 1, 2, 0])[:, None]  # 0.6, then 1
    screen[15:20] = np.array([1, 0, 0, 0, 0])[:, None]  # 0.4, then 0
    screen[20:25] = np.array([5, 0, 0, 10, 0])[:, None]  # 2, then 4
    assert Game._image(screen)[:10, 7].tolist() == [1, 1, 1, 1, 1, 1, 0, 0, 2, 4]
    halves = np.zeros((168, 84), np.uint8)
    halves[::2] = 1
    assert (Game._image(halves) == 1).all()
    assert (Game._image(np.full((210, 160), 255, np.uint8)) == 255).all()


def test_without_the_package_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'farfield\[atari\]'"):
        ale_py()
