"""Progressive matrices: what holds, what does not, what is withheld and drawn, frozen versions."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import math
from collections import Counter

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from each import some as some_of
from farfield.core import Problems, stream
from farfield.tasks import TASKS, TRAINING, VALIDATION, ProblemTask, ProgressiveMatrices
from farfield.tasks._matrices._matrix_drawers import draw_otherwise
from farfield.tasks._matrices._matrix_holdouts import HOLDOUTS
from farfield.tasks._matrices._matrix_panels import (
    ATTRIBUTES,
    PANEL_FIELDS,
    RELATIONS,
    TRIPLES,
    draw_matrix_panels,
    ended,
    laws,
    lines_of,
    shown,
)
from farfield.tasks.internal import Candidates, HasSubsets
from oracles import matrices as oracle
from tasks.sets import digest, drawn

# Head of SHA-256 over everything drawn for run 0, and over the first pictures of the training set;
# a change of one raises `version`.
CELLS: dict[ProgressiveMatrices, tuple[str, str]] = {
    ProgressiveMatrices(): ("3b3301ba34b41505", "ff885b3a0804a157"),
    ProgressiveMatrices(holdout="interpolation", image_size=40): (
        "2e0adc43c9ff7ba8",
        "c05bec445ce7bdec",
    ),
    ProgressiveMatrices(holdout="extrapolation", distractors=False, image_size=160): (
        "02a36fde57e6e8e9",
        "b7c42cbe58a49a6f",
    ),
    ProgressiveMatrices(holdout="attribute-pairs", training_problems=2_000): (
        "c7778acebbeab935",
        "0f200a9e61f1b09e",
    ),
    ProgressiveMatrices(holdout="triple-pairs", training_problems=2_000): (
        "57dbe9ce3e752478",
        "151b9692e1470dbb",
    ),
    ProgressiveMatrices(holdout="triples", training_problems=2_000): (
        "ddc0684415f7cf9e",
        "68bd4dcc1cb1f959",
    ),
    ProgressiveMatrices(holdout="shape-colour", training_problems=2_000, most_triples=2): (
        "8216f89c705366e0",
        "92501cd09061d895",
    ),
    ProgressiveMatrices(holdout="line-type", training_problems=2_000, most_triples=1): (
        "1b43089a06131695",
        "fcac6a07105fcdb6",
    ),
}
BALANCED = ProgressiveMatrices(
    holdout="extrapolation",
    balanced=True,
    distractors=False,
    training_problems=2_000,
    test_problems=2_000,
    most_triples=3,
)
every_cell = pytest.mark.parametrize(
    "task", some_of([*CELLS][:3:2], CELLS), ids=lambda task: task.holdout
)
SCALES = ("shape-size", "shape-colour", "line-colour")
Triple = tuple[str, str]


def few(holdout: str, count: int = 300) -> ProgressiveMatrices:
    """The cell of a holdout with fewer problems."""
    (task,) = (task for task in CELLS if task.holdout == holdout)
    return dataclasses.replace(task, training_problems=count, test_problems=count)


def panels_of(problems: Problems) -> Tensor:
    return problems.items.latent[problems.index]


def sets_of(problems: Problems) -> np.ndarray:
    """The set of levels of each attribute, of each panel of each problem, as a number's bits."""
    panels = panels_of(problems).numpy()
    return shown(panels.reshape(-1, PANEL_FIELDS)).reshape(*panels.shape[:2], -1)


def some(problems: Problems, count: int = 8) -> list[tuple[int, list[dict[str, set[int]]]]]:
    """Problems from all over a set, as the levels that each panel shows."""
    chosen = range(0, len(problems), max(1, len(problems) // count))
    return [
        (row, [oracle.shown(panel) for panel in panels_of(problems)[row].tolist()])
        for row in chosen
    ]


def named(triples: Tensor | list[int]) -> list[Triple]:
    """Relation and attribute of the triples of a problem."""
    chosen = [TRIPLES[int(number)] for number in triples if number >= 0]
    return [(RELATIONS[relation], ATTRIBUTES[attribute]) for relation, attribute in chosen]


def masks(levels: set[int] | frozenset[int]) -> int:
    return sum(1 << level for level in levels)


def test_there_are_29_triples_and_400_pairs_of_them_as_published() -> None:
    found = [(RELATIONS[relation], ATTRIBUTES[attribute]) for relation, attribute in TRIPLES]
    assert set(found) == {(r, a) for a, relations in oracle.TRIPLES.items() for r in relations}
    assert len(found) == len(ProgressiveMatrices.triples) == 29
    pairs = list(itertools.combinations(found, 2))
    both = {"shape-number", "shape-position"}
    assert sum({one[1], other[1]} != both for one, other in pairs) == 400
    ours = [pair for pair in pairs if len({a for _, a in pair}) == 2]
    assert sum({one[1], other[1]} != both for one, other in ours) == 350


@pytest.mark.parametrize(
    "triple, levels, fewest, most",
    [
        (("progression", "shape-number"), [3, 4, 5, 6, 7, 8, 9], 1, 1),
        (("progression", "shape-size"), [0, 2, 4, 6, 8], 1, 3),
        (("XOR", "shape-colour"), [5, 6, 7, 8, 9], 1, 3),
        (("OR", "line-colour"), [0, 1, 2, 3, 4], 1, 3),
        (("AND", "line-type"), [0, 1, 2, 3, 5], 3, 5),
    ],
)
def test_lines_are_all_that_a_triple_makes(
    triple: Triple, levels: list[int], fewest: int, most: int
) -> None:
    relation, attribute = triple
    number = TRIPLES.index((RELATIONS.index(relation), ATTRIBUTES.index(attribute)))
    table = lines_of(number, tuple(levels), fewest, most)
    expected = oracle.ends(relation, levels, fewest, most)
    assert set(table.ends.tolist()) == {masks(end) for end in expected}
    for end, pairs in expected.items():
        place = table.ends.tolist().index(masks(end))
        lines = table.lines[table.start[place] : table.start[place] + table.number[place]].tolist()
        assert len(lines) == len(pairs)
        made = {(masks(first), masks(second), masks(end)) for first, second in pairs}
        assert set(map(tuple, lines)) == made


@every_cell
def test_one_candidate_fits_what_holds_and_nothing_else_holds(task: ProgressiveMatrices) -> None:
    for problems in drawn(task).values():
        latent = problems.latent
        for row, panels in some(problems):
            context, candidates = panels[:8], panels[8:]
            direction = task.directions[latent["direction"][row]]
            told = {(direction, *triple) for triple in named(latent["triples"][row])}
            assert oracle.laws(context) == told
            assert len(told) == int(latent["num_triples"][row]) <= task.most_triples
            fits = oracle.fitting(context, candidates)
            assert [place for place, fit in enumerate(fits) if fit] == [int(problems.target[row])]


def test_the_published_columns_say_what_holds() -> None:
    columns = ["shape", "line", "colour", "number", "position", "size", "type"]
    columns += ["progression", "XOR", "OR", "AND", "consistent union"]
    problems = drawn(ProgressiveMatrices())[VALIDATION]
    for row in range(100):
        held = named(problems.latent["triples"][row])
        words = {word for relation, attribute in held for word in (relation, *attribute.split("-"))}
        assert problems.latent["meta_target"][row].tolist() == [name in words for name in columns]


@every_cell
def test_every_option_of_a_triple_is_shown_as_often(task: ProgressiveMatrices) -> None:
    """So that no vote among the candidates tells anything."""
    for problems in drawn(task).values():
        for row, panels in some(problems):
            held = named(problems.latent["triples"][row])
            options = []
            for _, attribute in held:
                counts = Counter(frozenset(panel[attribute]) for panel in panels[8:])
                assert len(set(counts.values())) == 1
                options.append(len(counts))
            expected = {1: [8], 2: [2, 4], 3: [2, 2, 2], 4: [2, 2, 2, 2]}
            assert sorted(options) == expected[len(held)]


@pytest.mark.parametrize("holdout", ["interpolation", "extrapolation"])
def test_sizes_and_colors_are_familiar_but_where_a_test_is_about_them(holdout: str) -> None:
    task = few(holdout)
    familiar = set(range(0, 10, 2)) if holdout == "interpolation" else set(range(5))
    *_, test = task.regimes
    for name, problems in drawn(task).items():
        for row, panels in some(problems):
            about = {attribute for _, attribute in named(problems.latent["triples"][row])}
            assert about & set(SCALES)
            for panel, attribute in itertools.product(panels, SCALES):
                if name == test.name and attribute in about:
                    assert panel[attribute]
                    assert not panel[attribute] & familiar
                else:
                    assert panel[attribute] <= familiar


def structures(problems: Problems) -> list[set[Triple]]:
    return [set(named(triples)) for triples in problems.latent["triples"].tolist()]


@pytest.mark.parametrize("holdout, count", [("triples", 7), ("triple-pairs", 35)])
def test_withheld_triples_and_pairs_are_shown_by_their_test_alone(holdout: str, count: int) -> None:
    task, held = few(holdout), HOLDOUTS[holdout]()
    withheld = [set(named(torch.tensor(triples))) for triples in held.withheld]
    assert len({frozenset(triples) for triples in withheld}) == count == held.distance
    for name, problems in drawn(task).items():
        for triples in structures(problems):
            assert any(each <= triples for each in withheld) == (name == held.test)
            assert len(triples) >= held.fewest
    if holdout == "triples":
        assert {attribute for ((_, attribute),) in withheld} == set(ATTRIBUTES)


def test_withheld_pairs_of_attributes_are_shown_by_their_test_alone() -> None:
    task = few("attribute-pairs")
    pairs: dict[bool, set[frozenset[str]]] = {False: set(), True: set()}
    tested: list[set[frozenset[str]]] = []
    for name, problems in drawn(task).items():
        for triples in structures(problems):
            about = {attribute for _, attribute in triples}
            found = {frozenset(pair) for pair in itertools.combinations(about, 2)}
            assert found
            pairs[name == task.regimes[-1].name] |= found
            tested += [found] * (name == task.regimes[-1].name)
    withheld = pairs[True] - pairs[False]
    assert (len(withheld), len(pairs[False])) == (4, 16)
    assert all(found & withheld for found in tested)


@pytest.mark.parametrize("holdout", ["shape-colour", "line-type"])
def test_a_withheld_attribute_is_what_its_test_is_about(holdout: str) -> None:
    task = few(holdout)
    for name, problems in drawn(task).items():
        for triples in structures(problems):
            about = {attribute for _, attribute in triples}
            assert (holdout in about) == (name == task.regimes[-1].name)


@every_cell
def test_answers_directions_and_numbers_are_balanced(task: ProgressiveMatrices) -> None:
    fewest = HOLDOUTS[task.holdout]().fewest
    for problems in drawn(task).values():
        latent = problems.latent
        columns = [(problems.target, 8), (latent["direction"], 2)]
        columns += [(latent["num_triples"] - fewest, task.most_triples - fewest + 1)]
        for column, kinds in columns:
            check_uniform(torch.bincount(column, minlength=kinds))


def check_uniform(counts: Tensor) -> None:
    """Raise if counts of equally likely kinds differ by more than chance allows."""
    expected, kinds = float(counts.sum()) / len(counts), len(counts)
    allowed = 4 * math.sqrt(expected * (1 - 1 / kinds))
    assert (counts.double() - expected).abs().max() <= allowed


def test_each_triple_is_as_likely_alone() -> None:
    problems = drawn(ProgressiveMatrices())[TRAINING]
    alone = problems.latent["triples"][problems.latent["num_triples"] == 1, 0]
    check_uniform(torch.bincount(alone, minlength=29))


def test_every_level_is_right_as_often_as_it_is_offered() -> None:
    """Of each attribute that matters: among all candidates that show a level one in eight."""
    for task in [*CELLS][:3:2]:
        problems = drawn(task)[TRAINING]
        candidates = sets_of(problems)[:, 8:]
        right = candidates[np.arange(len(problems)), problems.target]
        for attribute, levels in enumerate((10, 7, 10, 10, 9, 6, 10)):
            about = (problems.latent["triples"].numpy()[..., None] == triples_about(attribute)).any(
                axis=(1, 2)
            )
            for level in range(levels):
                offered = (candidates[about, :, attribute] >> level & 1).sum(axis=1) / 8
                chosen = right[about, attribute] >> level & 1
                spread = math.sqrt(float((offered * (1 - offered)).sum()))
                assert abs(chosen.sum() - offered.sum()) <= 4 * spread


def triples_about(attribute: int) -> np.ndarray:
    return np.array([number for number, (_, about) in enumerate(TRIPLES) if about == attribute])


def bits_of(sets: np.ndarray) -> Tensor:
    """Sets of levels as numbers 0 and 1, those of all attributes beside each other."""
    bits = torch.from_numpy(sets)[..., None] >> torch.arange(10) & 1
    return bits.flatten(-2).float()


def features(problems: Problems, *, matrix: bool, last: bool = False) -> Tensor:
    """What each candidate shows and all together do, perhaps with what fits: (batch, 8, *).

    The last lines are told as they are, and as all relations that a candidate ends them by.
    """
    sets = sets_of(problems)
    own = bits_of(sets[:, 8:])
    together = own.mean(dim=1, keepdim=True).expand_as(own)
    known = [own, together, (own - together) * own]
    if matrix:
        held, fits = laws(sets[:, :8]), ended(sets[:, :8], sets[:, 8:])
        known.append(torch.from_numpy(~held[:, None] | fits).flatten(2).float())
    if last:
        open_lines = bits_of(sets[:, [6, 7, 2, 5]])
        by_any = ended(sets[:, :8], sets[:, 8:])[..., :-1]
        known += [open_lines.flatten(1)[:, None].expand(-1, 8, -1)]
        known += [open_lines[:, place, None] * own for place in range(4)]
        known += [torch.from_numpy(by_any).flatten(2).float()]
    return torch.cat(known, dim=2)


def probed(task: ProgressiveMatrices, *, matrix: bool, last: bool = False) -> float:
    """Accuracy of a small network that sees candidates, on problems it did not learn."""
    learned, test = drawn(task)[TRAINING][:4_000], drawn(task)[VALIDATION]
    source = torch.Generator().manual_seed(0)
    inputs, target = features(learned, matrix=matrix, last=last), learned.target
    weights = [
        (torch.randn(wide, deep, generator=source) / math.sqrt(wide)).requires_grad_()
        for wide, deep in itertools.pairwise((inputs.shape[2], 32, 1))
    ]
    optimizer = torch.optim.Adam(weights, lr=0.01)

    def scores(known: Tensor) -> Tensor:
        return (torch.relu(known @ weights[0]) @ weights[1]).squeeze(2)

    for _ in range(60):
        batch = torch.randint(len(inputs), (300,), generator=source)
        optimizer.zero_grad()
        nn.functional.cross_entropy(scores(inputs[batch]), target[batch]).backward()
        optimizer.step()
    return float(task.score(scores(features(test, matrix=matrix, last=last)).detach(), test).mean())


MOST = 1 / 8 + 4 * math.sqrt(1 / 8 * 7 / 8 / 2_000)


@pytest.mark.parametrize(
    "task", some_of([*CELLS][:3:2], [*CELLS][:3]), ids=lambda task: task.holdout
)
def test_candidates_alone_tell_nothing(task: ProgressiveMatrices) -> None:
    assert probed(task, matrix=False) < MOST


def test_a_network_that_may_look_at_the_matrix_does_learn() -> None:
    assert probed(ProgressiveMatrices(), matrix=True) > 0.9


def share_right(scores: np.ndarray, target: Tensor) -> float:
    """Share of right answers where the best of several with one score is taken at random."""
    best = scores == scores.max(axis=1, keepdims=True)
    return float((best[np.arange(len(best)), target] / best.sum(axis=1)).mean())


def last_lines(problems: Problems) -> tuple[np.ndarray, np.ndarray]:
    """Scores by the last row and column: levels not added, attributes that any relation ends."""
    sets = sets_of(problems)
    context, candidates = sets[:, :8], sets[:, 8:]
    given = np.stack([context[:, 6] | context[:, 7], context[:, 2] | context[:, 5]], axis=1)
    added = candidates[:, :, None] & ~given[:, None]
    any_relation = ended(context, candidates)[..., :-1].any(axis=(2, 4)).sum(axis=2)
    return (added == 0).sum(axis=(2, 3)), any_relation


@pytest.mark.parametrize("holdout", HOLDOUTS)
def test_the_last_lines_alone_tell_much_and_not_all(holdout: str) -> None:
    """As the card says: without a look at the whole lines, which say what it is that holds."""
    pairs = 2 if holdout.endswith("pairs") else 1
    task = ProgressiveMatrices(
        holdout=holdout,
        most_triples=pairs,
        distractors=False,
        training_problems=1,
        test_problems=1_000,
    )
    for name, problems in drawn(task).items():
        if name == TRAINING:
            continue
        nothing, any_relation = last_lines(problems)
        assert 0.24 < share_right(nothing, problems.target) < 0.41
        assert 0.60 < share_right(any_relation, problems.target) < 0.82


def test_balanced_last_lines_alone_tell_nothing() -> None:
    for whole in drawn(BALANCED).values():
        problems = whole[:1_000]
        four = bits_of(sets_of(problems)[:, [0, 1, 3, 4]]).sum(dim=1, keepdim=True)
        copied = (bits_of(sets_of(problems)[:, 8:]) * four).sum(dim=2).numpy()
        deviation = math.sqrt(1 / 8 * 7 / 8 / len(problems))
        for scores in last_lines(problems):
            assert abs(share_right(scores, problems.target) - 1 / 8) < 4 * deviation
        assert 0.14 - 4 * deviation < share_right(copied, problems.target) < 0.2


def test_no_network_learns_from_balanced_candidates_and_last_lines() -> None:
    """Where one that may look at the matrix has learned after as many steps."""
    assert probed(BALANCED, matrix=False, last=True) < MOST


def test_one_balanced_candidate_fits_and_each_ends_the_last_line() -> None:
    """By its own relation in each attribute that matters; a union is what repeats other lines."""
    task = dataclasses.replace(
        BALANCED, most_triples=4, distractors=True, training_problems=40, test_problems=40
    )
    for problems in drawn(task).values():
        latent = problems.latent
        for row, panels in some(problems):
            context, candidates = panels[:8], panels[8:]
            direction = task.directions[latent["direction"][row]]
            held = named(latent["triples"][row])
            assert len(held) in (3, 4)
            assert oracle.laws(context) == {(direction, *triple) for triple in held}
            fits = oracle.fitting(context, candidates)
            assert [place for place, fit in enumerate(fits) if fit] == [int(problems.target[row])]
            for relation, attribute in held:
                ends = [frozenset(panel[attribute]) for panel in candidates]
                assert sorted(Counter(ends).values()) == [4, 4]
                _, _, line = oracle.lines_of([*context, candidates[0]], direction)
                by = [
                    oracle.held(*(panel[attribute] for panel in line[:2]), set(end))
                    for end in set(ends)
                ]
                assert sum(map(bool, by)) == 2 - (relation == "consistent union" or not all(by))


def test_no_single_panel_tells_the_place_of_the_answer() -> None:
    task = ProgressiveMatrices()
    training, test = drawn(task)[TRAINING], drawn(task)[VALIDATION]
    known, asked = bits_of(sets_of(training)), bits_of(sets_of(test))
    wanted = nn.functional.one_hot(training.target, 8).float()
    for place in range(16):
        weight = torch.linalg.lstsq(known[:, place], wanted, driver="gelsd").solution
        found = (asked[:, place] @ weight).argmax(dim=1)
        assert float((found == test.target).float().mean()) < MOST


@every_cell
def test_the_oracle_is_always_right_and_does_not_look_at_answers(task: ProgressiveMatrices) -> None:
    for whole in drawn(task).values():
        problems = whole[-2_000:]
        outputs = task.oracle(problems)
        assert outputs.shape == (len(problems), 8)
        assert (task.score(outputs, problems) == 1).all()
        blind = Problems(
            items=problems.items, index=problems.index, target=torch.zeros_like(problems.target)
        )
        assert torch.equal(task.oracle(blind), outputs)
        two = problems[torch.tensor([7, 3])].compact()
        assert torch.equal(task.oracle(two), outputs[[7, 3]])


def test_the_oracle_refuses_pictures() -> None:
    problems = drawn(ProgressiveMatrices())[VALIDATION][:3].compact()
    pictures = dataclasses.replace(problems, items=problems.table())
    with pytest.raises(ValueError, match="must have the items they were drawn with, got a tensor"):
        ProgressiveMatrices().oracle(pictures)


def test_pictures_are_those_of_the_description() -> None:
    chosen = drawn(ProgressiveMatrices())[VALIDATION].items.latent[torch.arange(0, 32_000, 8_100)]
    every = torch.zeros(10, PANEL_FIELDS, dtype=torch.uint8)
    for number in range(10):
        cells = [[1 + (number + cell) % 7, (number + 3 * cell) % 10, cell] for cell in range(9)]
        every[number, :27] = torch.tensor(cells).flatten()
        every[number, 27 + number % 6] = number + 1
    panels = torch.cat([chosen, every])
    for panel, image in zip(panels.tolist(), draw_matrix_panels(panels, 160).numpy(), strict=True):
        assert (image == oracle.picture(panel)).all()


def test_smaller_pictures_keep_every_second_pixel_and_then_means() -> None:
    panels = drawn(ProgressiveMatrices())[VALIDATION].items.latent[:40]
    half, quarter = (draw_matrix_panels(panels, size) for size in (80, 40))
    assert torch.equal(half, draw_matrix_panels(panels, 160)[:, ::2, ::2])
    means = F.avg_pool2d(half.unsqueeze(1).double(), 2).squeeze(1)
    assert ((quarter.double() - means).abs() <= 0.5).all()
    for size in (40, 80):
        assert draw_matrix_panels(panels[:0], size).shape == (0, size, size)


# --- Other drawings ------------------------------------------------------------------------------

REDRAWN = dataclasses.replace(BALANCED, training_problems=100, test_problems=100, redrawn=True)
DRAWINGS = ("wide-lines", "shifted-figures", "turned-figures", "another-drawer")


def test_other_drawings_are_tests_of_training_problems() -> None:
    plain = drawn(dataclasses.replace(REDRAWN, redrawn=False))
    sets = drawn(REDRAWN)
    assert tuple(sets) == (*plain, *DRAWINGS)
    assert [regime.distance for regime in REDRAWN.regimes] == [0, 0, 5, 1, 1, 1, 3]
    for name in plain:
        assert torch.equal(sets[name].items.latent, plain[name].items.latent)
    for name in DRAWINGS:
        latent = sets[name].items.latent
        turns, shifts = latent[:, PANEL_FIELDS : PANEL_FIELDS + 9], latent[:, PANEL_FIELDS + 9 :]
        assert len(turns.unique()) == (4 if name in ("turned-figures", "another-drawer") else 1)
        assert len(shifts.unique()) == (9 if name in ("shifted-figures", "another-drawer") else 1)
        assert (REDRAWN.score(REDRAWN.oracle(sets[name]), sets[name]) == 1).all()
        for scale in (2, 3):  # sizes and colors are those of training
            assert latent[:, :27].reshape(-1, 9, 3)[:, :, scale - 1].max() == 4


def drawn_alone(panel: Tensor, name: str, size: int) -> np.ndarray:
    """The picture of a description of a drawing."""
    width = 2 if name in ("wide-lines", "another-drawer") else 1
    return draw_otherwise(panel[None], size, half_width=width)[0].numpy()


@pytest.mark.parametrize("name", DRAWINGS)
def test_figures_are_turned_and_moved_within_their_cells(name: str) -> None:
    for panel in drawn(REDRAWN)[name].items.latent[::97].clone():
        panel[PANEL_FIELDS - 6 : PANEL_FIELDS] = 0  # without lines
        there = drawn_alone(panel, name, 160)
        usual = draw_matrix_panels(panel[None, :PANEL_FIELDS], 160)[0].numpy()
        for cell in range(9):
            top, left = 8 + 48 * (cell // 3), 8 + 48 * (cell % 3)
            found, was = (each[top : top + 48, left : left + 48] for each in (there, usual))
            turn, shift = (int(panel[PANEL_FIELDS + 9 * k + cell]) for k in range(2))
            side = 16 + 3 * int(panel[3 * cell + 1])
            down, across = ((48 - side) // 2 * (step - 1) for step in (shift // 3, shift % 3))
            for y, x in itertools.product(range(48), repeat=2):
                at = y - down, x - across
                for _ in range(turn):  # a quarter against the clock
                    at = at[1], 47 - at[0]
                inside = all(0 <= place < 48 for place in at)
                assert found[y, x] == (was[at] if inside else 255)


def test_wide_lines_are_five_pixels_wide() -> None:
    (across,) = (number for number, line in enumerate(oracle.LINES) if line == "horizontal")
    panel = torch.zeros(PANEL_FIELDS + 18, dtype=torch.uint8)
    panel[27 + across], panel[PANEL_FIELDS + 9 :] = 10, 4
    for name, rows in (("wide-lines", range(78, 83)), ("turned-figures", range(79, 82))):
        picture = drawn_alone(panel, name, 160)
        assert np.flatnonzero((picture != 255).any(axis=1)).tolist() == [*rows]
        assert np.flatnonzero((picture != 255).any(axis=0)).tolist() == [*range(8, 153)]
        assert np.array_equal(drawn_alone(panel, name, 80), picture[::2, ::2])
    assert draw_otherwise(panel[None][:0], 40, half_width=2).shape == (0, 40, 40)


def test_other_drawings_are_frozen_for_this_version() -> None:
    sets = drawn(REDRAWN)
    chosen = [sets[name].items.index_select(0, torch.arange(0, 1600, 16)) for name in DRAWINGS]
    head = hashlib.sha256(torch.stack(chosen).numpy().tobytes()).hexdigest()[:16]
    assert (digest(sets), head) == ("1c8523af24d35106", "f58763ceed26f7b5")


def test_all_shapes_and_lines_differ_as_models_see_them() -> None:
    kinds = [[kind, size, color] for kind in range(1, 8) for size in range(10) for color in (0, 9)]
    panels = torch.zeros(len(kinds) + 63, PANEL_FIELDS, dtype=torch.uint8)
    panels[: len(kinds), :3] = torch.tensor(kinds)
    panels[len(kinds) :, 27:] = (torch.arange(1, 64)[:, None] >> torch.arange(6) & 1) * 5
    for size in (40, 80, 160):
        assert len(draw_matrix_panels(panels, size).flatten(1).unique(dim=0)) == len(panels)


def test_without_distraction_only_what_matters_differs() -> None:
    task = ProgressiveMatrices(distractors=False, training_problems=200, test_problems=1)
    problems = task.draw(stream(0))[TRAINING]
    for row, panels in some(problems):
        about = {attribute for _, attribute in named(problems.latent["triples"][row])}
        implied = {"shape-position": "shape-number", "shape-number": "shape-position"}
        follow = {implied[attribute] for attribute in about & set(implied)}
        for attribute in set(oracle.TRIPLES) - about - follow:
            assert all(panel[attribute] == panels[0][attribute] for panel in panels)
        for thing in ("shape", "line"):
            there = any(attribute.startswith(thing) for attribute in about)
            kind = "position" if thing == "shape" else "type"
            assert all(bool(panel[f"{thing}-{kind}"]) == there for panel in panels)


@every_cell
def test_drawn_sets_are_frozen_for_this_version(task: ProgressiveMatrices) -> None:
    assert task.version == 2
    sets = drawn(task)
    pictures = sets[TRAINING].items.index_select(0, torch.arange(200)).numpy()
    found = digest(sets), hashlib.sha256(pictures.tobytes()).hexdigest()[:16]
    assert found == CELLS[task]


def test_balanced_sets_are_frozen_for_this_version() -> None:
    assert digest(drawn(BALANCED)) == "1b3fb834b05ce0aa"


def test_a_larger_set_begins_with_the_smaller() -> None:
    larger = ProgressiveMatrices(training_problems=4_003).draw(stream(0))[TRAINING]
    smaller = drawn(ProgressiveMatrices())[TRAINING]
    assert torch.equal(larger.target[:4_000], smaller.target[:4_000])
    assert torch.equal(larger.items.latent[:64_000], smaller.items.latent[:64_000])
    assert len(larger) == 4_003


def test_the_task_says_what_models_need() -> None:
    task = ProgressiveMatrices(image_size=160, holdout="extrapolation")
    assert TASKS[task.name] is ProgressiveMatrices
    assert isinstance(task, ProblemTask)
    assert isinstance(task, Candidates)
    assert isinstance(task, HasSubsets)
    assert (task.length, task.num_candidates, task.num_outputs) == (16, 8, 8)
    assert task.segments == (tuple(range(9)),)
    assert task.item_shape == (160, 160)
    assert [regime.name for regime in task.regimes] == [TRAINING, VALIDATION, "upper-half"]
    assert [regime.distance for regime in task.regimes] == [0, 0, 5]
    assert task.chance("upper-half") == 1 / 8
    problems = drawn(ProgressiveMatrices())[VALIDATION]
    assert problems.items.dtype == torch.uint8
    parts = ProgressiveMatrices().parts(problems)
    assert list(parts) == [*(f"triples-{number}" for number in range(1, 5)), *RELATIONS]
    assert sum(int(parts[f"triples-{number}"].sum()) for number in range(1, 5)) == len(problems)
    held = [{relation for relation, _ in triples} for triples in structures(problems)]
    for relation in RELATIONS:
        assert parts[relation].tolist() == [relation in each for each in held]


@pytest.mark.parametrize(
    "fields, message",
    [
        ({"training_problems": 0}, "training_problems must be an int 1…10000000, got 0"),
        ({"test_problems": 1.5}, "test_problems must be an int, got 1.5"),
        ({"image_size": 100}, r"image_size must be one of \(40, 80, 160\), got 100"),
        ({"most_triples": 5}, "most_triples must be an int 1…4, got 5"),
        ({"holdout": "triple"}, "unknown holdout 'triple'; did you mean 'triples'"),
        (
            {"holdout": "triple-pairs", "most_triples": 1},
            "most_triples must be at least 2 for the holdout 'triple-pairs', .* got 1",
        ),
        (
            {"balanced": True, "most_triples": 2},
            "most_triples must be at least 3 with balanced candidates, .* got 2",
        ),
        (
            {"balanced": True, "holdout": "triples"},
            "holdout must not withhold relations with balanced candidates, .* got 'triples'",
        ),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_wrong_fields_are_refused(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ProgressiveMatrices(**fields)


def test_the_first_problems_are_drawn_without_the_others():
    task = ProgressiveMatrices(training_problems=2_500, test_problems=300)
    whole, first = task.draw(stream(3)), task.draw_first(stream(3))
    assert {name: len(problems) for name, problems in first.items()} == {
        "training": 2_000,
        "validation": 300,
        "neutral": 300,
    }
    for name, problems in first.items():
        assert task.num_problems(name) == len(whole[name])
        same = whole[name][: len(problems)]
        assert torch.equal(problems.target, same.target)
        assert torch.equal(problems[-2:].compact().table(), same[-2:].compact().table())
