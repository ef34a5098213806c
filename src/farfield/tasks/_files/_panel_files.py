"""Reading of published problems from folders or lists of files."""

from __future__ import annotations

import codecs
import io
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from jaxtyping import Int64, UInt8
from torch import Tensor

from farfield.core import LazyItems, Problems, expand_home, printable, read_regular
from farfield.tasks._files._data_sets import data_folder
from farfield.tasks._files._panel_archive import IMAGE_SIZES, PANEL_SIZE, PanelFile
from farfield.tasks._protocol._checks import check_number

MOST_FILES: Final = 10_000_000
_LARGEST_LIST: Final = 2**27
"""Bytes; a list of 1,200,000 paths has 80 million."""
_MOST_LINES: Final = 2_000_000
_LONGEST_LINE: Final = 4_096
"""Bytes; no system takes longer paths."""

Panels = UInt8[np.ndarray, "time _ _"]
Smaller = Callable[[Panels, int], Panels]
"""Makes panels smaller by a whole number of times in each direction."""


def every_so_manyth(panels: Panels, step: int) -> Panels:
    """Panels of which every so manyth pixel is kept, the first included.

    Args:
        panels: The panels.
        step: How many times smaller they become.
    """
    return panels[:, ::step, ::step]


def block_means(panels: Panels, step: int) -> Panels:
    """Panels with the rounded mean of each square of pixels, so that thin lines fade, not vanish.

    For halves it is what bilinear interpolation gives.

    Args:
        panels: The panels.
        step: How many times smaller they become, at most 16.
    """
    side = panels.shape[1] // step
    rows = panels.reshape(-1, side, step, side * step)
    added: Any = sum(rows[:, :, place].astype(np.uint16) for place in range(step))
    added = sum(added[..., place::step] for place in range(step))
    return ((added + step * step // 2) // (step * step)).astype(np.uint8)


def files_of(source: str | Path, pattern: str, at_most: int | None) -> Iterator[Path]:
    """Files of problems, one after another, none of them outside the folder they are looked for in.

    Args:
        source: A folder of files, in the order of the last number in their names; or a text
            file with a path a line, relative to its own folder.
        pattern: Which files of a folder, with the wildcards of a shell; without effect on a list.
        at_most: Number of files, the first ones; `None` for all.

    Raises:
        ValueError: If an argument is wrong, there are none, one is named twice, or a path leads out
            of the folder.
    """
    if at_most is not None:
        check_number("at_most", at_most, 1, MOST_FILES)
    source = expand_home(source)
    is_list = source.is_file()
    named = _listed(source) if is_list else _matching(source, pattern)
    folder = _resolved(source.parent if is_list else source)
    before: set[str] = set()
    for path in itertools.islice(named, at_most):
        found = _inside(folder, path)
        if str(found) in before:
            raise ValueError(
                f"{printable(source)} must name a file once, got {printable(found)} again"
            )
        before.add(str(found))
        yield found


def read_files(
    paths: Iterable[Path], *, image_size: int, layout: PanelFile, smaller: Smaller
) -> Problems:
    """Problems from files, one a file: answers at once, panels when they are asked for.

    Args:
        paths: The files.
        image_size: Width and height of a panel.
        layout: What a file holds.
        smaller: Makes panels smaller where `image_size` is less than is stored.

    Raises:
        ValueError: If an argument is wrong, or a file is not complete in the published layout.
    """
    check_image_size(image_size)
    names: list[str] = []
    answers: list[int] = []
    described: dict[str, bytearray] = {name: bytearray() for name, _ in layout.described}
    for path in paths:
        answer, bits = layout.read_answer(path)
        names.append(str(path))
        answers.append(answer)
        described = {name: described[name] for name in described if name in bits}
        for name, column in described.items():
            column.extend(bits[name].astype(np.uint8).tobytes())
    count = len(answers)
    shapes = {name: (count, *shape) for name, shape in layout.described}
    return Problems(
        items=LazyItems(
            latent=torch.arange(count * layout.panels),
            draw=partial(
                _drawn,
                paths=tuple(names),
                image_size=image_size,
                layout=layout,
                smaller=smaller,
            ),
        ),
        index=torch.arange(count * layout.panels).view(count, layout.panels),
        target=torch.tensor(answers),
        latent={
            name: torch.frombuffer(column, dtype=torch.uint8).view(shapes[name]).long()
            for name, column in described.items()
        },
    )


def _drawn(
    rows: Int64[Tensor, " item"],
    *,
    paths: Sequence[str],
    image_size: int,
    layout: PanelFile,
    smaller: Smaller,
) -> UInt8[Tensor, "item height width"]:
    """The panels of these numbers, counted from file to file; each file is read once."""
    panels = torch.empty(len(rows), image_size, image_size, dtype=torch.uint8)
    files, places = rows // layout.panels, rows % layout.panels
    for file in sorted(set(files.tolist())):
        wanted = files == file
        read = smaller(layout.read_panels(Path(paths[file])), PANEL_SIZE // image_size)
        panels[wanted] = torch.from_numpy(read)[places[wanted]]
    return panels


def _matching(folder: Path, pattern: str) -> list[Path]:
    """Files of a folder, in the order of the last number in their names."""
    if not folder.is_dir():
        raise ValueError(
            f"source must be a folder or a list of files that exists, got {printable(folder)}"
        )
    if "/" in pattern or os.sep in pattern or ".." in pattern or pattern in {"", "."}:
        raise ValueError(f"pattern must be of names in the folder, without a path, got {pattern!r}")
    paths = sorted(folder.glob(pattern), key=_number)
    if not paths:
        raise ValueError(
            f"source must hold files {pattern!r}, there are none in {printable(folder)}"
        )
    return paths


def panel_paths(places: Mapping[str, Path], patterns: Mapping[str, int | None]) -> dict[str, Path]:
    """Paths of files of problems, by their names.

    Args:
        places: The folders, by what stands before the names of their files.
        patterns: Which files of each, with the wildcards of a shell, and how many of them, the
            first ones; `None` for all.

    Raises:
        ValueError: If a folder has none.
    """
    return {
        f"{before}{path.name}": path
        for before, place in places.items()
        for pattern, at_most in patterns.items()
        for path in _matching(place, pattern)[:at_most]
    }


def _number(path: Path) -> tuple[int, str]:
    numbers = [part for part in path.stem.split("_") if part.isdecimal()]
    return (int(numbers[-1]) if numbers else MOST_FILES, path.name)


def _listed(source: Path) -> Iterator[Path]:
    """Files that a list names, in its order, made out as far as they are asked for."""
    name, found = printable(source), False
    try:
        content = read_regular(source, _LARGEST_LIST)
        if (count := content.count(b"\n")) > _MOST_LINES:
            raise ValueError(f"{name} must have at most {_MOST_LINES:,} lines, got {count:,}")
        for number, line in enumerate(io.BytesIO(content.removeprefix(codecs.BOM_UTF8)), 1):
            if len(line) > _LONGEST_LINE:
                raise ValueError(
                    f"{name} must have lines of at most {_LONGEST_LINE:,} bytes, line {number} is "
                    "longer"
                )
            if text := line.decode("utf-8").strip():
                found = True
                yield source.parent / text
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{name} must be a list of paths in UTF-8: {error}") from error
    if not found:
        raise ValueError(f"{name} must name files, one a line, got an empty list")


def _resolved(path: Path) -> Path:
    """The path with links followed."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError) as error:  # a loop of links, or no path at all
        raise ValueError(f"{str(path)!r} must lead to a file, it leads nowhere: {error}") from error


def _inside(folder: Path, path: Path) -> Path:
    """The path with links followed, which must lie in the folder."""
    found = _resolved(path)
    if not found.is_relative_to(folder):
        raise ValueError(
            f"{printable(path)} must lie in {printable(folder)}, it leads to {printable(found)}: "
            "keep the files beside their list"
        )
    return found


def found_folder(named: str | None, *names: str) -> Path:
    """A folder within the data folder: `names` one in another, the last one left out if it is none.

    Args:
        named: The data folder; without one, that of the environment variable FARFIELD_DATA.
        names: What the publication's folder is called, and one in it, which files may also be in.

    Raises:
        ValueError: If no folder is named, or there is none.
    """
    place = data_folder(named).joinpath(*names)
    found = place if place.is_dir() else place.parent
    if not found.is_dir():
        raise ValueError(
            f"folder must be a data folder with {'/'.join(names)}, got none at "
            f"{printable(place)}: pass another, or set FARFIELD_DATA"
        )
    return found


def check_image_size(image_size: int) -> None:
    """Raise `ValueError` unless panels can be had at this size.

    Args:
        image_size: Width and height in pixels.
    """
    if image_size not in IMAGE_SIZES:
        raise ValueError(f"image_size must be one of {IMAGE_SIZES}, got {image_size!r}")
