"""Neural function modules in a narrow classifier that one core trains in minutes: our own table.

As in `_narrow`: JPEG copies of CIFAR-10 and two epochs stand in for what was published, so no
number is one of the paper's. Keys and values are narrow as the network is; the training is that of
table 2, input mixup with α = 1, and nothing was tuned.
"""

from __future__ import annotations

from typing import Final

from farfield.analysis import Occlusion, RandomAttention
from farfield.experiments import Experiment, ItemNetwork, Recipe, Spec
from farfield.functional.internal import NFMRules
from farfield.models import PreActResNet, PreActResNetNFM
from farfield.nn import Standardize
from farfield.objectives import CropAndFlip, Mixup
from farfield.reproductions._claims import Claim, Table
from farfield.reproductions.lamb2022._mixup import QUARTERS
from farfield.reproductions.lamb2022._narrow import (
    JPEG,
    MEASURED,
    MOMENTUM,
    RULE,
    WIDTH,
)

STEPS: Final = 1_000
"""Two epochs."""
RULES: Final = NFMRules(num_heads=2, key_size=8, value_size=8)
NEAREST: Final = NFMRules(num_heads=2, key_size=8, value_size=8, space_to_depth=False)
NETWORKS: Final[dict[str, Spec]] = {
    "Baseline": Spec(PreActResNet, width=WIDTH),
    "NFM, one pass": Spec(PreActResNetNFM, rules=RULES, passes=1, width=WIDTH),
    "NFM, two passes": Spec(PreActResNetNFM, rules=RULES, width=WIDTH),
    "NFM, two passes, nearest-neighbor rescaling": Spec(
        PreActResNetNFM, rules=NEAREST, width=WIDTH
    ),
}
BOXES: Final = tuple(Occlusion(size=size, of="test") for size in (4, 8, 12, 16, 20))
AT_RANDOM: Final = RandomAttention(of="test")


def _experiment(core: Spec) -> Experiment:
    reads = core.cls is PreActResNetNFM
    return Experiment(
        task=JPEG,
        model=ItemNetwork(core=core, front=Spec(Standardize)),
        recipe=Recipe(
            steps=STEPS, learning_rate=0.1, batch_size=100, optimizer=MOMENTUM, schedule=QUARTERS
        ),
        objective=CropAndFlip(objective=Mixup(alpha=1.0)),
        perturbations=(*BOXES, AT_RANDOM) if reads else BOXES,
    )


NFM_IMAGES_NARROW: Final = Table(
    key="lamb2022/nfm-images-narrow",
    title="Neural function modules on JPEG copies of CIFAR-10, PreActResNet18 of width 8",
    claims=tuple(
        Claim(
            paper="lamb2022",
            table="nfm-images-narrow",
            row=row,
            column=regime,
            published=MEASURED,
            experiment=tested,
            rule=RULE,
            metric="accuracy",
            regime=regime,
            quick=1,
            subject="CIFAR-10, JPEG",
            data="cifar10/cifar-10-jpeg.tar.xz in FARFIELD_DATA",
        )
        for row, core in NETWORKS.items()
        for tested in (_experiment(core),)
        for regime in ("test", *(change.regime.name for change in tested.perturbations))
    ),
)
