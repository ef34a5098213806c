"""Games of the Atari 2600 (lamb2022), by the package ale-py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final, final

import numpy as np
from jaxtyping import Float, UInt8

from farfield.core import NonNegativeInt, Stream, check_fields
from farfield.tasks._protocol._task import TRAINING, Regime, check_number, check_regime
from farfield.tasks._worlds._atari_games import FRAMES, SIDE, Game, actions_of, has_ale
from farfield.tasks._worlds._episodes import random_score
from farfield.tasks._worlds._gymnasium_worlds import GymnasiumWorlds

EPISODES: Final = 10
"""Episodes that the floor is measured on."""


@final
@dataclass(frozen=True, kw_only=True)
class Atari:
    r"""Play a game of the Atari 2600, seeing four images of its screen.

    **What is asked.** An observation is four gray images of 84×84 pixels, the latest last, four
    frames apart; an action is one of those that do something in the game, and is repeated for four
    frames. The reward is the change of the score.

    **Worked example.** In Ms. Pac-Man nine actions move in eight directions or not; a dot eaten is
    a reward of 10.

    **Regimes.** `training`, the first mode and difficulty of the game; `mode-1`, `difficulty-1` and
    the like: others that an agent is not trained in.

    **Score, floor and ceiling.** The score of the game at the end of an episode, or after half an
    hour. The floor is that of actions drawn uniformly, measured. There is no ceiling.

    **Known shortcuts.** Without random repeats of actions a game can be learned by heart but for
    the up to 30 frames without action at its beginning.

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

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def num_actions(self) -> int:
        """Number of actions that do something in the game."""
        return len(actions_of(self.game))

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Training, then other modes and difficulties, each at a distance of 1."""
        unit = "changes of the game"
        names = [f"mode-{mode}" for mode in self.modes]
        names += [f"difficulty-{difficulty}" for difficulty in self.difficulties]
        return (
            Regime(name=TRAINING, distance=0.0, unit=unit),
            *(Regime(name=name, distance=1.0, unit=unit) for name in names),
        )

    def is_at_hand(self) -> bool:
        """True if the package ale-py is installed."""
        return has_ale()

    def make(self, regime: str, count: int, stream: Stream) -> GymnasiumWorlds:
        """Games side by side.

        Args:
            regime: Name of the regime.
            count: Number of games.
            stream: Where episodes are drawn from.

        Raises:
            ModuleNotFoundError: If the package ale-py is not installed.
            UnknownNameError: If the regime or the game is unknown.
            ValueError: If there is no game, or no such mode or difficulty.
        """
        check_number("count", count, 1, 1_000_000)
        kind, _, number = check_regime(regime, self.regimes).partition("-")
        mode = int(number) if kind == "mode" else None
        difficulty = int(number) if kind == "difficulty" else None
        place = stream.child(self.name, f"v{self.version}", self.game, regime)
        games = [Game(self.game, mode, difficulty) for _ in range(count)]
        return GymnasiumWorlds(games, lambda _, found: found, place)

    def score(self, returns: Float[np.ndarray, " batch"]) -> Float[np.ndarray, " batch"]:
        """The score of each episode.

        Args:
            returns: Sum of the rewards of each.
        """
        return returns

    def chance(self, regime: str) -> float:
        """Mean score of actions drawn uniformly.

        Args:
            regime: Name of the regime.
        """
        return random_score(self, check_regime(regime, self.regimes), EPISODES)

    def picture(self, worlds: GymnasiumWorlds, row: int) -> UInt8[np.ndarray, "height width 3"]:
        """The screen of a game, in color.

        Args:
            worlds: What `make` returned.
            row: Which of them.
        """
        screen: np.ndarray = worlds.copies[row].screen()
        return screen

    def mission(self, worlds: GymnasiumWorlds, row: int) -> str:  # noqa: ARG002
        """Name of the game.

        Args:
            worlds: What `make` returned.
            row: Which of them.
        """
        return self.game
