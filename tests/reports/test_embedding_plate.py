"""Embeddings and keys of trained networks: the numbers beside the paper's words, and pictures."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable

import numpy as np
import pytest
import torch
from matplotlib.collections import PathCollection

from farfield.analysis.internal import key_overlap, keys_of
from farfield.records import Store
from farfield.reports import Plate, illustrate, tabulate
from farfield.reports.internal import LIGHT
from farfield.training import trained_network
from farfield.training.internal import problems_of_run
from oracles import keys as keys_oracle
from oracles import lines as oracle
from reports.exhibits import (
    CONTEXTS,
    KEYS,
    SEEDS,
    VAEC,
    embedder,
    figure_of,
    of_embeddings,
    of_keys,
    on_networks,
)
from reproductions import made_up

DIMENSIONS = ("location-x", "location-y", "size", "brightness")
Plates = Callable[[str], Plate]


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
    problems = problems_of_run(VAEC, seed)["region-2"]
    network = trained_network(embedder(CONTEXTS[row]), seed, store)
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
    row: str, plate: Plates, store: Store
) -> None:
    plate = plate("embeddings_by_dimension")
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


def test_the_paper_s_words_stand_beside(plate: Plates) -> None:
    findings = plate("embeddings_by_dimension").findings
    said = {finding.what: finding.paper for finding in findings}
    for row, percent in (("Context norm.", 80), ("Batch norm.", 62), ("No norm.", 90)):
        assert said[f"{row}: share of variance of component 1"].startswith(f"{percent} %")
        assert said[f"{row}: linearity along size"]
    assert "similarity" in said["Context norm.: linearity along brightness"]


def test_the_picture_has_a_panel_for_each_dimension_of_each_row(plate: Plates) -> None:
    plate = plate("embeddings_by_dimension")
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


def test_problems_without_dimensions_are_refused(store: Store) -> None:
    figure = of_embeddings("No norm.")
    claim = made_up.claim()
    figure = dataclasses.replace(figure, table=dataclasses.replace(figure.table, claims=(claim,)))
    report = tabulate(figure.table, lambda claim: made_up.records(claim, [50.0]))
    with pytest.raises(ValueError, match="must be of analogies in parts, got SameDifferent"):
        illustrate(figure, report, store)


# --- Keys -----------------------------------------------------------------------------------------


def test_keys_are_measured_over_the_networks(plate: Plates, store: Store) -> None:
    keys, overlaps = plate("keys_by_position"), []
    for seed in SEEDS:
        sets = problems_of_run(KEYS.task, seed)
        network = trained_network(KEYS, seed, store)
        count = min(len(sets["training"]), len(sets["withheld-95"]), 360)
        overlaps.append(
            key_overlap(
                *(keys_of(network, sets[name][:count]) for name in ("training", "withheld-95"))
            )
        )
    found = {finding.what: finding for finding in keys.findings}
    confused = found["keys of positions 4–9 nearest to one of positions 1–3"]
    mean = 100 * np.mean([overlap.confused for overlap in overlaps])
    error = 100 * abs(overlaps[0].confused - overlaps[1].confused) / 2
    assert confused.ours == f"{mean:.1f} ± {error:.1f} % (2 networks)"
    assert confused.paper == "so the paper says"
    recalled = found["recalled, positions 1, 2, 3: training distinguished from test"].ours
    means = [
        100 * np.mean(part) for part in zip(*(o.recalled_accuracy for o in overlaps), strict=True)
    ]
    assert [float(part) for part in re.findall(r"([\d.]+) ±", recalled)] == pytest.approx(
        means, abs=0.051
    )
    spread = [float(n) for n in re.findall(r"([\d.]+) ±", keys.findings[0].ours)]
    assert spread[0] == pytest.approx(np.mean([o.spread[:3] for o in overlaps]), abs=6e-4)
    assert spread[1] == pytest.approx(np.mean([o.spread[3:] for o in overlaps]), abs=6e-4)
    assert len(keys.findings) == 8


def test_the_picture_of_keys_has_three_panels(plate: Plates) -> None:
    picture = plate("keys_by_position").draw(LIGHT)
    heads = [axes.get_title(loc="left")[0] for axes in picture.axes]
    assert heads == ["a", "b", "c"]
    parts = [
        [part for part in axes.collections if isinstance(part, PathCollection)]
        for axes in picture.axes
    ]
    assert [len(part) for part in parts] == [9, 6, 6]
    assert all(len(part.get_offsets()) == 40 for panel in parts for part in panel)
    for axes, count in zip(picture.axes, (9, 3, 3), strict=True):
        assert [text.get_text() for text in axes.texts] == [str(n + 1) for n in range(count)]
        assert "component 1 (" in axes.get_xlabel()
    assert "seed 0, 100 % of steps" in picture.get_suptitle()


def test_keys_of_several_cells_are_refused(store: Store) -> None:
    figure = of_keys()
    (cell,) = figure.table.claims
    both = figure_of(figure.exhibits[0], cell, dataclasses.replace(cell, row="B"))
    report = on_networks(both, store)
    with pytest.raises(ValueError, match="webb2021/figure must have one cell, got 2"):
        illustrate(figure, report, store)
