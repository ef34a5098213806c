"""Chapters 4 and 6 of lamb2022 at a size that one core trains in minutes: our own tables.

Narrow networks, few updates and images that anyone can get stand in for the published ones, so no
number of these tables is one of the papers'; what they can show is the order of the learning rules
under one recipe. Optimizers, step sizes, schedules and augmentation are the chapters' own, the loss
is the cross-entropy, and nothing was tuned.
"""

from __future__ import annotations

import dataclasses
from typing import Final

from farfield.analysis import PGD
from farfield.experiments import SGD, Adam, Cosine, Experiment, ItemNetwork, Recipe, Spec
from farfield.models import CNN13, BottleneckMLP, PreActResNet
from farfield.nn import Standardize
from farfield.objectives import (
    ICT,
    VAT,
    CropAndFlip,
    ManifoldMixup,
    MeanTeacher,
    Mixup,
    Objective,
    PiModel,
    Supervised,
)
from farfield.reproductions._claims import Claim, Table
from farfield.reproductions._published import Unpublished
from farfield.reproductions._rule import VerdictRule
from farfield.reproductions.lamb2022._mixup import ATTACK, DEFORMATIONS, ELIGIBLE, LAYERS, QUARTERS
from farfield.tasks import FewLabels, ImageClasses

RULE: Final = VerdictRule()
RUNS: Final = 3
MEASURED: Final = Unpublished(runs=RUNS, selection="weights of the last step", split="test images")
MOMENTUM: Final = SGD(momentum=0.9, nesterov=True, weight_decay=1e-4)

CIFAR_JPEG: Final = "cifar10/cifar-10-jpeg.tar.xz in FARFIELD_DATA"
JPEG: Final = ImageClasses(data_set="cifar10-jpeg", test_images=2_000)
KMNIST: Final = ImageClasses(data_set="kmnist-first7011", test_images=2_000)
WIDTH: Final = 8
STEPS: Final = 1_500
"""Three epochs."""
KMNIST_STEPS: Final = 710
"""Ten epochs."""
STRONG: Final = PGD(eps=8 / 255, steps=7, step_size=2 / 255, of="test")
"""Seven steps, as in the training that Table 7 quotes."""
RULES: Final[dict[str, Objective]] = {
    "No Mixup": Supervised(),
    "Input Mixup (α = 1)": Mixup(alpha=1.0),
    "Manifold Mixup (α = 0.5)": ManifoldMixup(layers=ELIGIBLE, alpha=0.5),
    "Manifold Mixup (α = 1)": ManifoldMixup(layers=ELIGIBLE, alpha=1.0),
    "Manifold Mixup (α = 2)": ManifoldMixup(layers=ELIGIBLE, alpha=2.0),
    "Manifold Mixup, S = {2}": ManifoldMixup(layers=LAYERS[2:3]),
    "Manifold Mixup, zeroed gradients": ManifoldMixup(layers=ELIGIBLE, stop_gradient=True),
}
REGIMES: Final = (
    "test",
    *(change.regime.name for change in DEFORMATIONS),
    ATTACK.regime.name,
    STRONG.regime.name,
)


def _narrow(row: str, regime: str, *, table: str, task: ImageClasses, steps: int) -> Claim:
    """A narrow network's accuracy under one learning rule, in one regime."""
    return Claim(
        paper="lamb2022",
        table=table,
        row=row,
        column=regime,
        published=MEASURED,
        experiment=Experiment(
            task=task,
            model=ItemNetwork(core=Spec(PreActResNet, width=WIDTH), front=Spec(Standardize)),
            recipe=Recipe(
                steps=steps,
                learning_rate=0.1,
                batch_size=100,
                optimizer=MOMENTUM,
                schedule=QUARTERS,
            ),
            objective=CropAndFlip(objective=RULES[row], flip=task is not KMNIST),
            perturbations=(*DEFORMATIONS, ATTACK, STRONG),
        ),
        rule=RULE,
        metric="accuracy",
        regime=regime,
        quick=1,
        subject="K-MNIST, 7,011 images" if task is KMNIST else "CIFAR-10, JPEG",
        data="kmnist in FARFIELD_DATA" if task is KMNIST else CIFAR_JPEG,
    )


MIXUP_NARROW: Final = Table(
    key="lamb2022/mixup-narrow",
    title="Manifold Mixup on JPEG copies of CIFAR-10, PreActResNet18 of width 8, three epochs",
    claims=tuple(
        _narrow(row, regime, table="mixup-narrow", task=JPEG, steps=STEPS)
        for regime in REGIMES
        for row in RULES
    ),
)
MIXUP_NARROW_KMNIST: Final = Table(
    key="lamb2022/mixup-narrow-kmnist",
    title="Manifold Mixup on 7,011 images of K-MNIST, PreActResNet18 of width 8, ten epochs",
    claims=tuple(
        _narrow(row, regime, table="mixup-narrow-kmnist", task=KMNIST, steps=KMNIST_STEPS)
        for regime in REGIMES
        for row in ("No Mixup", "Input Mixup (α = 1)", "Manifold Mixup (α = 2)")
    ),
)

FEW: Final = FewLabels(
    data_set="mnist", labels_per_class=10, validation_per_class=500, test_images=2_000
)
UNLABELLED: Final = "unlabelled"
SEMI: Final[dict[str, Objective]] = {
    "Supervised": Supervised(),
    "Supervised (Mixup)": Mixup(alpha=1.0),
    "Supervised (Manifold Mixup)": ManifoldMixup(alpha=1.0),
    "Π model": PiModel(weight=10.0, noise=0.0, consistency=UNLABELLED),
    "Mean Teacher": MeanTeacher(weight=10.0, warmup=True, consistency=UNLABELLED),
    "VAT + Ent": VAT(layer="front", entropy=1.0, consistency=UNLABELLED),
    "ICT": ICT(weight=10.0, decay=0.99, consistency=UNLABELLED),
    "ICT, manifold": ICT(weight=10.0, decay=0.99, layers=None, consistency=UNLABELLED),
    "ICT, no mean teacher": ICT(weight=10.0, decay=None, consistency=UNLABELLED),
}

ICT_NARROW: Final = Table(
    key="lamb2022/ict-narrow",
    title="A hundred labels of MNIST, CNN-13 of width 8, 800 updates",
    claims=tuple(
        Claim(
            paper="lamb2022",
            table="ict-narrow",
            row=row,
            column="test error",
            published=MEASURED,
            experiment=Experiment(
                task=FEW,
                model=ItemNetwork(core=Spec(CNN13, width=8), front=Spec(Standardize)),
                recipe=Recipe(
                    steps=800,
                    learning_rate=0.1,
                    batch_size=100,
                    optimizer=MOMENTUM,
                    schedule=Cosine(span=8 / 9),
                ),
                objective=CropAndFlip(objective=objective, flip=False),
            ),
            rule=RULE,
            metric="error",
            regime="test",
            quick=1,
            subject="MNIST, 100 labels",
            data="MNIST: in FARFIELD_DATA/mnist, or by `farfield fetch mnist`",
        )
        for row, objective in SEMI.items()
    ),
)

MNIST: Final = ImageClasses(data_set="mnist", test_images=2_000)
FIRST_HIDDEN: Final = "core.layers.0"
DENSE: Final = Spec(BottleneckMLP, hidden_sizes=(128, 128, 128))
FLAT_ROWS: Final[dict[str, tuple[Spec, Objective, Adam]]] = {
    "No Mixup": (DENSE, Supervised(), Adam()),
    "Weight decay": (DENSE, Supervised(), Adam(weight_decay=1e-4)),
    "Dropout": (
        Spec(BottleneckMLP, hidden_sizes=(128, 128, 128), dropout=0.5),
        Supervised(),
        Adam(),
    ),
    "Input Mixup": (DENSE, Mixup(alpha=1.0), Adam()),
    "Manifold Mixup": (
        DENSE,
        ManifoldMixup(layers=(FIRST_HIDDEN,)),
        Adam(),
    ),
}
"""Rows of section 4.3.2, which says neither the width nor the strengths: core, rule, optimizer."""

FLATTENING: Final = Table(
    key="lamb2022/flattening",
    title="Fully connected networks on MNIST, by regularizer",
    claims=tuple(
        Claim(
            paper="lamb2022",
            table="flattening",
            row=row,
            column="test",
            published=dataclasses.replace(MEASURED, runs=5),
            experiment=Experiment(
                task=MNIST,
                model=ItemNetwork(core=core),
                recipe=Recipe(steps=6_000, learning_rate=1e-3, batch_size=100, optimizer=optimizer),
                objective=objective,
            ),
            rule=RULE,
            metric="accuracy",
            regime="test",
            quick=1,
            subject="MNIST",
            data="MNIST: in FARFIELD_DATA/mnist, or by `farfield fetch mnist`",
        )
        for row, (core, objective, optimizer) in FLAT_ROWS.items()
    ),
)
