"""Tables 1 to 3 of chapter 6 of lamb2022, Interpolation Consistency Training, and its ablations.

Networks, schedules and weights are those of the text and of the released code: labelled and
unlabelled images in batches of 100, half a cosine over 450 epochs of which 400 are trained, no
dropout. The released code draws the teacher apart, mixes its logits, and reports the teacher at the
epoch of its best validation accuracy; here it is the teacher of the last step. The rivals that
others have trained are trained here with the same network, schedule and images, and with the
weights of their papers (Laine and Aila 2017: 100 and 30; Tarvainen and Valpola 2017: 100; Miyato et
al. 2018: a radius of 8, at standardized or whitened images). Their noise at the input and their
dropout are left out.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Final

from farfield.experiments import SGD, Cosine, Experiment, ItemNetwork, Recipe, Spec
from farfield.models import CNN13, WideResNet
from farfield.nn import ZCA, Standardize
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
    TemporalEnsembling,
)
from farfield.reproductions._claims import Claim, Table
from farfield.reproductions._unbuilt import Unbuilt
from farfield.reproductions.lamb2022 import _print_ict as published
from farfield.reproductions.lamb2022._mixup import NAMES, RULE, number_of
from farfield.reproductions.lamb2022._print_ict import Number
from farfield.tasks import FewLabels

UNLABELLED: Final = "unlabelled"
BATCH_SIZE: Final = 100
EPOCHS: Final = {CNN13: 400, WideResNet: 600}
SPAN: Final = 400 / 450
"""Fraction of the half cosine that is trained."""
IMAGES: Final = {"cifar10": 45_000, "svhn": 72_257}
"""Unlabelled images: the training file less those of validation."""
VALIDATION: Final = {"cifar10": 500, "svhn": 100}
"""Images of each class to choose by (section 6.3.3: 5,000 and 1,000)."""
QUICK: Final = 1 / 10_000
SELECTION: Final = "weights of the last step; published: the best in validation"

CNN: Final = Spec(CNN13)
WIDE: Final = Spec(WideResNet, widen_factor=2, negative_slope=0.01)
WEIGHTS: Final = {
    "cifar10": dict(zip(published.LABELS_CIFAR, published.WEIGHTS_CIFAR, strict=True)),
    "svhn": dict.fromkeys(published.LABELS_SVHN, published.WEIGHT_SVHN),
}
ALPHAS: Final = {
    "cifar10": dict(zip(published.LABELS_CIFAR, published.ALPHAS_CIFAR, strict=True)),
    "svhn": dict.fromkeys(published.LABELS_SVHN, published.ALPHA_SVHN),
}
SAME: Final = {"MT": "Mean Teacher", "Mean-Teacher": "Mean Teacher", "VAT-EM": "VAT + Ent"}
"""Rows with other names in Tables 2 and 3."""
UNBUILT: Final = ("VAdD", "SNTG", "MT + Fast SWA")
"""Rows of other papers whose methods are not built here."""


def ict(data_set: str, labels: int) -> ICT:
    """Interpolation consistency with the weight and alpha of the text.

    Args:
        data_set: Name of the images.
        labels: Number of labelled images.
    """
    alpha = ALPHAS[data_set][labels]
    return ICT(
        alpha=alpha,
        weight=WEIGHTS[data_set][labels],
        ramp=0.25,
        decay=0.999,
        consistency=UNLABELLED,
    )


def rule_of(row: str, data_set: str, labels: int) -> Objective:
    """The learning rule of a row.

    Args:
        row: The row.
        data_set: Name of the images.
        labels: Number of labelled images.
    """
    own = ict(data_set, labels)
    rules: dict[str, Objective] = {
        "Supervised": Supervised(),
        "Supervised (Mixup)": Mixup(alpha=1.0),
        "Supervised (Manifold Mixup)": ManifoldMixup(alpha=1.0),
        "Π model": PiModel(weight=100.0, noise=0.0, consistency=UNLABELLED),
        "TempEns": TemporalEnsembling(weight=30.0, num_outputs=10, consistency=UNLABELLED),
        "Mean Teacher": MeanTeacher(weight=100.0, decay=0.999, warmup=True, consistency=UNLABELLED),
        "VAT": VAT(layer="front", consistency=UNLABELLED),
        "VAT + Ent": VAT(layer="front", entropy=1.0, consistency=UNLABELLED),
        "ICT": own,
        "ICT, no mean teacher": dataclasses.replace(own, decay=None),
        "ICT, no supervised mixup": dataclasses.replace(own, supervised_mixup=False),
    }
    return rules[SAME.get(row, row)]


def experiment(data_set: str, labels: int, core: Spec, objective: Objective) -> Experiment:
    """An experiment of the chapter.

    Args:
        data_set: Name of the images.
        labels: Number of labelled images.
        core: The network.
        objective: The learning rule.
    """
    whitened = data_set == "cifar10"
    epochs = EPOCHS.get(core.cls, EPOCHS[CNN13])
    return Experiment(
        task=FewLabels(
            data_set=data_set,
            labels_per_class=labels // 10,
            validation_per_class=VALIDATION[data_set],
        ),
        model=ItemNetwork(core=core, front=Spec(ZCA if whitened else Standardize)),
        objective=CropAndFlip(objective=objective, flip=whitened),
        recipe=Recipe(
            steps=epochs * (IMAGES[data_set] // BATCH_SIZE),
            learning_rate=0.1,
            batch_size=BATCH_SIZE,
            optimizer=SGD(momentum=0.9, nesterov=True, weight_decay=1e-4),
            schedule=Cosine(span=SPAN),
        ),
    )


def _claim(table: str, row: str, data_set: str, labels: int, number: Number, core: Spec) -> Claim:
    """A cell of the chapter."""
    is_built, is_own = row not in UNBUILT, row in published.OURS or table == "ablations"
    images = NAMES[data_set]
    model = core if is_built else Spec(Unbuilt, model=row)
    objective = rule_of(row, data_set, labels) if is_built else Supervised()
    return Claim(
        paper="lamb2022",
        table=f"ict-{table}",
        row=row,
        column=f"{images}, {labels:,} labels",
        published=number_of(
            number,
            1 if number[1] is None else published.RUNS,
            SELECTION,
            f"test images of {images}",
            "percent",
            kind_said=is_own,
            runs_said=is_own,
        ),
        experiment=experiment(data_set, labels, model, objective),
        rule=RULE,
        metric="error",
        regime="test",
        quick=QUICK,
        subject=images,
        group=f"{data_set}-{labels}",
        data=f"{images} as published and whole, in FARFIELD_DATA",
        unbuilt=not is_built,
    )


def _by_labels(
    table: str, title: str, data_set: str, labels: tuple[int, ...], rows: dict[str, Any]
) -> Table:
    """A table with a column for each number of labels."""
    return Table(
        key=f"lamb2022/ict-{table}",
        title=title,
        claims=tuple(
            _claim(table, row, data_set, count, number, CNN)
            for row, numbers in rows.items()
            for count, number in zip(labels, numbers, strict=True)
            if number is not None
        ),
    )


ICT_TABLE_1: Final = _by_labels(
    "table-1",
    "Few labels on CIFAR-10, CNN-13",
    "cifar10",
    published.LABELS_CIFAR,
    published.TABLE_1,
)
ICT_TABLE_2: Final = _by_labels(
    "table-2", "Few labels on SVHN, CNN-13", "svhn", published.LABELS_SVHN, published.TABLE_2
)
ICT_TABLE_3: Final = Table(
    key="lamb2022/ict-table-3",
    title="Few labels, Wide ResNet 28-2",
    claims=tuple(
        _claim("table-3", row, data_set, labels, number, WIDE)
        for row, numbers in published.TABLE_3.items()
        for (data_set, labels), number in zip(
            (("cifar10", 4_000), ("svhn", 1_000)), numbers, strict=True
        )
    ),
)
ICT_ABLATIONS: Final = _by_labels(
    "ablations",
    "Ablations of Interpolation Consistency Training on CIFAR-10",
    "cifar10",
    published.LABELS_CIFAR,
    {
        "ICT, no mean teacher": published.WITHOUT_TEACHER,
        "ICT, no supervised mixup": published.WITHOUT_MIXUP,
    },
)
