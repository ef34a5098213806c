"""Measurement of layers under `torch.compile`, and the page that is made of it."""

from __future__ import annotations

import json

import pytest

from benchmarks import compiled

LINE = {"name": "one", "nodes": 9, "compile": 1.25, "compiled": [2, 3, 9], "eager": [1, 2, 3]}


def test_a_ratio_is_the_median_of_the_rounds_ratios() -> None:
    assert compiled.cells(LINE, []) == ("one", "9", "1.2", "2000.0", "2.00", "1.50–3.00")


@pytest.mark.parametrize(
    "path", sorted(compiled.RESULTS.glob("*.json")), ids=lambda path: path.stem
)
def test_pages_are_those_of_their_numbers(path) -> None:
    results = json.loads(path.read_text(encoding="utf-8"))
    page = path.with_suffix(".md").read_text(encoding="utf-8")
    assert page == compiled.markdown(results)
    assert {line["name"] for line in results["lines"]} == compiled.contenders().keys()
