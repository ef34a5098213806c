"""Base of tasks with one right answer to each problem."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from jaxtyping import Float
from torch import Tensor

from farfield.core import Problems, Stream
from farfield.tasks._protocol._answers import answer_loss, answer_score
from farfield.tasks._protocol._checks import check_regime
from farfield.tasks._protocol._samples import resample
from farfield.tasks._protocol._task import Regime


class AnswerTask(ABC):
    """A task with a logit for each answer, or one for yes and no."""

    @property
    @abstractmethod
    def num_outputs(self) -> int:
        """Logits of one problem."""

    @property
    @abstractmethod
    def regimes(self) -> tuple[Regime, ...]:
        """Training first, then the test distributions."""

    @abstractmethod
    def draw(self, stream: Stream) -> dict[str, Problems]:
        """The sets of one run, by regime name.

        Args:
            stream: Stream of the run.
        """

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
        self, outputs: Float[Tensor, "batch answer"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Cross-entropy of each answer.

        Args:
            outputs: Logits, `num_outputs` of them per problem.
            problems: The problems they answer.

        Raises:
            ValueError: If `outputs` is not of `(batch, num_outputs)`.
        """
        return answer_loss(outputs, problems, self.num_outputs)

    def score(
        self, outputs: Float[Tensor, "batch answer"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """1 for a right answer, 0 for one that is wrong, a tie or not a number.

        Args:
            outputs: Logits, `num_outputs` of them per problem.
            problems: The problems they answer.

        Raises:
            ValueError: If `outputs` is not of `(batch, num_outputs)`.
        """
        return answer_score(outputs, problems, self.num_outputs)

    def chance(self, regime: str) -> float:
        """Share of right answers by guessing, each answer as likely as any other.

        Args:
            regime: Name of the regime.
        """
        check_regime(regime, self.regimes)
        return 1 / max(2, self.num_outputs)
