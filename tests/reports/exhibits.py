"""The smallest evidence of every exhibit: a figure on networks that train in a second."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import msgspec
import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor, nn

from farfield.core import Problems, Stream
from farfield.execution import Here, run
from farfield.execution.internal import Job
from farfield.experiments import (
    AgentNetwork,
    Experiment,
    ItemNetwork,
    Recipe,
    ScoringNetwork,
    SequenceNetwork,
    SetNetwork,
    Spec,
)
from farfield.experiments.internal import RollOutNetwork
from farfield.functional.internal import NFMRules
from farfield.models import (
    SRCNN,
    BottleneckMLP,
    LSTMScorer,
    PreActResNet,
    PreActResNetNFM,
    QuickCNN,
    WReN,
)
from farfield.nn import (
    ComponentEncoder,
    ContextNorm,
    GRULayer,
    LinearEncoder,
    LSTMLayer,
    MapNormalizer,
    MomentEncoder,
    NeuralInterpreter,
    NTMLayer,
    PanelEncoder,
    PreNormTransformer,
    RIMs,
    SlotBatchNorm,
)
from farfield.objectives import PPO
from farfield.records import Record, Score, Store
from farfield.reports import FIGURES, Figure, Plate, Quote, Report, illustrate, tabulate
from farfield.reports._exhibits import _mechanisms
from farfield.reports._exhibits._images import generated_images, restorations, scored_matrix
from farfield.reports._exhibits._layers import (
    constants_by_layer,
    flattening,
    nearest_neighbors,
    response_pairs,
)
from farfield.reports._exhibits._mechanisms import activation_over_time, filmstrips
from farfield.reports._exhibits._planes import decision_boundaries, decision_surfaces
from farfield.reports._exhibits._representations import embeddings_by_dimension, keys_by_position
from farfield.reports._exhibits._roll_outs import roll_outs
from farfield.reports._exhibits._routing import layer_reads, routing_paths, types_by_iteration
from farfield.reports._exhibits._scores import against_columns, scores_by_setting
from farfield.reports._exhibits._sweeps import (
    dormant_phases,
    functions_removed,
    iterations_at_test,
)
from farfield.reports.internal import Exhibit
from farfield.reproductions import Claim, Table, Unpublished, VerdictRule
from farfield.tasks import (
    TRAINING,
    VALIDATION,
    BouncingBalls,
    Copying,
    FuzzyBoolean,
    ObjectPicking,
    ProgressiveMatrices,
    Regime,
    SuperResolution,
    VAECTranslation,
)
from farfield.tasks._protocol._answers import ClassTask
from plain import Plain
from reproductions import made_up
from small import small_experiment
from tasks import image_sets
from training.test_gan import JUDGE, gan, read
from worlds import score_episodes

SEEDS = (0, 1)


def claim(
    experiment: Experiment,
    row: str = "A",
    column: str = "training",
    *,
    regime: str = TRAINING,
    metric: str = "accuracy",
    paper: str = "lamb2022",
    unit: str = "percent",
    group: str = "",
) -> Claim:
    """A claim without a published number."""
    return Claim(
        paper=paper,
        table="small",
        row=row,
        column=column,
        published=Unpublished(runs=2, selection="last", split="new", unit=unit),
        experiment=experiment,
        rule=VerdictRule(),
        metric=metric,
        regime=regime,
        quick=1,
        subject=type(experiment.task).__name__,
        group=group,
    )


def figure_of(exhibit: Exhibit, *claims: Claim, like: str = "") -> Figure:
    """A figure of an exhibit on claims, with title and statements of a known figure."""
    if like:
        known = FIGURES[like]
        table = dataclasses.replace(known.table, claims=claims)
        return dataclasses.replace(known, table=table, exhibits=(exhibit,))
    table = Table(key=f"{claims[0].paper}/figure", title="A figure", claims=claims)
    says = (Quote(of="*", words="so the paper says"),)
    return Figure(table=table, exhibits=(exhibit,), says=says)


def on_networks(figure: Figure, store: Store) -> Report:
    """Report of a figure on the networks of its cells."""
    return tabulate(figure.table, lambda own: store.records(own.experiment.key))


def train(store: Store, *experiments: Experiment) -> None:
    jobs = [Job(experiment=own, seed=seed) for own in experiments for seed in SEEDS]
    run(jobs, store, Here())


def plate_of(figure: Figure, store: Store) -> Plate:
    """The plate of a figure on two networks of each cell."""
    train(store, *(own.experiment for own in figure.table.claims))
    (plate,) = illustrate(figure, on_networks(figure, store), store)
    assert {finding.paper for finding in plate.findings} <= {"", *(s.words for s in figure.says)}
    return plate


def over(values: Sequence[float], digits: int = 1, unit: str = " %") -> str:
    """Mean and standard error over two networks, as findings write them."""
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    text = f"{np.mean(values):.{digits}f} ± {error:.{digits}f}{unit} (2 networks)"
    return text.replace("-", "−")


# --- Copying: mechanisms, dormant phases ---------------------------------------------------------


def copier(core: Spec, dormant: int, **task: object) -> Experiment:
    return Experiment(
        task=Copying(
            dormant=dormant,
            test_dormant=(8,),
            training_sequences=20,
            validation_sequences=5,
            test_sequences=(4,),
            **task,
        ),
        model=SequenceNetwork(core=core, encoder=Spec(LinearEncoder, out_features=5)),
        recipe=Recipe(steps=2, batch_size=10),
    )


ACTIVE = copier(
    Spec(RIMs, hidden_size=16, num_mechanisms=4, num_active=2), dormant=6, recalled_only=True
)
SLOTS = 3
NTM = copier(Spec(NTMLayer, hidden_size=12, num_slots=SLOTS, slot_size=4), dormant=3)
GRU = copier(Spec(GRULayer, hidden_size=12), dormant=3)
LENGTHS = (2, 3, 5, 8, 9)


def of_activation() -> Figure:
    key = "lamb2022/figure-2"
    (known,) = FIGURES[key].exhibits
    exhibit = activation_over_time(**(known.options | {"dormant": (10, 15)}))
    return figure_of(exhibit, claim(ACTIVE, regime="dormant-8"), like=key)


def of_dormant_phases(*experiments: Experiment) -> Figure:
    key = "lamb2022/dormant-phases"
    claims = [
        dataclasses.replace(own, experiment=experiment, regime="dormant-8", quick=1)
        for own, experiment in zip(FIGURES[key].table.claims, experiments, strict=False)
    ]
    return figure_of(dormant_phases(lengths=LENGTHS, trained=3), *claims, like=key)


# --- Agents --------------------------------------------------------------------------------------

ROOM = ObjectPicking(side=3, distractors=1, more_distractors=(), larger_sides=(), view=3)


def agent(core: Spec) -> Experiment:
    return Experiment(
        task=ROOM,
        model=AgentNetwork(core=core, encoder=Spec(LinearEncoder, out_features=8)),
        recipe=Recipe(steps=2, batch_size=4),
        objective=PPO(rollout_length=5, epochs=1),
    )


AGENTS = {
    "RIMs": agent(Spec(RIMs, hidden_size=12, num_mechanisms=3, num_active=2)),
    "GRU": agent(Spec(GRULayer, hidden_size=4)),
}


def of_filmstrips() -> Figure:
    claims = [claim(own, row, metric="success") for row, own in AGENTS.items()]
    return figure_of(filmstrips(regime=TRAINING, least=3), *claims)


# --- Interpreters --------------------------------------------------------------------------------


def interpreter(core: Spec, points: int = 100) -> Experiment:
    return Experiment(
        task=FuzzyBoolean(variables=3, functions=2, training_points=points, validation_points=100),
        model=SetNetwork(
            core=core, encoder=Spec(ComponentEncoder, out_features=8), outputs_per_token=1
        ),
        recipe=Recipe(steps=2),
    )


INTERPRETER = Spec(NeuralInterpreter, num_functions=3, num_iterations=4)
TRANSFORMER = Spec(PreNormTransformer, num_layers=1, num_heads=2)
SMALL = interpreter(INTERPRETER)


def fuzzy(row: str, column: str, experiment: Experiment, group: str = "") -> Claim:
    options = {"regime": VALIDATION, "metric": "r2", "paper": "gondal2021", "unit": "fraction"}
    return claim(experiment, row, column, group=group, **options)


def of_columns() -> Figure:
    claims = [
        fuzzy(row, f"{points} points", interpreter(core, points), f"points-{points}")
        for points in (100, 150)
        for row, core in (("NI", INTERPRETER), ("ViT", TRANSFORMER))
    ]
    exhibit = against_columns(label="points", pairs=(("NI", "ViT"), ("NI", "WReN")))
    return figure_of(exhibit, *claims)


MATRICES = ProgressiveMatrices(
    image_size=40, most_triples=1, distractors=False, training_problems=20, test_problems=10
)
READERS = {
    name: Experiment(
        task=MATRICES,
        model=ScoringNetwork(
            scorer=Spec(WReN, hidden_size=size, panel_size=8, relation_size=8),
            encoder=Spec(PanelEncoder),
            context=None,
        ),
        recipe=Recipe(steps=1),
    )
    for name, size in (("WReN", 8), ("NI", 12))
}


def of_matrix() -> Figure:
    claims = [claim(own, row, regime=VALIDATION) for row, own in READERS.items()]
    return figure_of(scored_matrix(regime=VALIDATION), *claims)


# --- Layers that read others ---------------------------------------------------------------------

RULES = NFMRules(num_heads=2, key_size=2, value_size=2)


def images(core: Spec) -> Experiment:
    task = Plain(item_shape=(4, 4), length=1)
    return Experiment(task=task, model=ItemNetwork(core=core), recipe=Recipe(steps=2))


READING = images(Spec(PreActResNetNFM, width=2, rules=RULES))
WITHOUT = images(Spec(PreActResNet, width=2))


def of_layer_reads() -> Figure:
    claims = [claim(own, row) for row, own in (("Reading", READING), ("Without", WITHOUT))]
    figure = figure_of(layer_reads(regime=TRAINING), *claims)
    return dataclasses.replace(figure, says=(Quote(of="reading/null", words="so the paper says"),))


# --- Normalizers ---------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Halves(Plain):
    """Single images of noise: is the first pixel bright?"""

    name: ClassVar[str] = "halves"

    def draw(self, stream: Stream) -> dict[str, Problems]:
        problems = super().draw(stream)[TRAINING]
        bright = problems.sequences()[:, 0, 0, 0] > 0.5
        return {TRAINING: dataclasses.replace(problems, target=bright.long())}


HALVES = Halves(item_shape=(8, 8), length=1)
FIRST = "core.convolutions.0"


def normalized(row: str, sigma: float) -> Claim:
    normalizer = MapNormalizer(field="window", sigma=sigma, learned_sigma=True)
    experiment = Experiment(
        task=HALVES,
        model=ItemNetwork(core=Spec(QuickCNN, width=2, normalizer=normalizer)),
        recipe=Recipe(steps=3, batch_size=8),
    )
    return claim(experiment, row, "accuracy", paper="ren2017", group="accuracy")


def trained_for(steps: int) -> Claim:
    recipe = Recipe(steps=steps, batch_size=8, learning_rate=0.01)
    model = ItemNetwork(core=Spec(BottleneckMLP, hidden_sizes=(8,)))
    experiment = Experiment(task=HALVES, model=model, recipe=recipe)
    sigma = f"{0.01 * steps:g}"
    return claim(experiment, "DN", f"σ = {sigma}", paper="ren2017", group=f"σ-{sigma}")


def of_constants() -> Figure:
    exhibit = constants_by_layer(regime=TRAINING, problems=20)
    return figure_of(exhibit, normalized("DN", 0.5), normalized("DN*", 1.5))


def of_responses() -> Figure:
    exhibit = response_pairs(layer=FIRST, regime=TRAINING, problems=20, samples=1_200)
    return figure_of(exhibit, normalized("BN", 0.5), normalized("DN", 1.5))


def of_settings() -> Figure:
    return figure_of(scores_by_setting(), *(trained_for(steps) for steps in (200, 1, 50)))


# --- Points of the plane -------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Blobs(ClassTask):
    """Two blobs of the plane, and more of them without labels."""

    name: ClassVar[str] = "blobs"
    version: ClassVar[int] = 1
    item_shape, length, num_outputs, segments = (2,), 1, 2, ((0,),)
    regimes = (
        Regime(name=TRAINING, distance=0, unit="draws"),
        Regime(name="unlabelled", distance=0, unit="draws"),
    )

    def draw(self, stream: Stream) -> dict[str, Problems]:
        return {
            name: self.drawn(count, stream.child(name)) for name, count in self.counts().items()
        }

    def counts(self) -> dict[str, int]:
        return {TRAINING: 20, "unlabelled": 50}

    def drawn(self, count: int, stream: Stream) -> Problems:
        target = torch.arange(count) % 2
        items = torch.randn(count, 2, generator=stream.torch()) + 3 * target[:, None]
        return Problems(items=items, index=torch.arange(count)[:, None], target=target)


class Narrow(nn.Module):
    """A classifier through a layer of two units."""

    def __init__(self, stream: Stream, size: int) -> None:
        super().__init__()
        self.below, self.narrow, self.above = (
            nn.Linear(2, size),
            nn.Linear(size, 2),
            nn.Linear(2, 2),
        )
        source = stream.torch()
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.normal_(generator=source)

    def forward(self, items: Tensor, index: Tensor) -> Tensor:
        return self.above(self.narrow(self.below(items[index[:, 0]]).tanh()))


@dataclass(frozen=True, kw_only=True)
class NarrowNetwork:
    size: int = 4

    def build(self, task: object, stream: Stream) -> nn.Module:
        return Narrow(stream, self.size)


def narrow(size: int = 4, steps: int = 3) -> Experiment:
    recipe = Recipe(steps=steps, batch_size=8)
    return Experiment(task=Blobs(), model=NarrowNetwork(size=size), recipe=recipe)


MIXED = {"no mixup": narrow(), "manifold mixup": narrow(size=6)}
LAYERS = (("below", "first layer"), ("narrow", "two units"))


def of_blobs(exhibit: Exhibit) -> Figure:
    claims = [claim(own, row, "accuracy", regime="unlabelled") for row, own in MIXED.items()]
    return figure_of(exhibit, *claims)


def of_boundaries() -> Figure:
    claims = [
        claim(
            narrow(size, steps),
            row,
            f"{steps} updates",
            regime="unlabelled",
            group=f"after-{steps}",
        )
        for steps in (1, 3)
        for row, size in (("ICT", 4), ("supervised", 6))
    ]
    return figure_of(decision_boundaries(unlabelled="unlabelled"), *claims)


# --- Embeddings and keys -------------------------------------------------------------------------

VAEC = VAECTranslation(image_size=64, levels_per_region=3, num_levels=6, problems_per_regime=70)
CONTEXTS = {
    "Context norm.": Spec(ContextNorm),
    "Batch norm.": Spec(SlotBatchNorm),
    "No norm.": None,
}


def embedder(context: Spec | None) -> Experiment:
    return Experiment(
        task=VAEC,
        model=ScoringNetwork(
            scorer=Spec(LSTMScorer, hidden_size=4),
            encoder=Spec(MomentEncoder, num_maps=2, out_features=6),
            context=context,
        ),
        recipe=Recipe(steps=4, batch_size=16),
    )


def of_embeddings(*rows: str) -> Figure:
    key = "webb2020/figure-s4"
    by_row = {own.row: own for own in FIGURES[key].table.claims}
    claims = [
        dataclasses.replace(by_row[row], experiment=embedder(CONTEXTS[row]), free=(), quick=1)
        for row in rows
    ]
    return figure_of(embeddings_by_dimension(), *claims, like=key)


KEYS = small_experiment(steps=8, evaluations=1)


def of_keys() -> Figure:
    own = claim(KEYS, "ESBN + TCN", regime="withheld-95", paper="webb2021")
    return figure_of(keys_by_position(), own)


# --- Roll-outs -----------------------------------------------------------------------------------

BALLS = BouncingBalls(
    side=8, num_frames=7, given=3, training_sequences=8, validation_sequences=2, test_sequences=5
)
PREDICTORS = {
    row: Experiment(
        task=BALLS,
        model=RollOutNetwork(
            core=core, encoder=Spec(LinearEncoder, out_features=5), rounded=row == "second"
        ),
        recipe=Recipe(steps=2, batch_size=4),
    )
    for row, core in (
        ("first", Spec(LSTMLayer, hidden_size=4)),
        ("second", Spec(GRULayer, hidden_size=4)),
    )
}
FILMED = ("balls-4", "curtain")


def of_roll_outs() -> Figure:
    key = "lamb2022/figure-3"
    claims = [
        dataclasses.replace(
            FIGURES[key].table.claims[0],
            experiment=own,
            row=row,
            regime=regime,
            column=f"to {regime}",
            quick=1,
        )
        for regime in FILMED
        for row, own in PREDICTORS.items()
    ]
    return figure_of(roll_outs(shown=(3, 4, 7, 60)), *claims, like=key)


# --- Images that networks make -------------------------------------------------------------------

ENLARGING = SuperResolution(scale=4, training="train", tests=("set14",), stride=20)
ENLARGERS = {
    "Bicubic": Experiment(
        task=ENLARGING, model=ItemNetwork(core=Spec(nn.Identity)), recipe=Recipe(steps=1)
    ),
    "SRCNN": Experiment(
        task=ENLARGING,
        model=ItemNetwork(core=Spec(SRCNN, channels=(2, 2))),
        recipe=Recipe(steps=2, batch_size=2),
    ),
}


def of_restorations() -> Figure:
    key = "ren2017/figure-7"
    claims = [
        dataclasses.replace(own, experiment=ENLARGERS[own.row], quick=1)
        for own in FIGURES[key].table.claims
        if own.row in ENLARGERS
    ]
    return figure_of(restorations(regime="set14", images=("comic", "face")), *claims, like=key)


def of_generated() -> Figure:
    """Two small networks at two lengths of training."""
    key = "lamb2022/nfm-gan-samples"
    claims = []
    for row, info_max in (("first", 0.0), ("second", 0.3)):
        experiment = gan(info_max=info_max)
        model = dataclasses.replace(experiment.model, judge=JUDGE)
        for fraction in (0.5, 1.0):
            part = dataclasses.replace(experiment, model=model).at_fraction(fraction)
            column = f"{part.recipe.steps} updates"
            fields = {"metric": f"fid/{JUDGE.label}", "unit": "fraction", "group": column}
            claims.append(claim(part, row, column, regime="test", **fields))
    figure = figure_of(generated_images(side=2), *claims, like=key)
    return dataclasses.replace(figure, says=(Quote(of=f"second/{column}", words="a claim"),))


@contextmanager
def small_world(folder: Path) -> Iterator[None]:
    """Context manager: images in a folder, a made-up set of images, and short scores of agents."""
    for name, count in (("train", 1), ("set14", 2)):
        (folder / name).mkdir(exist_ok=True)
        for seed, image in zip(range(count), ("comic", "face"), strict=False):
            pixels = np.random.default_rng(seed).integers(0, 256, (40, 50), dtype=np.uint8)
            Image.fromarray(pixels).save(folder / name / f"{image}.png")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FARFIELD_DATA", str(folder))
        patch.setattr(_mechanisms, "EPISODES", 6)
        image_sets.add(patch, shape=(3, 4, 4), classes=6, read=read)
        score_episodes(patch, 4)
        yield


# --- All -----------------------------------------------------------------------------------------

NI = fuzzy("NI", "R²", SMALL)
ON_NETWORKS: Mapping[str, Callable[[], Figure]] = {
    "activation_over_time": of_activation,
    "against_columns": of_columns,
    "constants_by_layer": of_constants,
    "decision_boundaries": of_boundaries,
    "decision_surfaces": lambda: of_blobs(decision_surfaces(layer="narrow")),
    "dormant_phases": lambda: of_dormant_phases(NTM, GRU),
    "embeddings_by_dimension": lambda: of_embeddings(*CONTEXTS),
    "filmstrips": of_filmstrips,
    "flattening": lambda: of_blobs(flattening(layers=LAYERS, regime="unlabelled")),
    "functions_removed": lambda: figure_of(functions_removed(numbers=(0, 1, 2)), NI),
    "generated_images": of_generated,
    "iterations_at_test": lambda: figure_of(iterations_at_test(numbers=(1, 2, 3, 4)), NI),
    "keys_by_position": of_keys,
    "layer_reads": of_layer_reads,
    "nearest_neighbors": lambda: of_blobs(
        nearest_neighbors(layer="narrow", regime="unlabelled", k=3)
    ),
    "response_pairs": of_responses,
    "restorations": of_restorations,
    "roll_outs": of_roll_outs,
    "routing_paths": lambda: figure_of(routing_paths(regime=VALIDATION), NI),
    "scored_matrix": of_matrix,
    "scores_by_setting": of_settings,
    "types_by_iteration": lambda: figure_of(types_by_iteration(regime=VALIDATION), NI),
}
"""Figure of each exhibit that is tested on networks."""
ON_RECORDS = {
    "activation_curves": "*",
    "generalization": "*/withheld-0",
    "paired_tests": "table-15/*",
    "rule_effects": "distribution-of-three/*",
    "skill_by_regime": "*same-different/*",
    "time_courses": "*",
}
"""Pattern of cells of a known figure for each exhibit that is tested on made-up records."""


def recorded(own: Claim) -> list[Record]:
    """Two made-up networks, each with a course over training."""
    score = 50 + sum(map(ord, own.name)) % 40
    steps = min(own.experiment.recipe.steps, 16)
    records = made_up.records(own, [score, score + 1], steps=steps)
    course = [
        Score(step=step, regime=TRAINING, metric=metric, value=step / 16, count=9)
        for step in (1, 4)
        if step < steps
        for metric in ("accuracy", "loss", "success")
    ]
    return [msgspec.structs.replace(one, scores=(*one.scores, *course)) for one in records]
