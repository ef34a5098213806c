"""Answers over planes, boundaries by stage and spectra of classes, of networks trained here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
import torch
from matplotlib.colors import to_rgb
from torch import Tensor, nn

from farfield.analysis import representations_of
from farfield.analysis.internal import (
    Surface,
    class_spectra,
    confidence_between,
    nearest_neighbor_error,
    plane_axes,
    plane_points,
    plane_problems,
    surface_of,
)
from farfield.core import Problems, Stream
from farfield.execution import Here, run
from farfield.execution.internal import Job
from farfield.experiments import Experiment, Recipe
from farfield.records import Store
from farfield.reports import Figure, Plate, Quote, illustrate, tabulate
from farfield.reports._exhibits._frames import Drawing
from farfield.reports._exhibits._layers import flattening, nearest_neighbors
from farfield.reports._exhibits._planes import (
    decision_boundaries,
    decision_surfaces,
    stage,
    surface,
)
from farfield.reports.internal import DARK, LIGHT, Exhibit
from farfield.reproductions import Claim, Table, Unpublished, VerdictRule
from farfield.tasks import TRAINING, Regime
from farfield.tasks._protocol._answers import ClassTask
from farfield.training import trained_network
from farfield.training.internal import problems_of_run

SEEDS = (0, 1)


@dataclass(frozen=True, kw_only=True)
class Blobs(ClassTask):
    """Two blobs of the plane, and more of them without labels."""

    name: ClassVar[str] = "blobs"
    version: ClassVar[int] = 1
    item_shape, length, num_outputs, segments = (2,), 1, 2, ((0,),)
    regimes = (
        Regime(name=TRAINING, distance=0, unit="draws"),
        Regime(name="unlabelled", distance=0, unit="draws"),
    )

    def draw(self, stream: Stream) -> dict[str, Problems]:
        return {
            name: self.drawn(count, stream.child(name)) for name, count in self.counts().items()
        }

    def counts(self) -> dict[str, int]:
        return {TRAINING: 20, "unlabelled": 50}

    def drawn(self, count: int, stream: Stream) -> Problems:
        target = torch.arange(count) % 2
        items = torch.randn(count, 2, generator=stream.torch()) + 3 * target[:, None]
        return Problems(items=items, index=torch.arange(count)[:, None], target=target)


class Narrow(nn.Module):
    """A classifier through a layer of two units."""

    def __init__(self, stream: Stream, size: int) -> None:
        super().__init__()
        self.below, self.narrow, self.above = (
            nn.Linear(2, size),
            nn.Linear(size, 2),
            nn.Linear(2, 2),
        )
        source = stream.torch()
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.normal_(generator=source)

    def forward(self, items: Tensor, index: Tensor) -> Tensor:
        return self.above(self.narrow(self.below(items[index[:, 0]]).tanh()))


@dataclass(frozen=True, kw_only=True)
class NarrowNetwork:
    size: int = 4

    def build(self, task: object, stream: Stream) -> nn.Module:
        return Narrow(stream, self.size)


def experiment(*, size: int = 4, steps: int = 3) -> Experiment:
    return Experiment(
        task=Blobs(), model=NarrowNetwork(size=size), recipe=Recipe(steps=steps, batch_size=8)
    )


def claim(row: str, what: Experiment, column: str = "accuracy") -> Claim:
    return Claim(
        paper="lamb2022",
        table="figure-1",
        row=row,
        column=column,
        published=Unpublished(runs=2, selection="last", split="new", unit="percent"),
        experiment=what,
        rule=VerdictRule(),
        metric="accuracy",
        regime="unlabelled",
        quick=1,
        subject="Blobs",
        group=column.replace(" ", "-"),
    )


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Finished runs of all tests of the file, each of which asks for those it needs."""
    return Store(tmp_path_factory.mktemp("plane") / "runs")


def plate_of(exhibit: Exhibit, store: Store, *claims: Claim) -> Plate:
    for own in claims:
        for seed in SEEDS:
            run([Job(experiment=own.experiment, seed=seed)], store, Here())
    figure = Figure(
        table=Table(key="lamb2022/figure", title="A figure", claims=claims),
        exhibits=(exhibit,),
        says=(Quote(of="*", words="so the paper says"),),
    )
    report = tabulate(figure.table, lambda own: store.records(own.experiment.key))
    (plate,) = illustrate(figure, report, store)
    assert {finding.paper for finding in plate.findings} == {"so the paper says"}
    return plate


def over(values: list[float], *, digits: int = 1, unit: str = " %") -> str:
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    return f"{np.mean(values):.{digits}f} ± {error:.{digits}f}{unit} (2 networks)"


ROWS = {"no mixup": experiment(), "manifold mixup": experiment(size=6)}


def test_surfaces_of_all_networks_are_measured_and_the_first_is_drawn(store: Store) -> None:
    claims = [claim(row, what) for row, what in ROWS.items()]
    plate = plate_of(decision_surfaces(layer="narrow"), store, *claims)
    expected = []
    for row, what in ROWS.items():
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
    network = trained_network(ROWS["manifold mixup"], 0, store)
    problems = problems_of_run(Blobs(), 0)[TRAINING]
    dots = [collection.get_offsets() for collection in picture.axes[3].collections[-2:]]
    shown = representations_of(network, problems, "narrow")
    np.testing.assert_allclose(dots[1], shown, rtol=1e-6)
    assert len(dots[0]) == 30 * 30


def test_boundaries_of_a_stage_are_in_one_panel(store: Store) -> None:
    claims = [
        claim(row, experiment(size=size, steps=steps), f"{steps} updates")
        for steps in (1, 3)
        for row, size in (("ICT", 4), ("supervised", 6))
    ]
    plate = plate_of(decision_boundaries(unlabelled="unlabelled"), store, *claims)
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


LAYERS = (("below", "first layer"), ("narrow", "two units"))


def test_spectra_are_means_over_classes_and_networks(store: Store) -> None:
    claims = [claim(row, what) for row, what in ROWS.items()]
    plate = plate_of(flattening(layers=LAYERS, regime="unlabelled"), store, *claims)
    expected, drawn = [], []
    for row, what in ROWS.items():
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


def test_neighbors_of_every_network_are_counted_and_drawn(store: Store) -> None:
    claims = [claim(row, what) for row, what in ROWS.items()]
    plate = plate_of(nearest_neighbors(layer="narrow", regime="unlabelled", k=3), store, *claims)
    lines = plate.draw(LIGHT).axes[0].collections
    for finding, line, (row, what) in zip(plate.findings, lines, ROWS.items(), strict=True):
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


def test_without_runs_there_is_nothing_to_show(store: Store) -> None:
    for exhibit in (
        decision_surfaces(layer="narrow"),
        decision_boundaries(unlabelled="unlabelled"),
        flattening(layers=(("narrow", "two units"),), regime=TRAINING),
        nearest_neighbors(layer="narrow", regime=TRAINING, k=1),
    ):
        figure = Figure(
            table=Table(key="x", title="", claims=(claim("ICT", experiment()),)),
            exhibits=(exhibit,),
        )
        assert isinstance(exhibit, Exhibit)
        assert illustrate(figure, tabulate(figure.table, lambda claim: []), store) == ()


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
    assert names == ["split", "alone", "labelled, class 1", "labelled, class 2", "unlabelled"]
