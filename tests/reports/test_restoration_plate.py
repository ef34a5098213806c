"""Figures 4 and 7 of ren2017 on small networks: pieces, scores, and what is said of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn

from farfield.core import stream
from farfield.execution import Here, Job, run
from farfield.experiments import Experiment, ItemNetwork, Recipe, Spec
from farfield.models import SRCNN
from farfield.records import Store
from farfield.reports import FIGURES, LIGHT, Figure, Report, Restorations, illustrate, tabulate
from farfield.tasks import SuperResolution
from farfield.training import trained_network

TASK = SuperResolution(training="train", tests=("set14",), stride=20)
EXPERIMENTS = {
    "Bicubic": Experiment(
        task=TASK, model=ItemNetwork(core=Spec(nn.Identity)), recipe=Recipe(steps=1)
    ),
    "SRCNN": Experiment(
        task=TASK,
        model=ItemNetwork(core=Spec(SRCNN, channels=(2, 2))),
        recipe=Recipe(steps=2, batch_size=2),
    ),
}
SEEDS = (0, 1)
SIDE = 12


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    data = tmp_path_factory.mktemp("restorations")
    for folder, names in (("train", ("a",)), ("set14", ("comic", "face"))):
        (data / folder).mkdir()
        for seed, name in enumerate(names):
            pixels = np.random.default_rng(seed).integers(0, 256, (40, 50), dtype=np.uint8)
            Image.fromarray(pixels).save(data / folder / f"{name}.png")
    found = Store(data / "runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FARFIELD_DATA", str(data))
        for experiment in EXPERIMENTS.values():
            for seed in SEEDS:
                run([Job(experiment=experiment, seed=seed)], found, Here())
        yield found


def figure() -> Figure:
    """Figure 7 on the small experiments."""
    printed = FIGURES["ren2017/figure-7"]
    claims = tuple(
        dataclasses.replace(claim, experiment=EXPERIMENTS[claim.row], quick=1)
        for claim in printed.table.claims
        if claim.row in EXPERIMENTS
    )
    crops = (("comic", 0.0, 0.5), ("face", 0.5, 1.0))
    return dataclasses.replace(
        printed,
        table=dataclasses.replace(printed.table, claims=claims),
        exhibits=(dataclasses.replace(printed.exhibits[0], crops=crops, side=SIDE),),
    )


def found(shown: Figure, store: Store) -> Report:
    return tabulate(shown.table, lambda claim: store.records(claim.experiment.key))


def test_a_network_without_parameters_is_scored_and_kept(store: Store) -> None:
    first, second = store.records(EXPERIMENTS["Bicubic"].key)
    assert first.final("set14", "psnr") == second.final("set14", "psnr") > 6.02
    network = trained_network(EXPERIMENTS["Bicubic"], 0, store)
    assert network.state_dict() == {}


def test_pieces_are_cut_out_of_what_each_network_gives(store: Store) -> None:
    shown = figure()
    (plate,) = illustrate(shown, found(shown, store), store)
    axes = plate.draw(LIGHT).axes
    pieces = [np.asarray(one.images[0].get_array()) for one in axes]
    assert [one.get_title(loc="left") for one in axes[:3]] == ["original", "Bicubic", "SRCNN"]
    problems = TASK.draw(stream(0))["set14"]
    comic, face = (tensor.numpy() / 255 for tensor in problems.target.tensors)
    # 39 × 48 pixels: at the top in the middle, and half way down at the right.
    np.testing.assert_allclose(pieces[0], comic[:SIDE, 24 - 6 : 24 + 6], rtol=1e-6)
    np.testing.assert_allclose(pieces[3], face[20 - 6 : 20 + 6, 48 - SIDE :], rtol=1e-6)
    given = problems.items.tensors[0].numpy().clip(0, 1)
    np.testing.assert_allclose(pieces[1], given[:SIDE, 18:30], rtol=1e-6)
    network = trained_network(EXPERIMENTS["SRCNN"], 0, store).eval()
    with torch.inference_mode():
        sharp = network(problems.items.tensors[0][None], torch.tensor([[0]]))[0]
    # Of an image that lacks 8 pixels along each border, the nearest piece.
    np.testing.assert_allclose(pieces[2], sharp[:SIDE, 10:22].clamp(0, 1), rtol=1e-5)
    record = store.records(EXPERIMENTS["SRCNN"].key)[0]
    said = [one.get_xlabel() for one in axes[:3]]
    assert said[0] == "comic"
    assert said[2] == f"PSNR {record.final('set14', 'psnr/comic'):.2f} dB"


def test_findings_are_means_beside_the_captions(store: Store) -> None:
    shown = figure()
    (plate,) = illustrate(shown, found(shown, store), store)
    by_name = {finding.what: finding for finding in plate.findings}
    assert len(by_name) == 4
    one = by_name["face: PSNR of SRCNN"]
    records = store.records(EXPERIMENTS["SRCNN"].key)
    mean = np.mean([record.final("set14", "psnr/face") for record in records])
    assert one.paper == "32.29 dB (Figure 7)"
    assert one.ours == f"{mean:.2f} dB (2 networks)"


def test_quotes_tell_dn_from_a_pattern() -> None:
    published = FIGURES["ren2017/figure-4"]
    assert published.words("lenna/DN*") == "31.46 dB (Figure 4)"
    assert published.words("lenna/SRCNN") == "31.33 dB (Figure 4)"


def test_images_must_be_there_and_nothing_run_shows_nothing(store: Store) -> None:
    shown = figure()
    exhibit = Restorations(regime="set14", crops=(("lenna", 0.5, 0.5),), side=SIDE)
    other = dataclasses.replace(shown, exhibits=(exhibit,))
    with pytest.raises(ValueError, match="crops must name images of set14, got 'lenna'"):
        illustrate(other, found(other, store), store)
    assert illustrate(shown, found(shown, store), None) == ()
    with pytest.raises(ValueError, match="side must be"):
        dataclasses.replace(exhibit, side=0)
