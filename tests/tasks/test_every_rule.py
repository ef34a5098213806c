"""Every rule task: sizes, splits, targets, balance, scores, cards, and frozen versions."""

from __future__ import annotations

import dataclasses
import math
import time
import tracemalloc

import numpy as np
import pytest
import torch

from each import each
from farfield.core import Problems, stream
from farfield.core.internal import UnknownNameError
from farfield.tasks import (
    TASKS,
    TRAINING,
    AllSame,
    GlyphSet,
    ProblemTask,
    SameDifferent,
    TintedSameDifferent,
)
from farfield.tasks._rules._abstract_rules import RuleTask
from tasks.rules import (
    CELLS,
    FEWEST,
    identities,
    last_test,
    rederived,
    rule_read_off_pixels,
    shapes_shown,
)
from tasks.sets import digest, drawn, own_shapes, shown

BINARY = [cls for cls in FEWEST if hasattr(cls, "softmax")]

every_cell = each("task", list(CELLS))
every_task = each("cls", {cls.name: cls for cls in FEWEST})


def test_every_rule_task_has_a_row() -> None:
    rules = {cls for cls in TASKS.values() if issubclass(cls, RuleTask)}
    assert FEWEST.keys() == {type(task) for task in CELLS} == rules


@every_cell
def test_sets_have_the_sizes_of_the_cards(task: ProblemTask) -> None:
    training, *tests = (len(problems) for problems in drawn(task).values())
    assert (training, *set(tests)) == CELLS[task][:2]


@every_cell
def test_drawn_sets_are_frozen_for_this_version(task: ProblemTask) -> None:
    assert task.version == 1
    assert digest(drawn(task)) == CELLS[task][2]


@every_task
def test_drawing_again_gives_the_same_and_another_seed_another(cls: type) -> None:
    task = cls(withheld=50)
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
        rows = range(0, len(problems), max(1, len(problems) // 200))
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


@every_task
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
    exact = isinstance(task, AllSame | SameDifferent | TintedSameDifferent)
    for problems in drawn(task).values():
        counts = torch.bincount(problems.target, minlength=kinds).double()
        expected = len(problems) / kinds
        allowed = 0 if exact else 4 * math.sqrt(expected * (1 - 1 / kinds))
        assert len(counts) == kinds
        assert (counts - expected).abs().max() <= allowed


@every_task
def test_no_single_position_tells_the_answer(cls: type) -> None:
    """The most frequent answer for each picture at each place, counted in five runs, tried in five.

    The runs withhold other shapes each, and every shape is on either side in some of them. Of the
    tinted task the sets are those whose tint says nothing.
    """
    task = cls(withheld=50, max_problems=2_000)
    sets = [[*drawn(task, seed).values()] for seed in range(10)]
    if cls is TintedSameDifferent:
        sets = [[last_test(task, seed)] for seed in range(10)]
    answers = max(2, task.num_outputs)
    for place in range(task.length):
        votes = torch.zeros(len(sets[0][0].items), answers)
        for problems in (problems for part in sets[:5] for problems in part):
            votes.index_put_(
                (problems.index[:, place], problems.target), torch.ones(()), accumulate=True
            )
        tried = [part[-1] for part in sets[5:]]
        right = sum(
            int((votes.argmax(dim=1)[test.index[:, place]] == test.target).sum()) for test in tried
        )
        chance, total = task.chance(TRAINING), sum(map(len, tried))
        assert abs(right / total - chance) < 4 * math.sqrt(chance * (1 - chance) / total)


@every_task
def test_sets_come_in_random_order(cls: type) -> None:
    """Any stretch is a sample: halves have the same share of each answer."""
    test = last_test(cls(withheld=85))
    latent = test.latent
    column = latent.get("relation", latent.get("odd", latent.get("rule", test.target)))
    for kind in column.unique():
        shares = [(half == kind).double().mean() for half in column.chunk(2)]
        assert abs(shares[0] - shares[1]) < 4 * math.sqrt(4 * 0.25 / len(column))


@every_task
def test_withheld_shapes_are_nested_and_differ_between_runs(cls: type) -> None:
    fewer, more = (
        shapes_shown(task, last_test(task)) for task in (cls(withheld=50), cls(withheld=85))
    )
    assert fewer < more
    task = cls(withheld=50)
    assert shapes_shown(task, last_test(task, 1)) != fewer


@each("cls", list(FEWEST)[:4])
def test_each_set_has_its_own_streams(cls: type) -> None:
    """What one side draws does not depend on how much the other draws."""
    large = last_test(cls(withheld=85))
    from farfield.tasks._rules import _abstract_rules as rules

    place = stream(0).child(cls.name, "v1")
    pools = rules.split_shapes(place, 100, 85)
    assert shapes_shown(cls(withheld=85), large) == set(pools["withheld-85"].tolist())
    kinds = {"withheld-85": (rules.Kind(name="a", radices=(50, 50)),)}
    alone = rules.draw_digits(place, kinds, {"withheld-85": [100]}, shared=False)
    kinds = {TRAINING: (rules.Kind(name="a", radices=(9, 9)),), **kinds}
    beside = rules.draw_digits(place, kinds, {TRAINING: [50], "withheld-85": [100]}, shared=False)
    assert np.array_equal(alone["withheld-85"][0], beside["withheld-85"][0])
    assert not np.array_equal(beside[TRAINING][0], beside["withheld-85"][0][:50])


@every_task
def test_own_images_are_what_problems_show(cls: type) -> None:
    shapes = own_shapes(24)
    task = cls(withheld=12, shapes=shapes, max_problems=50)
    assert task.item_shape == (2, 3)
    for problems in task.draw(stream(0)).values():
        if cls is TintedSameDifferent:
            assert torch.equal(2 * problems.items[24:], shapes.items)
        else:
            assert torch.equal(problems.items, shapes.items)


@every_task
def test_the_built_in_images_are_the_glyphs(cls: type) -> None:
    training, *tests = drawn(cls(withheld=50)).values()
    assert all(test.items is training.items for test in tests)
    if cls is not TintedSameDifferent:
        assert torch.equal(training.items, GlyphSet.glyphs().items)
    assert cls().item_shape == tuple(GlyphSet.glyphs().images.shape[1:])
    assert (
        cls(withheld=50, shapes=GlyphSet.glyphs())
        .draw(stream(0))[TRAINING]
        .index.equal(training.index)
    )


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


@every_task
def test_guessing_scores_the_floor(cls: type) -> None:
    task = cls(withheld=50)
    test = last_test(task)
    outputs = torch.randn(len(test), task.num_outputs, generator=torch.Generator().manual_seed(0))
    chance = task.chance(task.regimes[-1].name)
    mean = float(task.score(outputs, test).double().mean())
    assert abs(mean - chance) < 4 * math.sqrt(chance * (1 - chance) / len(test))


@each("cls", BINARY)
def test_one_logit_and_two_say_the_same(cls: type) -> None:
    one, two = cls(withheld=50), cls(withheld=50, softmax=True)
    test = last_test(one)
    assert (one.num_outputs, two.num_outputs) == (1, 2)
    logit = torch.randn(len(test), 1, generator=torch.Generator().manual_seed(0)).double()
    pair = torch.cat([-logit / 2, logit / 2], dim=1)
    assert torch.allclose(one.loss(logit, test), two.loss(pair, test), rtol=1e-12)
    assert torch.equal(one.score(logit, test), two.score(pair, test))
    probability = 1 / (1 + torch.exp(-logit[:, 0]))
    chosen = torch.where(test.target == 1, probability, 1 - probability)
    assert torch.allclose(one.loss(logit, test), -chosen.log(), rtol=1e-9)
    assert (two.score(two.oracle(test), test) == 1).all()
    assert digest(two.draw(stream(0))) == digest(drawn(one))


@each("cls", FEWEST.keys() - BINARY)
def test_the_loss_of_four_logits_is_cross_entropy(cls: type) -> None:
    few = last_test(cls(withheld=50))[:50]
    logits = torch.randn(50, 4, generator=torch.Generator().manual_seed(0)).double()
    expected = [
        math.log(sum(math.exp(logit) for logit in row)) - row[target]
        for row, target in zip(logits.tolist(), few.target.tolist(), strict=True)
    ]
    assert cls(withheld=50).loss(logits, few).tolist() == pytest.approx(expected, rel=1e-9)


@every_task
def test_the_loss_falls_toward_the_oracle(cls: type) -> None:
    task = cls(withheld=50)
    test = last_test(task)
    outputs = task.oracle(test)
    assert task.loss(20 * outputs, test).max() < 1e-6
    assert task.loss(-20 * outputs, test).min() > 1


@every_task
def test_what_is_not_a_number_is_wrong(cls: type) -> None:
    task = cls(withheld=50)
    test = last_test(task)
    outputs = task.oracle(test)
    outputs[::2] = torch.nan
    score = task.score(outputs, test)
    assert (score[::2] == 0).all()
    assert (score[1::2] == 1).all()


@every_task
def test_outputs_of_another_shape_are_refused(unchecked: None, cls: type) -> None:
    task = cls(withheld=50)
    test = last_test(task)
    for shape in ((len(test),), (len(test), 7), (task.num_outputs,)):
        for judge in (task.loss, task.score):
            with pytest.raises(ValueError, match="outputs must be of"):
                judge(torch.zeros(shape), test)


@every_task
def test_a_sample_is_of_its_regime_and_repeats_with_its_generator(cls: type) -> None:
    task = cls(withheld=50)
    samples = {}
    for regime, problems in drawn(task).items():
        sample = samples[regime] = task.sample(regime, 500, stream(7, regime).numpy())
        assert len(sample) == 500
        assert shown(sample) <= shown(problems)
        assert (task.score(task.oracle(sample), sample) == 1).all()
        again = task.sample(regime, 500, stream(7, regime).numpy())
        assert again.index.equal(sample.index)
        assert not task.sample(regime, 500, stream(8).numpy()).index.equal(sample.index)
    training, *tests = samples.values()
    for test in tests:
        assert not shapes_shown(task, training) & shapes_shown(task, test)


@every_task
def test_samples_without_withheld_shapes_share_no_problem(cls: type) -> None:
    task = cls(max_problems=100, shapes=own_shapes(20))
    training, *tests = (task.sample(r.name, 500, stream(3).numpy()) for r in task.regimes)
    for test in tests:
        assert not set(identities(training)) & set(identities(test))


@every_task
def test_an_unknown_regime_is_named(cls: type) -> None:
    task = cls(withheld=50)
    last = task.regimes[-1].name
    with pytest.raises(UnknownNameError, match=f"did you mean '{last}'"):
        task.sample(last[:-1], 1, stream(0).numpy())
    with pytest.raises(UnknownNameError, match="did you mean 'training'"):
        task.chance("Training")
    with pytest.raises(ValueError, match=r"n must be an int 1….*, got 0"):
        task.sample(TRAINING, 0, stream(0).numpy())


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
def test_drawing_takes_little_time(task: ProblemTask) -> None:
    GlyphSet.glyphs()
    assert any(_seconds(task) < 0.2 for _ in range(3))


@every_task
def test_drawing_takes_little_memory(cls: type) -> None:
    tracemalloc.start()
    cls(withheld=50).draw(stream(0))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6


def _seconds(task: ProblemTask) -> float:
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
    places = [cls.__doc__.index(f"**{heading}") for heading in headings]
    assert places == sorted(places)
