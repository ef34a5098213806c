"""Images of several digits: what they show, how many, the score and the frozen version."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path

import numpy as np
import pytest
import torch

from farfield.core import Problems, stream
from farfield.tasks import DATA_SETS, TASKS, TRAINING, StackedMNIST, is_at_hand
from farfield.tasks._digits._stacked_mnist import StackedImages
from farfield.tasks.internal import MultiOutput, metric_of
from oracles import digits as oracle
from tasks.sets import digest, drawn

SMALL = StackedMNIST(training_images=600, test_images=300)
FIVE = dataclasses.replace(SMALL, digits=(1, 5))
# The head of SHA-256 over what all images of run 0 are made of, and over pixels of some of them;
# a change of either raises `version`.
CELLS = {
    SMALL: ("1f89de3d75e7b6b0", "7bbff9ffa7d65b14"),
    FIVE: ("48c340a2b57dd4a5", "fffc03e53b6a56bf"),
}
every_cell = pytest.mark.parametrize("task", list(CELLS), ids=["1-3", "1-5"])


@pytest.fixture
def files(data_folder: Path) -> Path:
    """The real images, or the test is skipped."""
    if not SMALL.is_at_hand():
        pytest.skip("MNIST absent")
    return data_folder


def described(sets: dict[str, Problems]) -> dict[str, Problems]:
    """With the descriptions of the images as latent."""
    return {
        regime: dataclasses.replace(problems, latent={"stack": problems.items.latent})
        for regime, problems in sets.items()
    }


def shown(sets: dict[str, Problems]) -> dict[str, Problems]:
    """The first problems with the pixels of their images as latent."""
    return {
        regime: dataclasses.replace(problems[:20], latent={"pixels": problems[:20].sequences()})
        for regime, problems in sets.items()
    }


def digests(sets: dict[str, Problems]) -> tuple[str, str]:
    return digest(described(sets)), digest(shown(sets))


@every_cell
def test_drawn_sets_are_frozen_for_this_version(task: StackedMNIST, files: Path) -> None:
    assert task.version == 1
    assert digests(drawn(task)) == CELLS[task]
    found = digests(task.draw(stream(1)))
    assert all(a != b for a, b in zip(found, CELLS[task], strict=True))


@every_cell
def test_images_show_digits_of_their_file_and_are_labelled(task: StackedMNIST, files: Path) -> None:
    for regime, problems in drawn(task).items():
        part = "train" if regime == TRAINING else "t10k"
        images = DATA_SETS["mnist"].read(f"{part}-images-idx3-ubyte.gz")
        labels = DATA_SETS["mnist"].read(f"{part}-labels-idx1-ubyte.gz")
        for row in range(0, len(problems), 17):
            stack = problems.items.latent[row].tolist()
            there = [(images[n], r, c) for n, r, c in stack if n >= 0]
            if row < 90:
                pixels = problems.items[row]
                assert (tuple(pixels.shape), pixels.dtype) == (task.item_shape, torch.uint8)
                assert np.array_equal(pixels.numpy(), oracle.stacked(there, 64))
            digits = [int(labels[n]) for n, _, _ in stack if n >= 0]
            assert problems.target[row].nonzero()[:, 0].tolist() == sorted(digits)
            assert len(set(digits)) == len(digits) == problems.latent["digits"][row]


def test_each_number_of_digits_is_shown_where_it_belongs(files: Path) -> None:
    for task in CELLS:
        few, many = task.digits
        counts = drawn(task)[TRAINING].latent["digits"]
        assert counts.tolist() == [few, many] * 300
        for number in range(1, 6):
            found = drawn(task)[f"digits-{number}"].latent["digits"]
            assert found.tolist() == [number] * 300


def test_digits_images_and_places_are_equally_frequent(files: Path) -> None:
    task = StackedMNIST(digits=(3,), test_digits=(1,), training_images=20_000, test_images=1)
    problems = task.draw(stream(0))[TRAINING]
    shares = problems.target.double().mean(0)
    assert (shares - 0.3).abs().max() < 4 * (0.3 * 0.7 / 20_000) ** 0.5
    pairs = problems.target.double().T @ problems.target.double() / 20_000
    apart = pairs[~torch.eye(10, dtype=torch.bool)]
    assert (apart - 3 * 2 / 90).abs().max() < 5 * (1 / 15 / 20_000) ** 0.5
    corners = problems.items.latent[..., 1:].reshape(-1, 2)
    for column in corners.T:
        found = torch.bincount(column, minlength=37) / len(column)
        assert len(found) == 37
        assert (found - 1 / 37).abs().max() < 4 * (1 / 37 / len(column)) ** 0.5
    used = torch.bincount(problems.items.latent[..., 0].flatten(), minlength=60_000)
    # 60,000 draws of as many images: a share of 1/e is never drawn.
    assert abs(float((used == 0).double().mean()) - np.exp(-1)) < 0.01


def test_regimes_and_runs_have_other_images(files: Path) -> None:
    tables = [
        tuple(stack)
        for seed in (0, 1)
        for problems in drawn(SMALL, seed).values()
        for stack in problems.items.latent.flatten(1).tolist()
    ]
    assert len(set(tables)) == len(tables) == 2 * (600 + 5 * 300)


def test_digits_of_validation_are_held_out_of_training(files: Path) -> None:
    sets = StackedMNIST(training_images=5, test_images=5, validation_images=4).draw(stream(0))
    assert len(sets["validation"]) == 4
    drawn = {
        name: {digit.tobytes() for digit in problems.items.draw.originals}
        for name, problems in sets.items()
    }
    assert len(drawn["validation"]) + len(drawn["training"]) == 60_000
    assert len(drawn["validation"]) == 6_000
    assert not drawn["validation"] & drawn["training"]


def test_a_stack_of_nothing_is_black() -> None:
    originals = np.full((1, 28, 28), 9, np.uint8)
    absent = torch.full((2, 3, 3), -1)
    assert not StackedImages(originals)(absent).any()
    assert StackedImages(originals)(absent[:0]).shape == (0, 64, 64)
    absent[1, 1] = torch.tensor([0, 36, 36])
    pixels = StackedImages(originals)(absent)
    assert (pixels[1, 36:, 36:] == 9).all()
    assert int(pixels.sum()) == 9 * 28 * 28


def some_problems(count: int) -> Problems:
    target = torch.from_numpy(np.random.default_rng(0).integers(0, 2, (count, 10)) == 1)
    return Problems(
        items=torch.zeros(count, 64, 64, dtype=torch.uint8),
        index=torch.arange(count)[:, None],
        target=target,
    )


def test_an_image_is_right_where_all_its_digits_are() -> None:
    problems = some_problems(60)
    outputs = SMALL.oracle(problems).double() * 2
    outputs += torch.randn(60, 10, generator=stream(0).torch(), dtype=torch.float64)
    score, loss = SMALL.score(outputs, problems), SMALL.loss(outputs, problems)
    each = SMALL.answer_scores(outputs, problems)
    assert list(each) == [f"digit-{digit}" for digit in range(10)]
    for row in range(60):
        right, terms = [], []
        for logit, label in zip(outputs[row].tolist(), problems.target[row].tolist(), strict=True):
            right.append(logit > 0 if label else logit < 0)
            terms.append(np.log1p(np.exp(-logit if label else logit)))
        assert float(score[row]) == float(all(right))
        assert [float(column[row]) for column in each.values()] == [float(r) for r in right]
        assert float(loss[row]) == pytest.approx(np.mean(terms), rel=1e-12)
    assert 0 < score.mean() < 1


@pytest.mark.parametrize("value", [0.0, torch.nan])
def test_a_digit_without_a_sure_answer_is_wrong(value: float) -> None:
    problems = some_problems(20)
    for digit in (0, 9):
        outputs = SMALL.oracle(problems)
        outputs[:, digit] = value
        assert not SMALL.score(outputs, problems).any()
        each = SMALL.answer_scores(outputs, problems)
        assert not each[f"digit-{digit}"].any()
        assert sum(float(column.mean()) for column in each.values()) == 9


def test_wrong_outputs_are_refused() -> None:
    problems = some_problems(4)
    for ask in (SMALL.loss, SMALL.score, SMALL.answer_scores):
        with pytest.raises(ValueError, match=r"outputs must be of \(batch, outputs\) = \(4, 10\)"):
            ask(torch.zeros(4, 9), problems)


def test_floors_are_those_of_the_best_set_of_digits() -> None:
    task = StackedMNIST(digits=(1, 3), test_digits=(2, 5, 10))
    for regime, numbers in (
        (TRAINING, (1, 3)),
        ("digits-2", (2,)),
        ("digits-5", (5,)),
        ("digits-10", (10,)),
    ):
        chances: dict[tuple[int, ...], float] = {}
        for number in numbers:
            sets = list(itertools.combinations(range(10), number))
            for digits in sets:
                chances[digits] = 1 / len(numbers) / len(sets)
        assert sum(chances.values()) == pytest.approx(1)
        assert task.chance(regime) == pytest.approx(max(chances.values()))


def test_the_ceiling_is_the_labels(files: Path) -> None:
    for problems in drawn(SMALL).values():
        assert SMALL.score(SMALL.oracle(problems), problems).all()


def test_regimes_go_by_the_distance_to_the_nearest_number_of_training() -> None:
    for task, expected in (
        (SMALL, {TRAINING: 0, "digits-1": 0, "digits-3": 0, "digits-2": 1, "digits-4": 1}),
        (FIVE, {TRAINING: 0, "digits-1": 0, "digits-5": 0, "digits-2": 1, "digits-4": 1}),
    ):
        last = {"digits-5": 2} if task is SMALL else {"digits-3": 2}
        found = [(regime.name, regime.distance) for regime in task.regimes]
        assert found == list((expected | last).items())
    assert {regime.unit for regime in SMALL.regimes} == {"digits more or fewer than in training"}


def test_shapes_and_abilities() -> None:
    task = StackedMNIST()
    assert TASKS["stacked-mnist"] is StackedMNIST
    assert (task.item_shape, task.length, task.num_outputs) == ((64, 64), 1, 10)
    assert (task.segments, metric_of(task)) == (((0,),), "accuracy")
    assert isinstance(task, MultiOutput)


def test_samples_come_from_the_set_of_their_regime(files: Path) -> None:
    first, again = (SMALL.sample("digits-2", 9, stream(0).numpy()) for _ in range(2))
    assert torch.equal(first.sequences(), again.sequences())
    assert torch.equal(first.items.latent, drawn(SMALL)["digits-2"].items.latent)


def test_without_the_files_it_says_how_to_get_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FARFIELD_DATA", str(tmp_path))
    monkeypatch.setenv("FARFIELD_CACHE", str(tmp_path / "cache"))
    assert not is_at_hand(StackedMNIST())
    with pytest.raises(ValueError, match="run `farfield fetch mnist`"):
        StackedMNIST().draw(stream(0))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"digits": ()}, r"digits must be one or more ascending numbers, got \(\)"),
        ({"digits": (3, 1)}, r"digits must be one or more ascending numbers, got \(3, 1\)"),
        ({"digits": (0, 1)}, "digits must be an int 1…10, got 0"),
        ({"test_digits": (11,)}, "test_digits must be an int 1…10, got 11"),
        ({"test_digits": (1, 1)}, "test_digits must be one or more ascending"),
        ({"training_images": 0}, "training_images must be"),
    ],
)
def test_bad_fields_are_named(fields: dict[str, object], message: str, unchecked: None) -> None:
    with pytest.raises(ValueError, match=message):
        StackedMNIST(**fields)
