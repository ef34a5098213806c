"""Rooms of BabyAI with chosen distractors, what is seen there, and the expert of minigrid."""

from __future__ import annotations

import importlib
import importlib.util
import os
from functools import cache
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np
from jaxtyping import Int64, UInt8

from farfield.tasks._worlds._gymnasium_worlds import GymnasiumWorlds

VIEW: Final = 7
KINDS: Final = ("key", "ball", "box")
COLORS: Final = ("red", "green", "blue", "yellow", "purple", "grey")
KNOWN_KINDS: Final = 2
KNOWN_COLORS: Final = 4
"""The first kinds and colors are those of training; the others are never seen there."""

UNSEEN_AND_WALL: Final = 2
ONE: Final = 255


def has_minigrid() -> bool:
    """True if the package minigrid is installed."""
    return importlib.util.find_spec("minigrid") is not None


def minigrid(module: str) -> Any:
    """A module of the package minigrid.

    Args:
        module: Its name in the package.

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
    """The class of levels, made when it is first asked for."""
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
    """A room of BabyAI, as an environment of gymnasium.

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
    """Numbers that minigrid has for what is unseen, walls and kinds, and for colors."""
    known = minigrid("core.constants")
    things = [known.OBJECT_TO_IDX[name] for name in ("unseen", "wall", *KINDS)]
    return things, [known.COLOR_TO_IDX[name] for name in COLORS]


def planes(room: Any, found: dict[str, Any]) -> UInt8[np.ndarray, "channel height width"]:
    """View of an agent, and the kind and color that it is asked for.

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
"""The expert of each room, with the number of its episode."""


def expert_of(worlds: GymnasiumWorlds) -> Int64[np.ndarray, " batch"]:
    """The actions of the expert in rooms side by side.

    Args:
        worlds: The rooms.
    """
    bot, actions = minigrid("utils.baby_ai_bot").BabyAIBot, list[int]()
    for room, episode in zip(worlds.copies, worlds.episodes, strict=True):
        if _EXPERTS.get(room, (-1, None))[0] != episode:
            _EXPERTS[room] = episode, bot(room)
        actions.append(int(_EXPERTS[room][1].replan()))
    return np.array(actions)
