"""The page on neural function modules is made from its JSON."""

import json

import pytest
import torch
from benchmarks.straightforward_nfm import DirectPasses

from benchmarks import nfm
from farfield.functional.internal import NFMRules
from made import drawn, unsettled

LINES = [
    {"name": nfm.ALONE, "parameters": 1000, "flops": 2e9, "bytes": 1e7, "seconds": [0.1, 0.2, 1.0]},
    {
        "name": "two passes",
        "parameters": 2000,
        "flops": 5e9,
        "bytes": 3e7,
        "seconds": [0.5, 1.2, 4.0],
    },
]


def test_row_holds_the_medians_of_the_rounds_ratios():
    row = dict(zip(nfm.COLUMNS, nfm.cells(LINES[1], LINES), strict=True))
    assert row == {
        "network": "two passes",
        "parameters": "2,000",
        "GFLOP": "5.0",
        "ms": "1200",
        "times the network alone": "5.00",
        "range": "4.00–6.00",
        "MB": "30",
        "times its memory": "3.00",
    }


def test_every_contender_is_measured_in_every_round(monkeypatch):
    monkeypatch.setattr(nfm, "BATCH", 2)
    monkeypatch.setattr(nfm, "SIDE", 8)
    monkeypatch.setattr(nfm, "WIDTH", 4)
    contenders = {nfm.ALONE: nfm.network(), "two passes": nfm.in_passes()}
    lines = nfm.measure(contenders, rounds=2)
    assert [line["name"] for line in lines] == [*contenders]
    assert all(len(line["seconds"]) == 2 and line["flops"] > 0 for line in lines)
    assert lines[1]["bytes"] > lines[0]["bytes"] > 0


def test_memory_is_the_most_that_is_held_at_once():
    def work():
        for _ in range(3):
            x = torch.zeros(250_000)
            del x

    assert 1_000_000 <= nfm.peak_bytes(work) < 1_100_000


@pytest.mark.parametrize("passes", [1, 2])
def test_by_loops_it_is_the_same(monkeypatch, passes):
    monkeypatch.setattr(nfm, "WIDTH", 4)
    model = unsettled(nfm.in_passes(passes=passes, rules=NFMRules.released()).double())
    images = drawn(2, 3, 32, 32)
    direct = DirectPasses(model)
    torch.testing.assert_close(direct.eval()(images), model.eval()(images))


@pytest.mark.parametrize("path", sorted(nfm.RESULTS.glob("*.json")), ids=lambda path: path.stem)
def test_every_page_is_made_from_its_json(path):
    results = json.loads(path.read_text(encoding="utf-8"))
    page = path.with_suffix(".md").read_text(encoding="utf-8")
    assert page == nfm.markdown(results)
