"""Networks and recipes of webb2021, as functions from a cell to its experiment.

Tasks and models follow the text where it leaves something open; functions named `released_…` take
the options by which the released code differs from the text.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, NamedTuple, final

from farfield.experiments import Experiment, Network, Recipe, ScoringNetwork, Spec
from farfield.models import (
    ESBN,
    LSTM,
    MNM,
    NTM,
    OCRA,
    RN,
    TRN,
    AbstractorNet,
    CoRelNet,
    DeepSets,
    LikenessNet,
    PrediNet,
    RelConvNet,
    SlotAbstractor,
    Transformer,
)
from farfield.nn import (
    ContextNorm,
    ContextWhitening,
    ConvEncoder,
    MLPEncoder,
    PlanesEncoder,
    PoseEncoder,
    RandomEncoder,
    SlotEncoder,
)
from farfield.objectives import Reconstructing, Supervised
from farfield.reproductions._by_hand import BY_HAND, by_hand
from farfield.reproductions._grid import Cell
from farfield.tasks import (
    VARIATIONS,
    AllSame,
    CanvasRules,
    DistributionOfN,
    DistributionOfThree,
    GlyphSet,
    GridRules,
    Handwriting,
    IdentityRules,
    IdentityRulesMiddle,
    ProblemTask,
    RelationalMatchToSample,
    SameDifferent,
    SyntheticVisualReasoning,
    TintedSameDifferent,
    TripleMatchToSample,
)

RuleTask = (
    type[SameDifferent]
    | type[RelationalMatchToSample]
    | type[DistributionOfThree]
    | type[IdentityRules]
)

BATCH_SIZE: Final = 32
LEARNING_RATE: Final = 5e-4
"""Learning rate with TCN, and of most models without (appendix A.4)."""
SLOWER_LEARNING_RATE: Final = 5e-5
"""Learning rate of some models without TCN (Table 5)."""
WITHHELD: Final = (0, 50, 85, 95, 98)
"""Withheld shapes by column; m = 98 exists for same/different only."""


# --- Tables 9 to 20 ------------------------------------------------------------------------------


@final
@dataclass(frozen=True, kw_only=True)
class Training:
    """Published training of a task.

    Args:
        task: Class of the task.
        problems: Training problems by column (Tables 1–4).
        epochs: Epochs by column (Table 6).
        longer: Epochs by column of models with a longer training (Tables 7 and 8).
        slower: Models that learn at 5e-5 without TCN, not at 5e-4 (Table 5).
    """

    task: RuleTask
    problems: tuple[int, ...]
    epochs: tuple[int, ...]
    longer: dict[str, tuple[int, ...]]
    slower: tuple[str, ...]


TRAININGS: Final = (
    Training(
        task=SameDifferent,
        problems=(18_810, 4_900, 420, 40, 4),
        epochs=(50, 50, 50, 100, 100),
        longer={},
        slower=("ESBN",),
    ),
    Training(
        task=RelationalMatchToSample,
        problems=(10_000, 10_000, 10_000, 480),
        epochs=(50, 50, 50, 200),
        longer={},
        slower=("ESBN", "RN"),
    ),
    Training(
        task=DistributionOfThree,
        problems=(10_000, 10_000, 10_000, 360),
        epochs=(50, 50, 50, 150),
        longer={"PrediNet": (100, 100, 100, 150), "RN": (150, 150, 150, 800)},
        slower=("ESBN", "PrediNet"),
    ),
    Training(
        task=IdentityRules,
        problems=(10_000, 10_000, 10_000, 8_640),
        epochs=(50, 50, 50, 50),
        longer=dict.fromkeys(("PrediNet", "RN", "Transformer"), (100, 100, 100, 150)),
        slower=("ESBN", "PrediNet"),
    ),
)
BY_TASK: Final = {training.task.name: training for training in TRAININGS}
"""Trainings of the four tasks, by the task's name."""

ENCODERS: Final = {
    "conv": ConvEncoder,
    "MLP": MLPEncoder,
    "rand": RandomEncoder,
    "pose": PoseEncoder,
}
"""Encoders as rows name them."""

REASONERS: Final[dict[str, Spec]] = {
    "ESBN": Spec(ESBN),
    "ESBN without confidence": Spec(ESBN, confidence=False),
    "ESBN with default memory": Spec(ESBN, default_memory=True),
    "Transformer": Spec(Transformer),
    "NTM": Spec(NTM),
    "MNM": Spec(MNM),
    "LSTM": Spec(LSTM),
    "PrediNet": Spec(PrediNet),
    "RN": Spec(RN),
    "TRN": Spec(TRN),
    "CoRelNet": Spec(CoRelNet),
    "LikenessNet": Spec(LikenessNet),
    "Mean": Spec(DeepSets),
    "Maximum": Spec(DeepSets, maximum=True),
    "Abstractor": Spec(AbstractorNet),
    "Relational convolution": Spec(RelConvNet),
    "OCRA": Spec(OCRA),
    "Slot Abstractor": Spec(SlotAbstractor),
}
"""Reasoners as rows name them; the paper has none of the last eight."""

MORE_PROBLEMS: Final = 100_000
"""Training problems of Table 13."""

RELEASED_TASKS: Final[dict[str, dict[str, bool]]] = {
    "same-different": {"softmax": True},
    "relational-match-to-sample": {"softmax": True},
    "identity-rules": {"thirds": True},
}
"""Options of the tasks by which the released code differs from the text."""

RELEASED_REASONERS: Final[dict[type, dict[str, bool]]] = {
    Transformer: {"final_norm": True},
    NTM: {"first_read": False},
    MNM: {"memory_trained": False},
    TRN: {"order_layers": False},
}
"""Options of the reasoners by which the released code differs from the text."""


class _Row(NamedTuple):
    """Parts of a row's name, e.g. `"ESBN (rand) + whitening"`."""

    reasoner: str
    encoder: str
    context: str


def _parse_row(row: str) -> _Row:
    """Split a row's name; without a named encoder it is the convolutional one."""
    network, _, context = row.partition(" + ")
    reasoner, _, encoder = network.removesuffix(")").partition(" (")
    return _Row(reasoner, encoder or "conv", context)


def _published(name: str, cell: Cell, *, problems: int | None = None) -> Experiment:
    """Build the experiment of a cell of Tables 9 to 20 on a task.

    Args:
        name: Name of the task.
        cell: The cell. Rows of Tables 15 to 18, which name an encoder, have TCN.
        problems: Number of training problems; `None` for that of Tables 1–4.
    """
    training, row = BY_TASK[name], _parse_row(cell.row)
    column = WITHHELD.index(withheld := int(cell.regime.removeprefix("withheld-")))
    reasoner = REASONERS[row.reasoner]
    model = reasoner.cls.__name__
    epochs = training.longer.get(model, training.epochs)[column]
    normalized = bool(row.context) or "(" in cell.row
    slow = not normalized and model in training.slower
    options: dict[str, Any] = {} if problems is None else {"training_problems": problems}
    drawn = training.problems[column] if problems is None else problems
    return Experiment(
        task=training.task(withheld=withheld, **options),
        model=Network(
            reasoner=reasoner,
            encoder=Spec(ENCODERS[row.encoder]),
            context=Spec(ContextNorm) if normalized else None,
        ),
        objective=Reconstructing() if reasoner.cls is MNM else Supervised(),
        recipe=Recipe(
            steps=epochs * math.ceil(drawn / BATCH_SIZE),
            learning_rate=SLOWER_LEARNING_RATE if slow else LEARNING_RATE,
            batch_size=BATCH_SIZE,
        ),
    )


def _released(name: str, cell: Cell) -> Experiment:
    """Build the experiment of a cell on a task, with the options of the released code."""
    tested = _published(name, cell)
    task: Any = tested.task
    model: Any = tested.model
    cls = model.reasoner.cls
    options = {**dict(model.reasoner.options), **RELEASED_REASONERS.get(cls, {})}
    return dataclasses.replace(
        tested,
        task=dataclasses.replace(task, **RELEASED_TASKS.get(name, {})),
        model=dataclasses.replace(
            model, reasoner=Spec(cls, **options), context=Spec(ContextNorm, correction=1)
        ),
    )


def same_different(cell: Cell) -> Experiment:
    """Build the experiment of a cell on same/different."""
    return _published("same-different", cell)


def relational_match_to_sample(cell: Cell) -> Experiment:
    """Build the experiment of a cell on relational match-to-sample."""
    return _published("relational-match-to-sample", cell)


def distribution_of_three(cell: Cell) -> Experiment:
    """Build the experiment of a cell on distribution-of-three."""
    return _published("distribution-of-three", cell)


def identity_rules(cell: Cell) -> Experiment:
    """Build the experiment of a cell on identity rules."""
    return _published("identity-rules", cell)


def more_problems(cell: Cell) -> Experiment:
    """Build the experiment of a cell of Table 13; its group names the task."""
    return _published(cell.group, cell, problems=MORE_PROBLEMS)


def released_same_different(cell: Cell) -> Experiment:
    """Build the experiment of a cell on same/different, with the released code's options."""
    return _released("same-different", cell)


def released_relational_match_to_sample(cell: Cell) -> Experiment:
    """Build the experiment of a cell on match-to-sample, with the released code's options."""
    return _released("relational-match-to-sample", cell)


def released_distribution_of_three(cell: Cell) -> Experiment:
    """Build the experiment of a cell on distribution-of-three, with the released code's options."""
    return _released("distribution-of-three", cell)


def released_identity_rules(cell: Cell) -> Experiment:
    """Build the experiment of a cell on identity rules, with the released code's options."""
    return _released("identity-rules", cell)


def of_group(cell: Cell) -> Experiment:
    """Build the experiment of a cell on the task that its group names."""
    return _published(cell.group, cell)


def released_of_group(cell: Cell) -> Experiment:
    """Build the experiment of a cell on its group's task, with the released code's options."""
    return _released(cell.group, cell)


# --- Goals beyond the paper, and harder tasks ----------------------------------------------------

BEYOND_STEPS: Final = 500
"""Steps of `webb2021/beyond`: more than the slowest row needed on the letters."""
NINE_TASKS_STEPS: Final = 1_000
VARIANTS_STEPS: Final = 500
TRAINED_ON: Final = "noise-16-shift-2-size-15-turn-15"
"""Variation of the training of `webb2021/not-identical`."""
NOT_IDENTICAL_PROBLEMS: Final = 2_000
"""Most problems of a set of `webb2021/not-identical`."""
VARIATIONS_STEPS: Final = 500
VARIATIONS_PROBLEMS: Final = 1_000
"""Most problems of a set of `webb2021/variations`."""
GRIDS_STEPS: Final = 1_000
"""Steps of `webb2021/grids`: about eleven epochs, a minute or two of a core."""
GRID_ENCODER: Final = Spec(PlanesEncoder, convolutions=((32, 4, 2), (32, 4, 2), (32, 3, 1)))
"""Encoder of `webb2021/grids`: three convolutions on channels of colors."""
OBJECTS_STEPS: Final = 500
"""Steps of `webb2021/objects`: a minute or two of a core. Published steps take hours of a GPU."""
OBJECTS_BATCH: Final = 16
SLOTS: Final = Spec(SlotEncoder, num_halvings=4, num_features=32, split=True, white_ground=True)
"""Encoder of `webb2021/objects`: maps of 8×8 of half the published features."""
VARIED: Final = "varied-"
"""Prefix of the groups of `webb2021/variations` in which training varies."""

CONTEXTS: Final = {
    "whitening": Spec(ContextWhitening, eps=1e-6),
    "whitening 0.01": Spec(ContextWhitening, eps=0.01),
    "whitening 0.1": Spec(ContextWhitening, eps=0.1),
    "TCN": Spec(ContextNorm),
    "": None,
}
"""Normalizers as rows name them."""

HARDEST: Final[dict[str, ProblemTask]] = {
    **{
        name: training.task(withheld=WITHHELD[len(training.epochs) - 1])
        for name, training in BY_TASK.items()
    },
    "triple-match-to-sample": TripleMatchToSample(withheld=94),
    "identity-rules-middle": IdentityRulesMiddle(withheld=96),
    "tinted-same-different": TintedSameDifferent(withheld=98),
    "all-same": AllSame(num_images=6, withheld=98),
    "distribution-of-n": DistributionOfN(row_length=20, withheld=79),
}
"""Tasks at their hardest, by group; the paper's at the hardest regime of Tables 9 to 12."""

OBJECTS: Final[dict[str, ProblemTask]] = {
    "same-different": CanvasRules(withheld=50, max_problems=1_000),
    "match-to-sample": CanvasRules(
        rule="relational-match-to-sample", withheld=50, max_problems=1_000
    ),
    **{
        f"svrt-{problem}": SyntheticVisualReasoning(problem=problem, test_problems=500)
        for problem in (1, 4, 22)
    },
}
"""Tasks of several objects in one picture, by group."""

VARIANTS: Final[dict[str, ProblemTask]] = {
    "all-same-6": AllSame(num_images=6, withheld=90),
    "triples": TripleMatchToSample(withheld=90),
    "distribution-of-8": DistributionOfN(row_length=8, withheld=90),
    "distribution-of-20": DistributionOfN(row_length=20, withheld=75),
    "middle": IdentityRulesMiddle(withheld=95),
    "tinted": TintedSameDifferent(withheld=90),
}
"""Harder variants of the paper's tasks, by group."""


def beyond(cell: Cell) -> Experiment:
    """Build the experiment of a cell of `webb2021/beyond`."""
    return _on(HARDEST[cell.group], cell, BEYOND_STEPS)


def nine_tasks(cell: Cell) -> Experiment:
    """Build the experiment of a cell of `webb2021/nine-tasks`."""
    return _on(HARDEST[cell.group], cell, NINE_TASKS_STEPS)


def not_identical(cell: Cell) -> Experiment:
    """Build the experiment of a cell of `webb2021/not-identical`; its regime names a variation.

    Tests of fonts show letters that come in fonts, and train on as many images as the others.
    """
    variation = VARIATIONS[cell.regime]
    task = _varied(
        HARDEST[cell.group],
        GlyphSet.plain_letters() if variation.font else GlyphSet.glyphs(),
        max_problems=NOT_IDENTICAL_PROBLEMS,
        variations=(variation,),
        training_variation=VARIATIONS[TRAINED_ON],
    )
    return _on(task, cell, NINE_TASKS_STEPS)


def grids(cell: Cell) -> Experiment:
    """Build the experiment of a cell of `webb2021/grids`: a reasoner over colored grids."""
    task = GridRules()
    if cell.row == BY_HAND:
        return by_hand(task)
    experiment = _on(task, cell, GRIDS_STEPS)
    model = dataclasses.replace(experiment.model, encoder=GRID_ENCODER)  # type: ignore[type-var]
    return dataclasses.replace(experiment, model=model)


def objects(cell: Cell) -> Experiment:
    """Build the experiment of a cell of `webb2021/objects`: a reasoner over slots of a picture.

    The row CNN has the convolutions and layers of the rule tasks on the picture as a whole.
    """
    task = OBJECTS[cell.group]
    if cell.row == BY_HAND:
        return by_hand(task)
    row = _parse_row(cell.row)
    plain = row.reasoner == "CNN"
    reasoner = Spec(DeepSets) if plain else REASONERS[row.reasoner]
    encoder = Spec(ConvEncoder) if plain else SLOTS
    context = CONTEXTS[row.context]
    model: Network | ScoringNetwork
    if isinstance(task, CanvasRules):
        model = ScoringNetwork(scorer=reasoner, encoder=encoder, context=context)
    else:
        model = Network(reasoner=reasoner, encoder=encoder, context=context)
    return Experiment(
        task=task,
        model=model,
        recipe=Recipe(steps=OBJECTS_STEPS, learning_rate=LEARNING_RATE, batch_size=OBJECTS_BATCH),
    )


def variations(cell: Cell) -> Experiment:
    """Build the experiment of a cell of `webb2021/variations`; all its regimes are variations."""
    task = _task_of_variations(cell.group)
    if cell.row == BY_HAND:
        return by_hand(task)
    return _on(task, cell, VARIATIONS_STEPS)


HANDS: Final = ("noise-16-shift-2", TRAINED_ON, "font", "noise-16-shift-2-font")
"""Variations of the tests of `webb2021/handwriting`; training has the last."""


def handwriting(cell: Cell) -> Experiment:
    """Build the experiment of a cell of `webb2021/handwriting`: symbols in a hundred hands."""
    tests = tuple(VARIATIONS[name] for name in HANDS)
    task = _varied(
        HARDEST[cell.group],
        Handwriting(),
        max_problems=VARIATIONS_PROBLEMS,
        variations=tests,
        training_variation=tests[-1],
    )
    if cell.row == BY_HAND:
        return by_hand(task)
    return _on(task, cell, VARIATIONS_STEPS)


@cache
def _task_of_variations(group: str) -> ProblemTask:
    """Describe the task that a group names, after `varied-` if training varies too."""
    name = group.removeprefix(VARIED)
    return _varied(
        HARDEST[name],
        GlyphSet.plain_letters(),
        max_problems=VARIATIONS_PROBLEMS,
        variations=tuple(VARIATIONS.values()),
        training_variation=VARIATIONS[TRAINED_ON] if group != name else None,
    )


def _varied(task: Any, shapes: GlyphSet | Handwriting, **options: Any) -> ProblemTask:
    """Describe a task over other images, with as many training images as before."""
    withheld = task.withheld - len(GlyphSet.glyphs()) + len(shapes)
    varied: ProblemTask = dataclasses.replace(task, shapes=shapes, withheld=withheld, **options)
    return varied


def variants(cell: Cell) -> Experiment:
    """Build the experiment of a cell of `webb2021/variants`."""
    return _on(VARIANTS[cell.group], cell, VARIANTS_STEPS)


def _on(task: ProblemTask, cell: Cell, steps: int) -> Experiment:
    """Build the experiment of a row on a task; its context follows from the row's name."""
    row = _parse_row(cell.row)
    return Experiment(
        task=task,
        model=Network(
            reasoner=REASONERS[row.reasoner],
            encoder=Spec(ENCODERS[row.encoder]),
            context=CONTEXTS[row.context],
        ),
        recipe=Recipe(steps=steps, learning_rate=LEARNING_RATE, batch_size=BATCH_SIZE),
    )
