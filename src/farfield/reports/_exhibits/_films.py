"""Films: the frames of an agent's episode as a strip, or as a moving picture."""

from __future__ import annotations

import io
import textwrap
from pathlib import Path
from typing import Final

import numpy as np
from PIL import Image

from farfield.analysis.internal import WatchedEpisode
from farfield.core.internal import expand_home
from farfield.records.internal import write_whole
from farfield.reports._exhibits._frames import GAP, Drawing, Images, Panel, Tile
from farfield.reports._profile._pictures import png
from farfield.reports._profile._theme import LIGHT, WIDTH

FRAMES: Final = 10
"""Maximum number of frames of an episode, evenly spaced, with the first and the last."""
WIDEST: Final = 0.7
"""Largest side of a frame, inches."""
BLOCK: Final = 0.075
"""Width of the letter that bars consist of, inches."""
LETTERS: Final = 20
"""Number of letters of a note in an inch."""
PACE: Final = 250
"""Milliseconds between two frames of a moving picture."""
LEAST_SIDE: Final = 256
"""Least height of a moving picture, pixels."""


def film(episode: WatchedEpisode, path: str | Path) -> Path:
    """Draw an episode of an agent as a film: a strip of frames, or a moving picture.

    The file is whole or absent. `farfield show KEY` does the same for an agent of the store.

    Args:
        episode: An episode, from `farfield.analysis.watch_episode`.
        path: Name of the film, which ends in `.png` for a strip of up to ten frames, with a bar
            below a frame for each active mechanism, or in `.gif` for all frames.

    Returns:
        The path of the film.

    Raises:
        ValueError: If the name is that of another kind of file.
    """
    path = expand_home(path)
    kinds = {".png": strip, ".gif": _moving}
    if path.suffix.lower() not in kinds:
        raise ValueError(f"path must end in .png or .gif, got {str(path)!r}")
    write_whole(path, kinds[path.suffix.lower()](episode))
    return path


def strip(episode: WatchedEpisode) -> bytes:
    """Draw up to ten frames of an episode side by side, as a PNG.

    Args:
        episode: The episode.
    """
    steps, count = len(episode.pictures), episode.active.shape[1]
    note = f"{steps} {'step' if steps == 1 else 'steps'}, score {episode.score:g}"
    panel = strip_panel(episode, f"“{episode.mission}”", note + "; bar: active" * bool(count))
    [images] = panel.marks
    assert isinstance(images, Images)  # noqa: S101 — what a type checker cannot see
    width, height = images.size
    return png(Drawing(rows=[[panel]], height=0.45 + height, width=max(width, 3))(LIGHT))


def strip_panel(episode: WatchedEpisode, title: str, note: str) -> Panel:
    """Lay out the frames of an episode over its active mechanisms.

    Args:
        episode: The episode.
        title: Text on top.
        note: Text beneath it.
    """
    last = len(episode.pictures) - 1
    steps = np.unique(np.linspace(0, last, min(last + 1, FRAMES)).round().astype(int)).tolist()
    names = [f"mechanism {number + 1}" for number in range(episode.active.shape[1])]
    side = min(WIDEST, (WIDTH - 1) / len(steps) - GAP)
    images = Images(
        rows=[[_frame(episode, step, side) for step in steps]],
        side=side,
        heads=[f"step {step + 1}" for step in steps],
        lines=names,
    )
    return Panel(
        marks=(images,),
        title=title,
        note=textwrap.fill(note, round(LETTERS * images.size[0])),
        frame="none",
        is_square=True,
    )


def _frame(episode: WatchedEpisode, step: int, side: float) -> Tile:
    """Lay out a frame with a bar for each active mechanism."""
    bar, active = "▆" * round(side / BLOCK), episode.active[step].tolist()
    return Tile(pixels=episode.pictures[step], lines=tuple(bar if one else "" for one in active))


def _moving(episode: WatchedEpisode) -> bytes:
    """Encode all frames as a GIF that repeats."""
    height, width = episode.pictures.shape[1:3]
    scale = -(-LEAST_SIDE // height)
    first, *others = (
        Image.fromarray(frame).resize((scale * width, scale * height), Image.Resampling.NEAREST)
        for frame in episode.pictures
    )
    buffer = io.BytesIO()
    first.save(buffer, "gif", save_all=True, append_images=others, duration=PACE, loop=0)
    return buffer.getvalue()
