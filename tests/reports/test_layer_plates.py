"""Layers of trained networks: constants, responses, planes, boundaries, spectra and neighbors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from matplotlib.colors import to_rgb
from scipy.stats import spearmanr

from farfield.analysis import representations_of
from farfield.analysis.internal import (
    Surface,
    class_spectra,
    confidence_between,
    dependence,
    map_responses,
    nearest_neighbor_error,
    normalizer_scales,
    plane_axes,
    plane_points,
    plane_problems,
    surface_of,
)
from farfield.core import stream
from farfield.records import Store
from farfield.reports import Plate
from farfield.reports._exhibits._frames import Drawing
from farfield.reports._exhibits._layers import activation_curves
from farfield.reports._exhibits._planes import stage, surface
from farfield.reports.internal import DARK, LIGHT
from farfield.reproductions import Claim
from farfield.tasks import TRAINING
from farfield.training import trained_network
from farfield.training.internal import problems_of_run
from reports.exhibits import (
    FIRST,
    LAYERS,
    MIXED,
    SEEDS,
    Blobs,
    of_boundaries,
    of_constants,
    of_responses,
    of_settings,
    over,
)

Plates = Callable[[str], Plate]


def numbers(plate: Plate) -> dict[str, str]:
    return {finding.what: finding.ours for finding in plate.findings}


def looked_into(own: Claim, store: Store) -> list[tuple]:
    return [
        (
            trained_network(own.experiment, seed, store),
            problems_of_run(own.experiment.task, seed)[TRAINING],
        )
        for seed in SEEDS
    ]


def test_constants_are_those_of_the_trained_networks(plate: Plates, store: Store) -> None:
    plate, claims = plate("constants_by_layer"), of_constants().table.claims
    found, picture = numbers(plate), plate.draw(LIGHT)
    assert len(found) == 4
    for own, axes in zip(claims, picture.axes, strict=False):
        scales = [normalizer_scales(one, sets[:20]) for one, sets in looked_into(own, store)]
        constants = [[scale.sigma for scale in each] for each in scales]
        ratio = np.mean([each[-1] / max(each) for each in constants])
        assert found[f"{own.row}, accuracy: last σ over the largest"].startswith(f"{ratio:.2f}")
        trend = np.mean([spearmanr((0, 1, 2), each).statistic for each in constants])
        said = found[f"{own.row}, accuracy: rank correlation of σ with depth"].replace("−", "-")
        assert said.startswith(f"{trend:.2f}")
        dots = axes.collections[0].get_offsets()
        expected = [(scale.input_scale, scale.sigma) for scale in scales[0]]
        np.testing.assert_allclose(dots, expected)
    assert "a network of seed 0" in plate.caption


def test_dependence_is_that_of_the_first_layer(plate: Plates, store: Store) -> None:
    plate, claims = plate("response_pairs"), of_responses().table.claims
    found = numbers(plate)
    for own in claims:
        both = [
            dependence(
                map_responses(
                    network, sets[:20], FIRST, 1_200, stream(seed, "response pairs", "positions")
                )
            )
            for seed, (network, sets) in zip(SEEDS, looked_into(own, store), strict=True)
        ]
        for name, values in (
            ("Corr.", [one.correlation for one in both]),
            ("MI", [one.information for one in both]),
        ):
            assert found[f"{own.row}: {name}"].startswith(f"{np.mean(values):.2f}")
    axes = plate.draw(LIGHT).axes
    assert [one.get_title(loc="left") for one in axes[:2]] == ["BN", "DN"]
    assert [one.axison for one in axes] == [True, True, False, False]
    assert axes[0].get_xlabel().startswith("Corr. ")


def test_the_best_setting_is_that_of_the_highest_mean(plate: Plates, store: Store) -> None:
    plate, claims = plate("scores_by_setting"), of_settings().table.claims
    means = {
        own.column: 100
        * np.mean(
            [record.final(TRAINING, "accuracy") for record in store.records(own.experiment.key)]
        )
        for own in claims
    }
    assert len(set(means.values())) > 1
    best = max(sorted(means, key=lambda name: float(name[4:])), key=means.__getitem__)
    gain = f"{means[best] - means['σ = 0.01']:+.1f}".replace("-", "−")
    assert numbers(plate)["Halves: σ, DN: best"].startswith(f"{best}, ")
    assert numbers(plate)["Halves: σ, DN: best"].endswith(gain.lstrip("+"))
    axes = plate.draw(LIGHT).axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0.01", "0.5", "2"]
    assert axes.get_xlabel() == "σ"


def test_curves_need_no_network() -> None:
    exhibit = activation_curves(sigmas=(0.5,), fixed=0.5, others=(0.0,), sigma=1.0)
    plate = exhibit.plate(None, None, None)
    left, right = plate.draw(LIGHT).axes
    for axes, other, sigma in ((left, 0.5, 0.5), (right, 0.0, 1.0)):
        x, y = axes.lines[1].get_data()
        v = (np.asarray(x) - other) / 2
        np.testing.assert_allclose(y, np.maximum(v / np.sqrt(sigma**2 + v**2), 0), atol=1e-12)


# --- Points of the plane --------------------------------------------------------------------------


def test_surfaces_of_all_networks_are_measured_and_the_first_is_drawn(
    plate: Plates, store: Store
) -> None:
    plate = plate("decision_surfaces")
    expected = []
    for row, what in MIXED.items():
        measured = []
        for seed in SEEDS:
            network = trained_network(what, seed, store)
            problems = problems_of_run(what.task, seed)[TRAINING]
            points = plane_points(problems)
            grid = plane_problems(*plane_axes(points, 30, margin=0))
            hidden = [representations_of(network, some, "narrow") for some in (grid, problems)]
            planes = [
                surface_of(network, *plane_axes(points, 120)),
                surface_of(network, *plane_axes(torch.cat(hidden), 120), "narrow"),
            ]
            between = confidence_between(network, problems, (0.5,), "narrow")
            measured.append([*(plane.confidence for plane in planes), *between])
        names = ("over the plane of inputs", "over the hidden plane", "halfway between classes")
        for name, values in zip(names, zip(*measured, strict=True), strict=True):
            expected.append((f"{row}: mean confidence {name}", over([100 * v for v in values])))
    assert [(finding.what, finding.ours) for finding in plate.findings] == expected
    picture = plate.draw(LIGHT)
    assert [axes.get_title("left") for axes in picture.axes[:2]] == ["no mixup", "manifold mixup"]
    assert [axes.get_ylabel() for axes in picture.axes[::2]] == ["input", "hidden"]
    # Of the last network that was measured here, a panel of the first seed is drawn.
    network = trained_network(MIXED["manifold mixup"], 0, store)
    problems = problems_of_run(Blobs(), 0)[TRAINING]
    dots = [collection.get_offsets() for collection in picture.axes[3].collections[-2:]]
    shown = representations_of(network, problems, "narrow")
    np.testing.assert_allclose(dots[1], shown, rtol=1e-6)
    assert len(dots[0]) == 30 * 30


def test_boundaries_of_a_stage_are_in_one_panel(plate: Plates, store: Store) -> None:
    plate, claims = plate("decision_boundaries"), of_boundaries().table.claims
    accuracies = [
        np.mean([100 * record.final("unlabelled", "accuracy") for record in records])
        for own in claims
        for records in [store.records(own.experiment.key)]
    ]
    gaps = [accuracies[0] - accuracies[1], accuracies[2] - accuracies[3]]
    assert [finding.what for finding in plate.findings] == [
        f"{steps} updates: accuracy (%) of ICT less supervised" for steps in (1, 3)
    ]
    written = [f"{gap:+.1f}".replace("-", "−").replace("+0.0", "0.0") for gap in gaps]
    assert [finding.ours for finding in plate.findings] == [
        f"{gap} (2 networks)" for gap in written
    ]
    panels = plate.draw(LIGHT).axes
    assert [axes.get_title("left") for axes in panels] == ["1 updates", "3 updates"]
    sets = problems_of_run(Blobs(), 0)
    np.testing.assert_allclose(panels[0].collections[0].get_offsets(), sets["unlabelled"].items)
    marked = [len(dots.get_offsets()) for dots in panels[0].collections[-3:-1]]
    assert marked == [10, 10]


def test_spectra_are_means_over_classes_and_networks(plate: Plates, store: Store) -> None:
    plate = plate("flattening")
    expected, drawn = [], []
    for row, what in MIXED.items():
        for layer, words in LAYERS:
            found = []
            for seed in SEEDS:
                problems = problems_of_run(what.task, seed)["unlabelled"]
                points = representations_of(trained_network(what, seed, store), problems, layer)
                found.append(class_spectra(points, problems.target))
            largest = [float(one.largest.mean()) for one in found]
            others = [float(one.others.mean()) for one in found]
            expected += [
                (f"{row}, {words}: largest singular value", over(largest, digits=2, unit="")),
                (f"{row}, {words}: sum of the others", over(others, digits=2, unit="")),
            ]
            drawn.append(np.mean([one.values.numpy().mean(0) for one in found], axis=0))
    assert [(finding.what, finding.ours) for finding in plate.findings] == expected
    picture = plate.draw(LIGHT)
    below, narrow = picture.axes
    assert [axes.get_title("left") for axes in (below, narrow)] == ["first layer", "two units"]
    assert picture.get_suptitle().startswith("mean over classes and networks; 100 % of steps, ")
    assert f"{len(SEEDS)} networks each" in picture.get_suptitle()
    for number, line in enumerate(below.lines):
        # An affine layer over the plane spans three dimensions; values that are 0 are left out.
        np.testing.assert_allclose(line.get_ydata(), drawn[2 * number][:3])
    assert [list(line.get_xdata()) for line in narrow.lines] == [[1, 2], [1, 2]]


def test_neighbors_of_every_network_are_counted_and_drawn(plate: Plates, store: Store) -> None:
    plate = plate("nearest_neighbors")
    lines = plate.draw(LIGHT).axes[0].collections
    for finding, line, (row, what) in zip(plate.findings, lines, MIXED.items(), strict=True):
        errors = []
        for seed in SEEDS:
            sets, network = problems_of_run(what.task, seed), trained_network(what, seed, store)
            memory, points = (
                representations_of(network, sets[name], "narrow")
                for name in (TRAINING, "unlabelled")
            )
            classes, target = sets[TRAINING].target, sets["unlabelled"].target
            errors.append(100 * nearest_neighbor_error(memory, classes, points, target, k=3))
        assert finding.what == f"{row}: error of nearest neighbors"
        assert finding.ours == over(errors)
        np.testing.assert_allclose(line.get_offsets()[:, 0], errors)


def halves(first: float) -> Surface:
    """Three classes: the first on the left with some probability, the second on the right."""
    x, y = torch.linspace(-1, 1, 21), torch.linspace(-1, 1, 11)
    left = (x < -0.05).float().expand(11, 21)
    shares = torch.stack([left * first, (1 - left) * 0.9, torch.zeros(11, 21)], dim=-1)
    return Surface(x=x, y=y, probabilities=shares + (1 - shares.sum(-1, keepdim=True)) / 3)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_color_fades_where_a_network_is_less_sure(theme) -> None:
    points = torch.tensor([[-0.5, 0.0], [0.5, 0.0]])
    panel = surface(halves(0.4), points, torch.tensor([0, 1]), 8.0, "sure", "input")
    (axes,) = Drawing(rows=[[panel]], height=2.0)(theme).axes
    pixels = axes.images[0].get_array()
    distances = [
        np.linalg.norm(pixels[5, column] - np.array(to_rgb(theme.background))) for column in (2, 18)
    ]
    assert 0.05 < distances[0] < distances[1]
    hues = [pixels[5, column] - np.array(to_rgb(theme.background)) for column in (2, 18)]
    for hue, color in zip(hues, theme.models, strict=False):
        own = np.array(to_rgb(color)) - np.array(to_rgb(theme.background))
        assert hue @ own == pytest.approx(np.linalg.norm(hue) * np.linalg.norm(own))


def test_a_boundary_is_drawn_between_classes_that_win_somewhere() -> None:
    """The third never does, and a network that answers with one class has no boundary."""
    alone = halves(0.4)._replace(probabilities=torch.tensor([0.8, 0.1, 0.1]).expand(11, 21, 3))
    panel = stage(
        "stage",
        {"split": halves(0.6), "alone": alone},
        labelled=torch.tensor([[-0.5, 0.0], [0.5, 0.0]]),
        classes=torch.tensor([0, 1]),
        unlabelled=torch.rand(30, 2, generator=torch.Generator().manual_seed(0)),
    )
    picture = Drawing(rows=[[panel, panel]], height=2.0)(LIGHT)
    lines = [one for one in picture.axes[0].collections if hasattr(one, "levels")]
    assert len(lines) == 1
    (path,) = lines[0].get_paths()
    assert (np.abs(path.vertices[:, 0]) <= 0.11).all()
    names = [text.get_text() for text in picture.legends[0].get_texts()]
    assert names == ["split", "alone", "labeled, class 1", "labeled, class 2", "unlabeled"]
