"""The page of the normalizers' benchmark, made from its JSON alone."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import Any

from benchmarks._report import page_of_table

COLUMNS = (
    "normalizer", "run", "shape", "beside", "its time (ms)", "time (ms)",
    "ratio", "range", "target", "met",
)  # fmt: skip

Json = Mapping[str, Any]


def ratios(line: Json) -> list[float]:
    """Divide the time of the normalizer by the time of the kernel, round by round."""
    return [ours / theirs for ours, theirs in zip(line["ours"], line["theirs"], strict=True)]


def cells(line: Json) -> tuple[str, ...]:
    """Format one row of the table, in the order of `COLUMNS`."""
    samples, target = ratios(line), line["target"]
    ratio = median(samples)
    return (
        line["name"],
        "compiled" if line["compiled"] else "eager",
        " × ".join(map(str, line["shape"])),
        line["reference"],
        f"{1e3 * median(line['theirs']):.2f}",
        f"{1e3 * median(line['ours']):.2f}",
        f"{ratio:.2f}",
        f"{min(samples):.2f}–{max(samples):.2f}",
        "–" if target is None else f"{target:.1f}",
        "–" if target is None else "yes" if ratio <= target else "no",
    )


def markdown(results: Json) -> str:
    """Write the results as a Markdown page."""
    settings = results["settings"]
    clock = "processor times" if settings["busy"] else "times"
    compared = (
        "Forward and backward together, beside a kernel of torch that moves as much memory: both "
        "in one process and one thread on the same tensor, in turns; medians of "
        f"{settings['rounds']} rounds, {clock}. The ratio is the median of the rounds' ratios; "
        "compiled normalizers too are measured beside torch's eager kernel."
    )
    return page_of_table(results, "Normalizers", compared, COLUMNS, lambda line, _: cells(line))
