"""Sequence layers since 2023 beside `torch.nn.LSTM` of equal parameters, over 512 steps.

Run from the root of the checkout:

    python -m benchmarks.sequences            # some minutes
    python -m benchmarks.sequences --quick    # fewer rounds

Each contender is one block, of the width whose number of parameters is nearest to the LSTM's. In
every round each makes one pass forward and backward on the same inputs, one after another in one
process of one thread, so that a neighbor on the machine slows all of them alike; the result is the
median of the rounds' ratios. Processor time is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from statistics import median
from typing import Any

import torch
import tyro
from torch import nn

from benchmarks import _pages
from benchmarks._report import page_of_table
from benchmarks._rims_report import ratios
from benchmarks._rounds import Options, publish
from benchmarks.recurrent import step
from benchmarks.rims import in_turns
from farfield.nn import MLSTM, SLSTM, GatedDeltaNet, GatedLinearAttention, Mamba

RESULTS = _pages.RESULTS / "sequences"
BATCH, TIME, UNITS = 16, 512, 128
TORCH = "torch.nn.LSTM"
COLUMNS = ("layer", "units", "parameters", "ms", f"times {TORCH}", "range", "goal", "met")

Json = Mapping[str, Any]


def size_of(layer: nn.Module) -> int:
    """Count the parameters of a layer."""
    return sum(parameter.numel() for parameter in layer.parameters())


def of_size(build: Callable[..., nn.Module], size: int) -> nn.Module:
    """Build the layer of a multiple of eight units whose number of parameters is nearest to a size.

    Args:
        build: Class of the layer, with its options.
        size: The size.
    """
    layers = [build(UNITS, units, num_layers=1) for units in range(32, 264, 8)]
    return min(layers, key=lambda layer: abs(size_of(layer) - size))


def contenders() -> dict[str, tuple[nn.Module, float | None]]:
    """Build all contenders with their goals, by the names on the page."""
    lstm = nn.LSTM(UNITS, UNITS)
    size = size_of(lstm)
    attention = partial(GatedLinearAttention, feedforward_size=0)
    delta = partial(GatedDeltaNet, feedforward_size=0)
    return {
        TORCH: (lstm, None),
        "SLSTM": (of_size(SLSTM, size), 3.0),
        "SLSTM, no network behind": (of_size(partial(SLSTM, feedforward_size=0), size), 3.0),
        "MLSTM": (of_size(MLSTM, size), 4.0),
        "GatedLinearAttention": (of_size(GatedLinearAttention, size), 3.0),
        "GatedLinearAttention, no network behind": (of_size(attention, size), 3.0),
        "GatedDeltaNet": (of_size(GatedDeltaNet, size), 3.0),
        "GatedDeltaNet, no network behind": (of_size(delta, size), 3.0),
        "Mamba": (of_size(Mamba, size), None),
        "Mamba, as released": (of_size(partial(Mamba, euler=True), size), None),
    }


def measure(rounds: int) -> list[dict[str, Any]]:
    """Measure a line for each contender: its time in every round.

    Args:
        rounds: Rounds of turns.
    """
    layers = contenders()
    inputs = torch.randn(TIME, BATCH, UNITS, generator=torch.Generator().manual_seed(0))
    works = {name: partial(step, layer, inputs) for name, (layer, _) in layers.items()}
    samples = in_turns(works, rounds)
    return [
        {
            "name": name,
            "units": layer.hidden_size,
            "parameters": size_of(layer),
            "goal": goal,
            "seconds": samples[name],
        }
        for name, (layer, goal) in layers.items()
    ]


def cells(line: Json, lines: list[Json]) -> tuple[str, ...]:
    """Format one row of the table, in the order of `COLUMNS`."""
    (theirs,) = (each for each in lines if each["name"] == TORCH)
    times, goal = ratios(line, theirs), line["goal"]
    met = "–" if goal is None else "yes" if median(times) <= goal else "no"
    return (
        line["name"],
        str(line["units"]),
        f"{line['parameters']:,}",
        f"{1e3 * median(line['seconds']):.0f}",
        f"{median(times):.2f}",
        f"{min(times):.2f}–{max(times):.2f}",
        "–" if goal is None else f"{goal:.0f}",
        met,
    )


def markdown(results: Json) -> str:
    """Write the results as a Markdown page."""
    settings = results["settings"]
    compared = (
        f"A pass forward and backward over {settings['batch']} sequences of {settings['time']} "
        f"steps of {settings['units']} features, one block each. All in one process and one "
        f"thread, in turns; medians of {settings['rounds']} rounds of processor time. A ratio is "
        "the median of the rounds' ratios."
    )
    return page_of_table(results, "Sequence layers since 2023", compared, COLUMNS, cells)


def main(options: Options) -> None:
    """Measure, show it and write it down."""
    settings = {"batch": BATCH, "time": TIME, "units": UNITS}
    publish(options, settings, {"lines": measure}, RESULTS, markdown, cells)


if __name__ == "__main__":
    main(tyro.cli(Options, default=Options(rounds=11)))
