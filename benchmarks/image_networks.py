"""Steps of the small network of ren2017 with each normalizer, and with batch norm.

Run from the root of the checkout:

    python -m benchmarks.image_networks            # about a minute
    python -m benchmarks.image_networks --quick    # fewer rounds

The network classifies images of 32×32 in color, 100 at a time. In every round each normalizer makes
one step, one after another in one process of one thread, so that a neighbor on the machine slows
all of them alike; the result is the median of the rounds' ratios. Processor time is taken, which a
neighbor does not lengthen by its own.
"""

from __future__ import annotations

from typing import Final

import tyro

from benchmarks import _image_networks_report as report
from benchmarks import _pages
from benchmarks._rounds import Options, publish
from benchmarks.mixing import BATCH, SIDE, Images, Step, measure
from farfield.experiments import SGD, Experiment, ItemNetwork, Recipe, Spec
from farfield.models import QuickCNN
from farfield.nn import MapNormalizer
from farfield.objectives import CenteredL1, Objective, Supervised
from farfield.training.internal import OneNetwork

RESULTS = _pages.RESULTS / "image_networks"
STEPS: Final = 10**6
"""Number in a run, some of which are measured."""

BATCH_NORM: Final = MapNormalizer(field="batch", affine=True)
LAYER_NORM: Final = MapNormalizer(field="layer", sigma=0.5)
DIVISIVE: Final = MapNormalizer(field="window", sigma=0.5)
METHODS: Final[dict[str, tuple[MapNormalizer | None, Objective]]] = {
    report.NONE: (None, Supervised()),
    report.BATCH: (BATCH_NORM, Supervised()),
    report.LAYER: (LAYER_NORM, Supervised()),
    report.DIVISIVE: (DIVISIVE, Supervised()),
    report.BATCH + report.PENALIZED: (BATCH_NORM, CenteredL1()),
    report.LAYER + report.PENALIZED: (LAYER_NORM, CenteredL1()),
    report.DIVISIVE + report.PENALIZED: (DIVISIVE, CenteredL1()),
}


def steps() -> dict[str, Step]:
    """Build a step of each method, by the names on the page."""
    return {name: _step(*method) for name, method in METHODS.items()}


def _step(normalizer: MapNormalizer | None, rule: Objective) -> Step:
    """Build the function from a number to that step of the library."""
    experiment = Experiment(
        task=Images(),
        model=ItemNetwork(core=Spec(QuickCNN, normalizer=normalizer)),
        objective=rule,
        recipe=Recipe(
            steps=STEPS, learning_rate=1e-3, batch_size=BATCH, optimizer=SGD(momentum=0.9)
        ),
    )
    return OneNetwork(experiment, 0).update


def main(options: Options) -> None:
    """Measure, show it and write it down."""
    settings = {"batch": BATCH, "side": SIDE}
    parts = {"lines": lambda rounds: measure(steps(), rounds)}
    publish(options, settings, parts, RESULTS, report.markdown, report.cells)


if __name__ == "__main__":
    main(tyro.cli(Options, default=Options(rounds=21)))
