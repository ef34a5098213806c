"""What a report says of its records."""

import dataclasses
import math

import pytest

from farfield.records import Store
from farfield.reports import tabulate
from farfield.reports._report import _text as text
from farfield.reports.internal import records_at
from farfield.reproductions import TABLES, Budget, Table, Verdict
from farfield.tasks import GlyphSet
from reproductions import made_up

DEMO = TABLES["webb2021/demo"]


def column():
    """Three rows of one column; the last two differ by the published numbers from the first."""
    return Table(
        key="webb2021/some",
        title="Some",
        claims=(
            made_up.claim(100.0, 0.0, row="ESBN", hidden_size=1),
            made_up.claim(60.0, 1.0, row="LSTM", hidden_size=2),
        ),
    )


def trained(claim):
    """Ten networks, ten points below print."""
    mean, error = claim.published.mean - 10, claim.published.spread
    return made_up.records(claim, made_up.spread_out(mean, error))


def test_rows_stand_in_the_order_of_the_table():
    report = tabulate(DEMO, lambda claim: [])
    assert [row.name for row in report.rows] == list(DEMO.cells)
    assert list(report.subjects) == [
        "Same/different",
        "Relational match-to-sample",
        "Distribution-of-three",
        "Identity rules",
    ]
    assert report.verdicts == {"not run": 12}
    assert report.environments == {}


def test_floor_and_ceiling_are_the_task_s():
    report = tabulate(DEMO, lambda claim: [])
    assert [row.floor for row in report.rows] == [50.0] * 6 + [25.0] * 6
    assert {row.ceiling for row in report.rows} == {100.0}
    assert [row.distance for row in report.rows] == [98.0] * 3 + [95.0] * 9
    assert {row.unit for row in report.rows} == {"withheld shapes"}


def test_a_loss_has_the_floor_and_the_ceiling_of_a_loss():
    claims = TABLES["lamb2022/table-1-copying"]
    report = tabulate(claims, lambda claim: [])
    assert [row.floor for row in report.rows] == pytest.approx([math.log(8)] * 18)
    assert [row.ceiling for row in report.rows] == pytest.approx([0.0] * 18, abs=1e-6)
    assert {(text.floor(row), text.ceiling(row)) for row in report.rows} == {("2.08", "0.00")}


def test_a_loss_without_a_known_floor_shows_none():
    table = column()
    losses = tuple(dataclasses.replace(claim, metric="loss") for claim in table.claims)
    report = tabulate(dataclasses.replace(table, claims=losses), lambda claim: [])
    assert {text.floor(row) for row in report.rows} == {"–"}


def test_numbers_are_those_of_the_records():
    table = column()
    report = tabulate(table, trained)
    first = report.rows[0]
    assert first.values == pytest.approx([90.0] * 10)
    assert first.seconds == pytest.approx(sum(1.5 + seed for seed in range(10)))
    assert first.judgement.ours.mean == pytest.approx(90.0)
    assert len(report.environments) == 1
    ((place, rows),) = report.environments.items()
    assert "commit release" in place
    assert rows == report.run


def test_records_are_shown_by_seed():
    (row,) = tabulate(column().select("esbn/*"), lambda claim: trained(claim)[::-1]).rows
    assert [record.seed for record in row.records] == list(range(10))


def test_the_order_is_judged_against_cells_that_are_not_shown():
    whole, part = tabulate(column(), trained), tabulate(column().select("esbn/*"), trained)
    assert whole.rows[0].judgement.verdict is Verdict.DIRECTION_ONLY
    assert part.rows[0].judgement == whole.rows[0].judgement


def test_commands_ask_for_the_budget_and_the_images():
    table = TABLES["webb2021/table-11"].select("esbn+tcn/withheld-95")
    short = "farfield reproduce webb2021/table-11 --cell esbn+tcn/withheld-95"

    def command(of, budget):
        return tabulate(of, lambda claim: [], budget).rows[0].command

    assert command(table, Budget.QUICK) == short
    assert command(table, Budget.PAPER) == f"{short} --budget paper"


def test_commands_name_the_paper_s_images(data_folder):
    table = TABLES["webb2021/table-11"].select("esbn+tcn/withheld-95")
    changed = table.with_task(shapes=GlyphSet.paper(data_folder))
    (row,) = tabulate(changed, lambda claim: [], Budget.QUICK).rows
    assert row.command.endswith("--cell esbn+tcn/withheld-95 --images paper")


def test_records_come_from_a_store(tmp_path):
    store, claim = Store(tmp_path), made_up.claim()
    for record in made_up.records(claim, [90.0, 91.0, 92.0]):
        store.write(record, {})
    for record in made_up.records(claim, [50.0, 51.0], steps=10):
        store.write(record, {})

    def values(budget, seeds=None):
        found = records_at(store.records, budget, seeds)(claim)
        return [round(100 * record.final(claim.regime)) for record in found]

    assert values(Budget.PAPER) == [90, 91, 92]
    assert values(Budget.QUICK) == [50, 51]
    assert values(Budget.PAPER, seeds=2) == [90, 91]


def test_a_claim_on_a_regime_that_is_not_there_is_named():
    row = tabulate(column(), lambda claim: []).rows[0]
    object.__setattr__(row.claim, "regime", "withheld-97")
    with pytest.raises(ValueError, match=r"regime that its task lacks: 'withheld-97'"):
        _ = row.distance


def test_what_a_search_chose_is_said_once_for_each_choice():
    claims = tuple(
        dataclasses.replace(
            made_up.claim(row=row, hidden_size=size, withheld=withheld),
            selection=made_up.selection(size),
        )
        for row, size in (("LSTM", 8), ("RNN", 8), ("ESBN", 4))
        for withheld in (95, 98)
    )
    table = Table(key="webb2021/table-9", title="Sizes", claims=claims)
    notes = text.own_notes(tabulate(table, lambda _: []))
    by = "chosen among 3 by validation accuracy over 2 networks each."
    chosen = [note for note in notes if "chosen" in note]
    assert chosen == [f"LSTM; RNN: hidden size 8, {by}", f"ESBN: hidden size 4, {by}"]
