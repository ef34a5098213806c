"""Table 3, the image columns of Table 7, Figure 6 and ResNet-32 of ren2017.

Accuracies are fractions with four digits in the tables of the paper and percent in its text; here
all are percent. The paper says neither how many networks are behind a number nor which weights were
scored.
"""

from __future__ import annotations

import dataclasses
from decimal import Decimal
from typing import Final

from farfield.experiments import Experiment
from farfield.nn import MapNormalizer
from farfield.reproductions._claims import Claim, Table
from farfield.reproductions._published import Published, Unpublished
from farfield.reproductions._rule import VerdictRule
from farfield.reproductions.ren2017 import _print_cifar as printed
from farfield.reproductions.ren2017._networks import (
    METHODS,
    PLAIN,
    Method,
    batch,
    layer,
    published_recipe,
    quick_cnn,
    resnet,
    window,
)
from farfield.tasks import VALIDATION, ImageClasses

NAMES: Final = {"cifar10": "CIFAR-10", "cifar100": "CIFAR-100"}
SIGMAS: Final = (0.01, 0.25, 0.5, 1.0)
ALPHAS: Final = (0.0, 0.001, 0.005, 0.01)
"""Constants and weights that the released code names; the paper has three or four of each."""
SWEPT: Final = {"BN": batch, "LN": layer, "DN": window}

RULE: Final = VerdictRule()
QUICK: Final = 1 / 500
"""Share of the steps in the quick budget: 160 of 80,000."""
SELECTION: Final = "weights of the last step; published: not said"


def accuracy(text: str, images: str) -> Published:
    """A published accuracy in percent, with the digits that the paper gives it.

    Args:
        text: The number as published, a fraction where it begins with a zero.
        images: Name of the images.
    """
    is_fraction = text.startswith("0.")
    digits = len(text.partition(".")[2]) - 2 * is_fraction
    return Published(
        mean=float(Decimal(text) * (100 if is_fraction else 1)),
        spread=None,
        spread_kind="standard error",
        runs=1,
        decimals=(digits, digits),
        unit="percent",
        selection=SELECTION,
        split=f"test images of {images}",
        runs_assumed=True,
    )


def cell(
    table: str,
    row: str,
    data_set: str,
    number: str | None,
    tested: Experiment,
    *,
    column: str = "",
    regime: str = "test",
    setting: str = "",
) -> Claim:
    """A cell of the CIFAR experiments.

    Args:
        table: Where it stands.
        row: Row as published.
        data_set: Name of the images.
        number: The accuracy as published; `None` where it is not.
        tested: What tests it.
        column: Column; empty for the name of the images.
        regime: Name of the regime scored.
        setting: Name of a setting that cells of one row differ in; empty for none.
    """
    images = NAMES[data_set]
    published: Published | Unpublished
    if number is None:
        split = f"{regime} images of {images}"
        published = Unpublished(runs=3, selection="weights of the last step", split=split)
    else:
        published = accuracy(number, images)
    return Claim(
        paper="ren2017",
        table=table,
        row=row,
        column=column or images,
        published=published,
        experiment=tested,
        rule=RULE,
        metric="accuracy",
        regime=regime,
        quick=QUICK,
        subject=images,
        group="/".join(part for part in (data_set, setting) if part),
        data=f"{images} as published and whole, in FARFIELD_DATA",
    )


def _classification(table: str, title: str, rows: dict[str, tuple[str, str]]) -> Table:
    """The quick network on CIFAR-10 and CIFAR-100, a row for each method."""
    return Table(
        key=f"ren2017/{table}",
        title=title,
        claims=tuple(
            cell(
                table,
                row,
                data_set,
                number,
                quick_cnn(
                    ImageClasses(data_set=data_set),
                    METHODS[data_set][row],
                    published_recipe(METHODS[data_set][row]),
                ),
            )
            for row, numbers in rows.items()
            for data_set, number in zip(NAMES, numbers, strict=True)
        ),
        tuned="σ and α as released, which a grid search on validation images chose",
    )


TABLE_3: Final = _classification(
    "table-3", "Normalizers in a small convolutional network on CIFAR", printed.TABLE_3
)
TABLE_7_CIFAR: Final = _classification(
    "table-7-cifar", "Smoothing and L1 penalty taken apart, CIFAR", printed.TABLE_7
)

RESNET_SIGMA: Final = {"cifar10": 0.5, "cifar100": 2.0}
"""First value of the learned constants, and their fixed one, as released."""
RESNET_ALPHA: Final = {"cifar10": 1e-3, "cifar100": 1e-2}


def residual_methods(data_set: str) -> dict[str, Method]:
    """Rows of ResNet-32; those that are not published are what the gains of the text are of.

    Args:
        data_set: Name of the images.
    """
    fixed = MapNormalizer(field="window", sigma=RESNET_SIGMA[data_set])
    learned = dataclasses.replace(fixed, learned_sigma=True)
    return {
        "BN": Method(normalizer=batch()),
        "DN*": Method(normalizer=learned, alpha=RESNET_ALPHA[data_set]),
        "DN, learned": Method(normalizer=learned),
        "DN, fixed": Method(normalizer=fixed),
        "DN, unsmoothed": Method(normalizer=dataclasses.replace(fixed, sigma=PLAIN)),
    }


RESNET: Final = Table(
    key="ren2017/resnet",
    title="ResNet-32 on CIFAR (section 4.1)",
    steps_published=False,
    claims=tuple(
        cell(
            "resnet",
            row,
            data_set,
            dict(zip(NAMES, printed.RESNET[row], strict=True))[data_set]
            if row in printed.RESNET
            else None,
            resnet(ImageClasses(data_set=data_set), method),
        )
        for data_set in NAMES
        for row, method in residual_methods(data_set).items()
    ),
)


def swept_methods() -> dict[tuple[str, str], Method]:
    """Rows and columns of Figure 6: a constant without penalty, or a penalty without smoothing.

    DN has its smoothing constant beside every penalty.
    """
    smoothed = {
        (row, f"σ = {sigma:g}"): Method(normalizer=make(sigma))
        for row, make in SWEPT.items()
        for sigma in SIGMAS
    }
    penalized = {
        (row, f"α = {alpha:g}"): Method(normalizer=make(), alpha=alpha)
        for row, make in SWEPT.items()
        for alpha in ALPHAS
    }
    return smoothed | penalized


def setting_name(column: str) -> str:
    """A column of Figure 6 as a part of the names of its cells, e.g. `"sigma-0.25"`.

    Args:
        column: The column, e.g. `"σ = 0.25"`.
    """
    return column.replace("σ", "sigma").replace("α", "alpha").replace(" = ", "-")


SETTINGS: Final = Table(
    key="ren2017/settings",
    title="Smoothing constants and weights of the L1 penalty on validation images of CIFAR",
    claims=tuple(
        cell(
            "settings",
            row,
            data_set,
            None,
            quick_cnn(
                ImageClasses(data_set=data_set, validation_per_class=per_class),
                method,
                published_recipe(method),
            ),
            column=column,
            regime=VALIDATION,
            setting=setting_name(column),
        )
        for data_set, per_class in (("cifar10", 500), ("cifar100", 50))
        for (row, column), method in swept_methods().items()
    ),
)
