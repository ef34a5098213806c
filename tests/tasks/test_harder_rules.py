"""The harder variants: targets, splits, balance, shortcuts, and frozen versions."""

from __future__ import annotations

import dataclasses
import itertools
import math
import time
from collections import Counter
from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from each import each
from farfield.core import Problems, stream
from farfield.core.internal import UnknownNameError
from farfield.tasks import (
    TASKS,
    TRAINING,
    AllSame,
    DistributionOfN,
    GlyphSet,
    IdentityRulesMiddle,
    ProblemTask,
    SameDifferent,
    TintedSameDifferent,
    TripleMatchToSample,
)
from farfield.tasks._rules._same_different import subsets
from tasks.sets import digest, own_shapes, rows_of, shown

# Problems in training and in each test, and the head of SHA-256 over everything drawn for run 0; a
# change of it raises `version`.
CELLS: dict[ProblemTask, tuple[int, int, str]] = {
    AllSame(): (10_000, 10_000, "cfd5d6ccde8e0ce8"),
    AllSame(withheld=50): (10_000, 10_000, "f2b23a2dee5ce234"),
    AllSame(withheld=85): (10_000, 10_000, "1e20afcf8c2d04e8"),
    AllSame(withheld=95): (1_800, 10_000, "8aa20cb807c8c7ba"),
    AllSame(withheld=98): (180, 10_000, "2903223a45b066d0"),
    AllSame(num_images=2, withheld=50): (4_900, 4_900, "5a453abf974c7a26"),
    AllSame(num_images=20, withheld=85): (10_000, 10_000, "b2b17caa71fa4517"),
    TripleMatchToSample(): (10_000, 10_000, "30de1bba7bcf1c0f"),
    TripleMatchToSample(withheld=50): (10_000, 10_000, "48660ae3ee58717c"),
    TripleMatchToSample(withheld=85): (10_000, 10_000, "507f99149a09cf9d"),
    TripleMatchToSample(withheld=94): (8_640, 10_000, "901c795eb4c13574"),
    TripleMatchToSample(withheld=50, all_patterns=True): (10_000, 10_000, "22558c115fb3f3f3"),
    DistributionOfN(): (10_000, 10_000, "f4b19de3cc8fdb98"),
    DistributionOfN(withheld=50): (10_000, 10_000, "d2ae02ff642dd98e"),
    DistributionOfN(withheld=85): (10_000, 10_000, "a998d93ce079f00e"),
    DistributionOfN(row_length=3, withheld=95): (360, 10_000, "1fcac83daf98f66a"),
    DistributionOfN(row_length=4, withheld=95): (2_880, 10_000, "56baa2a20e4d4bb7"),
    DistributionOfN(row_length=20): (10_000, 10_000, "6aee10883fc81a57"),
    DistributionOfN(row_length=20, withheld=79): (10_000, 10_000, "e7c4b0ed672e9b8a"),
    IdentityRulesMiddle(): (10_000, 10_000, "dd15e5efdefb2a28"),
    IdentityRulesMiddle(withheld=50): (10_000, 10_000, "5c297d74cce7ed26"),
    IdentityRulesMiddle(withheld=85): (10_000, 10_000, "8c94e5831efa6add"),
    IdentityRulesMiddle(withheld=95): (10_000, 10_000, "d4a675384c1dfb50"),
    IdentityRulesMiddle(withheld=96): (2_304, 10_000, "8c540656232fd3e8"),
    TintedSameDifferent(): (18_810, 990, "7d5a5309d2a035fe"),
    TintedSameDifferent(withheld=50): (4_900, 4_900, "852b1430ef43cbc0"),
    TintedSameDifferent(withheld=85): (420, 10_000, "58d09d0b333a76af"),
    TintedSameDifferent(withheld=95): (40, 10_000, "c8d6fc25cf17ec32"),
    TintedSameDifferent(withheld=98): (4, 10_000, "6e05aa1c99c7b9c0"),
}
VARIANTS = (AllSame, TripleMatchToSample, DistributionOfN, IdentityRulesMiddle, TintedSameDifferent)
BINARY = (AllSame, TripleMatchToSample, TintedSameDifferent)
FEWEST = {
    AllSame: 2,
    TripleMatchToSample: 6,
    DistributionOfN: 9,
    IdentityRulesMiddle: 4,
    TintedSameDifferent: 2,
}


every_cell = each("task", list(CELLS))
whole_cell = each("task", [cls(withheld=50) for cls in VARIANTS])
every_variant = pytest.mark.parametrize("cls", VARIANTS, ids=[cls.name for cls in VARIANTS])


@cache
def drawn(task: ProblemTask, seed: int = 0) -> dict[str, Problems]:
    return task.draw(stream(seed))


def last_test(task: ProblemTask, seed: int = 0) -> Problems:
    """The farthest test; of the tinted task the one whose tint says nothing."""
    return drawn(task, seed)["tint-random" if "tinted" in task.name else task.regimes[-1].name]


def shapes_shown(task: ProblemTask, problems: Problems) -> set[int]:
    tints = 2 if isinstance(task, TintedSameDifferent) else 1
    return {item % (len(problems.items) // tints) for item in shown(problems)}


def identities(problems: Problems) -> list[bytes]:
    """What makes a problem another one: of distribution-of-n the array, else the images."""
    latent = problems.latent
    array = "rows" in latent and "rule" not in latent
    columns = latent["rows"] if array else latent.get("shapes", problems.index)
    return rows_of(columns.flatten(1))


def pattern_of(row: list[int]) -> str:
    letters = {image: "ABC"[number] for number, image in enumerate(dict.fromkeys(row))}
    return "".join(letters[image] for image in row)


def rederived(task: ProblemTask, problems: Problems, row: int) -> int:
    """The target from the latent description alone, by the words of the card."""
    latent = {name: column[row].tolist() for name, column in problems.latent.items()}
    places = problems.index[row].tolist()
    match task:
        case TintedSameDifferent():
            first, second = latent["shapes"]
            moved = len(problems.items) // 2 * latent["tint"]
            assert places == [first + moved, second + moved]
            return int(first != second)
        case AllSame():
            counts = Counter(latent["shapes"])
            assert places == latent["shapes"]
            assert len(counts) == 1 + (latent["odd"] > 0)
            assert min(counts.values()) == (latent["odd"] or task.num_images)
            return int(len(counts) > 1)
        case TripleMatchToSample():
            source, matching, other = latent["triples"]
            names = ("AAA", "AAB", "ABA", "ABB", "ABC")
            assert pattern_of(source) == pattern_of(matching) == names[latent["relation"]]
            assert pattern_of(other) == names[latent["other"]] != pattern_of(source)
            held = [image for triple in latent["triples"] for image in set(triple)]
            assert len(held) == len(set(held))
            assert places[:3] == source
            assert sorted([places[3:6], places[6:]]) == sorted([matching, other])
            return [places[3:6], places[6:]].index(matching)
        case DistributionOfN():
            first, second = latent["rows"]
            assert set(first) == set(second)
            assert len(set(first)) == task.row_length
            assert len(set(latent["choices"])) == 4
            assert len(set(latent["choices"]) - set(first)) == 1
            assert places == [*first, *second[:-1], *latent["choices"]]
            return latent["choices"].index(second[-1])
        case IdentityRulesMiddle():
            first, second = latent["rows"]
            pattern = ("ABA", "AAA", "ABB", "AAB")[latent["rule"]]
            assert places == [*first, second[0], second[2], *latent["choices"]]
            fitting = [
                choice
                for choice, image in enumerate(latent["choices"])
                if pattern_of([second[0], image, second[2]]) == pattern_of(first) == pattern
                and image not in first
            ]
            assert fitting == [latent["choices"].index(second[1])]
            assert not set(first) & set(second)
            return fitting[0]
    raise AssertionError(task)


def rule_read_off_pixels(task: ProblemTask, pictures: np.ndarray) -> int:
    """The answer from the pictures alone, one problem at a time."""

    def same(first: int, second: int) -> bool:
        return bool((pictures[first] == pictures[second]).all())

    def relations(start: int) -> list[bool]:
        return [same(start, start + 1), same(start, start + 2), same(start + 1, start + 2)]

    places = range(len(pictures))
    match task:
        case TintedSameDifferent() | AllSame():
            return int(not all(same(0, place) for place in places))
        case TripleMatchToSample():
            return int(relations(0) == relations(6))
        case DistributionOfN(row_length=length):
            second = places[length:-4]
            (missing,) = [p for p in range(length) if not any(same(p, q) for q in second)]
            return next(choice for choice in range(4) if same(missing, choice - 4 + len(places)))
    if same(0, 1) or same(1, 2):
        wanted = 3 if same(0, 1) else 4
        return next(choice for choice in range(4) if same(wanted, 5 + choice))
    return next(c for c in range(4) if not any(same(place, 5 + c) for place in range(5)))


@every_cell
def test_sets_have_the_sizes_of_the_cards(task: ProblemTask) -> None:
    training, *tests = (len(problems) for problems in drawn(task).values())
    assert (training, *set(tests)) == CELLS[task][:2]


@every_cell
def test_drawn_sets_are_frozen_for_this_version(task: ProblemTask) -> None:
    assert task.version == 1
    assert digest(drawn(task)) == CELLS[task][2]


@whole_cell
def test_drawing_again_gives_the_same_and_another_seed_another(task: ProblemTask) -> None:
    again = digest(task.draw(stream(0)))
    assert again == digest(drawn(task))
    assert again != digest(task.draw(stream(1)))


@every_cell
def test_regimes_share_no_shape_or_no_problem(task: ProblemTask) -> None:
    training, *tests = drawn(task).values()
    for test in tests:
        assert not set(identities(training)) & set(identities(test))
        if task.withheld:
            assert not shapes_shown(task, training) & shapes_shown(task, test)
            assert len(shapes_shown(task, training)) == 100 - task.withheld
            assert len(shapes_shown(task, test)) == task.withheld


@every_cell
def test_targets_follow_from_the_latent_description(task: ProblemTask) -> None:
    for problems in drawn(task).values():
        problems.check_index()
        rows = range(0, len(problems), max(1, len(problems) // 300))
        expected = [rederived(task, problems, row) for row in rows]
        assert expected == problems.target[list(rows)].tolist()


@every_cell
def test_the_oracle_is_always_right_and_reads_pixels(task: ProblemTask) -> None:
    for problems in drawn(task).values():
        outputs = task.oracle(problems)
        assert outputs.shape == (len(problems), task.num_outputs)
        assert (task.score(outputs, problems) == 1).all()
        few = problems[:20]
        pixels = [rule_read_off_pixels(task, pictures) for pictures in few.sequences().numpy()]
        assert pixels == few.target.tolist()


@every_variant
def test_the_oracle_does_not_look_at_numbers_or_answers(cls: type) -> None:
    task = cls(withheld=50)
    test = last_test(task)
    count = len(test.items)
    doubled = Problems(
        items=torch.cat([test.items, test.items]),
        index=test.index
        + count * torch.arange(test.index.numel()).view_as(test.index) % (2 * count),
        target=torch.zeros_like(test.target),
    )
    assert torch.equal(task.oracle(doubled), task.oracle(test))


@every_cell
def test_answers_are_balanced(task: ProblemTask) -> None:
    kinds = max(2, task.num_outputs)
    exact = isinstance(task, AllSame | TintedSameDifferent)
    for problems in drawn(task).values():
        counts = torch.bincount(problems.target, minlength=kinds).double()
        expected = len(problems) / kinds
        allowed = 0 if exact else 4 * math.sqrt(expected * (1 - 1 / kinds))
        assert len(counts) == kinds
        assert (counts - expected).abs().max() <= allowed


@every_cell
def test_kinds_have_equal_parts(task: ProblemTask) -> None:
    for problems in drawn(task).values():
        latent = problems.latent
        kinds = {
            "all-same": latent.get("odd"),
            "triple-match-to-sample": 5 * latent.get("relation", 0) + latent.get("other", 0),
            "identity-rules-middle": latent.get("rule"),
        }.get(task.name, problems.target)
        parts = Counter(kinds.tolist())
        if task.name == "all-same":
            assert parts.pop(0) * 2 == len(problems)
            assert set(parts) == set(range(1, task.num_images // 2 + 1))
        if task.name == "triple-match-to-sample":
            assert len(parts) == (20 if task.all_patterns else 6)
        if task.name != "distribution-of-n":
            assert max(parts.values()) - min(parts.values()) <= 1


@every_cell
def test_only_what_the_cards_repeat_is_repeated(task: ProblemTask) -> None:
    """And that evenly, but for "same" pairs of the tinted task, which are drawn."""
    for problems in drawn(task).values():
        latent = problems.latent
        one_kind = torch.zeros_like(problems.target)
        pairs = problems.target if isinstance(task, TintedSameDifferent) else one_kind
        kinds = latent.get("odd", latent.get("rule", pairs))
        for kind in kinds.unique().tolist():
            times = Counter(identities(problems[kinds == kind])).values()
            allowed = {
                "all-same": True,
                "identity-rules-middle": kind == 1,
                "tinted-same-different": kind == 0,
            }
            if not allowed.get(task.name, False):
                assert set(times) == {1}
            elif task.name != "tinted-same-different":
                assert max(times) - min(times) <= 1


def test_whole_spaces_are_shown_whole() -> None:
    training = drawn(TripleMatchToSample(withheld=94))[TRAINING]
    assert len(set(identities(training))) == 6 * 2 * math.perm(6, 6)
    training = drawn(DistributionOfN(row_length=3, withheld=95))[TRAINING]
    assert len(set(identities(training))) == 6 * math.perm(5, 3)
    assert len({tuple(row) for row in training.latent["choices"].tolist()}) > 100
    training = drawn(AllSame(withheld=98))[TRAINING]
    assert len(set(identities(training))) == 2**6
    training = drawn(AllSame(num_images=2, withheld=50))[TRAINING]
    assert len(set(identities(training))) == 50**2


def test_odd_images_stand_at_any_place() -> None:
    for problems in drawn(AllSame(withheld=50)).values():
        index = problems.index
        alike = (index[:, :, None] == index[:, None, :]).sum(dim=2)
        for odd in (1, 2):
            kind = problems.latent["odd"] == odd
            counts = (alike[kind] == odd).sum(dim=0).double()
            expected = int(kind.sum()) * odd / 6
            assert (counts - expected).abs().max() < 4 * math.sqrt(expected * (1 - odd / 6))


@pytest.mark.parametrize("places, size", [(1, 1), (5, 2), (6, 3), (9, 1), (4, 4)])
def test_every_number_names_a_set_of_places_once(places: int, size: int) -> None:
    held = subsets(np.arange(math.comb(places, size)), places, size)
    named = [tuple(np.flatnonzero(row)) for row in held]
    assert named == list(itertools.combinations(range(places), size))


def test_match_to_sample_never_repeats_a_shape_between_triples() -> None:
    for problems in drawn(TripleMatchToSample(withheld=50)).values():
        assert {len(set(row)) for row in problems.index.tolist()} == {6}


def test_choices_are_drawn_from_all_that_may_stand_there() -> None:
    task = DistributionOfN(withheld=85)
    for problems in drawn(task).values():
        offered = problems.latent["choices"][:, :, None]
        first, second = problems.latent["rows"].unbind(dim=1)
        strange = (offered != first[:, None, :]).all(dim=2)
        assert (strange.sum(dim=1) == 1).all()
        side = sorted(shown(problems))
        counts = torch.bincount(problems.latent["choices"][strange], minlength=100)[side].double()
        expected = len(problems) / len(side)
        assert (counts - expected).abs().max() < 4.5 * math.sqrt(expected)
        others = (offered == second[:, None, :]).any(dim=1).double().mean(dim=0)
        assert others[-1] == 1
        tolerance = 4.5 * math.sqrt(2 / 7 * 5 / 7 / len(problems))
        assert (others[:-1] - 2 / 7).abs().max() < tolerance


# --- Shortcuts -----------------------------------------------------------------------------------


@every_variant
def test_no_single_position_tells_the_answer(cls: type) -> None:
    """The most frequent answer for each picture at each place, counted in five runs, tried in five.

    The runs withhold other shapes each, and every shape is on either side in some of them. Of the
    tinted task the sets are those whose tint says nothing; the others are tried below.
    """
    task = cls(withheld=50)
    learned, tried = ([last_test(task, seed) for seed in range(5 * k, 5 * k + 5)] for k in (0, 1))
    answers = max(2, task.num_outputs)
    for place in range(task.length):
        votes = torch.zeros(len(learned[0].items), answers)
        for problems in learned:
            votes.index_put_(
                (problems.index[:, place], problems.target), torch.ones(()), accumulate=True
            )
        right = total = 0
        for test in tried:
            right += int((votes.argmax(dim=1)[test.index[:, place]] == test.target).sum())
            total += len(test)
        chance = task.chance(TRAINING)
        assert abs(right / total - chance) < 4 * math.sqrt(chance * (1 - chance) / total)


def share(right: torch.Tensor) -> float:
    return float(right.double().mean())


def about(expected: float, problems: Problems) -> object:
    return pytest.approx(expected, abs=4 * math.sqrt(0.25 / len(problems)))


def test_the_number_of_different_images_tells_triples_nothing() -> None:
    """Of the whole problem, of each triple, and of triples compared with the source."""
    for problems in drawn(TripleMatchToSample(withheld=50)).values():
        triples = [problems.index[:, start : start + 3].tolist() for start in (0, 3, 6)]
        assert {len(set(row)) for triple in triples for row in triple} == {2}
        assert {len(set(row)) for row in problems.index.tolist()} == {6}


def test_with_all_patterns_the_number_of_different_images_gets_what_the_card_says() -> None:
    problems = drawn(TripleMatchToSample(withheld=50, all_patterns=True))["withheld-50"]
    counts = torch.tensor(
        [
            [len(set(row[start : start + 3])) for start in (0, 3, 6)]
            for row in problems.index.tolist()
        ]
    )
    first, second = (counts[:, 1:] == counts[:, :1]).unbind(dim=1)
    guess = torch.arange(len(problems)) % 2
    answer = torch.where(first == second, guess, second.long())
    assert share(answer == problems.target) == about(0.85, problems)


@pytest.mark.parametrize("first, second", [(0, 1), (0, 2), (1, 2)])
def test_two_places_of_each_triple_get_five_sixths(first: int, second: int) -> None:
    problems = drawn(TripleMatchToSample(withheld=50))["withheld-50"]
    triples = problems.index.view(-1, 3, 3)
    alike = triples[:, :, first] == triples[:, :, second]
    one, other = (alike[:, 1:] == alike[:, :1]).unbind(dim=1)
    answer = torch.where(one == other, torch.arange(len(problems)) % 2, other.long())
    assert share(answer == problems.target) == about(5 / 6, problems)


@pytest.mark.parametrize("all_patterns", [False, True])
def test_targets_without_a_source_tell_nothing(all_patterns: bool) -> None:
    task = TripleMatchToSample(withheld=50, all_patterns=all_patterns)
    problems = drawn(task)["withheld-50"]
    patterns = [(pattern_of(row[3:6]), pattern_of(row[6:])) for row in problems.index.tolist()]
    for pair, count in Counter(patterns).items():
        rows = torch.tensor([found == pair for found in patterns])
        expected, spread = count / 2, math.sqrt(count / 4)
        assert abs(int(problems.target[rows].sum()) - expected) < 4 * spread


@pytest.mark.parametrize("row_length", [3, 8, 20])
def test_each_row_alone_gets_the_same_at_every_length(row_length: int) -> None:
    problems = drawn(DistributionOfN(row_length=row_length, withheld=50))["withheld-50"]
    choices = problems.index[:, -4:, None]
    first = (choices == problems.index[:, None, :row_length]).any(dim=2)
    second = (choices == problems.index[:, None, row_length:-4]).any(dim=2)
    assert (first.sum(dim=1) == 3).all()
    assert (second.sum(dim=1) == 2).all()
    seen_once = (choices == problems.index[:, None, :-4]).sum(dim=2) == 1
    assert torch.equal(seen_once.int().argmax(dim=1), problems.target)


def test_the_second_row_alone_gets_half_of_the_missing_middles() -> None:
    problems = drawn(IdentityRulesMiddle(withheld=50))["withheld-50"]
    first, last, choices = problems.index[:, 3], problems.index[:, 4], problems.index[:, 5:]
    for end in (first, last):
        answer = (choices == end[:, None]).int().argmax(dim=1)
        assert share(answer == problems.target) == about(0.5, problems)
    rule = problems.latent["rule"]
    assert set(rule[first == last].tolist()) == {0, 1}
    new = (choices[:, :, None] != problems.index[:, None, :5]).all(dim=2).sum(dim=1)
    assert {int(number): set(new[rule == number].tolist()) for number in range(4)} == {
        0: {1},
        1: {2},
        2: {0},
        3: {0},
    }


@pytest.mark.parametrize(
    "places, expected", [([0, 1], 0.744), ([1, 4], 0.744), ([*range(5)], 0.972)]
)
def test_some_of_the_places_get_what_the_card_of_all_same_says(
    places: list[int], expected: float
) -> None:
    problems = drawn(AllSame(withheld=50))["withheld-50"]
    looked_at = problems.index[:, places]
    answer = (looked_at != looked_at[:, :1]).any(dim=1)
    assert share(answer.long() == problems.target) == about(expected, problems)


def by_tint(problems: Problems) -> torch.Tensor:
    """The outputs of the shortcut: the first picture is dark, so they differ."""
    dark = problems.sequences()[:, 0].flatten(1).amin(dim=1) < 0.5
    return dark.float()[:, None] * 2 - 1


@pytest.mark.parametrize("withheld", [0, 50, 85, 98])
def test_the_tint_alone_is_right_in_training_and_lost_at_test(withheld: int) -> None:
    task = TintedSameDifferent(withheld=withheld)
    scores = {
        regime: share(task.score(by_tint(problems), problems))
        for regime, problems in drawn(task).items()
    }
    assert scores == {TRAINING: 1, "tint-kept": 1, "tint-random": 0.5, "tint-reversed": 0}
    for regime in task.regimes:
        assert 100 * (1 - scores[regime.name]) == regime.distance


def test_tests_of_the_tint_have_the_same_pairs() -> None:
    training, kept, random, reverse = drawn(TintedSameDifferent(withheld=50)).values()
    plain = drawn(SameDifferent(withheld=50))
    assert torch.equal(training.latent["shapes"], plain[TRAINING].index)
    for problems in (kept, random, reverse):
        assert torch.equal(problems.index % 100, plain["withheld-50"].index)
        assert torch.equal(problems.target, plain["withheld-50"].target)
    for answer in (0, 1):
        misled = random.latent["tint"][random.target == answer] != answer
        assert abs(int(misled.sum()) * 2 - len(misled)) <= 1


def test_tints_keep_images_apart_and_within_the_greys() -> None:
    items = drawn(TintedSameDifferent(withheld=50))[TRAINING].items
    light, dark = items.chunk(2)
    assert (light.min(), light.max(), dark.min(), dark.max()) == (0.5, 1.0, 0.0, 0.5)
    assert torch.equal(2 * dark, GlyphSet.glyphs().items)
    assert torch.allclose(light - dark, torch.tensor(0.5))
    assert len(torch.unique(items.flatten(1), dim=0)) == 200


# --- The contract --------------------------------------------------------------------------------


@every_variant
def test_sets_come_in_random_order(cls: type) -> None:
    """Any stretch is a sample: halves have the same share of each answer."""
    test = last_test(cls(withheld=50))
    column = test.latent.get("odd", test.latent.get("rule", test.target))
    for kind in column.unique():
        shares = [share(half == kind) for half in column.chunk(2)]
        assert abs(shares[0] - shares[1]) < 4 * math.sqrt(4 * 0.25 / len(column))


@every_variant
def test_withheld_shapes_are_nested_and_differ_between_runs(cls: type) -> None:
    fewer, more = (
        shapes_shown(task, last_test(task)) for task in (cls(withheld=50), cls(withheld=85))
    )
    assert fewer < more
    task = cls(withheld=50)
    assert shapes_shown(task, last_test(task, 1)) != fewer


@settings(max_examples=60)
@given(
    cls=st.sampled_from(VARIANTS),
    size=st.integers(2, 8),
    spare=st.integers(0, 9),
    side=st.integers(0, 9),
    max_problems=st.integers(3, 300),
    seed=st.integers(0, 5),
)
def test_any_number_of_images_and_of_withheld_ones(
    cls: type, size: int, spare: int, side: int, max_problems: int, seed: int
) -> None:
    own = {
        AllSame: {"num_images": size},
        DistributionOfN: {"row_length": size + 1},
        TripleMatchToSample: {"all_patterns": size > 4},
    }.get(cls, {})
    fewest = {DistributionOfN: size + 2, TripleMatchToSample: 8 if size > 4 else 6}.get(
        cls, FEWEST[cls]
    )
    withheld = 0 if side == 0 else fewest + side - 1
    total = fewest + spare + withheld
    task = cls(withheld=withheld, max_problems=max_problems, shapes=own_shapes(total), **own)
    training, *tests = task.draw(stream(seed)).values()
    for test in tests:
        assert not set(identities(training)) & set(identities(test))
        assert not withheld or not shapes_shown(task, training) & shapes_shown(task, test)
    for problems in (training, *tests):
        problems.check_index()
        assert (task.score(task.oracle(problems), problems) == 1).all()
        expected = [rederived(task, problems, row) for row in range(len(problems))]
        assert expected == problems.target.tolist()
        if withheld:
            assert 0 < len(problems) <= max_problems


@every_variant
def test_own_images_are_what_problems_show(cls: type) -> None:
    shapes = own_shapes(24)
    task = cls(withheld=12, shapes=shapes, max_problems=50)
    assert task.item_shape == (2, 3)
    for problems in task.draw(stream(0)).values():
        if cls is TintedSameDifferent:
            assert torch.equal(2 * problems.items[24:], shapes.items)
        else:
            assert torch.equal(problems.items, shapes.items)


@every_cell
def test_the_contract_is_consistent(task: ProblemTask) -> None:
    assert isinstance(task, ProblemTask)
    assert TASKS[task.name] is type(task)
    assert hash(task) == hash(dataclasses.replace(task))
    assert task != dataclasses.replace(task, max_problems=9_999)
    places = [place for segment in task.segments for place in segment]
    assert sorted(places) == list(range(task.length))
    training, *tests = task.regimes
    assert (training.name, training.distance) == (TRAINING, 0)
    assert [test.distance for test in tests] == sorted(test.distance for test in tests)
    assert [regime.name for regime in task.regimes] == list(drawn(task))
    for regime, problems in drawn(task).items():
        assert problems.index.shape[1] == task.length
        assert problems.items.shape[1:] == task.item_shape
        assert 0 < task.chance(regime) < 1


def test_lengths_and_contexts_follow_the_fields() -> None:
    assert DistributionOfN(row_length=3).length == 9
    assert DistributionOfN(row_length=20).length == 43
    assert AllSame(num_images=20).length == 20
    assert TripleMatchToSample().segments == ((0, 1, 2), (3, 4, 5), (6, 7, 8))
    others = (AllSame(), DistributionOfN(), IdentityRulesMiddle(), TintedSameDifferent())
    assert [len(task.segments) for task in others] == [1, 1, 1, 1]


@every_variant
def test_guessing_scores_the_floor(cls: type) -> None:
    task = cls(withheld=50)
    test = last_test(task)
    outputs = torch.randn(len(test), task.num_outputs, generator=torch.Generator().manual_seed(0))
    chance = task.chance(task.regimes[-1].name)
    mean = share(task.score(outputs, test))
    assert abs(mean - chance) < 4 * math.sqrt(chance * (1 - chance) / len(test))


@every_variant
def test_the_loss_falls_toward_the_oracle(cls: type) -> None:
    task = cls(withheld=50)
    test = last_test(task)
    outputs = task.oracle(test)
    assert task.loss(20 * outputs, test).max() < 1e-6
    assert task.loss(-20 * outputs, test).min() > 1


@pytest.mark.parametrize("cls", BINARY)
def test_one_logit_and_two_say_the_same(cls: type) -> None:
    one, two = cls(withheld=50), cls(withheld=50, softmax=True)
    test = last_test(one)
    assert (one.num_outputs, two.num_outputs) == (1, 2)
    logit = torch.randn(len(test), 1, generator=torch.Generator().manual_seed(0)).double()
    pair = torch.cat([-logit / 2, logit / 2], dim=1)
    assert torch.allclose(one.loss(logit, test), two.loss(pair, test), rtol=1e-12)
    assert torch.equal(one.score(logit, test), two.score(pair, test))
    assert (two.score(two.oracle(test), test) == 1).all()
    assert digest(two.draw(stream(0))) == digest(drawn(one))


@every_variant
def test_a_sample_is_of_its_regime_and_repeats_with_its_generator(cls: type) -> None:
    task = cls(withheld=50)
    for regime, problems in drawn(task).items():
        sample = task.sample(regime, 500, stream(7, regime).numpy())
        assert len(sample) == 500
        assert shown(sample) <= shown(problems)
        assert set(identities(sample)) <= set(identities(problems))
        assert (task.score(task.oracle(sample), sample) == 1).all()
        again = task.sample(regime, 500, stream(7, regime).numpy())
        assert again.index.equal(sample.index)
        assert not task.sample(regime, 500, stream(8).numpy()).index.equal(sample.index)


@every_variant
def test_an_unknown_regime_is_named(cls: type) -> None:
    task = cls(withheld=50)
    last = task.regimes[-1].name
    with pytest.raises(UnknownNameError, match=f"did you mean '{last}'"):
        task.sample(last[:-1], 1, stream(0).numpy())
    with pytest.raises(UnknownNameError, match="did you mean 'training'"):
        task.chance("Training")
    with pytest.raises(ValueError, match=r"n must be an int 1….*, got 0"):
        task.sample(TRAINING, 0, stream(0).numpy())


@every_variant
def test_impossible_fields_are_refused_with_the_possible_range(unchecked: None, cls: type) -> None:
    fewest = FEWEST[cls]
    with pytest.raises(
        ValueError, match=rf"0 or {fewest}…{100 - fewest} for 100 .* got {101 - fewest}"
    ):
        cls(withheld=101 - fewest)
    for wrong in (-1, 1, 2.5, True, "50"):
        with pytest.raises(ValueError, match=rf"withheld must be .*got {wrong!r}"):
            cls(withheld=wrong)
    for wrong in (0, 2, 10.0):
        with pytest.raises(ValueError, match=rf"max_problems must be .*got {wrong}"):
            cls(max_problems=wrong)
    with pytest.raises(ValueError, match=f"at least {fewest} images, got {fewest - 1}"):
        cls(shapes=own_shapes(fewest - 1))
    with pytest.raises(ValueError, match="withheld must be 0 for"):
        cls(shapes=own_shapes(2 * fewest - 1), withheld=fewest)
    with pytest.raises(TypeError):
        cls(50)


@pytest.mark.parametrize("wrong", [-1, 0, 1, 21, 3.0, True, "8"])
def test_rows_that_are_too_short_or_too_long_are_refused(unchecked: None, wrong: object) -> None:
    with pytest.raises(ValueError, match=rf"num_images must be an int.*, got {wrong!r}"):
        AllSame(num_images=wrong)
    with pytest.raises(ValueError, match=rf"row_length must be an int.*, got {wrong!r}"):
        DistributionOfN(row_length=wrong)


def test_rows_need_enough_shapes_on_either_side() -> None:
    with pytest.raises(ValueError, match="withheld must be 0 or 21…79 for 100 images"):
        DistributionOfN(row_length=20, withheld=20)
    with pytest.raises(ValueError, match="an int that leaves 21 on either side, got 80"):
        DistributionOfN(row_length=20, withheld=80)
    with pytest.raises(ValueError, match="shapes must hold at least 21 images, got 20"):
        DistributionOfN(row_length=20, shapes=own_shapes(20))
    with pytest.raises(ValueError, match="withheld must be 0 or 8…92 for 100 images"):
        TripleMatchToSample(all_patterns=True, withheld=7)
    assert DistributionOfN(row_length=20, shapes=own_shapes(21), max_problems=9).length == 43


@whole_cell
def test_drawing_takes_little_time(task: ProblemTask) -> None:
    GlyphSet.glyphs()
    assert any(_seconds(task) < 0.2 for _ in range(3))


def _seconds(task: ProblemTask) -> float:
    start = time.process_time()
    task.draw(stream(0))
    return time.process_time() - start


# --- The cards -----------------------------------------------------------------------------------


def table_of(cls: type, head: str) -> list[list[str]]:
    """Cells of the table of a card whose head starts with a word, without its rule."""
    lines = [line.strip() for line in cls.__doc__.splitlines()]
    start = next(number for number, line in enumerate(lines) if line.startswith(head))
    rows = itertools.takewhile(lambda line: line.startswith("|"), lines[start:])
    return [[cell.strip() for cell in row.split("|")[1:-1]] for row in rows if "---" not in row]


@every_variant
def test_cards_have_their_headings(cls: type) -> None:
    headings = [
        "Task",
        "Worked example",
        "Regimes",
        "Score, floor and ceiling",
        "Known shortcuts",
        "Source and deviations",
    ]
    places = [cls.__doc__.index(f"**{heading}") for heading in headings]
    assert places == sorted(places)


@pytest.mark.parametrize(
    "cls, head",
    [
        (AllSame, "| k = 6 | m"),
        (TripleMatchToSample, "| | m"),
        (IdentityRulesMiddle, "| | m"),
        (TintedSameDifferent, "| | m"),
    ],
)
def test_the_sizes_on_the_cards_are_those_drawn(cls: type, head: str) -> None:
    names, *sets = table_of(cls, head)
    columns = [int(name.removeprefix("m = ")) for name in names[1:]]
    drawn_sizes = [CELLS[cls(withheld=withheld)][:2] for withheld in columns]
    on_card = zip(*([int(cell.replace(",", "")) for cell in row[1:]] for row in sets), strict=True)
    assert list(on_card) == drawn_sizes


def test_the_lengths_on_the_card_are_those_drawn() -> None:
    head, places, fewest, arrays = table_of(DistributionOfN, "| | n = 3")
    for column, name in enumerate(head[1:], start=1):
        images = int(fewest[column])
        task = DistributionOfN(
            row_length=int(name.removeprefix("n = ")),
            withheld=images,
            shapes=own_shapes(2 * images),
        )
        assert task.length == int(places[column])
        sizes = {len(problems) for problems in task.draw(stream(0)).values()}
        assert sizes == {int(arrays[column].replace(",", ""))}


def test_the_regimes_on_the_card_are_those_of_the_tint() -> None:
    task = TintedSameDifferent()
    rows = table_of(TintedSameDifferent, "| regime")[1:]
    assert [row[0].strip("`") for row in rows] == [regime.name for regime in task.regimes]
    assert [row[2] for row in rows] == [f"{regime.distance:g} %" for regime in task.regimes]
