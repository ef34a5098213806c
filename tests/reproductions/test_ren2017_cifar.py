"""The CIFAR experiments of ren2017 as claims: every published number, and what is behind it."""

from __future__ import annotations

import dataclasses
import re

import pytest

from farfield.core import stream
from farfield.experiments import SGD
from farfield.nn import MapNormalizer
from farfield.nn.internal import CenterImages
from farfield.objectives import ActivationL1, CenteredL1, CropAndFlip, Supervised
from farfield.reproductions import TABLES, judge
from farfield.reproductions.internal import STATEMENTS
from farfield.reproductions.ren2017 import PAPER
from farfield.reproductions.ren2017 import _images as networks
from farfield.tasks import ImageClasses

_, DEPENDENCE = PAPER.numbers("figure-5.tsv")


def cells(key: str):
    return TABLES[f"ren2017/{key}"].claims


def written(row: str) -> str:
    """A row as the page has it."""
    return row.replace("+ ", "+")


def test_gains_of_residual_networks_are_those_of_the_text(paper_text) -> None:
    text = paper_text("ren2017")
    gains = {
        name: f"{(one.low + one.high) / 2:.1f}%"
        for name in ("smoothing", "l1", "learned-smoothing")
        for one in [STATEMENTS[f"ren2017/resnet-{name}"]]
    }
    assert gains == {"smoothing": "2.5%", "l1": "0.5%", "learned-smoothing": "1.3%"}
    assert "sigma (2.5% gain on CIFAR-100) and the L1 regularizer (0.5%)" in text
    assert "helps the performance (1.3% gain on CIFAR-100)" in text


def test_captions_of_figure_5_are_those_of_the_page(paper_text) -> None:
    text = paper_text("ren2017")
    page = text[text.index("in the first layer at the same spatial location") :]
    caption = r"^(\S.*)\n\nRefer to caption\n\nCorr. (\S+)\n\nMI (\S+)$"
    found = re.findall(caption, page, re.MULTILINE)
    captions = {row.replace("BN-S", "BN-s").replace("LN-S", "LN-s"): pair for row, *pair in found}
    assert captions == {written(row): [*pair] for row, pair in DEPENDENCE.items()}


def test_cells_of_both_tables_are_the_same_experiments() -> None:
    first, second = (
        {(claim.row, claim.column): claim.experiment for claim in cells(key)}
        for key in ("table-3", "table-7-cifar")
    )
    shared = first.keys() & second.keys()
    assert len(shared) == 12
    assert all(first[cell] == second[cell] for cell in shared)


def test_learning_rates_fall_after_the_published_steps() -> None:
    for claim in cells("table-7-cifar"):
        recipe = claim.experiment.recipe
        falls = (5_000, 30_000, 50_000) if "Base" in claim.row else (30_000, 50_000, 80_000)
        assert recipe.steps == falls[-1]
        for number, fall in enumerate(falls):
            assert recipe.rate(fall - 1) == pytest.approx(1e-3 / 10**number)
        assert (recipe.batch_size, recipe.optimizer) == (100, SGD(momentum=0.9))


def test_only_the_regularized_baseline_decays_and_drops() -> None:
    for claim in cells("table-3"):
        decays = claim.row == "Baseline + WD + Dropout"
        assert (claim.experiment.recipe.optimizer.weight_decay == 0.1) == decays
        core = dict(claim.experiment.model.core.options)
        assert (core.get("dropout", 0) == 0.5) == decays


def test_a_star_is_smoothing_and_a_penalty() -> None:
    for data_set, rows in networks.METHODS.items():
        for row, method in rows.items():
            penalized = row.endswith(("*", "L1"))
            kind = CenteredL1 if method.normalizer else ActivationL1
            assert isinstance(method.objective, kind if penalized else Supervised)
            if method.normalizer:
                smoothed = row.endswith(("*", "-s", "DN"))
                assert (method.normalizer.sigma > networks.PLAIN) == smoothed
                affine = row.startswith("BN") or row in {"LN", "LN + L1"}
                assert method.normalizer.affine == affine
        assert rows["BN*"].normalizer.sigma == {"cifar10": 1.0, "cifar100": 0.25}[data_set]
        assert rows["DN*"].alpha == {"cifar10": 0.005, "cifar100": 0.001}[data_set]


def test_networks_read_images_without_their_mean_and_normalize_convolutions() -> None:
    experiment = TABLES["ren2017/table-3"].cells["cifar10/dn-star/test"].experiment
    assert experiment.model.front.cls is CenterImages
    made = experiment.model.core.build({"item_shape": (3, 32, 32), "num_outputs": 10}, stream(0))
    assert made.norms[0].window == 5
    assert set(networks.CONVOLUTIONS) == {f"core.convolutions.{k}" for k in range(3)}


def test_residual_networks_learn_one_constant_a_normalizer() -> None:
    found = {claim.row: claim.experiment for claim in cells("resnet") if "100" in claim.column}
    normalizers = {
        row: dict(one.model.core.options).get("normalizer") for row, one in found.items()
    }
    assert normalizers["DN*"] == MapNormalizer(field="window", sigma=2.0, learned_sigma=True)
    assert normalizers["DN*"] == normalizers["DN, learned"]
    assert normalizers["DN, fixed"] == MapNormalizer(field="window", sigma=2.0)
    for experiment in found.values():
        assert isinstance(experiment.objective, CropAndFlip)
        assert experiment.objective.padding == 4
    assert found["DN*"].objective.objective == CenteredL1(weight=0.01)
    assert found["DN, learned"].objective.objective == Supervised()


def test_full_cells_need_data(monkeypatch) -> None:
    monkeypatch.setenv("FARFIELD_DATA", "nowhere")
    for claim in cells("table-3"):
        assert not claim.experiment.task.is_at_hand()
        assert judge(claim, [], data_missing=True).verdict.name == "NEEDS_DATA"


def test_rows_of_our_table_are_those_of_the_paper() -> None:
    claims = cells("cifar-narrow")
    assert {claim.row for claim in claims} == {
        *PAPER.numbers("table-3.tsv")[1],
        *PAPER.numbers("table-7-cifar.tsv")[1],
    }
    assert sum(claim.regime.startswith(("brightness", "contrast")) for claim in claims) == 13 * 8
    shared = {claim.experiment.key for claim in claims}
    swept = {
        (claim.row, claim.column): claim.experiment.key in shared
        for claim in cells("settings-narrow")
    }
    assert swept["LN", "σ = 0.5"]
    assert swept["BN", "α = 0.005"]


def test_rows_against_batch_normalization_have_its_gain_and_shift() -> None:
    found = {claim.row: claim.experiment for claim in cells("resnet-narrow")}
    normalizers = {
        row: dict(one.model.core.options).get("normalizer", MapNormalizer(affine=True))
        for row, one in found.items()
    }
    learned = normalizers["DN, learned"]
    own = normalizers["DN, learned, gain and shift"]
    assert own == dataclasses.replace(learned, affine=normalizers["BN"].affine)
    whole = normalizers["LN-s, learned, gain and shift"]
    assert whole == dataclasses.replace(own, field="layer")


def test_settings_are_chosen_on_validation_images_alone() -> None:
    for key in ("settings", "settings-narrow"):
        for claim in cells(key):
            assert claim.regime == "validation"
            task = claim.experiment.task
            assert isinstance(task, ImageClasses)
            assert task.validation_per_class > 0
