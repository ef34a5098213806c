"""The harder variants: targets, splits, balance, shortcuts, and frozen versions."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from each import each
from farfield.core import Problems, stream
from farfield.tasks import (
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
from tasks.rules import (
    CELLS,
    FEWEST,
    identities,
    pattern_of,
    rederived,
    shapes_shown,
)
from tasks.sets import drawn, own_shapes, shown

VARIANTS = (AllSame, TripleMatchToSample, DistributionOfN, IdentityRulesMiddle, TintedSameDifferent)

every_cell = each("task", [task for task in CELLS if isinstance(task, VARIANTS)])


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


def test_lengths_and_contexts_follow_the_fields() -> None:
    assert DistributionOfN(row_length=3).length == 9
    assert DistributionOfN(row_length=20).length == 43
    assert AllSame(num_images=20).length == 20
    assert TripleMatchToSample().segments == ((0, 1, 2), (3, 4, 5), (6, 7, 8))
    others = (AllSame(), DistributionOfN(), IdentityRulesMiddle(), TintedSameDifferent())
    assert [len(task.segments) for task in others] == [1, 1, 1, 1]


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


# --- The cards -----------------------------------------------------------------------------------


def table_of(cls: type, head: str) -> list[list[str]]:
    """Cells of the table of a card whose head starts with a word, without its rule."""
    lines = [line.strip() for line in cls.__doc__.splitlines()]
    start = next(number for number, line in enumerate(lines) if line.startswith(head))
    rows = itertools.takewhile(lambda line: line.startswith("|"), lines[start:])
    return [[cell.strip() for cell in row.split("|")[1:-1]] for row in rows if "---" not in row]


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
