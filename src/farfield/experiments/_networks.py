"""Architectures: networks assembled from parts for a task."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol, final, runtime_checkable

from torch import Tensor, nn

from farfield.core import ArgumentError, Problems, Stream, stream
from farfield.core.internal import (
    Checked,
    Dropout,
    NonNegativeFloat,
    PositiveFloat,
    PositiveInt,
    check_fields,
)
from farfield.experiments._spec import Spec
from farfield.functional.internal import uniform_weights_
from farfield.models import ActorCritic, PacedSequence, QuantileAgent, ResizedSequence
from farfield.models.internal import (
    AnalogyScoring,
    EncodesToSets,
    HasHiddenSize,
    HasOutFeatures,
    NextEmbedding,
    ObjectAutoencoder,
    ObjectPredictor,
    ReadsMemberships,
    Relational,
    RollOut,
    SequenceModel,
    SetModel,
    TokenReader,
    width_of,
)
from farfield.nn import (
    AnalogyEncoder,
    ContextNorm,
    ConvEncoder,
    FrameEncoder,
    LinearEncoder,
    PatchEncoder,
    PlanesEncoder,
    QuantileHead,
)
from farfield.nn.internal import FrameDecoder, LinearDecoder, PastNorm
from farfield.objectives import PPO, RainbowIQN
from farfield.tasks import TRAINING, Environment, ProblemTask
from farfield.tasks.internal import (
    AnswersByHand,
    Candidates,
    HasPixelStatistics,
    RolledOut,
    form_of,
)


@runtime_checkable
class Architecture(Protocol):
    """Protocol of architectures: frozen dataclasses of `Spec` that build a network."""

    def build(self, task: Any, stream: Stream) -> nn.Module:
        """Build the network for `task`, with initial weights from `stream`."""
        ...


@runtime_checkable
class ForSomeTasks(Protocol):
    """Protocol of architectures that do not support every task."""

    task_kind: ClassVar[type]
    """Protocol or class of its tasks."""


@final
@dataclass(frozen=True, kw_only=True)
class Network(Checked):
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

    def build(self, task: ProblemTask, stream: Stream) -> nn.Module:
        """Build the network for `task`, with initial weights from `stream`."""
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
        """Build the network for `task`, with initial weights from `stream`.

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
class AutoencoderNetwork(Checked):
    """An autoencoder of single items: encoder and decoder, each a `Spec`.

    Args:
        encoder: Item → embedding.
        decoder: Embedding → item.
    """

    encoder: Spec = Spec(FrameEncoder)
    decoder: Spec = Spec(FrameDecoder)

    def build(self, task: ProblemTask, stream: Stream) -> nn.Module:
        """Build the network for `task`, with initial weights from `stream`."""
        parts = Parts(task, stream)
        return ObjectAutoencoder(parts.encoder(self.encoder), parts.part("decoder", self.decoder))


@final
@dataclass(frozen=True, kw_only=True)
class PredictionNetwork(Checked):
    """A predictor of the next item: encoder, context, predictor and decoder, each a `Spec`.

    Encoder and decoder are those of an `AutoencoderNetwork`: an experiment that starts from one
    takes over its parts `("encoder", "decoder")`, and leaves them untrained with the one player
    `Player(objective=PredictingEmbeddings(), parts=("context", "predictor"))`.

    Args:
        encoder: Item → embedding.
        context: Normalization of the embeddings over the sequence, with the way back, or `None`
            for none.
        predictor: Sequence of embeddings → the next embedding of each.
        decoder: Embedding → item.
    """

    encoder: Spec = Spec(FrameEncoder)
    context: Spec | None = Spec(PastNorm)
    predictor: Spec = Spec(NextEmbedding)
    decoder: Spec = Spec(FrameDecoder)

    def build(self, task: ProblemTask, stream: Stream) -> nn.Module:
        """Build the network for `task`, with initial weights from `stream`."""
        parts = Parts(task, stream)
        encoder, context = parts.encoder(self.encoder), parts.context(self.context)
        predictor = parts.part("predictor", self.predictor)
        return ObjectPredictor(encoder, context, predictor, parts.part("decoder", self.decoder))


@final
@dataclass(frozen=True, kw_only=True)
class SequenceNetwork:
    """A network that reads a sequence in order: encoder and core, each a `Spec`.

    It answers at every time step if the task asks at every step, else after the last.

    Args:
        core: Reader of the embeddings: a layer that is used as `torch.nn.LSTM` is, with the axis
            of the batch first. Or a layer from set to set, as `Spec(PreNormTransformer)`, which
            reads all items at once and without order.
        encoder: Item → embedding.
        side: Side of the square as which the items of a problem are read, whatever their number;
            `None` for a plain sequence.
        pace: Steps of a period, and periods, that a sequence which repeats itself is read as
            (`farfield.models.PacedSequence`); `None` for a plain sequence.
        whole_periods: Whether periods must divide a sequence, as in recorded networks.
        dropout: Probability that a number of an embedding, or of an output of the core, is dropped
            in training.
        core_bound: First weights of the core are uniform between −`core_bound` and `core_bound`,
            and the biases beside them 0; `None` as the core draws them.
        tied: Whether the output layer has the weights of the encoder.

    Raises:
        ValueError: If both a side and a pace are given, or whole periods without a pace.
    """

    core: Spec
    encoder: Spec = Spec(LinearEncoder)
    side: PositiveInt | None = None
    pace: PositiveInt | None = None
    whole_periods: bool = False
    dropout: Dropout = 0.0
    core_bound: PositiveFloat | None = None
    tied: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
        if self.side is not None and self.pace is not None:
            raise ValueError(f"side must be left out beside a pace, got {self.side}")
        if self.whole_periods and self.pace is None:
            raise ValueError("whole_periods must be False without a pace, got True")

    def build(self, task: ProblemTask, stream: Stream) -> nn.Module:
        """Build the network for `task`, with initial weights from `stream`."""
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
            return PacedSequence(model, pace=self.pace, whole_periods=self.whole_periods)
        return model if self.side is None else ResizedSequence(model, side=self.side)


@final
@dataclass(frozen=True, kw_only=True)
class RollOutNetwork(Checked):
    """A network that predicts frames and goes on from its own: its parts, each a `Spec`.

    Args:
        core: Reader of the embeddings: a layer that is used as `torch.nn.LSTM` is, with the axis
            of the batch first.
        encoder: Frame → embedding.
        decoder: Output of the core → logits of the pixels of a frame.
        rounded: Whether its own frames are black and white when they are read.
    """

    task_kind: ClassVar[type] = RolledOut

    core: Spec
    encoder: Spec = Spec(LinearEncoder)
    decoder: Spec = Spec(LinearDecoder)
    rounded: bool = False

    def build(self, task: ProblemTask, stream: Stream) -> nn.Module:
        """Build the network for `task`, with initial weights from `stream`.

        Raises:
            TypeError: If the task does not state the number of given frames, or the core the width
                of its output.
        """
        if not isinstance(task, RolledOut):
            raise TypeError(
                f"task must state the number of given frames, got {type(task).__name__}; "
                "SequenceNetwork answers such a task"
            )
        parts = Parts(task, stream)
        encoder, core = parts.encoder(self.encoder), parts.part("core", self.core)
        width = width_of("core", core, HasHiddenSize)
        decoder = parts.part("decoder", self.decoder, in_features=width)
        return RollOut(encoder, core, decoder, given=task.given, rounded=self.rounded)


@final
@dataclass(frozen=True, kw_only=True)
class SetNetwork(Checked):
    """A network that reads a set through tokens: encoder and core, each a `Spec`.

    An encoder that makes a set of each item (`PatchEncoder`, `ComponentEncoder`) is for problems
    of one item. With any other the items of a problem are the elements, each with a learned vector
    of its position; where the problems have candidates, each is scored with the items before it.

    Args:
        core: From set to set, e.g. `Spec(NeuralInterpreter)` or `Spec(PreNormTransformer)`. Its
            `num_features` are the width of the embeddings unless the spec names another.
        encoder: Item → embedding, or item → set of embeddings.
        context: Normalization of the items of a problem, or `None` for none. Its `segments` are the
            task's unless the spec names others.
        outputs_per_token: Numbers that a token answers with; as many tokens answer one after
            another as the task has numbers for. `None` is one token for all.
        shared: Whether all tokens are the same vector and have one head.
        shared_head: Whether the tokens have one head, each having its own vector.
        places_std: Standard deviation of the first vectors of the positions of a problem.

    Raises:
        ValueError: If a field is of another type, or a number below its least one.
    """

    core: Spec
    encoder: Spec = Spec(PatchEncoder)
    context: Spec | None = None
    outputs_per_token: PositiveInt | None = None
    shared: bool = False
    shared_head: bool = False
    places_std: NonNegativeFloat = 1.0

    def build(self, task: ProblemTask, stream: Stream) -> nn.Module:
        """Build the network for `task`, with initial weights from `stream`.

        Raises:
            ValueError: If the answers of the task cannot be divided among tokens.
        """
        candidates = task.num_candidates if isinstance(task, Candidates) else 0
        parts = Parts(task, stream, candidates=candidates)
        encoder, context = parts.encoder(self.encoder), parts.context(self.context)
        is_set = isinstance(encoder, EncodesToSets)
        if is_set and (candidates or task.length != 1 or context is not None):
            raise ValueError(
                "encoder must give one embedding an item where a problem shows several or has a "
                f"context, as those of {task.name} ({task.length} items)"
            )
        outputs, each = parts.num_outputs, self.outputs_per_token or parts.num_outputs
        if outputs % each:
            raise ValueError(
                f"outputs_per_token must divide the {outputs} numbers of an answer, got {each}"
            )
        reader = TokenReader(
            parts.part("core", self.core),
            parts.width,
            outputs,
            num_tokens=outputs // each,
            length=None if is_set else parts.length,
            shared=self.shared,
            shared_head=self.shared_head,
            places_std=self.places_std,
            generator=stream.child("reader").torch(),
        )
        if is_set:
            return SetModel(encoder, reader)
        if candidates:
            return AnalogyScoring(encoder, context, reader, num_candidates=candidates)
        return Relational(encoder, context, reader)


@final
@dataclass(frozen=True, kw_only=True)
class AgentNetwork(Checked):
    """An agent with memory: encoder and core, each a `Spec`, and outputs for actions and value.

    Args:
        core: Reader of the embeddings of observations: a layer that is used as `torch.nn.LSTM` is,
            with the axis of the batch first, e.g. `Spec(RIMs, hidden_size=96)`.
        encoder: Observation → embedding.
    """

    task_kind: ClassVar[type] = Environment
    objective_kind: ClassVar[type] = PPO

    core: Spec
    encoder: Spec = Spec(PlanesEncoder)

    def build(self, task: Environment, stream: Stream) -> nn.Module:
        """Build the agent for `task`, with initial weights from `stream`."""
        parts = Parts(task, stream)
        return ActorCritic(
            parts.encoder(self.encoder),
            parts.part("core", self.core),
            num_actions=task.num_actions,
            generator=stream.child("output").torch(),
        )


@final
@dataclass(frozen=True, kw_only=True)
class QuantileNetwork(Checked):
    """An agent without memory: encoder and implicit quantiles of the return of every action.

    Args:
        encoder: Observation → embedding. Image classifiers with `out_features` serve, e.g.
            `Spec(PreActResNetNFM, num_outputs=128, width=8)`.
        head: Embedding → quantiles.
    """

    task_kind: ClassVar[type] = Environment
    objective_kind: ClassVar[type] = RainbowIQN

    encoder: Spec = Spec(PlanesEncoder)
    head: Spec = Spec(QuantileHead)

    def build(self, task: Environment, stream: Stream) -> nn.Module:
        """Build the agent for `task`, with initial weights from `stream`."""
        parts = Parts(task, stream)
        encoder = parts.encoder(self.encoder)
        return QuantileAgent(encoder, parts.part("head", self.head, num_outputs=task.num_actions))


@final
@dataclass(frozen=True)
class ByHand:
    """Rule of a task by hand, in place of a network; nothing is trained.

    A goal for networks must be out of its reach. Such rules are a threshold, equality of pixels or
    the nearest training points. A rule reads the items that a network reads, and the training
    problems of its run.

    Args:
        rule: Name of the method of the task that answers, for a task with several rules.

    Raises:
        ValueError: If the task has no such rule.

    Example:
        >>> from farfield.experiments import Experiment, Recipe
        >>> from farfield.tasks import SameDifferent
        >>> task = SameDifferent(withheld=98)
        >>> experiment = Experiment(task=task, model=ByHand(), recipe=Recipe(steps=1))
    """

    task_kind: ClassVar[type] = AnswersByHand

    rule: str = "by_hand"

    def build(self, task: AnswersByHand, stream: Stream) -> nn.Module:
        """Build the rule of `task` as a module without parameters."""
        rule = getattr(task, self.rule, None) if self.rule.startswith("by_") else None
        if not callable(rule):
            raise ValueError(
                f"rule must be a method of {type(task).__name__} like by_hand, got {self.rule!r}"
            )
        return _Rule(task, stream.seed, rule)


@final
class _Rule(nn.Module):
    """Answer problems by the rule of their task."""

    def __init__(
        self, task: AnswersByHand, seed: int, rule: Callable[[Problems, Problems], Tensor]
    ) -> None:
        super().__init__()
        self._task, self._seed, self._rule = task, seed, rule

    @cached_property
    def _training(self) -> Problems:
        return self._task.draw(stream(self._seed, "problems"))[TRAINING]

    def forward(self, items: Tensor, index: Tensor) -> Tensor:
        """Compute answers to every problem."""
        # No target: a rule that looked at it would fail.
        shown = Problems(items=items, index=index, target=index.new_empty(len(index), 0))
        return self._rule(shown, self._training)


@final
class Parts:
    """Makes the parts of a network one after the other, each from the stream of its name.

    A constructor gets the values that it has parameters for: the shapes of the problems and of
    answers and, once there is an encoder, the width of embeddings.

    Args:
        task: The task that the network is for; of an environment, the shape of observations
            alone is known.
        stream: Stream of the network.
        candidates: Number of candidates of a problem, each to be scored in a sequence with the
            premises; 0 where all items of a problem are read together.
    """

    def __init__(
        self, task: ProblemTask | Environment, stream: Stream, *, candidates: int = 0
    ) -> None:
        self.length = self.num_outputs = self.width = 0
        self._task = task
        self._stream = stream
        self._known: dict[str, object] = {"item_shape": task.item_shape, "batch_first": True}
        if not isinstance(task, Environment):
            self.length = task.length - candidates + 1 if candidates else task.length
            self.num_outputs = 1 if candidates else task.num_outputs
            self._known["length"], self._known["num_outputs"] = self.length, self.num_outputs
            self._known["segments"] = task.segments
        if candidates:
            self._known["num_candidates"] = candidates

    def encoder(self, spec: Spec) -> nn.Module:
        """Build the encoder; from then on `width` is the width of its embeddings.

        Args:
            spec: How it is made.

        Raises:
            TypeError: If it does not say how wide its embeddings are.
        """
        encoder = self.part("encoder", spec)
        self.width = width_of("encoder", encoder, HasOutFeatures)
        names = ("in_features", "input_size", "num_features")
        self._known |= dict.fromkeys(names, self.width)
        if isinstance(encoder, EncodesToSets) and not isinstance(self._task, Environment):
            each = encoder.num_elements
            self._known["length"] = self.length * each
            self._known["segments"] = tuple(
                tuple(each * position + element for position in segment for element in range(each))
                for segment in self._task.segments
            )
        if hasattr(encoder, "set_sizes"):
            self._known["set_sizes"] = encoder.set_sizes
        return encoder

    def context(self, spec: Spec | None) -> nn.Module | None:
        """Build the context, if there is one.

        Args:
            spec: How it is made.
        """
        return None if spec is None else self.part("context", spec)

    def part(self, name: str, spec: Spec, **known: object) -> nn.Module:
        """Build the module that a `Spec` names.

        Args:
            name: Its name, which is that of its stream.
            spec: How it is made.
            known: Arguments for its constructor in place of those for others.
        """
        known = {**self._known, **self._statistics(spec), **known}
        return spec.build(known, self._stream.child(name))

    def _statistics(self, spec: Spec) -> dict[str, object]:
        """Compute only the image statistics that the constructor takes: all would need minutes."""
        asked = inspect.signature(spec.cls).parameters.keys() - dict(spec.options).keys()
        known: dict[str, object] = {}
        if isinstance(self._task, HasPixelStatistics):
            if asked & {"channel_mean", "channel_std"}:
                known["channel_mean"], known["channel_std"] = self._task.channel_statistics()
            if "pixel_spectrum" in asked:
                known["pixel_spectrum"] = self._task.pixel_spectrum()
            if "mean_images" in asked:
                known["mean_images"] = self._task.mean_images()
        return known
