"""Table 4 of webb2020: an error and not an accuracy, and networks that start from others."""

from __future__ import annotations

import dataclasses
import json

import pytest

from farfield.records import Record, Score
from farfield.reports import export, markdown, tabulate
from farfield.reports.internal import load_export, profiles, results_pages
from farfield.reproductions import TABLES, Budget, Claim, Unpublished, Verdict, judge
from reproductions import made_up

TABLE = TABLES["webb2020/table-4"]
ALL_FRAMES = TABLE.cells["context-norm-all-frames/width-13-31"]
NO_NORM = TABLE.cells["no-norm/width-13-31"]


def records(claim: Claim, *errors: float, budget: Budget = Budget.PAPER) -> list[Record]:
    """One record for each error."""
    experiment = claim.at(budget)
    steps = experiment.recipe.steps
    return [
        Record(
            key=experiment.key,
            experiment=json.loads(json.dumps(experiment.to_json())),
            seed=seed,
            steps=steps,
            scores=(Score(step=steps, regime=claim.regime, metric="mse", value=error, count=1000),),
            seconds=2.0,
            environment=made_up.ENVIRONMENT,
        )
        for seed, error in enumerate(errors)
    ]


def test_every_predictor_starts_from_the_same_autoencoder() -> None:
    stages = [claim.experiment.stages for claim in TABLE.claims]
    assert len({first.key for first, _ in stages}) == 1
    assert len({second.key for _, second in stages}) == len(TABLE.claims)
    assert {tuple(stage.recipe.steps for stage in pair) for pair in stages} == {(200_000, 20_000)}
    rates = {(s.recipe.learning_rate, s.recipe.batch_size) for pair in stages for s in pair}
    assert rates == {(5e-4, 32)}
    quick = ALL_FRAMES.at(Budget.QUICK)
    assert [stage.recipe.steps for stage in quick.stages] == [10_000, 20_000]
    assert ALL_FRAMES.at(Budget.PAPER) == ALL_FRAMES.experiment
    assert ALL_FRAMES.command(Budget.PAPER).endswith(" --budget paper")


def test_a_number_near_the_printed_one_is_reproduced() -> None:
    assert judge(ALL_FRAMES, records(ALL_FRAMES, 0.0055, 0.0057, 0.0057)).verdict is (
        Verdict.REPRODUCED
    )
    far = judge(ALL_FRAMES, records(ALL_FRAMES, 0.0085, 0.0087, 0.0087))
    assert far.verdict is Verdict.NOT_REPRODUCED


def test_a_lower_error_than_that_of_all_others_is_the_printed_direction() -> None:
    others = [
        (claim, records(claim, *(claim.published.mean + shift for shift in (0.0, 1e-4, 2e-4))))
        for claim in TABLE.claims
        if claim.row not in (ALL_FRAMES.row, "Context norm. (frames so far)")
    ]
    low, high = (
        records(ALL_FRAMES, *(mean + shift for shift in (0.0, 1e-4, 2e-4)))
        for mean in (0.0020, 0.0120)
    )
    assert judge(ALL_FRAMES, low, others).verdict is Verdict.DIRECTION_ONLY
    assert judge(ALL_FRAMES, high, others).verdict is Verdict.NOT_REPRODUCED


def test_fewer_steps_of_the_autoencoder_are_fewer_steps() -> None:
    found = judge(ALL_FRAMES, records(ALL_FRAMES, 0.0056, 0.0056, 0.0056, budget=Budget.QUICK))
    assert found.verdict is Verdict.UNDERPOWERED
    assert found.reason == "10,000 of 200,000 steps before"
    assert found.fraction == pytest.approx(30_000 / 220_000)
    other = dataclasses.replace(NO_NORM, quick_before=0.5)
    assert not NO_NORM.same_experiment(ALL_FRAMES.experiment.to_json(), 20_000)
    assert NO_NORM.same_experiment(other.at(Budget.QUICK).to_json(), 20_000)
    with pytest.raises(ValueError, match=r"records of .* must be of its experiment"):
        judge(NO_NORM, records(ALL_FRAMES, 0.1, 0.1))
    longer = dataclasses.replace(
        NO_NORM.experiment.starts_from,
        experiment=dataclasses.replace(
            NO_NORM.experiment.starts_from.experiment,
            recipe=dataclasses.replace(NO_NORM.experiment.recipe, steps=300_000),
        ),
    )
    more = dataclasses.replace(NO_NORM.experiment, starts_from=longer)
    assert not NO_NORM.same_experiment(more.to_json(), 20_000)
    assert not NO_NORM.same_experiment(
        dataclasses.replace(more, starts_from=None).to_json(), 20_000
    )


def test_the_goal_of_an_error_is_a_possible_error() -> None:
    ours = Unpublished(runs=3, selection="", split="", unit="fraction", decimals=(4, 5), goal=0.01)
    assert dataclasses.replace(NO_NORM, published=ours).published.goal == 0.01
    below = dataclasses.replace(ours, goal=-0.01)
    with pytest.raises(ValueError, match=r"goal of .* must lie in 0…inf \(fraction\), got -0\.01"):
        dataclasses.replace(NO_NORM, published=below)
    with pytest.raises(ValueError, match=r"quick_before must lie in \(0, 1\], got 0"):
        dataclasses.replace(NO_NORM, quick_before=0)


def report_of():
    return tabulate(TABLE, lambda claim: records(claim, claim.published.mean, 0.02))


def test_a_report_of_errors_is_in_the_digits_of_print() -> None:
    page = markdown(report_of())
    [line] = [line for line in page.splitlines() if line.startswith("| No norm., MSE |")]
    cells = [cell.strip() for cell in line.split("|")]
    assert cells[2] == "0.0675 ± 0.00275 (3)"
    assert cells[3] == "0.0438 ± 0.02375 (2)"
    assert cells[5:7] == ["0.0124", "0.0000"]
    assert "- Mean squared error, lower is better: mean ± standard error of the mean over n" in page
    assert "percent" not in page
    assert "lies within ±0.001" in page


def test_the_picture_of_errors_starts_at_zero_and_says_what_it_shows() -> None:
    (axes,) = profiles(report_of()).axes
    low, high = axes.get_xlim()
    assert low == 0
    assert 0.0675 < high < 0.08
    assert axes.get_xlabel() == "mean squared error"
    means = [float(line.get_xdata()[0]) for line in axes.lines if line.get_marker() in "os^"]
    assert means[::2] == pytest.approx([row.judgement.ours.mean for row in report_of().rows])
    assert means[1::2] == pytest.approx([row.claim.published.mean for row in report_of().rows])


def test_records_of_errors_are_exported_and_read_back(tmp_path) -> None:
    def find(claim: Claim) -> list[Record]:
        return records(claim, 0.02, 0.03, budget=Budget.QUICK)

    [path] = export(TABLE, find, tmp_path)
    assert len(load_export(path)) == 2 * len(TABLE.claims)
    assert "<br>13.6 % ◔ |" in results_pages(tmp_path)["webb2020.md"]
    below = path.read_text().replace('"value":0.02', '"value":-0.02')
    path.write_text(below)
    with pytest.raises(ValueError, match=r"line 1: no run can leave .*mse"):
        load_export(path)
