"""Architectures: networks assembled from parts for a task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, final, runtime_checkable

from torch import nn

from farfield.core import ArgumentError, Dropout, PositiveFloat, PositiveInt, Stream, check_fields
from farfield.experiments._parts import Parts
from farfield.experiments._spec import Spec
from farfield.functional import uniform_weights_
from farfield.models import (
    AnalogyScoring,
    HasHiddenSize,
    NextEmbedding,
    ObjectAutoencoder,
    ObjectPredictor,
    PacedSequence,
    ReadsMemberships,
    Relational,
    ResizedSequence,
    RollOut,
    SequenceModel,
    width_of,
)
from farfield.nn import (
    AnalogyEncoder,
    ContextNorm,
    ConvEncoder,
    FrameDecoder,
    FrameEncoder,
    LinearDecoder,
    LinearEncoder,
    PastNorm,
)
from farfield.tasks import Candidates, ProblemTask, RolledOut, form_of


@runtime_checkable
class Architecture(Protocol):
    """Protocol of architectures: frozen dataclasses of `Spec` that build a network."""

    def build(self, task: Any, stream: Stream) -> nn.Module:
        """The network for `task`, with initial weights from `stream`."""
        ...


@runtime_checkable
class ForSomeTasks(Protocol):
    """Protocol of architectures that do not support every task."""

    task_kind: ClassVar[type]
    """The protocol or class that its tasks are of."""


@final
@dataclass(frozen=True, kw_only=True)
class Network:
    r"""A relational network: encoder, context and reasoner, each a `Spec`.

    Args:
        reasoner: Sequence of embeddings → outputs.
        encoder: Item → embedding. One whose class says `is_pure = True` (an embedding depends on
            the item and the parameters alone) is run once where none of its parameters is trained.
        context: Normalization of the embeddings over the problem, or `None` for none. Its
            `segments` are the task's unless the spec names others.
    """

    reasoner: Spec
    encoder: Spec = Spec(ConvEncoder)
    context: Spec | None = Spec(ContextNorm)

    def __post_init__(self) -> None:
        check_fields(self)

    def build(self, task: ProblemTask, stream: Stream) -> nn.Module:
        """The network for `task`, with initial weights from `stream`."""
        parts = Parts(task, stream)
        encoder, context = parts.encoder(self.encoder), parts.context(self.context)
        return Relational(encoder, context, parts.part("reasoner", self.reasoner))


@final
@dataclass(frozen=True, kw_only=True)
class ScoringNetwork:
    """An analogy scoring model: encoder, context and scorer, each a `Spec`.

    Args:
        scorer: Sequence of premises and a candidate → score.
        encoder: Item → embedding.
        context: Normalization of the embeddings, or `None` for none. Its `segments` are the
            task's unless the spec names others.

    Raises:
        ValueError: If there is a context before a scorer that reads memberships.
    """

    task_kind: ClassVar[type] = Candidates

    scorer: Spec
    encoder: Spec = Spec(AnalogyEncoder)
    context: Spec | None = Spec(ContextNorm)

    def __post_init__(self) -> None:
        check_fields(self)
        if self.context is not None and isinstance(self.scorer.cls, ReadsMemberships):
            wanted = f"None for {self.scorer.cls.__name__}, which reads memberships of 0…1"
            raise ArgumentError("context", wanted, self.context)

    def build(self, task: ProblemTask, stream: Stream) -> nn.Module:
        """The network for `task`, with initial weights from `stream`.

        Raises:
            TypeError: If the problems of the task have no candidates.
        """
        if not isinstance(task, Candidates):
            raise TypeError(
                f"task must have candidates to score (num_candidates), got {type(task).__name__}; "
                "Network answers such a task"
            )
        parts = Parts(task, stream, candidates=task.num_candidates)
        encoder, context = parts.encoder(self.encoder), parts.context(self.context)
        scorer = parts.part("scorer", self.scorer)
        return AnalogyScoring(encoder, context, scorer, num_candidates=task.num_candidates)


@final
@dataclass(frozen=True, kw_only=True)
class AutoencoderNetwork:
    """An autoencoder of single items: encoder and decoder, each a `Spec`.

    Args:
        encoder: Item → embedding.
        decoder: Embedding → item.
    """

    encoder: Spec = Spec(FrameEncoder)
    decoder: Spec = Spec(FrameDecoder)

    def __post_init__(self) -> None:
        check_fields(self)

    def build(self, task: ProblemTask, stream: Stream) -> nn.Module:
        """The network for `task`, with initial weights from `stream`."""
        parts = Parts(task, stream)
        return ObjectAutoencoder(parts.encoder(self.encoder), parts.part("decoder", self.decoder))


@final
@dataclass(frozen=True, kw_only=True)
class PredictionNetwork:
    """A predictor of the next item: encoder, context, predictor and decoder, each a `Spec`.

    Encoder and decoder are those of an `AutoencoderNetwork`: an experiment that starts from one
    takes over its parts `("encoder", "decoder")`, and leaves them as they are with the one player
    `Player(objective=PredictingEmbeddings(), parts=("context", "predictor"))`.

    Args:
        encoder: Item → embedding.
        context: Normalization of the embeddings over the sequence, with the way back, or `None`
            for none.
        predictor: Sequence of embeddings → what follows each.
        decoder: Embedding → item.
    """

    encoder: Spec = Spec(FrameEncoder)
    context: Spec | None = Spec(PastNorm)
    predictor: Spec = Spec(NextEmbedding)
    decoder: Spec = Spec(FrameDecoder)

    def __post_init__(self) -> None:
        check_fields(self)

    def build(self, task: ProblemTask, stream: Stream) -> nn.Module:
        """The network for `task`, with initial weights from `stream`."""
        parts = Parts(task, stream)
        encoder, context = parts.encoder(self.encoder), parts.context(self.context)
        predictor = parts.part("predictor", self.predictor)
        return ObjectPredictor(encoder, context, predictor, parts.part("decoder", self.decoder))


@final
@dataclass(frozen=True, kw_only=True)
class SequenceNetwork:
    """A network that reads a sequence in order: encoder and core, each a `Spec`.

    It answers at every place where the task asks at every place, else after the last.

    Args:
        core: What reads the embeddings: a layer that is used as `torch.nn.LSTM` is, with the axis
            of the batch first.
        encoder: Item → embedding.
        side: Side of the square that the places of a problem are read as, whatever their number;
            `None` for a sequence read as it is.
        pace: Steps of a period, and periods, that a sequence which repeats itself is read as
            (`farfield.models.PacedSequence`); `None` for one read as it is.
        dropout: Probability that a number of an embedding, and one of what the core gives, is
            dropped in training.
        core_bound: First weights of the core are uniform between −`core_bound` and `core_bound`,
            and the biases beside them 0; `None` as the core draws them.
        tied: Whether the output layer has the weights of the encoder.

    Raises:
        ValueError: If both a side and a pace are given.
    """

    core: Spec
    encoder: Spec = Spec(LinearEncoder)
    side: PositiveInt | None = None
    pace: PositiveInt | None = None
    dropout: Dropout = 0.0
    core_bound: PositiveFloat | None = None
    tied: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
        if self.side is not None and self.pace is not None:
            raise ValueError(f"side must be left out beside a pace, got {self.side}")

    def build(self, task: ProblemTask, stream: Stream) -> nn.Module:
        """The network for `task`, with initial weights from `stream`."""
        parts = Parts(task, stream)
        encoder, core = parts.encoder(self.encoder), parts.part("core", self.core)
        if self.core_bound is not None:
            uniform_weights_(core, self.core_bound, stream.child("core", "bound").torch())
        model = SequenceModel(
            encoder,
            core,
            num_outputs=task.num_outputs,
            answers_everywhere=form_of(task).answer == "everywhere",
            dropout=self.dropout,
            tied=self.tied,
            generator=stream.child("output").torch(),
        )
        if self.pace is not None:
            return PacedSequence(model, pace=self.pace)
        return model if self.side is None else ResizedSequence(model, side=self.side)


@final
@dataclass(frozen=True, kw_only=True)
class RollOutNetwork:
    """A network that predicts frames and goes on from its own: its parts, each a `Spec`.

    Args:
        core: What reads the embeddings: a layer that is used as `torch.nn.LSTM` is, with the axis
            of the batch first.
        encoder: Frame → embedding.
        decoder: What the core gives → logits of the pixels of a frame.
        rounded: Whether its own frames are black and white when they are read.
    """

    task_kind: ClassVar[type] = RolledOut

    core: Spec
    encoder: Spec = Spec(LinearEncoder)
    decoder: Spec = Spec(LinearDecoder)
    rounded: bool = False

    def __post_init__(self) -> None:
        check_fields(self)

    def build(self, task: ProblemTask, stream: Stream) -> nn.Module:
        """The network for `task`, with initial weights from `stream`.

        Raises:
            TypeError: If the task does not say how many places are given, or the core not how wide
                it answers.
        """
        if not isinstance(task, RolledOut):
            raise TypeError(
                f"task must say how many places are given, got {type(task).__name__}; "
                "SequenceNetwork answers such a task"
            )
        parts = Parts(task, stream)
        encoder, core = parts.encoder(self.encoder), parts.part("core", self.core)
        width = width_of("core", core, HasHiddenSize)
        decoder = parts.part("decoder", self.decoder, in_features=width)
        return RollOut(encoder, core, decoder, given=task.given, rounded=self.rounded)
