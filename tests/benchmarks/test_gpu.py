"""Measurement of networks together on a GPU, its sums and the page that is made of it."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
import torch

from benchmarks import gpu
from farfield.experiments import Network
from farfield.reproductions import TABLES
from small import SMALL_ENCODER, SMALL_LSTM

TASKS = ("same-different", "relational-match-to-sample", "distribution-of-three", "identity-rules")


def test_hours_are_those_of_every_step_of_a_model_on_a_task() -> None:
    claims = [claim for home in gpu.GRID for claim in TABLES[home].claims]
    groups = gpu.cells(claims)
    assert sum(map(len, groups.values())) == len(claims)
    own = [c for c in claims if c.row.removesuffix(" + TCN") == "ESBN" and "table-9" in c.home]
    assert groups["ESBN", "same-different"][0].experiment.recipe.steps == 29_400
    steps = sum(claim.experiment.recipe.steps for claim in own)
    assert sum(c.experiment.recipe.steps for c in groups["ESBN", "same-different"]) == steps
    assert gpu.hours({"steps": 7_200, "replayed": 0.5}) == 1.0
    line = {"steps": 7_200, "replayed": 0.5, "tf32": 0.25, "evaluations": 10, "scores": 360.0}
    assert gpu.hours(line) == 2.0
    assert gpu.hours(line, "tf32") == 1.5


def test_a_tiny_grid_is_measured_on_a_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    claim = TABLES["webb2021/table-9"].claims[0]
    tiny = Network(reasoner=SMALL_LSTM, encoder=SMALL_ENCODER)
    claim = dataclasses.replace(claim, experiment=dataclasses.replace(claim.experiment, model=tiny))
    monkeypatch.setattr(gpu, "WARM_UP", 0)
    monkeypatch.setattr(gpu, "cells", lambda claims: {("LSTM", name): [claim] for name in TASKS})
    lines = gpu.measure(gpu.Options(device="cpu", quick=True), 1)
    assert [line["task"] for line in lines] == [TASKS[0], TASKS[2]]
    for line in lines:
        assert len(gpu.row(line, lines)) == len(gpu.COLUMNS)
        assert not line["recorded"]
        assert gpu.hours(line) > line["steps"] * line["replayed"] / 3600
    assert gpu.row(lines[0], lines)[5] != gpu.row(lines[1], lines)[5] == ""
    assert torch.get_float32_matmul_precision() == "highest"


@pytest.mark.parametrize("path", sorted(gpu.RESULTS.glob("*.json")), ids=lambda path: path.stem)
def test_a_page_is_made_of_its_numbers(path: Path) -> None:
    results = json.loads(path.read_text(encoding="utf-8"))
    assert path.with_suffix(".md").read_text(encoding="utf-8") == gpu.markdown(results)
