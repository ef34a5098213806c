"""The members that all tasks of abstract rules have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from jaxtyping import Float
from torch import Tensor

from farfield.core import Problems, Stream
from farfield.tasks import _abstract_rules as rules
from farfield.tasks._answers import answer_loss, answer_score
from farfield.tasks._checks import check_regime
from farfield.tasks._samples import resample
from farfield.tasks._shapes import Shapes
from farfield.tasks._task import Regime


class RuleTask(ABC):
    """A task of abstract rules over images: what it asks and draws is its own, the rest is here."""

    shapes: Shapes | None
    """The images; `None` for the built-in 100 glyphs."""
    withheld: int
    """Number of images that training never shows."""

    @property
    @abstractmethod
    def length(self) -> int:
        """Number of images of a problem."""

    @property
    @abstractmethod
    def num_outputs(self) -> int:
        """Logits of one problem."""

    @abstractmethod
    def draw(self, stream: Stream) -> dict[str, Problems]:
        """The sets of one run, by regime name.

        Args:
            stream: Stream of the run.
        """

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

    def sample(self, regime: str, n: int, generator: np.random.Generator) -> Problems:
        """`n` problems of one regime, with replacement, from the sets of run 0.

        The sets are those of `draw(stream(0))` whatever the generator: what one call withholds no
        other shows.

        Args:
            regime: Name of the regime.
            n: Number of problems.
            generator: Draws the rows.
        """
        return resample(self.draw, regime, n, generator)

    def loss(
        self, outputs: Float[Tensor, "batch candidate"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Cross-entropy of each answer.

        Args:
            outputs: Logits, `num_outputs` of them per problem.
            problems: The problems they answer.
        """
        return answer_loss(outputs, problems, self.num_outputs)

    def score(
        self, outputs: Float[Tensor, "batch candidate"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """1 for a right answer, 0 for a wrong one.

        Args:
            outputs: Logits, `num_outputs` of them per problem.
            problems: The problems they answer.
        """
        return answer_score(outputs, problems, self.num_outputs)

    def chance(self, regime: str) -> float:
        """Share of right answers by guessing; the answers of a task are equally frequent.

        Args:
            regime: Name of the regime.
        """
        check_regime(regime, self.regimes)
        return 1 / max(2, self.num_outputs)


class YesNoTask(RuleTask):
    """A task of abstract rules with two answers."""

    softmax: bool
    """Whether the answer is two logits rather than one."""

    @property
    def num_outputs(self) -> int:
        """One logit, or two where `softmax`."""
        return 2 if self.softmax else 1
