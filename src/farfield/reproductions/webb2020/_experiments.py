"""Networks and recipes of webb2020, as functions from a cell to its experiment.

Tasks and models follow the text where it leaves something open; functions named `released_…` take
the options by which the released code differs from the text.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, final

from farfield.experiments import (
    Cosine,
    Experiment,
    Player,
    Pretrained,
    Recipe,
    ScoringNetwork,
    Spec,
)
from farfield.experiments.internal import AutoencoderNetwork, PredictionNetwork
from farfield.models import LSTMScorer, SlotwiseScorer
from farfield.models.internal import LayerNormLSTMScorer, RNNScorer, SelectiveScorer
from farfield.nn import (
    AnalogyEncoder,
    BatchContextNorm,
    ContextNorm,
    DirectionEncoder,
    LayerNorm,
    MisalignedContextNorm,
    MomentEncoder,
    PanelEncoder,
    PooledBatchNorm,
    SilhouetteEncoder,
    SlidingContextNorm,
    SlotBatchNorm,
    SubBatchNorm,
)
from farfield.nn.internal import PastNorm, SequenceNorm, TimeStepNorm
from farfield.objectives import PredictingEmbeddings
from farfield.reproductions._grid import Cell
from farfield.tasks import (
    DirectionAnalogies,
    DynamicObjects,
    ObjectFrames,
    PublishedVisualAnalogies,
    VAECScale,
    VAECTranslation,
    VisualAnalogies,
)

VAEC = VAECTranslation | VAECScale

BATCH_SIZE: Final = 32
LEARNING_RATE: Final = 5e-4
SLOWER_LEARNING_RATE: Final = 1e-4
"""Learning rate of networks without normalization (section 4.2), and on visual analogies."""
STEPS: Final = 10_000
LONG_STEPS: Final = 500_000
"""Steps of networks with layer normalization, and without any (section 4.2)."""
AUTOENCODER_STEPS: Final = 200_000
PREDICTOR_STEPS: Final = 20_000
ANALOGY_STEPS: Final = 3 * 600_000 // BATCH_SIZE
"""Three epochs over the published training problems (supplement 2)."""
OWN_ANALOGY_STEPS: Final = 30 * 10_000 // BATCH_SIZE
"""Thirty epochs over training problems of our own."""

DROPOUT: Final = 0.5
LAYER_SIGMA: Final = 1e-4
"""Square root of the number that layer normalization adds to the variance, 1e-8."""
SLOTS: Final = (7, 4)
"""Candidates and positions of a sequence: each has separate statistics in batch normalization."""
SAMPLE: Final = 500
"""Training sequences behind the statistics of batch normalization (section 4.3)."""
SOURCE_AND_TARGET: Final = ((0, 1, 2), (3, 4, 5))
ENTIRE_ANALOGY: Final = ((0, 1, 2, 3, 4, 5),)


# --- Tables 1, 2 and S1: VAEC --------------------------------------------------------------------


@final
@dataclass(frozen=True, kw_only=True)
class Condition:
    """Normalization of the paper, as a network and its training.

    Args:
        context: Normalizer of the embeddings; `None` for none.
        scorer: Scorer of the normalized embeddings.
        steps: Number of steps.
        learning_rate: Learning rate of Adam.
    """

    context: Spec | None
    scorer: Spec = Spec(LSTMScorer)
    steps: int = STEPS
    learning_rate: float = LEARNING_RATE

    def on(self, task: VAEC) -> Experiment:
        """Build the experiment of the condition on a task.

        Args:
            task: The task.
        """
        return Experiment(
            task=task,
            model=ScoringNetwork(scorer=self.scorer, context=self.context),
            recipe=Recipe(
                steps=self.steps, learning_rate=self.learning_rate, batch_size=BATCH_SIZE
            ),
        )

    def released(self) -> Condition:
        """Build the condition with the options of the released code."""
        scorer = Spec(
            self.scorer.cls,
            **{**dict(self.scorer.options), "position_tags": True, "forget_bias": 1.0},
        )
        context = self.context
        if context is not None and context.cls in RELEASED_CONTEXTS:
            options = {**dict(context.options), **RELEASED_CONTEXTS[context.cls]}
            context = Spec(context.cls, **options)
        return dataclasses.replace(self, scorer=scorer, context=context)


CONDITIONS: Final[dict[str, Condition]] = {
    "Context norm.": Condition(context=Spec(ContextNorm)),
    "Sub-batch norm.": Condition(context=Spec(SubBatchNorm)),
    "Sliding context norm.": Condition(context=Spec(SlidingContextNorm)),
    "Batch + context norm.": Condition(context=Spec(BatchContextNorm)),
    "Layer norm. (recurrent)": Condition(
        context=None, scorer=Spec(LayerNormLSTMScorer), steps=LONG_STEPS
    ),
    "Misaligned context norm.": Condition(context=Spec(MisalignedContextNorm)),
    "Batch norm.": Condition(context=Spec(SlotBatchNorm)),
    "Batch norm. + dropout": Condition(
        context=Spec(SlotBatchNorm), scorer=Spec(LSTMScorer, dropout=DROPOUT)
    ),
    "Layer norm.": Condition(context=Spec(LayerNorm, sigma=LAYER_SIGMA), steps=LONG_STEPS),
    "No norm.": Condition(context=None, steps=LONG_STEPS, learning_rate=SLOWER_LEARNING_RATE),
    "Batch norm. (train stats)": Condition(context=Spec(SlotBatchNorm, training_statistics=SLOTS)),
}
"""Conditions by row of Tables 1 and 2."""

RELEASED_CONTEXTS: Final[Mapping[type, Mapping[str, Any]]] = {
    SlidingContextNorm: {"include_self": False},
}
"""Options of the normalizers by which the released code differs from the text."""

POOLED: Final[dict[str, Condition]] = {
    "Batch norm.": Condition(context=Spec(PooledBatchNorm)),
    "Batch norm. + dropout": Condition(
        context=Spec(PooledBatchNorm), scorer=Spec(LSTMScorer, dropout=DROPOUT)
    ),
    "Batch norm. (train stats)": Condition(context=Spec(PooledBatchNorm, training_statistics=True)),
}
"""Batch normalization by the other reading: one statistic for all positions of a problem."""


def translation(cell: Cell) -> Experiment:
    """Build the experiment of a row of Table 1."""
    return CONDITIONS[cell.row].on(VAECTranslation())


def scale(cell: Cell) -> Experiment:
    """Build the experiment of a row of Table 2."""
    return CONDITIONS[cell.row].on(VAECScale())


def multiplied_scale(cell: Cell) -> Experiment:
    """Build the experiment of a row of Table 2, with levels multiplied as the text has it."""
    return CONDITIONS[cell.row].on(VAECScale(levels_multiplied=True))


def pooled_translation(cell: Cell) -> Experiment:
    """Build the experiment of a row of Table 1, with pooled batch statistics."""
    return POOLED[cell.row].on(VAECTranslation())


def pooled_scale(cell: Cell) -> Experiment:
    """Build the experiment of a row of Table 2, with pooled batch statistics."""
    return POOLED[cell.row].on(VAECScale())


def released_translation(cell: Cell) -> Experiment:
    """Build the experiment of a row of Table 1, with the options of the released code."""
    return CONDITIONS[cell.row].released().on(VAECTranslation())


def released_scale(cell: Cell) -> Experiment:
    """Build the experiment of a row of Table 2, with the options of the released code."""
    return CONDITIONS[cell.row].released().on(VAECScale())


def by_dimension(_cell: Cell) -> Experiment:
    """Build the one experiment of Table S1: context normalization in Table 1."""
    return CONDITIONS["Context norm."].on(VAECTranslation())


# --- Table 3: visual analogies -------------------------------------------------------------------

ANALOGY_CONTEXTS: Final[dict[str, Spec | None]] = {
    "Context norm. (source/target)": Spec(ContextNorm, segments=SOURCE_AND_TARGET),
    "Context norm. (entire analogy)": Spec(ContextNorm, segments=ENTIRE_ANALOGY),
    "Batch norm.": Spec(SlotBatchNorm),
    "Baseline (Hill et al., 2019)": None,
    "No norm.": None,
}
"""Normalizers by row of Table 3; the last row is the baseline on problems of our own."""


def published_analogies(cell: Cell) -> Experiment:
    """Build the experiment of a row of Table 3, on the published files."""
    return _analogies(PublishedVisualAnalogies(), cell, ANALOGY_STEPS)


def own_analogies(cell: Cell) -> Experiment:
    """Build the experiment of a row of Table 3, on problems of our own."""
    return _analogies(VisualAnalogies(), cell, OWN_ANALOGY_STEPS)


def _analogies(
    task: PublishedVisualAnalogies | VisualAnalogies, cell: Cell, steps: int
) -> Experiment:
    return Experiment(
        task=task,
        model=ScoringNetwork(
            scorer=Spec(RNNScorer),
            encoder=Spec(PanelEncoder),
            context=ANALOGY_CONTEXTS[cell.row],
        ),
        recipe=Recipe(steps=steps, learning_rate=SLOWER_LEARNING_RATE, batch_size=BATCH_SIZE),
    )


# --- Table 4: dynamic object prediction ----------------------------------------------------------

# The text says that the context of a sequence is the sequence (section 3.1), that a frame is
# predicted from the frames before it (2.3), and that their embeddings are normalized (3.3).
# Together these leave open which frames the statistics cover: the frames so far, all frames that
# are read, or, as in the released code, all frames. The published number is tested by each.
OBJECT_CONTEXTS: Final[dict[str, Spec | None]] = {
    "Context norm. (frames so far)": Spec(PastNorm),
    "Context norm. (frames read)": Spec(SequenceNorm),
    "Context norm. (all frames)": Spec(SequenceNorm, include_last=True, correction=1, eps=1e-15),
    "Batch norm.": Spec(TimeStepNorm),
    "Batch norm. (train stats)": Spec(TimeStepNorm, sample=SAMPLE),
    "No norm.": None,
}
"""Normalizers by row of Table 4."""

AUTOENCODER: Final = Experiment(
    task=ObjectFrames(),
    model=AutoencoderNetwork(),
    recipe=Recipe(steps=AUTOENCODER_STEPS, learning_rate=LEARNING_RATE, batch_size=BATCH_SIZE),
)
"""Autoencoder that every predictor starts from."""


def dynamic_objects(cell: Cell) -> Experiment:
    """Build the experiment of a row of Table 4."""
    context = OBJECT_CONTEXTS[cell.row]
    return Experiment(
        task=DynamicObjects(),
        model=PredictionNetwork(context=context),
        recipe=Recipe(steps=PREDICTOR_STEPS, learning_rate=LEARNING_RATE, batch_size=BATCH_SIZE),
        players=(
            Player(
                # Statistics of the frames so far have no scale at the first frame: the error is
                # that of the embeddings before normalization.
                objective=PredictingEmbeddings(
                    denormalized=context is not None and context.cls is PastNorm
                ),
                parts=("predictor",) if context is None else ("context", "predictor"),
            ),
        ),
        starts_from=Pretrained(experiment=AUTOENCODER, include=("encoder", "decoder")),
    )


# --- Goals beyond the paper ----------------------------------------------------------------------

BEYOND_STEPS: Final = 1_000
"""Steps of every row of `webb2020/beyond`: a tenth of the paper's."""

ENCODERS: Final = {
    "Moments": Spec(MomentEncoder),
    "Moments of convolutions": Spec(MomentEncoder, num_layers=2, kernel_size=3),
    "Convolutions with coordinates": Spec(AnalogyEncoder, coordinates=True),
    "Convolutions": Spec(AnalogyEncoder),
}
"""Encoders by the first half of a row's name; the last one is the paper's."""


def beyond(cell: Cell) -> Experiment:
    """Build the experiment of a row of `webb2020/beyond`."""
    encoder, _, context = cell.row.partition(" + ")
    return Experiment(
        task=_farthest(cell.regime),
        model=ScoringNetwork(
            scorer=Spec(LSTMScorer),
            encoder=ENCODERS[encoder],
            context=Spec(ContextNorm) if context == "context norm." else None,
        ),
        recipe=Recipe(steps=BEYOND_STEPS, learning_rate=LEARNING_RATE, batch_size=BATCH_SIZE),
    )


def _farthest(regime: str, *, second_object: bool = False, textured: bool = False) -> VAEC:
    """Build the task whose farthest regime has this name."""
    if regime == "scale-6":
        return VAECScale(second_object=second_object, textured=textured)
    first = 6 if regime == "region-1" else 1
    return VAECTranslation(second_object=second_object, textured=textured, train_on=first)


CLUTTER_STEPS: Final = 500
"""Steps of every row of `webb2020/clutter`: a twentieth of the paper's."""

CLUTTER_NETWORKS: Final = {
    "Silhouettes, slot by slot": (Spec(SlotwiseScorer), Spec(SilhouetteEncoder), 2e-3),
    "Silhouettes": (Spec(LSTMScorer), Spec(SilhouetteEncoder), 2e-3),
    "Moments": (Spec(LSTMScorer), Spec(MomentEncoder), LEARNING_RATE),
    "Convolutions": (Spec(LSTMScorer), Spec(AnalogyEncoder), LEARNING_RATE),
}
"""Scorer, encoder and learning rate by row, all with context normalization; the last row is the
paper's."""

CLUTTER: Final[dict[str, dict[str, bool]]] = {
    "both": {"second_object": True, "textured": True},
    "second-object": {"second_object": True},
    "textures": {"textured": True},
}
"""Options of the task by group."""


def clutter(cell: Cell) -> Experiment:
    """Build the experiment of a row of `webb2020/clutter`."""
    scorer, encoder, learning_rate = CLUTTER_NETWORKS[cell.row]
    return Experiment(
        task=_farthest(cell.regime, **CLUTTER[cell.group]),
        model=ScoringNetwork(scorer=scorer, encoder=encoder),
        recipe=Recipe(
            steps=CLUTTER_STEPS,
            learning_rate=learning_rate,
            batch_size=BATCH_SIZE,
            clip_norm=1.0,
            schedule=Cosine(),
        ),
    )


NEW_SHAPES_STEPS: Final = 300
"""Steps of every row of `webb2020/new-shapes`."""


def new_shapes(cell: Cell) -> Experiment:
    """Build the experiment of a row of `webb2020/new-shapes`: the networks of `beyond`."""
    network = beyond(cell)
    return dataclasses.replace(
        network,
        task=VAECTranslation(new_shapes=True, problems_per_regime=4_000),
        recipe=Recipe(
            steps=NEW_SHAPES_STEPS,
            learning_rate=2e-3,
            batch_size=BATCH_SIZE,
            clip_norm=1.0,
            schedule=Cosine(),
        ),
    )


DIRECTION_STEPS: Final = 1_000
"""Steps of every row of `webb2020/direction`."""


def direction(cell: Cell) -> Experiment:
    """Build the experiment of a row of `webb2020/direction`."""
    return Experiment(
        task=DirectionAnalogies(
            scaled=cell.regime.startswith("scale"), train_on=6 if cell.regime == "region-1" else 1
        ),
        model=ScoringNetwork(
            scorer=Spec(SelectiveScorer), encoder=Spec(DirectionEncoder), context=None
        ),
        recipe=Recipe(
            steps=DIRECTION_STEPS,
            learning_rate=1e-2,
            batch_size=BATCH_SIZE,
            clip_norm=1.0,
            schedule=Cosine(),
        ),
    )
