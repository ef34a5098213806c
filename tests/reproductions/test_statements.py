"""Statements: what papers say of several cells at once, and how it is judged."""

import math
import re

import msgspec
import numpy as np
import pytest

from each import each
from farfield.core import stream
from farfield.reproductions import (
    TABLES,
    Statement,
    Verdict,
)
from farfield.reproductions._comparisons import (
    Cells,
    Gap,
    Parameters,
    Ratio,
    Single,
    Wins,
    as_measured,
    as_published,
)
from farfield.reproductions.internal import STATEMENTS, judge_statement
from reproductions.made_up import claim, records, unpublished

COMPUTED = [one for one in STATEMENTS.values() if one.comparison and one.comparison.cells]
PRINTED = [one for one in COMPUTED if not isinstance(one.comparison, Single)]

FIRST = claim(mean=80.0, row="LSTM + TCN")
SECOND = claim(mean=60.0, row="LSTM", hidden_size=256)


def cells(*claims, **options) -> Cells:
    return Cells(claims=claims, **options)


def statement(comparison, low: float, high: float, **options) -> Statement:
    return Statement(
        paper="webb2021", name="made-up", about="made up", quote="made up", where="nowhere",
        comparison=comparison, low=low, high=high, **options,
    )  # fmt: skip


def find(scores):
    """Records of made-up claims, ten networks each, around a mean."""
    noise = np.linspace(-1, 1, 10)

    def of(asked):
        mean, spread = scores[asked.row]
        return records(asked, [100 * (mean + spread * one) for one in noise])

    return of


@each("one", COMPUTED)
def test_what_a_statement_is_about_are_cells_of_tables(one: Statement) -> None:
    for cell in one.claims:
        assert TABLES[cell.home].cells[cell.cell] == cell


@each("one", PRINTED)
def test_what_is_said_follows_from_the_printed_cells(one: Statement) -> None:
    number = as_published(one.comparison)
    if number is not None:
        assert one.low <= number <= one.high


def test_which_statements_follow_from_printed_cells() -> None:
    followed = {one.key for one in PRINTED if as_published(one.comparison) is not None}
    assert followed == {
        "gondal2021/best-in-test",
        "gondal2021/best-in-validation",
        "lamb2022/atari-nfm",
        "lamb2022/ict-four-fold",
        "lamb2022/ict-quarter",
        "lamb2022/ict-supervised-mixup",
        "lamb2022/ict-two-fold",
        "lamb2022/manifold-mixup-likelihood",
        "lamb2022/manifold-mixup-outperforms",
        "lamb2022/nfm-capacity",
        "lamb2022/nfm-other-numbers",
        "lamb2022/nfm-passes",
        "lamb2022/nfm-withheld-pairs",
        "ren2017/cifar-ablations",
        "ren2017/cifar-divisive-as-batch",
        "ren2017/cifar-layer-above-batch",
        "ren2017/cifar-smoothing-and-l1",
        "ren2017/bn-fails-in-super-resolution",
        "ren2017/dn-outperforms-srcnn",
        "ren2017/ptb-batch-outperformed",
        "ren2017/ptb-smoothing-above-l1",
        "ren2017/ptb-vanilla-rnn",
        "ren2017/ptb-vanilla-rnn-as-lstm",
        "ren2017/ptb-without-smoothing",
        "webb2020/error-below-hill",
        "webb2020/error-below-sub-batch",
        "webb2020/test-statistics/all-frames",
        "webb2020/test-statistics/frames-read",
        "webb2020/test-statistics/frames-so-far",
        "webb2020/training-statistics/all-frames",
        "webb2020/training-statistics/frames-read",
        "webb2020/training-statistics/frames-so-far",
        "webb2021/normalization-helps",
        "webb2021/relation-networks",
    }


def words(text: str) -> str:
    """A text without marks of formulas, line breaks and signs that print adds."""
    return " ".join(re.sub(r"[$\\*±]|�", " ", text).split())


@each("one", STATEMENTS)
def test_what_is_quoted_stands_in_the_paper(one: Statement, paper_text) -> None:
    assert words(one.quote) in words(paper_text(one.paper))


@each(
    "one",
    [one for one in STATEMENTS.values() if one.paper != "gondal2021" and "igure" not in one.where],
)
def test_what_is_quoted_stands_where_it_is_said_to(one: Statement, paper_text) -> None:
    heading = re.compile(r"^(?:#+ )?((?:A\.)?\d+(?:\.\d+)+)\.? [A-Z]", re.MULTILINE)
    text = paper_text(one.paper)
    parts = heading.split(text)[1:]
    holding = {number for number, part in zip(parts[::2], parts[1::2], strict=True)
               if words(one.quote) in words(part)}  # fmt: skip
    assert one.where.rpartition(" ")[2] in holding


def test_deviations_of_table_1_are_those_of_print() -> None:
    said = [
        one for one in COMPUTED if isinstance(one.comparison, Single) and one.paper == "gondal2021"
    ]
    assert [round((one.low + one.high) / 2, 4) for one in said] == [0.0005, 0.0198, 0.0034, 0.0013]


@pytest.mark.parametrize(("row", "low", "high"), [("vit", 1.75e6, 1.85e6), ("ni", 5.5e5, 6.5e5)])
def test_networks_on_digits_are_as_large_as_in_print(row: str, low: float, high: float) -> None:
    one = STATEMENTS[f"gondal2021/parameters-{row}"]
    assert isinstance(one.comparison, Parameters)
    assert (one.low, one.high) == pytest.approx((low, high))
    judged = judge_statement(one, lambda _: [])
    assert judged.verdict is Verdict.REPRODUCED
    assert judged.ours == {"vit": "1.81 M", "ni": "0.63 M"}[row]


def test_models_that_are_not_built_are_cells_that_are_never_run() -> None:
    table = TABLES["gondal2021/table-2"]
    unbuilt = [cell for cell in table.claims if cell.unbuilt]
    assert {cell.row for cell in unbuilt} == {"VAE-WReN", "MXGNet"}
    assert len(unbuilt) == 8 + 12
    assert len(table.claims) == 56
    (cell,) = [c for c in unbuilt if c.cell == "triples/vae-wren/attr.rels"]
    assert str(cell.published) == "24.6"
    with pytest.raises(NotImplementedError, match="VAE-WReN is not built here"):
        cell.experiment.model.scorer.build({}, stream(0))


def test_a_ratio_of_errors_has_its_interval() -> None:
    ratio = Ratio(first=cells(FIRST, error=True), second=cells(SECOND, error=True))
    assert as_published(ratio) == 20 / 40
    found = find({FIRST.row: (0.7, 0.01), SECOND.row: (0.4, 0.01)})
    value, draws = as_measured(ratio, found)
    assert value == pytest.approx(0.5)
    error = 0.01 * np.linspace(-1, 1, 10).std(ddof=1) / math.sqrt(10)
    width = np.diff(np.quantile(draws, [0.025, 0.975]))[0] / 2
    assert width == pytest.approx(2.262 * error / 0.6 * math.hypot(1, 0.5), rel=0.05)


def test_an_error_is_no_error_of_an_error() -> None:
    cell = TABLES["webb2020/table-4"].claims[0]
    assert cells(cell, error=True).published == cell.published.mean


@pytest.mark.parametrize(
    ("low", "high", "margin", "verdict"),
    [
        (0.49, 0.51, 0.0, Verdict.REPRODUCED),
        (0.3, 0.4, 0.2, Verdict.REPRODUCED),
        (0.3, 0.4, 0.0, Verdict.DIRECTION_ONLY),
        (1.3, 1.4, 0.0, Verdict.NOT_REPRODUCED),
    ],
)
def test_verdicts_on_a_ratio(low: float, high: float, margin: float, verdict: Verdict) -> None:
    ratio = Ratio(first=cells(FIRST, error=True), second=cells(SECOND, error=True))
    found = find({FIRST.row: (0.7, 1e-3), SECOND.row: (0.4, 1e-3)})
    judged = judge_statement(statement(ratio, low, high, margin=margin), found)
    assert judged.verdict is verdict
    assert judged.ours.startswith("0.50 × [0.50 ×, 0.5")


def test_an_interval_that_is_too_wide_is_compatible() -> None:
    gap = Gap(first=cells(FIRST), second=cells(SECOND))
    found = find({FIRST.row: (0.7, 0.05), SECOND.row: (0.7, 0.05)})
    judged = judge_statement(statement(gap, -1, 1), found)
    assert judged.verdict is Verdict.COMPATIBLE


def test_a_network_that_diverged_leaves_nothing_to_judge() -> None:
    gap = Gap(first=cells(FIRST), second=cells(SECOND))
    found = find({FIRST.row: (0.7, 0.0), SECOND.row: (0.7, 0.0)})

    def broken(asked):
        (first, *others) = found(asked)
        lost = [msgspec.structs.replace(one, value=math.nan) for one in first.scores]
        return [msgspec.structs.replace(first, scores=tuple(lost)), *others]

    judged = judge_statement(statement(gap, -1, 1), broken)
    assert (judged.verdict, judged.ours) == (Verdict.DIVERGED, "")


def test_few_networks_are_underpowered_and_have_no_interval() -> None:
    gap = Gap(first=cells(FIRST), second=cells(SECOND))
    judged = judge_statement(statement(gap, 0, 30), lambda asked: records(asked, [50]))
    assert (judged.verdict, judged.ours) == (Verdict.UNDERPOWERED, "+0.0")


def test_cells_that_were_not_run_are_said() -> None:
    gap = Gap(first=cells(FIRST), second=cells(SECOND))
    judged = judge_statement(
        statement(gap, 0, 30), lambda asked: records(asked, [50] * 10) * (asked == FIRST)
    )
    assert judged.verdict is Verdict.NOT_RUN
    assert judged.reason == "1 of 2 cells run; no record"
    assert judged.ours == ""


def test_wins_are_counted_over_all_rivals() -> None:
    third = claim(mean=70.0, row="RN", hidden_size=64)
    wins = Wins(
        contests=((cells(FIRST), cells(SECOND), cells(third)), (cells(SECOND), cells(third)))
    )
    assert as_published(wins) == 1
    found = find({FIRST.row: (0.8, 1e-3), SECOND.row: (0.7, 1e-3), third.row: (0.75, 1e-3)})
    judged = judge_statement(statement(wins, 1, 1), found)
    assert (judged.verdict, judged.ours) == (Verdict.REPRODUCED, "1 of 2")
    unsure = find({FIRST.row: (0.8, 1e-3), SECOND.row: (0.7, 0.2), third.row: (0.7, 0.2)})
    assert judge_statement(statement(wins, 1, 1), unsure).ours == "1 of 2 [1 of 2, 2 of 2]"
    some = judge_statement(statement(wins, 1, 1), lambda asked: found(asked) * (asked is not FIRST))
    assert (some.verdict, some.ours) == (Verdict.NOT_RUN, "0 of 1 that were run")


def test_cells_of_the_same_networks_are_averaged_network_by_network() -> None:
    table = TABLES["webb2020/table-1"].select("context-norm/region-[23]").claims
    first, second = table

    def found(asked):
        scores = [20, 60] if asked == first else [80, 40]
        return records(asked, scores)

    ((weight, summary),) = cells(*table).ours(found)
    assert weight == 1
    assert summary.mean == pytest.approx(50)
    assert summary.standard_error == pytest.approx(0, abs=1e-9)
    assert second.experiment.key == first.experiment.key


def test_deviations_are_over_the_parts_of_a_score() -> None:
    single = Single(only=cells(FIRST, parts=True), digits=1)
    (record,) = records(FIRST, [50])
    part = record.scores[-1]
    scores = tuple(
        msgspec.structs.replace(part, metric=f"accuracy/{name}", value=value)
        for name, value in (("a", 0.4), ("b", 0.6))
    )
    whole = msgspec.structs.replace(record, scores=(*record.scores, *scores))
    assert as_measured(single, lambda _: [whole])[0] == pytest.approx(100 * 0.2 / math.sqrt(2))
    judged = judge_statement(statement(single, 0, 1), lambda _: [record])
    assert judged.verdict is Verdict.NOT_RUN
    assert "no parts of accuracy" in judged.reason


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"paper": "webb2022"}, "paper"),
        ({"low": 2.0, "high": 1.0}, "low must not exceed high"),
        ({"margin": -1.0}, "margin must be at least 0"),
        ({"comparison": None}, "missing must not be empty"),
    ],
)
def test_impossible_statements_are_refused(options, message: str) -> None:
    good = {"paper": "webb2021", "name": "a", "about": "b", "quote": "c", "where": "d",
            "comparison": Gap(first=cells(FIRST), second=cells(SECOND))}  # fmt: skip
    with pytest.raises(ValueError, match=message):
        Statement(**{**good, **options})


def test_comparisons_refuse_what_has_nothing_to_compare() -> None:
    with pytest.raises(ValueError, match="claims must not be empty"):
        cells()
    with pytest.raises(ValueError, match="a quantity and a rival each"):
        Wins(contests=((cells(FIRST),),))


def test_a_cell_that_is_not_published_gives_no_published_number() -> None:
    assert as_published(Gap(first=cells(FIRST), second=cells(unpublished()))) is None
