"""The page of the benchmark of normalizers in a network of images, made from its JSON alone."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Final

from benchmarks._mixing_report import Json, ratios
from benchmarks._report import page_of_table

NONE: Final = "none"
BATCH: Final = "BN"
LAYER: Final = "LN-s"
DIVISIVE: Final = "DN"
PENALIZED: Final = ", L1"

TARGETS: Final = {DIVISIVE: 2.0}
"""Largest ratio to a step with batch normalization."""
COLUMNS: Final = ("normalizer", "ms", "times BN", "range", "target", "met")


def cells(line: Json, lines: Sequence[Json]) -> tuple[str, ...]:
    """Format one row of the table, in the order of `COLUMNS`."""
    (reference,) = (one for one in lines if one["name"] == BATCH)
    found, target = ratios(line, reference), TARGETS.get(line["name"])
    return (
        line["name"],
        f"{1e3 * median(line['seconds']):.1f}",
        f"{median(found):.2f}",
        f"{min(found):.2f}–{max(found):.2f}",
        "–" if target is None else f"≤ {target}",
        "–" if target is None else "yes" if median(found) <= target else "no",
    )


def markdown(results: Json) -> str:
    """Write the results as a Markdown page."""
    settings = results["settings"]
    compared = (
        f"A step of `QuickCNN` on {settings['batch']} images of {settings['side']}×"
        f"{settings['side']} in color, with windows of 5, 3 and 3 pixels; all in one process and "
        f"one thread, in turns; medians of {settings['rounds']} rounds of processor time. A ratio "
        "is the median of the rounds' ratios."
    )
    return page_of_table(results, "Normalizers in a network of images", compared, COLUMNS, cells)
