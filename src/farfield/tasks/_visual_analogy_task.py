"""The members that generated and published visual analogies have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from jaxtyping import Float
from torch import Tensor

from farfield.core import Problems, Stream
from farfield.tasks import _abstract_rules as rules
from farfield.tasks._analogy_problems import NUM_CANDIDATES, PLACES, PREMISES, ROW
from farfield.tasks._choices import choice_score
from farfield.tasks._task import Regime


class VisualAnalogyTask(ABC):
    """Analogies from a source row to a target row: where panels come from is its own."""

    image_size: int
    """Width and height of a panel in pixels."""

    @property
    @abstractmethod
    def regimes(self) -> tuple[Regime, ...]:
        """Training first, then the test distributions by growing distance."""

    @abstractmethod
    def draw(self, stream: Stream) -> dict[str, Problems]:
        """The sets of one run, by regime name.

        Args:
            stream: Stream of the run.
        """

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
    def num_outputs(self) -> int:
        """A score for each candidate."""
        return NUM_CANDIDATES

    @property
    def segments(self) -> tuple[tuple[int, ...], ...]:
        """Two contexts: the source, and the target with one candidate."""
        return (tuple(range(ROW)), tuple(range(ROW, PREMISES + 1)))

    def sample(self, regime: str, n: int, generator: np.random.Generator) -> Problems:
        """`n` problems of one regime, with replacement, from the sets of run 0.

        Args:
            regime: Name of the regime.
            n: Number of problems.
            generator: Draws the rows.
        """
        return rules.resample(self.draw, regime, n, generator)

    def loss(
        self, outputs: Float[Tensor, "batch candidate"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Cross-entropy of the scores of the candidates.

        Args:
            outputs: A score for each candidate.
            problems: The problems they answer.
        """
        return rules.answer_loss(outputs, problems, self.num_outputs)

    def score(
        self, outputs: Float[Tensor, "batch candidate"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """1 where the right candidate scores higher than every other one, 0 where not.

        Args:
            outputs: A score for each candidate.
            problems: The problems they answer.
        """
        return choice_score(outputs, problems, self.num_outputs)

    def chance(self, regime: str) -> float:
        """A quarter: one candidate in four.

        Args:
            regime: Name of the regime.
        """
        rules.check_regime(regime, self.regimes)
        return 1 / NUM_CANDIDATES
