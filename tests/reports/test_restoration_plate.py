"""Figures 4 and 7 of ren2017 on small networks: pieces, scores, and what is said of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn

from farfield.execution import Here, run
from farfield.execution.internal import Job
from farfield.experiments import Experiment, ItemNetwork, Recipe, Spec
from farfield.functional.internal import bicubic_resize
from farfield.models import SRCNN
from farfield.records import Store
from farfield.reports import FIGURES, Figure, Report, illustrate, tabulate
from farfield.reports._exhibits._images import own_pictures, restorations
from farfield.reports.internal import LIGHT
from farfield.tasks import SuperResolution
from farfield.training import trained_network

TASK = SuperResolution(scale=4, training="train", tests=("set14",), stride=20)
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
    return dataclasses.replace(
        printed,
        table=dataclasses.replace(printed.table, claims=claims),
        exhibits=(restorations(regime="set14", images=("comic", "face")),),
    )


def found(shown: Figure, store: Store) -> Report:
    return tabulate(shown.table, lambda claim: store.records(claim.experiment.key))


def test_a_network_without_parameters_is_scored_and_kept(store: Store) -> None:
    first, second = store.records(EXPERIMENTS["Bicubic"].key)
    assert first.final("set14", "psnr") == second.final("set14", "psnr") > 6.02
    network = trained_network(EXPERIMENTS["Bicubic"], 0, store)
    assert network.state_dict() == {}


def test_pieces_are_of_generated_pictures_and_never_of_photographs(store: Store) -> None:
    shown = figure()
    (plate,) = illustrate(shown, found(shown, store), store)
    picture = plate.draw(LIGHT)
    columns = ["original", "given (bicubic)", "Bicubic", "SRCNN"]
    (axes,) = picture.axes
    said = [text.get_text() for text in axes.texts]
    assert said[:4] == columns
    assert picture.get_suptitle() == "100 % of steps, 1 network each"
    pieces = [np.asarray(image.get_array()) for image in axes.images]
    glyphs, _, rings = (whole.numpy() for whole in own_pictures().values())
    np.testing.assert_allclose(pieces[0], glyphs[12:-12, 12:-12] / 255, rtol=1e-6)
    np.testing.assert_allclose(pieces[8], rings[12:-12, 12:-12] / 255, rtol=1e-6)
    few = bicubic_resize(torch.from_numpy(glyphs).double(), (30, 30))
    given = (bicubic_resize(few, (120, 120)) / 255).float()
    np.testing.assert_allclose(pieces[1], given[12:-12, 12:-12].clamp(0, 1), rtol=1e-6)
    np.testing.assert_array_equal(pieces[2], pieces[1])  # of a network that changes nothing
    network = trained_network(EXPERIMENTS["SRCNN"], 0, store).eval()
    with torch.inference_mode():
        sharp = network(given[None], torch.tensor([[0]]))[0]
    lost = (120 - len(sharp)) // 2
    inner = sharp[12 - lost : 108 - lost, 12 - lost : 108 - lost]
    assert (lost, pieces[3].shape) == (8, (96, 96))
    np.testing.assert_allclose(pieces[3], inner.clamp(0, 1), rtol=1e-5)
    answered = (255 * given.double()).round().clamp(0, 255)[8:-8, 8:-8].numpy()
    error = np.square(answered - glyphs[8:-8, 8:-8].astype(float)).mean()
    score = 10 * np.log10(255**2 / error)
    assert said[4:7] == ["glyphs", f"PSNR {score:.2f} dB", f"PSNR {score:.2f} dB"]
    assert "PSNR of whole photographs of set14" in plate.caption


def test_without_networks_there_are_numbers_and_no_picture(store: Store) -> None:
    shown = figure()
    report = found(shown, store)
    ((plate,), (drawn,)) = (illustrate(shown, report, one) for one in (None, store))
    assert plate.draw is None
    assert plate.findings == drawn.findings
    assert plate.caption.startswith("There is no picture, as it takes the trained networks.")


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


def test_nothing_run_shows_nothing() -> None:
    shown = figure()
    assert illustrate(shown, tabulate(shown.table, lambda _: []), None) == ()
