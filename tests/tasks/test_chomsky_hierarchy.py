"""Tasks of the Chomsky hierarchy: answers of the originals and by loops, draws, floors, bytes."""

from __future__ import annotations

import itertools
import math
from functools import cache

import numpy as np
import pytest
import torch

from farfield.core import Problems, stream
from farfield.core.internal import UnknownNameError
from farfield.tasks import TRAINING, VALIDATION, ChomskyHierarchy
from farfield.tasks._sequences._chomsky_rules import RULES
from golden import Golden, cases
from tasks.sets import digest

# The head of SHA-256 over all sets of run 0; a change of it raises `version`.
CELLS = {
    "even-pairs": "776ca000522734eb",
    "modular-arithmetic": "0e4c7297a5d5d4d1",
    "parity-check": "a5bf1bc9707513e0",
    "cycle-navigation": "42d440757f4cfe36",
    "stack-manipulation": "ada15465571de5f6",
    "reverse-string": "50b1d1f298220620",
    "modular-arithmetic-brackets": "d8a7fbc20cee4c98",
    "solve-equation": "50fac5fca73b9499",
    "duplicate-string": "60a6923580a7a5ae",
    "missing-duplicate-string": "b06908383eb2e41b",
    "odds-first": "dc44290fc98539b8",
    "binary-addition": "fe245529df8fcf3c",
    "binary-multiplication": "86778a92e0610941",
    "compute-sqrt": "3cf5a79c1bdb2d02",
    "bucket-sort": "824b689b8a897e63",
}
every_rule = pytest.mark.parametrize("rule", CELLS)


def task_of(rule: str, **fields: object) -> ChomskyHierarchy:
    small = {
        "test_lengths": ((41, 60), (80, 80)),
        "training_strings": 300,
        "validation_strings": 60,
        "test_strings": (60, 20),
    }
    return ChomskyHierarchy(rule=rule, **small | fields)


@cache
def drawn(rule: str) -> dict[str, Problems]:
    return task_of(rule).draw(stream(0))


def strings_of(problems: Problems, task: ChomskyHierarchy) -> list[list[int]]:
    """Symbols of each string, numbered from 0, as items show them."""
    mark = task.item_shape[0]
    kinds = ((problems.items.argmax(-1) + 1) * problems.items.sum(-1)).int()
    rows = kinds[problems.index].tolist()
    return [[one - 1 for one in row if 0 < one < mark] for row in rows]


def binary(bits: list[int]) -> int:
    return sum(bit << power for power, bit in enumerate(bits))


def little_endian(number: int) -> list[int]:
    bits = []
    while number:
        bits.append(number % 2)
        number //= 2
    return bits


def on_stack(symbols: list[int]) -> list[int]:
    text = ""
    for symbol in symbols:
        text = {2: text[1:], 3: "0" + text, 4: "1" + text}.get(symbol, f"{symbol}{text}")
    return [*map(int, text), 2]


def solved(symbols: list[int]) -> list[int]:
    if len(symbols) < 3:
        return [0]
    text = "".join("01234+-()x="[symbol] for symbol in symbols)
    left, right = text.split("=")
    return [x for x in range(5) if (eval(left, {"x": x}) - int(right)) % 5 == 0]


def multiplied(symbols: list[int]) -> list[int]:
    if len(symbols) < 3:
        return [0] * (len(symbols) - 1) + [2]
    middle = symbols.index(2)
    second = binary(symbols[middle + 1 :])
    return [*little_endian(sum(second << k for k in range(middle) if symbols[k])), 2]


def added(symbols: list[int]) -> list[int]:
    if len(symbols) < 3:
        return [*(little_endian(binary(symbols)) or [0]), 2]
    middle = symbols.index(2)
    return [*little_endian(binary(symbols[:middle]) + binary(symbols[middle + 1 :])), 2]


def rooted(symbols: list[int]) -> list[int]:
    number, root, width = binary(symbols[::-1]), 0, (len(symbols) + 1) // 2
    for power in reversed(range(width)):
        root |= (1 << power) * ((root | 1 << power) ** 2 <= number)
    return [root >> power & 1 for power in reversed(range(width))]


def missed(symbols: list[int]) -> list[int]:
    half = len(symbols) // 2
    if not half:
        return [1]
    pairs = zip(symbols[:half], symbols[half : 2 * half], strict=True)
    return [b if a == 2 else a for a, b in pairs if 2 in (a, b)]


ANSWERS = {
    "even-pairs": lambda s: [sum(a != b for a, b in itertools.pairwise(s)) % 2],
    "modular-arithmetic": lambda s: [eval("".join("01234+-*"[k] for k in s)) % 5],
    "parity-check": lambda s: [s.count(1) % 2],
    "cycle-navigation": lambda s: [(s.count(2) - s.count(0)) % 5],
    "stack-manipulation": on_stack,
    "reverse-string": lambda s: [s[-1 - k] for k in range(len(s))],
    "modular-arithmetic-brackets": lambda s: [eval("".join("01234+-*()"[k] for k in s)) % 5],
    "solve-equation": solved,
    "duplicate-string": lambda s: [s[k % len(s)] for k in range(2 * len(s))],
    "missing-duplicate-string": missed,
    "odds-first": lambda s: [s[k] for k in sorted(range(len(s)), key=lambda k: (1 - k % 2, k))],
    "binary-addition": added,
    "binary-multiplication": multiplied,
    "compute-sqrt": rooted,
    "bucket-sort": lambda s: [k for k in range(5) for one in s if one == k],
}


@cases("chomsky_tasks")
def test_answers_are_those_of_the_originals(case: str, golden) -> None:
    arrays = Golden(case, golden(case), torch.float64)
    compared = 0
    for name in arrays.meta["hyper_parameters"]["tasks"]:
        task = ChomskyHierarchy(rule=name.replace("_", "-"))
        for length in arrays.meta["hyper_parameters"]["lengths"]:
            if f"in.{name}.{length}" not in arrays:
                continue
            problems = task.ask(arrays[f"in.{name}.{length}"])
            wanted, counted = (
                torch.tensor(arrays[f"out.{name}.{length}{end}"]).reshape(len(problems), -1)
                for end in ("", ".counted")
            )
            shown = problems.index.shape[1] - wanted.shape[1]
            assert (problems.target[:, :shown] == -1).all()
            found = problems.target[:, shown:]
            assert torch.equal(found, torch.where(counted.bool(), wanted, -1))
            answers = task.oracle(problems)[:, shown:].argmax(-1)
            assert torch.equal(answers[counted > 0], wanted[counted > 0])
            compared += 1
    assert compared >= len(RULES)


@every_rule
def test_drawn_sets_are_frozen_for_this_version(rule: str) -> None:
    assert task_of(rule).version == 1
    assert digest(drawn(rule)) == CELLS[rule]


@every_rule
def test_answers_are_those_of_a_loop_and_stand_at_the_marks(rule: str) -> None:
    task = task_of(rule)
    for problems in drawn(rule).values():
        some = problems[:40]
        lengths = some.latent["lengths"].tolist()
        mark = task.item_shape[0]
        for row, string in enumerate(strings_of(some, task)):
            short = rule == "modular-arithmetic" and lengths[row] % 2 == 0
            assert len(string) == lengths[row] - short
            answer, index = ANSWERS[rule](string), some.index[row]
            target = some.target[row].tolist()
            assert target[len(string) : len(string) + len(answer)] == answer
            assert [place for place, one in enumerate(target) if one >= 0] == [
                len(string) + k for k in range(len(answer))
            ]
            marks = (index == mark).nonzero()[:, 0].tolist()
            assert marks == [*range(len(string), len(string) + len(marks))]
            assert len(marks) == RULES[rule].slots(len(string)) >= len(answer)
            assert (index[len(string) + len(marks) :] == 0).all()
        some = some.compact()
        assert task.score(task.oracle(some), some).tolist() == [1.0] * len(some)


@every_rule
def test_lengths_are_uniform_in_their_range(rule: str) -> None:
    sets = task_of(rule, training_strings=4_000).draw(stream(1))
    counts = np.bincount(sets[TRAINING].latent["lengths"].numpy(), minlength=41)
    assert counts[0] == 0
    assert abs(counts[1:] - 100).max() < 45
    assert {*sets["length-41-60"].latent["lengths"].tolist()} <= {*range(41, 61)}
    assert {*sets["length-80"].latent["lengths"].tolist()} == {80}
    assert [len(problems) for problems in sets.values()] == [4_000, 60, 60, 20]


@every_rule
@pytest.mark.parametrize("length", [1, 2, 3, 8, 21])
def test_the_floor_is_the_share_of_the_most_frequent_answers(rule: str, length: int) -> None:
    task = task_of(rule, training_lengths=(length, length))
    target = task.sample(TRAINING, 3_000, stream(3).numpy()).target[:, -task.length + 1 :]
    counted = target >= 0
    symbols = torch.arange(task.num_outputs)
    best = (target[..., None] == symbols).sum(0).argmax(1)
    share = (((target == best) & counted).sum(1) / counted.sum(1)).mean()
    assert task.chance(TRAINING) == pytest.approx(float(share), abs=0.035)


def test_floors_are_exact_where_the_text_says_so() -> None:
    halves = ("parity-check", "reverse-string", "duplicate-string", "odds-first", "even-pairs")
    for rule in halves:
        assert task_of(rule).chance("length-41-60") == 0.5
    for rule in ("even-pairs", "missing-duplicate-string"):
        assert task_of(rule).chance(TRAINING) == pytest.approx((1 + 39 / 2) / 40)
    assert task_of("solve-equation").chance(VALIDATION) == pytest.approx((2 + 38 / 5) / 40)
    assert task_of("modular-arithmetic").chance("length-80") == pytest.approx(0.2, abs=1e-6)
    assert ChomskyHierarchy(rule="bucket-sort").chance("length-41-500") > 0.85


def test_distances_are_mean_lengths_beyond_training() -> None:
    regimes = {one.name: one.distance for one in ChomskyHierarchy().regimes}
    assert regimes == {
        TRAINING: 0.0,
        VALIDATION: 0.0,
        "length-41-500": 230.5,
        "length-10000": 9_960.0,
    }


def texts(rule: str, length: int, characters: str) -> list[str]:
    task = task_of(rule, training_lengths=(length, length))
    strings = strings_of(task.sample(TRAINING, 1_000, stream(5).numpy()), task)
    return ["".join(characters[symbol] for symbol in string) for string in strings]


@pytest.mark.parametrize("rule", ["binary-addition", "binary-multiplication"])
def test_two_numbers_are_positive_and_of_any_length(rule: str) -> None:
    for text in (found := texts(rule, 7, "01#")):
        first, second = text.split("#")
        assert "1" in first
        assert "1" in second
    middles = np.bincount([text.index("#") for text in found], minlength=7)
    assert middles[[0, 6]].tolist() == [0, 0]
    assert abs(middles[1:6] - 200).max() < 60
    assert {*texts(rule, 1, "01#")} == {"0"}
    assert {*texts(rule, 2, "01#")} == {"00", "01", "10"}
    assert {*texts("compute-sqrt", 2, "01")} == {"01", "10", "11"}


def test_expressions_have_a_bracket_around_every_operation() -> None:
    assert {*texts("modular-arithmetic-brackets", 3, "01234+-*()=")} == {f"({d})" for d in range(5)}
    found = texts("modular-arithmetic-brackets", 11, "01234+-*()=")
    assert {text.count("(") == text.count(")") for text in found} == {True}
    assert {len(text) for text in found} == {11}
    # The first part has 1 … 7 symbols; operations of the outer bracket are equally likely.
    outer: dict[str, int] = {}
    for text in found:
        depth = np.cumsum([(one == "(") - (one == ")") for one in text])
        signs = [k for k in np.flatnonzero(depth == 1)[1:] if text[k] in "+-*"]
        operation = text[signs[text[1] == "-"]]
        outer[operation] = outer.get(operation, 0) + 1
    assert all(abs(count - 333) < 75 for count in outer.values())
    equations = texts("solve-equation", 9, "01234+-()x=")
    assert {text[-2] for text in equations} == {"="}
    assert {text.count("x") for text in equations} == {1}


def test_stacks_have_any_height_and_a_symbol_may_be_missing_anywhere() -> None:
    heights = [
        len(text) - len(text.lstrip("01")) for text in texts("stack-manipulation", 6, "01234")
    ]
    counts = np.bincount(heights, minlength=7)
    assert counts[[0, 6]].tolist() == [0, 0]
    assert abs(counts[1:6] - 200).max() < 60
    found = texts("missing-duplicate-string", 7, "01.#")
    assert {text[6] for text in found} == {"#"}
    assert abs(np.bincount([text.index(".") for text in found]) - 1_000 / 6).max() < 55
    assert {*texts("missing-duplicate-string", 1, "01.#")} == {"1"}


def test_the_score_is_the_share_of_answer_positions_up_to_the_end_mark() -> None:
    task = ChomskyHierarchy(rule="stack-manipulation")
    problems = task.ask(np.array([[0, 1, 2], [1, 3, 4]]))
    assert problems.target.tolist() == [[-1, -1, -1, 0, 2, -1, -1], [-1, -1, -1, 1, 0, 1, 2]]
    outputs = torch.zeros(2, 7, 3)
    outputs[:, :, 2] = 1.0
    assert task.score(outputs, problems).tolist() == [0.5, 0.25]
    outputs[1, 6] = 0.0  # a tie
    outputs[0, 4] = math.nan
    assert task.score(outputs, problems).tolist() == [0.0, 0.0]
    uniform = task.loss(torch.zeros(2, 7, 3), problems)
    assert uniform.tolist() == pytest.approx([math.log(3)] * 2)
    with pytest.raises(ValueError, match=r"must be of \(batch, time, outputs\) = \(2, 7, 3\)"):
        task.loss(outputs[:, :, :2], problems)


@pytest.mark.parametrize(
    ("rule", "strings", "message"),
    [
        ("parity-check", [[0, 2]], "strings must be integers .* from 0 to 1, got 0 to 2"),
        ("parity-check", [[-1]], "got -1 to -1"),
        ("parity-check", [0, 1], r"got int64 \(2,\)"),
        ("parity-check", [[]], r"got float64 \(1, 0\)"),
        ("parity-check", [[0.5]], "got float64"),
        ("modular-arithmetic", [[1, 5]], r"must be arithmetic expressions, got '1\+'"),
        ("modular-arithmetic", [[1, 2]], "must be arithmetic expressions, got '12'"),
        ("modular-arithmetic", [[5, 2]], r"got '\+2'"),
        ("modular-arithmetic", [[1, 8, 2]], "got '1 2'"),
        ("modular-arithmetic-brackets", [[8, 1]], r"got '\(1'"),
        ("modular-arithmetic-brackets", [[1, 9]], r"got '1\)'"),
        ("modular-arithmetic-brackets", [[8, 9]], r"got '\(\)'"),
        ("modular-arithmetic-brackets", [[1, 8, 2, 9]], r"got '1\(2\)'"),
        ("modular-arithmetic-brackets", [[8, 1, 9, 2]], r"got '\(1\)2'"),
        ("modular-arithmetic-brackets", [[7, 2]], r"got '\*2'"),
        ("solve-equation", [[9, 5, 9, 10, 1]], r"equations with one x, got 'x\+x=1'"),
        ("solve-equation", [[9, 5, 1]], r"equations with one x, got 'x\+1'"),
        ("missing-duplicate-string", [[0, 1, 0, 1]], "must have one missing symbol"),
        ("binary-addition", [[0, 1, 1]], "must have one mark, 2, between two numbers"),
    ],
)
def test_strings_that_are_none_of_the_rule_are_refused(
    rule: str, strings: list[object], message: str, unchecked: None
) -> None:
    with pytest.raises(ValueError, match=message):
        ChomskyHierarchy(rule=rule).ask(np.array(strings))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"rule": "sorting"}, "rule must be .*, got 'sorting'"),
        ({"training_lengths": (9, 8)}, "training_lengths must be an int 9…"),
        ({"training_lengths": (0, 8)}, r"training_lengths\[0\] must be an int 1…"),
        ({"test_lengths": ((40, 50),), "test_strings": (9,)}, "test_lengths must be an int 41…"),
        ({"test_lengths": ((90, 95), (50, 60))}, "test_lengths must be an int 96…"),
        ({"test_strings": (9,)}, r"a number for each of the 2 tests, got \(9,\)"),
        ({"training_strings": 0}, "training_strings must be an int"),
    ],
)
def test_bad_fields_are_named(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ChomskyHierarchy(**fields)


def test_an_unknown_regime_is_named() -> None:
    with pytest.raises(UnknownNameError, match="unknown regime 'length-9'"):
        ChomskyHierarchy().chance("length-9")
