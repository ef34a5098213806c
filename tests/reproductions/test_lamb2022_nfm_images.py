"""Chapter 10 of lamb2022 on images as claims: every printed number, and the experiments."""

from __future__ import annotations

import re

import pytest

from farfield.functional.internal import NFMRules
from farfield.models import PreActResNet, PreActResNetNFM
from farfield.objectives import CropAndFlip, Mixup
from farfield.reproductions import TABLES
from farfield.reproductions.lamb2022 import PAPER

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


def test_table_9_is_that_of_the_page(chapter: str) -> None:
    start = chapter.index("Heads Top-k dk dv Test Accuracy (%)")
    page = re.findall(r"^(\d) (\d) (\d+) (\d+) (\d+\.\d+)$", chapter[start:], re.MULTILINE)
    found = {tuple(map(int, line[:4])): (line[4],) for line in page}
    _, *rows = TABLE_9
    assert found == {sizes(row): TABLE_9[row] for row in rows}


def test_imagenet_is_never_run() -> None:
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
