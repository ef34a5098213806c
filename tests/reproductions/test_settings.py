"""Sheets of settings: claims beside what the text says and what the released code does."""

from __future__ import annotations

import fnmatch
from collections import Counter
from functools import cache

import pytest

from farfield.reproductions import TABLES, Claim, Published
from farfield.reproductions.internal import Setting, Source, settings_of, sheet

PAPERS = ("webb2020", "gondal2021", "ren2017", "webb2021", "lamb2022")


@cache
def claims_of(paper: str) -> list[Claim]:
    """Claims of a paper that are built, each once."""
    tables = [table for key, table in TABLES.items() if key.startswith(f"{paper}/")]
    claims = {claim.name: claim for table in tables for claim in table.claims}
    return [claim for claim in claims.values() if not claim.unbuilt]


@cache
def having(paper: str) -> dict[Setting, list[tuple[Claim, Source]]]:
    """Claims that have each setting of a paper, and where they have it from."""
    return {
        setting: [
            (claim, setting.source(values))
            for claim in claims_of(paper)
            if (values := setting.values(claim))
        ]
        for setting in settings_of(paper)
    }


def of(table: str, name: str) -> dict[str, Source]:
    """Values of a setting in a table, and where they are from."""
    lines = sheet(TABLES[table].claims)
    return {line.value: line.source for line in lines if line.setting.name == name}


@pytest.mark.parametrize("paper", PAPERS)
def test_every_claim_has_a_sheet(paper: str) -> None:
    found = {claim.name for claims in having(paper).values() for claim, _ in claims}
    assert [claim.name for claim in claims_of(paper) if claim.name not in found] == []


@pytest.mark.parametrize("paper", PAPERS)
def test_every_path_is_in_the_claims_that_a_setting_names(paper: str) -> None:
    lost = []
    for setting, claims in having(paper).items():
        names = {name for claim, _ in claims for name in (claim.table, claim.name)}
        patterns = [f"{paper}/{of}" if "/" in of else of for of in setting.tables]
        lost += [(setting.name, of) for of in patterns if not fnmatch.filter(names, of)]
    assert lost == []


@pytest.mark.parametrize("paper", PAPERS)
def test_a_published_claim_that_parts_from_the_text_says_why(paper: str) -> None:
    silent = [
        (claim.name, setting.name)
        for setting, claims in having(paper).items()
        for claim, source in claims
        if not setting.why and isinstance(claim.published, Published)
        if source is Source.NEITHER
        or (source is Source.CODE and not claim.table.endswith("-released")
            and not setting.text.startswith("not said"))
    ]  # fmt: skip
    assert silent == []


@pytest.mark.parametrize("paper", PAPERS)
def test_settings_of_a_claim_have_different_names(paper: str) -> None:
    names = Counter(
        (claim.name, setting.name)
        for setting, claims in having(paper).items()
        for claim, _ in claims
    )
    assert [name for name, count in names.items() if count > 1] == []


def test_values_are_those_of_the_claims_not_the_defaults_of_the_library() -> None:
    # All claims of chapter 4 with published numbers have the loss of the code, no default.
    assert of("lamb2022/mixup-table-1a", "loss of classes") == {"True": Source.CODE}
    assert of("lamb2022/mixup-narrow", "loss of classes") == {"False": Source.NEITHER}
    name = "variance of context normalization"
    assert of("webb2021/table-9", name) == {"0": Source.TEXT}
    assert of("webb2021/table-9-released", name) == {"1": Source.CODE}


def test_parts_that_none_stands_for_are_looked_into() -> None:
    name = "reading from others"
    assert of("lamb2022/copying", name) == {"False": Source.TEXT}
    assert of("lamb2022/dispute", name) == {"True": Source.CODE}


def test_the_stage_before_has_a_path_of_its_own() -> None:
    assert of("webb2020/table-4", "steps of the autoencoder") == {"200_000": Source.TEXT}
    assert of("webb2020/table-4", "steps of the predictor") == {"20_000": Source.TEXT}


def test_a_part_is_written_with_what_it_has_beyond_its_defaults() -> None:
    values = of("webb2020/table-4", "frames behind the statistics of a context")
    assert values["SequenceNorm(correction=1, eps=1e-15, include_last=True)"] is Source.CODE
    assert values["None"] is Source.BOTH


def test_an_open_text_makes_a_choice_of_ours_and_a_said_one_a_difference() -> None:
    claim = TABLES["webb2021/table-9"].claims[0]
    options = {"name": "batch size", "path": "Recipe.batch_size", "as_text": (64,)}
    said, open_ = (Setting(**options, text=text) for text in ("64", "not said"))
    assert said.values(claim) == (32,)
    assert said.source((32,)) is Source.NEITHER
    assert open_.source((32,)) is Source.OWN
    assert said.source((64,)) is Source.TEXT


def test_a_path_without_its_field_or_a_class_without_words_is_refused() -> None:
    claim = TABLES["webb2021/table-9"].claims[0]
    with pytest.raises(ValueError, match=r"path must name a field of Recipe, got Recipe\.stepz"):
        Setting(name="steps", path="Recipe.stepz", text="100").values(claim)
    with pytest.raises(ValueError, match="does must describe a class without a field"):
        Setting(name="steps", path="Recipe", text="100")
