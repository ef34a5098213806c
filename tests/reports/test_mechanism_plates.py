"""Mechanisms of trained networks: activation, films of agents, dormant phases and layer reads."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
import torch
from matplotlib.colors import to_rgb

from farfield.analysis.internal import active_of, layer_reads_of, phase_difference, recall_by_length
from farfield.core import stream
from farfield.experiments import Experiment
from farfield.records import Store
from farfield.reports import Plate
from farfield.reports._exhibits._sweeps import SEQUENCES, spread_of_remainders
from farfield.reports.internal import LIGHT
from farfield.tasks import TRAINING
from farfield.training import trained_network
from farfield.training.internal import problems_of_run
from reports.exhibits import (
    ACTIVE,
    GRU,
    LENGTHS,
    NTM,
    READING,
    SEEDS,
    WITHOUT,
    over,
)

pytestmark = pytest.mark.usefixtures("small_world")
Plates = Callable[[str], Plate]


def active(seed: int, store: Store) -> torch.Tensor:
    problems = problems_of_run(ACTIVE.task, seed)["validation"]
    return active_of(trained_network(ACTIVE, seed, store), problems)


def test_phases_are_compared_over_the_networks(plate: Plates, store: Store) -> None:
    first, second = plate("activation_over_time").findings
    phases = slice(0, 10), slice(10, 15)
    differing = [100 * phase_difference(active(n, store), *phases).differing for n in SEEDS]
    assert first.ours == over(differing)
    assert "distinct" in first.paper
    assert second.paper == ""


def test_the_picture_shows_who_is_active_when(plate: Plates, store: Store) -> None:
    (axes,) = plate("activation_over_time").draw(LIGHT).axes
    found = {
        (round(bar.get_x() + 0.5), round(bar.get_y() + bar.get_height() / 2))
        for bar in axes.patches
    }
    whole = active(0, store)[0].numpy()
    assert found == {(int(step) + 1, int(who) + 1) for step, who in np.argwhere(whole)}
    assert [line.get_xdata()[0] for line in axes.lines] == [10.5, 15.5]
    assert "dormant phase 11–15" in axes.get_xlabel()
    assert "not run" not in axes.get_xlabel()


# --- Dormant phases ------------------------------------------------------------------------------


@cache
def recalled(own: Experiment, seed: int, store: Store) -> list[float]:
    network, source = trained_network(own, seed, store), stream(seed, "dormant phases")
    found = recall_by_length(network, own.task, LENGTHS, SEQUENCES, source)
    return [100 * share for share in found]


def test_recall_is_measured_over_the_networks(plate: Plates, store: Store) -> None:
    plate = plate("dormant_phases")
    courses = np.array([recalled(NTM, seed, store) for seed in SEEDS])
    least, most, remainder, *of_gru = plate.findings
    alike = np.abs(courses[:, [0, 0, 1]] - courses[:, [2, 3, 4]])  # 2, 5, 8 and 3, 9
    alike = np.maximum(alike.max(1), np.abs(courses[:, 2] - courses[:, 3]))
    beyond = courses[:, 2:]
    for finding, values in ((least, beyond.min(1)), (most, beyond.max(1)), (remainder, alike)):
        assert finding.ours == over(values)
    assert "3 slots" in remainder.what
    assert len(of_gru) == 2  # It has no slots.


def test_the_picture_has_a_line_for_each_network(plate: Plates, store: Store) -> None:
    picture = plate("dormant_phases").draw(LIGHT)
    assert picture.get_suptitle().startswith("Recall in the copying task")
    first, second = picture.axes
    assert [line.get_xdata()[0] for line in (first.lines[0], second.lines[0])] == [3, 3]
    drawn = [line.get_ydata() for line in (*first.lines[2:], *second.lines[2:])]
    wanted = [recalled(own, seed, store) for own in (NTM, GRU) for seed in SEEDS]
    np.testing.assert_array_equal(drawn, wanted)
    assert {axes.lines[1].get_ydata()[0] for axes in picture.axes} == {12.5}
    said = {text.get_text() for text in picture.legends[0].get_texts()}
    assert said == {"one network", "length of training", "floor (chance)"}


def test_lengths_with_one_remainder() -> None:
    assert spread_of_remainders((4, 5, 6, 7, 8, 9), (1, 5, 3, 2, 9, 3), 3) == 4


# --- Layers that read others ---------------------------------------------------------------------


def test_attention_is_that_of_the_traces(plate: Plates, store: Store) -> None:
    plate = plate("layer_reads")
    shares, above, nothing = [], [], []
    for seed in SEEDS:
        network = trained_network(READING, seed, store)
        reads = layer_reads_of(network, problems_of_run(READING.task, seed)[TRAINING][:100])
        assert [read.reader for read in reads] == [(2, f"group{n}") for n in (1, 2, 3, 4)]
        means = [read.attention.mean((0, 1, 2, 3)).numpy() for read in reads]
        shares.append(np.array([[*own, *[np.nan] * (9 - len(own))] for own in means]))
        # The first pass has the columns 1 to 4.
        higher = sum(own[2 + place : 5].sum() for place, own in enumerate(means))
        above.append(100 * higher / sum(own[1:].sum() for own in means))
        nothing.append(100 * np.mean([own[0] for own in means]))
    assert [finding.what for finding in plate.findings] == [
        "Reading: share of reads from layers above in an earlier pass",
        "Reading: attention to the null element",
    ]
    for finding, values in zip(plate.findings, (above, nothing), strict=True):
        assert finding.ours == over(values)
    assert [finding.paper for finding in plate.findings] == ["", "so the paper says"]
    (axes,) = plate.draw(LIGHT).axes
    drawn = axes.images[0].get_array()
    color = 1 - np.array(to_rgb(LIGHT.models[0]))  # on white
    expected = np.nan_to_num(np.mean(shares, 0))[..., None] * color
    np.testing.assert_allclose(1 - drawn, expected, atol=1e-6)
    assert len(axes.texts) == 6 + 7 + 8 + 9


def test_a_network_that_does_not_read_has_no_reads() -> None:
    network = WITHOUT.model.build(WITHOUT.task, stream(0))
    problems = problems_of_run(WITHOUT.task, 0)[TRAINING]
    with pytest.raises(ValueError, match="must hold one MultiPass, got 0 in ItemModel"):
        layer_reads_of(network, problems)
    assert torch.is_grad_enabled()
