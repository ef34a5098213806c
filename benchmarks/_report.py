"""The benchmark's tables, made from its JSON alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from rich.table import Table

from benchmarks._estimate import hours

COLUMNS = (
    "model", "task", "m", "seeds",
    "loop GFLOP", "loop floor", "loop time", "loop fraction",
    "GFLOP", "floor", "time", "fraction",
    "ratio", "range", "target", "met",
)  # fmt: skip
TUNED = "loop, tuned"
"""Stand-in for the number of seeds in the lines of the loop in the library's processes."""
SETS_COLUMNS = ("task", "m", "images (s)", "sets (s)", "MB", "limit", "met")
ESTIMATE_COLUMNS = ("table", "column", "networks", "steps", "step (ms)", "scoring (s)", "hours")
SHORT_COLUMNS = ("model", "task", "m", "seeds", "time", "ratio", "met")
"""Columns of ratios where a terminal is narrower than `WIDE`; the files hold all."""
WIDE = 160
"""Characters that all columns need."""

Json = Mapping[str, Any]


def ratios(line: Json) -> list[float]:
    """Divide the times of the library by the times of the loop, round by round."""
    return [ours / loop for ours, loop in zip(line["ours"], line["loop"], strict=True)]


def met(line: Json) -> str:
    """Compare the median ratio with its target: `"yes"`, `"no"`, or `"–"` without one."""
    if line["target"] is None:
        return "–"
    return "yes" if median(ratios(line)) >= line["target"] else "no"


def cells(line: Json) -> tuple[str, ...]:
    """Format one row of a table of ratios, in the order of `COLUMNS`."""
    sides: list[str] = []
    for side in ("loop", "ours"):
        milliseconds = 1e3 * line["unit"] / median(line[side])
        floor = 1e3 * line["unit"] * line["products"][side]["seconds"]
        gigaflop = 1e-9 * line["unit"] * line["products"][side]["flops"]
        sides += [f"{gigaflop:.2f}", f"{floor:.1f}", f"{milliseconds:.1f}"]
        sides += [f"{floor / milliseconds:.2f}"]
    samples = ratios(line)
    return (
        *(line["reasoner"], line["task"], str(line["withheld"]), str(line["seeds"])),
        *sides,
        f"{median(samples):.2f}",
        f"{min(samples):.2f}–{max(samples):.2f}",
        "–" if line["target"] is None else f"{line['target']:.1f}",
        met(line),
    )


def sets_cells(line: Json) -> tuple[str, ...]:
    """Format one row of the table of sets, in the order of `SETS_COLUMNS`."""
    images, seconds, megabytes = (median(line[name]) for name in ("images", "seconds", "megabytes"))
    limit_seconds, limit_megabytes = line["target_seconds"], line["target_megabytes"]
    return (
        *(line["task"], str(line["withheld"]), f"{images:.3f}", f"{seconds:.3f}"),
        f"{megabytes:.0f}",
        f"{limit_seconds} s, {limit_megabytes:.0f} MB",
        "yes" if seconds <= limit_seconds and megabytes <= limit_megabytes else "no",
    )


def estimate_cells(line: Json) -> tuple[str, ...]:
    """Format one row of the estimate, in the order of `ESTIMATE_COLUMNS`."""
    return (
        *(line["table"], line["column"], str(line["networks"]), f"{line['steps']:,}"),
        f"{1e3 / median(line['rates']):.1f}",
        f"{line['evaluations'] / line['scored']:.1f}",
        f"{hours(line):.2f}",
    )


def estimate_title(estimate: Json) -> str:
    """Format the total hours and the goal."""
    total = sum(hours(line) for line in estimate["lines"])
    met = "met" if total <= estimate["goal"] else "missed"
    return (
        f"Estimate for {estimate['row']} at the paper's budget: {total:.1f} hours on two cores "
        f"(goal: {estimate['goal']:.0f}, {met})"
    )


def tables(results: Json) -> list[tuple[str, tuple[str, ...], list[tuple[str, ...]]]]:
    """Yield title, columns and rows of each table."""
    lines = results["lines"]
    made = [
        (
            f"{work.capitalize()}: milliseconds per {unit}",
            COLUMNS,
            [cells(line) for line in lines if line["work"] == work],
        )
        for work, unit in (
            ("training", "network and step"),
            ("evaluation", "network and 10,000 problems"),
        )
    ]
    estimate = results.get("estimate")
    if estimate:
        rows = [estimate_cells(line) for line in estimate["lines"]]
        made.append((estimate_title(estimate), ESTIMATE_COLUMNS, rows))
    made.append(("Drawing the sets", SETS_COLUMNS, [sets_cells(line) for line in results["sets"]]))
    return [table for table in made if table[2]]


def markdown(results: Json) -> str:
    """Write the results as a Markdown page."""
    parts = ["# Throughput", "", *introduction(results)]
    for title, columns, rows in tables(results):
        parts += ["", f"## {title}", "", bar(columns), bar("---" for _ in columns)]
        parts += [bar(row) for row in rows]
    return "\n".join(parts) + "\n"


def introduction(results: Json) -> list[str]:
    """Describe contenders, machine and versions."""
    machine = ", ".join(f"{name} {value}" for name, value in results["environment"].items())
    settings = results["settings"]
    processes = (
        "Both have a process with one thread, and all times are processor times: a machine on "
        "which others work cannot tell how two threads get on. No target holds for this ratio. "
        if settings.get("busy")
        else "The loop has a process with two threads; "
        "the library with one seed has a process with one thread, with ten seeds two of them. "
    )
    compared = (
        "The library against the straightforward loop (`benchmarks/straightforward.py`): median of "
        f"{settings['rounds']} rounds, in each of which both worked for {settings['seconds']} s or "
        f"one whole evaluation, never both at once. {processes}"
        "Floor: the time of the work's matrix products and convolutions, each run alone at the "
        "same shapes in the same processes; fraction: floor over time."
    )
    tuned = (
        f"In rows `{TUNED}` the loop runs as the library does: a process of one thread per "
        "core, each with its own networks, that keeps freed memory. The library over that loop is "
        "the ratio of two ratios."
    )
    estimated = (
        "The estimate multiplies the steps and evaluations of the claims by the processor time "
        "that ten networks in two processes of one thread took for some of them."
    )
    beside = settings.get("beside", "")
    said = {
        compared: True,
        tuned: any(line["seeds"] == TUNED for line in results["lines"]),
        estimated: results.get("estimate"),
    }
    return [
        " ".join(text for text, holds in said.items() if holds),
        *(["", beside] if beside else []),
        "",
        f"Machine and versions: {machine}.",
    ]


def bar(entries: Iterable[str]) -> str:
    """Format a row of a Markdown table."""
    return "| " + " | ".join(entries) + " |"


def page_of_table(
    results: Json,
    title: str,
    said: str,
    columns: Sequence[str],
    cells: Callable[[Json, list[Json]], Iterable[str]],
) -> str:
    """Write results of one table as Markdown: title, other load, machine, rows.

    Args:
        results: All of them, the lines of the table by `"lines"`.
        title: Heading of the page.
        said: Paragraphs on the comparison.
        columns: Headings of the columns.
        cells: Makes the row of a line, beside all lines.
    """
    machine = ", ".join(f"{name} {value}" for name, value in results["environment"].items())
    beside, lines = results["settings"]["beside"], results["lines"]
    rows = [columns, ["---" for _ in columns], *(cells(line, lines) for line in lines)]
    texts = [f"# {title}", said, *([beside] if beside else []), f"Machine and versions: {machine}."]
    return "\n\n".join([*texts, "\n".join(map(bar, rows))]) + "\n"


def terminal(results: Json, width: int) -> list[Table]:
    """Format the tables for a terminal of `width` characters."""
    made = []
    for title, columns, rows in tables(results):
        shown = SHORT_COLUMNS if columns == COLUMNS and width < WIDE else columns
        table = Table(title=title)
        for column in shown:
            table.add_column(column, justify="left" if column in ("model", "task") else "right")
        for row in rows:
            table.add_row(*(row[columns.index(column)] for column in shown))
        made.append(table)
    return made
