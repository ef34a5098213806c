"""Sheets of images that small trained generators make."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch

from farfield.execution import Here, run
from farfield.execution.internal import Job
from farfield.records import Store
from farfield.reports import FIGURES, Figure, Quote, tabulate
from farfield.reports._exhibits._images import generated_images, sheets_drawing
from farfield.reports.internal import DARK, LIGHT
from farfield.tasks import ImageGeneration
from farfield.training import trained_network
from farfield.training.internal import problems_of_run
from tasks import image_sets
from training.test_gan import JUDGE, TASK, gan, read


@pytest.fixture(autouse=True)
def _made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A set of images that is made up."""
    image_sets.add(monkeypatch, shape=(3, 4, 4), classes=6, read=read)


def figure() -> Figure:
    """The samples of the laboratory, on two small networks at two lengths of training."""
    known = FIGURES["lamb2022/nfm-gan-samples"]
    whole = dataclasses.replace(known.table.claims[0], metric=f"fid/{JUDGE.label}", quick=1)
    claims = []
    for row, info_max in (("first", 0.0), ("second", 0.3)):
        experiment = gan(info_max=info_max)
        judged = dataclasses.replace(
            experiment, model=dataclasses.replace(experiment.model, judge=JUDGE)
        )
        for fraction in (0.5, 1.0):
            part = judged.at_fraction(fraction)
            column = f"{part.recipe.steps} updates"
            claims.append(
                dataclasses.replace(whole, row=row, column=column, group=column, experiment=part)
            )
    return dataclasses.replace(
        known,
        table=dataclasses.replace(known.table, claims=tuple(claims)),
        exhibits=(generated_images(side=2),),
        says=(Quote(of=f"second/{column}", words="a claim"),),
    )


def test_sheets_show_what_generators_make_of_the_same_noise(tmp_path: Path) -> None:
    shown, store = figure(), Store(tmp_path)
    (exhibit,) = shown.exhibits

    def plate():
        report = tabulate(shown.table, lambda claim: store.records(claim.experiment.key))
        return exhibit.plate(shown, report, store)

    assert plate() is None
    assert exhibit.plate(shown, tabulate(shown.table, lambda _: []), None) is None
    run([Job(experiment=claim.experiment, seed=2) for claim in shown.table.claims], store, Here())
    found = plate()
    assert "of seed 2 makes of the same 4 vectors" in found.caption
    for theme in (LIGHT, DARK):
        (axes,) = found.draw(theme).axes
        assert len(axes.images) == 1 + 4
        assert found.draw(theme).get_suptitle() == "100 % of steps, 1 network each"
    data, *sheets = (np.asarray(image.get_array()) for image in axes.images)
    problems = problems_of_run(ImageGeneration(**TASK, noise_size=3), 2)["test"][:4]
    assert np.allclose(data[1:5, 1:5], problems.target[0].permute(1, 2, 0) / 255)
    assert np.allclose(data[7:11, 1:5], problems.target[2].permute(1, 2, 0) / 255)
    for claim, sheet in zip(shown.table.claims, sheets, strict=True):
        network = trained_network(claim.experiment, 2, store)
        with torch.inference_mode():
            made = network.generate(problems.items[problems.index[:, 0]])
        assert np.allclose(sheet[1:5, 7:11], made[1].permute(1, 2, 0), atol=1e-6)
    assert [finding.what for finding in found.findings] == [
        f"{claim.row}, {claim.column}: Fréchet distance of features" for claim in shown.table.claims
    ]
    last = found.findings[-1]
    (record,) = store.records(shown.table.claims[-1].experiment.key)
    assert last.paper == "a claim"
    assert last.ours.startswith(f"{record.final('test', f'fid/{JUDGE.label}'):.2f} (")


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
