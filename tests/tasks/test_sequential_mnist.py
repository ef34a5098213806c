"""MNIST pixel by pixel: what is read, the frozen version, and images of every size."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from farfield.core import stream
from farfield.tasks import (
    DATA_SETS,
    TASKS,
    TRAINING,
    VALIDATION,
    SequentialMNIST,
    is_at_hand,
)
from farfield.tasks._sequences._sequential_mnist import pixels
from farfield.tasks.internal import metric_of
from tasks.sets import digest, drawn

SMALL = SequentialMNIST(training_images=300, validation_images=200, test_images=100)
# The head of SHA-256 over all sets of run 0; a change of it raises `version`.
FROZEN = "6e6d9fe4ed9e0b6e"
MOVED = replace(SMALL, blanks=(1, 13), widths=(20,))
KMNIST = replace(MOVED, data_set="kmnist-first7011")
# The same of all sets with further tests.
FROZEN_MOVED = {MOVED: "6eea66dbe7cfb486", KMNIST: "3f492be92f8d03f1"}
SIDES = {TRAINING: 14, VALIDATION: 14, "side-14": 14, "side-16": 16, "side-19": 19, "side-24": 24}


@pytest.fixture
def files(data_folder: Path) -> None:
    """The real images, or the test is skipped."""
    if not SMALL.is_at_hand():
        pytest.skip("MNIST absent")


def test_drawn_sets_are_frozen_for_this_version(files: None) -> None:
    assert SMALL.version == 1
    assert digest(drawn(SMALL)) == FROZEN
    assert digest(SMALL.draw(stream(1))) != FROZEN


@pytest.mark.parametrize("task", FROZEN_MOVED, ids=lambda task: task.data_set)
def test_further_tests_are_frozen_and_leave_the_others(files: None, task: SequentialMNIST) -> None:
    if not task.is_at_hand():
        pytest.skip("K-MNIST absent")
    sets = drawn(task)
    first = {name: sets[name] for name in SIDES}
    assert (digest(first) == FROZEN) == (task is MOVED)
    assert digest(sets) == FROZEN_MOVED[task]


@pytest.mark.parametrize("task", FROZEN_MOVED, ids=lambda task: task.data_set)
def test_further_tests_show_the_images_of_side_24(files: None, task: SequentialMNIST) -> None:
    if not task.is_at_hand():
        pytest.skip("K-MNIST absent")
    sets = drawn(task)
    square = sets["side-24"].index
    blank = torch.zeros(len(square), 13, dtype=torch.int64)
    expected = {
        "before-13": torch.cat([blank, square], 1),
        "after-13": torch.cat([square, blank], 1),
        "first-13-missing": square[:, 13:],
        "last-13-missing": square[:, :-13],
        "before-1": torch.cat([blank[:, :1], square], 1),
        "last-1-missing": square[:, :-1],
    }
    for regime, index in expected.items():
        assert torch.equal(sets[regime].index, index)
        assert torch.equal(sets[regime].target, sets["side-24"].target)
    folder = "mnist" if task is MOVED else "kmnist"
    images = DATA_SETS[folder].read("t10k-images-idx3-ubyte.gz")
    labels = DATA_SETS[folder].read("t10k-labels-idx1-ubyte.gz")
    narrow = sets["24-by-20"]
    for row in range(10):
        number = int(narrow.latent["image"][row])
        shown = [
            int(images[number, 28 * r // 24, 28 * c // 20] > 127)
            for r in range(24)
            for c in range(20)
        ]
        assert narrow.index[row].tolist() == shown
        assert int(narrow.target[row]) == labels[number]


def test_the_rule_by_hand_finds_the_rows(files: None) -> None:
    task = replace(MOVED, training_images=2_000)
    sets = drawn(task)
    rates = {
        name: task.score(task.by_hand(sets[name], sets[TRAINING]), sets[name]).mean().item()
        for name in ("side-14", "side-24", "24-by-20", "before-13", "first-13-missing")
    }
    assert min(rates.values()) > 0.5, rates


def test_pixels_are_those_of_the_originals_row_by_row(files: None) -> None:
    mnist = DATA_SETS["mnist"]
    for regime, problems in drawn(SMALL).items():
        part = "train" if regime in (TRAINING, VALIDATION) else "t10k"
        images = mnist.read(f"{part}-images-idx3-ubyte.gz")
        labels = mnist.read(f"{part}-labels-idx1-ubyte.gz")
        side = SIDES[regime]
        for row in range(20):
            original = images[int(problems.latent["image"][row])]
            expected = [
                int(original[28 * r // side, 28 * c // side] > 127)
                for r in range(side)
                for c in range(side)
            ]
            assert problems[row : row + 1].sequences()[0].argmax(-1).tolist() == expected
            assert int(problems.target[row]) == labels[int(problems.latent["image"][row])]


@given(st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_resizing_is_torch_s_nearest_after_rounding(side: int, seed: int) -> None:
    images = np.random.default_rng(seed).integers(0, 256, (3, 28, 28)).astype(np.uint8)
    rounded = (torch.from_numpy(images)[:, None] / 255).round()
    expected = F.interpolate(rounded, size=(side, side), mode="nearest").flatten(1)
    assert np.array_equal(pixels(images, side), expected.long().numpy())


def test_sets_share_no_image_and_tests_show_the_same(files: None) -> None:
    numbers = {regime: problems.latent["image"] for regime, problems in drawn(SMALL).items()}
    assert not set(numbers[TRAINING].tolist()) & set(numbers[VALIDATION].tolist())
    for regime, own in numbers.items():
        assert len(set(own.tolist())) == len(own)
        if regime.startswith("side-"):
            assert torch.equal(own, numbers["side-14"])
    all_of_them = SequentialMNIST()._numbers(stream(3))
    together = np.concatenate([all_of_them[TRAINING], all_of_them[VALIDATION]])
    assert np.array_equal(np.sort(together), np.arange(60_000))
    assert np.array_equal(np.sort(all_of_them["side-24"]), np.arange(10_000))
    fewer = SMALL._numbers(stream(3))
    assert np.array_equal(fewer[TRAINING], all_of_them[TRAINING][:300])


def test_digits_come_about_equally_often_and_ink_tells_some(files: None) -> None:
    problems = drawn(SequentialMNIST(training_images=4_000, test_images=10))[TRAINING]
    counts = np.bincount(problems.target.numpy(), minlength=10)
    assert abs(counts - 400).max() < 4 * np.sqrt(400 * 0.9) + 30  # of the file, 542…674 in 6,000
    ink = [problems.index[problems.target == digit].double().mean() for digit in range(10)]
    assert int(np.argmin(ink)) == 1
    assert int(np.argmax(ink)) == 0


def test_regimes_and_shapes() -> None:
    task = SequentialMNIST()
    assert [(r.name, r.distance) for r in task.regimes] == [
        (TRAINING, 0),
        (VALIDATION, 0),
        ("side-14", 0),
        ("side-16", 2),
        ("side-19", 5),
        ("side-24", 10),
    ]
    assert {r.unit for r in task.regimes} == {"pixels of the side beyond training"}
    assert (task.item_shape, task.length, task.num_outputs) == ((2,), 196, 10)
    assert task.segments == (tuple(range(196)),)
    assert TASKS["sequential-mnist"] is SequentialMNIST
    assert metric_of(task) == "accuracy"
    assert task.chance("side-24") == 0.1


def test_scores_losses_and_ceiling(files: None) -> None:
    problems = drawn(SMALL)["side-19"].compact()
    assert torch.equal(SMALL.score(SMALL.oracle(problems), problems), torch.ones(100))
    outputs = torch.zeros(100, 10, dtype=torch.float64)
    assert SMALL.loss(outputs, problems).numpy() == pytest.approx(np.log(10), rel=1e-12)
    outputs[:, 4] = 1
    assert torch.equal(SMALL.score(outputs, problems), (problems.target == 4).float())


def test_samples_come_from_the_set_of_their_regime(files: None) -> None:
    for regime, side in SIDES.items():
        first = SMALL.sample(regime, 9, stream(0).numpy())
        assert first.index.shape == (9, side**2)
        known = drawn(SMALL)[regime].latent["image"].tolist()
        assert set(first.latent["image"].tolist()) <= set(known)


def test_without_the_files_it_says_how_to_get_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FARFIELD_DATA", raising=False)
    monkeypatch.setenv("FARFIELD_CACHE", str(tmp_path))
    assert not is_at_hand(SMALL)
    with pytest.raises(ValueError, match="run `farfield fetch mnist`"):
        SMALL.draw(stream(0))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"side": 0}, "side must be an int 1…112, got 0"),
        ({"test_sides": ()}, "test_sides must be one or more ascending sides"),
        ({"test_sides": (16, 14)}, "test_sides must be one or more ascending sides"),
        ({"test_sides": (13,)}, "test_sides must be an int 14…112, got 13"),
        ({"training_images": 60_000}, "training_images must be an int 1…59999, got 60000"),
        ({"validation_images": 12_001}, "validation_images must be an int 1…12000"),
        ({"validation_images": 0}, "validation_images must be an int 1…12000, got 0"),
        ({"test_images": 10_001}, "test_images must be an int 1…10000"),
        ({"data_set": "svhn"}, "data_set must be 'mnist' or 'kmnist-first7011', got 'svhn'"),
        ({"data_set": "kmnist-first7011"}, "training_images must be an int 1…7010, got 48000"),
        ({"blanks": (0,)}, "blanks must be an int 1…195, got 0"),
        ({"blanks": (2, 1)}, r"blanks must be ascending, got \(2, 1\)"),
        ({"widths": (113,)}, "widths must be an int 1…112, got 113"),
    ],
)
def test_bad_fields_are_named(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SequentialMNIST(**fields)
