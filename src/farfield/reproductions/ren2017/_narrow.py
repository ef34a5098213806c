"""The CIFAR experiments of ren2017 at a size that one core trains in minutes: our own tables.

JPEG copies of CIFAR-10 and a thirty-second of the steps stand in for the published ones, so no
number of these tables is one of the paper's; what they can show is the order of the rows under one
recipe. Constants and weights of the penalty are the released ones for CIFAR-10, and nothing was
tuned. Images under other light are never met in training.
"""

from __future__ import annotations

import dataclasses
from typing import Final

from farfield.analysis import Brightness, Contrast
from farfield.experiments import Experiment, Perturbation, Recipe
from farfield.nn import MapNormalizer
from farfield.reproductions._claims import Claim, Table
from farfield.reproductions._published import Unpublished
from farfield.reproductions._rule import VerdictRule
from farfield.reproductions.ren2017._cifar import (
    residual_methods,
    setting_name,
    swept_methods,
)
from farfield.reproductions.ren2017._networks import (
    BATCH_SIZE,
    METHODS,
    SCHEDULE,
    Method,
    quick_cnn,
    resnet,
)
from farfield.tasks import VALIDATION, ImageClasses

JPEG: Final = ImageClasses(data_set="cifar10-jpeg", validation_per_class=100, test_images=2_000)
STEPS: Final = 2_500
"""Five epochs."""
STEPS_RESNET: Final = 1_000
DEPTH: Final = 32
WIDTH: Final = 8

LIGHTS: Final[tuple[Perturbation, ...]] = (
    *(Brightness(shift=shift, of="test") for shift in (-0.4, -0.2, 0.2, 0.4)),
    *(Contrast(factor=factor, of="test") for factor in (0.25, 0.5, 1.5, 2.0)),
)
REGIMES: Final = ("test", *(change.regime.name for change in LIGHTS))


def _claim(
    table: str, row: str, column: str, regime: str, tested: Experiment, *, group: str = ""
) -> Claim:
    """A cell of our own."""
    return Claim(
        paper="ren2017",
        table=table,
        row=row,
        column=column,
        published=Unpublished(
            runs=3, selection="weights of the last step", split=f"{regime} images"
        ),
        experiment=tested,
        rule=VerdictRule(),
        metric="accuracy",
        regime=regime,
        quick=1,
        subject="CIFAR-10, JPEG",
        group=group,
        data="cifar10/cifar-10-jpeg.tar.xz in FARFIELD_DATA",
    )


def _experiment(method: Method) -> Experiment:
    """A row of the quick network, the same steps and learning rates for all."""
    recipe = Recipe(
        steps=STEPS,
        learning_rate=1e-3,
        batch_size=BATCH_SIZE,
        optimizer=method.optimizer,
        schedule=SCHEDULE,
    )
    return quick_cnn(JPEG, method, recipe, LIGHTS)


CIFAR_NARROW: Final = Table(
    key="ren2017/cifar-narrow",
    title="Normalizers on JPEG copies of CIFAR-10, five epochs, and under other light",
    claims=tuple(
        _claim("cifar-narrow", row, regime, regime, _experiment(method))
        for regime in REGIMES
        for row, method in METHODS["cifar10"].items()
    ),
)

SETTINGS_NARROW: Final = Table(
    key="ren2017/settings-narrow",
    title="Smoothing constants and weights of the L1 penalty on validation images, five epochs",
    claims=tuple(
        _claim(
            "settings-narrow",
            row,
            column,
            VALIDATION,
            _experiment(method),
            group=setting_name(column),
        )
        for (row, column), method in swept_methods().items()
    ),
)

LEARNED: Final = MapNormalizer(field="window", sigma=0.5, learned_sigma=True, affine=True)
AGAINST_BN: Final = {
    "DN, learned, gain and shift": Method(normalizer=LEARNED),
    "LN-s, learned, gain and shift": Method(normalizer=dataclasses.replace(LEARNED, field="layer")),
}
"""Rows that could close the gap between DN and BN that the paper leaves open.

No convolution has a bias, and each normalizer stands before a ReLU: without the gain and shift that
BN has and DN lacks, no channel can choose its threshold. The second row, with the whole image for a
window, tells whether what is then left of the gap comes from local statistics.
"""

RESNET_NARROW: Final = Table(
    key="ren2017/resnet-narrow",
    title="ResNet-32 of width 8 on JPEG copies of CIFAR-10, two epochs",
    claims=tuple(
        _claim(
            "resnet-narrow",
            row,
            "test",
            "test",
            resnet(JPEG, method, steps=STEPS_RESNET, depth=DEPTH, width=WIDTH),
        )
        for row, method in (residual_methods("cifar10") | AGAINST_BN).items()
    ),
)
