"""Sheets of sample problems: layouts by baselines; their images, answers and words."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from matplotlib.figure import Figure
from PIL import Image

from farfield.core import Problems, stream
from farfield.records import StoreError
from farfield.reports import problem_sheet
from farfield.reports._problems import _problem_sheet as problem_sheets
from farfield.reports._problems._layout import RIGHT
from farfield.reports._problems._problem_layouts import layout_of
from farfield.reports._problems._problem_sheet import _assorted, _extent, _sheet
from farfield.tasks import (
    TASKS,
    TRAINING,
    Adding,
    AllSame,
    BouncingBalls,
    CanvasRules,
    ChomskyHierarchy,
    Copying,
    DigitDomains,
    Digits,
    DistributionOfN,
    DistributionOfThree,
    FewLabels,
    FuzzyBoolean,
    GlyphSet,
    IdentityRules,
    IdentityRulesMiddle,
    ImageClasses,
    ImageGeneration,
    KMNISTAdaptation,
    ProgressiveMatrices,
    RelationalMatchToSample,
    SameDifferent,
    SequentialMNIST,
    SetAlgorithms,
    SortOfCLEVR,
    Spirals,
    StackedMNIST,
    SymbolSequences,
    SyntheticVisualReasoning,
    Task,
    TintedSameDifferent,
    TripleMatchToSample,
    TwoMoons,
    VAECTranslation,
    VisualAnalogies,
)
from farfield.tasks._rules._abstract_rules import RuleTask
from tasks import test_grid_rules, test_shifted_series

SAID = {
    SameDifferent: ("same", "different"),
    TintedSameDifferent: ("same", "different"),
    AllSame: ("all the same", "not all"),
}
"""Answers in words; the others are numbers."""


def small_analogies(candidates: int) -> VAECTranslation:
    return VAECTranslation(
        levels_per_region=candidates,
        num_levels=2 * candidates,
        image_size=64,
        problems_per_regime=70,
        shuffled=True,
    )


WIDE = np.random.default_rng(0).integers(0, 255, (4, 8, 32), dtype=np.uint8)
"""Images that are not square."""
LAID_OUT: dict[str, tuple[Task, int]] = {
    "words": (AllSame(withheld=90), 4),
    "pairs": (RelationalMatchToSample(withheld=50), 2),
    "triples": (TripleMatchToSample(withheld=50), 2),
    "three": (DistributionOfThree(withheld=50), 2),
    "eight": (DistributionOfN(withheld=50, row_length=8), 4),
    "middle": (IdentityRulesMiddle(withheld=50), 2),
    "tinted": (TintedSameDifferent(withheld=90), 4),
    "three-candidates": (small_analogies(3), 2),
    "ten-candidates": (small_analogies(10), 2),
    "panels": (VisualAnalogies(test_problems=40, training_problems=40), 2),
    "matrices": (ProgressiveMatrices(test_problems=40, training_problems=40), 2),
    "copying": (Copying(training_sequences=30, test_dormant=(1000,), test_sequences=(5,)), 2),
    "adding": (Adding(training_sequences=30), 2),
    "symbols": (SymbolSequences(rule="adding", test_lengths=(70,), training_sequences=30), 2),
    "balls": (BouncingBalls(training_sequences=2, validation_sequences=2, test_sequences=2), 2),
    "functions": (FuzzyBoolean(functions=3, training_points=100, validation_points=100), 2),
    "wide-images": (SameDifferent(withheld=2, shapes=GlyphSet(WIDE)), 4),
}
"""Sheets with a baseline, of the last regime of a task, and the number of problems."""
SHOWN: dict[str, Task] = {
    **{name: cls(withheld=50) for name, cls in TASKS.items() if issubclass(cls, RuleTask)},
    "analogies": VAECTranslation(shuffled=True),
    "matrices": ProgressiveMatrices(test_problems=40, training_problems=40, holdout="triples"),
    "panels": VisualAnalogies(test_problems=40, training_problems=40),
    "canvas": CanvasRules(rule="relational-match-to-sample", withheld=50, max_problems=40),
}
"""Tasks whose problems are images and the choice of an answer."""


@cache
def drawn(task: Task) -> dict[str, Problems]:
    return task.draw(stream(0, "problems"))


def sheet_of(
    task: Task, regime: str, most: int, problems: Problems | None = None
) -> tuple[Figure, Problems]:
    """The sheet of one regime, or of other problems in its place, and the problems on it."""
    layout = layout_of(task)
    problems = drawn(task)[regime] if problems is None else problems
    figure = _sheet(layout, {regime: problems}, {regime: _extent(problems, layout.things)}, most)
    return figure, problems[_assorted(problems, layout, most)]


def images(figure: Figure) -> list[np.ndarray]:
    return [np.asarray(image.get_array()) for image in figure.axes[0].images]


def words(figure: Figure) -> tuple[list[str], list[str]]:
    """What a sheet says: everything, and what it says in the color of answers."""
    texts = figure.axes[0].texts
    right = [text for text in texts if text.get_color() == RIGHT]
    return [text.get_text() for text in texts], [text.get_text() for text in right]


@pytest.mark.parametrize("name", LAID_OUT)
def test_a_layout_is_that_of_its_baseline(
    name: str, check_baseline: Callable[[Figure, str], None]
) -> None:
    task, count = LAID_OUT[name]
    check_baseline(sheet_of(task, task.regimes[-1].name, count)[0], f"sheet-{name}")


@pytest.mark.parametrize("name", SHOWN)
def test_images_and_right_answers_are_those_of_the_problems(name: str) -> None:
    task = SHOWN[name]
    figure, problems = sheet_of(task, task.regimes[-1].name, 4)
    expected = problems.sequences().flatten(0, 1).numpy()
    assert all(np.array_equal(*pair) for pair in zip(images(figure), expected, strict=True))
    said = SAID.get(type(task), "12345678")
    assert words(figure)[1] == [said[target] for target in problems.target.tolist()]


def test_a_sheet_is_the_same_bytes_again(tmp_path: Path) -> None:
    task = SameDifferent(withheld=50)
    first = problem_sheet(task, tmp_path / "first.png").read_bytes()
    assert problem_sheet(task, tmp_path / "second.png").read_bytes() == first
    assert problem_sheet(task, tmp_path / "third.png", seed=1).read_bytes() != first


@pytest.mark.parametrize(
    "task, kinds",
    [
        (IdentityRules(withheld=95), ["ABA", "ABB", "AAA", "ABA"]),
        (IdentityRulesMiddle(withheld=96), ["ABA", "AAA", "ABB", "AAB"]),
        (SameDifferent(withheld=98), ["same", "different"] * 2),
        (AllSame(withheld=98), ["all the same", "not all", "not all", "not all"]),
    ],
)
def test_kinds_take_turns_and_are_named(task: Task, kinds: list[str]) -> None:
    said, _ = words(sheet_of(task, TRAINING, 4)[0])
    assert [word for word in said if word in kinds] == kinds


def test_an_analogy_is_read_by_its_signs_and_its_kind() -> None:
    task = VAECTranslation(shuffled=True)
    said, _ = words(sheet_of(task, "region-6", 4)[0])
    assert [word for word in said if set(word) == {":"}] == [":", "::", ":"] * 4
    kinds = layout_of(task).kinds
    assert [word for word in said if word in kinds] == list(kinds)


def test_matrices_stand_over_what_holds() -> None:
    task = SHOWN["matrices"]
    figure, problems = sheet_of(task, "withheld-triples", 4)
    latent = problems.latent
    assert latent["num_triples"].tolist() == [1, 2, 3, 4]
    said = [word for word in words(figure)[0] if " of " in word]
    for text, triples, direction in zip(said, latent["triples"], latent["direction"], strict=True):
        held = [task.triples[number] for number in triples.tolist() if number >= 0]
        first, *more = text.rstrip("\n").split("\n")
        assert first == f"{task.directions[direction]}: {held[0]}"
        assert more == held[1:]
        assert text.count("\n") == 3


def test_rows_of_panels_say_their_relation_and_domains(tmp_path: Path) -> None:
    task = SHOWN["panels"]
    figure, problems = sheet_of(task, "target-upper-half", 4)
    domains = [
        [VisualAnalogies.domains[number] for number in problems.latent[column].tolist()]
        for column in ("source_domain", "target_domain")
    ]
    assert [word for word in words(figure)[0] if "→" in word] == [
        f"{relation}: {source} → {target}"
        for relation, source, target in zip(VisualAnalogies.relations, *domains, strict=True)
    ]
    assert {image.get_clim() for image in figure.axes[0].images} == {(0, 255)}
    with Image.open(problem_sheet(task, tmp_path / "sheet.png")) as fine:
        assert fine.width == 2 * round(figure.get_figwidth() * figure.dpi)


def test_a_regime_says_how_much_there_is() -> None:
    said, _ = words(sheet_of(SameDifferent(withheld=98), TRAINING, 4)[0])
    assert "training" in said
    assert "4 problems over 2 of 100 images" in said


def test_fewer_problems_than_asked_for_are_all_shown() -> None:
    _, marked = words(sheet_of(SameDifferent(withheld=98), TRAINING, 9)[0])
    assert len(marked) == 4


def test_a_folder_that_cannot_be_written_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match="cannot write"):
        problem_sheet(SameDifferent(withheld=98), tmp_path / "file" / "sheet.png")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_whole_picture_replaces_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "new" / "sheet.png"
    problem_sheet(SameDifferent(withheld=50), path)
    before = path.read_bytes()
    assert problem_sheet(SameDifferent(withheld=98), str(path)) == path
    assert path.read_bytes() != before
    assert [found.name for found in path.parent.iterdir()] == ["sheet.png"]


def test_wrong_arguments_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="problems_per_regime must be at least 1, got 0"):
        problem_sheet(SameDifferent(), tmp_path / "sheet.png", problems_per_regime=0)
    for name in ("sheet.jpg", "sheet"):
        with pytest.raises(ValueError, match=f"path must end in .png, got '.*{name}'"):
            problem_sheet(SameDifferent(), tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_pictures_of_several_objects_name_their_problem_and_answer() -> None:
    figure, problems = sheet_of(SyntheticVisualReasoning(problem=22, test_problems=4), "test", 4)
    assert words(figure)[0][0] == "SVRT, problem 22"
    assert words(figure)[1] == [f"category {answer}" for answer in problems.target.tolist()]
    task = CanvasRules(withheld=50, max_problems=8)
    figure, problems = sheet_of(task, "size-50", 4)
    assert words(figure)[0][0] == "Canvas: same-different"
    assert words(figure)[1] == [("same", "different")[one] for one in problems.target.tolist()]


def test_a_copied_sequence_is_written_with_its_phase_cut() -> None:
    figure, problems = sheet_of(Copying(training_sequences=30), "dormant-1000", 1)
    said, marked = words(figure)
    symbols = [str(symbol) for symbol in problems.latent["symbols"][0].tolist()]
    assert said.count("… 999 blanks …") == 2
    assert [word for word in said if word in "12345678"] == symbols * 2
    assert marked == symbols
    assert said.count("▸") == 1
    assert "500 problems over 10 of 10 symbols" in said


def test_a_sum_is_written_below_its_numbers() -> None:
    figure, problems = sheet_of(Adding(training_sequences=30), "terms-4", 1)
    [said] = words(figure)[1]
    terms, _, total = said.partition(" ≈ ")
    assert float(total) == pytest.approx(float(problems.target[0]), abs=6e-4)
    assert sum(map(float, terms.split(" + "))) == pytest.approx(float(total), abs=3e-3)
    assert len(terms.split(" + ")) == 4


def test_symbols_are_written_with_their_markers_and_the_answer() -> None:
    task = SymbolSequences(rule="adding", test_lengths=(60,), training_sequences=30)
    figure, problems = sheet_of(task, "length-60", 1)
    [said] = words(figure)[1]
    assert said == f"→ {problems.target[0]}"
    symbols = problems.index[0].tolist()
    signs = [f"{(one - 1) % 10}" + "'" * (one > 10) for one in (*symbols[:12], *symbols[-12:])]
    line = [word for word in words(figure)[0] if word.strip("'").isdigit() or word == "…"]
    assert line == [*signs[:12], "…", *signs[12:]]


def test_strings_are_written_without_marks_and_blanks_and_answers_up_to_the_end() -> None:
    task = ChomskyHierarchy(
        rule="binary-addition", training_lengths=(5, 9), test_lengths=(), test_strings=()
    )
    figure, problems = sheet_of(task, "training", 1)
    length = int(problems.latent["lengths"][0])
    wanted = [one for one in problems.target[0].tolist() if one >= 0]
    assert words(figure)[1] == [" ".join(["→", *map(str, wanted)])]
    line = [word for word in words(figure)[0] if word in "01#"]
    assert line == ["01#"[one - 1] for one in problems.index[0].tolist()[:length]]


def test_elements_of_sets_are_values_queries_and_edges() -> None:
    for algorithm, sign in {
        "search": lambda one: f"{one % 32}" + "'" * (one >= 32),
        "shortest-path": lambda one: (
            f"{one // 320}–{one // 5 % 64}" + (f":{one % 5}" if one % 5 else "?")
        ),
    }.items():
        task = SetAlgorithms(
            algorithm=algorithm,  # type: ignore[arg-type]
            training_lengths=(5, 5),
            test_lengths=(),
            training_strings=9,
            test_strings=(),
        )
        figure, problems = sheet_of(task, "training", 1)
        shown = "  ".join(sign(one - 1) for one in problems.index[0].tolist()[:5])
        assert shown in words(figure)[0]
        assert words(figure)[1] == [f"→  {problems.target[0].max()}"]


def test_series_are_lines_and_grids_have_their_colors(tmp_path: Path) -> None:
    figure, problems = sheet_of(test_shifted_series.small(tmp_path), "late-6", 1)
    assert words(figure)[1] == [f"class {problems.target[0]}"]
    line = figure.axes[0].lines[-1]
    series = problems.items[problems.index[0], 0].clamp(-3, 3).numpy()
    np.testing.assert_allclose(np.diff(line.get_ydata()), np.diff(series) / 6, atol=1e-6)
    figure, problems = sheet_of(test_grid_rules.small(tmp_path), "new-tasks", 1)
    assert words(figure)[1] == [("one rule", "two rules")[problems.target[0]]]
    grids = test_grid_rules.grids_of(problems[:1])[0]
    shown = images(figure)
    assert [image.shape[:2] for image in shown] == [(len(g), len(g[0])) for g in grids]
    colors = {
        (cell, tuple(pixel))
        for grid, image in zip(grids, shown, strict=True)
        for row, pixels in zip(grid, image.tolist(), strict=True)
        for cell, pixel in zip(row, pixels, strict=True)
    }
    assert len(colors) == len({cell for cell, _ in colors}) == len({pixel for _, pixel in colors})


def test_items_that_are_no_images_need_a_drawing(tmp_path: Path, unchecked: None) -> None:
    class Unknown:
        name, item_shape, length = "unknown", (10,), 3

    with pytest.raises(ValueError, match=r"task must have images .* got \(10,\)"):
        problem_sheet(Unknown(), tmp_path / "sheet.png")


def test_pixels_in_a_row_are_shown_as_their_image(data_folder: Path) -> None:
    task = SequentialMNIST(training_images=5, validation_images=5, test_images=5)
    figure, problems = sheet_of(task, "side-19", 2)
    assert [image.shape for image in images(figure)] == [(19, 19)] * 2
    for image, index in zip(images(figure), problems.index, strict=True):
        assert np.array_equal(1 - image.ravel(), index.numpy())
    assert words(figure)[1] == [str(digit) for digit in problems.target.tolist()]


@pytest.mark.parametrize(
    ("regime", "shape", "caption"),
    [("24-by-20", (24, 20), "24 × 20"), ("before-1", (25, 24), "577 pixels")],
)
def test_pixels_of_no_square_are_shown_in_rows(
    regime: str,
    shape: tuple[int, int],
    caption: str,
    data_folder: Path,
) -> None:
    few = {"training_images": 5, "validation_images": 5, "test_images": 5}
    figure, problems = sheet_of(SequentialMNIST(**few, blanks=(1,), widths=(20,)), regime, 1)
    [image] = images(figure)
    assert image.shape == shape
    shown = 1 - image.ravel()
    count = problems.index.shape[1]
    assert np.array_equal(shown[:count], problems.index[0].numpy())
    assert not shown[count:].any()
    assert any(caption in text for texts in words(figure) for text in texts)


def test_frames_are_shown_from_the_first_to_the_last() -> None:
    task = BouncingBalls(training_sequences=2, validation_sequences=2, test_sequences=2)
    figure, problems = sheet_of(task, "curtain", 1)
    expected = problems.sequences()[0, ::5].numpy()
    assert np.array_equal(np.stack(images(figure)), expected)
    said, _ = words(figure)
    assert [word for word in said if word.isdigit()] == [str(n) for n in range(1, 52, 5)]


def test_points_and_values_of_functions_are_strokes() -> None:
    task = FuzzyBoolean(functions=3, training_points=100, validation_points=100)
    figure, problems = sheet_of(task, "validation", 1)
    lines = figure.axes[0].lines
    strokes = [line.get_ydata() for line in lines if len(set(line.get_xdata())) == 1]
    heights = [high - low for low, high in strokes]
    assert heights == pytest.approx([*problems.items[0].tolist(), *problems.target[0].tolist()])


def test_images_in_color_are_shown_over_their_answer(data_folder: Path) -> None:
    digits = Digits(data_sets=("svhn-first1083", "mnist"), test_images=5)
    few = KMNISTAdaptation(training_samples=10, validation_images=10, test_images=10)
    if not (digits.is_at_hand() and few.is_at_hand()):
        pytest.skip("MNIST, K-MNIST or the excerpt of SVHN absent")
    characters = ("o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo")
    for task, named in ((digits, 2 * "0123456789"), (few, characters)):
        figure, problems = sheet_of(task, "validation", 4)
        expected = problems.sequences()[:, 0].permute(0, 2, 3, 1).numpy()
        assert np.array_equal(np.stack(images(figure)), expected)
        assert words(figure)[1] == [named[answer] for answer in problems.target.tolist()]


def test_classes_of_images_are_named_and_gray_ones_are_gray(data_folder: Path) -> None:
    for data_set, named in (("kmnist-first7011", "tsu"), ("mnist", "3"), ("svhn-first1083", "3")):
        task = ImageClasses(data_set=data_set, training_images=100)
        if not task.is_at_hand():
            pytest.skip(f"{data_set} absent")
        problems = task.draw(stream(0, "problems"))[TRAINING]
        figure, shown = sheet_of(task, TRAINING, 1, problems[problems.target == 3])
        expected = shown.sequences()[0, 0].permute(1, 2, 0).numpy().squeeze()
        assert np.array_equal(*images(figure), expected)
        assert words(figure)[1] == [named]
    task = ImageGeneration(data_set="mnist", training_images=3, test_images=1)
    figure, shown = sheet_of(task, TRAINING, 2)
    assert np.array_equal(np.stack(images(figure)), shown.target[:, 0].numpy())
    frog = Problems(
        items=torch.zeros(1, 3, 4, 4, dtype=torch.uint8),
        index=torch.zeros(1, 1, dtype=torch.int64),
        target=torch.tensor([6]),
    )
    figure, _ = sheet_of(FewLabels(data_set="cifar10-exact-8068"), TRAINING, 1, frog)
    assert words(figure)[1] == ["frog"]


@pytest.mark.parametrize("task", [TwoMoons(unlabelled=50), Spirals(arms=3, points=50)])
def test_a_point_is_shown_among_all_points(task: TwoMoons | Spirals) -> None:
    figure, problems = sheet_of(task, TRAINING, 1)
    scatter, point = (line.get_xydata() for line in figure.axes[0].lines[-2:])
    assert (len(scatter), len(point)) == (50, 1)
    assert np.ptp(scatter, axis=0).max() == pytest.approx(2)
    # Both coordinates by one scale: distances keep their proportions.
    points = problems.table().numpy()
    expected = (points - points[0]) * 2 / np.ptp(points, axis=0).max()
    assert np.allclose(scatter - scatter[0], expected, atol=1e-5)
    assert np.allclose(point[0], scatter[int(problems.index[0, 0])])
    assert words(figure)[1] == [f"{int(problems.target[0])}"]


def test_a_sheet_shows_regimes_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    sheet = problem_sheets._sheet
    monkeypatch.setattr(
        problem_sheets, "_sheet", lambda *args: seen.extend(args[1]) or sheet(*args)
    )
    problem_sheet(TwoMoons(unlabelled=20, test_points=20), tmp_path / "sheet.png")
    assert seen == [TRAINING, "test"]


def test_an_image_of_several_digits_is_shown_over_all_of_them(data_folder: Path) -> None:
    task = StackedMNIST(training_images=4, test_images=4)
    if not task.is_at_hand():
        pytest.skip("MNIST absent")
    figure, problems = sheet_of(task, "digits-4", 4)
    assert np.array_equal(np.stack(images(figure)), problems.sequences()[:, 0].numpy())
    digits = [target.nonzero()[:, 0].tolist() for target in problems.target]
    assert words(figure)[1] == [" ".join(map(str, some)) for some in digits]


def test_a_colored_digit_is_red_or_green_over_its_class(data_folder: Path) -> None:
    figure, problems = sheet_of(DigitDomains(images=200), "minus-90", 4)
    items = problems.sequences()[:, 0].permute(0, 2, 3, 1).numpy()
    assert np.array_equal(np.stack(images(figure))[..., :2], items)
    assert not np.stack(images(figure))[..., 2].any()
    assert words(figure)[1] == [f"{target}" for target in problems.target.tolist()]


@pytest.mark.parametrize("number", [2, 40])
def test_questions_of_either_sort_are_asked_about_different_images(number: int) -> None:
    task = SortOfCLEVR(training_images=1, test_images=number)
    figure, some = sheet_of(task, "new-images", 4)
    assert some.latent["kind"].tolist() == [0, 2, 3, 5]
    assert len(set(some.index[:, 0].tolist())) == min(4, number)
    expected = some.sequences()[:, 0].permute(0, 2, 3, 1).numpy()
    assert np.array_equal(np.stack(images(figure)), expected)
    said, marked = words(figure)
    colors = [task.colors[number] for number in some.latent["color"].tolist()]
    questions = ("shape of {}?", "{} at the top?", "shape closest to {}?", "how many like {}?")
    assert [word for word in said if word.endswith("?")] == [
        question.format(color) for question, color in zip(questions, colors, strict=True)
    ]
    assert marked == [task.answers[target] for target in some.target.tolist()]
