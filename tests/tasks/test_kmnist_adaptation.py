"""Few characters of K-MNIST: which are drawn, from which files, and the frozen version."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from farfield.core import stream
from farfield.tasks import (
    DATA_SETS,
    TASKS,
    TRAINING,
    VALIDATION,
    KMNISTAdaptation,
    is_at_hand,
)
from farfield.tasks._digits import _kmnist_adaptation as kmnist_adaptation
from farfield.tasks._files._known_data_sets import KMNIST_EXCERPT
from farfield.tasks.internal import metric_of
from oracles import digits as oracle
from tasks.sets import digest, drawn

SMALL = KMNISTAdaptation(training_samples=155, validation_images=40, test_images=100)
# The head of SHA-256 over all sets of run 0; a change of it raises `version`.
FROZEN = "0ed200c4bc188ee3"


@pytest.fixture
def files(data_folder: Path) -> None:
    """The real images, or the test is skipped."""
    if not SMALL.is_at_hand():
        pytest.skip("K-MNIST absent")


def test_drawn_sets_are_frozen_for_this_version(files: None) -> None:
    assert SMALL.version == 1
    assert digest(drawn(SMALL)) == FROZEN


def test_images_are_those_of_the_files(files: None) -> None:
    for regime, problems in drawn(SMALL).items():
        if regime == "k-mnist":
            images = DATA_SETS["kmnist"].read("t10k-images-idx3-ubyte.gz")
            labels = DATA_SETS["kmnist"].read("t10k-labels-idx1-ubyte.gz")
        else:
            images = KMNIST_EXCERPT.read("train-first7011-images-idx3-ubyte.gz")
            labels = KMNIST_EXCERPT.read("train-first7011-labels-idx1-ubyte.gz")
        numbers = problems.latent["image"].tolist()
        assert problems.target.tolist() == labels[numbers].tolist()
        for row in range(5):
            shown = problems.sequences()[row, 0].numpy()
            assert np.array_equal(shown, np.stack([oracle.upsampled(images[numbers[row]], 32)] * 3))


def test_characters_are_equally_frequent_and_sets_share_no_image(files: None) -> None:
    for seed in range(3):
        sets = SMALL.draw(stream(seed))
        for regime, count in ((TRAINING, 155), (VALIDATION, 40)):
            counts = np.bincount(sets[regime].target, minlength=10)
            assert counts.sum() == count
            assert set(counts) == {count // 10, -(-count // 10)}
        shared = set(sets[TRAINING].latent["image"].tolist())
        assert len(shared) == 155
        assert not shared & set(sets[VALIDATION].latent["image"].tolist())
    more = [np.bincount(SMALL.draw(stream(seed))[TRAINING].target).argmax() for seed in range(3)]
    assert len(set(more)) > 1  # who has one more is drawn


def test_of_any_labels_as_many_of_each_are_chosen() -> None:
    labels = np.random.default_rng(0).permutation(np.repeat(np.arange(10), 701))
    sets = {}
    for samples in (27, 155):
        task = KMNISTAdaptation(training_samples=samples, validation_images=44)
        rows = sets[samples] = task._rows(stream(0), labels)
        for regime, count in ((TRAINING, samples), (VALIDATION, 44)):
            counts = np.bincount(labels[rows[regime]], minlength=10)
            assert counts.sum() == count
            assert set(counts) == {count // 10, -(-count // 10)}
        assert not set(rows[TRAINING].tolist()) & set(rows[VALIDATION].tolist())
    assert np.array_equal(sets[27][TRAINING], sets[155][TRAINING][:27])
    assert np.array_equal(sets[27][VALIDATION], sets[155][VALIDATION])


def test_fewer_samples_are_among_more_of_them(files: None) -> None:
    sets = [
        drawn(KMNISTAdaptation(training_samples=n, validation_images=40, test_images=10))
        for n in (30, 155, 6_000)
    ]
    numbers = [problems[TRAINING].latent["image"].tolist() for problems in sets]
    assert numbers[0] == numbers[1][:30]
    assert numbers[1] == numbers[2][:155]
    for problems in sets[1:]:
        assert torch.equal(problems[VALIDATION].index, sets[0][VALIDATION].index)
        assert torch.equal(problems[VALIDATION].items, sets[0][VALIDATION].items)


def test_the_pool_is_the_whole_file_only_where_it_is_asked_for(
    files: None, data_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = KMNISTAdaptation(training_samples=155, validation_images=40, whole_file=True)
    if not whole.is_at_hand():
        with pytest.raises(ValueError, match=r"train-images-idx3-ubyte\.gz of kmnist must exist"):
            whole.draw(stream(0))
    labels = np.repeat(np.arange(10), 6_000)[stream(0).numpy().permutation(60_000)]
    rows = whole._rows(stream(0), labels)
    assert rows[TRAINING].max() > 7_011
    monkeypatch.setenv("FARFIELD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("FARFIELD_DATA", str(tmp_path))
    (tmp_path / "kmnist").mkdir()
    assert not is_at_hand(SMALL)
    with pytest.raises(ValueError, match="of kmnist must exist"):
        SMALL.draw(stream(0))
    for name in ("t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"):
        shutil.copy(data_folder / "kmnist" / name, tmp_path / "kmnist" / name)
    assert not is_at_hand(SMALL)
    for file in KMNIST_EXCERPT.files:
        shutil.copy(data_folder / "kmnist" / file.name, tmp_path / "kmnist" / file.name)
    assert is_at_hand(SMALL)
    assert digest(SMALL.draw(stream(0))) == FROZEN


def test_what_is_missing_can_be_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FARFIELD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("FARFIELD_DATA", str(tmp_path))
    said = r"^train-images-idx3-ubyte\.gz of kmnist must exist.*run `farfield fetch kmnist`"
    with pytest.raises(ValueError, match=said):
        SMALL.draw(stream(0))


def test_the_excerpt_is_the_start_of_the_file(files: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the whole file exists the same images are drawn."""
    read = kmnist_adaptation.idx_images

    def longer(data_set: object, part: str):
        if part == "t10k":
            return read(data_set, part)
        assert part == "train"
        images, labels = read(KMNIST_EXCERPT, "train-first7011")
        return np.concatenate([images, images]), np.concatenate([labels, labels])

    monkeypatch.setattr(kmnist_adaptation, "idx_images", longer)
    monkeypatch.setattr(type(kmnist_adaptation.KMNIST), "is_at_hand", lambda _: True)
    assert digest(SMALL.draw(stream(0))) == FROZEN
    labels = DATA_SETS["kmnist"].read("train-labels-idx1-ubyte.gz")
    excerpt = KMNIST_EXCERPT.read("train-first7011-labels-idx1-ubyte.gz")
    assert np.array_equal(labels[:7_011], excerpt)
    for count, fewest in kmnist_adaptation.FEWEST.items():
        assert np.bincount(labels[:count]).min() >= fewest


def test_regimes_and_shapes(files: None) -> None:
    task = KMNISTAdaptation()
    assert TASKS["kmnist-adaptation"] is KMNISTAdaptation
    assert [(r.name, r.distance) for r in task.regimes] == [
        (TRAINING, 0),
        (VALIDATION, 0),
        ("k-mnist", 0),
    ]
    assert (task.item_shape, task.length, task.num_outputs) == ((3, 32, 32), 1, 10)
    assert (task.segments, metric_of(task), task.chance("k-mnist")) == (((0,),), "accuracy", 0.1)
    assert [len(p) for p in drawn(task).values()] == [500, 1_000, 10_000]
    assert np.bincount(drawn(task)["k-mnist"].target).tolist() == [1_000] * 10


def test_scores_losses_and_ceiling(files: None) -> None:
    for problems in drawn(SMALL).values():
        assert SMALL.score(SMALL.oracle(problems), problems).all()
        outputs = torch.zeros(len(problems), 10, dtype=torch.float64)
        assert SMALL.loss(outputs, problems).numpy() == pytest.approx(np.log(10), rel=1e-12)
        outputs[:, 4] = 1
        assert torch.equal(SMALL.score(outputs, problems), (problems.target == 4).float())


def test_samples_come_from_the_set_of_their_regime(files: None) -> None:
    for regime in drawn(SMALL):
        first = SMALL.sample(regime, 9, stream(0).numpy())
        known = drawn(SMALL)[regime].latent["image"].tolist()
        assert set(first.latent["image"].tolist()) <= set(known)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"training_samples": 0}, "training_samples must be an int 1…6690, got 0"),
        ({"training_samples": 6_691}, "training_samples must be an int 1…6690, got 6691"),
        ({"training_samples": 6_690}, "validation_images must be an int 1…10, got 1000"),
        ({"validation_images": 0}, "validation_images must be an int 1…6200, got 0"),
        ({"test_images": 10_001}, "test_images must be an int 1…10000"),
        (
            {"whole_file": True, "training_samples": 60_000},
            "training_samples must be an int 1…59990",
        ),
    ],
)
def test_bad_fields_are_named(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        KMNISTAdaptation(**fields)
