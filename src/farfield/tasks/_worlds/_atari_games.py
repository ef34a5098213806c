"""One game of the Atari 2600 by ale-py, with the usual preprocessing of frames."""

from __future__ import annotations

import importlib
import importlib.util
from functools import cache
from typing import Any, Final, final

import numpy as np
from jaxtyping import Float, UInt8

from farfield.core import UnknownNameError

SIDE: Final = 84
FRAMES: Final = 4
REPEAT: Final = 4
MOST_NOOPS: Final = 30
LIMIT: Final = 27_000
"""Steps after which an episode is truncated: half an hour of play."""


def has_ale() -> bool:
    """True if the package ale-py is installed."""
    return importlib.util.find_spec("ale_py") is not None


def ale_py() -> Any:
    """The package ale-py.

    Raises:
        ModuleNotFoundError: If it is not installed.
    """
    try:
        return importlib.import_module("ale_py")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "Atari needs ale-py, which is not installed: pip install 'farfield[atari]'"
        ) from error


@cache
def actions_of(game: str) -> tuple[int, ...]:
    """The actions that do something in a game.

    Args:
        game: Its name, e.g. `"ms_pacman"`.

    Raises:
        ModuleNotFoundError: If the package ale-py is not installed.
        UnknownNameError: If the game is unknown.
    """
    return tuple(action.value for action in _emulator(game).getMinimalActionSet())


def _emulator(game: str) -> Any:
    package = ale_py()
    known = package.roms.get_all_rom_ids()
    if game not in known:
        raise UnknownNameError("game", game, known)
    package.ALEInterface.setLoggerMode(package.LoggerMode.Error)
    emulator = package.ALEInterface()
    emulator.setFloat("repeat_action_probability", 0.0)
    emulator.setInt("random_seed", 0)
    emulator.loadROM(package.roms.get_rom_path(game))
    return emulator


@final
class Game:
    """A game in the interface of an environment of gymnasium.

    An episode begins with up to 30 steps without action. An action is repeated for four frames; of
    the last two the brighter pixels are kept, in gray, and four such images are seen, whose 84×84
    pixels are means of areas of the screen, rounded to the nearest level, halves up.

    Args:
        game: Its name, e.g. `"ms_pacman"`.
        mode: Mode of the game; `None` for the first one.
        difficulty: Its difficulty; `None` for the first one.

    Raises:
        ModuleNotFoundError: If the package ale-py is not installed.
        UnknownNameError: If the game is unknown.
        ValueError: If it has no such mode or difficulty.
    """

    def __init__(self, game: str, mode: int | None, difficulty: int | None) -> None:
        self._actions, self._ale = actions_of(game), _emulator(game)
        for name, value in (("Mode", mode), ("Difficulty", difficulty)):
            if value is None:
                continue
            plural = "Modes" if name == "Mode" else "Difficulties"
            known = [int(number) for number in getattr(self._ale, f"getAvailable{plural}")()]
            if value not in known:
                raise ValueError(
                    f"{name.lower()} of {game} must be one of {', '.join(map(str, known))}, "
                    f"got {value}"
                )
            getattr(self._ale, f"set{name}")(value)
        self._seen = np.zeros((FRAMES, SIDE, SIDE), np.uint8)
        self._time = 0

    def reset(self, *, seed: int) -> tuple[UInt8[np.ndarray, "4 84 84"], dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: From which the number of steps without action comes.
        """
        self._ale.reset_game()
        for _ in range(seed % (MOST_NOOPS + 1)):
            self._ale.act(0)
        self._time = 0
        self._seen[:] = self._image(self._ale.getScreenGrayscale())
        return self._seen.copy(), {}

    def step(
        self, action: int
    ) -> tuple[UInt8[np.ndarray, "4 84 84"], float, bool, bool, dict[str, Any]]:
        """Act for four frames; the reward is the change of the score.

        Args:
            action: Number of the action among those that do something.
        """
        reward, last = 0.0, list[np.ndarray]()
        for frame in range(REPEAT):
            reward += self._ale.act(self._actions[action])
            if frame >= REPEAT - 2:
                last.append(self._ale.getScreenGrayscale())
        self._time += 1
        self._seen = np.roll(self._seen, -1, axis=0)
        self._seen[-1] = self._image(np.maximum(*last))
        is_over = bool(self._ale.game_over())
        return self._seen.copy(), reward, is_over, not is_over and self._time >= LIMIT, {}

    def screen(self) -> UInt8[np.ndarray, "height width 3"]:
        """The screen as it is now, in color."""
        shown: np.ndarray = self._ale.getScreenRGB()
        return shown

    def close(self) -> None:
        """The emulator ends with the object."""

    @staticmethod
    def _image(screen: UInt8[np.ndarray, "height width"]) -> UInt8[np.ndarray, "84 84"]:
        rows, columns = (_overlaps(size) for size in screen.shape)
        area = screen.shape[0] * screen.shape[1]
        sums = (rows @ screen @ columns.T).astype(np.int64)  # whole numbers below 2⁵³, so exact
        return ((2 * sums + area) // (2 * area)).astype(np.uint8)


@cache
def _overlaps(size: int) -> Float[np.ndarray, "84 size"]:
    """Overlap of each pixel of the image with each pixel of the screen along one axis.

    It is in units of 1/84 of a pixel of the screen, so that all overlaps are whole numbers.
    """
    starts, pixels = size * np.arange(SIDE)[:, None], SIDE * np.arange(size)
    ends = np.minimum(starts + size, pixels + SIDE)
    overlaps = (ends - np.maximum(starts, pixels)).clip(0).astype(np.float64)
    overlaps.flags.writeable = False
    return overlaps
