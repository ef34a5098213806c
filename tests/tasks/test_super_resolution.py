"""Super-resolution: what is shown and wanted, its scores, and folders that are refused."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn

from farfield.core import stream
from farfield.core.internal import RaggedItems
from farfield.experiments import Experiment, ItemNetwork, Recipe, Spec
from farfield.models import SRCNN
from farfield.models.internal import ItemModel
from farfield.tasks import TRAINING, VALIDATION, ProblemTask, SuperResolution
from farfield.tasks.internal import FurtherScores
from farfield.training import evaluate
from farfield.training.internal import OneNetwork, Stack
from oracles import super_resolution as oracle

SIZES = {"a": (41, 38, 3), "b": (37, 52), "c": (40, 40, 3)}
TESTS = {"d": (37, 38, 3), "e": (44, 36), "f": (37, 38)}


def levels(shape: tuple[int, ...], seed: int) -> np.ndarray:
    """A slope with waves, and some noise."""
    row, column = np.mgrid[: shape[0], : shape[1]]
    waves = 90 + row + 40 * np.sin(column / 3 + seed)
    noise = np.random.default_rng(seed).integers(0, 30, shape)
    return (waves.reshape(*shape[:2], *[1] * (len(shape) - 2)) + noise).astype(np.uint8)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with three training images and three of a test."""
    monkeypatch.setenv("FARFIELD_DATA", str(tmp_path))
    monkeypatch.setenv("FARFIELD_CACHE", str(tmp_path / "cache"))
    for folder, images in (("train", SIZES), ("test", TESTS)):
        (tmp_path / folder).mkdir()
        for seed, (name, shape) in enumerate(images.items()):
            Image.fromarray(levels(shape, seed)).save(tmp_path / folder / f"{name}.png")
    (tmp_path / "test" / "notes.txt").write_text("no image")
    return tmp_path


def small(**changes: object) -> SuperResolution:
    return SuperResolution(training="train", tests=("test",), **changes)


def luma(pixels: np.ndarray) -> np.ndarray:
    if pixels.ndim == 2:
        return pixels.astype(float)
    return np.round([[oracle.luma(*color)[0] for color in line] for line in pixels.astype(float)])


def enlarged(sharp: np.ndarray, scale: int) -> np.ndarray:
    few = oracle.bicubic(sharp, (sharp.shape[0] // scale, sharp.shape[1] // scale))
    return oracle.bicubic(few, sharp.shape) / 255


def test_a_changed_picture_is_read_again(data: Path) -> None:
    path = data / "test" / "e.png"
    for level in (10, 200):
        Image.fromarray(np.full((44, 36), level, np.uint8)).save(path)
        assert small().draw(stream(0))["test"].target.tensors[1].unique().tolist() == [level]


@pytest.mark.parametrize("scale", [3, 4])
def test_images_are_luma_and_what_few_of_their_pixels_give(data: Path, scale: int) -> None:
    problems = small(scale=scale).draw(stream(0))["test"]
    assert isinstance(problems.items, RaggedItems)
    for place, shape in enumerate(TESTS.values()):
        sharp = luma(levels(shape, place))
        sharp = sharp[: shape[0] // scale * scale, : shape[1] // scale * scale]
        np.testing.assert_array_equal(problems.target.tensors[place], sharp)
        found = problems.items.tensors[place]
        np.testing.assert_allclose(found, enlarged(sharp, scale), atol=1e-6)


def test_training_patches_lie_in_steps_over_the_images(data: Path) -> None:
    problems = small(stride=2).draw(stream(0))[TRAINING]
    expected = []
    for seed, shape in enumerate(SIZES.values()):
        sharp = luma(levels(shape, seed))
        height, width = (side // 3 * 3 for side in shape[:2])
        expected += [
            sharp[top : top + 33, left : left + 33]
            for top in range(0, height - 32, 2)
            for left in range(0, width - 32, 2)
        ]
    np.testing.assert_array_equal(problems.target, expected)
    assert problems.items.shape == problems.target.shape
    whole = small().draw(stream(0))["test"]
    assert set(problems.latent["image"].tolist()) == {0, 1, 2}
    assert whole.latent["test"].tolist() == [0, 0, 0]


def test_images_held_out_are_in_no_patch_and_differ_between_runs(data: Path) -> None:
    task = small(validation_images=1, stride=7)
    held = set()
    for seed in range(8):
        sets = task.draw(stream(seed))
        (own,) = sets[VALIDATION].latent["image"].tolist()
        assert set(sets[TRAINING].latent["image"].tolist()) == {0, 1, 2} - {own}
        held.add(own)
    assert held == {0, 1, 2}
    assert [regime.name for regime in task.regimes] == [TRAINING, VALIDATION, "test"]


def test_the_same_files_give_the_same_bytes(data: Path) -> None:
    sets = small(validation_images=1).draw(stream(0))
    digest = hashlib.sha256()
    for problems in sets.values():
        targets = problems.target
        tensors = targets.tensors if isinstance(targets, RaggedItems) else [targets]
        for tensor in tensors:
            digest.update(tensor.contiguous().numpy().tobytes())
    assert digest.hexdigest()[:16] == "a1ac7bfc639f019e"


@pytest.mark.parametrize("lost", [0, 2, 8])
def test_scores_are_of_rounded_levels_without_the_border(data: Path, lost: int) -> None:
    task = small()
    for _, problems in task.draw(stream(0))["test"].by_shape():
        outputs = problems.table()
        height, width = outputs.shape[1:]
        outputs = outputs[:, lost : height - lost, lost : width - lost] + 0.003
        found = task.score(outputs, problems), task.further_scores(outputs, problems)["ssim"]
        for place in range(len(problems)):
            shaved = slice(8, height - 8), slice(8, width - 8)
            answer = (255 * (problems.table()[place] + 0.003)).double().numpy()[shaved]
            pair = answer.round().clip(0, 255), problems.target[place].double().numpy()[shaved]
            assert float(found[0][place]) == pytest.approx(oracle.psnr(*pair, 255.0), rel=1e-6)
            expected = oracle.ssim(*pair, 255.0, padded=True)
            assert float(found[1][place]) == pytest.approx(expected, rel=1e-6)


def test_the_loss_is_half_the_squared_error_of_what_is_answered(data: Path) -> None:
    task, problems = small(), small().draw(stream(0))[TRAINING][:2]
    outputs = torch.zeros(2, 21, 21)
    middle = problems.target[:, 6:-6, 6:-6].double() / 255
    expected = middle.square().mean((1, 2)) / 2
    np.testing.assert_allclose(task.loss(outputs, problems), expected, rtol=1e-6)


def test_ceiling_and_floor(data: Path) -> None:
    task = small()
    assert isinstance(task, ProblemTask)
    assert isinstance(task, FurtherScores)
    for _, problems in task.draw(stream(0))["test"].by_shape():
        best = task.score(task.oracle(problems), problems)
        np.testing.assert_allclose(best, 10 * math.log10(12 * 255**2), rtol=1e-6)
        gray = torch.full_like(problems.table(), 0.5)
        assert (task.score(gray, problems) > task.chance("test")).all()
    assert task.chance(TRAINING) == pytest.approx(20 * math.log10(255 / 127.5))


def test_images_of_small_tests_are_scored_by_name(data: Path) -> None:
    task = small()
    sets = task.draw(stream(0))
    assert {name: mask.tolist() for name, mask in task.parts(sets["test"]).items()} == {
        "d": [True, False, False],
        "e": [False, True, False],
        "f": [False, False, True],
    }
    assert task.parts(sets[TRAINING]) == {}
    found = evaluate(ItemModel(nn.Identity()), task)
    assert found["test"] > 20
    experiment = Experiment(
        task=task, model=ItemNetwork(core=Spec(SRCNN, channels=(2, 2))), recipe=Recipe(steps=1)
    )
    (scores,) = OneNetwork(experiment, 0).score(0)
    names = {score.metric for score in scores if score.regime == "test"}
    assert names == {"psnr", "loss", "ssim", "psnr/d", "psnr/e", "psnr/f"}


def test_seeds_train_together_as_alone(data: Path) -> None:
    experiment = Experiment(
        task=small(),
        model=ItemNetwork(core=Spec(SRCNN, channels=(3, 2))),
        recipe=Recipe(steps=2, batch_size=4, learning_rate=0.01),
    )
    together = Stack(experiment, [0, 1], dtype=torch.float64)
    alone = OneNetwork(experiment, 1, dtype=torch.float64)
    for step in range(2):
        together.update(step)
        alone.update(step)
    for one, other in zip(together.weights()[1].values(), alone.weights()[0].values(), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    "shape, message",
    [
        ((3, 33, 32), "smaller by as much on all four sides, got .*33, 32"),
        ((3, 34, 34), "must be images of shape .*33, 33"),
        ((2, 33, 33), "must be images of shape"),
        ((3, 15, 15), "lack at most the 8 pixels .* got 9"),
    ],
)
def test_outputs_must_fit(data: Path, shape: tuple[int, ...], message: str) -> None:
    task, problems = small(), small().draw(stream(0))[TRAINING][:3]
    with pytest.raises(ValueError, match=message):
        task.score(torch.zeros(shape), problems)


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"patch": 16}, "patch must be an int 17…1000, got 16"),
        ({"scale": 1}, "scale must be .* got 1"),
        ({"tests": ("sr/set5", "other/set5")}, "folders of different names"),
        ({"tests": ("training",)}, "none of them that of another regime"),
        ({"shave": -1}, "shave must be"),
    ],
)
def test_wrong_fields_are_named(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SuperResolution(**changes)


def test_wrong_folders_are_named(data: Path) -> None:
    with pytest.raises(ValueError, match="validation_images must be an int 0…2, got 3"):
        small(validation_images=3).draw(stream(0))
    with pytest.raises(ValueError, match=r"folder must hold 1 to .* got none in .*nowhere"):
        SuperResolution(training="nowhere", tests=()).draw(stream(0))
    assert not SuperResolution(training="nowhere", tests=()).is_at_hand()
    assert small().is_at_hand()
    Image.new("RGB", (200, 32)).save(data / "test" / "low.png")
    with pytest.raises(ValueError, match=r"low.png .* at least 33 × 33 .* got 30 × 198"):
        small().draw(stream(0))
    Image.new("RGBA", (50, 50)).save(data / "test" / "low.png")
    with pytest.raises(ValueError, match=r"low.png must be gray .* got an alpha channel"):
        small().draw(stream(0))


@pytest.mark.parametrize(
    "scale, folder, psnr, ssim",
    [
        (3, "set14", "27.54", "0.7733"),
        (4, "set5", "28.44", "0.8097"),
    ],
)
def test_bicubic_enlargement_has_the_published_numbers(
    data_folder: Path,
    scale: int,
    folder: str,
    psnr: str,
    ssim: str,
) -> None:
    """ren2017, tables 5 and 8, to the last digit."""
    task = SuperResolution(scale=scale, training="sr/set5", tests=(f"sr/{folder}",), stride=500)
    found = []
    for _, problems in task.draw(stream(0))[folder].by_shape():
        outputs = problems.table()
        further = task.further_scores(outputs, problems)["ssim"]
        found += zip(task.score(outputs, problems).tolist(), further.tolist(), strict=True)
    mean = np.mean(found, axis=0)
    assert (f"{mean[0]:.2f}", f"{mean[1]:.4f}") == (psnr, ssim)
