"""Records and reports as data frames."""

from __future__ import annotations

import sys

import pytest

from farfield.records import frame
from farfield.records.internal import scores_frame
from farfield.reports import tabulate
from farfield.reproductions import TABLES
from reproductions import made_up

DEMO = TABLES["webb2021/demo"]


def test_a_report_is_a_frame_with_what_its_rows_say() -> None:
    report = tabulate(DEMO, lambda claim: made_up.records(claim, [90.0, 92.5]))
    found = report.frame()
    assert list(found["cell"]) == [row.name for row in report.rows]
    for (_, line), row in zip(found.iterrows(), report.rows, strict=True):
        assert line["mean"] == row.judgement.ours.mean
        assert line["published"] == row.claim.published.mean
        assert line["verdict"] == row.judgement.verdict.value
        assert (line["floor"], line["networks"]) == (row.floor, 2)
        assert line["low"] < line["mean"] - line["published"] < line["high"]


def test_cells_that_were_not_run_have_no_mean() -> None:
    found = tabulate(DEMO, lambda _: []).frame()
    assert found["mean"].isna().all()
    assert set(found["verdict"]) == {"not run"}


def test_records_are_a_frame_with_a_row_for_each_score() -> None:
    claim = DEMO.claims[0]
    records = made_up.records(claim, [50.0, 75.0])
    found = scores_frame(records)
    assert len(found) == sum(len(record.scores) for record in records)
    final = found[(found["regime"] == claim.regime) & (found["metric"] == claim.metric)]
    assert list(final["value"]) == [record.final(claim.regime, claim.metric) for record in records]
    assert list(final["seed"]) == [record.seed for record in records]


def test_without_pandas_the_extra_is_named(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'farfield\[frames\]'"):
        frame([])
