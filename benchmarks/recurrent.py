"""Recurrent layers with divisive normalization, beside `torch.nn.LSTM`.

Run from the root of the checkout:

    python -m benchmarks.recurrent            # about a minute
    python -m benchmarks.recurrent --quick    # fewer rounds

In every round each contender makes one pass forward and backward on the same inputs, one after
another in one process of one thread, so that a neighbor on the machine slows all of them alike;
the result is the median of the rounds' ratios. Processor time is taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from statistics import median
from typing import Any

import torch
import tyro
from torch import Tensor, nn

from benchmarks import _pages
from benchmarks._report import page_of_table
from benchmarks._rims_report import ratios
from benchmarks._rounds import Options, publish
from benchmarks.rims import in_turns
from farfield.nn import DivisiveNorm1d, LayerNorm, NormalizedLSTM

RESULTS = _pages.RESULTS / "recurrent"
BATCH, TIME, UNITS, LAYERS, WINDOW = 20, 20, 200, 2, 61
TORCH = "torch.nn.LSTM"
COLUMNS = ("layers", "ms", "times torch.nn.LSTM", "range")

Json = Mapping[str, Any]


def contenders() -> dict[str, nn.Module]:
    """Build all contenders, by the names on the page."""
    normalized = partial(NormalizedLSTM, UNITS, UNITS, LAYERS)
    divisive = partial(DivisiveNorm1d, window=WINDOW)
    return {
        TORCH: nn.LSTM(UNITS, UNITS, LAYERS),
        "NormalizedLSTM without normalizers": normalized(),
        "layer normalization": normalized(normalizer=partial(LayerNorm, sigma=1.0, affine=False)),
        "divisive normalization": normalized(normalizer=divisive),
        "divisive normalization, step by step": normalized(
            normalizer=partial(divisive, affine=True)
        ),
    }


def step(layers: nn.Module, inputs: Tensor) -> None:
    """Forward and backward."""
    layers.zero_grad()
    layers(inputs)[0].square().sum().backward()


def measure(modules: Mapping[str, nn.Module], rounds: int) -> list[Json]:
    """Measure a line for each contender: its time in every round.

    Args:
        modules: Layers by name.
        rounds: Rounds of turns.
    """
    inputs = torch.randn(TIME, BATCH, UNITS, generator=torch.Generator().manual_seed(0))
    works = {name: partial(step, module, inputs) for name, module in modules.items()}
    samples = in_turns(works, rounds)
    return [{"name": name, "seconds": seconds} for name, seconds in samples.items()]


def cells(line: Json, lines: list[Json]) -> tuple[str, ...]:
    """Format one row of the table, in the order of `COLUMNS`."""
    (theirs,) = (each for each in lines if each["name"] == TORCH)
    times = ratios(line, theirs)
    return (
        line["name"],
        f"{1e3 * median(line['seconds']):.1f}",
        f"{median(times):.2f}",
        f"{min(times):.2f}–{max(times):.2f}",
    )


def markdown(results: Json) -> str:
    """Write the results as a Markdown page."""
    settings = results["settings"]
    compared = (
        f"A pass forward and backward over {settings['batch']} sequences of {settings['time']} "
        f"steps through {settings['layers']} layers of {settings['units']} units, windows of "
        f"{settings['window']}. All in one process and one thread, in turns; medians of "
        f"{settings['rounds']} rounds of processor time. A ratio is the median of the rounds' "
        "ratios."
    )
    return page_of_table(results, "Recurrent layers with normalizers", compared, COLUMNS, cells)


def main(options: Options) -> None:
    """Measure, show it and write it down."""
    settings = {
        "batch": BATCH,
        "time": TIME,
        "layers": LAYERS,
        "units": UNITS,
        "window": WINDOW,
    }
    parts = {"lines": lambda rounds: measure(contenders(), rounds)}
    publish(options, settings, parts, RESULTS, markdown, cells)


if __name__ == "__main__":
    main(tyro.cli(Options, default=Options(rounds=21)))
