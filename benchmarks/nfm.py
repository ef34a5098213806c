"""A step of a small convolutional network with neural function modules, beside one without.

Run from the root of the checkout:

    python -m benchmarks.nfm            # about a minute
    python -m benchmarks.nfm --quick    # fewer rounds

In every round each contender makes one pass forward and backward on the same images, one after
another in one process of one thread, so that a neighbour on the machine slows all of them alike;
what counts is the median of the rounds' ratios. Processor time is taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from statistics import median
from typing import Any, final

import torch
import tyro
from rich.console import Console
from torch import Tensor, nn

from benchmarks import _pages
from benchmarks._products import flops
from benchmarks._report import bar
from benchmarks._rims_report import ratios
from benchmarks._worker import ROOT
from benchmarks.rims import WARM_UP, seconds_of
from farfield.execution import keep_freed_memory
from farfield.functional import NFMRules
from farfield.nn import MultiPass
from farfield.records import environment

RESULTS = _pages.RESULTS / "nfm"
BATCH, SIDE, WIDTHS, STRIDES, CLASSES = 64, 32, (32, 64, 128), (1, 2, 2), 10
ALONE = "the network alone"
COLUMNS = ("network", "parameters", "GFLOP", "ms", "times the network alone", "range")

Json = Mapping[str, Any]


@final
@dataclass(frozen=True, kw_only=True)
class Options:
    """Options and duration of the measurement.

    Args:
        rounds: Rounds of turns; the medians are over these.
        quick: Three rounds, for a first look.
        beside: What else ran on the machine, for the page; empty for nothing.
        name: Name of the result files; by default date and processor.
    """

    rounds: int = 11
    quick: bool = False
    beside: str = ""
    name: str | None = None


def network() -> nn.Module:
    """Three convolutions of 3×3 with batch normalization and ReLU, and a layer on their mean."""
    inputs = (3, *WIDTHS)
    blocks = [
        nn.Sequential(nn.Conv2d(given, width, 3, stride, 1), nn.BatchNorm2d(width), nn.ReLU())
        for given, width, stride in zip(inputs, WIDTHS, STRIDES, strict=False)
    ]
    ends = (nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(WIDTHS[-1], CLASSES))
    return nn.Sequential(*blocks, *ends)


def in_passes(**options: Any) -> nn.Module:
    """The network with a read at the output of each block."""
    layers = tuple(str(number) for number in range(len(WIDTHS)))
    return MultiPass(network(), layers, WIDTHS, **options)


def networks() -> dict[str, nn.Module]:
    """All contenders, by the names on the page."""
    nearest = replace(NFMRules(), space_to_depth=False)
    return {
        ALONE: network(),
        "one pass": in_passes(passes=1),
        "two passes, as the text has them": in_passes(),
        "two passes, shared weights": in_passes(shared=True),
        "two passes, nearest neighbors": in_passes(rules=nearest),
        "two passes, all entries": in_passes(rules=replace(NFMRules(), top_k=None)),
        "two passes, as released": in_passes(rules=NFMRules.released()),
        "three passes": in_passes(passes=3),
    }


def step(model: nn.Module, images: Tensor) -> None:
    """Forward and backward."""
    model.zero_grad()
    model(images).square().sum().backward()


def measure(contenders: Mapping[str, nn.Module], rounds: int) -> list[Json]:
    """A line for each contender: its size, its operations, and its time in every round.

    Args:
        contenders: Networks by name.
        rounds: Rounds of turns.
    """
    images = torch.randn(BATCH, 3, SIDE, SIDE, generator=torch.Generator().manual_seed(0))
    works = {name: partial(step, model, images) for name, model in contenders.items()}
    samples: dict[str, list[float]] = {name: [] for name in works}
    for number in range(WARM_UP + rounds):
        for name, work in works.items():
            taken = seconds_of(work)
            if number >= WARM_UP:
                samples[name].append(taken)
    return [
        {
            "name": name,
            "parameters": sum(each.numel() for each in contenders[name].parameters()),
            "flops": flops(work),
            "seconds": samples[name],
        }
        for name, work in works.items()
    ]


def cells(line: Json, lines: list[Json]) -> tuple[str, ...]:
    """One row of the table, in the order of `COLUMNS`."""
    (alone,) = (each for each in lines if each["name"] == ALONE)
    times = ratios(line, alone)
    return (
        line["name"],
        f"{line['parameters']:,}",
        f"{1e-9 * line['flops']:.1f}",
        f"{1e3 * median(line['seconds']):.0f}",
        f"{median(times):.1f}",
        f"{min(times):.1f}–{max(times):.1f}",
    )


def markdown(results: Json) -> str:
    """The results as a Markdown page."""
    settings, lines = results["settings"], results["lines"]
    described = ", ".join(f"{name} {value}" for name, value in results["environment"].items())
    compared = (
        f"A pass forward and backward over {settings['batch']} images of {settings['side']}×"
        f"{settings['side']} pixels by three convolutions of {settings['widths']} channels, each "
        "with a read at its output in all passes but the first. All in one process and one "
        f"thread, in turns; medians of {settings['rounds']} rounds of processor time. A ratio is "
        "the median of the rounds' ratios."
    )
    parts = [
        "# Neural function modules",
        "",
        compared,
        *(["", settings["beside"]] if settings["beside"] else []),
        "",
        f"Machine and versions: {described}.",
        "",
        bar(COLUMNS),
        bar("---" for _ in COLUMNS),
        *(bar(cells(line, lines)) for line in lines),
    ]
    return "\n".join(parts) + "\n"


def main(options: Options) -> None:
    """Measure, show it and write it down."""
    torch.set_num_threads(1)
    keep_freed_memory()
    described = environment(device="cpu", engine="one thread, freed memory kept")
    rounds = 3 if options.quick else options.rounds
    results = {
        "environment": described,
        "settings": {
            "rounds": rounds,
            "batch": BATCH,
            "side": SIDE,
            "widths": ", ".join(map(str, WIDTHS)),
            "beside": options.beside,
        },
        "lines": measure(networks(), rounds),
    }
    name = options.name or _pages.name_of_today(described)
    path = _pages.write(results, RESULTS, name, markdown)
    console = Console()
    for line in results["lines"]:
        console.print(" · ".join(cells(line, results["lines"])))
    console.print(f"Written to {path.relative_to(ROOT)} and {path.with_suffix('.md').name}")


if __name__ == "__main__":
    main(tyro.cli(Options))
