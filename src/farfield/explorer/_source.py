"""Contents of two folders, read as they are asked for and again where they have changed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple, final

from torch import nn

from farfield.core import Problems, UnknownNameError, stream
from farfield.experiments import Experiment
from farfield.metrics import measure_of, t_interval
from farfield.records import Record, Store, StoreError
from farfield.reports import (
    Levels,
    Report,
    Row,
    recorded_profile,
    recorded_reports,
    records_at,
    tabulate,
)
from farfield.reproductions import TABLES, Budget, Published, Table
from farfield.tasks import DrawsFirst
from farfield.training import problems_of_run, trained_network

_Stamp = tuple[tuple[Any, ...], ...]

FEWEST = 3
"""Networks that an interval of the mean is shown from."""


class Mark(NamedTuple):
    """A point of a curve.

    Attributes:
        distance: Distance of the regime from training.
        regime: Its name.
        mean: Mean of ours; `None` where nothing was run.
        low: Lower end of its 95 % interval; `None` for fewer than three networks.
        high: Upper end.
        networks: How many of ours.
        published: The published mean; `None` without one.
    """

    distance: float
    regime: str
    mean: float | None
    low: float | None
    high: float | None
    networks: int
    published: float | None


@final
@dataclass(frozen=True, kw_only=True)
class Curve:
    """Score against distance of one model in a table, or of one experiment.

    Args:
        key: Name of its own.
        label: What it is called in a picture.
        group: What it belongs to, for a list.
        unit: Unit of the distances.
        score: What is measured, with its unit.
        marks: By growing distance.
    """

    key: str
    label: str
    group: str
    unit: str
    score: str
    marks: tuple[Mark, ...]


class Results(NamedTuple):
    """Results of a table.

    Attributes:
        report: Every cell with the best of its runs: the most steps, then the most networks.
        curve_of: Name of the curve that the best of a cell is on; empty where nothing was run.
        curves: The models by name of the curve; of one share of the steps and the same images each.
    """

    report: Report
    curve_of: dict[str, str]
    curves: dict[str, Curve]


class Looked(NamedTuple):
    """A trained network with the problems of its run.

    Attributes:
        experiment: What was run.
        network: The network, in evaluation mode.
        sets: The problems, by regime; the first ones where they are many.
    """

    experiment: Experiment
    network: nn.Module
    sets: dict[str, Problems]


@final
class Source:
    """Records of a store and of exports.

    Args:
        records: Folder of records, or of exports; it may be absent.
        results: Folder of exports; it may be absent.
    """

    def __init__(self, records: Path, results: Path) -> None:
        self.folder = records
        self._exports = dict.fromkeys((records, results))
        self._levels = Levels(*self._exports, measure=False)
        self._runs: tuple[_Stamp, dict[str, list[Record]]] = ((), {})
        self._results: dict[str, tuple[_Stamp, Results]] = {}
        self.looked = lru_cache(2)(self._looked)
        self._run_curve = lru_cache(4096)(lambda key, _: _curve_of_run(self.runs[key]))

    @cached_property
    def store(self) -> Store:
        """The records of the folder, which must hold some."""
        return Store(self.folder)

    @property
    def runs(self) -> Mapping[str, list[Record]]:
        """The records of the store by experiment, the latest first; none without a store."""
        path = self.folder / "records.sqlite"
        now = _stamp(path, path.with_name(f"{path.name}-wal"))
        if now != self._runs[0]:
            keys = self.store.keys() if now else []
            found = [(key, records) for key in keys if (records := self.store.records(key))]
            found.sort(key=lambda item: _finished(item[1][-1]), reverse=True)
            self._runs = (now, dict(found))
        return self._runs[1]

    def records(self, key: str) -> Sequence[Record]:
        """The records of an experiment.

        Args:
            key: `Experiment.key`.

        Raises:
            UnknownNameError: If none of it is in the store.
        """
        if key not in self.runs:
            raise UnknownNameError("experiment", key, self.runs)
        return self.runs[key]

    def results(self, name: str) -> Results:
        """Results of a table.

        Args:
            name: Key of the table.

        Raises:
            UnknownNameError: If there is none.
            ValueError: If a file of exports is damaged.
        """
        if name not in TABLES:
            raise UnknownNameError("table", name, TABLES)
        exports = [folder / f"{name}.jsonl" for folder in self._exports]
        tasks = {type(claim.experiment.task).__name__ for claim in TABLES[name].claims}
        runs = {
            key: records
            for key, records in self.runs.items()
            if records[0].task.partition("(")[0] in tasks  # a key of a claim takes long to make
        }
        now = (*_stamp(*exports), *((key, len(records)) for key, records in runs.items()))
        if name not in self._results or self._results[name][0] != now:
            made = self._made(TABLES[name], [path for path in exports if path.is_file()], runs)
            self._results[name] = (now, made)
        return self._results[name][1]

    def _made(
        self, table: Table, exports: Sequence[Path], runs: Mapping[str, list[Record]]
    ) -> Results:
        """The results of a table from exports and from runs that may be of it."""
        reports = [
            (kind.title, report)
            for path in exports
            for kind, report in recorded_reports(table, path, self._levels).items()
        ]
        for budget in Budget if runs else ():
            find = records_at(lambda key, _: runs.get(key, ()), budget)
            reports.append(("", tabulate(table, find, budget, self._levels)))
        found: dict[tuple[str, str], Row] = {}  # by cell and curve
        for images, report in reports:
            for row in report.run:
                place = (row.name, _curve_key(table.key, row, images))
                found[place] = max(found.get(place, row), row, key=_extent)
        best: dict[str, tuple[str, Row]] = {}
        curves: dict[str, list[Row]] = {}
        for (cell, key), row in found.items():
            curves.setdefault(key, []).append(row)
            best[cell] = max(
                best.get(cell, (key, row)), (key, row), key=lambda one: _extent(one[1])
            )
        if lacking := [name for name in table.cells if name not in best]:
            rest = tabulate(
                table.select(*map(_literal, lacking)), lambda _: (), levels=self._levels
            )
            best |= {row.name: ("", row) for row in rest.rows}
        rows = tuple(best[name][1] for name in table.cells)
        return Results(
            report=Report(key=table.key, title=table.title, rows=rows),
            curve_of={cell: key for cell, (key, _) in best.items()},
            curves={key: _curve(key, rows) for key, rows in curves.items()},
        )

    @property
    def run_curves(self) -> list[Curve]:
        """The profiles of the experiments in the store, but those of tasks of the user's own."""
        found = (self._run_curve(key, len(records)) for key, records in self.runs.items())
        return [curve for curve in found if curve is not None]

    def curve(self, key: str) -> Curve:
        """One curve by its name.

        Args:
            key: Its name, as in `Results.curves`, or `run|EXPERIMENT`.

        Raises:
            UnknownNameError: If there is none.
        """
        name = key.partition("|")[0]
        own = {curve.key: curve for curve in self.run_curves}
        curves = own if name == "run" else self.results(name).curves
        if key not in curves:
            raise UnknownNameError("curve", key, curves)
        return curves[key]

    def _looked(self, key: str, seed: int) -> Looked:
        """A trained network and its problems.

        Args:
            key: `Experiment.key`.
            seed: Number of the run.

        Raises:
            ValueError: If there is no such run, or its classes are the user's own.
            StoreError: If its weights cannot be used.
        """
        seeds = {record.seed: record for record in self.records(key)}
        if seed not in seeds:
            raise StoreError(f"seed {seed} of experiment {key} is not recorded in {self.folder}")
        experiment = Experiment.from_json(seeds[seed].experiment)
        task = experiment.problem_task
        network = trained_network(experiment, seed, self.store)
        if isinstance(task, DrawsFirst):
            sets = task.draw_first(stream(seed, "problems"))
        else:
            sets = problems_of_run(task, seed)
        return Looked(experiment, network, sets)


def _curve_of_run(records: Sequence[Record]) -> Curve | None:
    """The profile of an experiment of the store; `None` for a task of the user's own."""
    try:
        first, points = records[0], recorded_profile(records).points
    except (ValueError, KeyError):
        return None
    measure = points[0].measure
    scale = 100 if measure.percent else 1
    return Curve(
        key=f"run|{first.key}",
        label=f"{first.model} {first.key[:6]}",
        group=first.task,
        unit=points[-1].unit,
        score=f"{measure.label}{measure.unit}",
        marks=tuple(
            _mark(point.distance, point.regime, [scale * value for value in point.values], None)
            for point in points
        ),
    )


def _curve_key(table: str, row: Row, images: str) -> str:
    """Name of the curve of a cell: of its table, model, score, share of the steps and images."""
    claim, share = row.claim, f"{100 * (row.judgement.fraction or 0):.3g} %"
    return f"{table}|{claim.subject}|{claim.row}|{claim.metric}|{share}|{images}"


def _curve(key: str, rows: Sequence[Row]) -> Curve:
    """The cells of a model in a table, with what else is said of them where it is not the rule."""
    claim = rows[0].claim
    measure = measure_of(claim.metric)
    *_, share, images = key.split("|")
    notes = [f"{share} of steps"] * (share != "100 %") + [images] * bool(images)
    return Curve(
        key=key,
        label=", ".join([claim.row, *notes]),
        group=claim.subject,
        unit=rows[-1].unit,
        score=f"{measure.label}{' %' if claim.published.unit == 'percent' else ''}",
        marks=tuple(
            _mark(row.distance, row.claim.regime, row.values, _published(row))
            for row in sorted(rows, key=lambda row: row.distance)
        ),
    )


def _published(row: Row) -> float | None:
    number = row.claim.published
    return number.mean if isinstance(number, Published) else None


def _mark(distance: float, regime: str, values: Sequence[float], published: float | None) -> Mark:
    interval = t_interval(values) if len(values) >= FEWEST else None
    return Mark(
        distance=distance,
        regime=regime,
        mean=sum(values) / len(values) if values else None,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        networks=len(values),
        published=published,
    )


def _extent(row: Row) -> tuple[float, int]:
    return (row.judgement.fraction or 0.0, len(row.records))


def _finished(record: Record) -> str:
    return record.environment.get("finished", "")


def _literal(cell: str) -> str:
    """The pattern that only a cell itself matches."""
    return re.sub(r"[*?\[]", lambda sign: f"[{sign[0]}]", cell)


def _stamp(*paths: Path) -> _Stamp:
    """Times and sizes of the files that are there, which differ once one was written."""
    states = [(path, path.stat()) for path in paths if path.is_file()]
    return tuple((path, state.st_mtime_ns, state.st_size) for path, state in states)
