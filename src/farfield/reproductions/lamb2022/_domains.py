"""Networks and recipes of the suite `domains`: learning rules over several training domains."""

from __future__ import annotations

import dataclasses
from typing import Final

from farfield.analysis import Tent
from farfield.experiments import Cosine, Experiment, ItemNetwork, Recipe, ScoringNetwork, Spec
from farfield.models import BottleneckMLP, DigitCNN, LSTMScorer
from farfield.nn import ContextNorm, MomentEncoder
from farfield.objectives import (
    CORAL,
    IRM,
    SWAD,
    EarlyStopping,
    GroupDRO,
    Mixup,
    Objective,
    Supervised,
    VREx,
)
from farfield.reproductions._grid import Cell
from farfield.tasks import DigitDomains, ProblemTask, VAECTranslation
from farfield.tasks.internal import domains_of


def _rules(layer: str) -> dict[str, Objective]:
    """Make the rules by row, with the defaults of the released code."""
    return {
        "ERM": Supervised(),
        "IRM": IRM(restarts=True),
        "GroupDRO": GroupDRO(),
        "Mixup": Mixup(alpha=0.2),
        "CORAL": CORAL(layer=layer, means=True),
        "VREx": VREx(restarts=True),
        "SWAD": SWAD(),
    }


def _over_steps(rule: Objective) -> Objective:
    """Choose the step by validation of the training domains, where the rule does not average."""
    return rule if isinstance(rule, SWAD) else EarlyStopping(objective=rule)


def _recipe(task: ProblemTask, rule: Objective, batch_size: int, recipe: Recipe) -> Recipe:
    """Make the recipe with equally many problems of a step, whether drawn by domain or pooled."""
    domains = 1 if rule.by_domain else len(domains_of(task))
    return dataclasses.replace(recipe, batch_size=domains * batch_size)


# Published sizes. The 20 draws of values behind each published number are not repeated: a network
# has the default values, and a row chooses its step by validation. Rows with an oracle have the
# last step.

ORACLE: Final = ", oracle"
"""End of the name of a row whose published values were chosen on the test domain."""
PUBLISHED: Final = Recipe(steps=5_001, learning_rate=1e-3, evaluations=50)


def digit_domains(cell: Cell) -> Experiment:
    """Train the network for digits on all domains except the test, colored or rotated."""
    rule = _rules("core.features")[cell.row.removesuffix(ORACLE)]
    if not cell.row.endswith(ORACLE):
        rule = _over_steps(rule)
    task = DigitDomains(kind=cell.group, test=cell.regime)  # type: ignore[arg-type]
    return Experiment(
        task=task,
        model=ItemNetwork(core=Spec(DigitCNN)),
        objective=rule,
        recipe=_recipe(task, rule, 64, PUBLISHED),
    )


# Narrow: two layers of 256 units, 15,000 digits, 400 steps, such that a core trains a network in a
# quarter of a minute.

LAYERS: Final = Spec(BottleneckMLP, hidden_sizes=(256, 256))
NORMALIZED: Final = Spec(BottleneckMLP, hidden_sizes=(256, 256), batch_norm=True)
FEATURES: Final = "core.layers.1"
NARROW: Final = Recipe(steps=400, learning_rate=1e-3, evaluations=10)
DIGITS: Final = 15_000
OF_A_DOMAIN: Final = {"colored": 256, "rotated": 100}
"""Problems of each domain in a step."""
STRENGTHS: Final[dict[str, Objective]] = {
    "ERM, last step": Supervised(),
    "GroupDRO, η = 0.1": GroupDRO(step_size=0.1),
    "GroupDRO, η = 1": GroupDRO(step_size=1.0),
    "VREx, λ = 10": VREx(restarts=True),
    "VREx, λ = 1,000": VREx(weight=1_000.0, restarts=True),
    "VREx, λ = 10,000": VREx(weight=10_000.0, restarts=True),
    "IRM, λ = 100": IRM(restarts=True),
    "IRM, λ = 1,000": IRM(weight=1_000.0, restarts=True),
    "IRM, λ = 10,000": IRM(weight=10_000.0, restarts=True),
    "CORAL, γ = 1": CORAL(layer=FEATURES, means=True),
    "CORAL, γ = 100": CORAL(layer=FEATURES, means=True, weight=100.0),
}
"""Rules by row, of which validation or an oracle would choose one; all at the last step."""


def narrow_domains(cell: Cell) -> Experiment:
    """Train two layers on all domains except the test, colored or rotated."""
    return _narrow(cell.group, cell.regime, _over_steps(_rules(FEATURES)[cell.row]), LAYERS)


def strengths(cell: Cell) -> Experiment:
    """Train with one strength of a rule on colored digits, tested where color misleads."""
    return _narrow("colored", "minus-90", STRENGTHS[cell.row], LAYERS)


def adapted(cell: Cell) -> Experiment:
    """Train with batch normalization, which Tent adapts to the test."""
    kind, _, _ = cell.group.partition("-")
    test = cell.regime.removeprefix("tent-")
    network = _narrow(kind, test, EarlyStopping(), NORMALIZED)
    return dataclasses.replace(network, perturbations=(Tent(of=test),))


def _narrow(kind: str, test: str, rule: Objective, core: Spec) -> Experiment:
    """Train a narrow network on digits."""
    task = DigitDomains(kind=kind, test=test, images=DIGITS)  # type: ignore[arg-type]
    return Experiment(
        task=task,
        model=ItemNetwork(core=core),
        objective=rule,
        recipe=_recipe(task, rule, OF_A_DOMAIN[kind], NARROW),
    )


REGIONS: Final = Recipe(
    steps=400, learning_rate=2e-3, clip_norm=1.0, schedule=Cosine(), evaluations=10
)


def regions(cell: Cell) -> Experiment:
    """Train the network of `webb2020/beyond` on analogies in two regions, as training domains."""
    rule = _over_steps(_rules(FEATURES)[cell.row])
    task = VAECTranslation(
        also_train_on=(2,), image_size=64, problems_per_regime=2_000, validation_problems=1_000
    )
    return Experiment(
        task=task,
        model=ScoringNetwork(
            scorer=Spec(LSTMScorer), encoder=Spec(MomentEncoder), context=Spec(ContextNorm)
        ),
        objective=rule,
        recipe=_recipe(task, rule, 16, REGIONS),
    )
