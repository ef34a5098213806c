"""What tests of the explorer share: a folder with runs and exports, and its pages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from starlette.testclient import TestClient

from farfield.execution import Here, jobs_of, run
from farfield.experiments import Spec
from farfield.explorer import application
from farfield.models import Transformer
from farfield.records import Store
from farfield.reports import export
from farfield.reproductions import TABLES, Claim
from reproductions import made_up
from small import small_experiment

TABLE = TABLES["webb2021/table-9"]
EXPORTED = TABLE.cells["lstm+tcn/withheld-98"]
SHORTER = TABLE.cells["lstm+tcn/withheld-95"]
PERCENTS = made_up.spread_out(made_up.number_of(EXPORTED), 0.1)


class Explored(NamedTuple):
    """The pages of a folder, and the experiments that were trained there."""

    pages: TestClient
    folder: Path
    esbn: str
    transformer: str


def exported(claim: Claim) -> list:
    """Ten networks that reproduce one cell; three with a tenth of the steps of another."""
    if claim == EXPORTED:
        return made_up.records(claim, PERCENTS, steps=claim.experiment.recipe.steps)
    if claim == SHORTER:
        steps = claim.experiment.recipe.steps // 10
        return made_up.records(claim, [50.0, 60.0, 70.0], steps=steps)
    return []


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An empty cache folder."""
    monkeypatch.setenv("FARFIELD_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="session")
def explored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Explored]:
    """Two small trained networks, and exports of two cells of `webb2021/table-9`."""
    folder = tmp_path_factory.mktemp("explored")
    export(TABLE, exported, folder / "results")
    esbn = small_experiment(steps=4, evaluations=1)
    reader = Spec(Transformer, num_heads=2, feedforward_size=8)
    transformer = replace(esbn, model=replace(esbn.model, reasoner=reader))
    run(jobs_of([esbn, transformer], seeds=[3]), Store(folder / "runs"), Here())
    app = application(folder / "runs", folder / "results")
    with TestClient(app, base_url="http://127.0.0.1:8080") as pages:
        yield Explored(pages, folder, esbn.key, transformer.key)
