"""The visual analogies of hill2019, from the files that their authors publish."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar, Final, final

import numpy as np
import torch
from jaxtyping import Bool, Float, Int64, UInt8
from torch import Tensor
from torch.nn import functional as F

from farfield.core import DrawnItems, Problems, Stream, UnknownNameError
from farfield.tasks import _abstract_rules as rules
from farfield.tasks._analogy_archive import COLUMNS, read_answer, read_panels
from farfield.tasks._analogy_drawing import IMAGE_SIZES, PANEL_SIZE
from farfield.tasks._analogy_problems import NUM_CANDIDATES, PLACES
from farfield.tasks._analogy_relations import RELATIONS
from farfield.tasks._task import TRAINING, Regime
from farfield.tasks._visual_analogy_task import VisualAnalogyTask

ARCHIVES: Final = (
    "extrapolation",
    "interpolation",
    "novel.domain.transfer",
    "novel.target.domain.line.type",
    "novel.target.domain.shape.color",
)
"""The published sets, each with training and test problems of its own."""
_MOST: Final = 10_000_000
_LARGEST_LIST: Final = 2**28
"""Bytes; a list of 600,000 paths has 40 million."""


def read_visual_analogies(
    source: str | Path,
    *,
    pattern: str = "analogy_*.npz",
    image_size: int = 80,
    at_most: int | None = None,
) -> Problems:
    """Read problems of Hill et al. from files in the published layout, one problem a file.

    Answers are read at once, panels when they are asked for. Nothing outside the folder is opened
    and nothing is unpickled.

    Args:
        source: A folder of files, in the order of the number at the end of their names; or a text
            file with a path a line, relative to its own folder.
        pattern: Which files of a folder, with the wildcards of a shell; without effect on a list.
        image_size: Width and height of a panel: 160 as stored, 80 for every second pixel, or 40.
        at_most: Number of problems to read, the first ones; `None` for all.

    Returns:
        The problems. `latent["relation_structure"]` holds the published columns — shape, line,
        colour, number, position, size, type, progression, XOR, OR, AND, consistent union — where
        every file has them.

    Raises:
        ValueError: If an argument is wrong, or a file is no whole file in the published layout;
            the message names the file and the field. What is wrong with panels is told when they
            are drawn.

    Reference:
        hill2019; webb2020, section 2.2 and supplement 2.
    """
    _check_image_size(image_size)
    if at_most is not None:
        rules.check_number("at_most", at_most, 1, _MOST)
    source = Path(source)
    folder, named = (
        (source.parent, _listed(source))
        if source.is_file()
        else (source, _matching(source, pattern))
    )
    paths = [_inside(folder, path) for path in named[:at_most]]
    answers = [read_answer(path) for path in paths]
    structures = [structure for _, structure in answers if structure is not None]
    latent = (
        {"relation_structure": torch.from_numpy(np.stack(structures))}
        if len(structures) == len(answers)
        else {}
    )
    count = len(answers)
    return Problems(
        items=DrawnItems(
            latent=torch.arange(count * PLACES),
            draw=partial(_panels, paths=tuple(map(str, paths)), image_size=image_size),
        ),
        index=torch.arange(count * PLACES).view(count, PLACES),
        target=torch.tensor([answer for answer, _ in answers]),
        latent=latent,
    )


def _panels(
    rows: Int64[Tensor, " item"], *, paths: Sequence[str], image_size: int
) -> UInt8[Tensor, "item height width"]:
    """The panels of these numbers, of nine a file; each file is read once."""
    step = PANEL_SIZE // image_size
    panels = torch.empty(len(rows), image_size, image_size, dtype=torch.uint8)
    files, places = rows // PLACES, rows % PLACES
    for file in sorted(set(files.tolist())):
        wanted = files == file
        read = torch.from_numpy(read_panels(Path(paths[file]))[:, ::step, ::step])
        panels[wanted] = read[places[wanted]]
    return panels


def _matching(folder: Path, pattern: str) -> list[Path]:
    """Files of a folder, in the order of the number at the end of their names."""
    if not folder.is_dir():
        raise ValueError(f"source must be a folder or a list of files, there is no {folder}")
    if "/" in pattern or os.sep in pattern or ".." in pattern:
        raise ValueError(f"pattern must be of names in the folder, without a path, got {pattern!r}")
    paths = sorted(folder.glob(pattern), key=_number)
    if not paths:
        raise ValueError(f"source must hold files {pattern!r}, there are none in {folder}")
    return paths


def _number(path: Path) -> tuple[int, str]:
    last = path.stem.rpartition("_")[2]
    return (int(last) if last.isdecimal() else _MOST, path.name)


def _listed(source: Path) -> list[Path]:
    """Files that a list names, in its order."""
    if (size := source.stat().st_size) > _LARGEST_LIST:
        raise ValueError(f"{source} must be of at most {_LARGEST_LIST:,} B, got {size:,} B")
    try:
        lines = source.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise ValueError(f"{source} must be a list of paths in UTF-8: {error}") from error
    paths = [source.parent / line.strip() for line in lines if line.strip()]
    if not paths:
        raise ValueError(f"{source} must name files, one a line, got an empty list")
    return paths


def _inside(folder: Path, path: Path) -> Path:
    """The path, if what it leads to lies in the folder."""
    found = path.resolve()
    if not found.is_relative_to(folder.resolve()):
        raise ValueError(
            f"{path} must lie in {folder}, it leads to {found}: keep the files beside their list"
        )
    return found


def _check_image_size(image_size: int) -> None:
    if image_size not in IMAGE_SIZES:
        raise ValueError(f"image_size must be one of {IMAGE_SIZES}, got {image_size!r}")


@final
@dataclass(frozen=True, kw_only=True)
class PublishedVisualAnalogies(VisualAnalogyTask):
    """The visual analogies of Hill et al. 2019, from the files that their authors publish.

    **What is asked.** Two rows of three panels, of which the last one lacks: which of four
    candidates continues the target row as the source row is continued? Shapes and lines in panels
    obey a progression, XOR, OR or AND, over number, size, type, colour or position in the source
    and over another of these in the target. `VisualAnalogies` asks the same of panels of its own.

    **Worked example.**

    ```text
      source  ┌───┐┌───┐┌───┐     target  ┌───┐┌───┐┌───┐
              │ • ││ ● ││ ⬤ │             │ ░ ││ ▒ ││ ? │      ┌───┐┌───┐┌───┐┌───┐
              └───┘└───┘└───┘             └───┘└───┘└───┘      │ ▓ ││ ░ ││ ▒ ││ █ │ → 0
                                                               └───┘└───┘└───┘└───┘
    ```

    **Regimes.** `training` and the test of one of the five published sets, named after it:
    `extrapolation`, whose test has values in the target that training never shows, or another.
    Training has 600,000 problems in the paper. Every seed has the same problems.

    **Score, floor and ceiling.** Share of right answers, a tie counting as wrong; 0.25 by guessing.
    The ceiling is the published answers themselves: pictures do not say what they were drawn from.

    **Known shortcuts.** With `contrasting` every candidate completes the target row by some
    relation. Without it the others are random, and looking for any relation at all helps.

    **Source and deviations.** Hill et al. 2019; which files, and that panels stand one after
    another in them, after two independent loaders: the publication documents no fields. The files
    are those of the folder `analogies` of the data folder, or of a folder in it that is called like
    the set. As in Webb et al. 2020, supplement 2, images are read at 80×80; every second pixel is
    kept, as their code does.

    Args:
        archive: Name of the published set.
        folder: The data folder; without one, that of the environment variable FARFIELD_DATA.
        image_size: Width and height of a panel: 40, 80 or 160 pixels.
        contrasting: Whether foils contrast (files `lbc`) or are random (files `normal`).
        training_problems: Number of training problems, the first ones; `None` for all.
        test_problems: Number of test problems, the first ones; `None` for all.

    Raises:
        ValueError: If a number is out of range.
        UnknownNameError: If there is no such set.

    Reference:
        hill2019; webb2020, section 2.2.
    """

    name: ClassVar[str] = "published-visual-analogies"
    version: ClassVar[int] = 1

    archive: str = ARCHIVES[0]
    folder: str | None = None
    image_size: int = 80
    contrasting: bool = True
    training_problems: int | None = None
    test_problems: int | None = None

    def __post_init__(self) -> None:
        if self.archive not in ARCHIVES:
            raise UnknownNameError("archive", self.archive, ARCHIVES)
        _check_image_size(self.image_size)
        for name in ("training_problems", "test_problems"):
            if (value := getattr(self, name)) is not None:
                rules.check_number(name, value, 1, _MOST)

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Training, and the test of the same set."""
        unit = "published test"
        return (
            Regime(name=TRAINING, distance=0.0, unit=unit),
            Regime(name=self.archive, distance=1.0, unit=unit),
        )

    def draw(self, stream: Stream) -> dict[str, Problems]:
        """The published sets, whatever the run; their panels are read when they are asked for.

        Args:
            stream: Stream of the run, which decides nothing.

        Raises:
            ValueError: If no folder is named, or a file in it is not as published.
        """
        del stream
        counts = {TRAINING: self.training_problems, self.archive: self.test_problems}
        return {
            regime: read_visual_analogies(
                self._place(),
                pattern=pattern,
                image_size=self.image_size,
                at_most=counts[regime],
            )
            for regime, pattern in self._patterns().items()
        }

    def is_at_hand(self) -> bool:
        """Whether there is a file of each set in the data folder."""
        try:
            place = self._place()
        except ValueError:
            return False
        return all(any(place.glob(pattern)) for pattern in self._patterns().values())

    def _patterns(self) -> dict[str, str]:
        """Names of the files of each set."""
        foils = "lbc" if self.contrasting else "normal"
        return {
            regime: f"analogy_{self.archive}_{part}_{foils}_*.npz"
            for regime, part in ((TRAINING, "train"), (self.archive, "test"))
        }

    def _place(self) -> Path:
        """The folder that holds the files."""
        named = self.folder or os.environ.get("FARFIELD_DATA")
        if not named:
            raise ValueError(
                "folder must name the data folder, got none: pass it, or set FARFIELD_DATA"
            )
        place = Path(named) / "analogies"
        return place / self.archive if (place / self.archive).is_dir() else place

    def oracle(self, problems: Problems) -> Float[Tensor, "batch candidate"]:
        """The published answers as outputs.

        Args:
            problems: Problems of any regime.
        """
        return F.one_hot(problems.target, NUM_CANDIDATES).to(torch.float32) * 2 - 1

    def parts(self, problems: Problems) -> dict[str, Bool[Tensor, " batch"]]:
        """Which problems are about which relation, by its name; those that occur.

        Args:
            problems: Problems of any regime.
        """
        structure = problems.latent.get("relation_structure")
        if structure is None:
            return {}
        chosen = {name: structure[:, COLUMNS.index(name)] == 1 for name in RELATIONS}
        return {name: rows for name, rows in chosen.items() if rows.any()}
