"""Object picking: fetch the named object among others, seeing little of the room (lamb2022)."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from typing import ClassVar, Final, final

import numpy as np
from jaxtyping import Float, Int64, UInt8

from farfield.core import Stream
from farfield.core.internal import check_fields
from farfield.tasks._protocol._task import TRAINING, Regime, check_number, check_regime, regimes_at
from farfield.tasks._worlds._episodes import random_score
from farfield.tasks._worlds._rooms import (
    CHANNELS,
    Room,
    Rooms,
    first_actions,
    mission_of,
    picture_of,
)

NOVEL: Final = "novel-distractors"
MOST: Final = 64
"""Cells along a side, and distractors, at most."""


class PickingTask(ABC):
    """Base of the tasks of picking up a named object among others."""

    metric: ClassVar[str] = "success"

    side: int
    """Number of cells along a side of the room in training."""
    distractors: int
    """Number of objects beside the one asked for."""
    more_distractors: tuple[int, ...]
    """Numbers of distractors in further regimes."""
    larger_sides: tuple[int, ...]
    """Numbers of cells along a side in further regimes."""

    def _check_room(self, smallest: int, largest: int, most_distractors: int) -> None:
        """Raise `ValueError` unless sides and distractors are in range and grow."""
        check_number("side", self.side, smallest, largest)
        check_number("distractors", self.distractors, 1, most_distractors)
        for more in self.more_distractors:
            check_number("more_distractors", more, self.distractors + 1, most_distractors)
        for side in self.larger_sides:
            check_number("larger_sides", side, self.side + 1, largest)

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Training, then novel distractors, more of them, and larger rooms."""
        fewest = self.distractors
        more = {f"distractors-{n}": n - fewest for n in self.more_distractors}
        wide = {f"side-{n}": n - self.side for n in self.larger_sides}
        return (
            *regimes_at("novel distractors", {TRAINING: 0, NOVEL: fewest}),
            *regimes_at("more distractors", more),
            *regimes_at("more cells a side", wide),
        )

    def _room_of(self, regime: str) -> tuple[int, int]:
        """Return the number of cells along a side, and of distractors, of a regime."""
        kind, _, number = check_regime(regime, self.regimes).partition("-")
        side = int(number) if kind == "side" else self.side
        return side, int(number) if kind == "distractors" else self.distractors

    def score(self, returns: Float[np.ndarray, " batch"]) -> Float[np.ndarray, " batch"]:
        """Score 1 for each episode that ended with the named object.

        Args:
            returns: Sum of the rewards of each.
        """
        return (returns > 0).astype(np.float64)


@final
@dataclass(frozen=True, kw_only=True)
class ObjectPicking(PickingTask):
    r"""Pick up the named object among others, seeing only the cells ahead.

    **Task.** A room has an agent and a few objects, each of a kind and a color. One of them is
    named. The agent turns left or right, goes forward, or picks up the object ahead, which ends the
    episode. The reward of the named object is $1 - 0.9\, t / T$ after $t$ of at most $T$ steps, $T$
    the number of cells; of anything else, and where time is over, it is 0. An observation shows the
    square of cells ahead of the agent, which itself is at the middle of the last row: a plane of
    walls, one for each kind and each color, and the kind and the color asked for as planes of ones,
    all as 8-bit images in which 255 is 1.

    **Worked example.** Asked for is the red key (K); the agent looks up and sees the cells in the
    frame.

    ```text
    # # # # # # # #
    #┌─────────┐  #
    #│  . K . .│. #
    #│. . . b .│. #
    #│. . . . .│. #     three times forward, turn left, …
    #│. . . . .│B #
    #│. . ^ . .│. #
    #└─────────┘  #
    # # # # # # # #
    ```

    **Regimes.** `training`; `novel-distractors`: the others are of kinds and colors that training
    never shows, while the named object is as in training; `distractors-8` and the like: so many
    others; `side-12` and the like: rooms of so many cells a side.

    **Score, floor and ceiling.** Share of episodes that end with the named object. The floor is
    that of actions drawn uniformly, measured. The ceiling is that of an expert who sees all of the
    room and goes the shortest way, measured: less than 1 where others may stand in the way.

    **Known shortcuts.** With novel distractors, the only object of a known kind is the named one.

    **Source and deviations.** After the task of lamb2022, which is a level of BabyAI whose name and
    number of distractors the text leaves out. There a mission is a sentence and not planes, another
    object picked up does not end an episode, and novel distractors are not described further.

    Args:
        side: Cells along a side of the room in training.
        distractors: Objects beside the one asked for.
        more_distractors: Numbers of distractors in further regimes.
        larger_sides: Cells along a side in further regimes.
        view: Cells along a side of the square that an agent sees, odd.

    Raises:
        ValueError: If a number is out of range, or objects do not fit into the room.

    Reference:
        lamb2022, section 8.4.2 and Figure 4.

    Example:
        >>> from farfield.core import stream
        >>> worlds = ObjectPicking().make("training", 16, stream(0))
        >>> observations, _ = worlds.reset()
        >>> observations.shape
        (16, 19, 7, 7)
    """

    name: ClassVar[str] = "object-picking"
    version: ClassVar[int] = 1
    scored_episodes: ClassVar[int] = 512
    num_actions: ClassVar[int] = 4  # turn left, turn right, go forward, pick up

    side: int = 8
    distractors: int = 4
    more_distractors: tuple[int, ...] = (8, 16)
    larger_sides: tuple[int, ...] = (12, 16)
    view: int = 7

    def __post_init__(self) -> None:
        check_fields(self)
        self._check_room(2, MOST, self.side**2 - 2)
        check_number("view", self.view, 3, MOST)
        if self.view % 2 == 0:
            raise ValueError(f"view must be odd, got {self.view}")

    @property
    def item_shape(self) -> tuple[int, ...]:
        """Planes of a view."""
        return (CHANNELS, self.view, self.view)

    def make(self, regime: str, count: int, stream: Stream) -> Rooms:
        """Make rooms side by side.

        Args:
            count: Number of rooms.
            stream: Stream of the episodes.

        Raises:
            UnknownNameError: If the regime is unknown.
            ValueError: If there is no room.
        """
        check_number("count", count, 1, 1_000_000)
        branch = stream.child(self.name, f"v{self.version}", check_regime(regime, self.regimes))
        return Rooms(self._room(regime), count, branch)

    def _room(self, regime: str) -> Room:
        side, distractors = self._room_of(regime)
        return Room(
            side=side,
            distractors=distractors,
            is_novel=regime == NOVEL,
            view=self.view,
            limit=side**2,
        )

    def chance(self, regime: str) -> float:
        """Return the success of actions drawn uniformly."""
        return random_score(self, check_regime(regime, self.regimes))

    def expert(self, worlds: Rooms) -> Int64[np.ndarray, " batch"]:
        """Return the first action of a shortest way to the named object, which may lie out of view.

        Args:
            worlds: Worlds of `make`.
        """
        return first_actions(worlds.layouts, worlds.forward)

    def picture(self, worlds: Rooms, row: int) -> UInt8[np.ndarray, "height width 3"]:
        """Draw a room from above; the cells that its agent sees are tinted.

        Args:
            worlds: Worlds of `make`.
            row: Number of the world.
        """
        return picture_of(worlds.room, worlds.layouts, row)

    def mission(self, worlds: Rooms, row: int) -> str:
        """Return the object asked for in a room, e.g. `"red key"`.

        Args:
            worlds: Worlds of `make`.
            row: Number of the world.
        """
        return mission_of(worlds.layouts, row)
