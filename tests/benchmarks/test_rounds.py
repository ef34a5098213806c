"""Measurements in rounds: what is shown and what is written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks import _rounds


@pytest.mark.parametrize("quick, rounds", [(False, 11), (True, 3)])
def test_results_and_their_page_are_written(
    quick: bool,
    rounds: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def measure(number: int) -> _rounds.Lines:
        return [{"name": "layer", "seconds": [0.5] * number}]

    def cells(line: Mapping[str, Any], lines: _rounds.Lines) -> tuple[str, ...]:
        return line["name"], f"{len(line['seconds'])} of {len(lines)}"

    def page(results: Mapping[str, Any]) -> str:
        return f"batch {results['settings']['batch']}"

    monkeypatch.setattr(_rounds, "ROOT", tmp_path)
    options = _rounds.Options(quick=quick, beside="nothing", name="today")
    _rounds.publish(options, {"batch": 7}, {"images": measure}, tmp_path, page, cells)
    written = json.loads((tmp_path / "today.json").read_text())
    assert written["settings"] == {"rounds": rounds, "batch": 7, "beside": "nothing"}
    assert written["images"] == measure(rounds)
    assert (tmp_path / "today.md").read_text() == "batch 7"
    assert f"layer · {rounds} of 1\nWritten to today.json and today.md" in capsys.readouterr().out
