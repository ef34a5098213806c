"""The tables and figures that the papers print."""

import re

import pytest

from farfield.reports import FIGURES
from farfield.reproductions import TABLES, Published
from farfield.reproductions.internal import PRINTED, Printed


@pytest.mark.parametrize("paper", PRINTED)
def test_every_key_is_one_and_no_published_number_is_left_out(paper: str) -> None:
    for one in PRINTED[paper]:
        keys = [f"{paper}/{key}" for key in one.keys]
        assert {*keys, *(f"{paper}/{key}" for key in one.instead)} <= TABLES.keys() | FIGURES.keys()
        claims = [
            claim
            for key in keys
            for claim in (TABLES[key] if key in TABLES else FIGURES[key].table).claims
            if isinstance(claim.published, Published)
        ]
        if one.item not in NUMBERS:
            assert len(claims) == one.numbers or not one.item.startswith("Table"), one


NUMBERS = {"Table 4"}
"""Tables a row of which is tested by several cells."""


def test_every_caption_has_its_entry(paper_text) -> None:
    for paper in ("webb2020", "gondal2021", "ren2017", "webb2021"):
        found = re.findall(r"(?m)^(Table|Figure) (S?\d+[abc]?)[.:] ", paper_text(paper))
        items = {one.item for one in PRINTED[paper]}
        missing = {f"{kind} {number}" for kind, number in found} - items
        assert missing <= {"Figure 5"}, (paper, missing)  # gondal2021 prints it as 5a, 5b and 5c


def test_an_item_has_claims_or_a_reason() -> None:
    with pytest.raises(ValueError, match="Table 1 must have keys or why"):
        Printed("Table 1", 3)
