"""A step of PreActResNet18 with neural function modules, beside one without.

Run from the root of the checkout:

    python -m benchmarks.nfm            # some minutes
    python -m benchmarks.nfm --quick    # fewer rounds

In every round each contender makes one pass forward and backward on the same images, one after
another in one process of one thread, so that a neighbor on the machine slows all of them alike;
the result is the median of the rounds' ratios. Processor time is taken. Memory is the most that
tensors of a step hold at once: maps and gradients, and the weights with their momentum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import accumulate
from statistics import median
from typing import Any

import torch
import tyro
from torch import Tensor, nn
from torch.profiler import ProfilerActivity, profile

from benchmarks import _pages
from benchmarks._products import flops
from benchmarks._report import page_of_table
from benchmarks._rims_report import ratios
from benchmarks._rounds import Options, publish
from benchmarks.rims import in_turns
from benchmarks.straightforward_nfm import DirectPasses
from farfield.functional.internal import NFMRules
from farfield.models import PreActResNet
from farfield.nn import MultiPass

RESULTS = _pages.RESULTS / "nfm"
BATCH, SIDE, WIDTH, CLASSES = 16, 32, 64, 10
GROUPS = ("group1", "group2", "group3", "group4")
ALONE = "the network alone"
COLUMNS = (
    "network",
    "parameters",
    "GFLOP",
    "ms",
    "times the network alone",
    "range",
    "MB",
    "times its memory",
)

Json = Mapping[str, Any]


def network() -> nn.Module:
    """Build a PreActResNet18."""
    return PreActResNet((3, SIDE, SIDE), CLASSES, width=WIDTH)


def in_passes(**options: Any) -> MultiPass:
    """Build the network with a read at the output of each group of blocks."""
    widths = tuple(WIDTH * 2**number for number in range(len(GROUPS)))
    return MultiPass(network(), GROUPS, widths, **options)


def networks() -> dict[str, nn.Module]:
    """Build all contenders, by the names on the page."""
    released = NFMRules.released()
    small = replace(released, kernel_size=1)
    nearest = replace(NFMRules(), space_to_depth=False)
    return {
        ALONE: network(),
        "one pass": in_passes(passes=1),
        "one pass, nearest neighbors": in_passes(passes=1, rules=nearest),
        "one pass, as released": in_passes(passes=1, rules=released),
        "one pass, as released, by loops": DirectPasses(in_passes(passes=1, rules=released)),
        "one pass, as released except kernels of 1×1": in_passes(passes=1, rules=small),
        "the same by loops": DirectPasses(in_passes(passes=1, rules=small)),
        "two passes": in_passes(),
        "two passes, nearest neighbors": in_passes(rules=nearest),
        "two passes, as released": in_passes(rules=released),
        "two passes, as released, by loops": DirectPasses(in_passes(rules=released)),
    }


def step(model: nn.Module, images: Tensor) -> None:
    """Forward and backward."""
    model.zero_grad()
    model(images).square().sum().backward()


def peak_bytes(work: Callable[[], object]) -> int:
    """Measure the peak memory of a function above the memory before it.

    Args:
        work: The work, which has run before.
    """
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled:
        work()
    results: Any = profiled.profiler
    events = [each for each in results.kineto_results.events() if each.name() == "[memory]"]
    changes = (each.nbytes() for each in sorted(events, key=lambda each: each.start_ns()))
    return max(accumulate(changes), default=0)


def memory_of(model: nn.Module, images: Tensor) -> int:
    """Measure the peak memory of a step, with the weights and their momentum.

    Args:
        model: The network.
        images: Training images.
    """
    step(model, images)
    model.zero_grad()
    weights = sum(each.numel() * each.element_size() for each in model.parameters())
    return 2 * weights + peak_bytes(partial(step, model, images))


def measure(contenders: Mapping[str, nn.Module], rounds: int) -> list[Json]:
    """Measure a line for each contender: its size, its operations, and its time in every round.

    Args:
        contenders: Networks by name.
        rounds: Rounds of turns.
    """
    images = torch.randn(BATCH, 3, SIDE, SIDE, generator=torch.Generator().manual_seed(0))
    works = {name: partial(step, model, images) for name, model in contenders.items()}
    samples = in_turns(works, rounds)
    return [
        {
            "name": name,
            "parameters": sum(each.numel() for each in contenders[name].parameters()),
            "flops": flops(work),
            "bytes": memory_of(contenders[name], images),
            "seconds": samples[name],
        }
        for name, work in works.items()
    ]


def cells(line: Json, lines: list[Json]) -> tuple[str, ...]:
    """Format one row of the table, in the order of `COLUMNS`."""
    (alone,) = (each for each in lines if each["name"] == ALONE)
    times = ratios(line, alone)
    return (
        line["name"],
        f"{line['parameters']:,}",
        f"{1e-9 * line['flops']:.1f}",
        f"{1e3 * median(line['seconds']):.0f}",
        f"{median(times):.2f}",
        f"{min(times):.2f}–{max(times):.2f}",
        f"{1e-6 * line['bytes']:.0f}",
        f"{line['bytes'] / alone['bytes']:.2f}",
    )


def markdown(results: Json) -> str:
    """Write the results as a Markdown page."""
    settings = results["settings"]
    compared = (
        f"A pass forward and backward of PreActResNet18 of width {settings['width']} over "
        f"{settings['batch']} images of {settings['side']}×{settings['side']} pixels, with a read "
        "after each of its four groups of blocks: in one pass, or in the second of two. By loops "
        "is the released code written directly. All in one process and one thread, in turns; "
        f"medians of {settings['rounds']} rounds of processor time. A ratio is the median of the "
        "rounds' ratios. Memory is the most that a step holds at once, weights and momentum with "
        "it."
    )
    return page_of_table(results, "Neural function modules", compared, COLUMNS, cells)


def main(options: Options) -> None:
    """Measure, show it and write it down."""
    settings = {"batch": BATCH, "side": SIDE, "width": WIDTH}
    parts = {"lines": lambda rounds: measure(networks(), rounds)}
    publish(options, settings, parts, RESULTS, markdown, cells)


if __name__ == "__main__":
    main(tyro.cli(Options))
