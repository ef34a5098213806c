"""Figure 3 of lamb2022 on small trained networks: films, courses and what is said of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import torch

from farfield.analysis.internal import copy_last_frame, rolled_out
from farfield.core import Problems
from farfield.records import Store
from farfield.reports import Plate, illustrate
from farfield.reports._report._text import signed
from farfield.reports.internal import LIGHT
from farfield.training import trained_network
from farfield.training.internal import problems_of_run
from reports.exhibits import (
    BALLS,
    FILMED,
    PREDICTORS,
    figure_of,
    of_roll_outs,
    on_networks,
)

Plates = Callable[[str], Plate]


@cache
def logits_of(row: str, regime: str, seed: int, store: Store) -> torch.Tensor:
    network = trained_network(PREDICTORS[row], seed, store)
    return rolled_out(network, problems_of(seed)[regime])


@cache
def problems_of(seed: int) -> dict[str, Problems]:
    return problems_of_run(BALLS, seed)


def scores_of(row: str, regime: str, store: Store) -> dict[str, np.ndarray]:
    """Frame by frame, over sequences and networks."""
    every = [
        BALLS.roll_out_scores(logits_of(row, regime, seed, store), problems_of(seed)[regime])
        for seed in (0, 1)
    ]
    return {
        name: np.mean([one[name].mean(0).numpy() for one in every], axis=0) for name in every[0]
    }


def test_courses_are_means_over_sequences_and_networks(plate: Plates, store: Store) -> None:
    picture = plate("roll_outs").draw(LIGHT)
    by_place = {
        (kind, regime): picture.axes[2 + 2 * number + place]
        for number, kind in enumerate(("cross-entropy", "position error"))
        for place, regime in enumerate(FILMED)
    }
    for (kind, regime), axes in by_place.items():
        still, *lines = [line for line in axes.lines if len(line.get_xdata()) == 4]
        assert list(still.get_xdata()) == [4, 5, 6, 7]
        for row, line in zip(PREDICTORS, lines, strict=True):
            expected = scores_of(row, regime, store)[kind]
            np.testing.assert_allclose(line.get_ydata(), expected, rtol=1e-6)
        if kind == "cross-entropy":
            ahead = [BALLS.copy_loss(regime, steps) for steps in (1, 2, 3, 4)]
            np.testing.assert_allclose(still.get_ydata(), ahead)
        else:
            problems = problems_of(0)[regime]
            scores = BALLS.roll_out_scores(copy_last_frame(problems, 3), problems)
            np.testing.assert_allclose(still.get_ydata(), scores[kind].mean(0).numpy())
        assert axes.get_ylim()[1] > max(max(line.get_ydata()) for line in lines)


def test_films_show_the_truth_and_what_was_made_of_it(plate: Plates, store: Store) -> None:
    films = plate("roll_outs").draw(LIGHT).axes[:2]
    problems = problems_of(0)["balls-4"]
    last = torch.sigmoid(logits_of("second", "balls-4", 0, store)[0, -1]).reshape(8, 8)
    images = [np.asarray(image.get_array()) for image in films[0].images]
    truth = problems.sequences()[0].numpy()
    assert len(images) == 3 + 2 * 2  # given frames are not predicted, and there is no 60th
    np.testing.assert_allclose(images[0], truth[2])
    np.testing.assert_allclose(images[1], truth[3])
    np.testing.assert_allclose(images[-1], last, rtol=1e-5)
    tinted = [sum(patch.get_alpha() is not None for patch in axes.patches) for axes in films]
    assert tinted == [0, 7]


def test_findings_set_the_first_row_beside_the_others(plate: Plates, store: Store) -> None:
    plate, report = plate("roll_outs"), on_networks(of_roll_outs(), store)
    assert len(plate.findings) == 2 * (1 + 1 + 2 + 1)
    first, second = (np.mean(report.rows[place].values) for place in (0, 1))
    floors, difference, errors, *_, still = plate.findings[:5]
    assert floors.what == (
        "to balls-4: cross-entropy of first / second / frame 3, repeated / the mean frame"
    )
    copied = np.mean([BALLS.copy_loss("balls-4", steps) for steps in (1, 2, 3, 4)])
    levels = (first, second, copied, BALLS.chance("balls-4"))
    shown = " / ".join(f"{level:.3f}" for level in levels)
    assert floors.ours == f"{shown} nats a pixel (2 networks each)"
    assert difference.what == "to balls-4: cross-entropy of first less second"
    assert difference.ours == f"{signed(first - second, 4)} (2 networks)"
    assert "RIMs perform better" in difference.paper
    expected = scores_of("first", "balls-4", store)["position error"]
    assert errors.ours == f"{expected[0]:.1f} / {expected[3]:.1f} pixels"
    assert errors.what.endswith("of first after 1 / 4 frames")
    assert "standing still" in still.what


def test_a_row_that_was_not_run_is_left_out(plate: Plates, store: Store) -> None:
    plate("roll_outs")
    figure = of_roll_outs()
    alone = figure_of(figure.exhibits[0], figure.table.claims[0])
    (plate,) = illustrate(alone, on_networks(alone, store), store)
    assert len(plate.findings) == 3
    assert len(plate.draw(LIGHT).axes) == 1 + 2
