"""Games of the Atari 2600 (lamb2022) by ale-py, with the usual preprocessing of frames."""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Final, final

import numpy as np
from jaxtyping import Float, UInt8

from farfield.core import Stream
from farfield.core.internal import Checked, NonNegativeInt, UnknownNameError
from farfield.tasks._protocol._task import TRAINING, Regime, check_number, check_regime, regimes_at
from farfield.tasks._worlds._checked_worlds import GymnasiumWorlds
from farfield.tasks._worlds._episodes import random_score

SIDE: Final = 84
FRAMES: Final = 4
REPEAT: Final = 4
MOST_NOOPS: Final = 30
LIMIT: Final = 27_000
"""Steps after which an episode is truncated: half an hour of play."""


def has_ale() -> bool:
    """Check whether the package ale-py is installed."""
    return importlib.util.find_spec("ale_py") is not None


def ale_py() -> Any:
    """Import the package ale-py.

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
    """List the actions that do something in a game.

    Args:
        game: Name of the game, e.g. `"ms_pacman"`.

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
        game: Name of the game, e.g. `"ms_pacman"`.
        mode: Mode of the game; `None` for the first one.
        difficulty: Difficulty of the game; `None` for the first one.

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
            seed: Seed of the number of steps without action.
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
        """Return the current screen, in color."""
        shown: np.ndarray = self._ale.getScreenRGB()
        return shown

    def close(self) -> None:
        """Close nothing: the emulator ends with the object."""

    @staticmethod
    def _image(screen: UInt8[np.ndarray, "height width"]) -> UInt8[np.ndarray, "84 84"]:
        rows, columns = (_overlaps(size) for size in screen.shape)
        area = screen.shape[0] * screen.shape[1]
        sums = (rows @ screen @ columns.T).astype(np.int64)  # whole numbers below 2⁵³, so exact
        return ((2 * sums + area) // (2 * area)).astype(np.uint8)


@cache
def _overlaps(size: int) -> Float[np.ndarray, "84 size"]:
    """Compute the overlap of each pixel of the image with each pixel of the screen on an axis.

    It is in units of 1/84 of a pixel of the screen, so that all overlaps are whole numbers.
    """
    starts, pixels = size * np.arange(SIDE)[:, None], SIDE * np.arange(size)
    ends = np.minimum(starts + size, pixels + SIDE)
    overlaps = (ends - np.maximum(starts, pixels)).clip(0).astype(np.float64)
    overlaps.flags.writeable = False
    return overlaps


EPISODES: Final = 10
"""Episodes that the floor is measured on."""


@final
@dataclass(frozen=True, kw_only=True)
class Atari(Checked):
    r"""Play a game of the Atari 2600, seeing four images of its screen.

    **Task.** An observation is four gray images of 84×84 pixels, the latest last, four frames
    apart; an action is one of those that do something in the game, and is repeated for four frames.
    The reward is the change of the score.

    **Worked example.** In Ms. Pac-Man nine actions move in eight directions or not; a dot eaten is
    a reward of 10.

    **Regimes.** `training`, the first mode and difficulty of the game; `mode-1`, `difficulty-1` and
    the like: others that an agent is not trained in.

    **Score, floor and ceiling.** The score of the game at the end of an episode, or after half an
    hour. The floor is that of actions drawn uniformly, measured. There is no ceiling.

    **Known shortcuts.** Without random repeats of actions a game can be learned by heart, except
    for the up to 30 frames without action at its beginning.

    **Source and deviations.** The games of lamb2022, as in its released code, but that a lost life
    does not end an episode and that there is no first action to start a game. Pixels are the exact
    means of areas of the screen, rounded, since version 2. It needs the package ale-py, which is
    under the GPL: `pip install 'farfield[atari]'`.

    Args:
        game: Name of the game, as ale-py has it.
        modes: Modes of further regimes.
        difficulties: Difficulties of further regimes.

    Raises:
        ValueError: If a field is of another type. An unknown game, mode or difficulty is named when
            a game is begun, and by `num_actions`.

    Reference:
        lamb2022, sections 8.4.3 and 10.4.5.
    """

    name: ClassVar[str] = "atari"
    version: ClassVar[int] = 2
    metric: ClassVar[str] = "return"
    scored_episodes: ClassVar[int] = 10
    item_shape: ClassVar[tuple[int, ...]] = (FRAMES, SIDE, SIDE)

    game: str = "ms_pacman"
    modes: tuple[NonNegativeInt, ...] = ()
    difficulties: tuple[NonNegativeInt, ...] = ()

    @property
    def num_actions(self) -> int:
        """Number of actions that do something in the game."""
        return len(actions_of(self.game))

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Training, then other modes and difficulties, each at a distance of 1."""
        names = [f"mode-{mode}" for mode in self.modes]
        names += [f"difficulty-{difficulty}" for difficulty in self.difficulties]
        return regimes_at("changes of the game", {TRAINING: 0} | dict.fromkeys(names, 1))

    def is_at_hand(self) -> bool:
        """Check whether the package ale-py is installed."""
        return has_ale()

    def make(self, regime: str, count: int, stream: Stream) -> GymnasiumWorlds:
        """Make games side by side.

        Args:
            count: Number of games.
            stream: Stream of the episodes.

        Raises:
            ModuleNotFoundError: If the package ale-py is not installed.
            UnknownNameError: If the regime or the game is unknown.
            ValueError: If there is no game, or no such mode or difficulty.
        """
        check_number("count", count, 1, 1_000_000)
        kind, _, number = check_regime(regime, self.regimes).partition("-")
        mode = int(number) if kind == "mode" else None
        difficulty = int(number) if kind == "difficulty" else None
        branch = stream.child(self.name, f"v{self.version}", self.game, regime)
        games = [Game(self.game, mode, difficulty) for _ in range(count)]
        return GymnasiumWorlds(games, lambda _, found: found, branch)

    def score(self, returns: Float[np.ndarray, " batch"]) -> Float[np.ndarray, " batch"]:
        """Score each episode by the game.

        Args:
            returns: Sum of the rewards of each.
        """
        return returns

    def chance(self, regime: str) -> float:
        """Return the mean score of actions drawn uniformly."""
        return random_score(self, check_regime(regime, self.regimes), EPISODES)

    def picture(self, worlds: GymnasiumWorlds, row: int) -> UInt8[np.ndarray, "height width 3"]:
        """Return the screen of a game, in color.

        Args:
            worlds: Worlds of `make`.
            row: Number of the world.
        """
        screen: np.ndarray = worlds.copies[row].screen()
        return screen

    def mission(self, worlds: GymnasiumWorlds, row: int) -> str:  # noqa: ARG002
        """Return the name of the game.

        Args:
            worlds: Worlds of `make`.
            row: Number of the world.
        """
        return self.game
