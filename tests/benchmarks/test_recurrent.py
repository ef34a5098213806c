"""Measurement of recurrent layers and the page that is made of it."""

from __future__ import annotations

import json

import pytest

from benchmarks import recurrent

LINES = [
    {"name": recurrent.TORCH, "seconds": [0.1, 0.2, 1.0]},
    {"name": "other", "seconds": [0.2, 0.4, 3.0]},
]


def test_a_ratio_is_the_median_of_the_rounds_ratios() -> None:
    assert recurrent.cells(LINES[1], LINES) == ("other", "400.0", "2.00", "2.00–3.00")


def test_every_contender_is_measured_in_every_round(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, size in {"BATCH": 2, "TIME": 2, "UNITS": 5, "WINDOW": 3}.items():
        monkeypatch.setattr(recurrent, name, size)
    lines = recurrent.measure(recurrent.contenders(), rounds=2)
    assert [line["name"] for line in lines] == list(recurrent.contenders())
    assert all(len(line["seconds"]) == 2 for line in lines)


@pytest.mark.parametrize(
    "path", sorted(recurrent.RESULTS.glob("*.json")), ids=lambda path: path.stem
)
def test_pages_are_those_of_their_numbers(path) -> None:
    results = json.loads(path.read_text(encoding="utf-8"))
    page = path.with_suffix(".md").read_text(encoding="utf-8")
    assert page == recurrent.markdown(results)
