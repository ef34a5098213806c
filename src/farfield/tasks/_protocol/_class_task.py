"""Base of tasks of classifying a single item."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor

from farfield.core import Problems
from farfield.tasks._protocol._answer_task import AnswerTask
from farfield.tasks._protocol._answers import target_outputs


class ClassTask(AnswerTask):
    """A task whose ceiling is the published labels."""

    def oracle(self, problems: Problems) -> Float[Tensor, "batch answer"]:
        """The published labels as outputs.

        Args:
            problems: Problems of any regime.
        """
        return target_outputs(problems, self.num_outputs)
