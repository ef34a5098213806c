"""Images that trained networks make, enlarge and choose among."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from farfield.functional.internal import bicubic_resize
from farfield.records import Store
from farfield.reports import Plate, illustrate
from farfield.reports._exhibits._images import own_pictures, sheets_drawing
from farfield.reports.internal import LIGHT
from farfield.tasks import VALIDATION
from farfield.training import trained_network
from farfield.training.internal import problems_of_run
from reports.exhibits import (
    ENLARGERS,
    MATRICES,
    READERS,
    of_generated,
    of_restorations,
    on_networks,
)
from training.test_gan import JUDGE

pytestmark = pytest.mark.usefixtures("small_world")
Plates = Callable[[str], Plate]


def test_sheets_show_what_generators_make_of_the_same_noise(plate: Plates, store: Store) -> None:
    found, claims = plate("generated_images"), of_generated().table.claims
    assert "of seed 0 makes of the same 4 vectors" in found.caption
    picture = found.draw(LIGHT)
    (axes,) = picture.axes
    assert len(axes.images) == 1 + 4
    assert picture.get_suptitle() == "100 % of steps, 1 network each"
    data, *sheets = (np.asarray(image.get_array()) for image in axes.images)
    problems = problems_of_run(claims[0].experiment.task, 0)["test"][:4]
    assert np.allclose(data[1:5, 1:5], problems.target[0].permute(1, 2, 0) / 255)
    assert np.allclose(data[7:11, 1:5], problems.target[2].permute(1, 2, 0) / 255)
    for claim, sheet in zip(claims, sheets, strict=True):
        network = trained_network(claim.experiment, 0, store)
        with torch.inference_mode():
            made = network.generate(problems.items[problems.index[:, 0]])
        assert np.allclose(sheet[1:5, 7:11], made[1].permute(1, 2, 0), atol=1e-6)
    assert [finding.what for finding in found.findings] == [
        f"{claim.row}, {claim.column}: Fréchet distance of features" for claim in claims
    ]
    last = found.findings[-1]
    records = store.records(claims[-1].experiment.key)
    mean = np.mean([record.final("test", f"fid/{JUDGE.label}") for record in records])
    assert last.paper == "a claim"
    assert last.ours == f"{mean:.2f} (2 networks)"


def test_sheets_of_one_column_stand_side_by_side() -> None:
    images = torch.zeros(4, 1, 3, 3)
    sheets = {(row, "7 updates"): images for row in ("data", "first")}
    picture = sheets_drawing(sheets, 2, "a note")(LIGHT)
    (axes,) = picture.axes
    assert [text.get_text() for text in axes.texts] == ["data", "first"]
    (left, _, low, high), (right, *_, first_low, first_high) = (
        image.get_extent() for image in axes.images
    )
    assert (low, high) == (first_low, first_high)
    assert left == 0 < right  # no room beside
    assert picture.get_suptitle() == "7 updates, a note"


# --- Restorations ---------------------------------------------------------------------------------


def test_a_network_without_parameters_is_scored_and_kept(plate: Plates, store: Store) -> None:
    plate("restorations")
    first, second = store.records(ENLARGERS["Bicubic"].key)
    assert first.final("set14", "psnr") == second.final("set14", "psnr") > 6.02
    network = trained_network(ENLARGERS["Bicubic"], 0, store)
    assert network.state_dict() == {}


def test_pieces_are_of_generated_pictures_and_never_of_photographs(
    plate: Plates, store: Store
) -> None:
    plate = plate("restorations")
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
    network = trained_network(ENLARGERS["SRCNN"], 0, store).eval()
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


def test_without_networks_there_are_numbers_and_no_picture(plate: Plates, store: Store) -> None:
    figure, drawn = of_restorations(), plate("restorations")
    (plate,) = illustrate(figure, on_networks(figure, store), None)
    assert plate.draw is None
    assert plate.findings == drawn.findings
    assert plate.caption.startswith("There is no picture, as it takes the trained networks.")


def test_findings_are_means_beside_the_captions(plate: Plates, store: Store) -> None:
    by_name = {finding.what: finding for finding in plate("restorations").findings}
    assert len(by_name) == 4
    one = by_name["face: PSNR of SRCNN"]
    records = store.records(ENLARGERS["SRCNN"].key)
    mean = np.mean([record.final("set14", "psnr/face") for record in records])
    assert one.paper == "32.29 dB (Figure 7)"
    assert one.ours == f"{mean:.2f} dB (2 networks)"


# --- Matrices -------------------------------------------------------------------------------------


def test_a_matrix_is_shown_with_the_scores_of_its_candidates(plate: Plates, store: Store) -> None:
    plate = plate("scored_matrix")
    problems = problems_of_run(MATRICES, 0)[VALIDATION][:1]
    target, shares, chosen = int(problems.target[0]), {}, {}
    for row, own in READERS.items():
        network = trained_network(own, 0, store)
        with torch.no_grad():
            whole = problems.compact()
            share = 100 * network(whole.table(), whole.index)[0].softmax(-1)
        shares[row], chosen[row] = [f"{value:.0f}" for value in share.tolist()], int(share.argmax())
    matrix, candidates = plate.draw(LIGHT).axes
    words = [label.get_text() for label in candidates.texts]
    half = len(candidates.images) // 2
    for line in (0, 1):
        # The names stand once a line, beside its first candidate.
        shown = range(line * half, (line + 1) * half)
        expected = [*READERS, *(own[place] for place in shown for own in shares.values())]
        assert words[line * len(expected) :][: len(expected)] == expected
    widths = [patch.get_linewidth() for patch in candidates.patches]
    assert int(np.argmax(widths)) == target
    shown = candidates.images[3].get_array()
    assert np.array_equal(shown, problems.sequences()[0, 8 + 3])
    assert [label.get_text() for label in matrix.texts] == ["?"]
    *_, who = plate.findings
    assert (who.what, who.paper) == ("the matrix that is shown: who is right", "so the paper says")
    assert who.ours == (", ".join(row for row in READERS if chosen[row] == target) or "none")
