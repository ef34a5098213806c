"""Super-resolution of ren2017 as claims: every printed number, and the experiments behind them."""

from __future__ import annotations

import math
import re
from collections import Counter

import pytest
from torch import nn

from farfield.experiments import SGD
from farfield.models import SRCNN
from farfield.nn import MapNormalizer
from farfield.objectives import CenteredL1, Supervised
from farfield.reproductions import TABLES
from farfield.reproductions.internal import STATEMENTS
from farfield.reproductions.ren2017 import PAPER


def numbers_between(text: str, start: str, end: str) -> Counter[str]:
    first = text.index(start)
    return Counter(re.findall(r"\b\d+\.\d+\b", text[first : text.index(end, first)]))


def printed(name: str) -> dict[str, tuple[str, ...]]:
    _, rows = PAPER.numbers(f"{name}.tsv")
    return rows


def captions(*images: str) -> dict[str, tuple[str, ...]]:
    """Numbers under some images, by image."""
    columns, rows = PAPER.numbers("captions.tsv")
    return {
        image: texts
        for image, *texts in zip(columns, *rows.values(), strict=True)
        if image in images
    }


def texts(rows: dict[str, tuple[str, ...]]) -> Counter[str]:
    return Counter(number for numbers in rows.values() for number in numbers)


@pytest.mark.parametrize(
    "numbers, start, end",
    [
        (printed("table-5"), "on Set14 Dataset.\n", "Table 6:"),
        (printed("table-6"), "on BSD200 Dataset.\n", "Refer to caption"),
        (printed("table-8"), "on Set5 Dataset.\n", "Refer to caption"),
    ],
    ids=["5", "6", "8"],
)
def test_every_number_of_a_table_is_that_of_the_page(numbers, start, end, paper_text) -> None:
    text = paper_text("ren2017")
    assert texts(numbers) == numbers_between(text, start, end)
    for row, own in numbers.items():
        assert f"{row} {' '.join(own)}\n" in text[text.index(start) :]


@pytest.mark.parametrize(
    "numbers, start, end",
    [
        (captions("lenna", "foreman", "monarch"), "on BSD200 Dataset.\n", "Figure 4:"),
        (captions("comic", "face"), "on Set5 Dataset.\n", "Figure 7:"),
    ],
    ids=["4", "7"],
)
def test_captions_are_those_of_the_page_in_its_order(numbers, start, end, paper_text) -> None:
    text = paper_text("ren2017")
    first = text.index(start)
    found = re.findall(r"PSNR (\d+\.\d+)dB", text[first : text.index(end, first)])
    assert [number for row in numbers.values() for number in row] == found


def claims(key: str):
    return TABLES[f"ren2017/{key}"].claims


@pytest.mark.parametrize(
    "key, count", [("table-5", 20), ("table-6", 20), ("table-8", 20), ("captions", 20)]
)
def test_every_number_is_a_claim(key: str, count: int) -> None:
    assert len(claims(key)) == count
    assert Counter(str(claim.published) for claim in claims(key)) == texts(printed(key))


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


def test_statements_hold_of_the_published_numbers() -> None:
    from farfield.reproductions._comparisons import as_published

    found = {
        name: as_published(STATEMENTS[f"ren2017/{name}"].comparison)
        for name in ("dn-outperforms-srcnn", "bn-fails-in-super-resolution")
    }
    assert found == {"dn-outperforms-srcnn": 8.0, "bn-fails-in-super-resolution": 4.0}
    assert found["dn-outperforms-srcnn"] == STATEMENTS["ren2017/dn-outperforms-srcnn"].low


def test_our_own_table_trains_on_the_same_patches_under_one_recipe() -> None:
    experiments = {claim.row: claim.experiment for claim in claims("super-resolution-t91")}
    assert list(experiments) == ["Bicubic", "SRCNN", "BN", "DN", "DN + L1"]
    assert len({one.task for one in experiments.values()}) == 1
    trained = [one for row, one in experiments.items() if row != "Bicubic"]
    assert len({one.recipe for one in trained}) == 1
    assert {claim.quick for claim in claims("super-resolution-t91")} == {1}
