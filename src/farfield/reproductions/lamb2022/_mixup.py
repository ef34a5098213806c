"""Tables 1 to 7 of chapter 4 of lamb2022, Manifold Mixup, and the errors of its section 4.5.1.

What the text leaves open is taken from the released code: Nesterov momentum, batches of 100, a loss
of binary cross-entropies of the softmax for every regularizer, a learning rate that is divided by
ten at a quarter, a half and three quarters of the run (of Wide ResNets and on Tiny-ImageNet, at a
half and at three quarters), and a border of 2 pixels around images to be cropped, of 4 on
Tiny-ImageNet. The released code reports the best test accuracy over all epochs; here it is that of
the last step. Neither says how large the step of the fast gradient sign method is: 8/255 of full
intensity here, as in Madry et al. 2018, whose numbers Table 7 quotes.
"""

from __future__ import annotations

from typing import Any, Final

from farfield.analysis import FGSM, Rotation, Shear, Zoom
from farfield.experiments import SGD, Experiment, ItemNetwork, Perturbation, Recipe, Spec, Steps
from farfield.models import PreActResNet, WideResNet
from farfield.nn import Standardize
from farfield.objectives import CropAndFlip, Cutout, ManifoldMixup, Mixup, Objective, Supervised
from farfield.reproductions._claims import Claim, Table
from farfield.reproductions._published import Published
from farfield.reproductions._rule import VerdictRule
from farfield.reproductions._unbuilt import Unbuilt
from farfield.reproductions.lamb2022 import _print_mixup as published
from farfield.reproductions.lamb2022._print_mixup import (
    INPUT_MIXUP,
    MANIFOLD_MIXUP,
    Number,
)
from farfield.tasks import ImageClasses

BATCH_SIZE: Final = 100
EPOCH: Final = {"cifar10": 500, "cifar100": 500, "svhn": 733, "tiny-imagenet": 1_000}
"""Updates of an epoch: all training images in batches of 100."""
EPOCHS: Final = 1_200
"""Of residual networks in Table 1 (section 4.5.1)."""
EPOCHS_SENSITIVITY: Final = 2_000
"""Of Tables 5 and 6 (section 4.5.1), and of Tiny-ImageNet in the released commands."""
EPOCHS_REGULARIZERS: Final = 600
EPOCHS_WIDE: Final = 400
"""Of Wide ResNets in the released commands."""
QUARTERS: Final = Steps(factors=((0.25, 0.1), (0.5, 0.01), (0.75, 0.001)))
HALVES: Final = Steps(factors=((0.5, 0.1), (0.75, 0.01)))
QUICK: Final = 1 / 10_000
"""Fraction of the steps in the quick budget: sixty updates of twelve hundred epochs."""

LAYERS: Final = ("input", "core.group1", "core.group2", "core.group3")
"""Layers by their numbers in Table 5: the input, then the groups of residual blocks."""
ELIGIBLE: Final = LAYERS[:3]
ALPHA: Final = {INPUT_MIXUP: 1.0, MANIFOLD_MIXUP: 2.0}
NAMES: Final = {
    "cifar10": "CIFAR-10",
    "cifar100": "CIFAR-100",
    "svhn": "SVHN",
    "tiny-imagenet": "Tiny-ImageNet",
}
NETWORKS: Final = {
    "PreActResNet18": Spec(PreActResNet),
    "PreActResNet34": Spec(PreActResNet, depth=34),
    "WRN-28-10": Spec(WideResNet),
}
DEFORMATIONS: Final[tuple[Perturbation, ...]] = (
    Rotation(degrees=20.0, of="test"),
    Rotation(degrees=40.0, of="test"),
    Shear(degrees=28.6, of="test"),
    Shear(degrees=57.3, of="test"),
    Zoom(scale=0.6, of="test"),
    Zoom(scale=0.8, of="test"),
    Zoom(scale=1.2, of="test"),
    Zoom(scale=1.4, of="test"),
)
"""Rows of Table 4."""
ATTACK: Final = FGSM(eps=8 / 255, of="test")

RULE: Final = VerdictRule()
NLL_RULE: Final = VerdictRule(margin=0.01, widest=0.1)
SELECTION: Final = "weights of the last step; published: the best test accuracy over epochs"


def regularized(row: str, alpha: float | None = None) -> Objective:
    """The learning rule of a row.

    Args:
        row: The row, e.g. `"Manifold Mixup"`.
        alpha: Parameter of the Beta distribution; `None` for that of Table 1.
    """
    if row.startswith(INPUT_MIXUP):
        return Mixup(alpha=alpha or ALPHA[INPUT_MIXUP])
    if row == MANIFOLD_MIXUP:
        return ManifoldMixup(layers=ELIGIBLE, alpha=alpha or ALPHA[MANIFOLD_MIXUP])
    return Cutout(layer="front") if row == "Cutout" else Supervised()


def experiment(
    data_set: str,
    core: Spec,
    objective: Objective,
    *,
    epochs: int = EPOCHS,
    perturbations: tuple[Perturbation, ...] = (),
) -> Experiment:
    """An experiment of the chapter: augmented images, momentum, a learning rate in steps.

    Args:
        data_set: Name of the images.
        core: The network.
        objective: The learning rule.
        epochs: Epochs of a network that is not wide.
        perturbations: Regimes made from the trained network.
    """
    is_wide = core.cls is WideResNet
    halves = is_wide or data_set == "tiny-imagenet"
    return Experiment(
        task=ImageClasses(data_set=data_set, binary_cross_entropy=True),
        model=ItemNetwork(core=core, front=Spec(Standardize)),
        objective=CropAndFlip(
            objective=objective,
            padding=4 if data_set == "tiny-imagenet" else 2,
            flip=data_set != "svhn",
        ),
        recipe=Recipe(
            steps=(EPOCHS_WIDE if is_wide else epochs) * EPOCH[data_set],
            learning_rate=0.1,
            batch_size=BATCH_SIZE,
            optimizer=SGD(momentum=0.9, nesterov=True, weight_decay=1e-4),
            schedule=HALVES if halves else QUARTERS,
        ),
        perturbations=perturbations,
    )


def quoted(data_set: str, model: str) -> Experiment:
    """A row that is taken over from another paper, whose method is not built here.

    Args:
        data_set: Name of the images.
        model: The row.
    """
    return experiment(data_set, Spec(Unbuilt, model=model), Supervised())


def number_of(
    number: Number,
    runs: int,
    selection: str,
    split: str,
    unit: Any,
    *,
    kind_said: bool,
    runs_said: bool,
) -> Published:
    """A published number with its published digits.

    Args:
        number: Mean and spread.
        runs: Networks behind it.
        selection: Which weights were scored.
        split: Which problems they were scored on.
        unit: Unit of the number.
        kind_said: Whether the text says that the spread is a standard deviation.
        runs_said: Whether the text says how many networks there are.
    """
    mean, spread = number
    mean_digits, spread_digits = (len((text or "").partition(".")[2]) for text in number)
    return Published(
        mean=float(mean),
        spread=None if spread is None else float(spread),
        spread_kind="standard deviation" if kind_said else "not said",
        runs=runs,
        decimals=(mean_digits, spread_digits),
        unit=unit,
        selection=selection,
        split=split,
        runs_assumed=not runs_said,
    )


def _claim(
    table: str,
    row: str,
    column: str,
    number: Number,
    tested: Experiment,
    *,
    metric: str = "accuracy",
    regime: str = "test",
    group: str = "",
) -> Claim:
    """A cell of the chapter."""
    task: Any = tested.task
    model: Any = tested.model
    images = NAMES[task.data_set]
    is_nll = metric == "nll"
    return Claim(
        paper="lamb2022",
        table=f"mixup-{table}",
        row=row,
        column=column,
        published=number_of(
            number,
            1 if number[1] is None else published.RUNS,
            SELECTION,
            f"test images of {images}",
            "fraction" if is_nll else "percent",
            kind_said=table in published.WITH_KIND,
            runs_said=table in published.WITH_RUNS and number[1] is not None,
        ),
        experiment=tested,
        rule=NLL_RULE if is_nll else RULE,
        metric=metric,
        regime=regime,
        quick=QUICK,
        subject=images,
        group=group,
        data=f"{images} as published and whole, in FARFIELD_DATA",
        unbuilt=model.core.cls is Unbuilt,
    )


def _table_of_errors(
    table: str, title: str, data_set: str, rows: dict[str, dict[str, tuple[Number, Number | None]]]
) -> Table:
    """Table 1a, 1b or 2: error and negative log-likelihood of each network and regularizer."""
    return Table(
        key=f"lamb2022/mixup-{table}",
        title=title,
        claims=tuple(
            _claim(
                table,
                f"{network}, {row}",
                {"error": "Test error", "nll": "Test NLL"}[metric],
                number,
                quoted(data_set, row)
                if row == "AdaMix"
                else experiment(data_set, NETWORKS[network], regularized(row)),
                metric=metric,
                group=metric,
            )
            for network, regularizers in rows.items()
            for row, numbers in regularizers.items()
            for metric, number in zip(("error", "nll"), numbers, strict=True)
            if number is not None
        ),
    )


MIXUP_TABLE_1A: Final = _table_of_errors(
    "table-1a", "Manifold Mixup on CIFAR-10", "cifar10", published.TABLE_1A
)
MIXUP_TABLE_1B: Final = _table_of_errors(
    "table-1b", "Manifold Mixup on CIFAR-100", "cifar100", published.TABLE_1B
)
MIXUP_TABLE_2: Final = _table_of_errors(
    "table-2", "Manifold Mixup on SVHN", "svhn", published.TABLE_2
)


def _with_alpha(row: str, alpha: float | None) -> str:
    return row if alpha is None else f"{row} (α = {alpha:g})"


MIXUP_TABLE_3: Final = Table(
    key="lamb2022/mixup-table-3",
    title="Manifold Mixup on Tiny-ImageNet",
    claims=tuple(
        _claim(
            "table-3",
            _with_alpha(row, alpha),
            column,
            (mean, None),
            experiment(
                "tiny-imagenet",
                Spec(PreActResNet, stem_stride=2),
                regularized(row, alpha),
                epochs=EPOCHS_SENSITIVITY,
            ),
            metric={"top-1": "accuracy", "top-5": "top-5"}[column],
            group=column,
        )
        for (row, alpha), means in published.TABLE_3.items()
        for column, mean in zip(("top-1", "top-5"), means, strict=True)
    ),
)

MIXUP_TABLE_4: Final = Table(
    key="lamb2022/mixup-table-4",
    title="Manifold Mixup under deformations never met",
    claims=tuple(
        _claim(
            "table-4",
            _with_alpha(row, alpha),
            column,
            (mean, None),
            experiment(
                "cifar100",
                NETWORKS["PreActResNet34"],
                regularized(row, alpha),
                perturbations=DEFORMATIONS,
            ),
            regime=change.regime.name,
        )
        for (column, means), change in zip(published.TABLE_4.items(), DEFORMATIONS, strict=True)
        for (row, alpha), mean in zip(published.COLUMNS_4, means, strict=True)
    ),
)

MIXUP_TABLE_5: Final = Table(
    key="lamb2022/mixup-table-5",
    title="Eligible layers of Manifold Mixup",
    claims=tuple(
        _claim(
            "table-5",
            f"S = {{{', '.join(map(str, layers))}}}",
            NAMES[data_set],
            (mean, None),
            experiment(
                data_set,
                NETWORKS["PreActResNet18"],
                ManifoldMixup(layers=tuple(LAYERS[k] for k in layers)) if layers else Supervised(),
                epochs=EPOCHS_SENSITIVITY,
            ),
            group=data_set,
        )
        for layers, means in published.TABLE_5.items()
        for data_set, mean in zip(("cifar10", "cifar100"), means, strict=True)
    ),
)

MIXUP_TABLE_6: Final = Table(
    key="lamb2022/mixup-table-6",
    title="Parameter of the Beta distribution of Input Mixup and Manifold Mixup",
    claims=tuple(
        _claim(
            "table-6",
            _with_alpha(row, alpha),
            "CIFAR-10",
            (mean, None),
            experiment(
                "cifar10",
                NETWORKS["PreActResNet18"],
                regularized(row, alpha),
                epochs=EPOCHS_SENSITIVITY,
            ),
        )
        for alpha, means in published.TABLE_6.items()
        for row, mean in zip((INPUT_MIXUP, MANIFOLD_MIXUP), means, strict=True)
    ),
)

MIXUP_TABLE_7: Final = Table(
    key="lamb2022/mixup-table-7",
    title="Manifold Mixup under the fast gradient sign method",
    claims=tuple(
        _claim(
            "table-7",
            row,
            f"{NAMES[data_set]} FGSM",
            (mean, None),
            quoted(data_set, row)
            if row == "PGD training"
            else experiment(
                data_set,
                Spec(WideResNet, depth=20) if data_set == "svhn" else NETWORKS["PreActResNet18"],
                regularized(row),
                perturbations=(ATTACK,),
            ),
            regime="test" if row == "PGD training" else ATTACK.regime.name,
            group=data_set,
        )
        for data_set, means in published.TABLE_7.items()
        for row, mean in means.items()
    ),
)

REGULARIZER_CORES: Final = {"Dropout": Spec(PreActResNet, depth=50, dropout=0.1)}

MIXUP_TEXT: Final = Table(
    key="lamb2022/mixup-text",
    title="Errors of section 4.5.1 on CIFAR-10",
    claims=(
        _claim(
            "text",
            "Manifold Mixup, zeroed gradients",
            "Test error",
            (published.ZEROED, None),
            experiment(
                "cifar10",
                NETWORKS["PreActResNet18"],
                ManifoldMixup(layers=ELIGIBLE, stop_gradient=True),
            ),
            metric="error",
        ),
        *(
            _claim(
                "text",
                f"PreActResNet50, {row}",
                "Test error, 600 epochs",
                number,
                experiment(
                    "cifar10",
                    REGULARIZER_CORES.get(row, Spec(PreActResNet, depth=50)),
                    regularized(row),
                    epochs=EPOCHS_REGULARIZERS,
                ),
                metric="error",
            )
            for row, number in published.REGULARIZERS.items()
        ),
    ),
)
"""Probability of dropping and number of runs are not said."""
