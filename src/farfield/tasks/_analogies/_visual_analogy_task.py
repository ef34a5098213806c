"""The members that generated and published visual analogies have in common."""

from __future__ import annotations

from typing import ClassVar

from farfield.tasks._analogies._analogy_problems import NUM_CANDIDATES, PLACES, PREMISES, ROW
from farfield.tasks._protocol._choices import ChoiceTask
from farfield.tasks._protocol._form import GRAY, Form


class VisualAnalogyTask(ChoiceTask):
    """Analogies from a source row to a target row: where panels come from is its own."""

    form: ClassVar[Form] = Form(axes=GRAY, arrangement="group", answer="candidates")

    image_size: int
    """Width and height of a panel in pixels."""

    @property
    def item_shape(self) -> tuple[int, ...]:
        """Height and width of a panel."""
        return (self.image_size, self.image_size)

    @property
    def length(self) -> int:
        """Three panels of the source, two of the target, four candidates."""
        return PLACES

    @property
    def num_candidates(self) -> int:
        """Four."""
        return NUM_CANDIDATES

    @property
    def segments(self) -> tuple[tuple[int, ...], ...]:
        """Two contexts: the source, and the target with one candidate."""
        return (tuple(range(ROW)), tuple(range(ROW, PREMISES + 1)))
