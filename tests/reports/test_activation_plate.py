"""Figure 2 of lamb2022: the mechanisms of a small trained network, drawn and counted."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from farfield.analysis.internal import active_of, phase_difference
from farfield.execution import Here, run
from farfield.execution.internal import Job
from farfield.experiments import Experiment, Recipe, SequenceNetwork, Spec
from farfield.nn import LinearEncoder, RIMs
from farfield.records import Store
from farfield.reports import FIGURES, Figure, illustrate, tabulate
from farfield.reports._exhibits._mechanisms import activation_over_time
from farfield.reports.internal import LIGHT
from farfield.reproductions import Table
from farfield.tasks import Copying
from farfield.training import trained_network
from farfield.training.internal import problems_of_run

SMALL = Experiment(
    task=Copying(
        dormant=6,
        test_dormant=(8,),
        training_sequences=20,
        validation_sequences=5,
        test_sequences=(4,),
        recalled_only=True,
    ),
    model=SequenceNetwork(
        core=Spec(RIMs, hidden_size=16, num_mechanisms=4, num_active=2),
        encoder=Spec(LinearEncoder, out_features=5),
    ),
    recipe=Recipe(steps=2, batch_size=10),
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    found = Store(tmp_path_factory.mktemp("activation") / "runs")
    for seed in (0, 1):
        run([Job(experiment=SMALL, seed=seed)], found, Here())
    return found


def figure() -> Figure:
    """Figure 2 on the small experiment."""
    printed = FIGURES["lamb2022/figure-2"]
    claim = dataclasses.replace(
        printed.table.claims[0], experiment=SMALL, regime="dormant-8", quick=1
    )
    (analysis,) = printed.exhibits
    return dataclasses.replace(
        printed,
        table=Table(key=printed.table.key, title=printed.table.title, claims=(claim,)),
        exhibits=(activation_over_time(**(analysis.options | {"dormant": (10, 15)})),),
    )


def test_what_is_said_is_measured_over_the_networks(store: Store) -> None:
    shown = figure()
    (plate,) = illustrate(
        shown, tabulate(shown.table, lambda claim: store.records(SMALL.key)), store
    )
    differing = []
    for seed in (0, 1):
        problems = problems_of_run(SMALL.task, seed)["validation"]
        active = active_of(trained_network(SMALL, seed, store), problems)
        differing.append(100 * phase_difference(active, slice(0, 10), slice(10, 15)).differing)
    first, second = plate.findings
    spread = np.std(differing, ddof=1) / np.sqrt(2)
    assert first.ours == f"{np.mean(differing):.1f} ± {spread:.1f} % (2 networks)"
    assert "distinct" in first.paper
    assert second.paper == ""


def test_the_picture_shows_who_is_active_when(store: Store) -> None:
    shown = figure()
    (plate,) = illustrate(
        shown, tabulate(shown.table, lambda claim: store.records(SMALL.key)), store
    )
    (axes,) = plate.draw(LIGHT).axes
    active = active_of(
        trained_network(SMALL, 0, store), problems_of_run(SMALL.task, 0)["validation"]
    )[0]
    found = {
        (round(bar.get_x() + 0.5), round(bar.get_y() + bar.get_height() / 2))
        for bar in axes.patches
    }
    expected = {(int(step) + 1, int(who) + 1) for step, who in np.argwhere(active.numpy())}
    assert found == expected
    assert [line.get_xdata()[0] for line in axes.lines] == [10.5, 15.5]
    assert "dormant phase 11–15" in axes.get_xlabel()
    assert "not run" not in axes.get_xlabel()


def test_without_runs_there_is_nothing_to_show(store: Store) -> None:
    shown = figure()
    assert illustrate(shown, tabulate(shown.table, lambda claim: []), store) == ()
