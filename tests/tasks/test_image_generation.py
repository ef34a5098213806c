"""Images to be made out of noise: what is drawn, scored and refused."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from farfield.core import stream
from farfield.core.internal import UnknownNameError
from farfield.tasks import TASKS, TRAINING, ImageClasses, ImageGeneration, ProblemTask, is_at_hand
from farfield.tasks.internal import metric_of
from tasks.image_sets import add, read
from tasks.sets import digest

# The head of SHA-256 over all sets of run 0; a change of it raises `version`.
FROZEN = "4f2c7afd0d0982fa"


@pytest.fixture(autouse=True)
def _made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A set of images that is made up."""
    add(monkeypatch)


def small(**fields: object) -> ImageGeneration:
    return ImageGeneration(**{"data_set": "made-up", "noise_size": 7, **fields})


def test_drawn_sets_are_frozen_for_this_version() -> None:
    task = small()
    assert task.version == 1
    assert digest(task.draw(stream(0))) == FROZEN


def test_every_image_of_a_file_is_there_once_beside_noise_of_its_own() -> None:
    sets = small(test_images=11).draw(stream(0))
    assert sets.keys() == {TRAINING, "test"}
    for name, problems in sets.items():
        images, _ = read(name == "test")
        rows = problems.latent["image"].numpy()
        assert len(set(rows)) == len(rows) == (11 if name == "test" else len(images))
        assert np.array_equal(problems.target, images[rows])
        assert problems.items.shape == (len(rows), 7)
        assert len(problems.items.unique(dim=0)) == len(rows)
    assert len(small(training_images=9).draw(stream(0))[TRAINING]) == 9


def test_noise_has_mean_0_and_variance_1_in_every_position() -> None:
    noise = torch.cat([small().draw(stream(k))[TRAINING].items for k in range(40)])
    spread = len(noise) ** -0.5
    assert noise.mean(0).abs().max() < 4 * spread
    assert (noise.square().mean(0) - 1).abs().max() < 4 * 2**0.5 * spread
    assert (noise.T.corrcoef() - torch.eye(7)).abs().max() < 4 * spread


def test_an_answer_is_scored_by_the_image_beside_it() -> None:
    task = small()
    problems = task.sample("test", 20, stream(0).numpy())
    outputs = task.oracle(problems)
    assert outputs.shape == (20, task.num_outputs) == (20, 12)
    assert not task.score(outputs, problems).any()
    moved = outputs.double() + 0.5
    assert task.loss(moved, problems).tolist() == pytest.approx([0.25] * 20)
    images, _ = read(True)
    mean = np.tile(images.reshape(len(images), -1).mean(0) / 255, (len(images), 1))
    every = task.draw(stream(0))["test"]
    assert float(task.score(torch.from_numpy(mean), every).mean()) == pytest.approx(
        task.chance("test")
    )


def test_members_of_the_task(monkeypatch: pytest.MonkeyPatch) -> None:
    task = small()
    assert TASKS["image-generation"] is ImageGeneration
    assert isinstance(task, ProblemTask)
    assert (task.item_shape, task.length, task.segments) == ((7,), 1, ((0,),))
    assert (task.image_shape, metric_of(task)) == ((3, 2, 2), "mse")
    assert task.classes == ImageClasses(data_set="made-up")
    assert is_at_hand(task)
    add(monkeypatch, "away", is_at_hand=lambda: False)
    assert not is_at_hand(small(data_set="away"))


def test_what_cannot_be_drawn_is_refused(unchecked: None) -> None:
    with pytest.raises(UnknownNameError, match="data set"):
        small(data_set="made-down")
    with pytest.raises(ValueError, match=r"noise_size must be .*, got 0"):
        small(noise_size=0)
    with pytest.raises(UnknownNameError, match="regime"):
        small().chance("nowhere")
    with pytest.raises(ValueError, match=r"outputs must be of \(batch, outputs\) = \(2, 12\)"):
        small().score(torch.zeros(2, 3), small().sample("test", 2, stream(0).numpy()))
