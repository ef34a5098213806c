"""Chapter 10 of lamb2022 on images as claims: every printed number, and the experiments."""

from __future__ import annotations

import re

import pytest

from farfield.functional.internal import NFMRules
from farfield.models import PreActResNet, PreActResNetNFM
from farfield.objectives import CropAndFlip, Mixup
from farfield.reproductions import TABLES
from farfield.reproductions.lamb2022 import PAPER

_, TABLE_2 = PAPER.numbers("nfm-table-2.tsv")
_, TABLE_9 = PAPER.numbers("nfm-table-9.tsv")


def sizes(row: str) -> tuple[int, ...]:
    """Sizes that a row of Table 9 names."""
    return tuple(map(int, re.findall(r"\d+", row)))


def cells(key: str):
    return TABLES[f"lamb2022/nfm-{key}"].claims


@pytest.fixture
def chapter(paper_text) -> str:
    text = paper_text("lamb2022")
    return text[text.index("An illustration of Neural Function Modules") :]


def test_table_2_is_that_of_the_page(chapter: str) -> None:
    for row, numbers in TABLE_2.items():
        assert f"{row.replace(',', '')} {' '.join(numbers)}\n" in chapter


def test_table_9_is_that_of_the_page(chapter: str) -> None:
    start = chapter.index("Heads Top-k dk dv Test Accuracy (%)")
    page = re.findall(r"^(\d) (\d) (\d+) (\d+) (\d+\.\d+)$", chapter[start:], re.MULTILINE)
    found = {tuple(map(int, line[:4])): (line[4],) for line in page}
    baseline, *rows = TABLE_9
    assert found == {sizes(row): TABLE_9[row] for row in rows}
    assert f"outperform the baseline accuracy of {TABLE_9[baseline][0]}%" in chapter


def test_numbers_of_the_text_are_those_of_the_page(chapter: str) -> None:
    _, rows = PAPER.numbers("nfm-text-images.tsv")
    (*_, without), (before, after, reading) = rows.values()
    assert f"({before}% to {after}% test accuracy)" in chapter
    assert f"from {without}% (baseline) to {reading}% (NFM)" in chapter
    ((nearest,),) = PAPER.numbers("nfm-text-rescaling.tsv")[1].values()
    assert f"dropped from 96.56% to {nearest}%" in chapter


def test_every_cell_is_a_claim() -> None:
    assert [len(cells(key)) for key in ("table-2", "table-9", "text-images")] == [14, 13, 5]
    found = {(claim.row, claim.column): str(claim.published) for claim in cells("table-2")}
    assert found["CIFAR-10, PreResNet18", "NFM"] == "96.56 ± 0.09 SD or SE"
    assert found["Imagenet, PreResNet18", "NFM"] == "77.1"
    unbuilt = [claim.row for claim in cells("table-2") if claim.unbuilt]
    assert unbuilt == ["Imagenet, PreResNet18"] * 2


def test_columns_differ_in_the_network_alone() -> None:
    baseline, reading = (claim.experiment for claim in cells("table-2")[2:4])
    assert baseline.model.core.cls is PreActResNet
    assert reading.model.core.cls is PreActResNetNFM
    assert dict(reading.model.core.options) == {"depth": 34, "rules": NFMRules()}
    assert baseline.recipe == reading.recipe
    assert baseline.objective == reading.objective == CropAndFlip(objective=Mixup(alpha=1.0))
    assert reading.recipe.steps == 600_000


def test_rows_of_table_9_have_the_sizes_that_they_name() -> None:
    assert len(cells("table-9")) == len(TABLE_9)
    for claim in cells("table-9")[1:]:
        rules = dict(claim.experiment.model.core.options)["rules"]
        found = (rules.num_heads, rules.top_k, rules.key_size, rules.value_size)
        assert found == sizes(claim.row)


def test_what_the_text_measures_is_of_the_networks_of_table_2() -> None:
    without, reading = (claim.experiment for claim in cells("table-2")[:2])
    found = [(claim.experiment, claim.regime) for claim in cells("text-images")]
    assert found[:4] == [
        (reading, "test"),
        (reading, "random-attention-test"),
        (without, "occlusion-16-test"),
        (reading, "occlusion-16-test"),
    ]
    rules = dict(found[4][0].model.core.options)["rules"]
    assert rules == NFMRules(space_to_depth=False)


def test_the_narrow_table_can_be_run_in_full() -> None:
    claims = cells("images-narrow")
    assert {claim.quick for claim in claims} == {1}
    assert len(claims) == 4 * 6 + 3
    assert len({claim.experiment.key for claim in claims}) == 4
