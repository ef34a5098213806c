"""What tests of the command line share: an empty folder, and the command as a user types it."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from farfield.cli import main
from farfield.cli._list import NAMES
from farfield.execution import Here
from farfield.reports import FIGURES, Figure, Quote
from farfield.reports._exhibits._representations import keys_by_position
from farfield.reproductions import TABLES, Table
from reproductions.made_up import claim
from small import small_experiment, tiny_experiment


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    status: int
    out: str
    err: str


Farfield = Callable[[str], Ended]


@pytest.fixture
def folder(
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    unchecked: Iterator[None],
) -> Path:
    """An empty folder, in which the command is typed.

    Networks are trained in this process: starting a worker takes longer than all that these train,
    and `test_interruptions.py` starts some. What a command loads is not kept from the collector of
    garbage, which would take longer here the more has been loaded. Records name no commit: those of
    a checkout with changes are not exported. No results come with Farfield, which take seconds
    to read.
    """
    monkeypatch.setattr("farfield.cli._report.recorded_results", lambda: tmp_path / "none")
    monkeypatch.setattr("farfield.records._environment._commit", lambda: "release")
    monkeypatch.setattr("farfield.cli._main._uncollected", contextlib.nullcontext)
    monkeypatch.setattr("farfield.execution._run._executor_for", lambda *_: Here())
    monkeypatch.setenv("FARFIELD_CACHE", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


@pytest.fixture
def farfield(folder: Path, capsys: pytest.CaptureFixture[str]) -> Farfield:
    """`farfield("list tasks")` does what typing it does, in this process."""

    def call(words: str) -> Ended:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(shlex.split(words))
        captured = capsys.readouterr()
        return Ended(int(ended.value.code or 0), captured.out, captured.err)

    return call


@pytest.fixture
def tiny_table(monkeypatch: pytest.MonkeyPatch) -> Table:
    """A table of two cells that train in no time: `webb2021/tiny`."""
    cells = [
        replace(
            claim(row=row),
            table="tiny",
            experiment=tiny_experiment(steps=steps),
            quick=0.5,
        )
        for row, steps in (("LSTM", 4), ("ESBN", 6))
    ]
    table = Table(key="webb2021/tiny", title="A tiny table", claims=tuple(cells))
    monkeypatch.setitem(TABLES, table.key, table)
    monkeypatch.setitem(NAMES["claims"], table.key, [table.title])
    return table


@pytest.fixture
def two_tables(tiny_table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """No tables but two: looking for records of all takes seconds."""
    kept = {key: TABLES[key] for key in (tiny_table.key, "webb2021/table-9")}
    for key in reversed([*TABLES]):
        monkeypatch.delitem(TABLES, key)
    for key, table in kept.items():  # so that all are put back in their order
        monkeypatch.setitem(TABLES, key, table)


@pytest.fixture
def small_figure(monkeypatch: pytest.MonkeyPatch) -> Figure:
    """A figure of one cell with a small ESBN: `webb2021/small-figure`."""
    cell = replace(
        claim(row="ESBN + TCN", withheld=95),
        table="small-figure",
        subject="Distribution-of-three",
        experiment=small_experiment(steps=6, evaluations=1),
        quick=0.5,
    )
    figure = Figure(
        table=Table(key="webb2021/small-figure", title="A small figure", claims=(cell,)),
        exhibits=(keys_by_position(),),
        says=(Quote(of="confused", words="kept apart"),),
        quick_networks=2,
    )
    monkeypatch.setitem(FIGURES, figure.table.key, figure)
    monkeypatch.setitem(NAMES["figures"], figure.table.key, [figure.table.title])
    return figure
