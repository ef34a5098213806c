"""Visual analogies between rows: what holds, what does not, what is drawn, frozen versions."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import math

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from each import some as some_of
from farfield.core import Problems, stream
from farfield.core.internal import UnknownNameError
from farfield.tasks import TASKS, TRAINING, ProblemTask, VisualAnalogies
from farfield.tasks._analogies._analogy_panels import (
    PANEL_FIELDS,
    RELATIONS,
    draw_panels,
    open_rows,
    rows,
)
from farfield.tasks.internal import Candidates
from oracles import analogies as oracle
from tasks.sets import digest, drawn

PAIRS = (("shape-size", "line-type"), ("line-colour", "line-type"), ("line-type", "shape-colour"))
# Head of SHA-256 over everything drawn for run 0, and over the first pictures of the training set;
# a change of one raises `version`.
CELLS: dict[VisualAnalogies, tuple[str, str]] = {
    VisualAnalogies(): ("0f73e8381f84c700", "b081e31f48d3deb0"),
    VisualAnalogies(contrasting=False): ("0addfed4f40a2c60", "02c54e414b380293"),
    VisualAnalogies(distractors=False, image_size=160): ("0f73e8381f84c700", "1738a72df01f9ead"),
    VisualAnalogies(interpolation=True, withheld_pairs=PAIRS, image_size=40): (
        "7db03d7c788c23bd",
        "ac78bd0eb3eae558",
    ),
}
NAMES = ["", "random", "plain", "between"]
every_cell = pytest.mark.parametrize("task", some_of([*CELLS][::3], CELLS), ids=NAMES)
SCALES = ("shape-number", "shape-size", "shape-colour", "line-colour")


def panels_of(problems: Problems) -> Tensor:
    return problems.items.latent[problems.index]


def some(problems: Problems, count: int = 16) -> list[tuple[int, list[list[int]]]]:
    """Problems from all over a set, as numbers of what each panel shows."""
    chosen = range(0, len(problems), max(1, len(problems) // count))
    return [(row, panels_of(problems)[row].tolist()) for row in chosen]


def masks(levels: set[int] | frozenset[int]) -> int:
    return sum(1 << level for level in levels)


def test_rows_are_all_that_a_relation_makes() -> None:
    for number, relation in enumerate(RELATIONS):
        found = [tuple(row) for row in rows(number, 4).tolist()]
        assert len(found) == len(set(found))
        expected = {tuple(map(masks, row)) for row in oracle.rows(relation, 4)}
        assert set(found) == expected


def test_open_rows_can_end_by_every_relation() -> None:
    ends = [{row[:2] for row in oracle.rows(relation, 4)} for relation in RELATIONS]
    expected = {tuple(map(masks, pair)) for pair in set.intersection(*ends)}
    assert {tuple(row) for row in open_rows(4).tolist()} == expected


@every_cell
def test_one_candidate_ends_the_target_as_the_source_ends(task: VisualAnalogies) -> None:
    for problems in drawn(task).values():
        latent = problems.latent
        for row, panels in some(problems):
            ((source, relation),) = oracle.obeyed(panels[:3])
            held = [oracle.obeyed([*panels[3:5], panel]) for panel in panels[5:]]
            right = [place for place, names in enumerate(held) if relation in dict(names).values()]
            assert right == [int(problems.target[row])]
            ((target, _),) = held[right[0]]
            assert source != target
            assert oracle.DOMAINS[latent["source_domain"][row]] == source
            assert oracle.DOMAINS[latent["target_domain"][row]] == target
            assert RELATIONS[latent["relation"][row]] == relation


@every_cell
def test_foils_are_of_another_relation_or_of_none_in_particular(task: VisualAnalogies) -> None:
    held_by_chance = []
    for problems in drawn(task).values():
        for row, panels in some(problems):
            target = oracle.DOMAINS[problems.latent["target_domain"][row]]
            held = [oracle.obeyed([*panels[3:5], panel]) for panel in panels[5:]]
            named = [
                RELATIONS[number] if number >= 0 else None for number in relations(problems, row)
            ]
            if task.contrasting:
                assert held == [[(target, relation)] for relation in named]
                assert sorted(named) == sorted(RELATIONS)
            else:
                assert {domain for names in held for domain, _ in names} == {target}
                assert named.count(None) == 3
                held_by_chance.append(sum(map(len, held)) - 1)
                ends = [frozenset(oracle.shown(panel)[target]) for panel in panels[5:]]
                assert len(set(ends)) == 4
    assert task.contrasting or np.mean(held_by_chance) < 0.5


def relations(problems: Problems, row: int) -> list[int]:
    return problems.latent["relations"][row].tolist()


@every_cell
def test_values_are_familiar_but_in_the_target_of_the_last_test(task: VisualAnalogies) -> None:
    familiar = set(range(0, 10, 2)) if task.interpolation else set(range(5))
    *_, last = task.regimes
    for name, problems in drawn(task).items():
        for row, panels in some(problems):
            target = oracle.DOMAINS[problems.latent["target_domain"][row]]
            for place, panel in enumerate(panels):
                levels = oracle.shown(panel)
                novel = place > 2 and name == last.name
                for domain in (*SCALES[1:], *([SCALES[0]] if target == SCALES[0] else [])):
                    if domain == target and novel:
                        assert levels[domain]
                        assert not levels[domain] & familiar
                    else:
                        assert levels[domain] <= familiar | ({0} if domain == SCALES[0] else set())
            assert name != last.name or target in SCALES


def test_withheld_pairs_are_shown_in_their_test_alone() -> None:
    task = VisualAnalogies(withheld_pairs=PAIRS, training_problems=4_000)
    numbers = {tuple(map(oracle.DOMAINS.index, pair)) for pair in PAIRS}
    for name, problems in task.draw(stream(0)).items():
        latent = problems.latent
        pairs = set(
            zip(latent["source_domain"].tolist(), latent["target_domain"].tolist(), strict=True)
        )
        if name == "withheld-pairs":
            assert pairs == numbers
        else:
            assert not pairs & numbers
            assert name not in (TRAINING, "familiar") or len(pairs) == 42 - len(PAIRS)


@every_cell
def test_answers_relations_and_domains_are_balanced(task: VisualAnalogies) -> None:
    for name, problems in drawn(task).items():
        columns = {"target": (problems.target, 4), "relation": (problems.latent["relation"], 4)}
        if name in (TRAINING, "familiar") and not task.withheld_pairs:
            columns["source"] = (problems.latent["source_domain"], 7)
            columns["domain"] = (problems.latent["target_domain"], 7)
        for column, kinds in columns.values():
            counts = torch.bincount(column, minlength=kinds).double()
            expected = len(problems) / kinds
            assert len(counts) == kinds
            allowed = 4 * math.sqrt(expected * (1 - 1 / kinds))
            assert (counts - expected).abs().max() <= allowed


def features(problems: Problems, *, rows: bool, hint: bool) -> Tensor:
    """What each candidate shows, perhaps with the target row and the relation: (batch, 4, *)."""
    values = problems.latent["values"]
    bits = (values[..., None] >> torch.arange(10) & 1).float()
    domain = nn.functional.one_hot(problems.latent["target_domain"], 7).float()
    known = [bits[:, 5:], domain[:, None].expand(-1, 4, -1)]
    if rows:
        known += [bits[:, 3:5].flatten(1)[:, None].expand(-1, 4, -1)]
    if hint:
        relation = nn.functional.one_hot(problems.latent["relation"], 4).float()
        known += [relation[:, None].expand(-1, 4, -1)]
    return torch.cat(known, dim=2)


def probed(task: VisualAnalogies, **options: bool) -> float:
    """Accuracy of a small network that does not see the source, on problems it did not learn."""
    learned, test = drawn(task)[TRAINING][:3_000], drawn(task)["familiar"]
    source = torch.Generator().manual_seed(0)
    inputs = features(learned, **options)
    sizes = (inputs.shape[2], 32, 1)
    weights = [
        (torch.randn(wide, deep, generator=source) / math.sqrt(wide)).requires_grad_()
        for wide, deep in itertools.pairwise(sizes)
    ]
    optimizer = torch.optim.Adam(weights, lr=0.03)

    def scores(known: Tensor) -> Tensor:
        return (torch.relu(known @ weights[0]) @ weights[1]).squeeze(2)

    for _ in range(60):
        optimizer.zero_grad()
        nn.functional.cross_entropy(scores(inputs), learned.target).backward()
        optimizer.step()
    return float(task.score(scores(features(test, **options)).detach(), test).mean())


def test_candidates_alone_tell_nothing() -> None:
    most = 0.25 + 4 * math.sqrt(0.25 * 0.75 / 2_000)
    for task in list(CELLS)[:2]:
        assert probed(task, rows=False, hint=False) < most


def test_the_target_alone_tells_nothing_where_foils_contrast() -> None:
    task = VisualAnalogies()
    assert probed(task, rows=True, hint=False) < 0.25 + 4 * math.sqrt(0.25 * 0.75 / 2_000)
    assert probed(task, rows=True, hint=True) > 0.5


@every_cell
def test_the_oracle_is_always_right_and_does_not_look_at_answers(task: VisualAnalogies) -> None:
    for problems in drawn(task).values():
        outputs = task.oracle(problems)
        assert outputs.shape == (len(problems), 4)
        assert (task.score(outputs, problems) == 1).all()
        blind = Problems(
            items=problems.items, index=problems.index, target=torch.zeros_like(problems.target)
        )
        assert torch.equal(task.oracle(blind), outputs)
        few = problems[torch.tensor([7, 3])].compact()
        assert torch.equal(task.oracle(few), outputs[[7, 3]])


def test_the_oracle_refuses_pictures() -> None:
    problems = drawn(VisualAnalogies())["familiar"][:3].compact()
    pictures = dataclasses.replace(problems, items=problems.table())
    with pytest.raises(ValueError, match="must have the items they were drawn with, got a tensor"):
        VisualAnalogies().oracle(pictures)


def test_pictures_are_those_of_the_description() -> None:
    problems = drawn(VisualAnalogies())["target-upper-half"]
    chosen = problems.items.latent[torch.arange(0, 18_000, 4_500)]
    every = torch.zeros(10, PANEL_FIELDS, dtype=torch.uint8)
    for kind in range(10):
        for cell, (number, size) in enumerate([(1, 0), (1, 9), (2, 3), (9, 8), (10, 0)]):
            every[kind, 4 * cell : 4 * cell + 4] = torch.tensor([number, kind, size, cell])
    rows_drawn = torch.cat([chosen, every])
    for panel, image in zip(rows_drawn.tolist(), draw_panels(rows_drawn, 160).numpy(), strict=True):
        shapes, lines = oracle.picture(panel)
        assert (image[lines == -1] == shapes[lines == -1]).all()
        assert (image[lines >= 0] == lines[lines >= 0]).all()


@pytest.mark.parametrize("size", [40, 80])
def test_smaller_pictures_keep_every_so_manyth_pixel(size: int) -> None:
    panels = drawn(VisualAnalogies())["familiar"].items.latent[:40]
    step = 160 // size
    assert torch.equal(draw_panels(panels, size), draw_panels(panels, 160)[:, ::step, ::step])
    assert draw_panels(panels[:0], size).shape == (0, size, size)


def test_shapes_and_numbers_differ_as_models_see_them() -> None:
    """Of single shapes every type and size; of clusters every number."""
    kinds = list(itertools.product([1], range(10), range(10)))
    kinds += list(itertools.product(range(2, 11), range(10), [0]))
    panels = torch.zeros(len(kinds), PANEL_FIELDS, dtype=torch.uint8)
    panels[:, :3] = torch.tensor(kinds)
    pictures = draw_panels(panels, 80).flatten(1)
    assert len(pictures.unique(dim=0)) == len(kinds)
    for (number, _, _), picture in zip(kinds, pictures.view(-1, 80, 80), strict=True):
        cell = picture[4:28, 4:28] < 255
        inked = [
            bool(cell[8 * (k // 4) : 8 * (k // 4) + 8, 6 * (k % 4) : 6 * (k % 4) + 6].any())
            for k in range(12)
        ]
        assert number == 1 or inked == [k < number for k in range(12)]


def test_plain_rows_differ_in_what_matters_alone() -> None:
    for problems in drawn(VisualAnalogies(distractors=False, image_size=160)).values():
        for row, panels in some(problems):
            for domains, places in (("source_domain", range(3)), ("target_domain", range(3, 9))):
                matters = oracle.DOMAINS[problems.latent[domains][row]]
                levels = [oracle.shown(panels[place]) for place in places]
                for domain in set(oracle.DOMAINS) - {matters}:
                    lines = matters == "line-colour" and domain == "line-type"
                    if not lines:
                        assert all(each[domain] == levels[0][domain] for each in levels)
                kinds = [bool(each["line-type"]) for each in levels]
                assert kinds == [matters.startswith("line")] * len(levels)


@every_cell
def test_drawn_sets_are_frozen_for_this_version(task: VisualAnalogies) -> None:
    assert task.version == 1
    sets = drawn(task)
    pictures = sets[TRAINING].items.index_select(0, torch.arange(200)).numpy()
    found = digest(sets), hashlib.sha256(pictures.tobytes()).hexdigest()[:16]
    assert found == CELLS[task]


def test_a_larger_set_begins_with_the_smaller() -> None:
    larger = VisualAnalogies(training_problems=10_003, test_problems=1).draw(stream(0))[TRAINING]
    smaller = drawn(VisualAnalogies())[TRAINING]
    assert torch.equal(larger.target[:10_000], smaller.target)
    assert torch.equal(larger.items.latent[:90_000], smaller.items.latent)
    assert len(larger) == 10_003


def test_a_tie_is_no_answer_and_chance_is_a_quarter() -> None:
    task = VisualAnalogies()
    problems = drawn(task)["familiar"][:4]
    outputs = torch.zeros(4, 4)
    assert task.score(outputs, problems).tolist() == [0, 0, 0, 0]
    outputs[torch.arange(4), problems.target] = 1
    assert task.score(outputs, problems).tolist() == [1, 1, 1, 1]
    assert task.score(outputs * float("nan"), problems).tolist() == [0, 0, 0, 0]
    expected = nn.functional.cross_entropy(outputs, problems.target, reduction="none")
    assert torch.equal(task.loss(outputs, problems), expected)
    assert task.chance("target-upper-half") == 0.25
    with pytest.raises(UnknownNameError, match="did you mean 'target-upper-half'"):
        task.chance("target-upper")
    with pytest.raises(ValueError, match=r"outputs must be of .* \(4, 4\), got shape \(4, 3\)"):
        task.score(outputs[:, :3], problems)


def test_the_task_says_what_models_need() -> None:
    task = VisualAnalogies(image_size=160)
    assert TASKS[task.name] is VisualAnalogies
    assert isinstance(task, ProblemTask)
    assert isinstance(task, Candidates)
    assert (task.length, task.num_candidates, task.num_outputs) == (9, 4, 4)
    assert task.segments == ((0, 1, 2), (3, 4, 5))
    assert task.item_shape == (160, 160)
    assert [regime.name for regime in task.regimes] == [TRAINING, "familiar", "target-upper-half"]
    assert [regime.distance for regime in task.regimes] == [0, 0, 5]
    between = VisualAnalogies(interpolation=True, withheld_pairs=PAIRS)
    assert [regime.name for regime in between.regimes][2:] == ["withheld-pairs", "target-between"]
    problems = drawn(VisualAnalogies())["familiar"]
    assert problems.items.dtype == torch.uint8
    assert list(VisualAnalogies().parts(problems)) == list(RELATIONS)
    assert sum(part.sum() for part in VisualAnalogies().parts(problems).values()) == 2_000


@pytest.mark.parametrize(
    "fields, message",
    [
        ({"training_problems": 0}, "training_problems must be an int 1…10000000, got 0"),
        ({"test_problems": 1.5}, "test_problems must be an int, got 1.5"),
        ({"image_size": 100}, r"image_size must be one of \(40, 80, 160\), got 100"),
        ({"withheld_pairs": (("shape-size", "line"),)}, "unknown domain 'line'; did you mean"),
        ({"withheld_pairs": (("line-type", "line-type"),)}, "two different domains, got"),
        (
            {
                "withheld_pairs": tuple(
                    pair for pair in itertools.permutations(oracle.DOMAINS, 2) if pair[1] in SCALES
                )
            },
            "withheld_pairs must leave a target whose values can be novel",
        ),
    ],
)
def test_wrong_fields_are_refused(fields: dict[str, object], message: str, unchecked) -> None:
    with pytest.raises(ValueError, match=message):
        VisualAnalogies(**fields)
