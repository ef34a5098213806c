"""What comes with Farfield: the records of `results/` without curves, and the same reports."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import msgspec
import pytest

from farfield.reports import FIGURES, export, illustrate, markdown, recorded_results, tabulate
from farfield.reports._export import _recorded
from farfield.reports._export._recorded import Recorded
from farfield.reports.internal import Levels, coverage, exported_at, load_export, load_missing
from farfield.reproductions import TABLES, Budget, Table
from reproductions import made_up

CHECKOUT = Path(__file__).resolve().parents[2]
SETUP = runpy.run_path(str(CHECKOUT / "setup.py"))
ESBN = made_up.claim(100.0, 0.0, row="ESBN", hidden_size=1)
TABLE = Table(key="webb2021/some", title="Some", claims=(ESBN,))


def with_curve(record):
    """A network with a point in the middle of its curve."""
    early = msgspec.structs.replace(record.scores[0], step=record.steps // 2, value=0.25)
    return msgspec.structs.replace(record, scores=(early, *record.scores))


def test_of_a_curve_its_end_is_kept_and_all_of_one_that_diverged(tmp_path) -> None:
    whole = [with_curve(record) for record in made_up.records(ESBN, [90.0, 91.0, 92.0])]
    found = made_up.diverged(whole, seed=1, step=7)
    (path,) = export(TABLE, lambda _: found, tmp_path / "results")
    (tmp_path / "results" / "webb2021" / "picture.json").write_text("{}")
    (tmp_path / "results" / "wanted.toml").write_text("run = []\n")
    old = tmp_path / "summary" / "webb2021" / "old.jsonl"
    old.parent.mkdir(parents=True)
    old.touch()
    SETUP["summarize"](tmp_path / "results", tmp_path / "summary")
    there = {path.name for path in (tmp_path / "summary").rglob("*") if path.is_file()}
    assert there == {path.name, "wanted.toml"}
    kept = [line.record for line in load_export(tmp_path / "summary" / "webb2021" / path.name)]
    assert [len(record.scores) for record in kept] == [2, len(found[1].scores), 2]
    assert [record.diverged() for record in kept] == [None, 7, None]
    for before, after in zip(found, kept, strict=True):
        last = [score for score in before.scores if score.step == before.steps]
        assert repr([score for score in after.scores if score.step == after.steps]) == repr(last)
        assert msgspec.structs.replace(after, scores=()) == msgspec.structs.replace(
            before, scores=()
        )


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Some tables of `results/`, and their summary."""
    results, summary = (tmp_path_factory.mktemp(name) for name in ("results", "summary"))
    recorded = CHECKOUT / "results"
    names = ("webb2021/table-16", "lamb2022/object-picking-narrow", "webb2020/clutter")
    for path in (*(recorded / f"{name}.jsonl" for name in names), *recorded.glob("*.*")):
        to = results / path.relative_to(recorded)
        to.parent.mkdir(exist_ok=True)
        to.write_bytes(path.read_bytes())
    SETUP["summarize"](results, summary)
    return results, summary


def test_a_summary_gives_the_same_reports_and_coverage_as_the_folder(both) -> None:
    found = [Recorded(folder).reports for folder in both]
    assert [*found[0]] == [*found[1]]
    assert len(found[0]) == 3
    for first, second in zip(*(reports.values() for reports in found), strict=True):
        pages = [[markdown(one) for one in some.values()] for some in (first, second)]
        assert pages[0] == pages[1]
        rows = [[row for one in some.values() for row in one.rows] for some in (first, second)]
        earlier = [[len(row.earlier) for row in some] for some in rows]
        assert earlier[0] == earlier[1]
    said = [
        [(one.name, one.run, one.why) for items in coverage(folder).values() for one in items]
        for folder in both
    ]
    assert said[0] == said[1]
    assert load_missing(both[1]) == load_missing(CHECKOUT / "results")
    sizes = [sum(path.stat().st_size for path in folder.glob("*/*")) for folder in both]
    assert sizes[1] < sizes[0] / 2


def test_what_needs_curves_says_that_only_the_last_point_is_recorded(both) -> None:
    figure = FIGURES["lamb2022/agents-narrow"]
    said = []
    for folder in both:
        table = figure.table
        report = tabulate(table, exported_at(folder, Budget.PAPER), levels=Levels(folder))
        (plate,) = illustrate(figure, report, None)
        said.append([finding.ours for finding in plate.findings])
    assert "only the last point recorded" not in " ".join(said[0])
    assert len(said[1]) == len(said[0])
    assert all(one.startswith("only the last point recorded") for one in said[1])


def test_an_installed_package_reads_its_summary_and_a_checkout_its_results(
    tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert recorded_results() == CHECKOUT / "results"
    package = tmp_path / "lib" / "farfield"
    monkeypatch.setattr(_recorded, "PACKAGE", package)
    with pytest.raises(ValueError, match=r"got none in .*farfield.recorded: install it again"):
        recorded_results()
    for place in (tmp_path / "results", package / "recorded"):  # the latter comes first
        place.mkdir(parents=True)
        (place / "floors-and-ceilings.jsonl").touch()
        assert recorded_results() == place


def test_a_damaged_summary_is_named_with_its_line(both, tmp_path) -> None:
    (tmp_path / "webb2021").mkdir()
    path = tmp_path / "webb2021" / "table-16.jsonl"
    lines = (both[1] / "webb2021" / "table-16.jsonl").read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], lines[2][:-20]]))
    with pytest.raises(ValueError, match=r"table-16\.jsonl, line 3: the line is cut short"):
        exported_at(tmp_path, Budget.PAPER)(next(iter(TABLES["webb2021/table-16"].claims)))


def test_a_line_of_a_summary_is_written_as_an_export_is(both) -> None:
    (line, *_) = (both[1] / "webb2021" / "table-16.jsonl").read_bytes().splitlines()
    assert line == json.dumps(json.loads(line), sort_keys=True, separators=(",", ":")).encode()
