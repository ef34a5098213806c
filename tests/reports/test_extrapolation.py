"""The extrapolation profile: score against distance, from records alone."""

import math

import pytest

from farfield.experiments import Experiment, Recipe, SequenceNetwork, Spec
from farfield.experiments.internal import PredictionNetwork
from farfield.nn import LSTMLayer
from farfield.records import Record, Score
from farfield.reports import extrapolation_profile
from farfield.tasks import Copying, DynamicObjects
from reproductions import made_up

CLAIM = made_up.claim()
TASK = CLAIM.experiment.task


def profile(*percents: float):
    return extrapolation_profile(TASK, made_up.records(CLAIM, percents))


def test_the_points_are_the_regimes_of_the_task():
    points = profile(80, 90).points
    assert [point.regime for point in points] == ["training", "withheld-98"]
    assert [point.distance for point in points] == [0, 98]
    assert {point.unit for point in points} == {"withheld shapes"}
    assert {point.floor for point in points} == {0.5}


def test_the_numbers_are_those_of_the_records():
    training, withheld = profile(80, 90, 97).points
    assert training.values == (1.0, 1.0, 1.0)
    assert withheld.values == pytest.approx((0.8, 0.9, 0.97))
    assert withheld.mean == pytest.approx(0.89)
    # Deviations −9, 1 and 8: squares 146, over n − 1 and over n.
    assert withheld.standard_error == pytest.approx(math.sqrt(146 / 2 / 3) / 100)


PRINTED = """\
| regime      |           distance | accuracy ± standard error |  lowest | floor | networks |
| ----------- | -----------------: | ------------------------: | ------: | ----: | -------: |
| training    |  0 withheld shapes |             100.0 ± 0.0 % | 100.0 % |  50 % |        2 |
| withheld-98 | 98 withheld shapes |              85.0 ± 5.0 % |  80.0 % |  50 % |        2 |"""


def test_it_prints_as_a_markdown_table_of_even_columns():
    assert str(profile(80, 90)) == PRINTED


def test_one_network_has_no_standard_error():
    shown = profile(80)
    assert math.isnan(shown.points[1].standard_error)
    assert "| 80.0 % | 80.0 % |" in " ".join(str(shown).split())


def test_a_network_that_diverged_is_named_and_left_out_of_the_mean():
    found = made_up.diverged(made_up.records(CLAIM, [80, 0, 90]), seed=1, step=12)
    lines = str(extrapolation_profile(TASK, found)).splitlines()
    assert [part.strip() for part in lines[3].split("|")[3:7]] == [
        "85.0 ± 5.0 %",
        "80.0 %",
        "50 %",
        "2 of 3, 1 diverged",
    ]
    note = "Seed 1 diverged (training, withheld-98): no finite loss since step 12."
    assert lines[4:] == ["", note]


def test_where_all_diverged_there_is_no_number():
    found = made_up.diverged(made_up.records(CLAIM, [0]), seed=0, step=1)
    shown = extrapolation_profile(TASK, found)
    assert math.isnan(shown.points[1].mean)
    last = [part.strip() for part in str(shown).splitlines()[3].split("|")[3:7]]
    assert last == ["diverged", "diverged", "50 %", "0 of 1, 1 diverged"]


def test_without_records_there_is_no_profile():
    with pytest.raises(ValueError, match="at least one record, got none"):
        extrapolation_profile(TASK, [])


def record(experiment: Experiment, seed: int, scores: dict[str, float]) -> Record:
    """A network with the same scores in every regime, by metric."""
    return Record(
        key=experiment.key,
        experiment=experiment.to_json(),
        seed=seed,
        steps=2,
        scores=tuple(
            Score(step=2, regime=regime.name, metric=metric, value=value, count=9)
            for regime in experiment.task.regimes
            for metric, value in scores.items()
        ),
        seconds=1.0,
        environment={},
    )


def cells_of(experiment: Experiment, records: list[Record]) -> list[list[str]]:
    lines = str(extrapolation_profile(experiment.task, records)).splitlines()
    return [[cell.strip() for cell in line.split("|")] for line in lines]


def test_a_profile_of_errors_says_so():
    task = DynamicObjects(num_frames=3)
    experiment = Experiment(task=task, model=PredictionNetwork(), recipe=Recipe(steps=2))
    found = [record(experiment, seed, {"mse": value}) for seed, value in enumerate((0.01, 0.03))]
    lines = cells_of(experiment, found)
    assert lines[0][3:6] == ["mean squared error ± standard error", "highest", "floor"]
    assert lines[3][1:5] == [
        "width-13-31",
        "18 pixels of width beyond training",
        "0.0200 ± 0.0100",
        "0.0300",
    ]
    assert lines[3][5] == f"{task.chance('width-13-31'):.4f}"


def test_losses_stand_beside_the_least_without_memory():
    model = SequenceNetwork(core=Spec(LSTMLayer, hidden_size=4))
    experiment = Experiment(task=Copying(), model=model, recipe=Recipe(steps=2))
    found = [
        record(experiment, seed, {"accuracy": 0.125, "loss": loss})
        for seed, loss in enumerate((0.1, 0.3))
    ]
    lines = cells_of(experiment, found)
    assert lines[0][6:9] == ["loss", "without memory", "networks"]
    assert lines[2][1] == "training"
    assert lines[2][6:9] == ["0.2000", "0.2971", "2"]
    assert lines[4][1] == "dormant-200"
    assert lines[4][6:9] == ["0.2000", "0.0945", "2"]
    assert len({len(cells) for cells in lines}) == 1


def test_losses_are_left_out_where_a_network_has_none():
    model = SequenceNetwork(core=Spec(LSTMLayer, hidden_size=4))
    experiment = Experiment(task=Copying(), model=model, recipe=Recipe(steps=2))
    found = [
        record(experiment, 0, {"accuracy": 0.125, "loss": 0.1}),
        record(experiment, 1, {"accuracy": 0.125}),
    ]
    assert cells_of(experiment, found)[0][5:7] == ["floor", "networks"]
