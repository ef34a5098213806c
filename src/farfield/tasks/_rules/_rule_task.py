"""The members that all tasks of abstract rules have in common."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from farfield.tasks._protocol._answer_task import AnswerTask
from farfield.tasks._protocol._by_hand import OracleByHand
from farfield.tasks._protocol._form import GRAY, Form
from farfield.tasks._protocol._task import Regime
from farfield.tasks._rules import _abstract_rules as rules
from farfield.tasks._rules._glyph_set import GlyphSet


class RuleTask(OracleByHand, AnswerTask):
    """Base of the tasks of abstract rules over images."""

    form: ClassVar[Form] = Form(axes=GRAY, arrangement="group")
    shapes: GlyphSet | None
    """The images; `None` for the built-in 100 glyphs."""
    withheld: int
    """Number of images that training never shows."""

    @property
    @abstractmethod
    def length(self) -> int:
        """Number of images of a problem."""

    @property
    def item_shape(self) -> tuple[int, ...]:
        """Height and width of an image."""
        return rules.item_shape(self.shapes)

    @property
    def segments(self) -> tuple[tuple[int, ...], ...]:
        """One context: all images of a problem."""
        return (tuple(range(self.length)),)

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Training, then the test on withheld images."""
        return rules.regimes_of(self.withheld)


class YesNoTask(RuleTask):
    """A task of abstract rules with two answers."""

    softmax: bool
    """True if the answer is two logits rather than one."""

    @property
    def num_outputs(self) -> int:
        """One logit, or two where `softmax`."""
        return 2 if self.softmax else 1
