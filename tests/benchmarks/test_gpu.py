"""Measurement of networks together on a GPU, its sums and the page that is made of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import gpu
from farfield.reproductions import TABLES


def test_hours_are_those_of_every_step_of_a_model_on_a_task() -> None:
    claims = [claim for home in gpu.GRID for claim in TABLES[home].claims]
    groups = gpu.cells(claims)
    assert sum(map(len, groups.values())) == len(claims)
    own = [c for c in claims if c.row.removesuffix(" + TCN") == "ESBN" and "table-9" in c.home]
    assert groups["ESBN", "same-different"][0].experiment.recipe.steps == 29_400
    steps = sum(claim.experiment.recipe.steps for claim in own)
    assert sum(c.experiment.recipe.steps for c in groups["ESBN", "same-different"]) == steps
    assert gpu.hours({"steps": 7_200, "replayed": 0.5}) == 1.0


@pytest.mark.parametrize("path", sorted(gpu.RESULTS.glob("*.json")), ids=lambda path: path.stem)
def test_a_page_is_made_of_its_numbers(path: Path) -> None:
    results = json.loads(path.read_text(encoding="utf-8"))
    assert path.with_suffix(".md").read_text(encoding="utf-8") == gpu.markdown(results)
