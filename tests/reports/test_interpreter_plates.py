"""Pictures of Neural Interpreters: paths, types, what is left with less, and curves of columns."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable

import numpy as np
import pytest
from matplotlib.colors import to_hex

from farfield.analysis import clustering, routing_of
from farfield.analysis.internal import (
    path_similarity,
    scores_by_iterations,
    scores_without_functions,
)
from farfield.core import stream
from farfield.experiments import Spec
from farfield.metrics import t_interval
from farfield.nn import NeuralInterpreter
from farfield.records import Store
from farfield.reports import FIGURES, Plate, tabulate
from farfield.reports._exhibits._routing import types_by_iteration
from farfield.reports._exhibits._scores import against_columns
from farfield.reports._exhibits._sweeps import _cell, iterations_at_test
from farfield.reports.internal import LIGHT
from farfield.tasks import VALIDATION
from farfield.training import trained_network
from farfield.training.internal import problems_of_run
from reports.exhibits import (
    INTERPRETER,
    SEEDS,
    SMALL,
    TRANSFORMER,
    figure_of,
    fuzzy,
    interpreter,
    over,
    plate_of,
)
from reproductions import made_up

Plates = Callable[[str], Plate]


def test_paths_are_compared_over_the_networks_and_drawn(plate: Plates, store: Store) -> None:
    plate = plate("routing_paths")
    shares, first = [], None
    for seed in SEEDS:
        some = problems_of_run(SMALL.task, seed)[VALIDATION][:50]
        routing = routing_of(trained_network(SMALL, seed, store), some)
        first = routing if first is None else first
        shares.append(100 * path_similarity(routing.compatibility))
    assert [finding.ours for finding in plate.findings] == [over(shares)]
    assert plate.findings[0].paper == "so the paper says"
    picture = plate.draw(LIGHT)
    panels = picture.axes
    assert len(panels) == 3
    flows = []
    for sample in range(3):
        own = first.compatibility[:, sample]
        shown = own / own.sum(1, keepdim=True)
        flows.append((shown[:-1] @ shown[1:].transpose(1, 2)).flatten() / own.shape[-1])
    least, most = min(map(min, flows)), max(map(max, flows))
    for axes, expected in zip(panels, flows, strict=True):
        widths = [line.get_linewidth() for line in axes.lines]
        wanted = 0.2 + 3.8 * (expected - least) / (most - least)
        assert widths == pytest.approx(wanted.tolist(), rel=1e-4)
    said = [text.get_text() for text in picture.legends[0].get_texts()]
    assert said[0] == f"{100 * least:.1f} % of elements"
    assert said[-1] == f"{100 * most:.1f} % of elements"
    assert picture.get_suptitle() == f"NI, 100 % of steps, seed {SEEDS[0]}"
    own = first.compatibility[:, 0]
    shown = own / own.sum(1, keepdim=True)
    sizes = np.stack([dots.get_sizes() for dots in panels[0].collections], axis=1)
    np.testing.assert_allclose(sizes, 200 * shown.mean(2), rtol=1e-5)


def test_types_gather_around_functions(plate: Plates, store: Store) -> None:
    plate = plate("types_by_iteration")
    courses = []
    for seed in SEEDS:
        some = problems_of_run(SMALL.task, seed)[VALIDATION][:12]
        routing = routing_of(trained_network(SMALL, seed, store), some)
        courses.append(clustering(routing.types, routing.nearest))
    assert [finding.ours for finding in plate.findings] == [
        f"{100 * course[0]:.1f} → {100 * course[-1]:.1f} %" for course in courses
    ]
    changes = [finding.network.change for finding in plate.findings]
    assert changes == pytest.approx([course[-1] - course[0] for course in courses])
    assert [finding.network.seed for finding in plate.findings] == [*SEEDS]
    picture = plate.draw(LIGHT)
    panels = picture.axes
    assert len(panels) == 4 * len(SEEDS)
    points = [sum(len(dots.get_offsets()) for dots in axes.collections) for axes in panels]
    assert points == [12 * 5] * 4 * len(SEEDS)
    titles = [f"iteration {n}" for n in (1, 2, 3, 4)]
    assert [axes.get_title("left") for axes in panels] == titles * len(SEEDS)
    assert [axes.get_ylabel() for axes in panels[::4]] == [f"seed {seed}" for seed in SEEDS]
    (legend,) = picture.legends
    colors = {
        text.get_text(): to_hex(dots.get_facecolor()[0])
        for text, dots in zip(legend.get_texts(), legend.legend_handles, strict=True)
    }
    assert (
        colors.items()
        <= {f"function {n + 1}": color for n, color in enumerate(LIGHT.models)}.items()
    )
    assert "script" not in plate.caption


def test_iterations_are_counted_within_their_script(store: Store) -> None:
    core = Spec(NeuralInterpreter, num_functions=3, num_iterations=2, num_scripts=2)
    own = fuzzy("NI", "R²", interpreter(core))
    plate = plate_of(figure_of(types_by_iteration(regime=VALIDATION), own), store)
    assert [axes.get_title("left") for axes in plate.draw(LIGHT).axes][:4] == [
        f"script {script}, iteration {iteration}" for script in (1, 2) for iteration in (1, 2)
    ]
    assert "Colors mean other functions in each script" in plate.caption


def test_fewer_iterations_and_fewer_functions_are_scored(plate: Plates, store: Store) -> None:
    fewer, removed = plate("iterations_at_test"), plate("functions_removed")
    kept, lost, curves = [], [], []
    for seed in SEEDS:
        network = trained_network(SMALL, seed, store)
        problems = problems_of_run(SMALL.task, seed)[VALIDATION]
        course = scores_by_iterations(network, SMALL.task, problems, (1, 2, 3, 4))
        curves.append(course)
        kept.append(100 * course[1] / course[3])
        place = stream(seed, "functions removed")
        scores = scores_without_functions(network, SMALL.task, problems, (0, 1, 2), place)
        lost.append(100 * max(a - b for a, b in itertools.pairwise(scores)))
    assert fewer.findings[0].ours == over(kept)
    assert removed.findings[0].ours == over(lost)
    guessing, line = fewer.draw(LIGHT).axes[0].lines
    assert set(guessing.get_ydata()) == {0.0}
    assert list(line.get_xdata()) == [1, 2, 3, 4]
    np.testing.assert_allclose(line.get_ydata(), np.mean(curves, axis=0), rtol=1e-6)
    picture = removed.draw(LIGHT)
    assert picture.axes[0].get_xlabel() == "functions removed"
    named = ["NI, R²", "± standard error", "floor (chance)"]
    assert [text.get_text() for text in picture.legends[0].get_texts()] == named


def test_a_part_of_a_data_set_is_named_in_words() -> None:
    figure = FIGURES["gondal2021/figure-5c"]
    rows = tabulate(figure.table, lambda _: []).rows
    names = {_cell(row) for row in rows if row.claim.regime == "svhn-first1083"}
    assert names == {f"{row.claim.row}, svhn (first 1,083)" for row in rows}


def test_what_all_lines_share_is_said_once(store: Store) -> None:
    shared = [fuzzy("NI", f"{name}, test", SMALL, f"points-{name}") for name in ("few", "many")]
    picture = plate_of(figure_of(iterations_at_test(numbers=(1, 2)), *shared), store).draw(LIGHT)
    names = [text.get_text() for text in picture.legends[0].get_texts()]
    assert names == ["few", "many", "± standard error", "floor (chance)"]
    assert any("NI, test, 2 networks each" in text.get_text() for text in picture.axes[0].texts)


def test_rows_are_compared_in_every_column(plate: Plates, store: Store) -> None:
    plate = plate("against_columns")
    assert [finding.what for finding in plate.findings] == [
        "NI − ViT at 100 points",
        "NI − ViT at 150 points",
    ]
    for number, finding in zip((100, 150), plate.findings, strict=True):
        ours, theirs = (
            [record.final(VALIDATION, "r2") for record in store.records(own.key)]
            for own in (interpreter(INTERPRETER, number), interpreter(TRANSFORMER, number))
        )
        gap = f"{np.mean(ours) - np.mean(theirs):+.1f}".replace("-", "−")
        assert finding.ours.startswith((gap, "0.0"))
        ends = [t_interval(values) for values in (ours, theirs)]
        apart = ends[0].low > ends[1].high or ends[1].low > ends[0].high
        assert finding.ours.endswith(", apart" if apart else ", not apart")
    picture = plate.draw(LIGHT)
    named = ["NI", "ViT", "95 % interval", "floor (chance)"]
    assert [text.get_text() for text in picture.legends[0].get_texts()] == named
    axes = picture.axes[0]
    assert axes.get_title("left") == "A figure"
    assert "2 networks each" in {text.get_text().split(", ")[-1] for text in axes.texts}
    first, second = (bars.lines[0].get_xdata() for bars in axes.containers)
    assert not set(first) & set(second)
    assert list(axes.get_xticks()) == [100, 150]
    assert any(set(line.get_ydata()) == {0.0} for line in picture.axes[0].lines)
    assert "mean of the networks, with its 95 % interval" in plate.caption


@pytest.mark.parametrize(
    "gaps, verdict, found",
    [
        ((9, 9, 0.5), "reached, not confirmed", "above at 3 of 3, apart at 2 of 2"),
        ((9, 9, -0.5), "missed", "above at 2 of 3, apart at 2 of 2"),
        ((9, 0.5, 9), "missed", "above at 3 of 3, apart at 1 of 2"),
        ((9, -9, 9), "missed", "above at 2 of 3, apart at 1 of 2"),
        ((9, 9, None), "underpowered", "above at 2 of 3, apart at 2 of 2"),
    ],
)
def test_a_goal_for_two_rows_is_judged_over_all_columns(
    gaps: tuple[float | None, ...], verdict: str, found: str
) -> None:
    """The second row is at 0.5 throughout, each of three networks 0.01 to either side."""
    scores: dict[str, tuple[float, ...]] = {}
    claims = []
    for number, gap in zip((100, 150, 200), gaps, strict=True):
        for row, core in (("NI", INTERPRETER), ("ViT", TRANSFORMER)):
            own = interpreter(core, number)
            claims.append(fuzzy(row, f"{number} points", own, f"points-{number}"))
            middle = 50 + (gap or 0) * (row == "NI")
            ran_to = () if gap is None and row == "NI" else (middle - 1, middle, middle + 1)
            scores[own.key] = ran_to
    analysis = against_columns(label="points", pairs=(("NI", "ViT"),), apart_to=150)
    figure = dataclasses.replace(figure_of(analysis, *claims), says=())
    report = tabulate(
        figure.table, lambda own: made_up.records(own, scores[own.experiment.key], steps=2)
    )
    plate = analysis.plate(figure, report, None)
    assert plate is not None
    goal = plate.findings[-1]
    assert goal.what == "our goal: NI above ViT at every number of points, and apart up to 150"
    assert (goal.paper, goal.ours) == ("", f"{verdict}: {found}")


def test_one_network_has_no_interval() -> None:
    claims = [
        fuzzy(row, "100 points", interpreter(core))
        for row, core in (("NI", INTERPRETER), ("ViT", TRANSFORMER))
    ]
    analysis = against_columns(label="points", pairs=(("NI", "ViT"),))
    figure = figure_of(analysis, *claims)
    report = tabulate(figure.table, lambda own: made_up.records(own, [50.0], steps=2))
    plate = analysis.plate(figure, report, None)
    assert plate.findings[0].ours.endswith("(too few networks for an interval)")
    assert "of one network each" in plate.caption
    picture = plate.draw(LIGHT)
    named = ["NI", "ViT", "floor (chance)"]
    assert [text.get_text() for text in picture.legends[0].get_texts()] == named
