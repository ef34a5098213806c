"""Learning on sequences: carried states, the next embedding, reconstruction."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, final

import numpy as np
import torch
from torch import Tensor

from farfield.core import Problems, Stream
from farfield.core.internal import TRAINING, Checked, Fraction, NonNegativeFloat
from farfield.objectives._objective import Carry, Objective, Tensors, Update
from farfield.objectives._over_another import OWN, RuleOverRule, named, tensors_of

_CARRIED = "carried."
_SOURCE: Final = "carried.source"
"""Draw: the row before whose state each row goes on from; −1 for a zero state."""


@final
@dataclass(frozen=True, kw_only=True)
class CarriedState(RuleOverRule):
    r"""Another learning rule, on a network that goes on from its state after the batch before.

    $$(y_t, s_t) = f(x_t, \bar s_{t-1})$$

    with the network $f$, the batch $x_t$ and the state $s$, of which $\bar s$ is the value without
    its gradient: backpropagation through time is truncated at the beginning of a batch. Batches go
    through the training set in lanes, one a row (`in_lanes`); at the beginning of each pass the
    state is zero. For tasks whose problems follow each other, such as `farfield.tasks.WordText`:
    where a label depends on the start of its sequence, a state from before would make it wrong, and
    such tasks are refused.

    With `from_other_rows` it is state passing: a network that has met only states near zero fails
    far beyond its training length, and here it meets the last states of other sequences.

    Args:
        objective: The learning rule.
        probability: Probability that a row goes on from a state, drawn for each row of each step;
            otherwise its state is zero.
        from_other_rows: Whether that state is the state of another row after the batch before, at a
            distance between rows that is drawn for each step; otherwise of the same row.

    Raises:
        ValueError: If it is no learning rule, or one over several training domains, or the
            probability is not in 0…1.

    Reference:
        Williams and Peng 1990; ren2017, section 4.2, as in its released code. Other rows: Buitrago
        Ruiz and Gu 2025.
    """

    in_lanes: ClassVar[bool] = True

    probability: Fraction = 1.0
    from_other_rows: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.objective.by_domain:
            raise ValueError(
                "objective must read one training domain for a carried state, got "
                f"{self.objective!r}"
            )

    def draw(self, batches: Mapping[str, Problems], stream: Stream) -> Tensors:
        """Draw for the rule, and the row whose state each row goes on from.

        Args:
            batches: Batches of the step, by the name of the set.

        Raises:
            ValueError: If there is no other row.
        """
        drawn = dict(self.objective.draw(batches, stream))
        if self.probability < 1 or self.from_other_rows:
            problems = batches[TRAINING]
            source = self._sources(len(problems), stream.child("carried").numpy())
            drawn[_SOURCE] = torch.from_numpy(source).to(problems.index.device)
        return drawn

    def _sources(self, size: int, generator: np.random.Generator) -> np.ndarray:
        """Draw the row of each row's state, or −1."""
        if self.from_other_rows and size < 2:
            raise ValueError(f"batch_size must be at least 2 for states of other rows, got {size}")
        distance = generator.integers(1, size) if self.from_other_rows else 0
        passed = generator.random(size) < self.probability
        return np.where(passed, (np.arange(size) + distance) % size, -1)

    def loss(self, update: Update) -> tuple[Tensor, Tensors]:
        """Compute the loss of the rule, and the state after the batch.

        Args:
            update: The step, of a network that goes on from a state (`continued`).

        Raises:
            TypeError: If the network cannot.
            ValueError: If a part of its state is not `(layer, batch, …)` and rows are chosen.
        """
        before, own = tensors_of(_CARRIED, update.state), tensors_of(OWN, update.state)
        is_first = update.rows[TRAINING][0] == 0
        parts = [torch.where(is_first, 0.0, before[name]) for name in sorted(before)]
        if _SOURCE in update.draws:
            parts = [_rows_of(part, update.draws[_SOURCE]) for part in parts]
        carry = Carry(state=tuple(parts) or None)
        network = dataclasses.replace(update.network, carry=carry)
        loss, new = self.objective.loss(dataclasses.replace(update, network=network, state=own))
        after = {str(number): part.detach() for number, part in enumerate(carry.state or ())}
        return loss, named(_CARRIED, after) | named(OWN, new)


def _rows_of(part: Tensor, source: Tensor) -> Tensor:
    """Select rows of a state, zeros for row −1.

    Args:
        part: Part of a state, `(layer, batch, *)`.
        source: Row of each row.
    """
    if part.ndim < 2 or part.shape[1] != len(source):
        raise ValueError(
            f"state must be (layer, batch, …) with batch {len(source)} for rows to be chosen, got "
            f"{tuple(part.shape)}"
        )
    kept = (source >= 0).reshape(-1, *(1,) * (part.ndim - 2))
    return torch.where(kept, part.index_select(1, source.clamp(min=0)), 0.0)


@final
@dataclass(frozen=True, kw_only=True)
class PredictingEmbeddings(Checked, Objective):
    r"""The mean squared error of predicted embeddings.

    $$L = \frac{1}{B (T - 1) H} \sum_{i,t,k} \left(\hat z_{itk} - z_{itk}\right)^2$$

    with $B$ sequences, $T$ steps, of which the first is not predicted, and $H$ features. Both are
    normalized, as the predictor has them, or both are embeddings. It needs a model that gives
    them: one with a method `predict` from `(items, index)` to normalized predictions and a
    `farfield.nn.internal.NormalizedSequence`, as `farfield.models.internal.ObjectPredictor` has.
    `Supervised` on the same model is the error in the pixels.

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
