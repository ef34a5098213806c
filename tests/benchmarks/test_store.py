"""The page on the folder of records is made from its JSON, and a store is as large as it says."""

from __future__ import annotations

from pathlib import Path

from benchmarks import _store_report, store
from farfield.records import Store


def test_row_holds_medians_and_how_they_grew() -> None:
    lines = [
        {"runs": runs, "seconds": dict.fromkeys(_store_report.WORKS, seconds),
         "bytes": 3e6, "peak": 5e8}
        for runs, seconds in ((1_000, [0.001, 0.002, 0.9]), (10_000, [0.003, 0.002, 0.9]))
    ]  # fmt: skip
    row = dict(zip(_store_report.COLUMNS, _store_report.cells(lines[1], lines), strict=True))
    assert row["runs"] == "10,000"
    assert row["find (ms)"] == "3.00 (1.5 ×)"
    assert (row["file (MB)"], row["peak memory (MB)"]) == ("3", "500")


def test_a_store_is_as_large_as_it_says(tmp_path: Path) -> None:
    line = store.measure(300, 2, tmp_path)
    assert all(len(seconds) == 2 for seconds in line["seconds"].values())
    keys = Store(tmp_path).keys()
    assert len(Store(tmp_path).seeds(store.LARGE)) == 20 + 3  # a tenth of the filler, the rounds
    assert len(keys) == 1 + store.TIMED + 18
    assert len([*Path(tmp_path, "weights").rglob("*.safetensors")]) == 100 + 3
