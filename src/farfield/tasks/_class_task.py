"""What tasks of naming the class of one thing shown have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod

from jaxtyping import Float
from torch import Tensor

from farfield.core import Problems
from farfield.tasks._answers import answer_loss, answer_score, target_outputs
from farfield.tasks._checks import check_regime
from farfield.tasks._task import Regime


class ClassTask(ABC):
    """A task with a logit for each class: what it shows is its own, the rest is here."""

    @property
    @abstractmethod
    def num_outputs(self) -> int:
        """A logit for each class."""

    @property
    @abstractmethod
    def regimes(self) -> tuple[Regime, ...]:
        """Training, validation, then the test distributions."""

    def loss(
        self, outputs: Float[Tensor, "batch value"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Cross-entropy.

        Args:
            outputs: Logits.
            problems: The problems.

        Raises:
            ValueError: If `outputs` is not of `(batch, num_outputs)`.
        """
        return answer_loss(outputs, problems, self.num_outputs)

    def score(
        self, outputs: Float[Tensor, "batch value"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """1 where the class is right, 0 where it is wrong or not a number.

        Args:
            outputs: Logits.
            problems: The problems.

        Raises:
            ValueError: If `outputs` is not of `(batch, num_outputs)`.
        """
        return answer_score(outputs, problems, self.num_outputs)

    def chance(self, regime: str) -> float:
        """Share of right answers by guessing.

        Args:
            regime: Name of the regime.
        """
        check_regime(regime, self.regimes)
        return 1 / self.num_outputs

    def oracle(self, problems: Problems) -> Float[Tensor, "batch value"]:
        """The published labels as outputs.

        Args:
            problems: Problems of any regime.
        """
        return target_outputs(problems, self.num_outputs)
