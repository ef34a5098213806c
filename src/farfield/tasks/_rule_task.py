"""The members that all tasks of abstract rules have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from jaxtyping import Float
from torch import Tensor

from farfield.core import Problems, Stream
from farfield.tasks import _abstract_rules as rules
from farfield.tasks._shapes import Shapes


class RuleTask(ABC):
    """A task of abstract rules over images: what it asks and draws is its own, the rest is here."""

    shapes: Shapes | None
    """The images; `None` for the built-in 100 glyphs."""

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

    def sample(self, regime: str, n: int, generator: np.random.Generator) -> Problems:
        """`n` problems of one regime, with replacement, from the sets of run 0.

        The sets are those of `draw(stream(0))` whatever the generator: what one call withholds no
        other shows.

        Args:
            regime: Name of the regime.
            n: Number of problems.
            generator: Draws the rows.
        """
        return rules.resample(self.draw, regime, n, generator)

    def loss(
        self, outputs: Float[Tensor, "batch candidate"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Cross-entropy of each answer.

        Args:
            outputs: Logits, `num_outputs` of them per problem.
            problems: The problems they answer.
        """
        return rules.answer_loss(outputs, problems, self.num_outputs)

    def score(
        self, outputs: Float[Tensor, "batch candidate"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """1 for a right answer, 0 for a wrong one.

        Args:
            outputs: Logits, `num_outputs` of them per problem.
            problems: The problems they answer.
        """
        return rules.answer_score(outputs, problems, self.num_outputs)
