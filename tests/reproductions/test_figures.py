"""Figures: the cells behind them, and what the paper says of what is measured."""

import dataclasses
import fnmatch
import math
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from each import each
from farfield.analysis.internal import KeyOverlap, PhaseDifference
from farfield.metrics import paired_t_test
from farfield.reports import FIGURES, Figure, Quote
from farfield.reports._exhibits._representations import embeddings_by_dimension
from farfield.reports._exhibits._time_courses import time_courses
from farfield.reproductions import Published, Table

COURSES = [f"webb2021/figure-{number}" for number in (4, 5, 7, 8)]


def cells(number: int) -> list[str]:
    return list(FIGURES[f"webb2021/figure-{number}"].table.cells)


def test_rows_that_a_figure_compares_are_rows_of_it():
    compared = {
        (key, row)
        for key, figure in FIGURES.items()
        for analysis in figure.exhibits
        if analysis.name == "against_columns"
        for pair in analysis.options.get("pairs", ())
        for row in pair
    }
    assert {key for key, _ in compared} == {"gondal2021/figure-5a", "gondal2021/figure-6"}
    for key, row in compared:
        assert row in {claim.row for claim in FIGURES[key].table.claims}, (key, row)


def test_figure_5a_compares_every_interpreter_with_the_transformer_of_its_size():
    (analysis,) = FIGURES["gondal2021/figure-5a"].exhibits
    rows = {claim.row for claim in FIGURES["gondal2021/figure-5a"].table.claims}
    assert {first for first, _ in analysis.options["pairs"]} == {
        row for row in rows if row.startswith("NI")
    }
    for first, second in analysis.options["pairs"]:
        assert second == ("ViT, small" if first.endswith(", small") else "ViT")


def test_the_models_of_figure_3_are_those_with_tcn_but_one():
    claims = FIGURES["webb2021/figure-3"].table.claims
    assert len(claims) == 7 * (5 + 3 * 4)
    without = {(claim.subject, claim.row) for claim in claims if not claim.row.endswith("+ TCN")}
    assert without == {("Same/different", "PrediNet")}
    assert ("Same/different", "PrediNet + TCN") not in {(c.subject, c.row) for c in claims}
    assert all(isinstance(claim.published, Published) for claim in claims)


def test_time_courses_are_those_of_the_easiest_regime():
    for key in COURSES:
        figure = FIGURES[key]
        assert {claim.regime for claim in figure.table.claims} == {"withheld-0"}
        assert figure.exhibits == (time_courses(level=0.95),)
    assert [len(cells(number)) for number in (4, 5, 7, 8)] == [3 * 7, 7, 4 * 8, 7 + 2]
    assert {name.partition("/")[0] for name in cells(4)} == {"table-10", "table-11", "table-12"}
    assert set(cells(7)) > set(cells(4))


def test_figure_8_shows_the_default_memory_where_it_is_said_to_be_fast():
    (claim,) = (c for c in FIGURES["webb2021/figure-8"].table.claims if c.table == "table-20")
    assert claim.experiment.task.name == "relational-match-to-sample"
    assert dict(claim.experiment.model.reasoner.options) == {"default_memory": True}


def test_figure_6_holds_three_encoders_under_every_condition():
    claims = FIGURES["webb2021/figure-6"].table.claims
    rows = {claim.row for claim in claims}
    assert len(rows) == 6
    assert len(claims) == 6 * 17
    (analysis,) = FIGURES["webb2021/figure-6"].exhibits
    assert {
        name for test in analysis.options["tests"] for name in (test.first, test.second)
    } == rows


def test_losses_are_those_of_table_1_in_training():
    shown = {"S1": {"Context norm.", "Batch norm."}, "S2": {"Layer norm.", "No norm."}}
    for number, wanted in shown.items():
        figure = FIGURES[f"webb2020/figure-{number.lower()}"]
        assert {claim.row for claim in figure.table.claims} == wanted
        assert {claim.regime for claim in figure.table.claims} == {"training"}
        (analysis,) = figure.exhibits
        assert (analysis.options["metric"], analysis.options["falling"]) == ("loss", True)
        assert 0.1 < analysis.options["level"] / math.log(7) < 0.11
        assert all(figure.words(name) for name in figure.table.cells)


def test_embeddings_are_those_of_a_region_each_under_three_normalizations():
    for region in range(1, 7):
        figure = FIGURES[f"webb2020/figure-s{region + 2}"]
        regime = "training" if region == 1 else f"region-{region}"
        rows = ("context-norm", "batch-norm", "no-norm")
        assert list(figure.table.cells) == [f"{row}/{regime}" for row in rows]
        assert figure.exhibits == (embeddings_by_dimension(),)
        shares = [figure.words(f"{row}/share")[:4] for row in rows]
        assert shares == ["80 %", "62 %", "90 %"]
        linear = "a linear function" in figure.words("context-norm/linearity/size")
        assert linear == (region == 1)


def rows(figure: Figure) -> list[str]:
    """The names of a figure's cells without their regimes, each once."""
    return list(dict.fromkeys(name.rpartition("/")[0] for name in figure.table.cells))


def pairs(names: Iterable[str], *what: str) -> list[str]:
    return [f"{name}/{each}" for name in names for each in what]


def said(figure: Figure, analysis: object) -> list[str]:
    return [saying.of for saying in figure.says]


MEASURED: dict[str, Callable[[Figure, Any], Iterable[str]]] = {
    "time_courses": lambda figure, _: figure.table.cells,
    "keys_by_position": lambda figure, _: [field.name for field in dataclasses.fields(KeyOverlap)],
    "embeddings_by_dimension": lambda figure, _: pairs(rows(figure), "share", "linearity/size"),
    "activation_over_time": lambda f, _: [
        field.name for field in dataclasses.fields(PhaseDifference)
    ],
    "roll_outs": lambda figure, _: pairs(
        (f"{claim.group}/{claim.regime}" for claim in figure.table.claims),
        *("cross-entropy", "floors", "error"),
    ),
    "decision_surfaces": lambda figure, _: pairs(rows(figure), "input", "hidden", "halfway"),
    "decision_boundaries": lambda figure, _: [claim.column for claim in figure.table.claims],
    "flattening": lambda figure, analysis: pairs(
        pairs(rows(figure), *(layer for layer, _ in analysis.options["layers"])),
        "largest",
        "others",
    ),
    "activation_curves": lambda figure, _: (),
    "constants_by_layer": lambda figure, _: pairs(figure.table.cells, "depth", "last"),
    "response_pairs": lambda figure, _: pairs(
        (claim.row for claim in figure.table.claims), "correlation", "information"
    ),
    "scores_by_setting": lambda figure, _: [
        f"{claim.row}/{claim.column[0]}" for claim in figure.table.claims
    ],
    "nearest_neighbors": lambda figure, _: [claim.row for claim in figure.table.claims],
    "paired_tests": lambda figure, _: (),
    "restorations": lambda figure, analysis: pairs(
        analysis.options["images"], *(claim.row for claim in figure.table.claims)
    ),
    **dict.fromkeys(
        (
            "routing_paths",
            "types_by_iteration",
            "iterations_at_test",
            "functions_removed",
            "against_columns",
            "scored_matrix",
        ),
        said,
    ),
}
"""The names of what each exhibit of a figure measures."""


def quantities(figure: Figure) -> list[str]:
    """The names of what a figure measures."""
    return [
        name
        for analysis in figure.exhibits
        for name in MEASURED.get(analysis.name, lambda *_: ("lowest", "others"))(figure, analysis)
    ]


@each("figure", FIGURES)
def test_everything_the_paper_says_is_about_something_measured(figure):
    names = quantities(figure)
    used = {figure.words(name) for name in names}
    for saying in figure.says:
        assert fnmatch.filter(names, saying.of)
        assert saying.words in used


@each("key", COURSES)
def test_every_time_course_has_words_of_the_paper(key):
    figure = FIGURES[key]
    assert all(figure.words(name) for name in figure.table.cells)
    for name in figure.table.cells:
        fast = "100 to 200" in figure.words(name)
        assert fast == ("esbn+tcn" in name)


def test_the_first_saying_that_fits_counts():
    figure = Figure(
        table=Table(key="k", title="t", claims=FIGURES["webb2021/figure-9"].table.claims),
        exhibits=(),
        says=(Quote(of="a*", words="first"), Quote(of="*b", words="second")),
    )
    assert [figure.words(name) for name in ("ab", "b", "c")] == ["first", "second", ""]


def test_a_figure_of_no_networks_is_refused():
    with pytest.raises(ValueError, match="quick_networks must be at least 1, got 0"):
        dataclasses.replace(FIGURES["webb2021/figure-9"], quick_networks=0)


def number(printed: str) -> float:
    return float(printed.replace("−", "-"))


def test_the_tests_of_the_paper_follow_from_its_tables():
    """To the digits of print, but for what rounding the means moves."""
    figure = FIGURES["webb2021/figure-6"]
    (analysis,) = figure.exhibits
    for test in analysis.options["tests"]:
        means = [
            [c.published.mean for c in figure.table.claims if c.row == row]
            for row in (test.first, test.second)
        ]
        found = paired_t_test(*means)
        assert found.count == 17
        assert found.t == pytest.approx(number(test.t), abs=0.055)
        digits = len(test.p.partition(".")[2])
        assert round(found.p, digits) == number(test.p)


WORDS = {
    ("ren2017/figure-4", "lenna/DN*"): "31.46 dB (Figure 4)",
    ("ren2017/figure-4", "lenna/SRCNN"): "31.33 dB (Figure 4)",
    ("ren2017/figure-5", "BN + L1/correlation"): "0.17 (Figure 5)",
    ("ren2017/figure-5-narrow", "LN/information"): "1.41 (Figure 5)",
    ("lamb2022/singular-values", "manifold-mixup/core.layers.0/others"): "40.98 (section 4.3.2)",
}
"""Some numbers of figures, typed from the page."""


@each("name, words", WORDS.items())
def test_numbers_are_beside_their_quantities(name, words):
    figure, quantity = name
    assert FIGURES[figure].words(quantity) == words
