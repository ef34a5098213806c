"""The visual analogies of hill2019, from the files that their authors publish."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Final, final

from jaxtyping import Bool
from torch import Tensor

from farfield.core import Problems
from farfield.core.internal import UnknownNameError, check_fields
from farfield.tasks._analogies._analogy_panels import RELATIONS
from farfield.tasks._analogies._panel_tasks import PublishedPanels, occurring
from farfield.tasks._analogies._visual_analogies import (
    NUM_CANDIDATES,
    NUM_PANELS,
    VisualAnalogyTask,
)
from farfield.tasks._files._panel_files import (
    COLUMNS,
    PanelFile,
    check_image_size,
    every_so_manyth,
    files_of,
    found_folder,
    read_files,
)
from farfield.tasks._protocol._task import TRAINING, Count, Regime, regimes_at

ARCHIVES: Final = (
    "extrapolation",
    "interpolation",
    "novel.domain.transfer",
    "novel.target.domain.line.type",
    "novel.target.domain.shape.color",
)
"""Published sets, each with training and test problems."""
_FILE: Final = PanelFile(
    panels=NUM_PANELS,
    candidates=NUM_CANDIDATES,
    described=(("relation_structure_encoded", (1, len(COLUMNS))),),
)


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
        pattern: Pattern of the names of files, with the wildcards of a shell; without effect on a
            list.
        image_size: Width and height of a panel: 160 as stored, 80 for every second pixel, or 40.
        at_most: Number of problems to read, the first ones; `None` for all.

    Returns:
        The problems. `latent["relation_structure"]` holds the published columns — shape, line,
        color, number, position, size, type, progression, XOR, OR, AND, consistent union — where
        every file has them.

    Raises:
        ValueError: If an argument is wrong, or a file is not complete in the published layout;
            the message names the file and the field. Errors in panels are raised when they
            are drawn.

    Reference:
        hill2019; webb2020, section 2.2 and supplement 2.
    """
    check_image_size(image_size)
    problems = read_files(
        files_of(source, pattern, at_most),
        image_size=image_size,
        layout=_FILE,
        smaller=every_so_manyth,
    )
    described = problems.latent.get("relation_structure_encoded")
    latent = {} if described is None else {"relation_structure": described[:, 0]}
    return replace(problems, latent=latent)


@final
@dataclass(frozen=True, kw_only=True)
class PublishedVisualAnalogies(PublishedPanels, VisualAnalogyTask):
    """The visual analogies of Hill et al. 2019, from the files that their authors publish.

    **Task.** Two rows of three panels, the last panel missing: which of four candidates continues
    the target row as the source row is continued? Shapes and lines in panels obey a progression,
    XOR, OR or AND, over number, size, type, color or position in the source and over another of
    these in the target. `VisualAnalogies` generates panels for the same task.

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
    The ceiling is the published answers themselves: pictures do not show their descriptions.

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
        UnknownNameError: If the set is unknown.

    Reference:
        hill2019; webb2020, section 2.2.
    """

    name: ClassVar[str] = "published-visual-analogies"
    version: ClassVar[int] = 1

    archive: str = ARCHIVES[0]
    folder: str | None = None
    image_size: int = 80
    contrasting: bool = True
    training_problems: Count | None = None
    test_problems: Count | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        if self.archive not in ARCHIVES:
            raise UnknownNameError("archive", self.archive, ARCHIVES)
        check_image_size(self.image_size)

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Training, and the test of the same set."""
        return regimes_at("published test", {TRAINING: 0, self.archive: 1})

    def _read(self, pattern: str, at_most: int | None) -> Problems:
        (folder,) = self._folders().values()
        return read_visual_analogies(
            folder, pattern=pattern, image_size=self.image_size, at_most=at_most
        )

    def _folders(self) -> dict[str, Path]:
        return {"": found_folder(self.folder, "analogies", self.archive)}

    def _patterns(self) -> dict[str, str]:
        foils = "lbc" if self.contrasting else "normal"
        return {
            regime: f"analogy_{self.archive}_{part}_{foils}_*.npz"
            for regime, part in ((TRAINING, "train"), (self.archive, "test"))
        }

    def parts(self, problems: Problems) -> dict[str, Bool[Tensor, " batch"]]:
        """Return the mask of the problems about each relation that occurs, by its name."""
        structure = problems.latent.get("relation_structure")
        if structure is None:
            return {}
        return occurring({name: structure[:, COLUMNS.index(name)] == 1 for name in RELATIONS})
