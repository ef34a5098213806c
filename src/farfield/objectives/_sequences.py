"""Learning on sequences: carried states, the next embedding, reconstruction."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, final

import torch
from torch import Tensor

from farfield.core import TRAINING
from farfield.core.internal import Checked, NonNegativeFloat
from farfield.objectives._objective import Carry, Objective, Tensors, Update
from farfield.objectives._over_another import OWN, RuleOverRule, named, tensors_of

_CARRIED = "carried."


@final
@dataclass(frozen=True, kw_only=True)
class CarriedState(RuleOverRule):
    r"""Another learning rule, on a network that goes on from its state after the batch before.

    $$(y_t, s_t) = f(x_t, \bar s_{t-1})$$

    with the network $f$, the batch $x_t$ and the state $s$, of which $\bar s$ is the value without
    its gradient: backpropagation through time is truncated at the beginning of a batch. Batches go
    through the training set in lanes, one a row (`in_lanes`); at the beginning of each pass the
    state is zero. For tasks whose problems follow each other, such as `farfield.tasks.WordText`.

    Args:
        objective: The learning rule.

    Raises:
        ValueError: If it is no learning rule, or one over several training domains.

    Reference:
        Williams and Peng 1990; ren2017, section 4.2, as in its released code.
    """

    in_lanes: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.objective.by_domain:
            raise ValueError(
                "objective must read one training domain for a carried state, got "
                f"{self.objective!r}"
            )

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """Compute the loss of the rule, and the state after the batch.

        Args:
            update: The step, of a network that goes on from a state (`continued`).

        Raises:
            TypeError: If the network cannot.
        """
        before, own = tensors_of(_CARRIED, update.state), tensors_of(OWN, update.state)
        is_first = update.rows[TRAINING][0] == 0
        parts = [torch.where(is_first, 0.0, before[name]) for name in sorted(before)]
        carry = Carry(state=tuple(parts) or None)
        network = dataclasses.replace(update.network, carry=carry)
        loss, new = self.objective.loss(dataclasses.replace(update, network=network, state=own))
        after = {str(number): part.detach() for number, part in enumerate(carry.state or ())}
        return loss, named(_CARRIED, after) | named(OWN, new)

    def after(self, state: Tensors, parameters: Tensors, progress: float) -> Tensors:
        """List the tensors to remember after the parameters have changed.

        Args:
            state: Tensors that `loss` returned.
            parameters: Parameters after the step, by name.
            progress: Fraction of the steps that are done.
        """
        own = self.objective.after(tensors_of(OWN, state), parameters, progress)
        return named(_CARRIED, tensors_of(_CARRIED, state)) | named(OWN, own)


@final
@dataclass(frozen=True, kw_only=True)
class PredictingEmbeddings(Checked, Objective):
    r"""The mean squared error of predicted embeddings.

    $$L = \frac{1}{B (T - 1) H} \sum_{i,t,k} \left(\hat z_{itk} - z_{itk}\right)^2$$

    with $B$ sequences, $T$ steps, of which the first is not predicted, and $H$ features. Both are
    normalized, as the predictor has them, or both are embeddings. It needs a model that gives
    them: one with a method `predict` from `(items, index)` to normalized predictions and a
    `farfield.nn.NormalizedSequence`, as `farfield.models.ObjectPredictor` has. `Supervised` on the
    same model is the error in the pixels.

    Args:
        denormalized: Whether the error is that of the embeddings, predictions put back by
            location and scale of the context; otherwise the error of normalized embeddings, as in
            the released code of webb2020.

    Raises:
        ValueError: If `denormalized` is neither True nor False.

    Reference:
        webb2020, section 4.3.
    """

    takes_embeddings: ClassVar[bool] = True

    denormalized: bool = False

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """Compute the mean squared error; the task does not score the predictions.

        Args:
            update: The step, of a model with a method `predict`.

        Raises:
            TypeError: If the model has no such method; `Supervised` asks for none.
        """
        problems = update.problems
        predicted, sequence = update.network.call("predict", problems.items, problems.index)
        error = predicted - sequence.targets
        if self.denormalized:
            error = error * sequence.scale
        return error.square().mean(), update.state


@final
@dataclass(frozen=True, kw_only=True)
class Reconstructing(Checked, Objective):
    r"""The mean of the task's loss, and of the reconstruction error of the memory.

    $$L = \frac{1}{B} \sum_b \left(\ell(f(x_b), y_b) + w \, e(x_b)\right)$$

    with $\ell$ the loss of the task, $e$ the reconstruction error of the model's memory and $B$
    the number of problems of the batch. It needs a model that gives its error: one with a method
    `answer_and_error` from `(items, index)` to outputs and errors, as `Relational`
    has with an `MNM`.

    Args:
        weight: Weight of an error.

    Raises:
        ValueError: If the weight is no number, negative or not finite.

    Reference:
        Munkhdalai et al. 2019; the weight of 1 is that of the released code of webb2021.
    """

    takes_embeddings: ClassVar[bool] = True

    weight: NonNegativeFloat = 1.0

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """Compute the mean loss and the weighted mean error.

        Args:
            update: The step, of a model with a method `answer_and_error`.

        Raises:
            TypeError: If the model has no such method; `Supervised` asks for none.
        """
        problems = update.problems
        outputs, error = update.network.call("answer_and_error", problems.items, problems.index)
        return (update.task_loss(outputs, problems) + self.weight * error).mean(), update.state
