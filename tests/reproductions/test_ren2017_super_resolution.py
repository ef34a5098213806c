"""Super-resolution of ren2017 as claims: every printed number, and the experiments behind them."""

from __future__ import annotations

import math

import pytest
from torch import nn

from farfield.experiments import SGD
from farfield.models import SRCNN
from farfield.nn import MapNormalizer
from farfield.objectives import CenteredL1, Supervised
from farfield.reproductions import TABLES


def claims(key: str):
    return TABLES[f"ren2017/{key}"].claims


def test_rows_differ_in_the_normalizer_and_the_rule_alone() -> None:
    rows = {claim.row: claim.experiment for claim in claims("table-5") if claim.metric == "psnr"}
    for row in ("SRCNN", "BN", "DN*"):
        recipe = rows[row].recipe
        assert (recipe.steps, recipe.learning_rate) == (4_000_000, 1e-4)
        assert recipe.optimizer == SGD(momentum=0.9)
        assert rows[row].model.core.cls is SRCNN
    options = {row: dict(rows[row].model.core.options) for row in ("SRCNN", "BN", "DN*")}
    assert options == {
        "SRCNN": {},
        "BN": {"normalizer": MapNormalizer(affine=True)},
        "DN*": {"normalizer": MapNormalizer(field="window", sigma=1.0)},
    }
    assert rows["SRCNN"].objective == rows["BN"].objective == Supervised()
    assert rows["DN*"].objective == CenteredL1(weight=0.1)


def test_scales_and_sets_are_those_of_the_columns() -> None:
    for key, regime in (("table-5", "set14"), ("table-6", "bsd200"), ("table-8", "set5")):
        for claim in claims(key):
            assert claim.regime == regime
            assert f"(×{claim.experiment.task.scale})" in claim.column
            assert claim.column.startswith(claim.metric.upper())
    tasks = [claim.experiment.task for claim in claims("captions")]
    assert {(task.scale, task.shave) for task in tasks} == {(4, 4)}


def test_bicubic_enlargement_is_run_once_and_held_to_its_digits() -> None:
    for key in ("table-5", "table-6", "table-8"):
        for claim in (one for one in claims(key) if one.row == "Bicubic"):
            assert claim.experiment.model.core.cls is nn.Identity
            assert (claim.experiment.recipe.steps, claim.quick) == (1, 1)
            assert claim.rule.margin == pytest.approx(10.0 ** -claim.published.decimals[0])


def test_floors_are_known_of_psnr_alone() -> None:
    floors = {claim.metric: claim.floor for claim in claims("table-5")}
    assert floors["psnr"] == pytest.approx(6.0206, abs=1e-4)
    assert math.isnan(floors["ssim"])
