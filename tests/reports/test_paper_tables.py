"""Tables for a paper: their size, the cells in bold, LaTeX and HTML that parse, aggregates."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from html.parser import HTMLParser

import numpy as np
import pytest
from matplotlib.mathtext import MathTextParser

from farfield.metrics.internal import measure_of
from farfield.reports import Comparison, ExtrapolationProfile, Tabular
from farfield.reports._profile._comparison_tables import selected
from farfield.reports._report._tabular import latex_words
from farfield.reports.internal import Point
from farfield.reproductions import TABLES
from farfield.suites import SUITES, recorded

LINES, CHARACTERS = 60, 100
"""Rows of a page, and characters of a row in a small type."""


def _point(regime: str, *values: float, metric: str = "accuracy", floor: float = 0.25) -> Point:
    return Point(regime=regime, distance=1, unit="steps", values=values, floor=floor,
                 measure=measure_of(metric), seeds=tuple(range(len(values))))  # fmt: skip


def _compared(**points: Sequence[Point]) -> Comparison:
    profiles = tuple(
        (name, ExtrapolationProfile(task="a task", points=tuple(found)))
        for name, found in points.items()
    )
    return Comparison(profiles=profiles, against=next(iter(points)))


def latex_rows(table: str) -> list[list[str]]:
    """Parse a tabular: rows of as many cells as columns, every special sign escaped, all closed."""
    begin, *lines, end = [one for one in table.splitlines() if not one.startswith("%")]
    columns = re.fullmatch(r"\\begin\{tabular\}\{@\{\}(l+r*)@\{\}\}", begin)
    assert columns
    assert end == r"\end{tabular}"
    assert not re.search(r"\\\\\s*[\[*]", table), "an option of the end of a line"
    rules = [one for one in lines if one.endswith("rule")]
    assert (lines[0], lines[-1]) == (r"\toprule", r"\bottomrule")
    assert {*rules[1:-1]} == {r"\midrule"}
    rows = []
    for one in lines:
        if one in rules:
            continue
        assert one.endswith(r" \\")
        plain = re.sub(r"\\[%&#_{}$\\]", "", one[:-3])
        assert plain.count("{") == plain.count("}")
        assert plain.count("$") % 2 == 0
        assert not re.search(r"[%#^~_<>|±−–…]", re.sub(r"\$[^$]*\$", "", plain)), one
        cells = re.split(r"(?<!\\)&", one[:-3])
        assert len(cells) == len(columns[1])
        rows.append([cell.strip() for cell in cells])
    return rows


class _Cells(HTMLParser):
    """Rows of cells, each with whether it is bold; every tag is closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[tuple[str, bool]]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag == "br":
            self.handle_data(" / ")
            return
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append(("", False))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if {"td", "th"} & {*self.open}:
            words, _ = self.rows[-1][-1]
            self.rows[-1][-1] = (words + data, "b" in self.open)


def html_rows(page: str) -> list[list[tuple[str, bool]]]:
    parser = _Cells()
    parser.feed(page)
    parser.close()
    assert not parser.open
    return parser.rows


def test_the_best_of_each_regime_is_bold_and_what_prints_alike_is_as_good() -> None:
    compared = _compared(
        mine=[_point("far", 0.5, 0.7), _point("wide", 0.2, 0.1, metric="mse")],
        other=[_point("far", 0.6001, 0.6), _point("wide", 0.3, 0.3, metric="mse")],
        worst=[_point("far", 0.3, 0.3)],
    )
    bold = [[shown for _, shown in row] for row in html_rows(compared.scores._repr_html_())]
    assert bold[1:] == [[False, True, True], [False, True, False], [False] * 3, [False] * 3]
    lines = str(compared.scores).splitlines()
    assert re.split(r" *\| *", lines[0])[1:-1] == ["model", "far, accuracy %", "wide, mse ↓"]
    assert "| **60.0 ± 10.0** |" in lines[2]
    rows = latex_rows(compared.scores.latex())
    assert rows[1][1:] == [r"\textbf{60.0 $\pm$ 10.0}", r"\textbf{0.1500 $\pm$ 0.0500}"]
    assert rows[3] == ["worst", r"30.0 $\pm$ 0.0", "--"]


def test_many_regimes_of_few_models_are_rows() -> None:
    regimes = [f"step-{number}" for number in range(9)]
    points = [_point(regime, 0.5, 0.75, 1.0) for regime in regimes]
    compared = _compared(mine=points, other=[dataclasses.replace(points[0], values=(1.0,) * 3)])
    table = compared.scores
    assert table.headings == ("regime", "mine", "other", "floor (guessing)")
    assert [cells[0] for cells in table.cells] == regimes
    assert table.bold == {(0, 2), *((row, 1) for row in range(1, 9))}
    assert table.values[0] == {
        "regime": "step-0", "mine": 0.75, "other": 1.0, "floor (guessing)": 0.25,
    }  # fmt: skip


@pytest.mark.parametrize("suite", SUITES)
def test_each_table_of_a_suite_fits_a_page(suite: str) -> None:
    points: dict[tuple[str, str], tuple[Point, ...]] = {}
    for line in recorded(suite):
        place = line.name, line.subject
        points[place] = (*points.get(place, ()), *line.profile.points)
    profiles = tuple(
        (name, ExtrapolationProfile(task=task, points=found))
        for (name, task), found in points.items()
    )
    compared = Comparison(profiles=profiles, against=profiles[0][0])
    for table in (compared.scores, compared.differences, compared.aggregates):
        rows = latex_rows(table.latex())
        assert len(rows) <= LINES
        for row in rows:
            if not any("shortstack" in cell for cell in row):
                words = [re.sub(r"\\textbf|\\pm|[{}$\\]", "", cell) for cell in row]
                assert sum(len(cell) + 2 for cell in words) <= CHARACTERS
        assert {len(row) for row in html_rows(table._repr_html_())} == {len(table.headings)}
    means: dict[tuple[str, str], list[float]] = {}
    for row in compared.tabular.values:
        sign = -1 if row["metric"] == "mse" else 1
        means.setdefault((row["task"], row["regime"]), []).append(sign * row["mean"])
    shown = [one for row in compared.scores.values for one in row.values()]
    best = [abs(max(means[place])) for place in selected(compared)[1]]
    assert {*best} <= {*shown}
    assert len(compared.scores.bold) >= len(best)


def test_aggregates_are_those_of_skills_in_test_regimes() -> None:
    mine = [_point("training", 1.0, 1.0, 1.0), _point("far", 0.25, 0.625, 1.0),
            _point("farther", 0.12, 0.2, 0.32, metric="mse", floor=0.4)]  # fmt: skip
    other = [_point("training", 0.5, 0.5, 0.5), _point("far", 0.625, 0.625, 0.4),
             _point("farther", 0.2, 0.4, 0.5, metric="mse", floor=0.4)]  # fmt: skip
    table = _compared(mine=mine, other=other, third=other[:2]).aggregates
    own, rival, third = table.values
    skills = [0.0, 0.5, 1.0], [0.7, 0.5, 0.2]
    theirs = [0.5, 0.5, 0.2], [0.5, 0.0, -0.25]
    assert own["mean"] == pytest.approx((0.5 + 1.4 / 3) / 2)
    assert own["iqm"] == pytest.approx(np.mean(sorted([*skills[0], *skills[1]])[1:5]))
    assert rival["iqm"] == pytest.approx(np.mean(sorted([*theirs[0], *theirs[1]])[1:5]))
    assert rival["iqm_difference"] == pytest.approx(rival["iqm"] - own["iqm"])
    won = [
        np.mean([0.5 * (x == y) + (x > y) for x in ours for y in old])
        for ours, old in zip(theirs, skills, strict=True)
    ]
    assert rival["improvement"] == pytest.approx(np.mean(won))
    assert rival["improvement_low"] < rival["improvement"] < rival["improvement_high"]
    assert (own["above_25"], own["above_50"], own["above_75"]) == pytest.approx(
        (2 / 3, 1 / 3, 1 / 6)
    )
    assert (own["regimes"], third["regimes"]) == (2, 1)
    assert third["improvement"] == pytest.approx(won[0])
    assert [cells[1] for cells in table.cells] == ["2", "2", "1 of 2"]
    assert table.cells[0][4:6] == ("–", "–")


def test_two_networks_have_no_interval_of_an_aggregate() -> None:
    found = _compared(mine=[_point("far", 0.5, 0.7)], other=[_point("far", 0.5, 0.6)]).aggregates
    assert (found.values[1]["iqm_low"], found.values[1]["improvement_high"]) == (None, None)
    assert found.cells[1][3] == "40.0"


def test_any_column_of_a_table_can_be_laid_out() -> None:
    table = Tabular(
        headings=("model", "task", "score"),
        cells=(("a", "x", "1"), ("b", "x", "2"), ("b", "y", "3")),
        values=({"n": 1}, {"n": 2}, {"n": None}),
    )
    found = table.pivot("model", ["task"], "score", value="n", best=lambda values: values["n"])
    assert (found.headings, found.cells) == (
        ("model", "x", "y"), (("a", "1", "–"), ("b", "2", "3")),
    )  # fmt: skip
    assert found.bold == {(1, 1)}
    assert found.csv() == "model,x,y\na,1,\nb,2,\n"
    with pytest.raises(ValueError, match=r"must be among model, task, score, got 'regime'"):
        table.pivot("model", ["regime"], "score", value="n")
    with pytest.raises(ValueError, match=r"one cell each, got two of \('b', 'b'\)"):
        table.pivot("model", ["model"], "score", value="n")


def test_a_wide_table_continues_below_and_markup_is_words() -> None:
    table = Tabular(
        headings=("name", *(f"column {number}" for number in range(9))),
        cells=(("<b> & a_b", *["100.0 ± 0.0"] * 9), ("[1] or *", *["1"] * 9)),
        values=({}, {}),
        bold=frozenset({(0, 8)}),
        note="A < b.",
    )
    rows = latex_rows(table.latex())
    assert [row[0] for row in rows] == ["name", r"$<$b$>$ \& a\_b", "{}[1] or *"] * 2
    assert rows[0][1:] == [f"column {number}" for number in range(5)]
    assert rows[3][1:] == [*(f"column {number}" for number in range(5, 9)), ""]
    assert [cell.startswith(r"\textbf") for cell in rows[4]] == [False] * 3 + [True] + [False] * 2
    cells = html_rows(table._repr_html_())
    assert cells[1][0] == ("<b> & a_b", False)
    assert "<p>A &lt; b.</p>" in table._repr_html_()
    twins = dataclasses.replace(table, cells=(table.cells[0], table.cells[0]))
    assert len(latex_rows(twins.latex())[0]) == 10  # rows that only their order tells apart


def test_latex_has_no_sign_without_a_letter_and_its_formulas_are_formulas() -> None:
    """All names of claims, and the signs of tables of mends; matplotlib reads the formulas."""
    claims = [claim for table in TABLES.values() for claim in table.claims]
    words = {word for one in claims for word in (one.row, one.subject, one.regime, one.cell)}
    words |= {table.title for table in TABLES.values()} | {"R² ≤ 1 … σ ≈ π", "mixup ←", "a → b"}
    found = " ".join(map(latex_words, sorted(words)))
    strange = {sign for sign in found if not sign.isascii()} - set("·éöü“”’")
    assert not strange
    formulas = {*re.findall(r"\$[^$]+\$", found + " ".join(map(latex_words, "±−↓≤≥×><∞†‡Πα←→")))}
    assert len(formulas) > 12
    for formula in formulas:
        MathTextParser("agg").parse(formula)


def test_latex_of_a_profile_and_of_mends_is_whole() -> None:
    table = Tabular(
        headings=("mend", "brightness+", "p (Holm)", "50 % gone"),
        cells=(("item standardization ←", "0.57 [0.41, > 4]", "1e-05", "× 2 ~ ^_{}\\#$"),),
        values=({},),
    )
    (heads, row) = latex_rows(table.latex())
    assert heads[3] == r"50 \% gone"
    assert row[0] == r"item standardization $\leftarrow$"
    assert row[1] == "0.57 [0.41, $>$ 4]"
