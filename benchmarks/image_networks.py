"""Steps of the small network of ren2017 with each normalizer, beside those with batch norm.

Run from the root of the checkout:

    python -m benchmarks.image_networks            # about a minute
    python -m benchmarks.image_networks --quick    # fewer rounds

The network classifies images of 32×32 in color, 100 at a time. In every round each normalizer makes
one step, one after another in one process of one thread, so that a neighbour on the machine slows
all of them alike; what counts is the median of the rounds' ratios. Processor time is taken, which a
neighbour does not lengthen by its own.
"""

from __future__ import annotations

from typing import Any, Final

import torch
import tyro
from rich.console import Console

from benchmarks import _image_networks_report as report
from benchmarks import _pages
from benchmarks._options import Options
from benchmarks._worker import ROOT
from benchmarks.mixing import BATCH, SIDE, Images, Step, measure
from farfield.execution import keep_freed_memory
from farfield.experiments import SGD, Experiment, ItemNetwork, Recipe, Spec
from farfield.models import QuickCNN
from farfield.nn import MapNormalizer
from farfield.objectives import CenteredL1, Objective, Supervised
from farfield.records import environment
from farfield.training import OneNetwork

RESULTS = _pages.RESULTS / "image_networks"
STEPS: Final = 10**6
"""Of a run, of which some are measured."""

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
    """A step of each method, by the names on the page."""
    return {name: _step(*method) for name, method in METHODS.items()}


def _step(normalizer: MapNormalizer | None, rule: Objective) -> Step:
    """Function of a number to that step of the library."""
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
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    keep_freed_memory()
    described = environment(device="cpu", engine="one thread, freed memory kept")
    rounds = 3 if options.quick else options.rounds
    results: dict[str, Any] = {
        "environment": described,
        "settings": {"rounds": rounds, "batch": BATCH, "side": SIDE, "beside": options.beside},
        "lines": measure(steps(), rounds),
    }
    name = options.name or _pages.name_of_today(described)
    path = _pages.write(results, RESULTS, name, report.markdown)
    console = Console()
    for line in results["lines"]:
        console.print(" · ".join(report.cells(line, results["lines"])))
    console.print(f"Written to {path.relative_to(ROOT)} and {path.with_suffix('.md').name}")


if __name__ == "__main__":
    main(tyro.cli(Options, default=Options(rounds=21)))
