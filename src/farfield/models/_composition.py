"""Encoder, context and reasoner or scorer as one model of problems."""

from __future__ import annotations

from abc import abstractmethod
from typing import final

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.core.internal import LazyItems, Size, check_arguments
from farfield.models._abilities import KeepsStatistics, ScoresCandidates, TellsError


class Composition(nn.Module):
    """A model in two stages: embed every distinct item once, then answer from the embeddings.

    A subclass processes the embeddings.
    """

    encoder: nn.Module
    """Network from items `(item, *shape)` to embeddings `(item, *)`."""

    def forward(
        self, items: Shaped[Tensor, "item ..."] | LazyItems, index: Int[Tensor, "*shape"]
    ) -> Float[Tensor, "batch ..."]:
        """Answer every problem of a batch.

        Args:
            items: The distinct items. Of those that a task draws on demand, the ones that the
                index names are drawn.
        """
        if isinstance(items, LazyItems):
            rows, index = torch.unique(index, return_inverse=True)
            items = items.index_select(0, rows)
        return self.answer(self.encode(items), index)

    def encode(self, items: Shaped[Tensor, "item ..."]) -> Float[Tensor, "item ..."]:
        """Embed every item: the first of two stages."""
        return self.encoder(items)

    @abstractmethod
    def answer(
        self, embeddings: Float[Tensor, "item ..."], index: Int[Tensor, "*shape"]
    ) -> Float[Tensor, "batch ..."]:
        """Answer every problem from the embeddings of the items: the second of two stages."""


@final
class Relational(Composition):
    """Encoder, context and reasoner as one model of problems.

    Each distinct item is encoded once, however many problems show it; the embeddings are then
    gathered, set into the context of their problem, and reasoned about. The result equals
    encoding every position separately.

    Args:
        encoder: From items `(item, *shape)` to embeddings `(item, feature)`; or to a set of them,
            `(item, element, feature)`, whose elements follow one another in the sequence.
        context: From `(batch, time, feature)` to the same, e.g. `farfield.nn.ContextNorm`, or
            None.
        reasoner: From `(batch, time, feature)` to answers `(batch, num_outputs)`.

    Shape:
        Items `(item, *shape)` and their index `(batch, time)` to `(batch, num_outputs)`.

    Reference:
        webb2021, sections 3.1 and 3.2.
    """

    @check_arguments
    def __init__(self, encoder: nn.Module, context: nn.Module | None, reasoner: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder
        self.context = context
        self.reasoner = reasoner

    def answer_and_error(
        self, items: Shaped[Tensor, "item ..."], index: Int[Tensor, "batch time"]
    ) -> tuple[Float[Tensor, "batch _"], Float[Tensor, " batch"]]:
        """Return answers to every problem, and the reconstruction error of the reasoner's memory.

        Raises:
            TypeError: If the reasoner has no such error; `MNM` has.
            ValueError: If the index is not `(batch, time)`.
        """
        if not isinstance(self.reasoner, TellsError):
            raise TypeError(
                "reasoner must have a method answer_and_error, as MNM has, "
                f"got {type(self.reasoner).__name__}"
            )
        return self.reasoner.answer_and_error(self.embed(items, index))

    def embed(
        self, items: Shaped[Tensor, "item ..."], index: Int[Tensor, "batch time"]
    ) -> Float[Tensor, "batch step feature"]:
        """Compute the inputs of the reasoner: gathered embeddings in context.

        Raises:
            ValueError: If the index is not `(batch, time)`.
        """
        return self._in_context(self.encode(items), index)

    def answer(
        self, embeddings: Float[Tensor, "item *element feature"], index: Int[Tensor, "batch time"]
    ) -> Float[Tensor, "batch _"]:
        """Answer every problem from the embeddings of the items: the second of two stages.

        Raises:
            ValueError: If the index is not `(batch, time)`.
        """
        return self.reasoner(self._in_context(embeddings, index))

    def _in_context(self, embeddings: Tensor, index: Tensor) -> Tensor:
        if index.ndim != 2:
            raise ValueError(f"index must be (batch, time), got shape {tuple(index.shape)}")
        z = gathered(embeddings, index)
        return z if self.context is None else self.context(z)


@final
class AnalogyScoring(Composition):
    """Encoder, context and scorer as one model of problems with candidates.

    A problem is a row of premises and candidates; a candidate may be a whole picture, which needs
    no premise. Each distinct item is encoded once, however
    often it occurs as premise or candidate; the premises and one candidate make a sequence, which
    is set into its context and scored. Without a context, a scorer that has `score_candidates`
    (`WReN`) is given the premises of a problem once for all its candidates. The softmax over the
    scores of a problem is the task's.

    Args:
        encoder: From items `(item, *shape)` to embeddings `(item, feature)`, or to a set of them,
            as for `Relational`.
        context: From `(batch, candidate, time, feature)` to the same, or None.
        scorer: From `(batch, time, feature)` to scores `(batch, 1)`.
        num_candidates: Number of candidates, the last positions of a problem.

    Shape:
        Items `(item, *shape)` and their index `(batch, premises + num_candidates)` to
        `(batch, num_candidates)`.

    Raises:
        ValueError: If there are no candidates.

    Reference:
        webb2020, section 3.2; Hill et al. 2019.
    """

    @check_arguments
    def __init__(
        self,
        encoder: nn.Module,
        context: nn.Module | None,
        scorer: nn.Module,
        *,
        num_candidates: Size,
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.context = context
        self.scorer = scorer
        self.num_candidates = num_candidates

    def answer(
        self,
        embeddings: Float[Tensor, "item *element feature"],
        index: Int[Tensor, "batch position"],
    ) -> Float[Tensor, "batch candidate"]:
        """Score from the embeddings of the items: the second of two stages.

        Args:
            index: Item at each position of each problem, candidates last.

        Raises:
            ValueError: If the index has fewer positions than candidates.
        """
        if self.context is None and isinstance(self.scorer, ScoresCandidates):
            premises, candidates = self._parted(index)
            return self.scorer.score_candidates(
                F.embedding(premises, embeddings), F.embedding(candidates, embeddings)
            )
        z = self.embed(embeddings, index)
        return self.scorer(z.flatten(0, 1)).reshape(z.shape[:2])

    def embed(
        self,
        embeddings: Float[Tensor, "item *element feature"],
        index: Int[Tensor, "batch position"],
    ) -> Float[Tensor, "batch candidate step feature"]:
        """Compute the inputs of the scorer: the sequences of every problem, in context.

        Args:
            index: Item at each position of each problem, candidates last.

        Raises:
            ValueError: If the index has fewer positions than candidates.
        """
        z = gathered(embeddings, self._sequences(index))
        return z if self.context is None else self.context(z)

    def calibrate(
        self,
        embeddings: Float[Tensor, "item *element feature"],
        index: Int[Tensor, "batch position"],
    ) -> None:
        """Give all training problems to a context that keeps statistics of them.

        Args:
            index: Item at each position of each problem, candidates last.
        """
        if isinstance(self.context, KeepsStatistics):
            self.context.calibrate(gathered(embeddings, self._sequences(index)))

    @property
    def wants_statistics(self) -> bool:
        """True if the context normalizes by statistics of training, taken once it is over."""
        return isinstance(self.context, KeepsStatistics) and self.context.wants_statistics

    def _sequences(
        self, index: Int[Tensor, "batch position"]
    ) -> Int[Tensor, "batch candidate time"]:
        """Append each candidate to the premises."""
        premises, candidates = self._parted(index)
        repeated = premises.unsqueeze(1).expand(-1, self.num_candidates, -1)
        return torch.cat([repeated, candidates.unsqueeze(2)], dim=2)

    def _parted(self, index: Int[Tensor, "batch position"]) -> tuple[Tensor, Tensor]:
        """Split the index into premises and candidates."""
        if index.ndim != 2 or index.shape[1] < self.num_candidates:
            raise ValueError(
                "index must be (batch, position) with premises, if any, and "
                f"num_candidates={self.num_candidates}, got shape {tuple(index.shape)}"
            )
        return index[:, : -self.num_candidates], index[:, -self.num_candidates :]

    def extra_repr(self) -> str:
        """Format the options for `print`."""
        return f"num_candidates={self.num_candidates}"


def gathered(
    embeddings: Float[Tensor, "item *element feature"], index: Int[Tensor, "*batch time"]
) -> Float[Tensor, "*batch step feature"]:
    """Gather the embeddings at every position; elements of a set follow one another."""
    z = F.embedding(index, embeddings.flatten(1))
    if embeddings.ndim == 2:
        return z
    return torch.unflatten(z, -1, embeddings.shape[1:]).flatten(-3, -2)
