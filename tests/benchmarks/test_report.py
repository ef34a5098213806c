"""The benchmark's page is made from its JSON, and its floors count what they say."""

import json
from pathlib import Path

import pytest
import torch
from rich.console import Console

from benchmarks import _cases, _estimate, _products, _report

RESULTS = Path(_report.__file__).parent / "results"


def line(**changes):
    return {
        "work": "training",
        "reasoner": "esbn",
        "task": "identity-rules",
        "withheld": 0,
        "seeds": 10,
        "unit": 1,
        "target": 4.0,
        "loop": [10.0, 20.0, 30.0],
        "ours": [50.0, 80.0, 90.0],
        "products": {
            "loop": {"flops": 5e9, "seconds": 0.025},
            "ours": {"flops": 2e9, "seconds": 0.010},
        },
    } | changes


def results(*lines):
    sets = {
        "task": "identity-rules",
        "withheld": 95,
        "images": [0.4, 0.5, 0.6],
        "seconds": [0.1, 0.3, 0.15],
        "megabytes": [10.0, 12.0, 11.0],
        "target_seconds": 0.2,
        "target_megabytes": 300.0,
    }
    return {
        "environment": {"processor": "some processor"},
        "settings": {"rounds": 3, "seconds": 0.5},
        "lines": list(lines),
        "sets": [sets],
    }


def test_row_holds_the_median_of_the_rounds_ratios():
    row = dict(zip(_report.COLUMNS, _report.cells(line()), strict=True))
    assert row["ratio"] == "4.00"  # of 5, 4 and 3; the ratio of the medians is 4 as well
    assert row["range"] == "3.00–5.00"
    assert (row["loop time"], row["time"]) == ("50.0", "12.5")
    assert (row["loop GFLOP"], row["loop floor"], row["loop fraction"]) == ("5.00", "25.0", "0.50")
    assert (row["GFLOP"], row["floor"], row["fraction"]) == ("2.00", "10.0", "0.80")
    assert (row["target"], row["met"]) == ("4.0", "yes")


@pytest.mark.parametrize("target, met", [(4.01, "no"), (None, "–")])
def test_row_says_whether_the_target_is_met(target, met):
    assert _report.cells(line(target=target))[-1] == met


def test_ratio_is_taken_round_by_round():
    changed = line(loop=[10.0, 20.0, 40.0], ours=[30.0, 20.0, 200.0])
    assert dict(zip(_report.COLUMNS, _report.cells(changed), strict=True))["ratio"] == "3.00"


def test_page_has_every_line_under_its_work():
    page = _report.markdown(results(line(), line(work="evaluation", unit=10_000, reasoner="lstm")))
    training, evaluation = page.split("## Evaluation")
    assert "| esbn | identity-rules | 0 | 10 |" in training
    assert "| lstm | identity-rules | 0 | 10 |" in evaluation
    assert "| identity-rules | 95 | 0.500 | 0.150 | 11 | 0.2 s, 300 MB | yes |" in evaluation
    assert "some processor" in training


def test_page_says_what_the_tuned_loop_is_where_it_was_measured():
    page = _report.markdown(results(line(), line(seeds=_report.TUNED, target=None)))
    assert "| esbn | identity-rules | 0 | loop, tuned |" in page
    assert "keeps freed memory" in page
    assert "keeps freed memory" not in _report.markdown(results(line()))


@pytest.mark.parametrize("width, columns", [(80, _report.SHORT_COLUMNS), (200, _report.COLUMNS)])
def test_terminal_shows_whole_numbers_in_the_columns_it_has_room_for(width, columns):
    made = _report.terminal(results(line()), width)
    assert [column.header for column in made[0].columns] == list(columns)
    console = Console(width=width)
    with console.capture() as capture:
        for table in made:
            console.print(table)
    assert "…" not in capture.get()
    assert {"4.00", "12.5", "0.150"} <= set(capture.get().split())


def estimate(**changes):
    cell = {
        "table": "webb2021/table-9",
        "column": "m = 98",
        "networks": 10,
        "steps": 3600,
        "evaluations": 2,
        "rates": [5.0, 10.0, 40.0],
        "scored": 0.25,
    }
    return {"row": "ESBN + TCN", "goal": 10.0, "lines": [cell | changes]}


def test_estimate_counts_steps_and_evaluations_of_all_networks():
    (cell,) = estimate()["lines"]
    # 10 networks of 3600 steps at 10 a second, and 20 evaluations of 4 seconds
    assert _estimate.hours(cell) == pytest.approx((3600 + 80) / 3600)
    expected = ("webb2021/table-9", "m = 98", "10", "3,600", "100.0", "8.0", "1.02")
    assert _report.estimate_cells(cell) == expected


@pytest.mark.parametrize("steps, total, met", [(3600, "1.0", "met"), (36_000, "10.0", "missed")])
def test_page_sets_the_estimate_beside_the_goal(steps, total, met):
    page = _report.markdown(results(line()) | {"estimate": estimate(steps=steps)})
    assert f"budget: {total} hours on two cores (goal: 10, {met})" in page
    assert "processor time" in page
    assert "processor time" not in _report.markdown(results(line()))


def test_estimate_is_of_every_cell_of_the_row_at_the_papers_steps():
    claims = _estimate.claims()
    cells = {(claim.experiment.task.name, claim.experiment.task.withheld) for claim in claims}
    assert cells == set(_cases.SETS)
    assert {claim.row for claim in claims} == {"ESBN + TCN"}


def test_page_says_what_ran_beside_and_which_time_was_taken():
    made = results(line())
    assert "a process with two threads" in _report.markdown(made)
    made["settings"] |= {"beside": "Others trained networks.", "busy": True}
    page = _report.markdown(made)
    assert "Others trained networks." in page
    assert "processor times" in page
    assert "two threads;" not in page


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.json")), ids=lambda path: path.stem)
def test_every_page_is_made_from_its_json(path):
    results = json.loads(path.read_text(encoding="utf-8"))
    assert path.with_suffix(".md").read_text(encoding="utf-8") == _report.markdown(results)


def test_targets_are_those_set_for_few_and_many_withheld_shapes():
    assert _cases.target("training", "esbn", 0) == 4.0
    assert _cases.target("training", "esbn", 85) == 5.5
    assert _cases.target("evaluation", "lstm", 0) is None
    assert _cases.target("training", "trn", 0) == _cases.target("training", "ntm", 85) == 3.0
    assert _cases.target("training", "corelnet", 0) is None
    assert len(_cases.SETS) == 17


def test_products_are_counted_forward_and_backward():
    weight = torch.randn(7, 5, requires_grad=True)
    inputs = torch.randn(3, 5, requires_grad=True)
    counted = _products.products(
        lambda: torch.nn.functional.linear(inputs, weight).sum().backward()
    )
    assert counted["flops"] == 3 * (2 * 3 * 5 * 7)
    assert 0.0 < counted["seconds"] < 1.0


def test_products_are_counted_in_inference_mode():
    layer = torch.nn.Linear(5, 7)
    inputs = torch.randn(3, 5)
    with torch.inference_mode():
        counted = _products.products(lambda: layer(inputs))
    assert counted["flops"] == 2 * 3 * 5 * 7
    assert counted["seconds"] > 0.0


def test_fused_operators_are_counted_as_what_they_consist_of():
    lstm = torch.nn.LSTM(5, 4, batch_first=True)
    inputs = torch.randn(3, 6, 5)
    with torch.no_grad():
        assert _products.products(lambda: lstm(inputs))["flops"] == 2 * 3 * 6 * (5 + 4) * 16
