"""Sort-of-CLEVR: answers, images, what is withheld, the faults, floors and the frozen version."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools

import numpy as np
import pytest
import torch

from farfield.core import Problems, stream
from farfield.core.internal import UnknownNameError
from farfield.experiments import Network, Spec
from farfield.models import RN
from farfield.nn import LinearEncoder
from farfield.tasks import TASKS, TRAINING, SortOfCLEVR
from farfield.tasks.internal import HasSubsets, metric_of
from farfield.training._evaluate import score_regimes
from oracles import clevr as oracle
from tasks.sets import drawn

NEW = "new-images"
KINDS = ("shape", "left", "top", "closest", "furthest", "count")
ANSWERS = ("yes", "no", "square", "circle", "1", "2", "3", "4", "5", "6")
SMALL = SortOfCLEVR(training_images=300, test_images=200)
PAIRS = dataclasses.replace(SMALL, withheld_pairs=3)
COLORS = dataclasses.replace(SMALL, withheld_colors=2)
RELEASED = dataclasses.replace(
    COLORS, circles_only=True, same_questions=True, closest_to_self=True, shifted_colors=True
)
# The head of SHA-256 over all of run 0; a change of it raises `version`.
CELLS = {
    SMALL: "9bb16d5d9505f380",
    PAIRS: "7285417dabae6c8d",
    COLORS: "38926cf67b457f1f",
    RELEASED: "4a98f9da3f2ed13e",
}
every_cell = pytest.mark.parametrize("task", list(CELLS), ids=["all", "pairs", "colors", "faults"])


def digest(sets: dict[str, Problems]) -> str:
    total = hashlib.sha256()
    for regime, problems in sets.items():
        columns = (problems.index, problems.target, *problems.latent.values())
        for column in (*columns, problems.items.latent):
            total.update(f"{regime}{tuple(column.shape)}".encode())
            total.update(column.numpy().astype("<i8").tobytes())
        total.update(problems.items[torch.arange(100)].numpy().tobytes())
    return total.hexdigest()[:16]


def scene_of(description: list[int]) -> oracle.Scene:
    """The objects of a row of latent."""
    things = np.reshape(description[1:], (6, 3)).tolist()
    return [(x, y, ("square", "circle")[s]) if s >= 0 else None for x, y, s in things]


def scenes_of(problems: Problems) -> np.ndarray:
    """Objects of all images."""
    return problems.items.latent[36:, 1:].reshape(-1, 6, 3).numpy()


def pairs_of(problems: Problems) -> set[tuple[int, int]]:
    """Colors and shapes that occur."""
    shapes = scenes_of(problems)[:, :, 2]
    return {(color, s) for color in range(6) for s in set(shapes[:, color].tolist()) if s >= 0}


@every_cell
def test_drawn_sets_are_frozen_for_this_version(task: SortOfCLEVR) -> None:
    assert task.version == 1
    assert digest(drawn(task)) == CELLS[task]
    assert digest(task.draw(stream(0))) == CELLS[task]
    assert digest(task.draw(stream(1))) != CELLS[task]


@every_cell
def test_answers_follow_from_the_scenes(task: SortOfCLEVR) -> None:
    own = 999 if task.closest_to_self else None
    for problems in drawn(task).values():
        latent, rows = problems.items.latent.tolist(), problems.index[:, 0].tolist()
        asked = zip(
            rows, problems.latent["color"].tolist(), problems.latent["kind"].tolist(), strict=True
        )
        expected = [
            oracle.answer(scene_of(latent[row]), color, KINDS[kind], own_distance=own)
            for row, color, kind in asked
        ]
        assert [ANSWERS[target] for target in problems.target.tolist()] == expected
    assert (SortOfCLEVR.kinds, SortOfCLEVR.answers) == (KINDS, ANSWERS)
    assert list(SortOfCLEVR.colors) == oracle.COLORS


@every_cell
def test_images_show_their_scenes(task: SortOfCLEVR) -> None:
    for problems in drawn(task).values():
        for row in (36, 37, len(problems.items) - 1):
            shown = problems.items[row]
            assert (tuple(shown.shape), shown.dtype) == (task.item_shape, torch.uint8)
            expected = oracle.image(scene_of(problems.items.latent[row].tolist()))
            assert np.array_equal(shown.numpy(), expected)


@every_cell
def test_questions_are_the_first_pixels_of_black_images(task: SortOfCLEVR) -> None:
    for regime, problems in drawn(task).items():
        shift = 2 if task.shifted_colors and regime in (TRAINING, NEW) else 0
        some = problems[:40]
        for shown, color, kind in zip(
            some.sequences()[:, 1], some.latent["color"], some.latent["kind"], strict=True
        ):
            vector = oracle.vector(int(color) - shift, KINDS[kind])
            for channel in shown:
                assert channel[0, :11].tolist() == [255 * number for number in vector]
            assert int(shown.sum()) == 3 * 3 * 255


@every_cell
def test_an_image_stands_once_for_its_twenty_questions(task: SortOfCLEVR) -> None:
    for regime, problems in drawn(task).items():
        count = 300 if regime == TRAINING else 200
        assert len(problems.items) == 36 + count
        assert torch.equal(problems.index[:, 0], 36 + torch.arange(count).repeat_interleave(20))
        assert 0 <= int(problems.index[:, 1].min()) <= int(problems.index[:, 1].max()) < 36
        relational = task.parts(problems)["relational"].reshape(count, 20)
        assert not relational[:, :10].any()
        assert relational[:, 10:].all()
        kinds = problems.latent["kind"].reshape(count, 20)
        assert torch.equal(kinds >= 3, relational)


@every_cell
def test_objects_are_within_the_image_and_apart(task: SortOfCLEVR) -> None:
    for regime, problems in drawn(task).items():
        scenes = scenes_of(problems)
        first = task.withheld_colors if regime in (TRAINING, NEW) else 0
        assert (scenes[:, :first] == -1).all()
        there = scenes[:, first:]
        assert (there[..., :2] >= 5).all()
        assert (there[..., :2] <= 69).all()
        for one, other in itertools.combinations(range(6 - first), 2):
            way = there[:, one, :2] - there[:, other, :2]
            assert (np.square(way).sum(1) >= 100).all()


def test_scenes_differ_between_regimes_and_runs() -> None:
    seen = [
        tuple(scene)
        for seed in (0, 1)
        for problems in drawn(PAIRS, seed).values()
        for scene in scenes_of(problems).reshape(-1, 18).tolist()
    ]
    assert len(set(seen)) == len(seen) == 2 * 700


def test_everything_is_equally_frequent() -> None:
    task = SortOfCLEVR(training_images=3_000, test_images=1)
    problems = task.draw(stream(0))[TRAINING]
    scenes, count = scenes_of(problems), 3_000
    for color in range(6):
        assert abs(scenes[:, color, 2].mean() - 0.5) < 4 * 0.5 / count**0.5
    first = np.bincount(scenes[:, 0, :2].ravel() - 5, minlength=65) / (2 * count)
    assert abs(first - 1 / 65).max() < 4 * (1 / 65 / (2 * count)) ** 0.5
    questions = torch.bincount(problems.index[:, 1], minlength=36) / len(problems)
    assert (questions - 1 / 36).abs().max() < 4 * (1 / 36 / len(problems)) ** 0.5
    for kind, (low, high) in enumerate([(2, 4), (0, 2), (0, 2), (2, 4), (2, 4), (4, 10)]):
        found = torch.bincount(problems.target[problems.latent["kind"] == kind], minlength=10)
        shares = found[low:high] / found.sum()
        binomial = [1 / 32, 5 / 32, 10 / 32, 10 / 32, 5 / 32, 1 / 32]
        half = [33 / 65, 32 / 65] if kind in (1, 2) else [0.5, 0.5]
        expected = torch.tensor(binomial if kind == 5 else half)
        # Six questions of a kind on an image are not independent: an image counts once.
        assert (shares - expected).abs().max() < 4 * 0.5 / count**0.5
        assert found.sum() == found[low:high].sum()


@pytest.mark.parametrize("withheld", [1, 2, 3, 6])
def test_pairs_are_withheld_from_training_alone(withheld: int) -> None:
    task = dataclasses.replace(SMALL, withheld_pairs=withheld)
    every = set(itertools.product(range(6), range(2)))
    chosen = set()
    for seed in range(4):
        sets = drawn(task, seed)
        assert list(sets) == [TRAINING, NEW, f"withheld-pairs-{withheld}"]
        lacking = every - pairs_of(sets[TRAINING])
        assert len({color for color, _ in lacking}) == len(lacking) == withheld
        assert pairs_of(sets[NEW]) == every - lacking
        assert pairs_of(sets[f"withheld-pairs-{withheld}"]) == every
        chosen.add(frozenset(lacking))
    assert len(chosen) > 1


def test_more_withheld_pairs_are_those_of_fewer_and_others() -> None:
    every = set(itertools.product(range(6), range(2)))
    lacking = [
        every - pairs_of(drawn(dataclasses.replace(SMALL, withheld_pairs=count))[TRAINING])
        for count in (1, 2, 3)
    ]
    assert lacking[0] < lacking[1] < lacking[2]


def test_colors_are_withheld_from_images_and_questions_of_training() -> None:
    sets = drawn(COLORS)
    for regime in (TRAINING, NEW):
        assert {color for color, _ in pairs_of(sets[regime])} == {2, 3, 4, 5}
        assert set(sets[regime].latent["color"].tolist()) == {2, 3, 4, 5}
        assert set((sets[regime].index[:, 1] // 6).tolist()) == {2, 3, 4, 5}
    assert set(sets["withheld-colors-2"].latent["color"].tolist()) == set(range(6))
    assert len(pairs_of(sets["withheld-colors-2"])) == 12


def test_with_circles_only_every_answer_about_shapes_is_the_same() -> None:
    problems = drawn(dataclasses.replace(SMALL, circles_only=True))[TRAINING]
    assert {shape for _, shape in pairs_of(problems)} == {1}
    for kind, answer in ((0, "circle"), (3, "circle"), (4, "circle"), (5, "6")):
        found = problems.target[problems.latent["kind"] == kind]
        assert {ANSWERS[target] for target in found.tolist()} == {answer}
    assert len({shape for _, shape in pairs_of(drawn(SMALL)[TRAINING])}) == 2


def test_with_the_same_questions_every_image_has_those_of_the_first() -> None:
    same, others = (
        drawn(dataclasses.replace(SMALL, same_questions=on))[NEW].index[:, 1].reshape(-1, 20)
        for on in (True, False)
    )
    assert (same == same[0]).all()
    assert len(set(map(tuple, others.tolist()))) == len(others)


def test_objects_are_their_own_closest_where_all_others_are_far() -> None:
    faulty, right = (
        drawn(SortOfCLEVR(training_images=4_000, test_images=1, closest_to_self=on))[TRAINING]
        for on in (True, False)
    )
    assert torch.equal(faulty.items.latent, right.items.latent)
    about = torch.nonzero(right.latent["kind"] == 3)[:, 0]
    scenes, color = scenes_of(right)[right.index[about, 0] - 36], right.latent["color"][about]
    own = scenes[np.arange(len(about)), color]
    way = np.square(scenes[:, :, :2] - own[:, None, :2]).sum(2)
    way[np.arange(len(about)), color] = 10**6
    is_alone = torch.from_numpy(way.min(1) > 999)
    # Found by running the released code: 6.8 % of the objects.
    assert abs(float(is_alone.float().mean()) - 0.068) < 0.004
    assert torch.equal(faulty.target[about[~is_alone]], right.target[about[~is_alone]])
    shape = torch.from_numpy(own[:, 2])[is_alone]
    assert torch.equal(faulty.target[about[is_alone]] - 2, shape)
    wrong = (faulty.target != right.target)[about[is_alone]].float().mean()
    assert abs(float(wrong) - 0.5) < 4 * 0.5 / int(is_alone.sum()) ** 0.5
    others = right.latent["kind"] != 3
    assert torch.equal(faulty.target[others], right.target[others])


def test_with_shifted_colors_a_question_of_training_means_another_in_the_test() -> None:
    sets = drawn(dataclasses.replace(COLORS, shifted_colors=True))
    for regime, shift in ((TRAINING, 2), (NEW, 2), ("withheld-colors-2", 0)):
        problems = sets[regime]
        assert torch.equal(problems.index[:, 1] // 6, problems.latent["color"] - shift)
        assert torch.equal(problems.target, drawn(COLORS)[regime].target)


def allowed(task: SortOfCLEVR, regime: str, sure: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Shapes of each color in a regime; some are sure in training with withheld pairs."""
    as_training = regime in (TRAINING, NEW)
    free = ("circle",) if task.circles_only else ("square", "circle")
    known = [(shape,) for shape in sure] if as_training else []
    return known + [free] * (6 - len(known) - (task.withheld_colors if as_training else 0))


@every_cell
def test_floors_are_those_of_the_best_guess(task: SortOfCLEVR) -> None:
    for regime in task.regimes:
        count = task.withheld_pairs if regime.name in (TRAINING, NEW) else 0
        cases = [
            oracle.best_guesses(allowed(task, regime.name, sure))
            for sure in itertools.product(("square", "circle"), repeat=count)
        ]
        expected = {kind: float(sum(case[kind] for case in cases) / len(cases)) for kind in KINDS}
        assert task.chances(regime.name) == pytest.approx(expected)
        assert task.chance(regime.name) == pytest.approx(sum(expected.values()) / 6)


def test_floors_are_what_the_question_alone_gets() -> None:
    task = SortOfCLEVR(training_images=4_000, test_images=1, withheld_pairs=1)
    problems = task.draw(stream(0))[TRAINING]
    for kind, chance in enumerate(task.chances(TRAINING).values()):
        best = []
        for color in range(6):
            of = (problems.latent["kind"] == kind) & (problems.latent["color"] == color)
            found = torch.bincount(problems.target[of])
            best.append(float(found.max() / found.sum()))
        assert abs(np.mean(best) - chance) < 4 * 0.5 / 4_000**0.5


def test_the_baselines_of_the_paper_are_guesses_among_possible_answers() -> None:
    number = {"count": 6}
    guess = {kind: 1 / number.get(kind, 2) for kind in KINDS}
    assert np.mean([guess[kind] for kind in KINDS[:3]]) == 0.5
    assert np.mean([guess[kind] for kind in KINDS[3:]]) == pytest.approx(0.39, abs=0.005)
    found = SMALL.chances(NEW)
    assert np.mean([found[kind] for kind in KINDS[:3]]) == pytest.approx(0.505, abs=5e-4)
    assert np.mean([found[kind] for kind in KINDS[3:]]) == 0.4375


@every_cell
def test_the_ceiling_and_the_parts_of_every_set(task: SortOfCLEVR) -> None:
    for problems in drawn(task).values():
        assert task.score(task.oracle(problems), problems).all()
        parts = task.parts(problems)
        assert list(parts) == ["relational", "non-relational"]
        assert torch.equal(parts["relational"], ~parts["non-relational"])
        assert parts["relational"].sum() == len(problems) // 2
    assert isinstance(task, HasSubsets)


def test_regimes_and_shapes() -> None:
    assert TASKS["sort-of-clevr"] is SortOfCLEVR
    task = SortOfCLEVR()
    assert (task.item_shape, task.length, task.num_outputs) == ((3, 75, 75), 2, 10)
    assert (task.segments, metric_of(task)) == (((0, 1),), "accuracy")
    assert [(regime.name, regime.distance) for regime in task.regimes] == [(TRAINING, 0), (NEW, 0)]
    for other, name, unit in (
        (PAIRS, "withheld-pairs-3", "color-shape pairs that training lacks"),
        (COLORS, "withheld-colors-2", "colors that training lacks"),
    ):
        last = other.regimes[-1]
        assert (last.name, last.distance, last.unit) == (name, int(name[-1]), unit)
    for ask in (task.chance, lambda r: SMALL.sample(r, 5, stream(0).numpy())):
        with pytest.raises(UnknownNameError, match="unknown regime 'withheld-pairs-3'"):
            ask("withheld-pairs-3")


def test_samples_come_from_the_set_of_their_regime() -> None:
    first, again = (SMALL.sample(NEW, 9, stream(0).numpy()) for _ in range(2))
    assert torch.equal(first.sequences(), again.sequences())
    assert torch.equal(first.items.latent, drawn(SMALL)[NEW].items.latent)


def test_networks_are_scored_on_either_sort_of_question() -> None:
    task = dataclasses.replace(SMALL, training_images=20, test_images=20)
    model = Network(reasoner=Spec(RN), encoder=Spec(LinearEncoder, out_features=8))
    network = model.build(task, stream(0))
    scores = score_regimes(network, task, task.draw(stream(0)), step=1)
    names = {score.metric for score in scores if score.regime == NEW}
    assert names == {"accuracy", "loss", "accuracy/relational", "accuracy/non-relational"}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"withheld_pairs": 7}, "withheld_pairs must be an int 0…6, got 7"),
        ({"withheld_colors": 5}, "withheld_colors must be an int 0…4, got 5"),
        ({"training_images": 0}, "training_images must be"),
        (
            {"withheld_pairs": 1, "withheld_colors": 2},
            "withheld_pairs must be 0 where withheld_colors is 2, got 1",
        ),
        (
            {"withheld_pairs": 1, "circles_only": True},
            "withheld_pairs must be 0 where circles_only is True, got 1",
        ),
        (
            {"shifted_colors": True},
            "shifted_colors must be False where withheld_colors is 0, got True",
        ),
    ],
)
def test_bad_fields_are_named(fields: dict[str, object], message: str, unchecked: None) -> None:
    with pytest.raises(ValueError, match=message):
        SortOfCLEVR(**fields)
