"""The page on neural function modules is made from its JSON."""

import json

import pytest

from benchmarks import nfm

LINES = [
    {"name": nfm.ALONE, "parameters": 1000, "flops": 2e9, "seconds": [0.1, 0.2, 1.0]},
    {"name": "two passes", "parameters": 2000, "flops": 5e9, "seconds": [0.5, 1.2, 4.0]},
]


def test_row_holds_the_medians_of_the_rounds_ratios():
    row = dict(zip(nfm.COLUMNS, nfm.cells(LINES[1], LINES), strict=True))
    assert row == {
        "network": "two passes",
        "parameters": "2,000",
        "GFLOP": "5.0",
        "ms": "1200",
        "times the network alone": "5.0",
        "range": "4.0–6.0",
    }


def test_every_contender_is_measured_in_every_round(monkeypatch):
    monkeypatch.setattr(nfm, "BATCH", 2)
    monkeypatch.setattr(nfm, "SIDE", 8)
    contenders = {nfm.ALONE: nfm.network(), "two passes": nfm.in_passes()}
    lines = nfm.measure(contenders, rounds=2)
    assert [line["name"] for line in lines] == [*contenders]
    assert all(len(line["seconds"]) == 2 and line["flops"] > 0 for line in lines)


@pytest.mark.parametrize("path", sorted(nfm.RESULTS.glob("*.json")), ids=lambda path: path.stem)
def test_every_page_is_made_from_its_json(path):
    results = json.loads(path.read_text(encoding="utf-8"))
    page = path.with_suffix(".md").read_text(encoding="utf-8")
    assert page == nfm.markdown(results)
