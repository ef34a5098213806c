"""Sheets of sample problems: the images stand in their places, the right answer is marked."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Mapping
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
from farfield.reports._problems._ink import RIGHT as _RIGHT
from farfield.reports._problems._layout import Layout
from farfield.reports._problems._problem_layouts import layout_of
from farfield.reports._problems._problem_sheet import _assorted, _extent, _sheet
from farfield.tasks import (
    TASKS,
    TRAINING,
    Adding,
    AllSame,
    BouncingBalls,
    Copying,
    Digits,
    DistributionOfN,
    FewLabels,
    FuzzyBoolean,
    GlyphSet,
    IdentityRules,
    IdentityRulesMiddle,
    ImageClasses,
    KMNISTAdaptation,
    ProgressiveMatrices,
    RelationalMatchToSample,
    SameDifferent,
    SequentialMNIST,
    SortOfCLEVR,
    Spirals,
    StackedMNIST,
    Task,
    TintedSameDifferent,
    TripleMatchToSample,
    TwoMoons,
    VAECScale,
    VAECTranslation,
    VisualAnalogies,
)
from farfield.tasks._rules._rule_task import RuleTask

SCALE = 3  # dots of the picture across a pixel of an image
SAID = {
    SameDifferent: ("same", "different"),
    TintedSameDifferent: ("same", "different"),
    AllSame: ("all the same", "not all"),
}
"""Answers in words; the others are numbers."""
GROUPED = {RelationalMatchToSample: 2, TripleMatchToSample: 3}
"""Images that are chosen together; of the others one is."""
RULES = {name: cls for name, cls in TASKS.items() if issubclass(cls, RuleTask)}
every_rule = pytest.mark.parametrize("cls", list(RULES.values()), ids=list(RULES))


def sheet_of(layout: Layout, sets: Mapping[str, Problems], most: int) -> Figure:
    """The sheet of sets that are drawn whole."""
    extents = {name: _extent(problems, layout.things) for name, problems in sets.items()}
    return _sheet(layout, sets, extents, most)


def pixels(path: Path) -> np.ndarray:
    with Image.open(path) as picture:
        assert picture.format == "PNG"
        return np.asarray(picture.convert("RGB")).astype(int)


def where_it_stands(sheet: np.ndarray, image: np.ndarray) -> list[tuple[int, int]]:
    """Rows and columns where an image, three dots to the pixel, stands within its border."""
    inner = np.kron(image[2:-2, 2:-2], np.ones((SCALE, SCALE))).astype(int)
    height, width = inner.shape
    grey = np.where(np.ptp(sheet, axis=2) == 0, sheet[..., 0], -1)
    darkest = np.unravel_index(inner.argmin(), inner.shape)
    found = []
    for row, column in np.argwhere(grey == inner[darkest]) - darkest:
        if row < 0 or column < 0 or abs(grey[row, column] - inner[0, 0]) > 1:
            continue
        place = grey[row : row + height, column : column + width]
        if place.shape == inner.shape and (abs(place - inner) <= 1).all():
            found.append((int(row), int(column)))
    return found


def own_shapes(count: int) -> GlyphSet:
    """Images of random greys, whose darkest point is rare."""
    return GlyphSet(np.random.default_rng(0).integers(30, 255, (count, 32, 32), dtype=np.uint8))


@every_rule
def test_every_image_of_the_problems_stands_on_the_sheet(cls: type, tmp_path: Path) -> None:
    task = cls(withheld=9, shapes=own_shapes(18), max_problems=20)
    sheet = pixels(problem_sheet(task, tmp_path / "sheet.png", seed=3, problems_per_regime=1))
    layout = layout_of(task)
    sets = task.draw(stream(3)).values()
    shown = [problems[_assorted(problems, layout, 1)] for problems in sets]
    items = [item for problem in shown for item in problem.index[0].tolist()]
    for problem in shown:
        corners = []
        for item in problem.index[0].tolist():
            image = (256 * problem.items[item]).floor().clamp(max=255).numpy()
            found = where_it_stands(sheet, image)
            assert len(found) == items.count(item)
            corners += found
        across = {(column - min(c for _, c in corners)) / 96 for _, column in corners}
        expected = {right - min(r for r, _ in layout.places) for right, _ in layout.places}
        assert len(across) == len(expected)
        assert np.allclose(sorted(across), sorted(expected), atol=1 / 96)


@every_rule
def test_a_sheet_is_the_same_bytes_again(cls: type, tmp_path: Path) -> None:
    first = problem_sheet(cls(withheld=50), tmp_path / "first.png").read_bytes()
    assert problem_sheet(cls(withheld=50), tmp_path / "second.png").read_bytes() == first
    assert problem_sheet(cls(withheld=50), tmp_path / "third.png", seed=1).read_bytes() != first


def words(task: Task, regime: str, count: int) -> tuple[list[str], list[str]]:
    """What a sheet of one regime says: everything, and what it says in the color of answers."""
    figure = sheet_of(layout_of(task), {regime: task.draw(stream(0))[regime]}, count)
    texts = figure.axes[0].texts
    return [text.get_text() for text in texts], [
        text.get_text() for text in texts if text.get_color() == _RIGHT
    ]


@every_rule
def test_the_right_answers_are_marked_in_order(cls: type) -> None:
    task = cls(withheld=50)
    layout = layout_of(task)
    regime = task.regimes[-1].name
    problems = task.draw(stream(0))[regime]
    targets = problems.target[_assorted(problems, layout, 4)].tolist()
    _, marked = words(task, regime, 4)
    said = SAID.get(cls, ("1", "2", "3", "4"))
    assert marked == [said[target] for target in targets]


@pytest.mark.parametrize("cls", [cls for cls in RULES.values() if cls not in SAID])
def test_a_frame_encloses_the_right_answer_alone(cls: type) -> None:
    task = cls(withheld=50)
    layout = layout_of(task)
    problems = task.draw(stream(0))[TRAINING]
    rows = _assorted(problems, layout, 4)
    axes = sheet_of(layout, {TRAINING: problems}, 4).axes[0]
    frames = [patch for patch in axes.patches if type(patch).__name__ == "FancyBboxPatch"]
    corners = [image.get_extent() for image in axes.images]
    assert len(frames) == 4
    assert len(corners) == 4 * task.length
    for number, (frame, target) in enumerate(zip(frames, problems.target[rows], strict=True)):
        left, low = frame.get_x(), frame.get_y()
        right, top = left + frame.get_width(), low + frame.get_height()
        held = [
            place
            for place in range(task.length)
            for (x0, x1, y0, y1) in [corners[number * task.length + place]]
            if left <= x0 + 1e-9 and x1 <= right + 1e-9 and low <= y0 + 1e-9 and y1 <= top + 1e-9
        ]
        chosen = int(target)
        size = GROUPED.get(cls)
        first = size * (1 + chosen) if size else task.length - 4 + chosen
        assert held == list(range(first, first + (size or 1)))


def test_kinds_take_turns_and_are_named() -> None:
    said, _ = words(IdentityRules(withheld=95), TRAINING, 4)
    assert [word for word in said if set(word) <= {"A", "B"}] == ["ABA", "ABB", "AAA", "ABA"]
    _, marked = words(SameDifferent(withheld=98), TRAINING, 4)
    assert marked == ["same", "different"] * 2
    said, _ = words(IdentityRulesMiddle(withheld=96), TRAINING, 4)
    assert [word for word in said if set(word) <= {"A", "B"}] == ["ABA", "AAA", "ABB", "AAB"]
    _, marked = words(AllSame(withheld=98), TRAINING, 4)
    assert marked == ["all the same", "not all", "not all", "not all"]


@pytest.mark.parametrize(
    "task, rows",
    [
        (SameDifferent(), [4]),
        (AllSame(), [2, 2]),
        (DistributionOfN(row_length=3), [4]),
        (DistributionOfN(row_length=8), [2, 2]),
        (DistributionOfN(row_length=20), [1, 1, 1, 1]),
    ],
)
def test_wide_problems_take_several_rows(task: Task, rows: list[int]) -> None:
    """All within the paper, none over another."""
    problems = task.draw(stream(0))[TRAINING]
    figure = sheet_of(layout_of(task), {TRAINING: problems}, 4)
    axes = figure.axes[0]
    corners = [image.get_extent() for image in axes.images]
    firsts = [corners[number * task.length] for number in range(4)]
    heights = [low for _, _, low, _ in firsts]
    assert [heights.count(low) for low in sorted(set(heights), reverse=True)] == rows
    (_, across), (_, up) = axes.get_xlim(), axes.get_ylim()
    assert min(left for left, *_ in corners) >= 0.4
    assert max(right for _, right, *_ in corners) <= across - 0.4
    assert min(low for _, _, low, _ in corners) >= 0.4
    assert max(top for *_, top in corners) <= up - 0.4
    assert across <= 29
    boxes = sorted({(round(left * 96), round(low * 96)) for left, _, low, _ in corners})
    assert len(boxes) == len(corners)


def test_the_missing_middle_is_between_its_neighbours() -> None:
    layout = layout_of(IdentityRulesMiddle())
    (left, low), (right, also_low) = layout.places[3:5]
    assert layout.blank == pytest.approx(((left + right) / 2, low))
    assert low == also_low


def test_an_analogy_stands_over_its_candidates() -> None:
    task = VAECTranslation(shuffled=True)
    layout, problems = layout_of(task), task.draw(stream(0))["region-6"]
    rows = _assorted(problems, layout, 4)
    axes = sheet_of(layout, {"region-6": problems}, 4).axes[0]
    said = [text.get_text() for text in axes.texts]
    assert [word for word in said if set(word) == {":"}] == [":", "::", ":"] * 4
    assert [word for word in said if word in layout.kinds] == list(layout.kinds)
    marked = [text.get_text() for text in axes.texts if text.get_color() == _RIGHT]
    assert marked == [str(target + 1) for target in problems.target[rows].tolist()]
    shown = [np.asarray(image.get_array()) for image in axes.images]
    expected = problems[rows].sequences().flatten(0, 1).numpy()
    assert all(np.array_equal(*pair) for pair in zip(shown, expected, strict=True))
    heights = [image.get_extent()[2] for image in axes.images[:10]]
    assert heights == [heights[0]] * 3 + [heights[3]] * 7
    assert heights[0] > heights[3] + 1


def test_matrices_stand_beside_their_candidates_over_what_holds(tmp_path: Path) -> None:
    task = ProgressiveMatrices(test_problems=40, training_problems=40, holdout="triples")
    layout, problems = layout_of(task), task.draw(stream(0))["withheld-triples"]
    rows = _assorted(problems, layout, 4)
    latent = problems[rows].latent
    assert latent["num_triples"].tolist() == [1, 2, 3, 4]
    axes = sheet_of(layout, {"withheld-triples": problems}, 4).axes[0]
    said = [text.get_text() for text in axes.texts if " of " in text.get_text()][1:]
    for text, triples, direction in zip(said, latent["triples"], latent["direction"], strict=True):
        held = [task.triples[number] for number in triples.tolist() if number >= 0]
        first, *more = text.rstrip("\n").split("\n")
        assert first == f"{task.directions[direction]}: {held[0]}"
        assert more == held[1:]
        assert text.count("\n") == 3
    shown = [np.asarray(image.get_array()) for image in axes.images]
    expected = problems[rows].sequences().flatten(0, 1).numpy()
    assert all(np.array_equal(*pair) for pair in zip(shown, expected, strict=True))
    marked = [text.get_text() for text in axes.texts if text.get_color() == _RIGHT]
    assert marked == [str(target + 1) for target in problems.target[rows].tolist()]


def test_rows_of_panels_say_their_relation_and_domains(tmp_path: Path) -> None:
    task = VisualAnalogies(test_problems=40, training_problems=40)
    layout, problems = layout_of(task), task.draw(stream(0))["target-upper-half"]
    rows = _assorted(problems, layout, 4)
    axes = sheet_of(layout, {"target-upper-half": problems}, 4).axes[0]
    said = [text.get_text() for text in axes.texts if "→" in text.get_text()]
    latent = problems[rows].latent
    domains = [
        [VisualAnalogies.domains[number] for number in latent[column].tolist()]
        for column in ("source_domain", "target_domain")
    ]
    assert said == [
        f"{relation}: {source} → {target}"
        for relation, source, target in zip(VisualAnalogies.relations, *domains, strict=True)
    ]
    shown = [np.asarray(image.get_array()) for image in axes.images]
    expected = problems[rows].sequences().flatten(0, 1).numpy()
    assert all(np.array_equal(*pair) for pair in zip(shown, expected, strict=True))
    assert {image.get_clim() for image in axes.images} == {(0, 255)}
    marked = [text.get_text() for text in axes.texts if text.get_color() == _RIGHT]
    assert marked == [str(target + 1) for target in problems.target[rows].tolist()]
    fine = pixels(problem_sheet(task, tmp_path / "sheet.png")).shape[1]
    figure = sheet_of(layout, task.draw(stream(0)), 4)
    assert fine == 2 * round(figure.get_figwidth() * figure.dpi)


@pytest.mark.parametrize("levels", [3, 7, 14])
def test_candidates_of_any_number_stay_beside_each_other(levels: int) -> None:
    layout = layout_of(VAECScale(levels_per_region=levels))
    corners = [*layout.places, layout.blank]
    assert len(corners) == levels + 4
    assert min(right for right, _ in corners) == 0
    for (right, up), (other, level) in itertools.combinations(corners, 2):
        assert abs(right - other) > 1 or abs(up - level) > 1


def test_a_regime_says_how_much_there_is() -> None:
    said, _ = words(SameDifferent(withheld=98), TRAINING, 4)
    assert "training" in said
    assert "4 problems over 2 of 100 images" in said


def test_fewer_problems_than_asked_for_are_all_shown() -> None:
    _, marked = words(SameDifferent(withheld=98), TRAINING, 9)
    assert len(marked) == 4


def test_an_image_that_is_not_square_keeps_its_proportions() -> None:
    images = np.random.default_rng(0).integers(0, 255, (4, 8, 32), dtype=np.uint8)
    task = SameDifferent(withheld=2, shapes=GlyphSet(images))
    axes = sheet_of(layout_of(task), task.draw(stream(0)), 1).axes[0]
    left, right, low, top = axes.images[0].get_extent()
    assert (right - left, top - low) == pytest.approx((1, 0.25))


def test_a_sheet_does_not_load_the_drawing_program(tmp_path: Path) -> None:
    """Pyplot would look for a screen and keep every figure."""
    code = (
        "import sys; from farfield.reports._problems._problem_sheet import problem_sheet;"
        "from farfield.tasks import SameDifferent;"
        f"problem_sheet(SameDifferent(withheld=98), {str(tmp_path / 'sheet.png')!r});"
        "sys.exit('matplotlib.pyplot' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


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


def test_a_copied_sequence_is_written_with_its_phase_cut() -> None:
    said, marked = words(Copying(training_sequences=30), "dormant-1000", 1)
    problems = Copying(training_sequences=30).draw(stream(0))["dormant-1000"]
    symbols = [str(symbol) for symbol in problems.latent["symbols"][0].tolist()]
    assert said.count("… 999 blanks …") == 2
    assert [word for word in said if word in "12345678"] == symbols * 2
    assert marked == symbols
    assert said.count("▸") == 1
    assert "500 problems over 10 of 10 symbols" in said


def test_a_sum_is_written_below_its_numbers() -> None:
    task = Adding(training_sequences=30)
    [said] = words(task, "terms-4", 1)[1]
    terms, _, total = said.partition(" ≈ ")
    problems = task.draw(stream(0))["terms-4"]
    assert float(total) == pytest.approx(float(problems.target[0]), abs=6e-4)
    assert sum(map(float, terms.split(" + "))) == pytest.approx(float(total), abs=3e-3)
    assert len(terms.split(" + ")) == 4


def test_items_that_are_no_images_need_a_drawing(tmp_path: Path, unchecked: None) -> None:
    class Unknown:
        name, item_shape, length = "unknown", (10,), 3

    with pytest.raises(ValueError, match=r"task must have images .* got \(10,\)"):
        problem_sheet(Unknown(), tmp_path / "sheet.png")


def test_pixels_in_a_row_are_shown_as_their_image(
    data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FARFIELD_DATA", str(data_folder))
    task = SequentialMNIST(training_images=5, validation_images=5, test_images=5)
    problems = task.draw(stream(0))["side-19"]
    axes = sheet_of(layout_of(task), {"side-19": problems}, 2).axes[0]
    shown = [np.asarray(image.get_array()) for image in axes.images]
    assert [image.shape for image in shown] == [(19, 19)] * 2
    for image, index in zip(shown, problems.index, strict=False):
        assert np.array_equal(1 - image.ravel(), index.numpy())
    marked = [text.get_text() for text in axes.texts if text.get_color() == _RIGHT]
    assert marked == [str(digit) for digit in problems.target[:2].tolist()]


def test_frames_are_shown_from_the_first_to_the_last() -> None:
    task = BouncingBalls(training_sequences=2, validation_sequences=2, test_sequences=2)
    problems = task.draw(stream(0))["curtain"]
    axes = sheet_of(layout_of(task), {"curtain": problems}, 1).axes[0]
    shown = [np.asarray(image.get_array()) for image in axes.images]
    expected = problems[:1].sequences()[0, ::5].numpy()
    assert np.array_equal(np.stack(shown), expected)
    said = [text.get_text() for text in axes.texts]
    assert [word for word in said if word.isdigit()] == [str(n) for n in range(1, 52, 5)]
    (start, stop), tints = problems.latent["curtain"][0].tolist(), axes.patches
    widths = [patch.get_width() for patch in tints if patch.get_width() < 1]
    assert widths == pytest.approx([(stop - start) / 32] * 11)


def test_points_and_values_of_functions_are_strokes() -> None:
    task = FuzzyBoolean(functions=3, training_points=100, validation_points=100)
    problems = task.draw(stream(0))["validation"]
    axes = sheet_of(layout_of(task), {"validation": problems}, 1).axes[0]
    strokes = [line.get_ydata() for line in axes.lines if len(set(line.get_xdata())) == 1]
    heights = [high - low for low, high in strokes]
    assert heights == pytest.approx([*problems.items[0].tolist(), *problems.target[0].tolist()])


def test_images_in_color_are_shown_over_their_answer(
    data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FARFIELD_DATA", str(data_folder))
    digits = Digits(data_sets=("svhn-first1083", "mnist"), test_images=5)
    few = KMNISTAdaptation(training_samples=10, validation_images=10, test_images=10)
    if not (digits.is_at_hand() and few.is_at_hand()):
        pytest.skip("MNIST, K-MNIST or the excerpt of SVHN absent")
    characters = ("o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo")
    for task, named in ((digits, 2 * "0123456789"), (few, characters)):
        problems = task.draw(stream(0))["validation"]
        axes = sheet_of(layout_of(task), {"validation": problems}, 4).axes[0]
        shown = [np.asarray(image.get_array()) for image in axes.images]
        expected = problems[:4].sequences()[:, 0].permute(0, 2, 3, 1).numpy()
        assert np.array_equal(np.stack(shown), expected)
        said = [text.get_text() for text in axes.texts if text.get_color() == _RIGHT]
        assert said == [named[answer] for answer in problems.target[:4].tolist()]


def test_classes_of_images_are_named_and_gray_ones_are_gray(
    data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FARFIELD_DATA", str(data_folder))
    for data_set, named in (("kmnist-first7011", "tsu"), ("mnist", "3"), ("svhn-first1083", "3")):
        task = ImageClasses(data_set=data_set, training_images=100)
        if not task.is_at_hand():
            pytest.skip(f"{data_set} absent")
        problems = task.draw(stream(0))[TRAINING]
        problems = problems[problems.target == 3]
        axes = sheet_of(layout_of(task), {TRAINING: problems}, 1).axes[0]
        (shown,) = axes.images
        expected = problems.sequences()[0, 0].permute(1, 2, 0).numpy().squeeze()
        assert np.array_equal(np.asarray(shown.get_array()), expected)
        assert [t.get_text() for t in axes.texts if t.get_color() == _RIGHT] == [named]
    layout = layout_of(FewLabels(data_set="cifar10-exact-8068"))
    frog = Problems(
        items=torch.zeros(1, 3, 4, 4, dtype=torch.uint8),
        index=torch.zeros(1, 1, dtype=torch.int64),
        target=torch.tensor([6]),
    )
    axes = sheet_of(layout, {TRAINING: frog}, 1).axes[0]
    assert "frog" in [text.get_text() for text in axes.texts]


@pytest.mark.parametrize("task", [TwoMoons(unlabelled=50), Spirals(arms=3, points=50)])
def test_a_point_is_shown_among_all_points(task: TwoMoons | Spirals, tmp_path: Path) -> None:
    problems = task.draw(stream(0))[TRAINING]
    axes = sheet_of(layout_of(task), {TRAINING: problems}, 1).axes[0]
    scatter, point = (line.get_xydata() for line in axes.lines[-2:])
    assert (len(scatter), len(point)) == (50, 1)
    assert np.ptp(scatter, axis=0).max() == pytest.approx(2)
    # Both coordinates by one scale: distances keep their proportions.
    points = problems.table().numpy()
    expected = (points - points[0]) * 2 / np.ptp(points, axis=0).max()
    assert np.allclose(scatter - scatter[0], expected, atol=1e-5)
    assert np.allclose(point[0], scatter[int(problems.index[0, 0])])
    answer = f"{int(problems.target[0])}"
    assert [t.get_text() for t in axes.texts if t.get_color() == _RIGHT] == [answer]


def test_a_sheet_shows_regimes_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    sheet = problem_sheets._sheet
    monkeypatch.setattr(
        problem_sheets, "_sheet", lambda *args: seen.extend(args[1]) or sheet(*args)
    )
    problem_sheet(TwoMoons(unlabelled=20, test_points=20), tmp_path / "sheet.png")
    assert seen == [TRAINING, "test"]


def test_an_image_of_several_digits_is_shown_over_all_of_them(
    data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FARFIELD_DATA", str(data_folder))
    task = StackedMNIST(training_images=4, test_images=4)
    if not task.is_at_hand():
        pytest.skip("MNIST absent")
    problems = task.draw(stream(0))["digits-4"]
    axes = sheet_of(layout_of(task), {"digits-4": problems}, 4).axes[0]
    shown = [np.asarray(image.get_array()) for image in axes.images]
    assert np.array_equal(np.stack(shown), problems.sequences()[:, 0].numpy())
    said = [text.get_text() for text in axes.texts if text.get_color() == _RIGHT]
    digits = [target.nonzero()[:, 0].tolist() for target in problems.target]
    assert said == [" ".join(map(str, some)) for some in digits]


@pytest.mark.parametrize("images", [2, 40])
def test_questions_of_either_sort_are_asked_about_different_images(images: int) -> None:
    task = SortOfCLEVR(training_images=1, test_images=images)
    problems = task.draw(stream(0))["new-images"]
    rows = _assorted(problems, layout_of(task), 4)
    some = problems[rows]
    assert some.latent["kind"].tolist() == [0, 2, 3, 5]
    assert len(set(some.index[:, 0].tolist())) == min(4, images)
    axes = sheet_of(layout_of(task), {"new-images": problems}, 4).axes[0]
    shown = [np.asarray(image.get_array()) for image in axes.images]
    expected = some.sequences()[:, 0].permute(0, 2, 3, 1).numpy()
    assert np.array_equal(np.stack(shown), expected)
    said = [text.get_text() for text in axes.texts]
    colors = [task.colors[number] for number in some.latent["color"].tolist()]
    questions = ("shape of {}?", "{} at the top?", "shape closest to {}?", "how many like {}?")
    assert [word for word in said if word.endswith("?")] == [
        question.format(color) for question, color in zip(questions, colors, strict=True)
    ]
    marked = [text.get_text() for text in axes.texts if text.get_color() == _RIGHT]
    assert marked == [task.answers[target] for target in some.target.tolist()]
