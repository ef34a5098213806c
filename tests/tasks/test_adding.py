"""Adding marked numbers: what is drawn, scores, floors and the frozen version."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from farfield.core import Problems, stream
from farfield.core.internal import UnknownNameError
from farfield.tasks import TASKS, TRAINING, VALIDATION, Adding
from farfield.tasks.internal import metric_of
from tasks.sets import digest, drawn

PLAIN = Adding(training_sequences=3_000)
MIXED = Adding(
    training_length=23,
    added=(2, 3, 4),
    test_lengths=(30,),
    test_added=(5, 7),
    training_sequences=3_000,
    separate_markers=True,
)
# The head of SHA-256 over all sets of run 0; a change of it raises `version`.
CELLS = {PLAIN: "69ffb66869227077", MIXED: "c1209d81189b103c"}
every_cell = pytest.mark.parametrize("task", list(CELLS), ids=["plain", "mixed"])
KINDS = {
    PLAIN: {
        TRAINING: (50, {2}),
        VALIDATION: (50, {2}),
        "terms-3": (50, {3}),
        "terms-4": (50, {4}),
        "length-200": (200, {2}),
        "length-1000": (1_000, {2}),
    },
    MIXED: {
        TRAINING: (23, {2, 3, 4}),
        VALIDATION: (23, {2, 3, 4}),
        "terms-5": (23, {5}),
        "terms-7": (23, {7}),
        "length-30": (30, {2, 3, 4}),
    },
}


@every_cell
def test_drawn_sets_are_frozen_for_this_version(task: Adding) -> None:
    assert task.version == 1
    assert digest({r: without_answer(p) for r, p in drawn(task).items()}) == CELLS[task]


def without_answer(problems: Problems) -> Problems:
    """The answer in units of half a level, an integer."""
    return Problems(
        items=problems.items,
        index=problems.index,
        target=(problems.target * 2048).to(torch.int64),
        latent=problems.latent,
    )


@every_cell
def test_the_answer_is_the_sum_of_the_marked_numbers(task: Adding) -> None:
    for regime, problems in drawn(task).items():
        length, terms = KINDS[task][regime]
        shown = problems[:40].sequences().double().numpy()
        assert shown.shape == (40, length, *task.item_shape)
        for row, answer in zip(shown, problems.target[:40].tolist(), strict=True):
            total, marked = 0.0, 0
            for place in row:
                number, markers = place[0], place[1:]
                assert 0 < number < 1
                assert sorted(markers)[:-1] == [0] * (len(markers) - 1)
                total += number * sum(markers)
                marked += int(sum(markers))
            assert marked in terms
            assert answer == total  # to the bit: the numbers are short
        assert set(problems.latent["terms"].tolist()) == terms


@every_cell
def test_one_place_of_each_part_is_marked(task: Adding) -> None:
    for regime, problems in drawn(task).items():
        length, _ = KINDS[task][regime]
        parts = problems.latent["parts"].numpy()
        for row, k in zip(parts[:300], problems.latent["terms"].tolist(), strict=False):
            places = np.flatnonzero(row)
            assert row[places].tolist() == list(range(1, k + 1))
            for part, place in enumerate(places):
                assert part * length // k <= place < (part + 1) * length // k
        markers = problems.sequences()[..., 1:].numpy()
        assert np.array_equal(markers.any(-1), parts > 0)
        if task.separate_markers:
            assert np.array_equal(markers.argmax(-1)[parts > 0] + 1, parts[parts > 0])


def test_places_and_numbers_are_uniform() -> None:
    problems = drawn(PLAIN)[TRAINING]
    places = problems.latent["parts"].numpy() > 0
    assert abs(places.sum(0) - 120).max() < 4 * math.sqrt(120)
    numbers = np.sort(problems.sequences()[..., 0].numpy().ravel())
    expected = (np.arange(len(numbers)) + 0.5) / len(numbers)
    assert abs(numbers - expected).max() < 1.95 / math.sqrt(len(numbers)) + 1 / 1024
    assert sorted({float(number) for number in numbers}) == [(k + 0.5) / 1024 for k in range(1024)]
    terms = drawn(MIXED)[TRAINING].latent["terms"].numpy()
    assert abs(np.bincount(terms)[2:] - 1_000).max() < 4 * math.sqrt(1_000)


@every_cell
def test_the_floor_is_the_variance_of_the_answer(task: Adding) -> None:
    for regime in task.regimes:
        answers = task.sample(regime.name, 4_000, stream(5).numpy()).target.double()
        floor = float(answers.var(correction=0))
        assert task.chance(regime.name) == pytest.approx(floor, rel=0.05)
    assert PLAIN.chance(TRAINING) == pytest.approx(1 / 6, rel=1e-6)
    levels = (np.arange(1024) + 0.5) / 1024
    assert PLAIN.chance(TRAINING) == pytest.approx(2 * levels.var(), rel=1e-12)


@every_cell
def test_scores_are_squared_errors_and_the_oracle_makes_none(task: Adding) -> None:
    assert metric_of(task) == "mse"
    assert TASKS["adding"] is Adding
    for problems in drawn(task).values():
        some = problems[:7].compact()
        right = task.oracle(some)
        assert torch.equal(task.score(right, some), torch.zeros(7))
        torch.testing.assert_close(task.score(right - 0.5, some), torch.full((7,), 0.25))
        assert torch.equal(task.loss(right + 0.3, some), task.score(right + 0.3, some))
        with pytest.raises(ValueError, match=r"outputs must be of \(batch, outputs\) = \(7, 1\)"):
            task.score(right.expand(7, 2), some)


@every_cell
def test_regimes_are_new_sequences_of_their_kind(task: Adding) -> None:
    assert [regime.name for regime in task.regimes] == list(KINDS[task])
    assert task.length == KINDS[task][TRAINING][0]
    assert len({tuple(p.index[0, :20].tolist()) for p in drawn(task).values()}) == len(KINDS[task])
    for regime, (length, terms) in KINDS[task].items():
        first, again, other = (task.sample(regime, 30, stream(seed).numpy()) for seed in (0, 0, 1))
        assert torch.equal(first.index, again.index)
        assert not torch.equal(first.index, other.index)
        assert first.index.shape == (30, length)
        assert set(first.latent["terms"].tolist()) <= terms
    for ask in (
        task.chance,
        lambda r: task.sample(r, 5, stream(0).numpy()),
        lambda r: task.made(r, 5, stream(0).numpy()),
    ):
        with pytest.raises(UnknownNameError, match="unknown regime 'nowhere'"):
            ask("nowhere")


def test_distances_are_terms_or_places_beyond_training() -> None:
    assert [(r.distance, r.unit.partition(" ")[0]) for r in MIXED.regimes] == [
        (0, "terms"),
        (0, "terms"),
        (1, "terms"),
        (3, "terms"),
        (7, "places"),
    ]
    assert (PLAIN.item_shape, MIXED.item_shape) == ((2,), (8,))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"training_length": 3}, "training_length must be an int 4…10000000, got 3"),
        ({"added": ()}, "added must hold at least one number of terms, got none"),
        ({"added": (0,)}, "added.0. must be an int 1…"),
        ({"added": (2, 1)}, "added must be ascending, each number once, got \\(2, 1\\)"),
        ({"test_added": (2,)}, "test_added must be an int 3…"),
        ({"test_added": (4, 4)}, "test_added must be ascending"),
        ({"test_lengths": (50,)}, "test_lengths must be an int 51…"),
        ({"test_lengths": (300, 200)}, "test_lengths must be ascending"),
        ({"training_sequences": 0}, "training_sequences must be an int"),
        ({"validation_sequences": 0}, "validation_sequences must be an int"),
        ({"test_sequences": 0}, "test_sequences must be an int"),
    ],
)
def test_bad_fields_are_named(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Adding(**fields)
