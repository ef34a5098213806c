"""VAEC: the published pictures, levels and counts; targets, shortcuts, scores, frozen versions."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import time
from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from farfield.core import Problems, stream
from farfield.core.internal import LazyItems, UnknownNameError
from farfield.tasks import TASKS, TRAINING, ProblemTask, VAECScale, VAECTranslation
from farfield.tasks._vaec._vaec_objects import (
    analogies,
    draw_objects,
    level_values,
    measured_levels,
)
from farfield.tasks.internal import Candidates, HasSubsets
from oracles import vaec as oracle
from tasks.sets import digest, drawn, shown

# The head of SHA-256 over all problems of run 0; a change of it raises `version`.
CELLS = {
    VAECTranslation(): "02da0986e1b336f1",
    VAECTranslation(shuffled=True): "9566597f0badbc65",
    VAECTranslation(levels_per_region=6, problems_per_regime=300): "d494fb2b47a74ec8",
    VAECScale(): "7edc99325a548108",
    VAECTranslation(second_object=True, problems_per_regime=200): "c8a3e23ffd3db7aa",
    VAECScale(
        second_object=True, textured=True, shuffled=True, problems_per_regime=200
    ): "cf3972e069c5151a",
    VAECTranslation(new_shapes=True, problems_per_regime=200): "ffe6f9cfd3398111",
}
GENERATOR = torch.Generator().manual_seed(0)
BOTH = (VAECTranslation, VAECScale)
DIMENSIONS = ("location-x", "location-y", "size", "brightness")
every_cell = pytest.mark.parametrize("task", list(CELLS), ids=lambda task: repr(task)[4:40])
both = pytest.mark.parametrize("cls", BOTH, ids=[cls.name for cls in BOTH])


def small(cls: type, **fields: object) -> ProblemTask:
    return cls(image_size=64, problems_per_regime=500, **fields)


def pictures(levels: np.ndarray, *, size: int = 128, levels_in_all: int = 42, exact=False):
    return draw_objects(
        torch.tensor(levels), num_levels=levels_in_all, image_size=size, exact_width=exact
    ).numpy()


# --- The published data --------------------------------------------------------------------------


def test_objects_are_the_published_ones_to_the_byte(golden) -> None:
    arrays = golden("vaec")
    assert np.array_equal(pictures(arrays["in.level_tuples"]), arrays["out.images"])
    assert np.array_equal(level_values(), arrays["out.level_to_value"])


def test_analogies_are_the_published_ones_in_their_order(golden) -> None:
    arrays = golden("vaec")
    rows = analogies(7)
    assert np.array_equal(rows, arrays["out.analogies_ABCD"])
    assert np.array_equal(rows[:, 1] - rows[:, 0], arrays["out.analogy_signed_distance"])


def test_regimes_take_the_published_levels(golden) -> None:
    arrays = golden("vaec")
    for cls, name in ((VAECTranslation, "translation"), (VAECScale, "scale")):
        levels = np.stack([cls().levels_of(number) for number in range(1, 7)])
        assert np.array_equal(levels, arrays[f"out.{name}_level_indices"])
        assert np.array_equal(level_values()[levels], arrays[f"out.{name}_region_values"])


def test_sets_have_the_published_size_and_foils(golden) -> None:
    arrays = golden("vaec")
    foils = {
        tuple(arrays["out.analogies_ABCD"][row]): tuple(foils)
        for row, foils in zip(
            arrays["in.foil_analogy_rows"], arrays["out.foils_not_D"], strict=True
        )
    }
    for problems in drawn(VAECTranslation()).values():
        assert len(problems) == arrays["out.problems_per_region"]
        counts = Counter(zip(problems.latent["dimension"].tolist(), kinds(problems), strict=True))
        assert set(counts) == set(itertools.product(range(4), map(tuple, analogies(7).tolist())))
        assert set(counts.values()) == {int(arrays["out.irrelevant_combinations_per_analogy"])}
        seen = set()
        for row in range(2000):
            analogy = tuple(problems.latent["analogy"][row].tolist())
            if analogy in foils:
                seen.add(analogy)
                offered = terms(problems, row, VAECTranslation())[4:]
                assert tuple(level % 7 for level in offered) == foils[analogy]
        assert len(seen) > 15


def kinds(problems: Problems) -> list[tuple[int, ...]]:
    return [tuple(row) for row in problems.latent["analogy"].tolist()]


def terms(problems: Problems, row: int, task: ProblemTask) -> list[int]:
    """Levels of the places of a problem along the dimension in which they differ."""
    levels = problems.items.latent[problems.index[row], :4]
    (varied,) = torch.nonzero((levels != levels[0]).any(dim=0)).flatten().tolist()
    assert varied == problems.latent["dimension"][row]
    return levels[:, varied].tolist()


def test_analogies_are_all_there_are() -> None:
    for levels in (3, 5, 7):
        rows = [tuple(row) for row in analogies(levels).tolist()]
        assert len(rows) == len(set(rows))
        assert set(rows) == oracle.analogies(levels)
    sizes = Counter(abs(b - a) for a, b, _, _ in oracle.analogies(7))
    assert sizes == {1: 60, 2: 40, 3: 24, 4: 12, 5: 4}


@pytest.mark.parametrize(
    "size, levels, exact", [(128, 42, False), (128, 42, True), (128, 30, False)]
)
def test_objects_are_those_of_the_description(size: int, levels: int, exact: bool) -> None:
    rows = np.random.default_rng(size + exact).integers(0, levels, (6, 4))
    found = pictures(rows, size=size, levels_in_all=levels, exact=exact)
    for image, row in zip(found, rows.tolist(), strict=True):
        assert np.array_equal(image, oracle.picture(tuple(row), levels, exact))


@pytest.mark.parametrize("size", [64, 256])
def test_other_sizes_are_means_of_the_published_picture(size: int) -> None:
    rows = np.random.default_rng(size).integers(0, 42, (1, 4))
    for image, row in zip(pictures(rows, size=size), rows.tolist(), strict=True):
        assert np.array_equal(image, oracle.resized(oracle.picture(tuple(row)), size))


@pytest.mark.parametrize("size, exact", [(64, False), (64, True), (90, False), (128, True)])
def test_objects_differ_and_are_measured_right(size: int, exact: bool) -> None:
    rows = torch.cartesian_prod(*[torch.tensor([0, 1, 2, 41])] * 4)
    drawn_ = draw_objects(rows, num_levels=42, image_size=size, exact_width=exact)
    assert len(torch.unique(drawn_.flatten(1), dim=0)) == len(rows)
    apart = measured_levels(drawn_, 42) - rows
    assert (apart - apart.mean(dim=0)).abs().max() < 0.4


def test_a_region_is_drawn_within_two_seconds_and_120_megabytes() -> None:
    task = VAECTranslation()
    started = time.process_time()
    table = task.draw(stream(0))["region-6"].table()
    assert time.process_time() - started < 2
    assert table.shape == (2401, 128, 128, 3)
    assert table.dtype == torch.uint8
    assert table.nbytes <= 120e6
    head = hashlib.sha256(table.numpy().tobytes()).hexdigest()[:16]
    assert head == "41a4401aed90833f"


def test_sets_hold_no_pictures_until_asked() -> None:
    for problems in drawn(VAECScale()).values():
        assert isinstance(problems.items, LazyItems)
        assert len(problems.items) == 2401
        assert problems.items.shape[1:] == (128, 128, 3)
        assert shown(problems) == set(range(2401))


# --- What is drawn -------------------------------------------------------------------------------


@every_cell
def test_drawn_sets_are_frozen_for_this_version(task: ProblemTask) -> None:
    assert task.version == 1
    assert digest(drawn(task)) == CELLS[task]


@every_cell
def test_targets_follow_from_the_levels(task: ProblemTask) -> None:
    for problems in drawn(task).values():
        problems.check_index()
        values = sorted(set(problems.items.latent[:, :4].flatten().tolist()))
        for row in range(0, len(problems), max(1, len(problems) // 200)):
            a, b, c, *offered = terms(problems, row, task)
            assert sorted(offered) == values
            right = offered.index(c + b - a)
            assert problems.target[row] == right
            foils = [level for level in offered if level != offered[right]]
            assert task.shuffled or (right == 0 and foils == sorted(foils))
            latent = {name: column[row].tolist() for name, column in problems.latent.items()}
            assert latent["analogy"] == [values.index(level) for level in (a, b, c, c + b - a)]
            assert latent["distance"] == values.index(b) - values.index(a)
            first = problems.items.latent[problems.index[row, 0], :4].tolist()
            assert latent["object"] == [values.index(level) for level in first]


def test_irrelevant_levels_are_redraw_for_each_analogy() -> None:
    problems = drawn(VAECTranslation())[TRAINING]
    others: dict[tuple[int, ...], set[tuple[int, ...]]] = {}
    latent = problems.latent
    for dimension, analogy, levels in zip(
        latent["dimension"].tolist(), kinds(problems), latent["object"].tolist(), strict=True
    ):
        rest = tuple(level for other, level in enumerate(levels) if other != dimension)
        others.setdefault((dimension, *analogy), set()).add(rest)
    assert {len(each) for each in others.values()} == {34}
    assert len({frozenset(each) for each in others.values()}) == 560
    counts = np.array(list(Counter(itertools.chain(*others.values())).values()))
    assert len(counts) == 343
    assert abs(counts - 19_040 / 343).max() < 5 * np.sqrt(19_040 / 343)


@both
def test_each_dimension_varies_in_a_quarter_of_any_stretch(cls: type) -> None:
    task = cls()
    for problems in drawn(task).values():
        parts = task.parts(problems)
        assert tuple(parts) == DIMENSIONS
        assert {int(part.sum()) for part in parts.values()} == {4760}
        for number, part in enumerate(parts.values()):
            assert torch.equal(part, problems.latent["dimension"] == number)
        half = task.parts(problems[: len(problems) // 2])
        assert all(abs(int(part.sum()) - 2380) < 200 for part in half.values())


def test_regions_share_no_object_and_no_level() -> None:
    sets = drawn(VAECTranslation()).values()
    levels = [set(problems.items.latent.flatten().tolist()) for problems in sets]
    assert sorted(itertools.chain(*levels)) == list(range(42))


def test_scales_share_the_levels_that_the_card_says() -> None:
    training, *tests = (set(p.items.latent[:, 0].tolist()) for p in drawn(VAECScale()).values())
    assert [len(training & test) for test in tests] == [4, 3, 2, 2, 2]
    assert [max(test) for test in tests] == [12, 18, 24, 30, 36]
    multiplied = drawn(small(VAECScale, levels_multiplied=True))
    sets = [sorted(set(p.items.latent[:, 3].tolist())) for p in multiplied.values()]
    assert sets == [[k * n - 1 for n in range(1, 8)] for k in range(1, 7)]


@pytest.mark.parametrize("train_on, order", [(1, [2, 3, 4, 5, 6]), (3, [2, 4, 1, 5, 6])])
@both
def test_training_on_any_region_leaves_its_problems_as_they_are(
    cls: type, train_on: int, order: list[int]
) -> None:
    task, first = small(cls, train_on=train_on), drawn(small(cls, train_on=6))
    word = "region" if cls is VAECTranslation else "scale"
    assert [regime.name for regime in task.regimes] == [
        TRAINING,
        *(f"{word}-{number}" for number in order),
    ]
    distances = [abs(number - train_on) for number in (train_on, *order)]
    assert [regime.distance for regime in task.regimes] == distances
    assert {regime.unit for regime in task.regimes} == {f"{word}s"}
    assert torch.equal(drawn(task)[TRAINING].index, first[f"{word}-{train_on}"].index)
    levels = drawn(task)[TRAINING].items.latent
    assert torch.equal(levels, first[f"{word}-{train_on}"].items.latent)


def test_fewer_problems_are_the_first_and_more_are_all() -> None:
    whole = drawn(VAECTranslation())["region-2"]
    few = drawn(VAECTranslation(problems_per_regime=70))["region-2"]
    assert torch.equal(few.index, whole.index[:70])
    more = drawn(VAECTranslation(levels_per_region=3, problems_per_regime=400))["region-2"]
    assert len(more) == 400
    every = drawn(VAECTranslation(levels_per_region=3, problems_per_regime=4 * 4 * 27))["region-2"]
    assert len({tuple(row) for row in every.index.tolist()}) == 4 * 4 * 27


@settings(max_examples=15)
@given(
    cls=st.sampled_from(BOTH),
    levels=st.integers(3, 8),
    regions=st.integers(2, 4),
    shuffled=st.booleans(),
    exact=st.booleans(),
    seed=st.integers(0, 9),
)
def test_any_numbers_of_levels(
    cls: type, levels: int, regions: int, shuffled: bool, exact: bool, seed: int
) -> None:
    task = cls(
        num_levels=levels * regions,
        levels_per_region=levels,
        image_size=64,
        problems_per_regime=40,
        exact_width=exact,
        shuffled=shuffled,
    )
    sets = task.draw(stream(seed))
    assert len(sets) == regions
    for problems in sets.values():
        assert problems.index.shape == (40, 3 + levels)
        assert (task.score(task.oracle(problems), problems) == 1).all()


# --- Shortcuts -----------------------------------------------------------------------------------


def best_share(keys: list[tuple[int, ...]], answers: list[int]) -> int:
    """Right answers, of all, of the answer that is most frequent for each key."""
    counts: dict[tuple[int, ...], Counter[int]] = {}
    for key, answer in zip(keys, answers, strict=True):
        counts.setdefault(key, Counter())[answer] += 1
    return sum(max(each.values()) for each in counts.values())


def test_what_single_places_tell_is_what_the_card_says() -> None:
    for problems in [*drawn(VAECTranslation()).values()][::5]:
        rows = kinds(problems)
        answers = [d for *_, d in rows]
        per_analogy = len(rows) // 140
        assert sum(a == d for a, _, _, d in rows) == 18 * per_analogy
        assert sum(b == c for _, b, c, _ in rows) == 18 * per_analogy
        assert not any(b == d or a == c for a, b, c, d in rows)
        shares = {
            places: best_share([tuple(row[p] for p in places) for row in rows], answers)
            for places in ((), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2))
        }
        expected = (24, 36, 35, 35, 40, 40, 43)
        assert list(shares.values()) == [count * per_analogy for count in expected]


def test_places_tell_nothing_once_shuffled() -> None:
    for problems in drawn(VAECTranslation(shuffled=True)).values():
        counts = torch.bincount(problems.target, minlength=7).double()
        assert (counts - 2720).abs().max() < 4.5 * np.sqrt(2720 * 6 / 7)
        plain = problems.index.sort(dim=1).values
        assert (plain.diff(dim=1) == 0).any()


def test_shuffling_changes_only_the_order_of_the_candidates() -> None:
    plain, turned = drawn(VAECTranslation()), drawn(VAECTranslation(shuffled=True))
    for regime, problems in plain.items():
        others = turned[regime]
        assert torch.equal(problems.index[:, :3], others.index[:, :3])
        assert torch.equal(problems.index.sort(dim=1).values, others.index.sort(dim=1).values)
        right = others.index[:, 3:].gather(1, others.target[:, None])[:, 0]
        assert torch.equal(right, problems.index[:, 3])


# --- Clutter -------------------------------------------------------------------------------------


IN_CLUTTER = VAECTranslation(second_object=True, textured=True, problems_per_regime=600)


def test_clutter_leaves_the_analogies_as_they_are() -> None:
    plain = drawn(VAECTranslation(problems_per_regime=600))
    for regime, problems in drawn(IN_CLUTTER).items():
        assert torch.equal(problems.index // 8, plain[regime].index)
        assert torch.equal(problems.items.latent[::8, :4], plain[regime].items.latent)
        which = torch.bincount((problems.index % 8).flatten(), minlength=8).double()
        assert abs(which - 750).max() < 4.5 * np.sqrt(750 * 7 / 8)
        assert len(torch.unique(problems.items.latent[:, 4:], dim=0)) == 8 * 2401


@pytest.mark.parametrize("second, textured", [(True, True), (True, False), (False, True)])
def test_pictures_in_clutter_are_those_of_the_description(second: bool, textured: bool) -> None:
    task = VAECTranslation(second_object=second, textured=textured, exact_width=textured)
    items = drawn(task)["region-6"].items
    rows = torch.tensor([5, 19000])
    for image, latent in zip(items[rows], items.latent[rows].tolist(), strict=True):
        words = stream(latent[-1], "vaec", "texture").numpy().bit_generator.random_raw(96)
        expected = oracle.cluttered(latent, words.tolist(), second, textured, exact=textured)
        assert np.array_equal(image, expected)
    large = dataclasses.replace(task, image_size=256).draw(stream(0))["region-6"].items[rows[:1]]
    assert torch.equal(large[0, ::2, 1::2], items[rows[0]])


def test_pictures_in_clutter_are_frozen_for_this_version() -> None:
    items = drawn(IN_CLUTTER)[TRAINING].items
    head = hashlib.sha256(items[torch.arange(0, len(items), 500)].numpy().tobytes()).hexdigest()
    assert head[:16] == "3c0a09e754469699"


def test_the_second_object_tells_nothing() -> None:
    for problems in drawn(IN_CLUTTER).values():
        clutter = problems.items.latent[problems.index, 4:].double()
        for column, high in enumerate((128, 128, 11, 154, 5, 2)):
            values = clutter[..., column]
            assert set(values.unique().tolist()) <= set(range(high))
            a, b, c, *candidates = values.unbind(dim=1)
            near = -(torch.stack(candidates, 1) - (c + b - a)[:, None]).abs()
            chosen = (near + 1e-6 * torch.rand(near.shape, generator=GENERATOR)).argmax(1)
            right = float((chosen == problems.target).double().mean())
            assert abs(right - 1 / 7) < 4 * np.sqrt(6 / 49 / len(problems))


@both
def test_the_oracle_measures_through_clutter(cls: type) -> None:
    for second in (True, False):
        task = cls(second_object=second, textured=True, problems_per_regime=30)
        first, *_, last = drawn(task).values()
        for problems in (first, last):
            right = task.score(task.oracle(problems), problems).mean()
            assert right >= (0.95 if second and problems is first else 1)


def test_clutter_needs_whole_pixels(unchecked: None) -> None:
    with pytest.raises(ValueError, match=r"image_size must be a multiple of 128 .* got 64"):
        VAECTranslation(image_size=64, textured=True)


# --- New shapes ----------------------------------------------------------------------------------


NEW = VAECTranslation(new_shapes=True, problems_per_regime=600, validation_problems=100)


def test_new_shapes_leave_the_analogies_as_they_are() -> None:
    squares = drawn(dataclasses.replace(NEW, new_shapes=False))
    sets = drawn(NEW)
    assert list(sets)[:4] == [TRAINING, "validation", "new-shapes", "new-shapes-region-2"]
    assert [regime.distance for regime in NEW.regimes] == [0, 0, 0, 1, 2, 3, 4, 5]
    for regime in (TRAINING, "validation"):
        assert torch.equal(sets[regime].index, squares[regime].index)
        assert sets[regime].items.latent.shape == (2401, 4)
    for regime, problems in list(sets.items())[2:]:
        plain = squares[regime.removeprefix("new-shapes-").replace("new-shapes", TRAINING)]
        levels = problems.items.latent[problems.index]
        assert torch.equal(levels[..., :4], plain.items.latent[plain.index])
        assert (levels[..., 4] == problems.latent["shape"][:, None]).all()
        counts = torch.bincount(problems.latent["shape"], minlength=9).double()
        assert len(counts) == 9
        assert abs(counts - 600 / 9).max() < 4.5 * np.sqrt(600 / 9 * 8 / 9)


@pytest.mark.parametrize("exact", [False, True])
def test_new_shapes_are_within_the_square_of_their_levels(exact: bool) -> None:
    task = dataclasses.replace(NEW, exact_width=exact)
    items = drawn(task)["new-shapes-region-6"].items
    rows = torch.arange(9) + 9 * 1203
    inside = set()
    for image, latent in zip(items[rows], items.latent[rows].tolist(), strict=True):
        square = torch.from_numpy(oracle.picture(tuple(latent[:4]), 42, exact))
        drawn_ = (image != 128).any(dim=2)
        assert torch.equal(image[drawn_], square[drawn_])
        assert not torch.equal(image, square)
        first, last = (square != 128).any(dim=2).any(dim=1).nonzero()[[0, -1], 0].tolist()
        assert drawn_[first].any()  # from the first row of the square to its last
        assert drawn_[last].any()
        inside.add(drawn_.numpy().tobytes())
    assert len(inside) == 9
    large = dataclasses.replace(task, image_size=256).draw(stream(0))["new-shapes-region-6"]
    assert torch.equal(large.items[rows[:1]][0, ::2, 1::2], items[rows[0]])


def test_pictures_of_new_shapes_are_frozen_for_this_version() -> None:
    items = drawn(NEW)["new-shapes-region-3"].items
    head = hashlib.sha256(items[torch.arange(0, len(items), 500)].numpy().tobytes()).hexdigest()
    assert head[:16] == "fa965baa8c4d2879"


def test_the_oracle_measures_new_shapes() -> None:
    for problems in drawn(NEW).values():
        assert NEW.score(NEW.oracle(problems[:200]), problems[:200]).mean() > 0.98


def test_new_shapes_need_whole_pixels_and_no_clutter(unchecked: None) -> None:
    with pytest.raises(ValueError, match=r"image_size must be a multiple of 128 .* got 64"):
        VAECTranslation(image_size=64, new_shapes=True)
    with pytest.raises(ValueError, match=r"new_shapes and clutter .* exclude each other"):
        VAECScale(textured=True, new_shapes=True)


# --- Score, floor and ceiling --------------------------------------------------------------------


@both
@pytest.mark.parametrize("size", [64, 128])
def test_the_oracle_is_always_right(cls: type, size: int) -> None:
    task = cls(image_size=size, problems_per_regime=30)
    for problems in (whole.compact() for whole in drawn(task).values()):
        outputs = task.oracle(problems)
        assert outputs.shape == (len(problems), 7)
        assert (task.score(outputs, problems) == 1).all()
        assert task.loss(100 * outputs, problems).max() < 1e-3


@both
def test_the_oracle_looks_at_pictures_alone(cls: type) -> None:
    task = small(cls, shuffled=True)
    problems = drawn(task)[task.regimes[-1].name]
    blind = Problems(
        items=problems.table(),
        index=problems.index,
        target=torch.zeros_like(problems.target),
    )
    assert torch.equal(task.oracle(blind), task.oracle(problems))


def test_a_tie_is_no_answer() -> None:
    task = small(VAECTranslation)
    problems = drawn(task)[TRAINING][:5]
    outputs = torch.zeros(5, 7)
    outputs[1, 0] = 1
    outputs[2, [0, 3]] = 1
    outputs[3, 3] = 1
    outputs[4, 0], outputs[4, 2] = 1, torch.nan
    assert task.score(outputs, problems).tolist() == [0, 1, 0, 0, 0]
    with pytest.raises(ValueError, match=r"outputs must be of \(batch, outputs\) = \(5, 7\)"):
        task.score(outputs[:, :6], problems)


def test_guessing_scores_the_floor() -> None:
    task = VAECTranslation()
    problems = drawn(task)["region-3"]
    outputs = torch.randn(len(problems), 7, generator=torch.Generator().manual_seed(0))
    assert task.chance("region-3") == 1 / 7
    share = float(task.score(outputs, problems).mean())
    assert abs(share - 1 / 7) < 4 * np.sqrt(6 / 49 / len(problems))


# --- The contract --------------------------------------------------------------------------------


@every_cell
def test_the_contract_is_consistent(task: ProblemTask) -> None:
    assert isinstance(task, ProblemTask)
    assert isinstance(task, Candidates)
    assert isinstance(task, HasSubsets)
    assert TASKS[task.name] is type(task)
    assert hash(task) == hash(dataclasses.replace(task))
    assert task.num_outputs == task.num_candidates == task.levels_per_region
    assert task.length == 3 + task.num_candidates
    assert task.segments == ((0, 1, 2, 3),)
    assert [regime.name for regime in task.regimes] == list(drawn(task))
    for problems in drawn(task).values():
        assert problems.index.shape[1] == task.length
        assert problems.items.shape[1:] == task.item_shape


@both
def test_a_sample_is_of_its_regime_and_repeats_with_its_generator(cls: type) -> None:
    task = small(cls)
    for regime, problems in drawn(task).items():
        sample = task.sample(regime, 50, stream(7, regime).numpy())
        there = {tuple(row) for row in problems.index.tolist()}
        assert {tuple(row) for row in sample.index.tolist()} <= there
        assert sample.items.latent.equal(problems.items.latent)
        assert sample.sequences().shape == (50, 10, 64, 64, 3)
        again = task.sample(regime, 50, stream(7, regime).numpy())
        assert again.index.equal(sample.index)
    last = task.regimes[-1].name
    with pytest.raises(UnknownNameError, match=f"did you mean '{last}'"):
        task.sample(last[:-1], 1, stream(0).numpy())
    with pytest.raises(UnknownNameError, match="did you mean 'training'"):
        task.chance("Training")


@both
def test_impossible_fields_are_refused_with_the_possible_range(unchecked: None, cls: type) -> None:
    for wrong in (0, 7, -1, 1.0, True, "2"):
        with pytest.raises(ValueError, match=rf"train_on must be an int.*, got {wrong!r}"):
            cls(train_on=wrong)
        with pytest.raises(ValueError, match=f"number must be an int 1…6, got {wrong!r}"):
            cls().objects(wrong)
        with pytest.raises(ValueError, match=f"number must be an int 1…6, got {wrong!r}"):
            cls().levels_of(wrong)
    for wrong in (5, 43, 42.0):
        with pytest.raises(ValueError, match=rf"num_levels must be an int.*, got {wrong}"):
            cls(num_levels=wrong)
    with pytest.raises(ValueError, match="levels_per_region must be an int 3…14, got 2"):
        cls(levels_per_region=2)
    for levels, region in ((42, 5), (14, 14)):
        with pytest.raises(
            ValueError, match=rf"must divide num_levels \({levels}\) .* got {region}"
        ):
            cls(num_levels=levels, levels_per_region=region)
    with pytest.raises(ValueError, match="image_size must be an int 64…1024, got 32"):
        cls(image_size=32)
    for wrong in (0, 192_081, 1.5):
        with pytest.raises(ValueError, match=f"problems_per_regime must be .* got {wrong}"):
            cls(problems_per_regime=wrong)
    with pytest.raises(TypeError):
        cls(1)
