"""Figures 1 and 2 of chapter 4 of lamb2022, and Figure 1 of its chapter 6: classes of the plane.

The text draws these and gives no number. Of the spiral's network it says that a bottleneck of two
units stands in its middle; of that of the two moons that it has three hidden layers of twenty ReLUs
and sees three points of each class with labels. All else is ours: optimizer, updates and strengths
of the regularizers are the same for all rows or the usual ones. Manifold Mixup mixes at the
bottleneck. On the two moons, weights of ICT and the radius of VAT were tried on six networks of
seeds from 100 on, which no row has: with any weight and any layers ICT stayed near 89 %, since a
line between two points of a half circle leaves it; with a radius of 0.3 VAT made no error. The
noise is 0.05: the moons lie five standard deviations from the middle between them.
"""

from __future__ import annotations

import dataclasses
from typing import Final

from farfield.experiments import Adam, Experiment, ItemNetwork, Recipe, Spec
from farfield.models import BottleneckMLP
from farfield.objectives import (
    ICT,
    VAT,
    ManifoldMixup,
    MeanTeacher,
    Mixup,
    Objective,
    PiModel,
    Supervised,
    TemporalEnsembling,
)
from farfield.reproductions._by_hand import with_rows_by_hand
from farfield.reproductions._claims import Claim, Table
from farfield.reproductions._published import Unpublished
from farfield.reproductions._rule import VerdictRule
from farfield.tasks import Spirals, TwoMoons

RULE: Final = VerdictRule()
RUNS: Final = 20
MEASURED: Final = Unpublished(runs=RUNS, selection="weights of the last step", split="new points")
SOLVED: Final = dataclasses.replace(MEASURED, goal=100.0)

SPIRAL: Final = Spirals()
HIDDEN: Final = (64, 64, 64, 64)
BOTTLENECK: Final = "core.layers.2"
SPIRAL_RECIPE: Final = Recipe(steps=2_000, learning_rate=1e-3, batch_size=100)
PLAIN: Final = Spec(BottleneckMLP, hidden_sizes=HIDDEN, bottleneck=2)

DROPOUT: Final = Spec(BottleneckMLP, hidden_sizes=HIDDEN, bottleneck=2, dropout=0.5)
NORMALIZED: Final = Spec(BottleneckMLP, hidden_sizes=HIDDEN, bottleneck=2, batch_norm=True)
NOISY: Final = Spec(BottleneckMLP, hidden_sizes=HIDDEN, bottleneck=2, noise=0.1)

SPIRAL_ROWS: Final[dict[str, tuple[Spec, Objective, Adam]]] = {
    "No Mixup": (PLAIN, Supervised(), Adam()),
    "Input Mixup": (PLAIN, Mixup(alpha=1.0), Adam()),
    "Manifold Mixup": (PLAIN, ManifoldMixup(layers=(BOTTLENECK,)), Adam()),
    "Weight decay": (PLAIN, Supervised(), Adam(weight_decay=1e-3)),
    "Dropout": (DROPOUT, Supervised(), Adam()),
    "Batch normalization": (NORMALIZED, Supervised(), Adam()),
    "Noise": (NOISY, Supervised(), Adam()),
}
"""Rows of Figures 1 and 2: core, learning rule and optimizer; half of the units are dropped."""

SPIRALS: Final = Table(
    key="lamb2022/spirals",
    title="A spiral through a bottleneck of two units, by regularizer",
    claims=tuple(
        Claim(
            paper="lamb2022",
            table="spirals",
            row=row,
            column="new points",
            published=MEASURED,
            experiment=Experiment(
                task=SPIRAL,
                model=ItemNetwork(core=core),
                recipe=dataclasses.replace(SPIRAL_RECIPE, optimizer=optimizer),
                objective=objective,
            ),
            rule=RULE,
            metric="accuracy",
            regime="test",
            quick=1,
            subject="Spirals",
        )
        for row, (core, objective, optimizer) in SPIRAL_ROWS.items()
    ),
)

MOONS: Final = TwoMoons(noise=0.05)
MOON_UPDATES: Final = (100, 500, 1_000)
"""Updates after which Figure 1 draws the boundary."""
UNLABELLED: Final = "unlabelled"
MOON_ROWS: Final[dict[str, Objective]] = {
    "Supervised": Supervised(),
    "Supervised (Mixup)": Mixup(alpha=1.0),
    "Supervised (Manifold Mixup)": ManifoldMixup(layers=("core.layers.0", "core.layers.1")),
    "Π model": PiModel(consistency=UNLABELLED),
    "TempEns": TemporalEnsembling(num_outputs=2, consistency=UNLABELLED),
    "Mean Teacher": MeanTeacher(consistency=UNLABELLED),
    "VAT": VAT(radius=0.3, consistency=UNLABELLED),
    "ICT": ICT(weight=10.0, decay=0.99, warmup=True, consistency=UNLABELLED),
}


def _moons(row: str, steps: int) -> Experiment:
    return Experiment(
        task=MOONS,
        model=ItemNetwork(core=Spec(BottleneckMLP)),
        recipe=Recipe(steps=steps, learning_rate=1e-2, batch_size=100),
        objective=MOON_ROWS[row],
    )


TWO_MOONS: Final = Table(
    key="lamb2022/two-moons",
    title="Two moons with three labels a class",
    claims=with_rows_by_hand(
        Claim(
            paper="lamb2022",
            table="two-moons",
            row=row,
            column=f"after {steps:,} updates",
            published=SOLVED if row == "VAT" and steps == MOON_UPDATES[-1] else MEASURED,
            experiment=_moons(row, steps),
            rule=RULE,
            metric="accuracy",
            regime="test",
            quick=1,
            subject="Two moons",
            group=f"{steps}-updates",
        )
        for steps in MOON_UPDATES
        for row in MOON_ROWS
    ),
)
