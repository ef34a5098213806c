"""Classes of images: files, which image is in which set, losses, scores, statistics."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch

from each import some
from farfield.core import Problems, stream
from farfield.core.internal import UnknownNameError
from farfield.tasks import TASKS, TRAINING, VALIDATION, FewLabels, ImageClasses, is_at_hand
from farfield.tasks._images import _image_task as image_task
from farfield.tasks._images._image_task import IMAGE_FILES
from farfield.tasks.internal import UNLABELLED, HasPixelStatistics, SetScores, metric_of
from oracles import probabilities, whitening
from tasks.image_sets import CLASSES, COUNTS, LABELS, add, read
from tasks.sets import digest

REAL = {
    "cifar10-exact-8068": None,
    "cifar100-first1117": None,
    "svhn-first1083": None,
    "mnist": [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949],
    "kmnist-first7011": [690, 690, 695, 702, 757, 708, 688, 708, 672, 701],
    "fashion-mnist-first8226": None,
}
"""Training images of each class, where they are published."""
TESTS = {
    "cifar10-exact-8068": [1_000] * 10,
    "mnist": [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009],
    "kmnist-first7011": [1_000] * 10,
}
# The head of SHA-256 over all sets of run 0; a change of it raises `version`.
FROZEN = "20085e023ae28936"
SMALL = {"data_set": "made-up", "validation_per_class": 4, "test_images": 25}


@pytest.fixture(autouse=True)
def _made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A set of images that is made up, and an empty cache."""
    add(monkeypatch)
    monkeypatch.setenv("FARFIELD_CACHE", str(tmp_path / "cache"))


def small(**fields: object) -> ImageClasses:
    return ImageClasses(**{**SMALL, **fields})


def numbers(problems: Problems) -> list[int]:
    return problems.latent["image"].tolist()


def test_drawn_sets_are_frozen_for_this_version() -> None:
    task = small(labels_per_class=9)
    assert task.version == 1
    assert digest(task.draw(stream(0))) == FROZEN


@cache
def real(name: str, is_test: bool) -> tuple[np.ndarray, np.ndarray]:
    """Images of the real files, read once."""
    return IMAGE_FILES[name].read(is_test)


@pytest.mark.parametrize("name", some([name for name in REAL if "cifar" not in name], REAL))
def test_real_files_hold_as_many_images_of_each_class_as_they_should(
    name: str, data_folder: Path
) -> None:
    files = IMAGE_FILES[name]
    if not files.is_at_hand():
        pytest.skip(f"{name} absent")
    for is_test, count, known in ((False, files.training, REAL), (True, files.test, TESTS)):
        images, labels = real(name, is_test)
        assert (images.shape, images.dtype) == ((count, *files.shape), np.uint8)
        assert (labels.shape, labels.dtype) == ((count,), np.int64)
        counts = np.bincount(labels, minlength=files.classes)
        assert len(counts) == files.classes
        assert counts.min() > 0
        if known.get(name):
            assert counts.tolist() == known[name]
        assert np.ptp(images.reshape(count, -1), axis=1).min() > 0  # no image is blank
    assert is_at_hand(ImageClasses(data_set=name))


def test_real_images_are_drawn(data_folder: Path) -> None:
    task = ImageClasses(data_set="kmnist-first7011", validation_per_class=10, training_images=20)
    if not task.is_at_hand():
        pytest.skip("K-MNIST absent")
    sets = task.draw(stream(0))
    assert [len(problems) for problems in sets.values()] == [20, 100, 10_000]
    for regime, problems in sets.items():
        images, labels = real(task.data_set, regime == "test")
        assert torch.equal(problems.target, torch.from_numpy(labels[numbers(problems)]))
        assert np.array_equal(problems.sequences()[:, 0].numpy(), images[numbers(problems)])


def test_exact_images_of_cifar_have_their_labels_and_colors(data_folder: Path) -> None:
    """Three corners of the first training image, a frog, and the published labels."""
    if not IMAGE_FILES["cifar10-exact-8068"].is_at_hand():
        pytest.skip("CIFAR-10 absent")
    images, labels = real("cifar10-exact-8068", False)
    published = (data_folder / "cifar10" / "train_labels.bin").read_bytes()
    parts = [published[10_000 * n : 10_000 * n + (1_017 if n else 4_000)] for n in range(5)]
    assert labels.tolist() == list(b"".join(parts))
    assert images[0, :, 0, 0].tolist() == [59, 62, 63]
    assert images[0, :, 0, -1].tolist() == [148, 124, 103]
    assert images[0, :, -1, 0].tolist() == [177, 144, 116]


def test_every_image_has_its_label_and_is_in_one_set() -> None:
    sets = small().draw(stream(0))
    assert list(sets) == [TRAINING, VALIDATION, "test"]
    for regime, problems in sets.items():
        images, labels = read(regime == "test")
        assert problems.items.dtype == torch.uint8
        assert problems.sequences().shape == (len(problems), 1, 3, 2, 2)
        for row, number in enumerate(numbers(problems)):
            assert np.array_equal(problems.sequences()[row, 0].numpy(), images[number])
            assert int(problems.target[row]) == labels[number]
        assert len(set(numbers(problems))) == len(problems)
    training, validation = set(numbers(sets[TRAINING])), set(numbers(sets[VALIDATION]))
    assert training | validation == set(range(sum(COUNTS)))
    assert not training & validation
    assert np.bincount(sets[VALIDATION].target).tolist() == [4] * CLASSES
    assert len(sets["test"]) == 25


def test_labels_are_capped_class_by_class() -> None:
    """As in the released code, where SVHN has fewer of some digits than asked for."""
    sets = {cap: small(labels_per_class=cap).draw(stream(0)) for cap in (5, 9, 20, 1_000)}
    for cap, drawn in sets.items():
        counts = np.bincount(drawn[TRAINING].target, minlength=CLASSES).tolist()
        assert counts == [min(cap, count - 4) for count in COUNTS]
        assert numbers(drawn[VALIDATION]) == numbers(sets[5][VALIDATION])
    for fewer, more in ((5, 9), (9, 20)):
        assert set(numbers(sets[fewer][TRAINING])) < set(numbers(sets[more][TRAINING]))
    assert digest(sets[1_000]) == digest(small().draw(stream(0)))


def test_fewer_training_images_are_the_first_ones() -> None:
    whole, part = (small(training_images=n).draw(stream(0)) for n in (1_000, 10))
    assert numbers(part[TRAINING]) == numbers(whole[TRAINING])[:10]
    assert digest({"": part["test"]}) == digest({"": whole["test"]})


def test_other_runs_hold_out_other_images() -> None:
    first, again, other = (small().draw(stream(seed)) for seed in (0, 0, 1))
    assert digest(first) == digest(again)
    for regime in (VALIDATION, "test"):
        assert set(numbers(first[regime])) != set(numbers(other[regime]))


def test_without_images_held_out_there_is_no_such_regime() -> None:
    task = small(validation_per_class=0)
    assert (
        [regime.name for regime in task.regimes] == [TRAINING, "test"] == list(task.draw(stream(0)))
    )
    assert len(task.draw(stream(0))[TRAINING]) == sum(COUNTS)
    assert [r.name for r in small().regimes] == [TRAINING, VALIDATION, "test"]
    assert {r.distance for r in small().regimes} == {0}


def test_a_class_without_a_training_image_is_named() -> None:
    for held_out in (12, 30):
        said = f"validation_per_class must leave .*, class 2 has 12, got {held_out}"
        with pytest.raises(ValueError, match=said):
            small(validation_per_class=held_out).draw(stream(0))
    assert len(small(validation_per_class=11).draw(stream(0))[TRAINING]) == 30


def logits(count: int, classes: int = CLASSES) -> torch.Tensor:
    return 3 * torch.randn(count, classes, generator=stream(0).torch(), dtype=torch.float64)


@pytest.mark.parametrize("binary", [False, True])
def test_losses_are_those_of_the_equations(binary: bool) -> None:
    task = small(binary_cross_entropy=binary)
    problems = task.draw(stream(0))["test"]
    outputs = logits(len(problems))
    found = task.loss(outputs, problems)
    for row, target in enumerate(problems.target.tolist()):
        own = outputs[row].tolist()
        expected = (
            probabilities.binary_cross_entropy(own, target)
            if binary
            else -math.log(probabilities.softmax(own)[target])
        )
        assert float(found[row]) == pytest.approx(expected, rel=1e-9)


def test_the_released_loss_is_linear_in_the_target(golden, monkeypatch: pytest.MonkeyPatch) -> None:
    """Mixed labels have the mixed losses: what mixing objectives rely on."""
    arrays = golden("manifold_mixup_mixing")
    outputs = torch.tensor(arrays["in.logits"]).double().requires_grad_()
    labels, partner = torch.tensor(arrays["in.labels"]), torch.tensor(arrays["in.permutation"])
    add(monkeypatch, "seven", classes=7)
    task = small(data_set="seven", binary_cross_entropy=True)
    weight, total = float(arrays["in.lambda"][0]), torch.zeros(())
    for share, target in ((weight, labels), (1 - weight, labels[partner])):
        index = torch.arange(len(target))[:, None]
        problems = Problems(items=torch.zeros(5, 1), index=index, target=target)
        total = total + share * task.loss(outputs, problems).mean()
    assert float(total.detach()) == pytest.approx(float(arrays["out64.loss_bce"]), rel=1e-9)
    total.backward()
    np.testing.assert_allclose(outputs.grad, arrays["gradin.logits"], rtol=1e-4, atol=1e-7)


def test_the_released_loss_is_finite_where_an_answer_is_certain() -> None:
    task = small(binary_cross_entropy=True)
    problems = task.draw(stream(0))["test"]
    outputs = (500 * logits(len(problems)).float()).requires_grad_()
    loss = task.loss(outputs, problems)
    loss.sum().backward()
    assert loss.isfinite().all()
    assert outputs.grad.isfinite().all()


def test_the_released_loss_of_a_network_that_diverged_is_not_a_number() -> None:
    task = small(binary_cross_entropy=True)
    problems = task.draw(stream(0))["test"]
    outputs = logits(len(problems))
    outputs[1, 2] = math.nan
    lost = task.loss(outputs, problems).isnan()
    assert lost.tolist() == [row == 1 for row in range(len(problems))]


def test_scores_of_a_set_stand_beside_the_accuracy(monkeypatch: pytest.MonkeyPatch) -> None:
    add(monkeypatch, "ten", classes=10)
    task = small(data_set="ten", validation_per_class=0)
    assert isinstance(task, SetScores)
    target = torch.arange(40) % 10
    problems = Problems(items=torch.zeros(40, 1), index=torch.arange(40)[:, None], target=target)
    outputs = logits(40, 10)
    found, pair = task.set_scores(outputs, problems), (outputs.tolist(), target.tolist())
    assert found == pytest.approx(
        {
            "error": 1 - probabilities.top_k_accuracy(*pair, 1),
            "nll": probabilities.negative_log_likelihood(*pair),
            "top-5": probabilities.top_k_accuracy(*pair, 5),
            "ece": probabilities.expected_calibration_error(*pair, 15),
        },
        rel=1e-9,
    )
    assert found["nll"] == pytest.approx(float(task.loss(outputs, problems).mean()))
    with pytest.raises(ValueError, match=r"outputs must be of \(batch, outputs\) = \(40, 10\)"):
        task.set_scores(outputs[:, :9], problems)


def test_ceiling_floor_and_shapes() -> None:
    task = small()
    for problems in task.draw(stream(0)).values():
        assert task.score(task.oracle(problems), problems).all()
    assert task.chance("test") == 1 / CLASSES
    assert (task.length, task.segments, metric_of(task)) == (1, ((0,),), "accuracy")
    assert (ImageClasses().item_shape, ImageClasses().num_outputs) == ((3, 32, 32), 10)
    assert ImageClasses(data_set="tiny-imagenet").item_shape == (3, 64, 64)
    assert ImageClasses(data_set="cifar100").num_outputs == 100
    assert (TASKS["image-classes"], TASKS["few-labels"]) == (ImageClasses, FewLabels)
    with pytest.raises(UnknownNameError, match="unknown regime 'nowhere'"):
        task.chance("nowhere")


def test_samples_come_from_the_set_of_their_regime() -> None:
    task = small()
    sets = task.draw(stream(0))
    for regime in task.regimes:
        first = task.sample(regime.name, 9, stream(0).numpy())
        assert set(numbers(first)) <= set(numbers(sets[regime.name]))


# --- Statistics for preprocessing ----------------------------------------------------------------


def test_channels_are_standardized_by_what_the_papers_give() -> None:
    for name, mean, std in (
        ("cifar10", (125.3, 123.0, 113.9), (63.0, 62.1, 66.7)),
        ("cifar10-exact-8068", (125.3, 123.0, 113.9), (63.0, 62.1, 66.7)),
        ("cifar10-jpeg", (125.3, 123.0, 113.9), (63.0, 62.1, 66.7)),
        ("cifar100", (129.3, 124.1, 112.4), (68.2, 65.4, 70.4)),
        ("svhn", (127.5,) * 3, (127.5,) * 3),
        ("tiny-imagenet", (127.5,) * 3, (127.5,) * 3),
    ):
        found = ImageClasses(data_set=name).channel_statistics()
        assert np.multiply(found.mean, 255) == pytest.approx(mean)
        assert np.multiply(found.std, 255) == pytest.approx(std)


def test_other_channels_are_standardized_by_their_own_statistics() -> None:
    task = small()
    assert isinstance(task, HasPixelStatistics)
    images = read(False)[0].astype(float) / 255
    found = task.channel_statistics()
    assert found.mean == pytest.approx(images.mean((0, 2, 3)).tolist(), rel=1e-12)
    assert found.std == pytest.approx(images.std((0, 2, 3)).tolist(), rel=1e-12)


def test_the_mean_image_is_that_of_all_training_images_or_of_the_test_too() -> None:
    training, test = (read(is_test)[0].astype(float) / 255 for is_test in (False, True))
    found = small(labels_per_class=1).mean_images()
    np.testing.assert_allclose(found.training, training.mean(0), rtol=1e-12)
    every = np.concatenate([training, test]).mean(0)
    np.testing.assert_allclose(found.with_test, every, rtol=1e-12)
    assert not np.allclose(found.training, every)


def test_mnist_has_the_mean_and_deviation_that_everybody_uses(data_folder: Path) -> None:
    task = ImageClasses(data_set="mnist")
    if not task.is_at_hand():
        pytest.skip("MNIST absent")
    mean, std = task.channel_statistics()
    assert (round(mean[0], 4), round(std[0], 4)) == (0.1307, 0.3081)


def test_the_spectrum_is_that_of_standardized_training_images() -> None:
    task = small()
    statistics = task.channel_statistics()
    rows = np.stack(
        [whitening.standardized(image, *statistics).ravel() for image in read(False)[0]]
    )
    mean, covariance = whitening.covariance(rows)
    found = task.pixel_spectrum()
    np.testing.assert_allclose(found.mean, mean, rtol=1e-9, atol=1e-12)
    rebuilt = (found.vectors * found.values) @ found.vectors.mT
    np.testing.assert_allclose(rebuilt, covariance, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.vectors.mT @ found.vectors, np.eye(12), atol=1e-12)
    assert (found.values.diff() >= 0).all()


def test_the_spectrum_is_found_once_for_the_same_images(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = small().pixel_spectrum()
    folder = tmp_path / "cache" / "arrays"
    assert len(list(folder.iterdir())) == 1
    monkeypatch.setattr(image_task, "_spectrum", None)
    few = FewLabels(data_set="made-up", labels_per_class=2, validation_per_class=3)
    for task in (small(validation_per_class=1), few):
        for first, second in zip(found, task.pixel_spectrum(), strict=True):
            assert torch.equal(first, second)
    for changes in (
        {"read": lambda is_test: (read(is_test)[0][..., ::-1], read(is_test)[1])},
        {"statistics": image_task.ChannelStatistics((0.5,) * 3, (0.5,) * 3)},
    ):
        add(monkeypatch, "other", **changes)
        with pytest.raises(TypeError, match="NoneType"):
            small(data_set="other").pixel_spectrum()


def test_sums_over_parts_of_the_images_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    images, statistics = read(False)[0], small().channel_statistics()
    whole = image_task._spectrum(images, statistics)
    monkeypatch.setattr(image_task, "_PART", 7)
    assert np.array_equal(image_task._spectrum(images, statistics), whole)


# --- Bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [ImageClasses, FewLabels])
def test_without_the_files_it_says_how_to_get_them(
    cls: type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FARFIELD_DATA", str(tmp_path))
    for name, said in (
        ("cifar10", r"data_batch_1\.bin of cifar10 must exist.* run `farfield fetch cifar10`"),
        ("cifar100", "run `farfield fetch cifar100`"),
        ("cifar10-exact-8068", r"first4000\.bin of cifar10 must exist.*: set FARFIELD_DATA"),
        ("tiny-imagenet", "run `farfield fetch tiny-imagenet`"),
        ("fashion-mnist", "run `farfield fetch fashion_mnist`"),
    ):
        task = cls(data_set=name)
        assert not is_at_hand(task)
        with pytest.raises(ValueError, match=said):
            task.draw(stream(0))
    (tmp_path / "cifar10" / "cifar-10-batches-py").mkdir(parents=True)
    with pytest.raises(ValueError, match="cifar-10-batches-py holds pickles, which are never load"):
        cls().draw(stream(0))


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("cls", [ImageClasses, FewLabels])
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"data_set": "cifar-10"}, "unknown data set 'cifar-10'; did you mean 'cifar10'"),
        ({"validation_per_class": -1}, "validation_per_class must be an int 0…49999, got -1"),
        ({"test_images": 0}, "test_images must be an int 1…10000000, got 0"),
        ({"labels_per_class": 0}, "labels_per_class must be an int 1…10000000"),
    ],
)
def test_bad_fields_are_named(cls: type, fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cls(**fields)


# --- Few labels ----------------------------------------------------------------------------------


def few(**fields: object) -> FewLabels:
    return FewLabels(**{**SMALL, "labels_per_class": 3, **fields})


def test_few_images_have_labels_and_the_others_none() -> None:
    task = few()
    sets = task.draw(stream(0))
    assert list(sets) == [TRAINING, VALIDATION, UNLABELLED, "test"]
    assert [regime.name for regime in task.regimes] == [TRAINING, VALIDATION, "test"]
    assert np.bincount(sets[TRAINING].target).tolist() == [3] * CLASSES
    assert np.bincount(sets[VALIDATION].target).tolist() == [4] * CLASSES
    training, validation, others = (
        set(numbers(sets[name])) for name in (TRAINING, VALIDATION, UNLABELLED)
    )
    assert training < others
    assert not validation & others
    assert validation | others == set(range(len(LABELS)))
    assert sets[UNLABELLED].target.tolist() == [-1] * len(others)
    assert list(sets[UNLABELLED].latent) == ["image"]


def test_supervised_and_other_networks_have_the_same_labels() -> None:
    all_sets = few().draw(stream(2)), small(labels_per_class=3).draw(stream(2))
    for regime in (TRAINING, VALIDATION, "test"):
        first, second = (numbers(sets[regime]) for sets in all_sets)
        assert first == second


def test_fewer_labels_are_among_more_of_them() -> None:
    sets = {count: few(labels_per_class=count).draw(stream(0)) for count in (1, 3, 8)}
    for fewer, more in ((1, 3), (3, 8)):
        assert set(numbers(sets[fewer][TRAINING])) < set(numbers(sets[more][TRAINING]))
    for drawn in sets.values():
        for name in (VALIDATION, UNLABELLED, "test"):
            assert numbers(drawn[name]) == numbers(sets[1][name])


def test_more_labels_than_a_class_has_are_refused_before_training() -> None:
    assert len(few(labels_per_class=8).draw(stream(0))[TRAINING]) == 24
    said = (
        "labels_per_class must be at most 8, the images of class 2 of made-up beside "
        "validation_per_class=4, got 9"
    )
    with pytest.raises(ValueError, match=said):
        few(labels_per_class=9).draw(stream(0))


def test_a_class_without_images_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    add(monkeypatch, "lacking", classes=CLASSES + 1)
    with pytest.raises(ValueError, match="class 3 has 0, got 0"):
        few(data_set="lacking", validation_per_class=0).draw(stream(0))


def test_every_image_is_as_likely_to_have_a_label_as_any_other_of_its_class() -> None:
    times = np.zeros(len(LABELS))
    runs = 400
    for seed in range(runs):
        sets = few()._rows(LABELS, stream(seed))
        times[sets[TRAINING]] += 1
    for number, count in enumerate(COUNTS):
        share = 3 / count
        own = times[LABELS == number]
        assert own.sum() == 3 * runs
        assert abs(own - share * runs).max() < 4.5 * np.sqrt(runs * share * (1 - share))


def test_samples_of_the_unlabelled_set_serve_loops_of_one_s_own() -> None:
    found = few().sample(UNLABELLED, 20, stream(0).numpy())
    assert found.target.tolist() == [-1] * 20
