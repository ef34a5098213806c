"""The progressive matrices of barrett2018 (PGM), from the files that their authors publish."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Final, final

from jaxtyping import Bool
from torch import Tensor

from farfield.core import Problems
from farfield.core.internal import UnknownNameError, check_fields
from farfield.tasks._analogies._panel_tasks import PublishedPanels, occurring
from farfield.tasks._files._panel_files import (
    COLUMNS,
    PanelFile,
    block_means,
    check_image_size,
    files_of,
    found_folder,
    read_files,
)
from farfield.tasks._matrices._matrix_holdouts import MOST_TRIPLES
from farfield.tasks._matrices._matrix_panels import RELATIONS
from farfield.tasks._matrices._matrix_problems import NUM_CANDIDATES, NUM_PANELS
from farfield.tasks._matrices._progressive_matrices import MatrixTask
from farfield.tasks._protocol._task import TRAINING, VALIDATION, Count, Regime, regimes_at

ARCHIVES: Final = (
    "neutral",
    "interpolation",
    "extrapolation",
    "attrs.pairs",
    "attr.rel.pairs",
    "attr.rels",
    "attrs.shape.color",
    "attrs.line.type",
)
"""Published sets: the holdouts of `ProgressiveMatrices`, in the same order."""
_FILE: Final = PanelFile(
    panels=NUM_PANELS,
    candidates=NUM_CANDIDATES,
    described=(
        ("relation_structure_encoded", (MOST_TRIPLES, len(COLUMNS))),
        ("meta_target", (len(COLUMNS),)),
    ),
)


def read_matrices(
    source: str | Path,
    *,
    pattern: str = "PGM_*.npz",
    image_size: int = 80,
    at_most: int | None = None,
) -> Problems:
    """Read problems of Barrett et al. from files in the published layout, one problem a file.

    Answers are read at once, panels when they are asked for. Nothing outside the folder is opened
    and nothing is unpickled.

    Args:
        source: A folder of files, in the order of the number at the end of their names; or a text
            file with a path a line, relative to its own folder.
        pattern: Pattern of the names of files, with the wildcards of a shell; without effect on a
            list.
        image_size: Width and height of a panel: 160 as stored; for 80 and 40 the mean of each
            square of pixels.
        at_most: Number of problems to read, the first ones; `None` for all.

    Returns:
        The problems. Where every file has them, `latent["relation_structure"]` holds the published
        columns — shape, line, color, number, position, size, type, progression, XOR, OR, AND,
        consistent union — of up to four triples, and `latent["meta_target"]` those of all together.

    Raises:
        ValueError: If an argument is wrong, or a file is not complete in the published layout;
            the message names the file and the field. Errors in panels are raised when they
            are drawn.

    Reference:
        barrett2018.
    """
    check_image_size(image_size)
    paths = files_of(source, pattern, at_most)
    problems = read_files(paths, image_size=image_size, layout=_FILE, smaller=block_means)
    latent = dict(problems.latent)
    structure = latent.pop("relation_structure_encoded", None)
    if structure is not None:
        latent = {"meta_target": structure.amax(dim=1), **latent, "relation_structure": structure}
    return replace(problems, latent=latent)


@final
@dataclass(frozen=True, kw_only=True)
class PublishedMatrices(PublishedPanels, MatrixTask):
    """The progressive matrices of Barrett et al. 2018 (PGM), from the files that they publish.

    **Task.** Eight panels of a 3×3 matrix, the last one lacking, and eight candidates for it. One
    to four triples of a relation (progression, XOR, OR, AND, consistent union), an object (shape,
    line) and an attribute (size, type, color, position, number) hold along its rows or columns;
    with which candidate do they? `ProgressiveMatrices` generates panels for the same task.

    **Worked example.** Along the rows: progression of the number of shapes.

    ```text
      ┌─────┐┌─────┐┌─────┐       1       2       3       4
      │  •  ││ • • ││• • •│    ┌─────┐ ┌─────┐ ┌─────┐ ┌─────┐
      └─────┘└─────┘└─────┘    │  •  │ │ ••• │ │•••••│ │ • • │
      ┌─────┐┌─────┐┌─────┐    └─────┘ └─────┘ └─────┘ └─────┘
      │ • • ││• • •││•• ••│       5       6       7       8        → 3
      └─────┘└─────┘└─────┘    ┌─────┐ ┌─────┐ ┌─────┐ ┌─────┐
      ┌─────┐┌─────┐┌─────┐    │•• ••│ │     │ │ •:• │ │•:::•│
      │• • •││•• ••││  ?  │    └─────┘ └─────┘ └─────┘ └─────┘
      └─────┘└─────┘└─────┘
    ```

    **Regimes.** `training`, `validation` and the test of one of the eight published sets, named
    after it: 1,200,000, 20,000 and 200,000 problems in the publication. Validation is of the
    training kind, the test shows the withheld triples or levels. Every seed has the same problems.

    **Score, floor and ceiling.** Share of right answers, a tie counting as wrong; 0.125 by
    guessing. The ceiling is the published answers themselves: pictures do not show their
    descriptions.

    **Known shortcuts.** The publication reports that a network that sees the candidates alone is
    right more often than by guessing.

    **Source and deviations.** Barrett et al. 2018; which fields files have, and that panels stand
    one after another in them, after independent loaders and reports of users: the publication
    documents them in part. The files are those of the folder `pgm` of the data folder, or of a
    folder in it that is called like the set. Images are read at 80×80, each pixel the mean of four.

    Args:
        archive: Name of the published set.
        folder: The data folder; without one, that of the environment variable FARFIELD_DATA.
        image_size: Width and height of a panel: 40, 80 or 160 pixels.
        training_problems: Number of training problems, the first ones; `None` for all.
        test_problems: Number of problems of validation and of the test, the first ones; `None` for
            all.

    Raises:
        ValueError: If a number is out of range.
        UnknownNameError: If the set is unknown.

    Reference:
        barrett2018; gondal2021, section 4.3.
    """

    name: ClassVar[str] = "published-matrices"
    version: ClassVar[int] = 1
    training_scored: ClassVar[int] = 2_000

    archive: str = ARCHIVES[0]
    folder: str | None = None
    image_size: int = 80
    training_problems: Count | None = None
    test_problems: Count | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        if self.archive not in ARCHIVES:
            raise UnknownNameError("archive", self.archive, ARCHIVES)
        check_image_size(self.image_size)

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Training, validation, and the test of the same set."""
        test = {self.archive: int(self.archive != ARCHIVES[0])}
        return regimes_at("published test", {TRAINING: 0, VALIDATION: 0} | test)

    def _read(self, pattern: str, at_most: int | None) -> Problems:
        (folder,) = self._folders().values()
        return read_matrices(folder, pattern=pattern, image_size=self.image_size, at_most=at_most)

    def _folders(self) -> dict[str, Path]:
        return {"": found_folder(self.folder, "pgm", self.archive)}

    def _patterns(self) -> dict[str, str]:
        parts = ((TRAINING, "train"), (VALIDATION, "val"), (self.archive, "test"))
        return {regime: f"PGM_{self.archive}_{part}_*.npz" for regime, part in parts}

    def parts(self, problems: Problems) -> dict[str, Bool[Tensor, " batch"]]:
        """Return the masks of the problems by number of triples and by relation, if they occur."""
        chosen: dict[str, Bool[Tensor, " batch"]] = {}
        if "relation_structure" in problems.latent:
            number = problems.latent["relation_structure"].any(dim=2).sum(dim=1)
            chosen |= {f"triples-{count}": number == count for count in range(1, MOST_TRIPLES + 1)}
        if "meta_target" in problems.latent:
            said = problems.latent["meta_target"]
            chosen |= {name: said[:, COLUMNS.index(name)] == 1 for name in RELATIONS}
        return occurring(chosen)
