"""The page of the benchmark of Neural Interpreters, made from its JSON alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, Final

from benchmarks._report import page_of_table
from benchmarks._rims_report import ratios

VIT: Final = "nn.TransformerEncoder of as many FLOPs"
DIRECT: Final = "direct transcription, codes repeated"
OURS: Final = "NeuralInterpreter.released_digits"
LEAST_OF_DIRECT: Final = 3.0
MOST_OF_MEMORY: Final = 1 / 3
MOST_OF_VIT: Final = 1.5
COLUMNS: Final = (
    *("core", "parameters", "GFLOP", "ms", "MB"),
    *("faster than the transcription", "range", "of its memory"),
    *("times the Transformer", "range", "targets", "met"),
)

Json = Mapping[str, Any]


def cells(line: Json, lines: Sequence[Json]) -> tuple[str, ...]:
    """Format one row of the table, in the order of `COLUMNS`."""
    named = {each["name"]: each for each in lines}
    faster, beside = ratios(named[DIRECT], line), ratios(line, named[VIT])
    memory = line["bytes"] / named[DIRECT]["bytes"]
    reached = (
        median(faster) >= LEAST_OF_DIRECT,
        memory <= MOST_OF_MEMORY,
        median(beside) <= MOST_OF_VIT,
    )
    judged = line["name"] == OURS
    return (
        line["name"],
        f"{line['parameters']:,}",
        f"{1e-9 * line['flops']:.0f}",
        f"{1e3 * median(line['seconds']):.0f}",
        f"{1e-6 * line['bytes']:.0f}",
        *(f"{median(faster):.2f}", f"{min(faster):.2f}–{max(faster):.2f}", f"{memory:.2f}"),
        *(f"{median(beside):.2f}", f"{min(beside):.2f}–{max(beside):.2f}"),
        f"≥ {LEAST_OF_DIRECT:g}, ≤ 1/3, ≤ {MOST_OF_VIT}" if judged else "–",
        ", ".join("yes" if met else "no" for met in reached) if judged else "–",
    )


def markdown(results: Json) -> str:
    """Write the results as a Markdown page."""
    settings = results["settings"]
    compared = (
        f"A training step, forward and backward, on {settings['batch']} sets of "
        f"{settings['items']} elements. Memory is the most that the tensors made in a step hold at "
        "once. All in one process and one thread, in turns; medians of "
        f"{settings['rounds']} rounds of processor time. A ratio is the median of the rounds' "
        "ratios."
    )
    return page_of_table(results, "Neural Interpreters", compared, COLUMNS, cells)
