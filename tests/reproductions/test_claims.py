"""Published numbers, claims and the tables they stand in."""

import dataclasses

import numpy as np
import pytest

from farfield.core.internal import UnknownNameError
from farfield.reproductions import TABLES, Budget, Claim, Published, Table
from farfield.tasks import GlyphSet
from reproductions import made_up


def test_a_published_number_prints_as_printed():
    assert str(made_up.published(100.0, 0.0)) == "100.0 ± 0.0"
    assert str(made_up.published(99.9, 0.04, decimals=(1, 2))) == "99.9 ± 0.04"


def test_rounding_of_print_is_half_a_unit_of_the_last_digit():
    summary = made_up.published(99.9, 0.04, decimals=(1, 2)).summary
    assert summary.mean_rounding == pytest.approx(0.05)
    assert summary.error_rounding == pytest.approx(0.005)
    assert (summary.mean, summary.standard_error, summary.count) == (99.9, 0.04, 10)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: made_up.published(90.0, -0.1), "spread must be at least 0, got -0.1"),
        (lambda: made_up.published(90.0, 0.1, runs=0), "runs must be at least 1, got 0"),
        (lambda: made_up.published(99.98, 0.1), "published digits of the mean 99.98, got 1"),
        (lambda: made_up.published(99.9, 0.04), "published digits of the spread 0.04, got 1"),
    ],
)
def test_impossible_numbers_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def changed(**changes) -> Claim:
    return dataclasses.replace(made_up.claim(), **changes)


def test_claims_refuse_unknown_papers_and_shares():
    with pytest.raises(UnknownNameError, match="did you mean 'webb2021'"):
        changed(paper="web2021")
    with pytest.raises(ValueError, match=r"quick must lie in \(0, 1\], got 0"):
        changed(quick=0)


def test_a_claim_has_the_values_that_were_chosen_for_it():
    chosen = made_up.selection(hidden_size=512)
    own = made_up.claim(hidden_size=512)
    assert dataclasses.replace(own, selection=chosen).experiment.key == own.experiment.key
    with pytest.raises(ValueError, match=r"its selection \(hidden size 512, chosen among 3"):
        dataclasses.replace(made_up.claim(hidden_size=256), selection=chosen)


def test_a_claim_has_a_name_and_a_command():
    claim = made_up.claim(row="ESBN + TCN", withheld=95)
    assert claim.cell == "esbn+tcn/withheld-95"
    assert claim.name == "webb2021/table-9/esbn+tcn/withheld-95"
    short = "farfield reproduce webb2021/table-9 --cell esbn+tcn/withheld-95"
    assert claim.command(Budget.QUICK) == short
    assert claim.command(Budget.PAPER) == f"{short} --budget paper"
    assert made_up.claim(row="BN*", withheld=95).cell == "bn-star/withheld-95"
    assert changed(quick=1.0).command(Budget.PAPER) == changed().command(Budget.QUICK)


def test_budgets_pay_for_steps():
    claim = made_up.claim()
    assert claim.at(Budget.PAPER) == claim.experiment
    assert claim.at(Budget.QUICK).recipe.steps == 10
    assert changed(quick=1.0).at(Budget.QUICK) == claim.experiment


def table(*claims: Claim) -> Table:
    return Table(key="webb2021/some", title="Some", claims=claims)


def test_cells_are_selected_by_pattern():
    cells = [made_up.claim(row=row, withheld=m) for row in ("ESBN", "LSTM") for m in (0, 50)]
    whole = table(*cells)
    assert list(whole.cells) == [
        "esbn/withheld-0",
        "esbn/withheld-50",
        "lstm/withheld-0",
        "lstm/withheld-50",
    ]
    assert list(whole.select("lstm/*").cells) == ["lstm/withheld-0", "lstm/withheld-50"]
    assert list(whole.select("*-50", "esbn/withheld-0").cells) == [
        "esbn/withheld-0",
        "esbn/withheld-50",
        "lstm/withheld-50",
    ]
    assert whole.select() == whole


def test_cells_left_out_stay_at_hand_for_comparison():
    cells = tuple(made_up.claim(row=row) for row in ("ESBN", "LSTM", "NTM"))
    chosen = table(*cells).select("[en]*").select("e*")
    assert chosen.claims == cells[:1]
    assert set(chosen.others) == set(cells[1:])


def test_names_do_not_depend_on_what_is_selected():
    mixed = table(made_up.claim(), changed(table="table-10"))
    assert list(mixed.select("table-10/*").cells) == ["table-10/lstm+tcn/withheld-98"]


def test_free_fields_of_the_task_may_change():
    shapes = GlyphSet(np.random.default_rng(0).integers(0, 255, (100, 4, 4), dtype=np.uint8))
    whole = table(made_up.claim(row="ESBN"), made_up.claim(row="LSTM")).select("esbn/*")
    other = whole.with_task(shapes=shapes)
    for claim, plain in zip(
        (*other.claims, *other.others), (*whole.claims, *whole.others), strict=True
    ):
        assert claim.experiment.task.shapes is shapes
        assert claim.experiment.key != plain.experiment.key
        assert plain.same_experiment(claim.experiment.to_json(), made_up.STEPS)
        assert not plain.same_experiment(claim.experiment.at_fraction(0.5).to_json(), made_up.STEPS)
    with pytest.raises(ValueError, match="withheld is fixed by webb2021/table-9/esbn/withheld-98"):
        whole.with_task(withheld=3)


def test_a_wrong_cell_suggests_the_nearest():
    whole = table(*(made_up.claim(row=row) for row in ("ESBN", "LSTM")))
    with pytest.raises(UnknownNameError, match="did you mean 'lstm/withheld-98'"):
        whole.select("ltsm/withheld-98")


def test_a_selection_names_the_tables_it_draws_on():
    mixed = table(made_up.claim(), changed(table="table-10"))
    assert list(mixed.cells) == ["table-9/lstm+tcn/withheld-98", "table-10/lstm+tcn/withheld-98"]


def test_tables_refuse_nothing_and_doubles():
    with pytest.raises(ValueError, match="must not be empty"):
        table()
    with pytest.raises(ValueError, match="must have different names"):
        table(made_up.claim(), made_up.claim())


def test_a_number_printed_without_spread_is_compared_as_it_stands() -> None:
    number = Published(
        mean=0.13,
        spread=None,
        spread_kind="standard error",
        runs=3,
        decimals=(2, 0),
        unit="fraction",
        selection="last",
        split="test",
    )
    assert str(number) == "0.13"
    assert (number.summary.standard_error, number.summary.error_rounding) == (0.0, 0.0)
    assert number.summary.mean_rounding == pytest.approx(0.005)


def test_a_standard_deviation_becomes_the_standard_error_of_its_runs():
    of_error = made_up.published(90.0, 0.5, runs=4)
    deviation = dataclasses.replace(of_error, spread=1.0, spread_kind="standard deviation")
    assert deviation.standard_error == of_error.standard_error == 0.5
    assert deviation.summary.standard_error == 0.5
    assert deviation.summary.error_rounding == pytest.approx(0.025)  # 0.05 over √4
    assert of_error.summary.error_rounding == pytest.approx(0.05)
    assert (str(deviation), str(of_error)) == ("90.0 ± 1.0 SD", "90.0 ± 0.5")
    with pytest.raises(ValueError, match="runs must be at least 2 beside a standard deviation"):
        dataclasses.replace(deviation, runs=1)


def test_a_spread_of_unknown_kind_has_two_readings():
    number = dataclasses.replace(
        made_up.published(90.0, 1.0, runs=4), spread_kind="not said", runs_assumed=True
    )
    assert str(number) == "90.0 ± 1.0 SD or SE"
    assert [reading.standard_error for reading in number.readings] == [1.0, 0.5]
    assert number.summary == number.readings[0].summary
    assert dataclasses.replace(number, spread=None).readings[0].spread is None
    assert len(dataclasses.replace(number, spread=None).readings) == 1
    with pytest.raises(ValueError, match="runs must be at least 2 beside a standard deviation"):
        dataclasses.replace(number, runs=1)


def test_what_gives_back_its_input_trains_nothing():
    (bicubic, trained) = (
        next(c for c in TABLES["ren2017/table-8"].claims if c.row == row)
        for row in ("Bicubic", "SRCNN")
    )
    assert bicubic.trains_nothing
    assert not trained.trains_nothing
    assert not made_up.claim().trains_nothing
