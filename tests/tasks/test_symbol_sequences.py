"""Symbol sequences: answers by loops, what is drawn, floors and the frozen version."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
import torch

from farfield.core import Problems, stream
from farfield.tasks import TRAINING, VALIDATION, SymbolSequences
from tasks.sets import digest

# The head of SHA-256 over all sets of run 0; a change of it raises `version`.
CELLS = {
    "copying": "311b8748b15d64ec",
    "first": "1114517e1cb9f054",
    "flip-flop": "ff1db476a67586bd",
    "parity": "a6c039b7647cc2c4",
    "modulo-3": "c8ace2092c57d10e",
    "majority": "02c976dee3a6780c",
    "adding": "aa027e17ae05c65a",
}
every_rule = pytest.mark.parametrize("rule", CELLS)


def task_of(rule: str) -> SymbolSequences:
    return SymbolSequences(
        rule=rule, training_sequences=2_000, test_lengths=(60, 201), test_sequences=400
    )


@cache
def drawn(rule: str) -> dict[str, Problems]:
    return task_of(rule).draw(stream(0))


def answered(rule: str, symbols: list[int]) -> list[int]:
    """The answer by a loop over the symbols, numbered from 0, as the card says it."""
    if rule in ("copying", "first"):
        return symbols[: 4 if rule == "copying" else 1]
    ones, written, total = 0, None, 0
    for symbol in symbols:
        ones += symbol
        written = symbol - 2 if symbol > 1 else written
        total += symbol - 10 if symbol > 9 else 0
    if rule == "majority":
        return [int(ones > len(symbols) - ones)]
    by_count = {"parity": ones % 2, "modulo-3": ones % 3, "flip-flop": written, "adding": total}
    answer = by_count[rule]
    assert answer is not None
    return [answer]


@every_rule
def test_drawn_sets_are_frozen_for_this_version(rule: str) -> None:
    assert task_of(rule).version == 1
    assert digest(drawn(rule)) == CELLS[rule]


@every_rule
def test_the_answer_is_that_of_a_loop(rule: str) -> None:
    task = task_of(rule)
    for problems in drawn(rule).values():
        items = problems[:50].sequences()
        shown = ((items.argmax(-1) + 1) * items.sum(-1)).int().tolist()
        lengths = problems.latent["lengths"].tolist()
        for row, length, answer in zip(shown, lengths, problems.target.tolist(), strict=False):
            blanks = len(row) - length
            assert row[:blanks] == [0] * blanks
            symbols = [symbol - 1 for symbol in row[blanks:]]
            assert min(symbols) >= 0
            assert answered(rule, symbols) == (answer if isinstance(answer, list) else [answer])
        some = problems[:9].compact()
        assert task.score(task.oracle(some), some).tolist() == [1.0] * 9


@every_rule
def test_lengths_are_uniform_in_training_and_one_in_a_test(rule: str) -> None:
    sets = drawn(rule)
    fewest = {"copying": 4, "adding": 2}.get(rule, 1)
    counts = np.bincount(sets[TRAINING].latent["lengths"].numpy(), minlength=51)
    mean = 2_000 / (51 - fewest)
    assert (counts[:fewest] == 0).all()
    assert abs(counts[fewest:] - mean).max() < 4.5 * math.sqrt(mean)
    assert set(sets["length-201"].latent["lengths"].tolist()) == {201}
    assert sets["length-60"].index.shape == (400, 60)
    assert len(sets[VALIDATION]) == 1_000


@every_rule
def test_the_floor_is_the_share_of_the_most_frequent_answer(rule: str) -> None:
    task = task_of(rule)
    for regime in (TRAINING, "length-60"):
        problems = task.sample(regime, 6_000, stream(3).numpy())
        answers = problems.target.reshape(6_000, -1)
        for place in answers.T:
            best = int(torch.bincount(place).max()) / 6_000
            assert task.chance(regime) == pytest.approx(best, abs=4 * 0.5 / math.sqrt(6_000))
    assert task_of("modulo-3").chance("length-60") == pytest.approx(1 / 3, rel=1e-12)
    single = SymbolSequences(rule="modulo-3", training_lengths=(1, 1), test_lengths=())
    assert single.chance(TRAINING) == pytest.approx(1 / 2)


def test_a_bit_waits_for_any_number_of_symbols() -> None:
    index = drawn("flip-flop")["length-201"].index
    last = 200 - (index.flip(1) > 2).int().argmax(1)
    ends = torch.arange(1, 401) / 400 * 201
    assert (last.sort().values - ends).abs().max() < 1.95 / math.sqrt(400) * 201
    symbols = index[:, :20][last > 19]
    share = (symbols > 2).float().mean()
    assert share.item() == pytest.approx(0.5, abs=4 * 0.5 / math.sqrt(symbols.numel()))


def test_one_digit_of_each_half_is_marked() -> None:
    marked = (drawn("adding")["length-201"].index > 10).numpy()
    assert (marked[:, :100].sum(1) == 1).all()
    assert (marked[:, 100:].sum(1) == 1).all()
    assert len(set(marked.argmax(1).tolist())) > 80


def test_no_majority_is_a_tie_and_half_of_the_answers_are_yes() -> None:
    problems = SymbolSequences(rule="majority").sample(TRAINING, 4_000, stream(1).numpy())
    ones = (problems.index == 2).sum(1)
    assert (2 * ones != problems.latent["lengths"]).all()
    assert problems.target.float().mean().item() == pytest.approx(0.5, abs=0.032)


def test_scores_are_the_share_of_right_places() -> None:
    task = task_of("copying")
    some = drawn("copying")[TRAINING][:5].compact()
    outputs = task.oracle(some)
    outputs[:, 8:16] = 0.0  # a tie
    assert task.score(outputs, some).tolist() == [0.75] * 5
    assert task.loss(outputs, some).tolist() == pytest.approx([math.log(8) / 4] * 5)
    with pytest.raises(ValueError, match=r"outputs must be of \(batch, outputs\) = \(5, 32\)"):
        task.loss(outputs[:, :8], some)


def test_long_sequences_are_drawn_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    task = task_of("majority")
    problems = task.sample("length-201", 9, stream(0).numpy())
    monkeypatch.setattr("farfield.tasks._sequences._symbol_sequences.BLOCK", 201 * 2)
    parts = task.sample("length-201", 9, stream(0).numpy())
    assert torch.equal(problems.index[:2], parts.index[:2])
    assert parts.target.tolist() == [
        answered("majority", (row - 1).tolist())[0] for row in parts.index
    ]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"rule": "sorting"}, "rule must be .*, got 'sorting'"),
        ({"training_lengths": (9, 8)}, r"training_lengths must end at 9 or more .* got \(9, 8\)"),
        ({"rule": "copying", "training_lengths": (1, 3)}, "must end at 4 or more .* 'copying'"),
        ({"test_lengths": (50,)}, "test_lengths must be an int 51…"),
        ({"test_lengths": (300, 200)}, "test_lengths must be ascending"),
        ({"training_sequences": 0}, "training_sequences must be an int"),
    ],
)
def test_bad_fields_are_named(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SymbolSequences(**fields)
