"""What small trained networks recall after every length of the dormant phase."""

from __future__ import annotations

import dataclasses
from functools import cache

import numpy as np
import pytest

from farfield.analysis.internal import recall_by_length
from farfield.core import stream
from farfield.execution import Here, run
from farfield.execution.internal import Job
from farfield.experiments import Experiment, Recipe, SequenceNetwork, Spec
from farfield.nn import GRULayer, LinearEncoder, NTMLayer
from farfield.records import Store
from farfield.reports import FIGURES, Figure, Plate, illustrate, tabulate
from farfield.reports._exhibits._sweeps import SEQUENCES, dormant_phases, spread_of_remainders
from farfield.reports.internal import LIGHT
from farfield.reproductions import Table
from farfield.tasks import Copying
from farfield.training import trained_network

LENGTHS = (2, 3, 5, 8, 9)
SLOTS = 3


def experiment(core: Spec) -> Experiment:
    return Experiment(
        task=Copying(
            dormant=3,
            test_dormant=(8,),
            training_sequences=20,
            validation_sequences=5,
            test_sequences=(4,),
        ),
        model=SequenceNetwork(core=core, encoder=Spec(LinearEncoder, out_features=5)),
        recipe=Recipe(steps=2, batch_size=10),
    )


NTM = experiment(Spec(NTMLayer, hidden_size=12, num_slots=SLOTS, slot_size=4))
GRU = experiment(Spec(GRULayer, hidden_size=12))


def figure(*experiments: Experiment) -> Figure:
    ours = FIGURES["lamb2022/dormant-phases"]
    claims = [
        dataclasses.replace(claim, experiment=own, regime="dormant-8", quick=1)
        for claim, own in zip(ours.table.claims, experiments, strict=False)
    ]
    return dataclasses.replace(
        ours,
        table=Table(key=ours.table.key, title=ours.table.title, claims=tuple(claims)),
        exhibits=(dormant_phases(lengths=LENGTHS, trained=3),),
    )


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    found = Store(tmp_path_factory.mktemp("dormant") / "runs")
    for own, seeds in ((NTM, (0, 1)), (GRU, (0,))):
        for seed in seeds:
            run([Job(experiment=own, seed=seed)], found, Here())
    return found


@pytest.fixture(scope="module")
def plate(store: Store) -> Plate:
    shown = figure(NTM, GRU)
    report = tabulate(shown.table, lambda claim: store.records(claim.experiment.key))
    (found,) = illustrate(shown, report, store)
    return found


@cache
def recalled(own: Experiment, seed: int, store: Store) -> list[float]:
    network, place = trained_network(own, seed, store), stream(seed, "dormant phases")
    found = recall_by_length(network, own.task, LENGTHS, SEQUENCES, place)
    return [100 * share for share in found]


def test_what_is_said_is_measured_over_the_networks(plate: Plate, store: Store) -> None:
    courses = np.array([recalled(NTM, seed, store) for seed in (0, 1)])
    least, most, remainder, *of_gru = plate.findings
    alike = np.abs(courses[:, [0, 0, 1]] - courses[:, [2, 3, 4]])  # 2, 5, 8 and 3, 9
    alike = np.maximum(alike.max(1), np.abs(courses[:, 2] - courses[:, 3]))
    beyond = courses[:, 2:]
    for finding, values in ((least, beyond.min(1)), (most, beyond.max(1)), (remainder, alike)):
        spread = np.std(values, ddof=1) / np.sqrt(2)
        assert finding.ours == f"{np.mean(values):.1f} ± {spread:.1f} % (2 networks)"
    assert "3 slots" in remainder.what
    assert len(of_gru) == 2  # It has no slots.


def test_the_picture_has_a_line_for_each_network(plate: Plate, store: Store) -> None:
    picture = plate.draw(LIGHT)
    assert picture.get_suptitle().startswith("Recall in the copying task")
    first, second = picture.axes
    assert [line.get_xdata()[0] for line in (first.lines[0], second.lines[0])] == [3, 3]
    drawn = [line.get_ydata() for line in (*first.lines[2:], *second.lines[2:])]
    wanted = [recalled(NTM, 0, store), recalled(NTM, 1, store), recalled(GRU, 0, store)]
    np.testing.assert_array_equal(drawn, wanted)
    assert {axes.lines[1].get_ydata()[0] for axes in picture.axes} == {12.5}
    said = {text.get_text() for text in picture.legends[0].get_texts()}
    assert said == {"one network", "length of training", "floor (chance)"}


def test_lengths_with_one_remainder() -> None:
    assert spread_of_remainders((4, 5, 6, 7, 8, 9), (1, 5, 3, 2, 9, 3), 3) == 4


def test_without_runs_there_is_nothing_to_show(store: Store) -> None:
    shown = figure(NTM)
    assert illustrate(shown, tabulate(shown.table, lambda claim: []), store) == ()
