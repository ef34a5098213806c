"""Copying after a dormant phase: what is drawn, scores, floors and the frozen version."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from farfield.core import stream
from farfield.core.internal import UnknownNameError
from farfield.tasks import TASKS, TRAINING, VALIDATION, Copying
from farfield.tasks.internal import form_of, metric_of
from tasks.sets import digest, drawn

SMALL = Copying(
    dormant=6,
    test_dormant=(6, 9, 30),
    training_sequences=400,
    validation_sequences=50,
    test_sequences=(60, 40, 20),
)
# The head of SHA-256 over all sets of run 0; a change of it raises `version`.
CELLS = {
    Copying(training_sequences=2_000): "cea03d23a8f47e3f",
    SMALL: "5a42756f7fb51f30",
}
PHASES = {TRAINING: 6, VALIDATION: 6, "dormant-6": 6, "dormant-9": 9, "dormant-30": 30}


def cross_entropy(outputs: np.ndarray, target: np.ndarray, last: int | None) -> list[float]:
    """By loops over places, nats."""
    found = []
    for logits, wanted in zip(outputs.astype(np.float64), target, strict=True):
        places = range(len(wanted)) if last is None else range(len(wanted) - last, len(wanted))
        total = 0.0
        for place in places:
            largest = max(logits[place])
            sum_ = sum(math.exp(logit - largest) for logit in logits[place])
            total += largest + math.log(sum_) - logits[place][wanted[place]]
        found.append(total / len(places))
    return found


@pytest.mark.parametrize("task", list(CELLS), ids=["default", "small"])
def test_drawn_sets_are_frozen_for_this_version(task: Copying) -> None:
    assert task.version == 1
    assert digest(drawn(task)) == CELLS[task]


def test_problems_are_symbols_a_phase_a_marker_and_blanks() -> None:
    for regime, problems in drawn(SMALL).items():
        phase = PHASES[regime]
        assert len(problems) == SMALL.counts[regime]
        assert torch.equal(problems.items, torch.eye(10))
        for shown, answer in zip(problems.index.tolist(), problems.target.tolist(), strict=True):
            symbols = shown[:10]
            assert all(1 <= symbol <= 8 for symbol in symbols)
            assert shown == [*symbols, *[0] * (phase - 1), 9, *[0] * 10]
            assert answer == [*[0] * (phase + 10), *symbols]
    assert {
        name: p.index.shape[1] for name, p in drawn(Copying(training_sequences=2_000)).items()
    } == {
        TRAINING: 70,
        VALIDATION: 70,
        "dormant-200": 220,
        "dormant-1000": 1_020,
        "dormant-10000": 10_020,
    }


def test_symbols_are_uniform_and_independent() -> None:
    symbols = drawn(Copying(training_sequences=2_000))[TRAINING].latent["symbols"].numpy()
    counts = np.array([(symbols == symbol).sum(0) for symbol in range(1, 9)])
    assert abs(counts - 250).max() < 4 * math.sqrt(2_000 * 7 / 64)
    pairs = np.zeros((8, 8))
    np.add.at(pairs, (symbols[:, :-1].ravel() - 1, symbols[:, 1:].ravel() - 1), 1)
    assert abs(pairs - 18_000 / 64).max() < 4.5 * math.sqrt(18_000 / 64)


def test_sets_share_no_sequence() -> None:
    sets = drawn(Copying(training_sequences=2_000))
    rows = [tuple(row) for problems in sets.values() for row in problems.latent["symbols"].tolist()]
    assert len(set(rows)) == len(rows)  # of 8¹⁰, as chance has it


def test_regimes_say_how_much_longer_the_phase_is() -> None:
    task = Copying()
    assert [(r.name, r.distance) for r in task.regimes] == [
        (TRAINING, 0),
        (VALIDATION, 0),
        ("dormant-200", 150),
        ("dormant-1000", 950),
        ("dormant-10000", 9_950),
    ]
    assert {r.unit for r in task.regimes} == {"dormant places beyond training"}
    assert (task.item_shape, task.length, task.num_outputs) == ((10,), 70, 9)
    assert task.segments == (tuple(range(70)),)
    assert TASKS["copying"] is Copying
    assert metric_of(task) == "accuracy"
    assert form_of(task).answer == "everywhere"


@given(st.integers(0, 2**32 - 1), st.sampled_from(list(PHASES)), st.booleans())
def test_score_and_loss_are_those_of_loops(seed: int, regime: str, recalled_only: bool) -> None:
    task = dataclasses.replace(SMALL, recalled_only=recalled_only)
    problems = drawn(SMALL)[regime][:5]
    generator = torch.Generator().manual_seed(seed)
    shape = (*problems.index.shape, 9)
    outputs = 3 * torch.randn(shape, generator=generator, dtype=torch.float64)
    outputs[:3, :, :] += 4 * task.oracle(problems)[:3] / 100
    target = problems.target.numpy()
    expected = cross_entropy(outputs.numpy(), target, 10 if recalled_only else None)
    assert task.loss(outputs, problems).numpy() == pytest.approx(expected, rel=1e-9)
    shares = [
        sum(int(np.argmax(logits[place])) == wanted[place] for place in range(-10, 0)) / 10
        for logits, wanted in zip(outputs.numpy(), target, strict=True)
    ]
    assert task.score(outputs, problems).numpy() == pytest.approx(shares, abs=1e-6)


@pytest.mark.parametrize("recalled_only", [False, True])
def test_the_floor_of_the_loss_is_that_of_blanks_and_one_in_eight(recalled_only: bool) -> None:
    task = dataclasses.replace(SMALL, recalled_only=recalled_only)
    for regime, problems in drawn(SMALL).items():
        outputs = torch.zeros(*problems.index.shape, 9, dtype=torch.float64)
        outputs[:, :-10, 0], outputs[:, -10:, 0] = 200, -200
        losses = task.loss(outputs, problems)
        assert losses.numpy() == pytest.approx(task.no_memory_loss(regime), rel=1e-12)
        guesses = outputs + torch.rand(outputs.shape, generator=torch.Generator().manual_seed(0))
        assert float(task.score(guesses, problems).mean()) == pytest.approx(0.125, abs=0.06)
        assert not task.score(outputs, problems).any()  # eight of nine tie
        assert task.chance(regime) == 0.125
        logits = outputs.clone().requires_grad_()
        task.loss(logits, problems).mean().backward()
        assert float(logits.grad[:, -10:].sum((0, 1)).abs().max()) < 0.05  # no better constant


def test_the_floors_in_print_are_those_of_no_memory() -> None:
    """What users of the released code report as losses of an LSTM: .30 in training, .09 at test."""
    task = Copying()
    assert task.no_memory_loss(TRAINING) == task.no_memory_loss(VALIDATION)
    assert task.no_memory_loss(TRAINING) == pytest.approx(0.297, abs=5e-4)
    assert task.no_memory_loss("dormant-200") == pytest.approx(0.0945, abs=5e-5)
    assert Copying(recalled_only=True).no_memory_loss("dormant-200") == math.log(8)


def test_the_oracle_reads_the_first_ten_places_whatever_the_table() -> None:
    for problems in drawn(SMALL).values():
        for some in (problems, problems[:1].compact()):
            outputs = SMALL.oracle(some)
            assert torch.equal(outputs.argmax(-1), some.target)
            assert torch.equal(SMALL.score(outputs, some), torch.ones(len(some)))
            assert float(SMALL.loss(outputs, some).max()) < 1e-9


def test_only_the_last_ten_places_are_scored_and_no_number_is_wrong() -> None:
    problems = drawn(SMALL)["dormant-9"]
    outputs = SMALL.oracle(problems)
    elsewhere = outputs.clone()
    elsewhere[:, :-10] = torch.nan
    assert torch.equal(SMALL.score(elsewhere, problems), torch.ones(len(problems)))
    outputs[:, -3] = torch.nan
    torch.testing.assert_close(SMALL.score(outputs, problems), torch.full((len(problems),), 0.9))


def test_samples_are_new_and_of_the_regime() -> None:
    for regime, phase in PHASES.items():
        assert SMALL.sample(regime, 5, stream(0).numpy()).index.shape == (5, phase + 20)
    for ask in (SMALL.no_memory_loss, lambda r: SMALL.made(r, 5, stream(0).numpy())):
        with pytest.raises(UnknownNameError, match="unknown regime 'nowhere'"):
            ask("nowhere")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"dormant": 0}, "dormant must be an int 1…10000000, got 0"),
        ({"training_sequences": 0}, "training_sequences must be an int"),
        ({"validation_sequences": -1}, "validation_sequences must be an int"),
        ({"test_dormant": ()}, "test_dormant must be one or more ascending lengths"),
        ({"test_dormant": (200, 200, 300)}, "test_dormant must be one or more ascending"),
        ({"test_dormant": (300, 200, 400)}, "test_dormant must be one or more ascending"),
        ({"test_dormant": (20, 200, 400)}, "of at least dormant=50, got \\(20, 200, 400\\)"),
        ({"test_dormant": (200,)}, "test_sequences must have a number for each of the 1 tests"),
        ({"test_sequences": (1, 0, 2)}, "test_sequences.1. must be an int"),
    ],
)
def test_bad_fields_are_named(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Copying(**fields)


def test_bad_outputs_and_numbers_are_named() -> None:
    problems = drawn(SMALL)["dormant-9"]
    for outputs in (torch.zeros(40, 29, 8), torch.zeros(40, 28, 9), torch.zeros(39, 29, 9)):
        for ask in (SMALL.score, SMALL.loss):
            with pytest.raises(ValueError, match=r"outputs must be of \(batch, time, outputs\)"):
                ask(outputs, problems)
    with pytest.raises(ValueError, match="n must be an int 1…10000000, got 0"):
        SMALL.sample(TRAINING, 0, stream(0).numpy())
