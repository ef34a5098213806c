"""Bases of tasks whose items are panels: drawn when asked for, or read from published files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Bool, Float, UInt8
from torch import Tensor

from farfield.core import Problems, Stream
from farfield.core.internal import LazyItems
from farfield.tasks._files._panel_files import panel_paths
from farfield.tasks._protocol._answers import ChoiceTask, target_outputs
from farfield.tasks._protocol._task import GRAY, TRAINING, Form


class PanelTask(ChoiceTask):
    """Base of tasks of gray panels, of which the last are candidates."""

    form: ClassVar[Form] = Form(axes=GRAY, arrangement="group", answer="candidates")
    _panels: ClassVar[int]
    """Number of panels of a problem, candidates included."""
    _candidates: ClassVar[int]
    """Number of candidates."""

    image_size: int
    """Width and height of a panel in pixels."""

    @property
    def item_shape(self) -> tuple[int, ...]:
        """Height and width of a panel."""
        return (self.image_size, self.image_size)

    @property
    def length(self) -> int:
        """Number of panels of a problem, candidates included."""
        return self._panels

    @property
    def num_candidates(self) -> int:
        """Number of candidates."""
        return self._candidates


class PublishedPanels(ABC):
    """Mixin of tasks whose panels are read from the files that their authors publish."""

    num_outputs: int
    training_problems: int | None
    """Maximum number of training problems, the first of the files; `None` for all."""
    test_problems: int | None
    """Maximum number of problems of every other set; `None` for all."""

    @abstractmethod
    def _folders(self) -> Mapping[str, Path]:
        """Find the folders of files, by the prefix of their names in `input_files`."""

    @abstractmethod
    def _patterns(self) -> Mapping[str, str]:
        """List patterns of the names of the files of each set, with the wildcards of a shell."""

    @abstractmethod
    def _read(self, pattern: str, at_most: int | None) -> Problems:
        """Read the problems of a set, at most `at_most` of each folder."""

    def _at_most(self, regime: str) -> int | None:
        return self.training_problems if regime == TRAINING else self.test_problems

    def draw(self, stream: Stream) -> dict[str, Problems]:
        """Read the published sets, whatever the run; panels are read when they are asked for.

        Args:
            stream: Stream of the run, which decides nothing.

        Raises:
            ValueError: If no folder is named, or a file in it is not as published.
        """
        del stream
        return {
            regime: self._read(pattern, self._at_most(regime))
            for regime, pattern in self._patterns().items()
        }

    def input_files(self) -> dict[str, Path]:
        """List the paths of the files of problems, by their names.

        Raises:
            ValueError: If no folder is named, or the folder has no files.
        """
        patterns = {p: self._at_most(regime) for regime, p in self._patterns().items()}
        return panel_paths(self._folders(), patterns)

    def is_at_hand(self) -> bool:
        """Check whether every folder has a file of each set."""
        try:
            folders = self._folders().values()
        except ValueError:
            return False
        return all(any(f.glob(pattern)) for f in folders for pattern in self._patterns().values())

    def oracle(self, problems: Problems) -> Float[Tensor, "batch candidate"]:
        """Return the published answers as outputs."""
        return target_outputs(problems, self.num_outputs)


Columns = Mapping[str, np.ndarray]
"""Panels of problems, `(batch, time, feature)`, their targets, and the latent description."""


def drawn_in_parts(
    draw: Callable[[np.random.Generator, int], Columns], branch: Stream, count: int, part: int
) -> dict[str, np.ndarray]:
    """Draw the columns of `count` problems part by part, each part from a separate stream.

    Args:
        draw: Draws the columns of a number of problems.
        branch: Stream of the set.
        count: Number of problems.
        part: Number of problems that are drawn at once.
    """
    parts = [
        draw(branch.child(number).numpy(), min(part, count - start))
        for number, start in enumerate(range(0, count, part))
    ]
    return {name: np.concatenate([columns[name] for columns in parts]) for name in parts[0]}


def panel_problems(
    columns: Columns, draw: Callable[[Tensor], UInt8[Tensor, "item height width"]]
) -> Problems:
    """Make problems over panels that are drawn when they are asked for.

    Args:
        columns: The columns of the problems.
        draw: Draws panels of their descriptions.
    """
    latent = {name: torch.from_numpy(column) for name, column in columns.items()}
    panels = latent.pop("panels")
    return Problems(
        items=LazyItems(latent=panels.flatten(0, 1), draw=draw),
        index=torch.arange(panels.shape[:2].numel()).view(panels.shape[:2]),
        target=latent.pop("target"),
        latent=latent,
    )


def occurring(masks: Mapping[str, Bool[Tensor, " batch"]]) -> dict[str, Bool[Tensor, " batch"]]:
    """Return the masks of the kinds of problems that occur.

    Args:
        masks: Mask of each kind, by its name.
    """
    return {name: rows for name, rows in masks.items() if rows.any()}
