"""The four tasks of webb2021: sizes, splits, targets, balance, scores, and frozen versions."""

from __future__ import annotations

import math
import time
import tracemalloc
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
    Copying,
    DistributionOfThree,
    FuzzyBoolean,
    GlyphSet,
    IdentityRules,
    RelationalMatchToSample,
    SameDifferent,
)
from tasks.sets import digest, own_shapes, rows_of, shown

# Tables 1-4 of webb2021: m → (training, test).
TABLES = {
    SameDifferent: {
        0: (18_810, 990),
        50: (4_900, 4_900),
        85: (420, 10_000),
        95: (40, 10_000),
        98: (4, 10_000),
    },
    RelationalMatchToSample: {
        0: (10_000, 10_000),
        50: (10_000, 10_000),
        85: (10_000, 10_000),
        95: (480, 10_000),
    },
    DistributionOfThree: {
        0: (10_000, 10_000),
        50: (10_000, 10_000),
        85: (10_000, 10_000),
        95: (360, 10_000),
    },
    IdentityRules: {
        0: (10_000, 10_000),
        50: (10_000, 10_000),
        85: (10_000, 10_000),
        95: (8_640, 10_000),
    },
}
CELLS = [(cls, withheld) for cls, cells in TABLES.items() for withheld in cells]
FEWEST = {SameDifferent: 2, RelationalMatchToSample: 5, DistributionOfThree: 4, IdentityRules: 4}

# SHA-256 (head) of everything drawn for run 0, by task and m; a change raises `version`.
FROZEN = {
    ("same-different", 0): "56e95181c9ccee8c",
    ("same-different", 50): "cc3d7d6ee56bd662",
    ("same-different", 85): "86b1138ef7261d12",
    ("same-different", 95): "362b758b3d2e3f85",
    ("same-different", 98): "f581c99515563550",
    ("relational-match-to-sample", 0): "a01723d25c58426f",
    ("relational-match-to-sample", 50): "bd69e736951b517b",
    ("relational-match-to-sample", 85): "9e8b3cbf5e62b54d",
    ("relational-match-to-sample", 95): "1735704c18d77e68",
    ("distribution-of-three", 0): "bfc9a17875d38ad4",
    ("distribution-of-three", 50): "9fd291c5cb71c2ff",
    ("distribution-of-three", 85): "b3f4619a3ae0a0b3",
    ("distribution-of-three", 95): "71079b4dd72aa694",
    ("identity-rules", 0): "01112d3b306f99c4",
    ("identity-rules", 50): "512192e0ee367815",
    ("identity-rules", 85): "e403c5efa778db06",
    ("identity-rules", 95): "e32027f6a3708482",
}

every_cell = each("cls, withheld", CELLS)
whole_cell = each("cls, withheld", [(cls, 50) for cls in TABLES])
every_task = pytest.mark.parametrize("cls", list(TABLES), ids=[cls.name for cls in TABLES])


@cache
def drawn(cls: type, withheld: int, seed: int = 0) -> dict[str, Problems]:
    return cls(withheld=withheld).draw(stream(seed))


def both(cls: type, withheld: int, seed: int = 0) -> tuple[Problems, Problems]:
    training, test = drawn(cls, withheld, seed).values()
    return training, test


def identities(problems: Problems) -> list[bytes]:
    """What makes a problem another one: of distribution-of-three the array, else all images."""
    if "rows" in problems.latent and "rule" not in problems.latent:
        return rows_of(problems.latent["rows"].flatten(1))
    return rows_of(problems.index)


def rederived(problem: Problems, row: int) -> int:
    """The target from the latent description alone, by the words of the paper."""
    latent = {name: column[row].tolist() for name, column in problem.latent.items()}
    if "shapes" in latent:
        first, second = latent["shapes"]
        return int(first != second)
    if "pairs" in latent:
        source, matching, other = latent["pairs"]
        alike = {pair[0] == pair[1] for pair in (source, matching)}
        assert alike == {latent["relation"] == 0}
        assert (other[0] == other[1]) != (source[0] == source[1])
        places = problem.index[row].tolist()
        assert places[:2] == source
        assert {tuple(places[2:4]), tuple(places[4:])} == {tuple(matching), tuple(other)}
        return [places[2:4], places[4:]].index(matching)
    first, second = latent["rows"]
    if "rule" in latent:
        pattern = ("ABA", "ABB", "AAA")[latent["rule"]]
        for letters in (first, second):
            standing = dict(zip(pattern, letters, strict=True))
            assert [standing[letter] for letter in pattern] == letters
            assert len(set(letters)) == len(set(pattern))
        assert not set(first) & set(second)
    else:
        assert set(first) == set(second)
        assert len(set(first)) == 3
    assert len(set(latent["choices"])) == 4
    assert problem.index[row].tolist() == [*first, *second[:2], *latent["choices"]]
    return latent["choices"].index(second[2])


def rule_read_off_pixels(cls: type, pictures: np.ndarray) -> int:
    """The answer from the pictures alone, one problem at a time."""

    def same(first: int, second: int) -> bool:
        return bool((pictures[first] == pictures[second]).all())

    if cls is SameDifferent:
        return int(not same(0, 1))
    if cls is RelationalMatchToSample:
        return int(same(0, 1) == same(4, 5))
    if cls is DistributionOfThree:
        (missing,) = [place for place in range(3) if not same(place, 3) and not same(place, 4)]
        return next(choice for choice in range(4) if same(missing, 5 + choice))
    repeated = 4 if same(1, 2) else 3
    return next(choice for choice in range(4) if same(repeated, 5 + choice))


@every_cell
def test_sets_have_the_papers_sizes(cls: type, withheld: int) -> None:
    assert tuple(len(problems) for problems in both(cls, withheld)) == TABLES[cls][withheld]


@every_cell
def test_drawn_sets_are_frozen_for_this_version(cls: type, withheld: int) -> None:
    assert cls.version == 1
    assert digest(drawn(cls, withheld)) == FROZEN[cls.name, withheld]


@whole_cell
def test_drawing_again_gives_the_same_and_another_seed_another(cls: type, withheld: int) -> None:
    again = digest(cls(withheld=withheld).draw(stream(0)))
    assert again == digest(drawn(cls, withheld))
    assert again != digest(cls(withheld=withheld).draw(stream(1)))


@every_cell
def test_regimes_share_no_shape_or_no_problem(cls: type, withheld: int) -> None:
    training, test = both(cls, withheld)
    assert not set(identities(training)) & set(identities(test))
    if withheld:
        assert not shown(training) & shown(test)
        assert len(shown(training)) == 100 - withheld
        assert len(shown(test)) == withheld


@every_cell
def test_targets_follow_from_the_latent_description(cls: type, withheld: int) -> None:
    for problems in both(cls, withheld):
        problems.check_index()
        rows = range(0, len(problems), max(1, len(problems) // 300))
        assert [rederived(problems, row) for row in rows] == problems.target[list(rows)].tolist()


@every_cell
def test_the_oracle_is_always_right_and_reads_pixels(cls: type, withheld: int) -> None:
    task = cls(withheld=withheld)
    for problems in both(cls, withheld):
        outputs = task.oracle(problems)
        assert outputs.shape == (len(problems), task.num_outputs)
        assert (task.score(outputs, problems) == 1).all()
        few = problems[:20]
        pixels = [rule_read_off_pixels(cls, pictures) for pictures in few.sequences().numpy()]
        assert pixels == few.target.tolist()


@every_task
def test_the_oracle_does_not_look_at_numbers_or_answers(cls: type) -> None:
    _, test = both(cls, 50)
    task = cls(withheld=50)
    doubled = Problems(
        items=torch.cat([test.items, test.items]),
        index=test.index + 100 * torch.arange(test.index.numel()).view_as(test.index).remainder(2),
        target=torch.zeros_like(test.target),
    )
    assert torch.equal(task.oracle(doubled), task.oracle(test))


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


@every_cell
def test_answers_are_balanced(cls: type, withheld: int) -> None:
    kinds = 2 if cls in (SameDifferent, RelationalMatchToSample) else 4
    for problems in both(cls, withheld):
        counts = torch.bincount(problems.target, minlength=kinds).double()
        expected = len(problems) / kinds
        assert len(counts) == kinds
        assert (counts - expected).abs().max() < 4 * math.sqrt(expected * (1 - 1 / kinds))


@every_cell
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


@every_task
def test_no_single_position_tells_the_answer(cls: type) -> None:
    """The most frequent answer for each shape at each place, counted in five runs, tried in five.

    The runs withhold other shapes each, and every shape is on either side in some of them.
    """
    learned = [both(cls, 50, seed) for seed in range(5)]
    tried = [both(cls, 50, seed) for seed in range(5, 10)]
    task = cls(withheld=50)
    answers = max(2, task.num_outputs)
    for place in range(task.length):
        votes = torch.zeros(100, answers)
        for problems in (problems for sets in learned for problems in sets):
            votes.index_put_(
                (problems.index[:, place], problems.target), torch.ones(()), accumulate=True
            )
        right = total = 0
        for _, test in tried:
            right += int((votes.argmax(dim=1)[test.index[:, place]] == test.target).sum())
            total += len(test)
        chance = task.chance(f"withheld-{task.withheld}")
        assert abs(right / total - chance) < 4 * math.sqrt(chance * (1 - chance) / total)


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


@every_task
def test_sets_come_in_random_order(cls: type) -> None:
    """Any stretch is a sample: halves have the same share of each answer."""
    _, test = both(cls, 85)
    column = test.latent.get("relation", test.latent.get("rule", test.target))
    for kind in column.unique():
        shares = [(half == kind).double().mean() for half in column.chunk(2)]
        assert abs(shares[0] - shares[1]) < 4 * math.sqrt(2 * 0.25 / 5000)


@every_task
def test_withheld_shapes_are_nested_and_differ_between_runs(cls: type) -> None:
    fewer, more = (shown(both(cls, withheld)[1]) for withheld in (50, 85))
    assert fewer < more
    assert shown(both(cls, 50, 1)[1]) != fewer


@every_task
def test_each_set_has_its_own_streams(cls: type) -> None:
    """What one side draws does not depend on how much the other draws."""
    large = drawn(cls, 85)["withheld-85"]
    from farfield.tasks._rules import _abstract_rules as rules

    place = stream(0).child(cls.name, "v1")
    pools = rules.split_shapes(place, 100, 85)
    assert shown(large) == set(pools["withheld-85"].tolist())
    kinds = {"withheld-85": (rules.Kind(name="a", radices=(50, 50)),)}
    alone = rules.draw_digits(place, kinds, {"withheld-85": [100]}, shared=False)
    kinds = {TRAINING: (rules.Kind(name="a", radices=(9, 9)),), **kinds}
    beside = rules.draw_digits(place, kinds, {TRAINING: [50], "withheld-85": [100]}, shared=False)
    assert np.array_equal(alone["withheld-85"][0], beside["withheld-85"][0])
    assert not np.array_equal(beside[TRAINING][0], beside["withheld-85"][0][:50])


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
        assert [rederived(problems, row) for row in range(len(problems))] == (
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


@every_task
def test_own_images_are_what_problems_show(cls: type) -> None:
    shapes = own_shapes(12)
    task = cls(withheld=6, shapes=shapes, max_problems=50)
    assert task.item_shape == (2, 3)
    for problems in task.draw(stream(0)).values():
        assert torch.equal(problems.items, shapes.items)


@every_task
def test_the_built_in_images_are_the_glyphs(cls: type) -> None:
    training, test = both(cls, 50)
    assert training.items is test.items
    assert torch.equal(training.items, GlyphSet.glyphs().items)
    assert cls().item_shape == tuple(GlyphSet.glyphs().images.shape[1:])
    assert (
        cls(withheld=50, shapes=GlyphSet.glyphs())
        .draw(stream(0))[TRAINING]
        .index.equal(training.index)
    )


@every_task
def test_the_contract_is_consistent(cls: type) -> None:
    task = cls(withheld=50)
    assert TASKS[task.name] is cls
    assert hash(task) == hash(cls(withheld=50))
    assert task == cls(withheld=50) != cls(withheld=51)
    places = [place for segment in task.segments for place in segment]
    assert sorted(places) == list(range(task.length))
    training, test = task.regimes
    assert (training.name, training.distance) == (TRAINING, 0)
    assert (test.name, test.distance, test.unit) == ("withheld-50", 50, "withheld shapes")
    for regime, problems in drawn(cls, 50).items():
        assert regime in (training.name, test.name)
        assert problems.index.shape[1] == task.length
        assert 0 < task.chance(regime) < 1


def test_segments_are_pairs_for_match_to_sample_only() -> None:
    assert RelationalMatchToSample().segments == ((0, 1), (2, 3), (4, 5))
    assert SameDifferent().segments == ((0, 1),)
    assert DistributionOfThree().segments == IdentityRules().segments == (tuple(range(9)),)


@every_task
def test_guessing_scores_the_floor(cls: type) -> None:
    _, test = both(cls, 50)
    task = cls(withheld=50)
    outputs = torch.randn(len(test), task.num_outputs, generator=torch.Generator().manual_seed(0))
    chance = task.chance("withheld-50")
    mean = float(task.score(outputs, test).double().mean())
    assert abs(mean - chance) < 4 * math.sqrt(chance * (1 - chance) / len(test))


@pytest.mark.parametrize("cls", [SameDifferent, RelationalMatchToSample])
def test_one_logit_and_two_say_the_same(cls: type) -> None:
    _, test = both(cls, 50)
    one, two = cls(withheld=50), cls(withheld=50, softmax=True)
    assert (one.num_outputs, two.num_outputs) == (1, 2)
    logit = torch.randn(len(test), 1, generator=torch.Generator().manual_seed(0)).double()
    pair = torch.cat([-logit / 2, logit / 2], dim=1)
    assert torch.allclose(one.loss(logit, test), two.loss(pair, test), rtol=1e-12)
    assert torch.equal(one.score(logit, test), two.score(pair, test))
    probability = 1 / (1 + torch.exp(-logit[:, 0]))
    chosen = torch.where(test.target == 1, probability, 1 - probability)
    assert torch.allclose(one.loss(logit, test), -chosen.log(), rtol=1e-9)
    assert (two.score(two.oracle(test), test) == 1).all()
    assert digest(two.draw(stream(0))) == digest(drawn(cls, 50))


@pytest.mark.parametrize("cls", [DistributionOfThree, IdentityRules])
def test_the_loss_of_four_logits_is_cross_entropy(cls: type) -> None:
    _, test = both(cls, 50)
    few = test[:50]
    logits = torch.randn(50, 4, generator=torch.Generator().manual_seed(0)).double()
    expected = [
        math.log(sum(math.exp(logit) for logit in row)) - row[target]
        for row, target in zip(logits.tolist(), few.target.tolist(), strict=True)
    ]
    assert cls(withheld=50).loss(logits, few).tolist() == pytest.approx(expected, rel=1e-9)


@every_task
def test_the_loss_falls_toward_the_oracle(cls: type) -> None:
    _, test = both(cls, 50)
    task = cls(withheld=50)
    outputs = task.oracle(test)
    assert task.loss(20 * outputs, test).max() < 1e-6
    assert task.loss(-20 * outputs, test).min() > 1


@every_task
def test_what_is_not_a_number_is_wrong(cls: type) -> None:
    _, test = both(cls, 50)
    task = cls(withheld=50)
    outputs = task.oracle(test)
    outputs[::2] = torch.nan
    score = task.score(outputs, test)
    assert (score[::2] == 0).all()
    assert (score[1::2] == 1).all()


@every_task
def test_outputs_of_another_shape_are_refused(unchecked: None, cls: type) -> None:
    _, test = both(cls, 50)
    task = cls(withheld=50)
    for shape in ((len(test),), (len(test), 7), (task.num_outputs,)):
        for judge in (task.loss, task.score):
            with pytest.raises(ValueError, match="outputs must be of"):
                judge(torch.zeros(shape), test)


@every_task
def test_a_sample_is_of_its_regime_and_repeats_with_its_generator(cls: type) -> None:
    task = cls(withheld=50)
    sets = drawn(cls, 50)
    samples = {regime: task.sample(regime, 3000, stream(7, regime).numpy()) for regime in sets}
    for regime, problems in samples.items():
        assert len(problems) == 3000
        assert shown(problems) <= shown(sets[regime])
        assert (task.score(task.oracle(problems), problems) == 1).all()
        again = task.sample(regime, 3000, stream(7, regime).numpy())
        assert again.index.equal(problems.index)
        assert not task.sample(regime, 3000, stream(8).numpy()).index.equal(problems.index)
    assert not shown(samples[TRAINING]) & shown(samples["withheld-50"])


@every_task
def test_samples_without_withheld_shapes_share_no_problem(cls: type) -> None:
    task = cls(max_problems=100, shapes=own_shapes(10))
    training, test = (task.sample(regime.name, 500, stream(3).numpy()) for regime in task.regimes)
    assert not set(identities(training)) & set(identities(test))


@every_task
def test_an_unknown_regime_is_named(cls: type) -> None:
    task = cls(withheld=50)
    with pytest.raises(UnknownNameError, match="did you mean 'withheld-50'"):
        task.sample("withheld-5", 1, stream(0).numpy())
    with pytest.raises(UnknownNameError, match="did you mean 'training'"):
        task.chance("Training")
    with pytest.raises(ValueError, match=r"n must be an int 1….*, got 0"):
        task.sample(TRAINING, 0, stream(0).numpy())


@pytest.mark.parametrize("task", [SameDifferent(withheld=50), Copying(), FuzzyBoolean()])
def test_what_draws_no_numbers_is_refused(task: object, unchecked: None) -> None:
    for wrong in (None, 3, torch.Generator()):
        with pytest.raises(ValueError, match=r"generator must be a numpy\.random\.Generator, got"):
            task.sample(TRAINING, 1, wrong)
    with pytest.raises(ValueError, match="n must be a"):
        task.sample(TRAINING, 2.5, stream(0).numpy())


@every_task
def test_impossible_fields_are_refused_with_the_possible_range(unchecked: None, cls: type) -> None:
    fewest = FEWEST[cls]
    with pytest.raises(
        ValueError, match=rf"0 or {fewest}…{100 - fewest} for 100 .* got {101 - fewest}"
    ):
        cls(withheld=101 - fewest)
    with pytest.raises(ValueError, match=r"got 1$"):
        cls(withheld=1)
    for wrong in (-1, 2.5, True, "50"):
        with pytest.raises(ValueError, match=rf"withheld must be .*got {wrong!r}"):
            cls(withheld=wrong)
    for wrong in (0, 2, 10.0):
        with pytest.raises(ValueError, match=rf"max_problems must be .*got {wrong}"):
            cls(max_problems=wrong)
    with pytest.raises(ValueError, match=r"write GlyphSet\(…\)"):
        cls(shapes=np.zeros((100, 2, 2), np.uint8))
    with pytest.raises(ValueError, match=f"at least {fewest} images, got {fewest - 1}"):
        cls(shapes=own_shapes(fewest - 1))
    with pytest.raises(ValueError, match="withheld must be 0 for"):
        cls(shapes=own_shapes(2 * fewest - 1), withheld=fewest)
    with pytest.raises(TypeError):
        cls(50)


@every_cell
def test_drawing_takes_little_time_and_memory(cls: type, withheld: int) -> None:
    task = cls(withheld=withheld)
    GlyphSet.glyphs()
    assert any(_seconds(task) < 0.2 for _ in range(3))
    tracemalloc.start()
    task.draw(stream(0))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6


def _seconds(task: SameDifferent) -> float:
    start = time.process_time()
    task.draw(stream(0))
    return time.process_time() - start


@every_task
def test_cards_have_their_headings(cls: type) -> None:
    headings = [
        "Task",
        "Worked example",
        "Regimes",
        "Score, floor and ceiling",
        "Known shortcuts",
        "Source and deviations",
    ]
    places = [cls.__doc__.index(f"**{heading}.**") for heading in headings]
    assert places == sorted(places)


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
