"""The members that generated and published progressive matrices have in common."""

from __future__ import annotations

from typing import ClassVar

from farfield.tasks._matrices._matrix_lines import CONTEXT
from farfield.tasks._matrices._matrix_problems import NUM_CANDIDATES, PLACES
from farfield.tasks._protocol._choices import ChoiceTask
from farfield.tasks._protocol._form import GRAY, Form


class MatrixTask(ChoiceTask):
    """Matrices of 3×3 panels of which the last one lacks: where panels come from is its own."""

    form: ClassVar[Form] = Form(axes=GRAY, arrangement="group", answer="candidates")

    image_size: int
    """Width and height of a panel in pixels."""

    @property
    def item_shape(self) -> tuple[int, ...]:
        """Height and width of a panel."""
        return (self.image_size, self.image_size)

    @property
    def length(self) -> int:
        """Eight panels of the matrix, in reading order, and eight candidates."""
        return PLACES

    @property
    def num_candidates(self) -> int:
        """Eight."""
        return NUM_CANDIDATES

    @property
    def segments(self) -> tuple[tuple[int, ...], ...]:
        """One context: the matrix with one candidate."""
        return (tuple(range(CONTEXT + 1)),)
