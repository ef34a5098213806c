"""The four tasks of webb2021: sizes, splits, targets, balance, scores, and frozen versions."""

from __future__ import annotations

import math
from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from each import each
from farfield.core import Problems, stream
from farfield.tasks import (
    TRAINING,
    DistributionOfThree,
    IdentityRules,
    RelationalMatchToSample,
    SameDifferent,
)
from tasks.rules import CELLS, FEWEST, identities, rederived
from tasks.sets import drawn, own_shapes, shown

TABLES = {
    cls: {task.withheld: row[:2] for task, row in CELLS.items() if type(task) is cls}
    for cls in (SameDifferent, RelationalMatchToSample, DistributionOfThree, IdentityRules)
}
"""Tables 1–4 of webb2021: problems in training and test by m."""


def both(cls: type, withheld: int) -> tuple[Problems, Problems]:
    training, test = drawn(cls(withheld=withheld)).values()
    return training, test


def test_balance_is_as_the_text_says() -> None:
    for cls in (SameDifferent, RelationalMatchToSample):
        for withheld in TABLES[cls]:
            for problems in both(cls, withheld):
                relation = problems.latent["relation"]
                assert int(relation.sum()) * 2 == len(problems)
    for problems in (*both(IdentityRules, 0), *both(IdentityRules, 85)):
        counts = torch.bincount(problems.latent["rule"]).double()
        assert len(set(counts.tolist())) > 1
        assert (counts - 10_000 / 3).abs().max() < 4 * math.sqrt(10_000 * 2 / 9)
    training, _ = both(IdentityRules, 95)
    assert torch.bincount(training.latent["rule"]).tolist() == [2880, 2880, 2880]


def test_thirds_takes_exactly_a_third_of_each_pattern() -> None:
    for problems in IdentityRules(withheld=50, thirds=True).draw(stream(0)).values():
        assert torch.bincount(problems.latent["rule"]).tolist() == [3334, 3333, 3333]
        assert len(set(identities(problems))) == 10_000


@each("cls, withheld", [(cls, withheld) for cls, cells in TABLES.items() for withheld in cells])
def test_only_what_the_text_duplicates_is_duplicated(cls: type, withheld: int) -> None:
    for problems in both(cls, withheld):
        times = Counter(identities(problems))
        if cls is SameDifferent:
            times = Counter({pair: n for pair, n in times.items() if pair[0] != pair[1]})
        if cls is IdentityRules and len(problems) == 8640:
            triple = set(identities(problems[problems.latent["rule"] == 2]))
            assert len(times) == 7200
            assert len(triple) == 1440
            assert {times[problem] for problem in triple} == {2}
            times = Counter({problem: n for problem, n in times.items() if problem not in triple})
        assert set(times.values()) == {1}


def test_all_different_pairs_come_once_and_same_ones_are_drawn() -> None:
    for withheld, side in ((50, 50), (85, 15), (95, 5)):
        problems, _ = both(SameDifferent, withheld)
        different = problems[problems.target == 1]
        assert len(set(identities(different))) == side * (side - 1) == len(different)
        same = problems[problems.target == 0].index[:, 0]
        counts = torch.bincount(same, minlength=100)[sorted(shown(problems))].double()
        assert (counts - (side - 1)).abs().max() < 5 * math.sqrt(side - 1)
        assert counts.std() > 0
    training, _ = both(SameDifferent, 98)
    assert len(set(identities(training))) == 4


def test_with_nothing_withheld_a_twentieth_of_the_pairs_is_kept() -> None:
    training, test = both(SameDifferent, 0)
    for problems, different, same in ((training, 9405, 95), (test, 495, 5)):
        pairs = Counter(identities(problems))
        alike = {pair: n for pair, n in pairs.items() if pair[0] == pair[1]}
        assert len(pairs) - len(alike) == different
        assert sum(alike.values()) == different
        assert len(alike) == same


def test_whole_spaces_are_shown_whole() -> None:
    training, _ = both(RelationalMatchToSample, 95)
    assert len(set(identities(training))) == 480
    training, _ = both(DistributionOfThree, 95)
    assert len(set(identities(training))) == 360
    assert len({tuple(row) for row in training.latent["choices"].tolist()}) > 100


def test_match_to_sample_never_repeats_a_shape_between_pairs() -> None:
    for problems in both(RelationalMatchToSample, 85):
        for row, relation in zip(
            problems.index.tolist(), problems.latent["relation"].tolist(), strict=True
        ):
            assert len(set(row)) == (4, 5)[relation]


def test_match_to_sample_repeats_the_rarer_kind_evenly() -> None:
    task = RelationalMatchToSample(withheld=5, shapes=own_shapes(11))
    training = task.draw(stream(0))[TRAINING]
    times = Counter(identities(training[training.latent["relation"] == 0]))
    assert len(training) == 2880
    assert set(times.values()) == {2}
    assert len(times) == 720


def test_choices_hold_a_fourth_shape_of_the_same_regime() -> None:
    for problems in both(DistributionOfThree, 85):
        fourth = [
            (set(choices) - set(row[:3])).pop()
            for row, choices in zip(
                problems.index.tolist(), problems.latent["choices"].tolist(), strict=True
            )
        ]
        side = sorted(shown(problems))
        counts = torch.bincount(torch.tensor(fourth), minlength=100)[side].double()
        expected = len(problems) / len(side)
        assert (counts - expected).abs().max() < 4.5 * math.sqrt(expected)


def test_the_shortcuts_of_the_cards_get_what_the_cards_say() -> None:
    _, test = both(IdentityRules, 50)
    first_of_second_row = test.index[:, 5:] == test.index[:, 3:4]
    right = (first_of_second_row.int().argmax(dim=1) == test.target).double().mean()
    assert right == pytest.approx(2 / 3, abs=0.02)
    _, test = both(DistributionOfThree, 50)
    second_row = (test.index[:, 5:, None] == test.index[:, None, 3:5]).any(dim=2)
    left = ~second_row
    assert (left.sum(dim=1) == 2).all()
    assert left[torch.arange(len(test)), test.target].all()


@settings(max_examples=60)
@given(
    cls=st.sampled_from(list(TABLES)),
    spare=st.integers(0, 12),
    side=st.integers(0, 12),
    max_problems=st.integers(3, 400),
    seed=st.integers(0, 5),
)
def test_any_number_of_images_and_of_withheld_ones(
    cls: type, spare: int, side: int, max_problems: int, seed: int
) -> None:
    fewest = FEWEST[cls]
    withheld = 0 if side == 0 else fewest + side - 1
    total = fewest + spare + withheld
    task = cls(withheld=withheld, max_problems=max_problems, shapes=own_shapes(total))
    training, test = task.draw(stream(seed)).values()
    assert not set(identities(training)) & set(identities(test))
    for problems in (training, test):
        problems.check_index()
        assert (task.score(task.oracle(problems), problems) == 1).all()
        assert [rederived(task, problems, row) for row in range(len(problems))] == (
            problems.target.tolist()
        )
    if withheld:
        assert not shown(training) & shown(test)
        for problems, images in ((training, total - withheld), (test, withheld)):
            assert len(problems) == min(max_problems, balanced_size(cls, images))
    elif cls is SameDifferent:
        assert len(training) + len(test) == 2 * min(max_problems, total * (total - 1))
        assert len(test) == 2 * max(1, min(max_problems, total * (total - 1)) // 20)
    else:
        assert len(test) <= len(training) <= max_problems
        assert len(training) + len(test) >= min(2 * max_problems, balanced_size(cls, total)) - 2 * (
            cls is not DistributionOfThree
        )


def balanced_size(cls: type, images: int) -> int:
    """All problems over so many images, the rarer kinds repeated to the number of the others."""
    if cls is SameDifferent:
        return 2 * math.perm(images, 2)
    if cls is RelationalMatchToSample:
        return 2 * 2 * math.perm(images, 5)
    if cls is DistributionOfThree:
        return math.perm(images, 3) * 6
    return 3 * 24 * math.perm(images, 4)


def test_segments_are_pairs_for_match_to_sample_only() -> None:
    assert RelationalMatchToSample().segments == ((0, 1), (2, 3), (4, 5))
    assert SameDifferent().segments == ((0, 1),)
    assert DistributionOfThree().segments == IdentityRules().segments == (tuple(range(9)),)


def test_the_sizes_on_the_cards_are_the_papers() -> None:
    for cls, cells in TABLES.items():
        lines = [
            line.split("|")[1:-1] for line in cls.__doc__.splitlines() if line.strip()[:1] == "|"
        ]
        head, _, training, test = ([cell.strip() for cell in line] for line in lines)
        assert [int(cell.removeprefix("m = ")) for cell in head[1:]] == list(cells)
        assert [int(cell.replace(",", "")) for cell in training[1:]] == [
            a for a, _ in cells.values()
        ]
        assert [int(cell.replace(",", "")) for cell in test[1:]] == [b for _, b in cells.values()]
