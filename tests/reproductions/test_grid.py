"""Claims as data: what `claims.toml`, `statements.toml` and the TSVs of a paper may say."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from farfield.reproductions import TABLES, Published, Unpublished
from farfield.reproductions import _grid as grid
from farfield.reproductions.gondal2021 import _experiments

CLAIMS = """\
[defaults]
metric = "accuracy"
unit = "percent"
runs = 3
selection = "weights of the last step"
split = "test images"
quick = 1

[digits]
title = "Digits"
experiments = "digits"
rows = ["NI", "ViT"]
columns = ["validation", { name = "MNIST", regime = "mnist", split = "images of MNIST" }]
subject = "Digits"
spread_kind = "standard error"
numbers = "digits.tsv"
but."vit/*" = { quick = 0.5, runs = 7 }
but."*/mnist" = { runs_assumed = true }

[k-mnist]
title = "K-MNIST"
experiments = "few_samples"
columns = [{ name = "150 samples", group = "samples-150" }]
regime = "k-mnist"
subject = "K-MNIST"

[[k-mnist.grids]]
rows = ["NI", "ViT"]
but."*/ni/*" = { goal = 60 }

[[k-mnist.grids]]
rows = ["ViT, small"]
quick = 0.1
"""
NUMBERS = """\
row\tvalidation\tMNIST
NI\t61.6 ± 4.9\t100.00
ViT\t-
"""
STATEMENTS_TEXT = """\
[twice]
about = "ViT over NI"
quote = "…"
where = "Figure 3"
ratio = ["digits/vit/*", ["digits/ni/validation", "digits/ni/mnist"]]
low = 2
error = true

[both]
about = "NI above ViT"
quote = "…"
where = "Figure 3"
wins = [["digits/ni/{}", "digits/vit/{}"]]
over = ["validation"]
"""


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Function from texts to be replaced, `old` by `new`, to the paper of these files."""
    monkeypatch.setattr(grid, "files", lambda _: tmp_path)

    def read(old: str = "", new: str = "") -> grid.Paper:
        for name, text in (
            ("claims.toml", CLAIMS),
            ("digits.tsv", NUMBERS),
            ("statements.toml", STATEMENTS_TEXT),
        ):
            (tmp_path / name).write_text(text.replace(old, new, 1) if old else text, "utf-8")
        return grid.Paper("gondal2021", _experiments)

    return read


def test_cells_are_read_column_by_column(paper) -> None:
    table = paper().tables["digits"]
    assert (table.key, table.title) == ("gondal2021/digits", "Digits")
    assert list(table.cells) == ["ni/validation", "vit/validation", "ni/mnist"]
    by_rows = paper("quick = 1\n", 'quick = 1\norder = "rows"\n').tables["digits"]
    assert list(by_rows.cells) == ["ni/validation", "ni/mnist", "vit/validation"]


def test_a_number_has_its_published_digits(paper) -> None:
    first, none, last = (claim.published for claim in paper().tables["digits"].claims)
    assert isinstance(first, Published)
    assert (first.mean, first.spread, first.decimals) == (61.6, 4.9, (1, 1))
    assert isinstance(last, Published)
    assert (last.mean, last.spread, last.decimals) == (100.0, None, (2, 0))
    assert isinstance(none, Unpublished)


def test_the_last_of_defaults_table_grid_column_and_but_holds(paper) -> None:
    first, none, last = paper().tables["digits"].claims
    assert [claim.quick for claim in (first, none, last)] == [1, 0.5, 1]
    assert [claim.published.split for claim in (first, none, last)] == [
        *("test images", "test images", "images of MNIST"),
    ]
    assert [claim.published.runs for claim in (first, none, last)] == [3, 7, 3]
    assert (first.published.runs_assumed, last.published.runs_assumed) == (False, True)
    claims = paper().tables["k-mnist"].claims
    assert [(claim.row, claim.quick, claim.published.goal) for claim in claims] == [
        *(("NI", 1, 60), ("ViT", 1, None), ("ViT, small", 0.1, None)),
    ]
    assert [claim.experiment for claim in claims] == [
        _experiments.few_samples(grid.Cell(claim.row, claim.regime, claim.group))
        for claim in claims
    ]


def test_a_table_like_another_has_its_keys(paper) -> None:
    like = '[again]\nlike = "digits"\ntitle = "Again"\nrows = ["ViT"]\nbut."vit/*" = { runs = 9 }\n'
    tables = paper("[k-mnist]", f"{like}\n[k-mnist]").tables
    (claim,) = tables["again"].claims
    assert (tables["again"].title, claim.cell, claim.quick) == ("Again", "vit/validation", 1)
    assert claim.published.runs == 9
    assert [claim.published.runs for claim in tables["digits"].claims] == [3, 7, 3]


def test_rows_by_hand_follow_the_cells_of_their_goals() -> None:
    rows = [claim.row for claim in TABLES["gondal2021/beyond"].claims]
    assert rows[:6] == [
        *("Pre-training", "By hand", "CLS tokens", "CLS tokens + type inference"),
        *("CLS tokens + type inference + the rest", "By hand, adaptation"),
    ]


def test_statements_compare_means_of_cells(paper) -> None:
    twice, both = paper().statements
    assert (twice.key, twice.low, twice.high) == ("gondal2021/twice", 2, math.inf)
    names = [[claim.cell for claim in cells.claims] for cells in twice.comparison.cells]
    assert names == [["vit/validation"], ["ni/validation", "ni/mnist"]]
    assert all(cells.error for cells in twice.comparison.cells)
    ((first, second),) = both.comparison.contests
    assert [claim.cell for claim in (*first.claims, *second.claims)] == [
        *("ni/validation", "vit/validation"),
    ]
    assert not first.error


def test_a_contest_leaves_a_rival_out_where_it_has_no_cell(paper) -> None:
    both = paper(
        '"digits/vit/{}"]]\nover = ["validation"]',
        '"digits/vit/{}", "digits/ni/v*"]]\nover = ["validation", "mnist"]',
    ).statements[1]
    contests = [
        [claim.cell for cells in one for claim in cells.claims] for one in both.comparison.contests
    ]
    assert contests == [
        ["ni/validation", "vit/validation", "ni/validation"],
        ["ni/mnist", "ni/validation"],
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("title = ", "heading = ", r"claims.toml: digits: Object missing required field `title`"),
        ("quick = 1\n", "quik = 1\n", r"claims.toml: digits: Object contains unknown field `quik`"),
        (
            "quick = 0.1",
            'quick = "0.1"',
            r"k-mnist: Expected `.*float.*`, got `str` - at `\$.quick`",
        ),
        (
            "quick = 0.1",
            "quick = 1.1",
            r"claims.toml: k-mnist: samples-150/vit-small/k-mnist: quick",
        ),
        (
            "runs = 7",
            "row = 7",
            r"digits: Object contains unknown field `row` - at `\$.but\[...\]`",
        ),
        (
            'regime = "mnist"',
            'regime = "mnis"',
            r"digits: ni/mnis: unknown regime 'mnis'; .*'mnist'",
        ),
        (
            'experiments = "digits"',
            'experiments = "digit"',
            r"ni/validation: unknown function .*'digits'",
        ),
        (
            '["NI", "ViT"]\ncol',
            '["NI", "VIT"]\ncol',
            r"digits: unknown row of digits.tsv 'VIT'; known: NI, ViT",
        ),
        ('["ViT, small"]', '["ViT, tiny"]', r"samples-150/vit-tiny/k-mnist: unknown 'ViT, tiny'"),
        (
            'name = "MNIST"',
            'name = "Mnist"',
            r"digits: columns must be those of digits.tsv, .*'MNIST'",
        ),
        (
            'but."vit/*"',
            'but."vat/*"',
            r"claims.toml: digits: unknown cell 'vat/\*'; .*ni/validation",
        ),
        (
            'title = "Digits"',
            'like = "digit"',
            r"claims.toml: digits: unknown table of like 'digit'",
        ),
        ("metric =", "metric ", r"claims.toml: .*line 2"),
        (
            "goal = 60",
            "goal = 600",
            r"k-mnist: samples-150/ni/k-mnist: goal of .* must lie in 0…100",
        ),
        (
            "runs = 3",
            "rule = { margn = 1 }\nruns = 3",
            r"digits: ni/validation: .*margn",
        ),
        (
            "subject",
            "k-mnist.grids = 1\nsubject",
            r"claims.toml: digits: .*unknown field `k-mnist`",
        ),
        ("61.6", "61,6", r"claims.toml: digits: ni/validation: digits.tsv: .*'61,6'"),
        (
            "61.6 ± 4.9",
            "61.6 ± -1",
            r"digits: ni/validation: digits.tsv: spread must be at least 0",
        ),
        ("100.00", "100.00\t5", r"digits.tsv: row 'NI' must occur once, with at most 2 numbers"),
        ("ViT\t-", "NI\t-", r"digits.tsv: row 'NI' must occur once"),
        ('title = "Digits"', "title = 1", r"claims.toml: digits: Expected `str`, got `int`"),
        ("low = 2", "lwo = 2", r"statements.toml: twice: Object contains unknown field `lwo`"),
        ("low = 2", 'low = "2"', r"statements.toml: twice: Expected `.*float.*`, got `str`"),
        (
            "digits/vit/*",
            "digit/vit/*",
            r"statements.toml: twice: unknown table 'digit'; .*'digits'",
        ),
        ("digits/vit/*", "digits/vat/*", r"statements.toml: twice: unknown cell 'digits/vat/\*'"),
        ("digits/vit/{}", "digits/vat/{}", r"statements.toml: both: unknown cell 'digits/vat/{}'"),
        ("low = 2", 'gap = ["digits/*", "digits/*"]', r"twice: must have one comparison, got 2"),
    ],
)
def test_an_error_names_file_table_and_field(paper, old: str, new: str, message: str) -> None:
    assert old in CLAIMS + NUMBERS + STATEMENTS_TEXT
    with pytest.raises(ValueError, match=f"^gondal2021/.*{message}"):
        paper(old, new)
