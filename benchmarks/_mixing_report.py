"""The page of the benchmark of mixtures, made from its JSON alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, Final

from benchmarks._report import bar
from benchmarks._rims_report import ratios

PLAIN: Final = "plain"
TWICE: Final = "two plain steps"
INPUT: Final = "mixup"
MANIFOLD: Final = "manifold mixup"
ICT: Final = "ICT"
AT_INPUT: Final = ", at the input"
DIRECT: Final = ", written directly"
LOGS: Final = ", with its log"

TARGETS: Final = {MANIFOLD: 1.05, ICT: 1.5}
"""Largest ratio to plain steps on as many problems."""
COLUMNS: Final = ("step", "ms", "times plain", "range", "target", "met", "times direct", "range")

Json = Mapping[str, Any]


def cells(line: Json, lines: Sequence[Json]) -> tuple[str, ...]:
    """Format one row of the table, in the order of `COLUMNS`."""
    named = {each["name"]: each for each in lines}
    name = line["name"]
    ending = DIRECT if DIRECT in name else ""
    reference = named[(TWICE if name.startswith((ICT, TWICE)) else PLAIN) + ending]
    plain = ratios(line, reference)
    target = TARGETS.get(name)
    direct = ratios(line, named[name + DIRECT]) if name + DIRECT in named else None
    return (
        name,
        f"{1e3 * median(line['seconds']):.1f}",
        *_ratio(plain),
        "–" if target is None else f"≤ {target}",
        "–" if target is None else "yes" if median(plain) <= target else "no",
        *(("–", "–") if direct is None else _ratio(direct)),
    )


def _ratio(found: Sequence[float]) -> tuple[str, str]:
    return f"{median(found):.2f}", f"{min(found):.2f}–{max(found):.2f}"


def markdown(results: Json) -> str:
    """Write the results as a Markdown page."""
    settings, machine = results["settings"], results["environment"]
    described = ", ".join(f"{name} {value}" for name, value in machine.items())
    compared = (
        "One step of training, all in one process and one thread, in turns; medians of "
        f"{settings['rounds']} rounds of processor time. A ratio is the median of the rounds' "
        "ratios. Plain beside ICT, which reads as many problems without answers, are two steps."
    )
    titles = {
        "images": f"{settings['batch']} images of {settings['side']}×{settings['side']} in color",
        "relational": "32 problems of a relational task, mixed at the encoder or the reasoner",
    }
    parts = [
        "# Mixtures of problems",
        "",
        compared,
        *(["", settings["beside"]] if settings["beside"] else []),
        "",
        f"Machine and versions: {described}.",
    ]
    for key, title in titles.items():
        lines = results[key]
        rows = (bar(cells(line, lines)) for line in lines)
        parts += ["", f"## {title}", "", bar(COLUMNS), bar("---" for _ in COLUMNS), *rows]
    return "\n".join(parts) + "\n"
