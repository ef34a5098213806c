"""The pages: from a request to the values of its template. These modules load torch."""

from __future__ import annotations

import dataclasses
import json
import math
import time
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, get_type_hints

import msgspec

from farfield.analysis import watch_episode
from farfield.analysis.internal import WatchedEpisode
from farfield.core import stream
from farfield.core.internal import REFERENCES, UnknownNameError, excerpt
from farfield.execution.internal import UnderWay, runs_under_way, unreadable_progress
from farfield.explorer._inside import answer_of, maps_of, mechanisms_of
from farfield.explorer._kept_counts import kept_counts
from farfield.explorer._source import Curve, Looked, Source
from farfield.explorer._titles import title_of
from farfield.models import GAN
from farfield.reports import tabular_of
from farfield.reports.internal import generated_sheet, one_problem, problem_picture, strip
from farfield.reproductions import TABLES, Verdict
from farfield.reproductions.internal import PRINTED
from farfield.tasks import (
    ENVIRONMENTS,
    TASKS,
    Environment,
    ImageGeneration,
    ProblemTask,
    is_at_hand,
)
from farfield.tasks.internal import NeedsFiles

Query = Mapping[str, str]
Context = dict[str, Any]

FIRST: Final = "webb2021/table-11"
"""Table that is shown by default."""

CURVES_OF: Final = "webb2021/table-9"
"""Table whose longest curves are on the first page where the folder has no runs."""

MOST_PROBLEMS: Final = 24
"""Problems of a regime on one picture."""

KEPT: Final = 30.0
"""Seconds for which a picture from files is kept: they may be others by then."""

PLAIN: Final = (int, float, bool, str, int | None, float | None, bool | None)
"""Types of the fields of a task that can be set in a form."""

GROUPS: Final = {
    "held": (Verdict.REPRODUCED, Verdict.REACHED, Verdict.BY_HAND),
    "undecided": (
        Verdict.COMPATIBLE,
        Verdict.INCONCLUSIVE,
        Verdict.DIRECTION_ONLY,
        Verdict.UNCONFIRMED,
        Verdict.UNDERPOWERED,
    ),
    "failed-claim": (Verdict.NOT_REPRODUCED, Verdict.MISSED, Verdict.DIVERGED),
    "beyond": (Verdict.MEASURED,),
    "not-run": (Verdict.NEEDS_DATA, Verdict.NOT_RUN),
}
"""Verdicts of one color on the first page, by the class of the color."""

SHOWN_RUNS: Final = 6
"""Experiments on the first page."""

SHOWN_CURVES: Final = 4
"""Curves on the first page."""

EPISODES: Final = 1_000
"""Episodes of an agent to choose from."""

SILENT: Final = 60.0
"""Seconds without a report after which a run may have been stopped."""


@lru_cache(1)
def source_of(records: Path, results: Path, *modules: Path) -> Source:
    """Open the contents of two folders.

    Args:
        records: Folder of records.
        results: Folder of exports.
        modules: Files with classes of one's own.
    """
    return Source(records, results, modules)


def verdicts(source: Source, query: Query) -> Context:
    """Count the verdicts of a paper, as bars.

    Args:
        source: The runs.
        query: `paper`.
    """
    paper = _known("paper", query.get("paper") or FIRST.partition("/")[0], PRINTED)

    def count() -> dict[str, int]:
        names = [name for name in TABLES if name.partition("/")[0] == paper]
        rows = [row for name in names for row in source.results(name).report.rows]
        return Counter(row.judgement.verdict.value for row in rows)

    counts = Counter(kept_counts(paper, source.folders, count))
    cells = counts.total()
    bars, start = [], 0.0
    for group, some in GROUPS.items():
        if here := sum(counts[verdict.value] for verdict in some):
            words = ", ".join(
                f"{counts[one.value]} {one.value}" for one in some if counts[one.value]
            )
            width = 100 * here / cells
            bars.append((group, here, round(start, 3), round(width, 3), words))
            start += width
    return {"paper": paper, "title": REFERENCES[paper].title, "bars": bars, "cells": cells}


def overview(source: Source, _: Query) -> Context:
    """Show one curve, the latest experiments, and the folders without records.

    The curve is of the latest experiments of one task with a profile, or else of a table.

    Args:
        source: The records.
    """
    runs = source.run_rows
    own = source.run_curves
    curves = [curve for curve in own if curve.about == own[0].about][:SHOWN_CURVES] if own else []
    if not curves:
        found = source.results(CURVES_OF).curves.values()
        curves = sorted(found, key=lambda curve: -len(curve.marks))[:SHOWN_CURVES]
    about = curves[0].about if curves else TABLES[CURVES_OF].title
    short = [
        dataclasses.replace(curve, label=curve.label.replace(f" on {curve.about}", ""))
        for curve in curves
    ]
    return {
        "runs": runs,
        "latest": runs[:SHOWN_RUNS],
        "about": about,
        "curves": [curve.key for curve in curves],
        "table": CURVES_OF,
        "charts": [(one.unit, one.score, _chart(short)) for one in curves[:1]],
        "tables": source.exported_tables,
        "notes": source.notes,
        "lacking": source.lacking,
    }


def claims(source: Source, query: Query) -> Context:
    """List the claims of a paper, or of all papers, by verdict, table and mechanism.

    Args:
        source: The runs.
        query: `paper`, `table`, `verdict` and `mechanism`, a part of the name of a row.
    """
    papers = ["all", *PRINTED]
    first_paper, _, _ = FIRST.partition("/")
    paper = _known("paper", query.get("paper") or first_paper, papers)
    names = [name for name in TABLES if paper in ("all", name.partition("/")[0])]
    table = query.get("table", "") if query else FIRST
    if table not in names:
        table = ""  # that of another paper
    verdict, mechanism = query.get("verdict", ""), query.get("mechanism", "").strip()
    found = [source.results(name) for name in ([table] if table else names)]
    rows = [row for one in found for row in one.report.rows]
    shown = []
    for report, curve_of, _ in found:
        kept = tuple(
            row
            for row in report.rows
            if verdict in ("", row.judgement.verdict.value)
            and mechanism.casefold() in row.claim.row.casefold()
        )
        if kept:
            one = dataclasses.replace(report, rows=kept)
            shown.append((one, tabular_of(one).cells, curve_of))
    return {
        "papers": papers,
        "paper": paper,
        "tables": {name: TABLES[name].title for name in names},
        "table": table,
        "verdicts": Counter(row.judgement.verdict.value for row in rows),
        "verdict": verdict,
        "all_verdicts": [*Verdict],
        "mechanism": mechanism,
        "mechanisms": sorted({row.claim.row for row in rows}),
        "headings": tabular_of(found[0].report).headings,
        "shown": shown,
        "notes": source.notes,
        "count": sum(len(report.rows) for report, _, _ in shown),
    }


def profiles(source: Source, query: Any) -> Context:
    """List the curves to choose from, and the chosen curves, by the unit of their distance.

    Args:
        source: The runs.
        query: `table`, whose curves are listed, and any number of `curve`, those to overlay.
    """
    table = _known("table", query.get("table") or FIRST, TABLES)
    uncharted = {f"run|{run.key}": run for run in source.run_rows if run.uncharted}
    asked = dict.fromkeys(query.getlist("curve"))
    curves = [source.curve(key) for key in asked if key not in uncharted]
    groups: dict[str, list[Curve]] = {}
    for curve in (*source.run_curves, *source.results(table).curves.values()):
        groups.setdefault(curve.group, []).append(curve)
    listed = {curve.key for group in groups.values() for curve in group}
    if others := [curve for curve in curves if curve.key not in listed]:
        groups = {"Shown": others, **groups}
    charts: dict[tuple[str, str], list[Curve]] = {}
    for curve in curves:
        charts.setdefault((curve.unit, curve.score), []).append(curve)
    return {
        "tables": {name: one.title for name, one in TABLES.items()},
        "table": table,
        "groups": groups,
        "notes": source.notes,
        "uncharted": [*uncharted.values()],
        "chosen": {curve.key for curve in curves},
        "charts": [(unit, score, some, _chart(some)) for (unit, score), some in charts.items()],
    }


def _chart(curves: list[Curve]) -> str:
    """Collect curves over the union of their distances, as JSON for the picture."""
    distances = sorted({mark.distance for curve in curves for mark in curve.marks})

    def column(curve: Curve, name: str) -> list[float | None]:
        found = {mark.distance: getattr(mark, name) for mark in curve.marks}
        values = [found.get(distance) for distance in distances]
        return [None if v is None or not math.isfinite(v) else v for v in values]

    names = ("mean", "low", "high", "published")
    series = [
        {"label": curve.label, **{name: column(curve, name) for name in names}} for curve in curves
    ]
    room = 0.06 * ((distances[-1] - distances[0]) or abs(distances[0]) or 1.0)
    reach = [distances[0] - room, distances[-1] + room]
    return json.dumps({"x": distances, "reach": reach, "series": series})


def problems(_: Source, query: Query) -> Context:
    """Build the form of the drawable tasks, and the address of the drawing.

    Args:
        query: As of `problems_picture`.
    """
    task, fields = _task(query)
    regime = query.get("regime", "")
    if regime not in [one.name for one in task.regimes]:
        regime = ""  # that of another task, or of other fields
    known = {**dict(query), "task": task.name, "regime": regime}
    asked = {
        name: known[name] for name in ("task", "regime", "seed", "number", *fields) if name in known
    }
    return {
        "tasks": [*TASKS, *ENVIRONMENTS],
        "task": task.name,
        "about": (type(task).__doc__ or "").strip().partition("\n")[0],
        "fields": fields,
        "regimes": task.regimes,
        "regime": regime,
        "seed": query.get("seed", "0"),
        "number": query.get("number", "4"),
        "most": MOST_PROBLEMS,
        "asked": asked,
        "reason": _lacking(task),
    }


def _lacking(task: ProblemTask | Environment) -> str:
    """Name the file or package that a task needs and this machine lacks; empty without one."""
    if is_at_hand(task):
        return ""
    try:
        if isinstance(task, Environment):
            task.make(task.regimes[0].name, 1, stream(0)).close()
        else:
            task.draw(stream(0))
    except (ValueError, OSError, ModuleNotFoundError) as error:
        return str(error)
    return ""


def problems_picture(_: Source, query: Query) -> bytes:
    """Draw problems of a task as a PNG.

    Args:
        query: `task`, its fields by name, `regime` (all if empty), `seed` and `number` of problems.
    """
    task, _fields = _task(query)
    regime = query.get("regime") or None
    number = _whole("number", query.get("number", "4"), 1, MOST_PROBLEMS)
    seed = _whole("seed", query.get("seed", "0"))
    since = time.monotonic() // KEPT if isinstance(task, NeedsFiles) else 0.0
    return _drawn(task, seed, number, regime, since)


@lru_cache(16)
def _drawn(task: Any, seed: int, number: int, regime: str | None, _: float) -> bytes:
    return problem_picture(task, seed, number, regime)


def _task(query: Query) -> tuple[Any, dict[str, Any]]:
    """Build the requested task, and list its fields that a form can set."""
    known = {**TASKS, **ENVIRONMENTS}
    name = _known("task", query.get("task") or "distribution-of-three", known)
    hints = get_type_hints(known[name])
    fields = {
        field.name: field.default
        for field in dataclasses.fields(known[name])
        if hints[field.name] in PLAIN
    }
    given = {field: query[field] for field in fields if query.get(field, "") != ""}
    for field, text in given.items():
        try:
            fields[field] = msgspec.convert(text, hints[field], strict=False)
        except msgspec.ValidationError as error:
            raise ValueError(f"{field} of {name}: {error}, got {text!r}") from error
    task: ProblemTask | Environment = known[name](**{field: fields[field] for field in given})
    return task, fields


def runs(source: Source, _: Query) -> Context:
    """List the active runs by command, and the experiments of the store.

    Args:
        source: The records.
    """
    under_way = runs_under_way(source.folder)
    going = [run for run in under_way if run.silent < SILENT]
    commands: dict[float, list[UnderWay]] = {}
    for run in going:
        commands.setdefault(run.began, []).append(run)
    return {
        "titles": {(run.key, run.seed): title_of(run.task, run.model) for run in under_way},
        "commands": [
            (max(run.done for run in some), max(run.asked for run in some), some)
            for some in commands.values()
        ],
        "stopped": [run for run in under_way if run.silent >= SILENT],
        "unread": unreadable_progress(source.folder),
        "runs": source.run_rows,
        "notes": source.notes,
        "lacking": source.lacking,
    }


def network(source: Source, query: Query) -> Context:
    """Show the answer of a trained network to a problem, with its attention or memory.

    Args:
        source: The records.
        query: `key` of the experiment, `seed`, `regime`, and `problem`, its number from 0 on.
    """
    key = query.get("key", "")
    records = source.records(key)
    about = f"{excerpt(records[0].task)} · {excerpt(records[0].model)}"
    shown: Context = {"key": key, "title": source.title(key), "about": about, "kind": "network"}
    if reason := source.unseen(records[0]):
        return {**shown, "reason": reason, "asked": None}
    looked, seed, regime, problem = _looked(source, query)
    shown["seeds"] = [record.seed for record in records]
    shown["asked"] = {"key": key, "seed": seed, "regime": regime, "problem": problem}
    if isinstance(task := looked.experiment.task, Environment):
        episode = _episode(source, key, seed, regime, problem)
        return {
            **shown,
            "kind": "agent",
            "reason": "",
            "regimes": [one.name for one in task.regimes],
            "problems": EPISODES,
            "answer": [
                ("mission", episode.mission),
                ("steps", f"{len(episode.pictures):,}"),
                ("score", f"{episode.score:g}"),
            ],
            "maps": mechanisms_of(episode),
        }
    if isinstance(looked.network, GAN):
        shown["kind"] = "generator"
    one = looked.sets[regime][problem : problem + 1]
    return {
        **shown,
        "reason": "",
        "regimes": list(looked.sets),
        "problems": len(looked.sets[regime]),
        "answer": answer_of(looked.network, looked.experiment.problem_task, one),
        "maps": maps_of(looked.network, one),
    }


def network_picture(source: Source, query: Query) -> bytes:
    """Draw the problem that a network is shown, as a PNG.

    Args:
        source: The records.
        query: As of `network`.
    """
    looked, seed, regime, problem = _looked(source, query)
    task = looked.experiment.task
    if isinstance(task, Environment):
        return strip(_episode(source, query.get("key", ""), seed, regime, problem))
    if isinstance(looked.network, GAN) and isinstance(task, ImageGeneration):
        return generated_sheet(looked.network, task, seed)
    shown = looked.sets[regime][problem : problem + 1]
    task = looked.experiment.problem_task
    return one_problem(task, shown, regime, f"problem {problem:,}")


def _looked(source: Source, query: Query) -> tuple[Looked, int, str, int]:
    """Find the requested network, its seed, and a regime and a problem of it."""
    key = query.get("key", "")
    record = source.records(key)[0]
    if reason := source.unseen(record):
        raise ValueError(f"this network cannot be shown: {reason}")
    seed = _whole("seed", query.get("seed") or str(record.seed))
    looked = source.looked(key, seed)
    if isinstance(task := looked.experiment.task, Environment):
        names = [one.name for one in task.regimes]
        regime = _known("regime", query.get("regime") or names[-1], names)
        return looked, seed, regime, _whole("problem", query.get("problem") or "0", 0, EPISODES - 1)
    far = [one.name for one in looked.experiment.problem_task.regimes if one.distance > 0]
    first = next((name for name in far if name in looked.sets), next(iter(looked.sets)))
    regime = _known("regime", query.get("regime") or first, looked.sets)
    most = len(looked.sets[regime]) - 1
    problem = _whole("problem", query.get("problem") or "0")
    return looked, seed, regime, min(problem, most)


@lru_cache(16)
def _episode(source: Source, key: str, seed: int, regime: str, number: int) -> WatchedEpisode:
    """Play an episode of an agent, the same as `farfield show` films first."""
    looked = source.looked(key, seed)
    branch = stream(seed, "filmstrip").child(number)
    assert isinstance(looked.experiment.task, Environment)  # noqa: S101 — for a type checker
    return watch_episode(looked.network, looked.experiment.task, regime, branch)


def _known(kind: str, name: str, names: Any) -> str:
    if name not in names:
        raise UnknownNameError(kind, name, names)
    return name


def _whole(name: str, text: str, low: int = 0, high: int = 2**63 - 1) -> int:
    """Read an integer within bounds."""
    if not (text.isascii() and text.isdigit() and len(text) < 20 and low <= int(text) <= high):
        raise ValueError(f"{name} must be a whole number from {low} to {high}, got {text!r}")
    return int(text)
