"""The page of the benchmark of recurrent independent mechanisms, made from its JSON alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, Final

from benchmarks._report import page_of_table

LSTM: Final = "nn.LSTM"
DIRECT: Final = "direct transcription, zeroed dense weights"
OURS: Final = "RIMs, as the text has them"
MOST_OF_LSTM: Final = 1.8
LEAST_OF_DIRECT: Final = 5.0
COLUMNS: Final = (
    *("layer", "GFLOP", "ms", "times nn.LSTM", "range"),
    *("faster than the transcription", "range", "targets", "met"),
)

Json = Mapping[str, Any]


def ratios(line: Json, other: Json) -> list[float]:
    """Divide times, round by round."""
    pairs = zip(line["seconds"], other["seconds"], strict=True)
    return [mine / others for mine, others in pairs]


def cells(line: Json, lines: Sequence[Json]) -> tuple[str, ...]:
    """Format one row of the table, in the order of `COLUMNS`."""
    named = {each["name"]: each for each in lines}
    beside, faster = ratios(line, named[LSTM]), ratios(named[DIRECT], line)
    met = median(beside) <= MOST_OF_LSTM and median(faster) >= LEAST_OF_DIRECT
    judged = line["name"] == OURS
    return (
        line["name"],
        f"{1e-9 * line['flops']:.1f}",
        f"{1e3 * median(line['seconds']):.0f}",
        *(f"{median(beside):.2f}", f"{min(beside):.2f}–{max(beside):.2f}"),
        *(f"{median(faster):.2f}", f"{min(faster):.2f}–{max(faster):.2f}"),
        f"≤ {MOST_OF_LSTM}, ≥ {LEAST_OF_DIRECT:g}" if judged else "–",
        ("yes" if met else "no") if judged else "–",
    )


def markdown(results: Json) -> str:
    """Write the results as a Markdown page."""
    settings = results["settings"]
    compared = (
        f"A pass forward and backward over {settings['time']} steps of {settings['units']} "
        f"numbers, {settings['batch']} sequences at a time, by a layer of {settings['units']} "
        f"units: {settings['mechanisms']} mechanisms, {settings['active']} of them active. All in "
        f"one process and one thread, in turns; medians of {settings['rounds']} rounds of "
        "processor time. A ratio is the median of the rounds' ratios."
    )
    return page_of_table(results, "Recurrent independent mechanisms", compared, COLUMNS, cells)
