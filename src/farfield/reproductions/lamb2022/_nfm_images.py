"""Neural function modules in classifiers of images: tables 2 and 9 of chapter 10 of lamb2022.

The training is that of chapter 4, as its caption says: input mixup with α = 1 for 1,200 epochs. Two
passes, and what section 10.4.4 does not say about a read from section 10.4.2: four heads with keys
and values of 16. Neither says how many networks are behind a number, which are taken for the five
of chapter 4, nor where in the network reads are; here they are after its four groups of blocks, as
in the released code.
"""

from __future__ import annotations

from typing import Any, Final

from farfield.analysis import Occlusion, RandomAttention
from farfield.experiments import Experiment, Perturbation, Spec
from farfield.functional.internal import NFMRules
from farfield.models import PreActResNet, PreActResNetNFM
from farfield.objectives import Mixup
from farfield.reproductions._claims import Claim, Table
from farfield.reproductions._rule import VerdictRule
from farfield.reproductions._unbuilt import Unbuilt
from farfield.reproductions.lamb2022 import _print_nfm_images as printed
from farfield.reproductions.lamb2022._mixup import QUICK, SELECTION, experiment, number_of
from farfield.reproductions.lamb2022._print_mixup import RUNS, Number

RULE: Final = VerdictRule()
RULES: Final = NFMRules()
COLUMNS: Final = ("Baseline", "NFM")
DATA_SETS: Final = {
    "CIFAR-10": "cifar10",
    "CIFAR-100": "cifar100",
    "Tiny-Imagenet": "tiny-imagenet",
}
BOX: Final = Occlusion(size=16, of="test")
AT_RANDOM: Final = RandomAttention(of="test")


def network(data_set: str, depth: int, column: str, rules: NFMRules = RULES) -> Spec:
    """The network of a column.

    Args:
        data_set: Name of the images.
        depth: Number of layers.
        column: `"Baseline"` or `"NFM"`.
        rules: The options of its reads.
    """
    options: dict[str, Any] = {"depth": depth}
    if data_set == "tiny-imagenet":
        options["stem_stride"] = 2
    if column == "Baseline":
        return Spec(PreActResNet, **options)
    return Spec(PreActResNetNFM, rules=rules, **options)


def trained(images: str, depth: int, column: str, rules: NFMRules = RULES) -> Experiment:
    """An experiment of the chapter.

    Args:
        images: The images, as published.
        depth: Number of layers.
        column: `"Baseline"` or `"NFM"`.
        rules: The options of reads.
    """
    if images not in DATA_SETS:
        core = Spec(Unbuilt, model=f"{column} on {images}")
        return experiment("tiny-imagenet", core, Mixup(alpha=1.0))
    data_set, changes = DATA_SETS[images], list[Perturbation]()
    if (images, depth) == ("CIFAR-10", 18):
        changes = [BOX] if column == "Baseline" else [BOX, AT_RANDOM]
    core = network(data_set, depth, column, rules)
    return experiment(data_set, core, Mixup(alpha=1.0), perturbations=tuple(changes))


def _claim(
    table: str,
    row: str,
    column: str,
    number: Number,
    tested: Experiment,
    *,
    images: str = "CIFAR-10",
    regime: str = "test",
    group: str = "",
) -> Claim:
    model: Any = tested.model
    runs = 1 if number[1] is None else RUNS
    return Claim(
        paper="lamb2022",
        table=f"nfm-{table}",
        row=row,
        column=column,
        published=number_of(
            number,
            runs,
            SELECTION,
            f"test images of {images}",
            "percent",
            kind_said=False,
            runs_said=False,
        ),
        experiment=tested,
        rule=RULE,
        metric="accuracy",
        regime=regime,
        quick=QUICK,
        subject=images,
        group=group,
        data=f"{images} as published and whole, in FARFIELD_DATA",
        unbuilt=model.core.cls is Unbuilt,
    )


NFM_TABLE_2: Final = Table(
    key="lamb2022/nfm-table-2",
    title="Neural function modules in classifiers of images",
    claims=tuple(
        _claim(
            "table-2",
            f"{images}, {base}",
            column,
            number,
            trained(images, int(base[-2:]), column),
            images=images,
            group=column.lower(),
        )
        for (images, base), numbers in printed.TABLE_2.items()
        for column, number in zip(COLUMNS, numbers, strict=True)
    ),
)

NFM_TABLE_9: Final = Table(
    key="lamb2022/nfm-table-9",
    title="Sizes of neural function modules, PreActResNet34 on CIFAR-100",
    claims=(
        _claim(
            "table-9",
            "Baseline",
            "Test accuracy",
            (printed.BASELINE_9, None),
            trained("CIFAR-100", 34, "Baseline"),
            images="CIFAR-100",
        ),
        *(
            _claim(
                "table-9",
                f"{heads} heads, top-{top_k}, dk = {keys}, dv = {values}",
                "Test accuracy",
                (mean, None),
                trained(
                    "CIFAR-100",
                    34,
                    "NFM",
                    NFMRules(num_heads=heads, top_k=top_k, key_size=keys, value_size=values),
                ),
                images="CIFAR-100",
            )
            for (heads, top_k, keys, values), mean in printed.TABLE_9.items()
        ),
    ),
)

NFM_TEXT_IMAGES: Final = Table(
    key="lamb2022/nfm-text-images",
    title="Attention at random, occlusion and rescaling, PreActResNet18 on CIFAR-10",
    claims=(
        *(
            _claim("text-images", row, regime, (mean, None), tested, regime=regime)
            for row, regime, mean, tested in (
                ("NFM", "test", printed.RANDOM_ATTENTION[0], trained("CIFAR-10", 18, "NFM")),
                (
                    "NFM",
                    AT_RANDOM.regime.name,
                    printed.RANDOM_ATTENTION[1],
                    trained("CIFAR-10", 18, "NFM"),
                ),
                *(
                    (column, BOX.regime.name, mean, trained("CIFAR-10", 18, column))
                    for column, mean in zip(COLUMNS, printed.OCCLUDED, strict=True)
                ),
                (
                    "NFM, nearest-neighbor rescaling",
                    "test",
                    printed.NEAREST[1],
                    trained("CIFAR-10", 18, "NFM", NFMRules(space_to_depth=False)),
                ),
            )
        ),
    ),
)
