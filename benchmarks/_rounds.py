"""Measurements in rounds of turns: their options, and how one is run, shown and written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import torch
from rich.console import Console

from benchmarks import _pages
from benchmarks._worker import ROOT
from farfield.execution.internal import keep_freed_memory
from farfield.records import environment

Lines = list[dict[str, Any]]


@final
@dataclass(frozen=True, kw_only=True)
class Options:
    """Options and duration of the measurement.

    Args:
        rounds: Rounds of turns; the medians are over these.
        quick: Three rounds, for a first look.
        beside: Other load of the machine, for the page; empty for none.
        name: Name of the result files; by default date and processor.
    """

    rounds: int = 11
    quick: bool = False
    beside: str = ""
    name: str | None = None


def publish(
    options: Any,
    settings: Mapping[str, Any],
    parts: Mapping[str, Callable[[int], Lines]],
    folder: Path,
    page: Callable[[Mapping[str, Any]], str],
    cells: Callable[[Mapping[str, Any], Lines], Iterable[str]],
) -> None:
    """Measure in one thread, show the lines and write them down.

    Args:
        options: `Options`, or others with the same fields.
        settings: Sizes of the measurement, for the page.
        parts: Functions of the number of rounds to lines, by their name in the results.
        folder: Where the results go.
        page: Makes the Markdown of all results.
        cells: The row of a line, beside all lines of its part.
    """
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    keep_freed_memory()
    device = getattr(options, "device", "cpu")
    described = environment(device=device, engine="one thread, freed memory kept")
    rounds = 3 if options.quick else options.rounds
    results: dict[str, Any] = {
        "environment": described,
        "settings": {"rounds": rounds, **settings, "beside": options.beside},
        **{name: part(rounds) for name, part in parts.items()},
    }
    name = options.name or _pages.name_of_today(described)
    path = _pages.write(results, folder, name, page)
    console = Console()
    for lines in (results[name] for name in parts):
        for line in lines:
            console.print(" · ".join(cells(line, lines)))
    console.print(f"Written to {path.relative_to(ROOT)} and {path.with_suffix('.md').name}")
