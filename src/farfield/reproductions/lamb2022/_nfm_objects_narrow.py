"""Tables 5 to 7 of chapter 10 of lamb2022 at a size that one core trains in minutes: our own.

Twelve channels at first in place of 24, reads of half the size on the two layers with the smallest
maps, and few updates: no number of these tables is one of the paper's, and networks are far
from what more updates would give. What they can show is the order of networks under one recipe,
which was not tuned.
"""

from __future__ import annotations

import dataclasses
from typing import Final

from farfield.analysis import RandomAttention
from farfield.experiments import Cosine, Experiment, MapNetwork, Passes, Recipe, Spec, Warmup
from farfield.functional.internal import NFMRules
from farfield.models import ConvMaps, RNReader
from farfield.reproductions._claims import Claim, Table
from farfield.reproductions._published import Unpublished
from farfield.reproductions._rule import VerdictRule
from farfield.reproductions.lamb2022._nfm_objects import MNIST, SORTS, digits_name
from farfield.tasks import SortOfCLEVR, StackedMNIST

RULE: Final = VerdictRule()
MEASURED: Final = Unpublished(runs=3, selection="weights of the last step", split="new images")
RECIPE: Final = Recipe(
    steps=2_000,
    learning_rate=2e-3,
    batch_size=64,
    schedule=Warmup(fraction=0.05, then=Cosine()),
)
"""Two epochs of stacked MNIST, and two thirds of one of Sort-of-CLEVR."""

MAPS: Final = Spec(ConvMaps, width=12)
SMALL: Final = NFMRules(key_size=8, value_size=8)
LAYERS: Final = ("layer3", "layer4")
TWICE: Final = Passes(layers=LAYERS, first_reads=True, rules=SMALL)
NETWORKS: Final[dict[str, MapNetwork]] = {
    "CNN": MapNetwork(maps=MAPS),
    "NFM(CNN)": MapNetwork(maps=MAPS, passes=TWICE),
    "NFM(CNN), one pass": MapNetwork(maps=MAPS, passes=dataclasses.replace(TWICE, number=1)),
    "NFM(CNN), three passes": MapNetwork(maps=MAPS, passes=dataclasses.replace(TWICE, number=3)),
    "NFM(CNN), all entries": MapNetwork(
        maps=MAPS,
        passes=dataclasses.replace(TWICE, rules=dataclasses.replace(SMALL, top_k=None)),
    ),
    "Relation networks": MapNetwork(maps=MAPS, reader=Spec(RNReader, hidden_size=64)),
}
"""Networks by their rows."""


def experiment(task: StackedMNIST | SortOfCLEVR, network: str) -> Experiment:
    """A network of these tables; one with function modules is also tested with random attention.

    Args:
        task: Its task.
        network: Its row.
    """
    model = NETWORKS[network]
    tests = tuple(RandomAttention(of=regime.name) for regime in task.regimes[1:])
    return Experiment(
        task=task, model=model, recipe=RECIPE, perturbations=tests if model.passes else ()
    )


def _digits(digits: tuple[int, int], network: str, count: int, *, drawn: bool = False) -> Claim:
    """A cell on stacked MNIST, with random attention or without."""
    trained = ", ".join(map(str, digits))
    regime = f"digits-{count}"
    return Claim(
        paper="lamb2022",
        table="nfm-digits-narrow",
        row=f"{network}, random attention" if drawn else network,
        column=digits_name(count),
        published=MEASURED,
        experiment=experiment(StackedMNIST(digits=digits, test_images=2_000), network),
        rule=RULE,
        metric="accuracy",
        regime=f"random-attention-{regime}" if drawn else regime,
        quick=1,
        subject=f"Stacked MNIST, trained on ({trained})",
        group=f"trained-{'-'.join(map(str, digits))}",
        data=MNIST,
    )


NFM_DIGITS_NARROW: Final = Table(
    key="lamb2022/nfm-digits-narrow",
    title="Stacked MNIST with more and fewer digits, networks of width 12, 2,000 updates",
    claims=tuple(
        _digits(digits, network, count, drawn=drawn)
        for digits in ((1, 3), (1, 5))
        for network, drawn in (
            ("CNN", False),
            ("NFM(CNN)", False),
            ("NFM(CNN)", True),
            ("Relation networks", False),
        )
        for count in StackedMNIST().test_digits
    ),
)


def _clevr(network: str, sort: str, withheld: int, *, drawn: bool = False) -> Claim:
    """A cell on Sort-of-CLEVR, with random attention or without."""
    regime = f"withheld-pairs-{withheld}" if withheld else "new-images"
    questions = f"{sort.capitalize()} qst"
    return Claim(
        paper="lamb2022",
        table="nfm-clevr-narrow",
        row=f"{network}, random attention" if drawn else network,
        column=f"N = {withheld}: {questions}" if withheld else questions,
        published=MEASURED,
        experiment=experiment(SortOfCLEVR(withheld_pairs=withheld), network),
        rule=RULE,
        metric=f"accuracy/{sort}",
        regime=f"random-attention-{regime}" if drawn else regime,
        quick=1,
        subject="Sort-of-CLEVR",
        group=sort,
    )


PLAIN_ONLY: Final = ("NFM(CNN), one pass", "NFM(CNN), three passes", "NFM(CNN), all entries")
"""Rows without withheld pairs, as in section 10.4.7."""

NFM_CLEVR_NARROW: Final = Table(
    key="lamb2022/nfm-clevr-narrow",
    title="Sort-of-CLEVR, also without pairs in training, networks of width 12, 2,000 updates",
    claims=tuple(
        _clevr(network, sort, withheld, drawn=drawn)
        for sort in SORTS
        for withheld in (0, 1, 2, 3)
        for network, drawn in (
            ("CNN", False),
            ("NFM(CNN)", False),
            ("NFM(CNN)", True),
            ("Relation networks", False),
            *((row, False) for row in PLAIN_ONLY if not withheld),
        )
    ),
)
