"""Variation of showings: frozen pixels, each change by itself, the nine tasks with it."""

from __future__ import annotations

import dataclasses
import hashlib
import math

import numpy as np
import pytest
import torch

from each import each
from farfield.core import Problems, stream
from farfield.core.internal import LazyItems
from farfield.experiments import ByHand
from farfield.tasks import (
    TRAINING,
    VALIDATION,
    VARIATIONS,
    AllSame,
    DistributionOfN,
    DistributionOfThree,
    GlyphSet,
    Handwriting,
    IdentityRules,
    IdentityRulesMiddle,
    ProblemTask,
    RelationalMatchToSample,
    SameDifferent,
    TintedSameDifferent,
    TripleMatchToSample,
    Variation,
    is_at_hand,
)
from farfield.tasks._rules._glyph_set import _written, other_fonts, without_size_twins
from farfield.tasks._rules._variation import _levels, background, showings

LETTERS = GlyphSet.plain_letters()
COMBINED = VARIATIONS["noise-16-shift-2-size-15-turn-15"]
TASKS = [
    cls(shapes=LETTERS, max_problems=40, withheld=45 - few, **options)
    for cls, few, options in (
        (SameDifferent, 2, {}),
        (RelationalMatchToSample, 5, {}),
        (DistributionOfThree, 4, {}),
        (IdentityRules, 4, {}),
        (AllSame, 2, {"num_images": 3}),
        (TripleMatchToSample, 6, {}),
        (DistributionOfN, 6, {"row_length": 5}),
        (IdentityRulesMiddle, 4, {}),
        (TintedSameDifferent, 2, {}),
    )
]
DIGESTS = {
    "noise-1": "b5d8bcc5f153ced9",
    "noise-4": "735e407846d5e458",
    "noise-16": "86d37fd77b5bcace",
    "noise-64": "24e940f89c5c6592",
    "shift-1": "52f55791129b84ed",
    "shift-2": "1ff743abf030e019",
    "shift-4": "e620bbf9db3abe2d",
    "size-5-turn-5": "2d2de26bc8911e67",
    "size-15-turn-15": "d68d8865bf251d5f",
    "size-30-turn-45": "7ebea735ace6db2d",
    "light-25": "029d343312a2d02c",
    "light-50": "f9cc91af9246c7eb",
    "noise-16-shift-2": "ec6153b79366e3aa",
    "noise-16-shift-2-size-15-turn-15": "10a74967820955cb",
    "font": "dbf2f753675eb4ba",
    "noise-16-shift-2-font": "a1b00366370458b9",
}
"""Head of SHA-256 over showings of the first four letters. A change raises the tasks' versions."""


def shown(variation: Variation, shapes: GlyphSet = LETTERS, times: int = 5) -> np.ndarray:
    """Showings of the first four images, `times` of each in turn."""
    fonts = [other.items for other in other_fonts(shapes)] if variation.font else []
    images = _levels(shapes.items, fonts)
    rows = np.tile(np.arange(4), times)
    return showings(images, rows, variation, stream(7, "showings").key, np.arange(len(rows)))


@each("name", list(VARIATIONS))
def test_showings_are_frozen(name: str) -> None:
    assert VARIATIONS[name].name == name
    levels = shown(VARIATIONS[name]).astype(np.uint8)
    assert hashlib.sha256(levels.tobytes()).hexdigest()[:16] == DIGESTS[name]


def test_noise_has_its_spread_about_the_image() -> None:
    gray = GlyphSet(np.arange(4, dtype=np.uint8)[:, None, None] + np.full((4, 30, 40), 120, "u1"))
    levels = shown(Variation(noise=16), gray)
    rest = levels - np.tile(gray.images, (5, 1, 1))
    assert rest.std() == pytest.approx(16, rel=0.02)
    assert abs(rest.mean()) < 4 * 16 / math.sqrt(rest.size)
    assert abs(np.corrcoef(rest[0].ravel(), rest[4].ravel())[0, 1]) < 0.1


def test_a_shift_moves_whole_pixels_and_leaves_the_background() -> None:
    image = np.full((4, 9, 8), 250, np.uint8)
    image[:, 4, 3] = np.arange(4)
    levels = shown(Variation(shift=2), GlyphSet(image), times=60)
    assert np.array_equal(np.sort(levels.reshape(240, -1), axis=1)[:, 1:], np.full((240, 71), 250))
    where = np.stack(np.nonzero(levels < 250)[1:], axis=1) - [4, 3]
    assert {*map(tuple, where.tolist())} == {(y, x) for y in range(-2, 3) for x in range(-2, 3)}


def test_turn_and_size_are_those_of_an_independent_interpolation() -> None:
    image = np.random.default_rng(0).integers(0, 256, (4, 12, 14)).astype(np.uint8)
    image[:, [0, -1]] = image[:, :, [0, -1]] = 200
    change = Variation(size=30, turn=45)
    levels = shown(change, GlyphSet(image))
    for number, found in enumerate(levels):
        words = np.random.Philox(
            key=stream(7, "showings").key, counter=[0, 0, 0, number]
        ).random_raw(8)
        size, turn = (int(word % np.uint64(2049)) / 1024 - 1 for word in words[3:5])
        factor, angle = 1 + 0.3 * size, math.radians(45) * turn
        for y in range(12):
            for x in range(14):
                down, right = (y - 5.5) / factor, (x - 6.5) / factor
                top = 5.5 + math.cos(angle) * down - math.sin(angle) * right
                left = 6.5 + math.sin(angle) * down + math.cos(angle) * right
                wanted = 0.0
                for row in (math.floor(top), math.floor(top) + 1):
                    for column in (math.floor(left), math.floor(left) + 1):
                        inside = 0 <= row < 12 and 0 <= column < 14
                        level = image[number % 4, row, column] if inside else 200
                        weight = (1 - abs(top - row)) * (1 - abs(left - column))
                        wanted += weight * float(level)
                assert found[y, x] == pytest.approx(wanted, abs=2.5)


def test_light_keeps_the_order_of_levels_and_uses_the_range() -> None:
    levels = shown(Variation(light=50), times=100)
    black, white = levels.min(axis=(1, 2)), levels.max(axis=(1, 2))
    gain = (white - black) / 255
    assert gain.min() == pytest.approx(0.5, abs=0.01)
    assert gain.max() == pytest.approx(1, abs=0.01)
    assert black.max() > 80
    assert white.min() < 175


def test_every_font_is_shown_and_the_first_is_that_of_the_letters() -> None:
    levels = shown(Variation(font=True), times=60)[::4].astype(np.uint8)
    fonts = [LETTERS, *other_fonts(LETTERS)]
    found = {next(n for n, f in enumerate(fonts) if (f.images[0] == one).all()) for one in levels}
    assert found == set(range(10))
    letters = {image.tobytes() for image in GlyphSet.letters().images}
    assert {image.tobytes() for image in LETTERS.images} <= letters


def as_networks_see(problems: Problems) -> Problems:
    """Problems over a tensor of items, without targets."""
    some = problems.compact()
    return Problems(items=some.table(), index=some.index, target=some.index.new_empty(len(some), 0))


@each("task", {task.name: task for task in TASKS})
def test_a_varied_test_shows_the_last_test_again(task: ProblemTask) -> None:
    change = VARIATIONS["noise-16-shift-2"]
    varied = dataclasses.replace(task, variations=(change, COMBINED))
    before, sets = task.draw(stream(0)), varied.draw(stream(0))
    assert [one.name for one in varied.regimes] == [*before, change.name, COMBINED.name]
    for name, problems in before.items():
        assert torch.equal(problems.sequences(), sets[name].sequences())
    last, found = before[task.regimes[-1].name], sets[change.name]
    assert torch.equal(last.target, found.target)
    assert isinstance(found.items, LazyItems)
    assert torch.equal(found.items.latent[found.index][:, :, 0], last.index)
    items = found.table()
    assert len(torch.unique(items.flatten(1), dim=0)) == last.index.numel()
    assert (varied.score(varied.oracle(found), found) == 1).all()
    pixels = as_networks_see(found)
    assert varied.score(varied.oracle(pixels), found).mean() < 0.75
    by_hand = ByHand().build(varied, stream(0))(pixels.items, pixels.index)
    assert varied.score(by_hand, found).mean() > 0.9


@each("task", {task.name: task for task in TASKS})
def test_training_with_variation_repeats_problems_with_new_showings(task: ProblemTask) -> None:
    varied = dataclasses.replace(
        task, max_problems=100, training_variation=COMBINED, validation_problems=10
    )
    sets, before = varied.draw(stream(0)), dataclasses.replace(task, max_problems=100)
    few = before.draw(stream(0))[TRAINING]
    training = sets[TRAINING]
    assert len(training) == len(few) * max(1, 100 // len(few))
    assert torch.equal(training.target[: len(few)], few.target)
    assert isinstance(sets[VALIDATION].items, LazyItems)
    assert not isinstance(sets[varied.regimes[-1].name].items, LazyItems)
    assert len(torch.unique(training.table().flatten(1), dim=0)) == training.index.numel()
    assert (varied.score(varied.oracle(training), training) == 1).all()


def test_letters_that_differ_in_size_alone_leave_where_sizes_vary() -> None:
    letters = GlyphSet.letters()
    task = SameDifferent(shapes=letters, withheld=50)
    assert len(without_size_twins(letters)) == 84
    assert without_size_twins(GlyphSet.glyphs()) is GlyphSet.glyphs()
    for change, count in ((Variation(size=5), 84), (Variation(turn=5), 100)):
        varied = dataclasses.replace(task, variations=(change,))
        assert len(varied.draw(stream(0))[TRAINING].items) == count
        trained = SameDifferent(training_variation=change, validation_problems=10, withheld=98)
        found = trained.draw(stream(0))[VALIDATION].items
        assert isinstance(found, LazyItems)
        assert len(found.draw.images[0]) == 100 + count  # type: ignore[attr-defined]


HAND = VARIATIONS["font"]


def own_hands(count: int = 3) -> GlyphSet:
    """Images of the user's in several hands: rows of an image and its shades."""
    images = np.random.default_rng(0).integers(0, 256, (count, 12, 8, 8)).astype(np.uint8)
    return GlyphSet(images[0], images[1:])


def test_images_of_yours_are_shown_in_all_their_hands() -> None:
    shapes = own_hands()
    hands = [shapes, *other_fonts(shapes)]
    levels = shown(HAND, shapes, times=30).astype(np.uint8)
    for number, image in enumerate(levels):
        assert any((image == hand.images[number % 4]).all() for hand in hands)
    assert len({image.tobytes() for image in levels[::4]}) == 3
    alone = GlyphSet(shapes.images)
    assert shapes != alone
    assert (shapes.digest, shapes.name[:4]) == (own_hands().digest, "own-")
    task = SameDifferent(shapes=shapes, withheld=6, variations=(HAND,))
    found = task.draw(stream(0))["font"]
    assert (task.score(task.oracle(found), found) == 1).all()
    same = found.target == 0
    first, second = found.sequences()[same].flatten(2).unbind(1)
    assert 0.1 < (first == second).all(1).float().mean() < 0.6  # a third has one hand by chance


def test_hands_that_fit_no_images_are_refused(unchecked: None) -> None:
    images = own_hands().images
    with pytest.raises(
        ValueError, match=r"hands must be an array of \(candidate, \*\(12, 8, 8\)\)"
    ):
        GlyphSet(images, images)
    with pytest.raises(ValueError, match="hands must all differ, got image 1 equal to image 0"):
        GlyphSet(images, np.repeat(images[:1], 12, axis=0)[None])


def test_handwriting_without_its_files_is_described_and_not_drawn(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("FARFIELD_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    task = SameDifferent(shapes=Handwriting(), withheld=18, variations=(HAND, COMBINED))
    assert [one.name for one in task.regimes] == [
        "training",
        "withheld-18",
        HAND.name,
        COMBINED.name,
    ]
    assert task.item_shape == (32, 32)
    assert not is_at_hand(task)
    _written.cache_clear()
    with pytest.raises(ValueError, match="must exist, it is not in"):
        task.draw(stream(0))
    with pytest.raises(ValueError, match=r"withheld must be 0 or 2…18 for 20 images"):
        SameDifferent(shapes=Handwriting(), withheld=19)
    with pytest.raises(ValueError, match="data_sets must be one or more, each once"):
        Handwriting(data_sets=("mnist", "mnist"))


WRITTEN = "c0268c4174d84a1b"
"""Head of SHA-256 over a hundred hands of 20 characters. A change raises the tasks' versions."""


@pytest.mark.usefixtures("data_folder")
def test_a_character_is_shown_as_many_people_wrote_it() -> None:
    shapes = Handwriting()
    if not shapes.is_at_hand():
        pytest.skip("files of MNIST or K-MNIST absent")
    glyphs = shapes.read()
    assert (glyphs.images.shape, glyphs.digest[:16]) == ((20, 32, 32), WRITTEN)
    assert len(other_fonts(glyphs)) == 99
    assert (
        Handwriting(data_sets=("kmnist",)).read().images.tobytes() == glyphs.images[10:].tobytes()
    )
    task = SameDifferent(
        shapes=shapes, withheld=16, max_problems=200, variations=(HAND,), training_variation=HAND
    )
    sets = task.draw(stream(0))
    for name in (TRAINING, "font"):
        assert len(torch.unique(sets[name].table().flatten(1), dim=0)) > 100
        assert (task.score(task.oracle(sets[name]), sets[name]) == 1).all()
    pixels = as_networks_see(sets["font"])
    by_hand = ByHand().build(task, stream(0))(pixels.items, pixels.index)
    assert 0.5 < task.score(by_hand, sets["font"]).mean() < 0.8  # another hand is another picture
    assert len(torch.unique(sets["withheld-16"].table().flatten(1), dim=0)) == 20


def test_distances_grow_with_the_change() -> None:
    task = SameDifferent(shapes=LETTERS, withheld=40, variations=tuple(VARIATIONS.values()))
    far = {one.name: one.distance for one in task.regimes}
    assert far["noise-1"] < far["noise-4"] < far["noise-16"] < far["noise-64"]
    assert far["shift-1"] < far["shift-2"] < far["shift-4"]
    assert far["size-5-turn-5"] < far["size-15-turn-15"] < far["size-30-turn-45"]
    assert {one.unit for one in task.regimes[2:]} == {"gray levels between showings"}


def test_what_is_no_variation_is_refused() -> None:
    with pytest.raises(ValueError, match=r"noise must be .*, got 300"):
        Variation(noise=300)
    with pytest.raises(ValueError, match="variations must differ, got shift-1, shift-1"):
        SameDifferent(variations=(Variation(shift=1),) * 2)
    with pytest.raises(ValueError, match=r"variations must change the showings, got Variation\(\)"):
        SameDifferent(training_variation=Variation())
    with pytest.raises(ValueError, match="shapes must be letters that come in ten fonts"):
        SameDifferent(variations=(Variation(font=True),))


def test_background_is_the_lower_median_of_the_border() -> None:
    few = [[9, 9, 2], [5, 0, 2], [2, 2, 2]]  # a figure reaches the border
    half = [[8, 8, 8], [8, 0, 4], [4, 4, 4]]
    assert background(torch.tensor([few, half])).tolist() == [2, 4]
