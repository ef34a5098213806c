"""The matrices of zhang2019 (RAVEN), from the files that their authors publish."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Final, final

import torch
from jaxtyping import Bool
from torch import Tensor

from farfield.core import Problems
from farfield.core.internal import UnknownNameError, check_fields, printable
from farfield.tasks._analogies._panel_tasks import PublishedPanels, occurring
from farfield.tasks._files._panel_files import (
    PanelFile,
    block_means,
    check_image_size,
    files_of,
    found_folder,
    read_files,
)
from farfield.tasks._matrices._matrix_problems import NUM_CANDIDATES, NUM_PANELS
from farfield.tasks._matrices._progressive_matrices import MatrixTask
from farfield.tasks._protocol._task import TRAINING, VALIDATION, Count, Regime, regimes_at

CONFIGURATIONS: Final = (
    "center_single",
    "distribute_four",
    "distribute_nine",
    "left_center_single_right_center_single",
    "up_center_single_down_center_single",
    "in_center_single_out_center_single",
    "in_distribute_four_out_center_single",
)
"""Layouts of panels: the published folders."""
_TEST: Final = "published-test"
_FILE: Final = PanelFile(
    panels=NUM_PANELS,
    candidates=NUM_CANDIDATES,
    described=(("meta_matrix", (8, 9)), ("meta_target", (9,)), ("meta_structure", (21,))),
)


@final
@dataclass(frozen=True, kw_only=True)
class RAVEN(PublishedPanels, MatrixTask):
    """The matrices of Zhang et al. 2019 (RAVEN), from the files that their authors publish.

    **Task.** Eight panels of a 3×3 matrix, the last one lacking, and eight candidates for it. Along
    the rows number, position, type, size and color of shapes each are constant, a progression, an
    arithmetic, or the same three values in every row; with which candidate do they go on? How
    shapes are laid out in a panel is one of seven configurations.

    **Worked example.** Types are the same three in every row.

    ```text
      ┌───┐┌───┐┌───┐
      │ △ ││ □ ││ ○ │
      ├───┤├───┤├───┤       1    2    3    4    5    6    7    8
      │ ○ ││ △ ││ □ │     ┌───┐┌───┐┌───┐┌───┐┌───┐┌───┐┌───┐┌───┐
      ├───┤├───┤├───┤     │ ○ ││ ● ││ ▲ ││ □ ││ △ ││ ■ ││ ◇ ││ ◆ │    → 5
      │ □ ││ ○ ││ ? │     └───┘└───┘└───┘└───┘└───┘└───┘└───┘└───┘
      └───┘└───┘└───┘
    ```

    **Regimes.** `training`, `validation` and `published-test`, by the names of the files: 6,000,
    2,000 and 2,000 problems of each configuration in the publication, all of one kind. Every seed
    has the same problems.

    **Score, floor and ceiling.** Share of right answers, a tie counting as wrong; 0.125 by
    guessing. The ceiling is the published answers themselves.

    **Known shortcuts.** The candidates alone give the answer away: the others are made from it by
    changing one attribute each, so that it shows the most frequent value of every attribute
    (hu2021). The files of I-RAVEN, which have the same layout, mend that; put them into the folder
    instead.

    **Source and deviations.** Zhang et al. 2019. The files are those of the folder `raven` of the
    data folder, or of the data folder itself, in a folder for each configuration. Images are read
    at 80×80, each pixel the mean of four.

    Args:
        configurations: Names of the configurations, at least one.
        folder: The data folder; without one, that of the environment variable FARFIELD_DATA.
        image_size: Width and height of a panel: 40, 80 or 160 pixels.
        training_problems: Number of training problems of each configuration, the first ones; `None`
            for all.
        test_problems: Number of problems of validation and of the test, of each configuration.

    Raises:
        ValueError: If a number is out of range, or no configuration is given.
        UnknownNameError: If a configuration is unknown.

    Reference:
        zhang2019; hu2021.
    """

    name: ClassVar[str] = "raven"
    version: ClassVar[int] = 1

    configurations: tuple[str, ...] = CONFIGURATIONS
    folder: str | None = None
    image_size: int = 80
    training_problems: Count | None = None
    test_problems: Count | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        for configuration in self.configurations:
            if configuration not in CONFIGURATIONS:
                raise UnknownNameError("configuration", configuration, CONFIGURATIONS)
        if not self.configurations or len(set(self.configurations)) < len(self.configurations):
            raise ValueError(
                "configurations must hold at least one name and each once, "
                f"got {self.configurations}"
            )
        check_image_size(self.image_size)

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Training, validation and test, all of one kind."""
        return regimes_at("published test", {TRAINING: 0, VALIDATION: 0, _TEST: 0})

    def _read(self, pattern: str, at_most: int | None) -> Problems:
        folders = self._folders().values()
        for folder in folders:
            if not folder.is_dir():
                raise ValueError(
                    f"configurations must be in the data folder, got no {printable(folder)}"
                )
        files = [list(files_of(folder, pattern, at_most)) for folder in folders]
        paths = [path for group in files for path in group]
        problems = read_files(paths, image_size=self.image_size, layout=_FILE, smaller=block_means)
        numbers = torch.tensor([CONFIGURATIONS.index(name) for name in self.configurations])
        counts = torch.tensor([len(group) for group in files])
        latent = {**problems.latent, "configuration": numbers.repeat_interleave(counts)}
        return replace(problems, latent=latent)

    def _folders(self) -> dict[str, Path]:
        raven = found_folder(self.folder, "raven")
        return {f"{name}/": raven / name for name in self.configurations}

    def _patterns(self) -> dict[str, str]:
        parts = ((TRAINING, "train"), (VALIDATION, "val"), (_TEST, "test"))
        return {regime: f"RAVEN_*_{part}.npz" for regime, part in parts}

    def parts(self, problems: Problems) -> dict[str, Bool[Tensor, " batch"]]:
        """Return the mask of the problems of each configuration that occurs, by its name."""
        number = problems.latent["configuration"]
        return occurring({name: number == row for row, name in enumerate(CONFIGURATIONS)})
