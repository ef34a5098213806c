"""Mean teacher: consistency with a running mean of the weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from torch import Tensor

from farfield.core import Fraction
from farfield.objectives._consistency import distance, probabilities, ramp_up
from farfield.objectives._objective import Tensors, Update
from farfield.objectives._teacher import TeacherRule


@final
@dataclass(frozen=True, kw_only=True)
class MeanTeacher(TeacherRule):
    r"""The task's loss, and the distance from the answers of a teacher.

    $$L = \frac{1}{B} \sum_b \ell(f_\theta(x_b), y_b) + w(p)\, \frac{1}{B' K} \sum_{b, k}
      \left(\sigma_k(f_\theta(u_b)) - \sigma_k(f_{\theta'}(u_b))\right)^2, \qquad
      \theta' \leftarrow d\, \theta' + (1 - d)\, \theta$$

    with $\sigma$ the probabilities of classes, $u$ problems of the set `consistency`, and $\theta'$
    the running mean of the weights, which is the teacher. The weight $w$ grows over the first part
    of the run as $\exp(-5 (1 - p / r)^2)$ with $p$ the progress. Where `CropAndFlip` changes
    images, student and teacher see different draws.

    Args:
        weight: Largest weight of the distance.
        decay: Decay $d$ of the running mean, in 0…1.
        ramp: Fraction $r$ of the run over which the weight grows.
        consistency: Name of the set on which student and teacher are to agree.
        warmup: Whether the decay of update $n$ is at most $1 - 1 / (n + 1)$, so that the teacher
            is at first the plain mean of all weights.
        scores_teacher: Whether the teacher is scored and kept, as published, and not the student.
        independent_teacher: Whether the teacher starts from a draw of its own, and not from the
            weights of the student.
        averages_buffers: Whether buffers of the teacher, such as statistics of batch
            normalization, are running means of the student's, and not those of its own answers.
            The vectors of spectral normalization follow the teacher's own weights always.

    Raises:
        ValueError: If a number is out of range.

    Reference:
        Tarvainen and Valpola 2017.
    """

    decay: Fraction = 0.99

    @property
    def second_views(self) -> tuple[str, ...]:
        """The set on which student and teacher are to agree."""
        return (self.consistency,)

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """The mean loss and the weighted distance.

        Args:
            update: The step.

        Raises:
            ValueError: If the outputs are not logits of classes.
        """
        supervised = self.supervised(update)
        problems = update.batches[self.consistency]
        student = update.outputs(problems)
        teacher, state = self.teach(update, update.second_view(self.consistency))
        weight = self.weight * ramp_up(update.progress, self.ramp)
        loss = supervised + weight * distance(student, probabilities(teacher), problems)
        return loss, self.follow(update, state)
