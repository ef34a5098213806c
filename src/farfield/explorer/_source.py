"""Contents of two folders, read on request and again after a change."""

from __future__ import annotations

import contextlib
import os
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple, final

from torch import nn

from farfield.core import Problems, stream
from farfield.core.internal import UnknownNameError, excerpt
from farfield.experiments import Experiment
from farfield.experiments.internal import names_of_others
from farfield.explorer._titles import distinct, task_title, title_of
from farfield.metrics import Interval
from farfield.metrics.internal import measure_of
from farfield.records import Record, Store, StoreError
from farfield.reports import Report, Row, extrapolation_profile, tabulate
from farfield.reports.internal import (
    Levels,
    Point,
    load_missing,
    recorded_profile,
    recorded_reports,
    records_at,
)
from farfield.reproductions import TABLES, Budget, Published, Table
from farfield.suites.internal import own_parts
from farfield.tasks import Environment
from farfield.tasks.internal import DrawsFirst, HasPictures
from farfield.training import trained_network
from farfield.training.internal import problems_of_run

_Stamp = tuple[tuple[Any, ...], ...]

WITH_MODULE = "start the explorer with --module and the file of its classes"
"""Advice for records that name classes of one's own."""

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
        key: Unique name.
        label: Name in a picture.
        about: Title of the task.
        group: Heading in a list.
        unit: Unit of the distances.
        score: Name of the score, with its unit.
        marks: By growing distance.
    """

    key: str
    label: str
    about: str
    group: str
    unit: str
    score: str
    marks: tuple[Mark, ...]


class Results(NamedTuple):
    """Collect the results of a table.

    Attributes:
        report: Every cell with the best of its runs: the most steps, then the most networks.
        curve_of: Name of the curve that the best of a cell is on; empty where nothing was run.
        curves: The models by name of the curve; of one share of the steps and the same images each.
    """

    report: Report
    curve_of: dict[str, str]
    curves: dict[str, Curve]


class Run(NamedTuple):
    """An experiment of the store, as a row of a page.

    Attributes:
        key: `Experiment.key`.
        title: Name as a person gives it, unlike the titles of all other rows.
        task: The task in a few words.
        model: The model in a few words.
        steps: Steps of the last network.
        networks: How many can be read.
        finished: When the last one was.
        kind: Agent or network.
        unseen: Reason that no network of it can be shown; empty without any.
        uncharted: Why it has no profile; empty if it has one.
        note: Unreadable files with the reason; empty without any.
    """

    key: str
    title: str = "unknown"
    task: str = ""
    model: str = ""
    steps: int = 0
    networks: int = 0
    finished: str = ""
    kind: str = "network"
    unseen: str = "its records cannot be read"
    uncharted: str = "its records cannot be read"
    note: str = ""


class Looked(NamedTuple):
    """A trained network with the problems of its run.

    Attributes:
        experiment: The experiment that was run.
        network: The network, in evaluation mode.
        sets: The problems, by regime; the first ones where they are many. None of an agent.
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
        modules: Files with classes of one's own that records name.
    """

    def __init__(self, records: Path, results: Path, modules: Sequence[Path] = ()) -> None:
        self.folder = records
        self._own = own_parts(modules)
        self._exports = dict.fromkeys((records, results))
        self._damage: dict[str, str] = {}
        self._levels = self._read_levels()
        self._reading = threading.RLock()
        self._titles: dict[str, str] = {}
        self._runs: tuple[_Stamp, dict[str, list[Record]], list[Run]] = ((), {}, [])
        self._results: dict[str, tuple[_Stamp, Results]] = {}
        self.looked = lru_cache(2)(self._looked)
        self._run_curve = lru_cache(4096)(
            lambda key, _, title: _curve_of_run(self._runs[1][key], title, self._own)
        )  # reads no records: a file that changes meanwhile would be read within its own reading

    @cached_property
    def store(self) -> Store:
        """Records of the folder; an empty folder is an error."""
        return Store(self.folder)

    @property
    def folders(self) -> tuple[Path, ...]:
        """Folders of records and exports."""
        return tuple(self._exports)

    @property
    def notes(self) -> list[str]:
        """Files that cannot be read, each with the reason."""
        return [f"{name} cannot be read: {reason}" for name, reason in [*self._damage.items()]]

    @property
    def exported_tables(self) -> int:
        """Number of tables with exports."""
        return sum(
            any((folder / f"{name}.jsonl").is_file() for folder in self._exports) for name in TABLES
        )

    @property
    def lacking(self) -> str:
        """Folder without records, in a sentence; empty where there are some."""
        if self.run_rows or any((self.folder / f"{name}.jsonl").is_file() for name in TABLES):
            return ""
        where = self.folder.absolute()
        what = "there is no such folder" if not where.exists() else "it holds no records"
        return f"No records were found in {where}: {what}."

    def _read_levels(self) -> Levels:
        """Read the floors and ceilings of the folders that hold them."""
        readable = []
        for folder in self._exports:
            with self._guarded(f"floors and ceilings in {folder}"):
                Levels(folder, measure=False)
                readable.append(folder)
        return Levels(*readable, measure=False)

    @contextlib.contextmanager
    def _guarded(self, what: object) -> Iterator[None]:
        """Note an error of the block in place of raising it, until the block succeeds."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 — whatever a file holds, the others are shown
            self._damage[str(what)] = excerpt(f"{error}" or type(error).__name__)
        else:
            self._damage.pop(str(what), None)

    @property
    def runs(self) -> Mapping[str, list[Record]]:
        """Records of the store by experiment, the latest first; none without a store."""
        with self._reading:  # the first page asks for several parts at once
            return self._read_runs()

    def _read_runs(self) -> Mapping[str, list[Record]]:
        """Read the records of the store, unless it is as it was before."""
        path = self.folder / "records.sqlite"
        now = _stamp(path, path.with_name(f"{path.name}-wal"))
        with self._guarded(f"the folder of records {self.folder}"):
            if self.folder.exists() and not self.folder.is_dir():
                raise ValueError("it must be a folder")
            if os.path.lexists(path) and not path.is_file():
                raise ValueError(f"{path.name} must be a file, not a folder or a link to none")
        if now != self._runs[0]:
            contents: dict[str, tuple[list[Record], dict[Any, str]]] = {}
            with self._guarded(path):
                contents = self.store.contents() if now else {}
            found = [(key, records) for key, (records, _) in contents.items() if records]
            found.sort(key=lambda item: _finished(item[1][-1]), reverse=True)
            runs = dict(found)
            order = [*runs, *(key for key in contents if key not in runs)]
            titles = {key: title_of(one[-1].task, one[-1].model) for key, one in runs.items()}
            notes = [f"{one[-1].steps:,} steps" for one in runs.values()]
            self._titles = dict(
                zip(runs, distinct([*titles.values()], notes, [*runs]), strict=True)
            )
            self._runs = (now, runs, [])  # `_run_curve` reads them
            self._runs[2].extend(self._row(key, *contents[key]) for key in order)
        return self._runs[1]

    @property
    def run_rows(self) -> list[Run]:
        """List a row for each experiment of the store, unreadable experiments included."""
        _ = self.runs
        return self._runs[2]

    def _row(self, key: str, records: Sequence[Record], damaged: Mapping[Any, str]) -> Run:
        """Build the row of an experiment."""
        note = "; ".join(
            f"seed {seed} cannot be read: {excerpt(reason)}" for seed, reason in damaged.items()
        )
        if not records:
            return Run(key=key, note=note or "no record of it can be read")
        last, curve = records[-1], self._run_curve(key, len(records), self._titles[key])
        return Run(
            key=key,
            title=self._titles[key],
            task=excerpt(last.task),
            model=excerpt(last.model),
            steps=last.steps,
            networks=len(records),
            finished=_finished(last),
            kind="agent" if "AgentNetwork" in last.model or "Quantile" in last.model else "network",
            unseen=self.unseen(records[0]),
            uncharted=curve if isinstance(curve, str) else "",
            note=note,
        )

    def unseen(self, record: Record) -> str:
        """Give the reason that a network cannot be shown; empty if it can.

        Args:
            record: Record of its run.
        """
        if missing := sorted(names_of_others(record.experiment) - self._own.keys()):
            return f"it takes {excerpt(', '.join(missing))}: {WITH_MODULE}"
        try:
            task = self.experiment(record).task
        except Exception as error:  # noqa: BLE001 — whatever a record holds, the others are shown
            why = "" if str(error).startswith("described ") else f": {excerpt(error)}"
            return f"its record describes no experiment that this version can make again{why}"
        if isinstance(task, Environment) and not isinstance(task, HasPictures):
            return f"it is an agent in {task.name}, which has no pictures"
        return ""

    def experiment(self, record: Record) -> Experiment:
        """Build the experiment of a record.

        Args:
            record: Record of one of its runs.
        """
        return Experiment.from_json(record.experiment, classes=self._own)

    def title(self, key: str) -> str:
        """Find the title of an experiment with records.

        Args:
            key: `Experiment.key`.
        """
        self.records(key)
        return self._titles[key]

    def records(self, key: str) -> Sequence[Record]:
        """Read the records of an experiment.

        Args:
            key: `Experiment.key`.

        Raises:
            UnknownNameError: If none of it is in the store.
        """
        if key not in self.runs:
            raise UnknownNameError("experiment", key, self.runs)
        return self.runs[key]

    def results(self, name: str) -> Results:
        """Collect the results of a table.

        Args:
            name: Key of the table.

        Raises:
            UnknownNameError: If there is none.
            ValueError: If a file of exports is damaged.
        """
        if name not in TABLES:
            raise UnknownNameError("table", name, TABLES)
        exports = [folder / f"{name}.jsonl" for folder in self._exports]
        exports = [path for path in exports if path.exists()]
        tasks = {type(claim.experiment.task).__name__ for claim in TABLES[name].claims}
        runs = {
            key: records
            for key, records in self.runs.items()
            if records[0].task.partition("(")[0] in tasks  # a key of a claim takes long to make
        }
        now = (*_stamp(*exports), *((key, len(records)) for key, records in runs.items()))
        if name not in self._results or self._results[name][0] != now:
            made = self._made(TABLES[name], exports, runs)
            self._results[name] = (now, made)
        return self._results[name][1]

    def _made(
        self, table: Table, exports: Sequence[Path], runs: Mapping[str, list[Record]]
    ) -> Results:
        """Collect the results of a table from exports and from matching runs."""
        reports: list[tuple[str, Report]] = []
        for path in exports:
            with self._guarded(path):
                missing = load_missing(path.parents[1])
                found_there = recorded_reports(table, path, self._levels, missing)
                reports += [(kind.title, report) for kind, report in found_there.items()]
        for budget in Budget if runs else ():
            reports.append(("", self._tabulated(table, runs, budget)))
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

    def _tabulated(self, table: Table, runs: Mapping[str, list[Record]], budget: Budget) -> Report:
        """Tabulate a table from runs, without unreadable runs."""

        def tabulated(some: Mapping[str, list[Record]]) -> Report:
            find = records_at(lambda key, _: some.get(key, ()), budget)
            return tabulate(table, find, budget, self._levels)

        try:
            return tabulated(runs)
        except Exception:  # noqa: BLE001 — of which run, is found next
            usable = {}
            for key, records in runs.items():
                with self._guarded(f"experiment {key[:12]}"):
                    tabulated({key: records})
                    usable[key] = records
            return tabulated(usable)

    @property
    def run_curves(self) -> list[Curve]:
        """Profiles of the experiments in the store, except experiments on a user's task."""
        found = (
            self._run_curve(key, len(records), self._titles[key])
            for key, records in self.runs.items()
        )
        return [curve for curve in found if isinstance(curve, Curve)]

    def curve(self, key: str) -> Curve:
        """Find a curve by its name.

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
        """Load a trained network and its problems.

        Args:
            key: `Experiment.key`.

        Raises:
            ValueError: If there is no such run, or no file of its classes was named.
            StoreError: If its weights cannot be used.
        """
        seeds = {record.seed: record for record in self.records(key)}
        if seed not in seeds:
            raise StoreError(f"seed {seed} of experiment {key} is not recorded in {self.folder}")
        experiment = self.experiment(seeds[seed])
        network = trained_network(experiment, seed, self.store)
        if isinstance(experiment.task, Environment):
            return Looked(experiment, network, {})
        task = experiment.problem_task
        if isinstance(task, DrawsFirst):
            sets = task.draw_first(stream(seed, "problems"))
        else:
            sets = problems_of_run(task, seed)
        return Looked(experiment, network, sets)


def _points_of_run(records: Sequence[Record], own: Mapping[str, Any]) -> Sequence[Point]:
    """Build the points of a profile, of one's own task too."""
    if not names_of_others(records[0].experiment):
        return recorded_profile(records).points
    experiment = Experiment.from_json(records[0].experiment, classes=own)
    return extrapolation_profile(experiment.task, records, experiment.perturbations).points


def _curve_of_run(records: Sequence[Record], title: str, own: Mapping[str, Any]) -> Curve | str:
    """Build the profile of an experiment of the store, or give the reason that there is none."""
    first = records[0]
    try:
        points = _points_of_run(records, own)
        measure = points[0].measure
    except KeyError as error:
        return f"a score is missing: {excerpt(error.args[0])}"
    except Exception:  # noqa: BLE001 — whatever a record holds, the others are shown
        if missing := sorted(names_of_others(first.experiment.get("task")) - own.keys()):
            return f"its task is {excerpt(', '.join(missing))}: {WITH_MODULE}"
        return "its task is none of Farfield's, or of another version"
    scale = 100 if measure.percent else 1
    return Curve(
        key=f"run|{first.key}",
        label=title,
        about=task_title(first.task),
        group="Your runs",
        unit=points[-1].unit,
        score=f"{measure.label}{measure.unit}",
        marks=tuple(
            _mark(
                point.distance,
                point.regime,
                values := [scale * value for value in point.values],
                point.measure.interval(values, scale=scale) if len(values) >= FEWEST else None,
                None,
            )
            for point in points
        ),
    )


def _curve_key(table: str, row: Row, images: str) -> str:
    """Build the name of a curve from its table, model, score, share of the steps and images."""
    claim, share = row.claim, f"{100 * (row.judgement.fraction or 0):.3g} %"
    return f"{table}|{claim.subject}|{claim.row}|{claim.metric}|{share}|{images}"


def _curve(key: str, rows: Sequence[Row]) -> Curve:
    """Name the cells of a model in a table, with their exceptional settings."""
    claim = rows[0].claim
    measure = measure_of(claim.metric)
    *_, share, images = key.split("|")
    notes = [f"{share} of steps"] * (share != "100 %") + [images] * bool(images)
    return Curve(
        key=key,
        label=", ".join([claim.row, *notes]),
        about=claim.subject,
        group=claim.subject,
        unit=rows[-1].unit,
        score=f"{measure.label}{' %' if claim.published.unit == 'percent' else ''}",
        marks=tuple(
            _mark(
                row.distance,
                row.claim.regime,
                row.values,
                row.interval if len(row.values) >= FEWEST else None,
                _published(row),
            )
            for row in sorted(rows, key=lambda row: row.distance)
        ),
    )


def _published(row: Row) -> float | None:
    number = row.claim.published
    return number.mean if isinstance(number, Published) else None


def _mark(
    distance: float,
    regime: str,
    values: Sequence[float],
    interval: Interval | None,
    published: float | None,
) -> Mark:
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
    """Escape a name to a pattern that only that name matches."""
    return re.sub(r"[*?\[]", lambda sign: f"[{sign[0]}]", cell)


def _stamp(*paths: Path) -> _Stamp:
    """Stamp the existing files by time and size, which differ after each change."""
    states = [(path, path.stat()) for path in paths if path.is_file()]
    return tuple((path, state.st_mtime_ns, state.st_size) for path, state in states)
