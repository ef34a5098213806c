"""Embeddings against what they show: the numbers beside the paper's words, and the picture."""

from __future__ import annotations

import dataclasses
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from matplotlib.collections import PathCollection

from farfield.execution import Here, run
from farfield.execution.internal import Job
from farfield.experiments import Experiment, Recipe, ScoringNetwork, Spec
from farfield.models import LSTMScorer
from farfield.nn import ContextNorm, MomentEncoder, SlotBatchNorm
from farfield.records import Store, StoreError
from farfield.reports import FIGURES, Figure, Plate, illustrate, png, tabulate
from farfield.reports._exhibits._representations import embeddings_by_dimension
from farfield.reports.internal import DARK, LIGHT
from farfield.reproductions import Table
from farfield.tasks import SameDifferent, VAECTranslation
from farfield.training import trained_network
from farfield.training.internal import problems_of_run
from oracles import keys as keys_oracle
from oracles import lines as oracle
from reproductions import made_up

TASK = VAECTranslation(image_size=64, levels_per_region=3, num_levels=6, problems_per_regime=70)
CONTEXTS = {
    "Context norm.": Spec(ContextNorm),
    "Batch norm.": Spec(SlotBatchNorm),
    "No norm.": None,
}
DIMENSIONS = ("location-x", "location-y", "size", "brightness")
SEEDS = (0, 3)


def experiment(context: Spec | None) -> Experiment:
    return Experiment(
        task=TASK,
        model=ScoringNetwork(
            scorer=Spec(LSTMScorer, hidden_size=4),
            encoder=Spec(MomentEncoder, num_maps=2, out_features=6),
            context=context,
        ),
        recipe=Recipe(steps=4, batch_size=16),
    )


def figure_of(*rows: str) -> Figure:
    claims = tuple(
        dataclasses.replace(
            made_up.claim(row=row),
            paper="webb2020",
            table="small",
            column="Region 2",
            regime="region-2",
            subject="VAEC, regions",
            free=(),
            experiment=experiment(CONTEXTS[row]),
        )
        for row in rows
    )
    table = Table(key="webb2020/small", title="Small", claims=claims)
    analyses = (embeddings_by_dimension(),)
    return Figure(table=table, exhibits=analyses, says=FIGURES["webb2020/figure-s4"].says)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    found = Store(tmp_path_factory.mktemp("embeddings") / "runs")
    for context in CONTEXTS.values():
        for seed in SEEDS:
            run([Job(experiment=experiment(context), seed=seed)], found, Here())
    return found


def plate_of(figure: Figure, store: Store) -> Plate:
    report = tabulate(figure.table, lambda claim: store.records(claim.experiment.key))
    (plate,) = illustrate(figure, report, store)
    return plate


@pytest.fixture(scope="module")
def plate(store: Store) -> Plate:
    return plate_of(figure_of(*CONTEXTS), store)


def levels_of(row: str, terms: np.ndarray) -> np.ndarray:
    """Levels of (batch, candidate, time, 4) in the context of a row."""
    if row == "No norm.":
        return terms
    out = np.empty_like(terms)
    gain, shift = np.ones(4), np.zeros(4)
    if row == "Context norm.":
        for place in np.ndindex(terms.shape[:2]):
            out[place] = oracle.normalized(terms[place], gain, shift)
    else:
        for start in range(0, len(terms), 32):
            for slot in np.ndindex(terms.shape[1:3]):
                batch = (slice(start, start + 32), *slot)
                out[batch] = oracle.normalized(terms[batch], gain, shift)
    return out


def expected(row: str, seed: int, store: Store) -> tuple[float, list[float]]:
    """Share of the first component and the R² along each dimension, over all 70 problems."""
    problems = problems_of_run(TASK, seed)["region-2"]
    network = trained_network(experiment(CONTEXTS[row]), seed, store)
    with torch.inference_mode():
        z = network.embed(network.encode(problems.table()), problems.index).double().numpy()
    sequences = [
        [[*places[:3], candidate] for candidate in places[3:]] for places in problems.index.tolist()
    ]
    levels = levels_of(row, problems.items.latent.double().numpy()[np.array(sequences)])
    flat = z.reshape(-1, z.shape[-1])
    ((axis, share),) = keys_oracle.power_iteration(flat, 1)
    heights = (z - keys_oracle.mean(flat)) @ axis
    varied = problems.latent["dimension"].numpy()
    fits = []
    for dimension in range(4):
        shown = varied == dimension if CONTEXTS[row] else varied >= 0
        values = levels[shown][..., dimension].ravel().tolist()
        fits.append(oracle.line(values, heights[shown].ravel().tolist())[2])
    return share, fits


@pytest.mark.parametrize("row", CONTEXTS)
def test_shares_and_linearity_are_those_of_all_networks(
    row: str, plate: Plate, store: Store
) -> None:
    found = {finding.what: finding for finding in plate.findings}
    assert len(found) == len(plate.findings) == 3 * 5
    wanted = [expected(row, seed, store) for seed in SEEDS]
    shares = [100 * share for share, _ in wanted]
    ours = found[f"{row}: share of variance of component 1"].ours
    mean, error, count = re.fullmatch(r"([\d.]+) ± ([\d.]+) % \((\d) networks\)", ours).groups()
    assert (float(mean), count) == (pytest.approx(np.mean(shares), abs=0.051), "2")
    assert float(error) == pytest.approx(abs(shares[0] - shares[1]) / 2, abs=0.051)
    for place, dimension in enumerate(DIMENSIONS):
        ours = found[f"{row}: linearity along {dimension}"].ours
        mean = np.mean([fits[place] for _, fits in wanted])
        assert float(ours.partition(" ")[0]) == pytest.approx(mean, abs=6e-4)


def test_the_paper_s_words_stand_beside(plate: Plate) -> None:
    said = {finding.what: finding.paper for finding in plate.findings}
    for row, percent in (("Context norm.", 80), ("Batch norm.", 62), ("No norm.", 90)):
        assert said[f"{row}: share of variance of component 1"].startswith(f"{percent} %")
        assert said[f"{row}: linearity along size"]
    assert "similarity" in said["Context norm.: linearity along brightness"]


def test_the_picture_has_a_panel_for_each_dimension_of_each_row(plate: Plate) -> None:
    picture = plate.draw(LIGHT)
    grid = np.array(picture.axes).reshape(3, 4)
    heads = [axes.get_title(loc="left") for axes in grid[0]]
    assert heads == ["Location X", "Location Y", "Size", "Brightness"]
    for panels, row in zip(grid, CONTEXTS, strict=True):
        assert panels[0].get_ylabel().startswith(f"{row}\ncomponent 1 (")
        across = {axes.get_xlabel() for axes in panels}
        assert across == {"level" if row == "No norm." else "normalized level"}
    for axes in grid[2]:
        mean, fit = axes.lines
        assert list(mean.get_xdata()) == pytest.approx([3, 4, 5])
        assert list(fit.get_xdata()) == [3, 5]
        (points,) = (part for part in axes.collections if isinstance(part, PathCollection))
        assert len(points.get_offsets()) == 600
        assert set(np.unique(points.get_offsets()[:, 0])) == {3, 4, 5}
        (words,) = axes.texts
        assert re.fullmatch(r"R² \d\.\d\d", words.get_text())
    assert "VAEC, regions, Region 2: seed 0, 100 % of steps" in picture.get_suptitle()
    assert "of 70 problems" in plate.caption


def test_the_picture_is_the_same_bytes_each_time(plate: Plate) -> None:
    first, second, dark = (png(plate.draw(theme), dpi=30) for theme in (LIGHT, LIGHT, DARK))
    assert first == second != dark


def test_figures_without_runs_have_nothing_to_show(store: Store) -> None:
    for number in range(3, 9):
        figure = FIGURES[f"webb2020/figure-s{number}"]
        report = tabulate(figure.table, lambda claim: [])
        assert illustrate(figure, report, store) == ()


def test_a_network_that_is_gone_is_an_error(store: Store, tmp_path: Path) -> None:
    shutil.copytree(store.folder, tmp_path / "runs")
    found, figure = Store(tmp_path / "runs"), figure_of("No norm.")
    found.weights_path(experiment(None).key, 0).unlink()
    with pytest.raises(StoreError, match=r"cannot read .*0\.safetensors"):
        plate_of(figure, found)


def test_problems_without_dimensions_are_refused(store: Store) -> None:
    claim = made_up.claim()
    assert isinstance(claim.experiment.task, SameDifferent)
    figure = dataclasses.replace(
        figure_of("No norm."), table=Table(key="webb2021/other", title="Other", claims=(claim,))
    )
    report = tabulate(figure.table, lambda claim: made_up.records(claim, [50.0]))
    with pytest.raises(ValueError, match="must be of analogies in parts, got SameDifferent"):
        illustrate(figure, report, store)
