"""Object picking in BabyAI (lamb2022), by the package minigrid."""

from __future__ import annotations

import importlib
import importlib.util
import os
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Final, final
from weakref import WeakKeyDictionary

import numpy as np
from jaxtyping import Int64, UInt8

from farfield.core import Stream
from farfield.core.internal import check_fields
from farfield.tasks._protocol._task import check_number, check_regime
from farfield.tasks._worlds._checked_worlds import GymnasiumWorlds
from farfield.tasks._worlds._episodes import random_score
from farfield.tasks._worlds._object_picking import NOVEL, PickingTask

VIEW: Final = 7
KINDS: Final = ("key", "ball", "box")
COLORS: Final = ("red", "green", "blue", "yellow", "purple", "grey")
KNOWN_KINDS: Final = 2
KNOWN_COLORS: Final = 4
"""Number of colors of training, the first; later kinds and colors are never seen there."""

UNSEEN_AND_WALL: Final = 2
ONE: Final = 255


def has_minigrid() -> bool:
    """Check whether the package minigrid is installed."""
    return importlib.util.find_spec("minigrid") is not None


def minigrid(module: str) -> Any:
    """Import a module of the package minigrid.

    Args:
        module: Name of the module in the package.

    Raises:
        ModuleNotFoundError: If the package is not installed.
    """
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # it imports pygame, which greets
    try:
        return importlib.import_module(f"minigrid.{module}")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "BabyAI needs minigrid, which is not installed: pip install 'farfield[rl]'"
        ) from error


@cache
def _level_class() -> Any:
    """Make the class of levels, when it is first asked for."""
    levels = minigrid("envs.babyai.core.roomgrid_level")
    missions = minigrid("envs.babyai.core.verifier")

    class Picking(levels.RoomGridLevel):  # type: ignore[misc, name-defined]
        """One room with the object asked for and others, which differ from it."""

        def __init__(self, side: int, distractors: int, *, is_novel: bool) -> None:
            self.distractors, self.is_novel = distractors, is_novel
            super().__init__(room_size=side + 2, num_rows=1, num_cols=1)

        def gen_mission(self) -> None:
            self.place_agent(0, 0)
            known = [(k, c) for k in KINDS[:KNOWN_KINDS] for c in COLORS[:KNOWN_COLORS]]
            asked = self._rand_elem(known)
            novel = [(k, c) for k in KINDS[KNOWN_KINDS:] for c in COLORS[KNOWN_COLORS:]]
            others = novel if self.is_novel else [other for other in known if other != asked]
            self.add_object(0, 0, *asked)
            for _ in range(self.distractors):
                self.add_object(0, 0, *self._rand_elem(others))
            self.instrs = missions.PickupInstr(missions.ObjDesc(*asked))

    return Picking


def level(side: int, distractors: int, *, is_novel: bool) -> Any:
    """Make a room of BabyAI, as an environment of gymnasium.

    Args:
        side: Cells along a side, without the walls.
        distractors: Objects beside the one asked for.
        is_novel: Whether these are of a kind and of colors that training does not show.

    Raises:
        ModuleNotFoundError: If the package minigrid is not installed.
    """
    return _level_class()(side, distractors, is_novel=is_novel)


@cache
def _codes() -> tuple[list[int], list[int]]:
    """Return minigrid's numbers of unseen cells, walls and kinds, and of colors."""
    known = minigrid("core.constants")
    things = [known.OBJECT_TO_IDX[name] for name in ("unseen", "wall", *KINDS)]
    return things, [known.COLOR_TO_IDX[name] for name in COLORS]


def planes(room: Any, found: dict[str, Any]) -> UInt8[np.ndarray, "channel height width"]:
    """Return the view of an agent, and the kind and color that it is asked for.

    Args:
        room: The room.
        found: The observation of minigrid.
    """
    things, colors = _codes()
    image = found["image"].transpose(2, 1, 0)  # columns come first there
    is_object = image[0] >= things[UNSEEN_AND_WALL]
    seen = [image[0] == thing for thing in things]
    seen += [is_object & (image[1] == color) for color in colors]
    asked = room.instrs.desc
    wanted = [asked.type == kind for kind in KINDS] + [asked.color == color for color in COLORS]
    shown = np.empty((len(seen) + len(wanted), VIEW, VIEW), np.uint8)
    shown[: len(seen)] = seen
    shown[len(seen) :] = np.array(wanted)[:, None, None]
    return shown * np.uint8(ONE)


_EXPERTS: Final[WeakKeyDictionary[Any, tuple[int, Any]]] = WeakKeyDictionary()
"""Experts of the rooms, with the number of the episode."""


def expert_of(worlds: GymnasiumWorlds) -> Int64[np.ndarray, " batch"]:
    """Return the actions of the expert in rooms side by side.

    Args:
        worlds: The rooms.
    """
    bot, actions = minigrid("utils.baby_ai_bot").BabyAIBot, list[int]()
    for room, episode in zip(worlds.copies, worlds.episodes, strict=True):
        if _EXPERTS.get(room, (-1, None))[0] != episode:
            _EXPERTS[room] = episode, bot(room)
        actions.append(int(_EXPERTS[room][1].replan()))
    return np.array(actions)


EPISODES: Final = 200
"""Episodes that the floor is measured on."""


@final
@dataclass(frozen=True, kw_only=True)
class BabyAIPicking(PickingTask):
    r"""Pick up the named object among others in BabyAI, seeing only the cells ahead.

    **Task.** A room of BabyAI has an agent and a few objects, and one of them is named by kind and
    color. The agent turns left or right, goes forward, picks up, drops, and has two actions of
    BabyAI that do nothing here. Picking up the named object ends the episode with the reward $1 -
    0.9\, t / T$ after $t$ of at most $T$ steps, $T$ the number of cells with the walls; another
    object is carried, until it is dropped. An observation is BabyAI's view of 7×7 cells, as planes
    of unseen cells, of walls, of each kind and each color, and of the kind and the color asked for,
    all as 8-bit images in which 255 is 1.

    **Worked example.** That of `ObjectPicking`.

    **Regimes.** `training`: keys and balls in four colors; `novel-distractors`: the others are
    boxes in the two remaining colors, while the named object is as in training; `distractors-8` and
    the like: so many others; `side-9` and the like: rooms of so many cells a side.

    **Score, floor and ceiling.** Share of episodes that end with the named object. The floor is
    that of actions drawn uniformly, the ceiling that of the package's expert, both measured.

    **Known shortcuts.** With novel distractors, the only object of a known kind is the named one.

    **Source and deviations.** The task of lamb2022, a level of BabyAI (Chevalier-Boisvert et al.
    2019) whose name and number of distractors the text leaves out; sides and distractors are those
    of BabyAI's `PickupDist`. A mission is planes and not a sentence. It needs the package minigrid:
    `pip install 'farfield[rl]'`.

    Args:
        side: Cells along a side of the room in training, without its walls.
        distractors: Objects beside the one asked for.
        more_distractors: Numbers of distractors in further regimes.
        larger_sides: Cells along a side in further regimes.

    Raises:
        ValueError: If a number is out of range.

    Reference:
        lamb2022, section 8.4.2 and Figure 4.
    """

    name: ClassVar[str] = "babyai-picking"
    version: ClassVar[int] = 1
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
        self._check_room(3, 30, self.side**2 // 2)

    def is_at_hand(self) -> bool:
        """Check whether the package minigrid is installed."""
        return has_minigrid()

    def make(self, regime: str, count: int, stream: Stream) -> GymnasiumWorlds:
        """Make rooms side by side.

        Args:
            count: Number of rooms.
            stream: Stream of the episodes.

        Raises:
            ModuleNotFoundError: If the package minigrid is not installed.
            UnknownNameError: If the regime is unknown.
            ValueError: If there is no room.
        """
        check_number("count", count, 1, 1_000_000)
        side, distractors = self._room_of(regime)
        branch = stream.child(self.name, f"v{self.version}", regime)
        rooms = [level(side, distractors, is_novel=regime == NOVEL) for _ in range(count)]
        return GymnasiumWorlds(rooms, planes, branch)

    def chance(self, regime: str) -> float:
        """Return the success of actions drawn uniformly."""
        return random_score(self, check_regime(regime, self.regimes), EPISODES)

    def expert(self, worlds: GymnasiumWorlds) -> Int64[np.ndarray, " batch"]:
        """Return the actions of the package's expert, which remembers the cells it has seen.

        Args:
            worlds: Worlds of `make`.
        """
        return expert_of(worlds)

    def picture(self, worlds: GymnasiumWorlds, row: int) -> UInt8[np.ndarray, "height width 3"]:
        """Draw a room by the package; the cells that its agent sees are lighter.

        Args:
            worlds: Worlds of `make`.
            row: Number of the world.
        """
        frame: np.ndarray = worlds.copies[row].get_frame(tile_size=16)
        return frame

    def mission(self, worlds: GymnasiumWorlds, row: int) -> str:
        """Return the object asked for in a room, e.g. `"red key"`.

        Args:
            worlds: Worlds of `make`.
            row: Number of the world.
        """
        asked = worlds.copies[row].instrs.desc
        return f"{asked.color} {asked.type}"
