"""Rooms with objects, many side by side: layouts, views, steps, shortest ways and pictures."""

from __future__ import annotations

from typing import Any, Final, NamedTuple, final

import numpy as np
from jaxtyping import Bool, Float, Int64, UInt8

from farfield.core import Stream
from farfield.core import stream as stream_of
from farfield.tasks._protocol._draws import arrangement, integers

KINDS: Final = ("key", "ball", "box", "cup", "star")
COLORS: Final = ("red", "green", "blue", "yellow", "purple", "gray")
KNOWN_KINDS: Final = 3
KNOWN_COLORS: Final = 4
"""Number of colors of training, the first; later kinds and colors are never seen there."""

LEFT, RIGHT, FORWARD, PICK_UP = range(4)
EMPTY, WALL, OBJECT = range(3)
"""Codes of cells: `OBJECT` and above are objects, numbered by kind and color."""

NORTH: Final = 3
STEPS: Final = np.array([(0, 1), (1, 0), (0, -1), (-1, 0)])
"""Row and column of a step east, south, west and north: turning right is one further."""

ONE: Final = 255
"""Number for 1 in an observation, as in all images of 8 bits."""

BLOCK: Final = 256
"""Episodes drawn at once."""

Flags = Bool[np.ndarray, " batch"]
Numbers = Int64[np.ndarray, " batch"]
Planes = UInt8[np.ndarray, "batch channel height width"]


def _planes_of_codes() -> UInt8[np.ndarray, "class channel"]:
    """List for every code of a cell its planes: wall, each kind and each color."""
    table = np.zeros((OBJECT + len(KINDS) * len(COLORS), 1 + len(KINDS) + len(COLORS)), np.uint8)
    table[WALL, 0] = ONE
    for number in range(len(KINDS) * len(COLORS)):
        kind, color = divmod(number, len(COLORS))
        table[OBJECT + number, [1 + kind, 1 + len(KINDS) + color]] = ONE
    return table


PLANES: Final = _planes_of_codes()
CHANNELS: Final = PLANES.shape[1] + KNOWN_KINDS + KNOWN_COLORS
"""Planes of a view, then the kind and the color asked for."""


@final
class Room(NamedTuple):
    """Sizes and objects of the rooms of a regime.

    Attributes:
        side: Cells along a side.
        distractors: Objects beside the one asked for.
        is_novel: Whether these are of kinds and colors that training does not show.
        view: Cells along a side of the square that an agent sees.
        limit: Steps after which an episode is truncated.
    """

    side: int
    distractors: int
    is_novel: bool
    view: int
    limit: int

    @property
    def width(self) -> int:
        """Cells along a side of the grid, with enough wall around for every view."""
        return self.side + 2 * (self.view - 1)

    def flat(self, cells: Int64[np.ndarray, "*batch"]) -> Int64[np.ndarray, "*batch"]:
        """Return positions in the flattened grid of cells, numbered row by row within the room."""
        row, column = np.divmod(cells, self.side)
        return (row + self.view - 1) * self.width + column + self.view - 1

    def offsets(self) -> Int64[np.ndarray, "class item"]:
        """List for every direction the cells of a view relative to the agent, row by row.

        The agent is at the middle of the last row and looks at the first.
        """
        ahead, aside = np.divmod(np.arange(self.view**2), self.view)
        ahead, aside = self.view - 1 - ahead, aside - self.view // 2
        forward = STEPS @ [self.width, 1]
        return forward[:, None] * ahead + np.roll(forward, -1)[:, None] * aside


@final
class Layouts(NamedTuple):
    """Rooms before the first step.

    Attributes:
        grid: Code of every cell, row by row.
        position: Cell of the agent.
        direction: Direction of the agent.
        target: Cell of the object asked for.
        wanted: Kind and color of that object, as two one-hot vectors side by side, in 255ths.
    """

    grid: UInt8[np.ndarray, "batch item"]
    position: Numbers
    direction: Numbers
    target: Numbers
    wanted: UInt8[np.ndarray, "batch feature"]


def layouts(room: Room, generator: np.random.Generator, count: int) -> Layouts:
    """Draw rooms with the agent, the object asked for and others in different cells.

    Args:
        room: Sizes and objects of the rooms.
        generator: Generator of the rooms.
        count: Number of rooms.
    """
    cells = room.side**2
    digits = [integers(generator, cells - k, count) for k in range(room.distractors + 2)]
    positions = room.flat(arrangement(np.stack(digits, axis=1)))
    direction = integers(generator, len(STEPS), count)
    known = KNOWN_KINDS * KNOWN_COLORS
    asked = integers(generator, known, count)
    kind, color = np.divmod(asked, KNOWN_COLORS)
    grid = np.full((count, room.width**2), WALL, np.uint8)
    grid[:, room.flat(np.arange(cells))] = EMPTY
    rows = np.arange(count)
    grid[rows, positions[:, 1]] = OBJECT + kind * len(COLORS) + color
    for slot in range(2, room.distractors + 2):
        grid[rows, positions[:, slot]] = _distractor(room, asked, generator)
    wanted = np.zeros((count, KNOWN_KINDS + KNOWN_COLORS), np.uint8)
    wanted[rows, kind] = wanted[rows, KNOWN_KINDS + color] = ONE
    return Layouts(grid, positions[:, 0], direction, positions[:, 1], wanted)


def _distractor(room: Room, asked: Numbers, generator: np.random.Generator) -> Numbers:
    """Draw codes of objects that differ from the object asked for in kind, color or both."""
    if room.is_novel:
        colors = len(COLORS) - KNOWN_COLORS
        number = integers(generator, (len(KINDS) - KNOWN_KINDS) * colors, len(asked))
        kind, color = np.divmod(number, colors)
        return OBJECT + (KNOWN_KINDS + kind) * len(COLORS) + KNOWN_COLORS + color
    other = integers(generator, KNOWN_KINDS * KNOWN_COLORS - 1, len(asked))
    kind, color = np.divmod(other + (other >= asked), KNOWN_COLORS)
    return OBJECT + kind * len(COLORS) + color


@final
class Rooms:
    """Rooms side by side, as a `VectorEnv`.

    Episodes are numbered and drawn in blocks, so that a state is the number of each room's episode
    with the position of its agent.

    Args:
        room: Sizes and objects of the rooms.
        count: Number of rooms.
        stream: Stream of the episodes.
    """

    def __init__(self, room: Room, count: int, stream: Stream) -> None:
        self.num_envs, self.room, self._stream = count, room, stream
        self._offsets = room.offsets()
        self._forward = STEPS @ [room.width, 1]
        self._rows = np.arange(count)
        self._block, self._drawn = -1, layouts(room, stream.numpy(), 0)
        self._begun = 0
        self._episode = np.zeros(count, np.int64)
        self._time = np.zeros(count, np.int64)
        self.layouts = layouts(room, stream.numpy(), count)

    @property
    def forward(self) -> Int64[np.ndarray, " class"]:
        """Cell ahead relative to an agent, for every direction."""
        return self._forward

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Planes, dict[str, Any]]:
        """Begin the next episode in every room.

        Args:
            seed: Seed of the episodes from now on; unchanged if `None`.
            options: Not used.
        """
        del options
        if seed is not None:
            self._stream = stream_of(seed, *self._stream.path)
            self._begun, self._block = 0, -1
        self._begin(self._rows)
        return self._observe(self._rows), {}

    def step(
        self, actions: Int64[np.ndarray, " batch"]
    ) -> tuple[Planes, Float[np.ndarray, " batch"], Flags, Flags, dict[str, Any]]:
        """Act in every room.

        Args:
            actions: Action of each agent.

        Raises:
            ValueError: If they are others than there are, or not one for each room.
        """
        actions = np.asarray(actions)
        if actions.shape != self._rows.shape or not 0 <= actions.min() <= actions.max() <= PICK_UP:
            raise ValueError(
                f"actions must be integers 0…{PICK_UP}, one for each of {self.num_envs} rooms, "
                f"got {actions!r}"
            )
        now, room = self.layouts, self.room
        self._time += 1
        turned = now.direction + (actions == RIGHT) - (actions == LEFT)
        now.direction[:] = turned % len(STEPS)
        ahead = now.position + self._forward[now.direction]
        code = now.grid[self._rows, ahead]
        now.position[:] = np.where((actions == FORWARD) & (code == EMPTY), ahead, now.position)
        terminations = (actions == PICK_UP) & (code >= OBJECT)
        truncations = ~terminations & (self._time >= room.limit)
        found = terminations & (ahead == now.target)
        rewards = np.where(found, 1 - 0.9 * self._time / room.limit, 0.0)
        infos: dict[str, Any] = {}
        if (ended := np.flatnonzero(terminations | truncations)).size:
            infos["final_obs"] = np.zeros((self.num_envs, CHANNELS, room.view, room.view), np.uint8)
            infos["final_obs"][ended] = self._observe(ended)
            self._begin(ended)
        return self._observe(self._rows), rewards, terminations, truncations, infos

    def close(self) -> None:
        """Close nothing: no resources are held."""

    def state(self) -> dict[str, Any]:
        """Return numbers of episodes, and positions of their agents."""
        return {
            "seed": self._stream.seed,
            "begun": self._begun,
            "episode": self._episode.tolist(),
            "time": self._time.tolist(),
            "position": self.layouts.position.tolist(),
            "direction": self.layouts.direction.tolist(),
        }

    def load_state(self, state: dict[str, Any]) -> Planes:
        """Go back to a state that `state` returned; gives the observations there.

        Args:
            state: The state.
        """
        self._stream = stream_of(state["seed"], *self._stream.path)
        self._block = -1
        self._begin_at(self._rows, np.array(state["episode"]))
        self._begun = state["begun"]
        self._time[:] = state["time"]
        self.layouts.position[:] = state["position"]
        self.layouts.direction[:] = state["direction"]
        return self._observe(self._rows)

    def _begin(self, rows: Numbers) -> None:
        """Begin the next episodes in some rooms, in their order."""
        self._begin_at(rows, self._begun + np.arange(len(rows)))
        self._begun += len(rows)
        self._time[rows] = 0

    def _begin_at(self, rows: Numbers, episodes: Numbers) -> None:
        """Bring rooms to the beginning of numbered episodes."""
        self._episode[rows] = episodes
        blocks = episodes // BLOCK
        for block in np.unique(blocks):
            if block != self._block:
                generator = self._stream.child("episodes", int(block)).numpy()
                self._block, self._drawn = int(block), layouts(self.room, generator, BLOCK)
            chosen = blocks == block
            for own, drawn in zip(self.layouts, self._drawn, strict=True):
                own[rows[chosen]] = drawn[episodes[chosen] % BLOCK]

    def _observe(self, rows: Numbers) -> Planes:
        """Return the views of some agents, with the objects asked for."""
        now, view = self.layouts, self.room.view
        cells = now.position[rows, None] + self._offsets[now.direction[rows]]
        seen = PLANES[now.grid[rows[:, None], cells]]
        shown = np.empty((len(rows), CHANNELS, view**2), np.uint8)
        shown[:, : PLANES.shape[1]] = seen.transpose(0, 2, 1)
        shown[:, PLANES.shape[1] :] = now.wanted[rows, :, None]
        return shown.reshape(-1, CHANNELS, view, view)


NONE: Final = -1


def first_actions(
    rooms: Layouts, forward: Int64[np.ndarray, " class"]
) -> Int64[np.ndarray, " batch"]:
    """Find the first action of a shortest way to pick up the target; a turn if there is no way.

    The search goes from the target outwards, one action further each time, until it reaches the
    directions and cells of the agents.

    Args:
        rooms: Layouts of the rooms.
        forward: For every direction, the cell ahead relative to an agent.
    """
    rows, here, way = np.arange(len(rooms.grid)), rooms.position, rooms.direction
    after = {
        FORWARD: (way, here + forward[way]),
        LEFT: ((way - 1) % len(forward), here),
        RIGHT: ((way + 1) % len(forward), here),
    }
    is_free = rooms.grid == EMPTY
    near = np.zeros((len(forward), *is_free.shape), bool)
    for number, step in enumerate(forward):
        near[number, rows, rooms.target - step] = True
    near &= is_free
    actions = np.where(near[way, rows, here], PICK_UP, NONE)
    while (actions == NONE).any():
        for action, (ways, cells) in after.items():
            actions[(actions == NONE) & near[ways, rows, cells]] = action
        further = near | np.roll(near, 1, axis=0) | np.roll(near, -1, axis=0)
        for number, step in enumerate(forward):
            further[number] |= np.roll(near[number], -step, axis=1)
        further &= is_free
        if (further == near).all():
            break
        near = further
    return np.where(actions == NONE, LEFT, actions)


PIXELS: Final = 8
"""Pixels along a side of a cell."""

_GLYPHS: Final[dict[str, str]] = {
    "nothing": "",
    "key": "        / ##     /#  #    /#  #####/#  # # #/ ##  # #/        /        ",
    "ball": "        /  ####  / ###### / ###### / ###### / ###### /  ####  /        ",
    "box": "        / ###### / #    # / #    # / #    # / #    # / ###### /        ",
    "cup": "        / ####   / #  ### / #  # # / #  ### / #  #   / ####   /        ",
    "star": "   ##   /   ##   /########/ ###### /  ####  / ##  ## / #    # /        ",
    "agent": "        /   ##   /   ##   /  ####  /  ####  / ###### / ##  ## /        ",
}
_COLORS: Final[dict[str, tuple[int, int, int]]] = {
    "red": (200, 40, 40),
    "green": (40, 140, 60),
    "blue": (50, 80, 200),
    "yellow": (205, 160, 0),
    "purple": (135, 60, 165),
    "gray": (120, 120, 120),
}
_AGENT: Final = (20, 20, 20)
_FLOOR, _SEEN, _STONE = (255, 255, 255), (255, 240, 200), (165, 165, 165)


def _as_marks(drawn: str) -> list[list[bool]]:
    rows = drawn.split("/") if drawn else [" " * PIXELS] * PIXELS
    return [[mark == "#" for mark in row] for row in rows]


_MARKS: Final = np.array([_as_marks(drawn) for drawn in _GLYPHS.values()])
"""Masks of the colored pixels of every glyph: (glyph, row, column)."""


def picture_of(room: Room, layouts: Layouts, row: int) -> UInt8[np.ndarray, "height width 3"]:
    """Draw one room from above, with a wall around it; the cells that its agent sees are tinted.

    Args:
        room: Sizes of the room.
        layouts: Layouts of the rooms.
        row: Number of the room.
    """
    grid, here, way = layouts.grid[row], layouts.position[row], layouts.direction[row]
    is_seen = np.zeros(len(grid), bool)
    is_seen[here + room.offsets()[way]] = True
    kinds, colors = np.divmod(grid.astype(np.int64) - OBJECT, len(COLORS))
    marks = _MARKS[np.where(grid >= OBJECT, 1 + kinds, 0)]
    marks[here] = np.rot90(_MARKS[-1], NORTH - way)
    ink = np.array([_COLORS[name] for name in COLORS], np.uint8)[colors]
    ink[here] = _AGENT
    ground = np.where(is_seen[:, None], _SEEN, _FLOOR).astype(np.uint8)
    ground[grid == WALL] = _STONE
    cells = np.where(marks[..., None], ink[:, None, None], ground[:, None, None])
    inside = slice(room.view - 2, room.view + room.side)
    square = cells.reshape(room.width, room.width, PIXELS, PIXELS, 3)[inside, inside]
    side = len(square) * PIXELS
    return square.transpose(0, 2, 1, 3, 4).reshape(side, side, 3)


def mission_of(layouts: Layouts, row: int) -> str:
    """Color and kind of the object asked for, e.g. `"red key"`.

    Args:
        layouts: Layouts of the rooms.
        row: Number of the room.
    """
    kind, color = np.flatnonzero(layouts.wanted[row])
    return f"{COLORS[color - KNOWN_KINDS]} {KINDS[kind]}"
