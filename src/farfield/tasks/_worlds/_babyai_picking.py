"""Object picking in BabyAI (lamb2022), by the package minigrid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final, final

import numpy as np
from jaxtyping import Float, Int64, UInt8

from farfield.core import Stream, check_fields
from farfield.tasks._protocol._task import TRAINING, Regime, check_number, check_regime
from farfield.tasks._worlds._episodes import random_score
from farfield.tasks._worlds._gymnasium_worlds import GymnasiumWorlds
from farfield.tasks._worlds._minigrid import (
    COLORS,
    KINDS,
    UNSEEN_AND_WALL,
    VIEW,
    expert_of,
    has_minigrid,
    level,
    planes,
)

NOVEL: Final = "novel-distractors"
EPISODES: Final = 200
"""Episodes that the floor is measured on."""


@final
@dataclass(frozen=True, kw_only=True)
class BabyAIPicking:
    r"""Pick up the named object among others in BabyAI, seeing only the cells ahead.

    **What is asked.** A room of BabyAI has an agent and a few objects, and one of them is named by
    kind and color. The agent turns left or right, goes forward, picks up, drops, and has two
    actions of BabyAI that do nothing here. Picking up the named object ends the episode with the
    reward $1 - 0.9\, t / T$ after $t$ of at most $T$ steps, $T$ the number of cells with the walls;
    another object is carried, until it is dropped. An observation is BabyAI's view of 7×7 cells, as
    planes of what is unseen, of walls, of each kind and each color, and of the kind and the color
    asked for, all as 8-bit images in which 255 is 1.

    **Worked example.** That of `ObjectPicking`.

    **Regimes.** `training`: keys and balls in four colors; `novel-distractors`: the others are
    boxes in the two remaining colors, while what is asked for is as in training; `distractors-8`
    and the like: so many others; `side-9` and the like: rooms of so many cells a side.

    **Score, floor and ceiling.** Share of episodes that end with the named object. The floor is
    that of actions drawn uniformly, the ceiling that of the package's expert, both measured.

    **Known shortcuts.** With novel distractors, what has a known kind is what is asked for.

    **Source and deviations.** The task of lamb2022, a level of BabyAI (Chevalier-Boisvert et al.
    2019) whose name and number of distractors the text leaves out; sides and distractors are those
    of BabyAI's `PickupDist`. A mission is planes and not a sentence. It needs the package minigrid:
    `pip install 'farfield[rl]'`.

    Args:
        side: Cells along a side of the room in training, without its walls.
        distractors: Objects beside the one asked for.
        more_distractors: Their numbers in further regimes.
        larger_sides: Cells along a side in further regimes.

    Raises:
        ValueError: If a number is out of range.

    Reference:
        lamb2022, section 8.4.2 and Figure 4.
    """

    name: ClassVar[str] = "babyai-picking"
    version: ClassVar[int] = 1
    metric: ClassVar[str] = "success"
    scored_episodes: ClassVar[int] = 256
    num_actions: ClassVar[int] = 7  # those of minigrid
    item_shape: ClassVar[tuple[int, ...]] = (
        UNSEEN_AND_WALL + 2 * (len(KINDS) + len(COLORS)),
        VIEW,
        VIEW,
    )

    side: int = 5
    distractors: int = 4
    more_distractors: tuple[int, ...] = (8,)
    larger_sides: tuple[int, ...] = (9,)

    def __post_init__(self) -> None:
        check_fields(self)
        check_number("side", self.side, 3, 30)
        most = self.side**2 // 2
        check_number("distractors", self.distractors, 1, most)
        for more in self.more_distractors:
            check_number("more_distractors", more, self.distractors + 1, most)
        for side in self.larger_sides:
            check_number("larger_sides", side, self.side + 1, 30)

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Training, then novel distractors, more of them, and larger rooms."""
        unit, fewest = "novel distractors", self.distractors
        more = {f"distractors-{n}": (n - fewest, "more distractors") for n in self.more_distractors}
        wide = {f"side-{n}": (n - self.side, "more cells a side") for n in self.larger_sides}
        known = {TRAINING: (0, unit), NOVEL: (fewest, unit)} | more | wide
        return tuple(
            Regime(name=name, distance=float(far), unit=unit) for name, (far, unit) in known.items()
        )

    def is_at_hand(self) -> bool:
        """True if the package minigrid is installed."""
        return has_minigrid()

    def make(self, regime: str, count: int, stream: Stream) -> GymnasiumWorlds:
        """Rooms side by side.

        Args:
            regime: Name of the regime.
            count: Number of rooms.
            stream: Where episodes are drawn from.

        Raises:
            ModuleNotFoundError: If the package minigrid is not installed.
            UnknownNameError: If the regime is unknown.
            ValueError: If there is no room.
        """
        check_number("count", count, 1, 1_000_000)
        kind, _, number = check_regime(regime, self.regimes).partition("-")
        distractors = int(number) if kind == "distractors" else self.distractors
        side = int(number) if kind == "side" else self.side
        place = stream.child(self.name, f"v{self.version}", regime)
        rooms = [level(side, distractors, is_novel=regime == NOVEL) for _ in range(count)]
        return GymnasiumWorlds(rooms, planes, place)

    def score(self, returns: Float[np.ndarray, " batch"]) -> Float[np.ndarray, " batch"]:
        """1 for each episode that ended with the named object.

        Args:
            returns: Sum of the rewards of each.
        """
        return (returns > 0).astype(np.float64)

    def chance(self, regime: str) -> float:
        """Success of actions drawn uniformly.

        Args:
            regime: Name of the regime.
        """
        return random_score(self, check_regime(regime, self.regimes), EPISODES)

    def expert(self, worlds: GymnasiumWorlds) -> Int64[np.ndarray, " batch"]:
        """The actions of the package's expert, which remembers what it has seen.

        Args:
            worlds: What `make` returned.
        """
        return expert_of(worlds)

    def picture(self, worlds: GymnasiumWorlds, row: int) -> UInt8[np.ndarray, "height width 3"]:
        """A room as the package draws it; what its agent sees is lighter.

        Args:
            worlds: What `make` returned.
            row: Which of them.
        """
        frame: np.ndarray = worlds.copies[row].get_frame(tile_size=16)
        return frame

    def mission(self, worlds: GymnasiumWorlds, row: int) -> str:
        """The object asked for in a room, e.g. `"red key"`.

        Args:
            worlds: What `make` returned.
            row: Which of them.
        """
        asked = worlds.copies[row].instrs.desc
        return f"{asked.color} {asked.type}"
