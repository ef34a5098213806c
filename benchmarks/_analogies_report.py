"""The tables on visual analogies, made from the benchmark's JSON alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, Final

from rich.table import Table

from benchmarks._report import bar

TRAINING_COLUMNS: Final = (
    *("network", "images a problem", "GFLOP", "processor ms", "clock ms"),
    *("times the library", "range", "target", "met", "times the next"),
)
EVALUATION_COLUMNS: Final = (
    *("network", "problems", "processor s", "clock s"),
    *("times the library", "range", "target", "met"),
)
REGION_COLUMNS: Final = ("what", "number", "MB", "seconds", "limit", "met")
SHORT_COLUMNS: Final = (
    *("network", "what", "processor ms", "processor s", "MB", "seconds"),
    *("times the library", "target", "met"),
)
"""Columns that are shown where a terminal is narrower than `WIDE`; the files hold all."""
WIDE: Final = 150
"""Characters that all columns need."""
ENCODING: Final = "library, encoding alone"

Json = Mapping[str, Any]


def each(line: Json, clock: str) -> list[float]:
    """Divide times by units, round by round.

    Args:
        line: Of training or evaluation.
        clock: `"processor"` or `"seconds"`.
    """
    return [turn[clock] / turn["count"] for turn in line["turns"]]


def ratios(line: Json, other: Json) -> list[float]:
    """Divide times, round by round."""
    pairs = zip(each(line, "processor"), each(other, "processor"), strict=True)
    return [mine / others for mine, others in pairs]


def judged(line: Json, ours: Json) -> tuple[str, str, str, str]:
    """Format the ratio to the library, its range, the target and its verdict."""
    if line is ours:
        return ("1", "–", "–", "–")
    samples, target = ratios(line, ours), line["target"]
    return (
        f"{median(samples):.2f}",
        f"{min(samples):.2f}–{max(samples):.2f}",
        "–" if target is None else f"{target:.1f}",
        "–" if target is None else "yes" if median(samples) >= target else "no",
    )


def training_rows(lines: Sequence[Json]) -> list[tuple[str, ...]]:
    """Format a row for each contender, in the order of `TRAINING_COLUMNS`."""
    following = [*lines[1:], None]
    return [
        (
            *(line["name"], f"{line['encoded']:.1f}", f"{1e-9 * line['flops']:.1f}"),
            *(f"{1e3 * median(each(line, clock)):.1f}" for clock in ("processor", "seconds")),
            *judged(line, lines[-1]),
            f"{median(ratios(line, after)):.2f}" if after else "–",
        )
        for line, after in zip(lines, following, strict=True)
    ]


def evaluation_rows(lines: Sequence[Json], problems: int) -> list[tuple[str, ...]]:
    """Format a row for each contender, in the order of `EVALUATION_COLUMNS`.

    Args:
        lines: The measurements, the library last.
        problems: Problems of a region, to which all times are scaled.
    """
    return [
        (
            *(line["name"], f"{line['turns'][0]['count']:,}"),
            *(f"{problems * median(each(line, clock)):.1f}" for clock in ("processor", "seconds")),
            *judged(line, lines[-1]),
        )
        for line in lines
    ]


def region_rows(drawn: Json) -> list[tuple[str, ...]]:
    """Format a region's images and all regions' problems, in the order of `REGION_COLUMNS`."""
    seconds, most = median(each({"turns": drawn["images"]}, "processor")), drawn["target_seconds"]
    within = seconds <= most and drawn["megabytes"] <= drawn["target_megabytes"]
    return [
        (
            *("a region's images", f"{drawn['objects']:,}", f"{drawn['megabytes']:.1f}"),
            f"{seconds:.2f}",
            f"{most:g} s, {drawn['target_megabytes']:g} MB",
            "yes" if within else "no",
        ),
        (
            f"problems of all {drawn['regimes']} regions",
            *(f"{drawn['problems']:,}", "–"),
            f"{median(each({'turns': drawn['draws']}, 'processor')):.2f}",
            *("–", "–"),
        ),
    ]


def tables(results: Json) -> list[tuple[str, tuple[str, ...], list[tuple[str, ...]]]]:
    """Yield title, columns and rows of each table."""
    problems = results["settings"]["problems"]
    return [
        (
            "Training: a step on 32 problems",
            TRAINING_COLUMNS,
            training_rows(results["training"]),
        ),
        *(
            (
                f"Evaluation: the {problems:,} problems of {regime}",
                EVALUATION_COLUMNS,
                evaluation_rows(lines, problems),
            )
            for regime, lines in results["evaluation"].items()
        ),
        ("Drawing: seconds of processor time", REGION_COLUMNS, region_rows(results["regions"])),
    ]


def introduction(results: Json) -> list[str]:
    """Describe contenders, machine and versions."""
    machine = ", ".join(f"{name} {value}" for name, value in results["environment"].items())
    settings = results["settings"]
    compared = (
        "The analogy scoring model of webb2020 with context normalization, on pictures of 128×128: "
        "the library against loops of plain PyTorch (`benchmarks/straightforward_analogies.py`) "
        "that encode all 28 images of the candidate analogies, each of the 10 positions once, or "
        "each of the 7 images once. One process of one thread runs all alternately: median of "
        f"{settings['rounds']} rounds of {settings['seconds']} s of training (at least one step) "
        f"and of {settings['evaluations']} rounds of evaluation; ratios are of processor time, "
        "round by round. The loops have all images of the region in memory, the library draws "
        "those of each batch. Freed memory is kept in the process, for the loops too. "
        "Of the library, one line has an encoder that convolves whole pictures; the other one "
        "convolves the background once for all pictures of a batch, which saves the more the "
        "smaller the squares are: those of region 1, which training shows, are the smallest, those "
        "of region 6 the largest. The last column says how many times as long as the next line "
        "each one takes. "
        f"The loops evaluate {settings['by_problem']} problems of a region, and their time is "
        "scaled to all of them; the library evaluates all."
    )
    beside = settings["beside"]
    return [compared, *(["", beside] if beside else []), "", f"Machine and versions: {machine}."]


def markdown(results: Json) -> str:
    """Write the results as a Markdown page."""
    parts = ["# Visual analogies", "", *introduction(results)]
    for title, columns, rows in tables(results):
        parts += ["", f"## {title}", "", bar(columns), bar("---" for _ in columns)]
        parts += [bar(row) for row in rows]
    return "\n".join(parts) + "\n"


def terminal(results: Json, width: int) -> list[Table]:
    """Format the tables for a terminal of `width` characters."""
    made = []
    for title, columns, rows in tables(results):
        shown = [column for column in columns if width >= WIDE or column in SHORT_COLUMNS]
        table = Table(title=title)
        for column in shown:
            table.add_column(column, justify="left" if column == columns[0] else "right")
        for row in rows:
            table.add_row(*(row[columns.index(column)] for column in shown))
        made.append(table)
    return made
