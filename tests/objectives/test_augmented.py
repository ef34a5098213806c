"""RandAugment as an objective: operations of Pillow and of kornia, their draws, bad input."""

from __future__ import annotations

import itertools
import math
import random
import sys
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn
from torch.nn import functional as F

from farfield.core import Problems, stream
from farfield.experiments._describe import describe
from farfield.experiments.internal import restore
from farfield.objectives import OBJECTIVES, Augmented, Supervised
from farfield.objectives import _pillow_operations as augmenting_by_pillow
from farfield.objectives import _rand_augment as augmenting
from farfield.objectives._pillow_operations import OPERATIONS as OF_PILLOW
from farfield.objectives._pillow_operations import change_images
from farfield.objectives._rand_augment import OPERATIONS, rand_augmented
from pillow import by_pillow
from processes import run_forked
from small import loss_of

BYTES = torch.randint(
    256, (40, 3, 12, 16), dtype=torch.uint8, generator=torch.Generator().manual_seed(0)
)


both = pytest.mark.parametrize("change", [change_images, rand_augmented])


def changed(
    images: torch.Tensor, seed: int = 0, change: Callable[..., torch.Tensor] = rand_augmented
) -> torch.Tensor:
    return change(images, operations=2, magnitude=9.0, stream=stream(seed, "objective"))


class Linear(nn.Module):
    """Ten logits from every pixel, of floating-point numbers or bytes."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3 * 12 * 16, 10)

    def forward(self, items: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        return self.layer(items[index[:, 0]].flatten(1).to(torch.float32))


def problems(items: torch.Tensor) -> Problems:
    index = torch.tensor([[3], [1], [3], [7]])
    return Problems(items=items, index=index, target=torch.tensor([4, 0, 9, 4]))


def loss(outputs: torch.Tensor, problems: Problems) -> torch.Tensor:
    return F.cross_entropy(outputs, problems.target, reduction="none")


def only(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Every draw of an operation gives this one."""
    monkeypatch.setattr(augmenting_by_pillow, "OPERATIONS", {name: OF_PILLOW[name]})


def by_hand(name: str, image: Image.Image, magnitude: float, sign: int) -> Image.Image:
    """Pillow's operation with the arguments of Table 6 of Cubuk et al. 2019, from 0 to its end."""
    s = magnitude / 30
    factor = 1 + sign * 0.9 * s
    columns, rows = (round(sign * s * 150 / 331 * side) for side in image.size)
    return by_pillow(
        name,
        image,
        angle=sign * 30 * s,
        bits=round(8 - 4 * s),
        threshold=round(256 - 256 * s),
        factor=factor,
        shear=sign * 0.3 * s,
        columns=columns,
        rows=rows,
    )


@pytest.mark.parametrize("name", OF_PILLOW)
@pytest.mark.parametrize("magnitude", [4.0, 9.0, 28.5])
def test_operations_are_those_of_pillow(
    monkeypatch: pytest.MonkeyPatch, name: str, magnitude: float
) -> None:
    only(monkeypatch, name)
    found = change_images(BYTES, operations=1, magnitude=magnitude, stream=stream(0))
    sides = set()
    for image, changed_image in zip(BYTES.movedim(1, -1).numpy(), found, strict=True):
        expected = [
            torch.from_numpy(
                np.array(by_hand(name, Image.fromarray(image), magnitude, sign))
            ).movedim(-1, 0)
            for sign in (-1, 1)
        ]
        assert any(torch.equal(changed_image, one) for one in expected)
        if not torch.equal(*expected):
            sides.add(torch.equal(changed_image, expected[0]))
    assert sides in (set(), {False, True})  # either sign is drawn


WITHOUT_STRENGTH = {"identity", "auto_contrast", "equalize"}
BLOCKS = torch.nn.functional.interpolate(
    torch.rand(24, 3, 8, 8, generator=torch.Generator().manual_seed(0)), scale_factor=4
)
RAMPS = torch.linspace(0.2, 1, 32).expand(24, 3, 32, 32)


@pytest.mark.parametrize("name", OF_PILLOW)
def test_no_operation_is_weaker_at_a_larger_magnitude(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    only(monkeypatch, name)
    moves = name.startswith(("rotate", "shear", "translate"))
    images = RAMPS + RAMPS.mT if moves else BLOCKS
    items = (255 * images / images.max()).round().to(torch.uint8)

    def change(magnitude: float) -> float:
        found = change_images(items, operations=1, magnitude=magnitude, stream=stream(0))
        return float((found.float() - items.float()).abs().mean())

    found = [change(magnitude) for magnitude in (0, 1, 2, 5, 9, 12, 14, 15, 16, 20, 25, 29, 30)]
    if name in WITHOUT_STRENGTH:
        assert found == [found[0]] * len(found)
        return
    assert found[0] == 0
    assert found == sorted(found)
    coarse = [change(magnitude) for magnitude in (0, 8, 16, 24, 30)]
    assert all(first < second for first, second in itertools.pairwise(coarse))


def test_an_enhancement_keeps_the_mean_level_over_both_signs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    only(monkeypatch, "brightness")
    gray = torch.full((400, 3, 4, 4), 100, dtype=torch.uint8)
    found = change_images(gray, operations=1, magnitude=10.0, stream=stream(0))[:, 0, 0, 0]
    levels, counts = found.unique(return_counts=True)
    assert levels.tolist() == [70, 130]
    assert abs(int(counts[0]) - 200) < 4 * 10  # four standard deviations


@pytest.mark.parametrize("items", [BYTES, BYTES.float() / 255], ids=["bytes", "numbers"])
def test_the_loss_is_that_of_changed_images(items: torch.Tensor) -> None:
    assert OBJECTIVES["augmented"] is Augmented
    model, given = Linear(), problems(items)
    place = stream(3, "objective").child(17)
    found = loss_of(Augmented(), model, given, loss, place)
    other = problems(change_images(items, operations=2, magnitude=9.0, stream=place))
    assert torch.equal(found, loss_of(Supervised(), model, other, loss, place))
    by_kornia = loss_of(Augmented(kornia_operations=True), model, given, loss, place)
    other = problems(rand_augmented(items, operations=2, magnitude=9.0, stream=place))
    assert torch.equal(by_kornia, loss_of(Supervised(), model, other, loss, place))
    assert not torch.equal(found, loss_of(Supervised(), model, given, loss, place))
    found.backward()
    assert model.layer.weight.grad is not None


@both
def test_every_draw_is_from_the_stream_and_no_generator_is_moved(
    unchecked: None, change: Callable[..., torch.Tensor]
) -> None:
    expected = changed(BYTES, change=change)
    for seed in range(3):
        torch.manual_seed(seed)
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002
        states = (
            torch.get_rng_state(),
            random.getstate(),
            np.random.get_state()[1].copy(),  # noqa: NPY002
        )
        assert torch.equal(changed(BYTES, change=change), expected)
        assert torch.equal(torch.get_rng_state(), states[0])
        assert random.getstate() == states[1]
        assert (np.random.get_state()[1] == states[2]).all()  # noqa: NPY002
    assert not torch.equal(changed(BYTES, seed=1, change=change), expected)


def test_the_generators_are_put_back_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        torch.rand(5)
        raise RuntimeError("broken")

    monkeypatch.setattr(augmenting, "_operation", broken)
    before = torch.get_rng_state()
    with pytest.raises(RuntimeError, match="broken"):
        changed(BYTES)
    assert torch.equal(torch.get_rng_state(), before)


@both
def test_the_type_stays_and_the_images_given_are_left_as_they_are(
    change: Callable[..., torch.Tensor],
) -> None:
    for items in (BYTES, BYTES.float() / 255, BYTES.double() / 255):
        before = items.clone()
        found = changed(items, change=change)
        assert (found.dtype, found.shape) == (items.dtype, items.shape)
        assert torch.equal(items, before)
        assert 0 <= float(found.min()) <= float(found.max()) <= (255 if items is BYTES else 1)
    numbers = changed(BYTES.float() / 255, change=change)
    assert torch.equal((255 * numbers).round().to(torch.uint8), changed(BYTES, change=change))
    assert changed(BYTES[:0], change=change).shape == (0, 3, 12, 16)


def test_each_image_has_operations_of_its_own_all_equally_likely(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts = np.zeros(len(OPERATIONS), int)
    seen: list[torch.Tensor] = []

    def counted(place: int, magnitude: float):
        assert magnitude == 9

        def count(images: torch.Tensor) -> torch.Tensor:
            counts[place] += len(images)
            seen.append(images[:, 0, 0, 0])
            return images

        return count

    monkeypatch.setattr(augmenting, "_operation", counted)
    images = torch.linspace(0, 1, 7_000)[:, None, None, None].expand(-1, 3, 1, 1)
    found = changed(images)
    assert torch.equal(found, images)
    assert len(OPERATIONS) == 13
    expected, deviation = 14_000 / 14, np.sqrt(14_000 / 14 * 13 / 14)
    assert abs(counts - expected).max() < 4 * deviation
    assert abs(14_000 - counts.sum() - expected) < 4 * deviation  # the identity
    # The second operation of an image does not depend on its first one.
    first = torch.cat(seen[: len(seen) // 2])
    assert len(torch.unique(first)) == len(first)


def test_operations_of_pillow_are_equally_likely(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = dict.fromkeys(OF_PILLOW, 0)

    def count(name: str, image: Image.Image, strength: float) -> Image.Image:
        assert abs(strength) == 0.3
        counts[name] += 1
        return image

    monkeypatch.setattr(
        augmenting_by_pillow, "OPERATIONS", {name: partial(count, name) for name in OF_PILLOW}
    )
    changed(torch.zeros(1_400, 3, 1, 1, dtype=torch.uint8), change=change_images)
    assert len(counts) == 14
    deviation = np.sqrt(2_800 / 14 * 13 / 14)
    assert all(abs(count - 2_800 / 14) < 4 * deviation for count in counts.values())


def test_records_of_networks_with_the_operations_of_kornia_keep_their_key() -> None:
    older = {"class": "farfield.objectives.Augmented", "magnitude": 5.0}
    assert describe(Augmented(magnitude=5.0, kornia_operations=True)) == older
    assert restore(older) == Augmented(magnitude=5.0, kornia_operations=True)
    written = describe(Augmented())
    assert written != describe(Augmented(kornia_operations=True))
    assert restore(written) == Augmented()


def alone(name: str, images: torch.Tensor) -> torch.Tensor:
    [place] = [place for place, operation in enumerate(OPERATIONS) if operation[0] == name]
    with augmenting.drawing_from(stream(0)):
        return augmenting._operation(place, 9.0)(images)


def test_operations_do_what_their_names_say() -> None:
    x = BYTES.float() / 255
    share = 9 / 30
    darker = (x + 0.1 + 1.8 * share - 1).clamp(0, 1)
    torch.testing.assert_close(alone("brightness", x), darker)
    torch.testing.assert_close(alone("contrast", x), x * (0.1 + 1.8 * share))
    folded = torch.where(x < share, x, 1 - x)
    torch.testing.assert_close(alone("solarize", x), folded)
    six_bits = (BYTES & 0b11111100).float() / 255  # 8 − 4 · 0.3, whole ones only
    torch.testing.assert_close(alone("posterize", x), six_bits)
    low, high = x.amin((2, 3), keepdim=True), x.amax((2, 3), keepdim=True)
    torch.testing.assert_close(alone("auto_contrast", x), (x - low) / (high - low))
    grey = alone("color", x).std(1).mean()
    assert grey < x.std(1).mean()
    flat = torch.full((4, 3, 12, 16), 0.5)
    for name, _, _ in OPERATIONS:
        assert alone(name, x).shape == x.shape
        if name.startswith(("rotate", "shear", "translate")):
            moved = alone(name, flat)
            inside, edge = moved[:, :, 4:8, 6:10], moved
            torch.testing.assert_close(inside, torch.full_like(inside, 0.5))
            assert edge.min() < 0.5  # what comes in from outside is black


def test_moves_go_to_either_side() -> None:
    ramp = torch.linspace(0, 1, 33).expand(64, 3, 33, 33).contiguous()
    middle = alone("translate_x", ramp)[:, 0, 16, 16] - ramp[:, 0, 16, 16]
    shift = 0.1 * 9 / 30 * 33 / 32
    assert set(middle.sign().tolist()) == {-1.0, 1.0}
    torch.testing.assert_close(middle.abs(), torch.full_like(middle, shift), rtol=1e-4, atol=1e-5)


def test_kornia_is_loaded_only_where_it_is_needed() -> None:
    code = (
        "import sys, farfield.objectives, farfield.experiments;"
        "sys.exit(any(name.startswith('kornia') for name in sys.modules))"
    )
    assert run_forked(code) == (0, "", "")


def test_without_kornia_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    augmenting._operation.cache_clear()
    monkeypatch.setitem(sys.modules, "kornia.augmentation.auto", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'farfield\[vision\]'"):
        changed(BYTES)


def test_numbers_are_rounded_to_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, "identity")
    found = changed(torch.full((1, 3, 2, 2), 0.6 / 255), change=change_images)
    torch.testing.assert_close(found, torch.full((1, 3, 2, 2), 1 / 255))


@pytest.mark.parametrize(
    ("items", "message"),
    [
        (torch.zeros(4, 12, 16), r"items must be images in color, .* got shape \(4, 12, 16\)"),
        (torch.zeros(4, 1, 12, 16), r"items must be images in color, .* got shape \(4, 1, 12"),
        (torch.full((4, 3, 12, 16), 1.5), r"items must be bytes or numbers .* 1\.5…1\.5"),
        (
            torch.full((4, 3, 12, 16), torch.nan),
            "items must be bytes or numbers .*nan",
        ),
        (torch.zeros(4, 3, 12, 16, dtype=torch.int64), "items must be bytes .* got torch.int64"),
    ],
)
@both
def test_items_that_are_no_images_in_color_are_refused(
    unchecked: None, items: torch.Tensor, message: str, change: Callable[..., torch.Tensor]
) -> None:
    with pytest.raises(ValueError, match=message):
        changed(items, change=change)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"operations": 0}, "operations must be an int 1…1024, got 0"),
        ({"operations": math.nan}, "operations must be an int 1…1024, got nan"),
        ({"magnitude": -1.0}, "magnitude must be a finite number 0…30.0, got -1"),
        ({"magnitude": 30.5}, "magnitude must be a finite number 0…30.0, got 30.5"),
        ({"magnitude": 0.0, "kornia_operations": True}, "magnitude must be above 0 .*, got 0"),
        ({"magnitude": 30.0, "kornia_operations": True}, "magnitude must be .* below 30 .* got 30"),
    ],
)
def test_bad_fields_are_named(unchecked: None, fields: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Augmented(**fields)
