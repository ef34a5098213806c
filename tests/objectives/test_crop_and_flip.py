"""Shifted and mirrored images: pixel by pixel, what is drawn, and what rules see of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from farfield.core import Problems, stream
from farfield.core.internal import TRAINING
from farfield.objectives import (
    ICT,
    VAT,
    Bound,
    CropAndFlip,
    ManifoldMixup,
    MeanTeacher,
    Mixup,
    Objective,
    PiModel,
    Supervised,
    TemporalEnsembling,
    Update,
)
from farfield.objectives._augmentation import crop_and_flip
from oracles import learning_rules as oracle
from small import cross_entropy

HEIGHT, WIDTH = 4, 5


def images(count: int = 6, shape: tuple[int, ...] = (3, HEIGHT, WIDTH), seed: int = 0) -> Tensor:
    source = torch.Generator().manual_seed(seed)
    return torch.randint(1, 256, (count, *shape), dtype=torch.uint8, generator=source)


def batch_of(items: Tensor, index: Tensor | None = None) -> Problems:
    index = torch.arange(len(items))[:, None] if index is None else index
    return Problems(items=items, index=index, target=torch.arange(len(index)) % 4)


@pytest.mark.parametrize("shape", [(HEIGHT, WIDTH), (3, HEIGHT, WIDTH), (2, 3, HEIGHT, WIDTH)])
@pytest.mark.parametrize("dtype", [torch.uint8, torch.float64])
@pytest.mark.parametrize("padding", [0, 2, 7])
def test_every_pixel_is_the_one_of_the_window(padding: int, dtype, shape) -> None:
    given = images(8, shape).to(dtype)
    generator = np.random.default_rng(0)
    rows, columns = generator.integers(2 * padding + 1, size=(2, 8))
    flips = generator.random(8) < 0.5
    found = crop_and_flip(
        given, *(torch.from_numpy(each) for each in (rows, columns, flips)), padding=padding
    )
    assert found.dtype == dtype
    for image, row, column, flip, own in zip(given, rows, columns, flips, found, strict=True):
        expected = oracle.cropped(image.numpy(), row, column, flip, padding)
        np.testing.assert_array_equal(own.numpy(), expected)


NOTED: list[Update] = []


@final
@dataclass(frozen=True, kw_only=True)
class Notes(Objective):
    """A rule that only notes what it is given."""

    compares: bool = False

    @property
    def sets(self) -> tuple[str, ...]:
        return (TRAINING, "unlabelled")

    @property
    def second_views(self) -> tuple[str, ...]:
        return ("unlabelled",) if self.compares else ()

    def draw(self, batches: Mapping[str, Problems], stream) -> dict[str, Tensor]:
        drawn = torch.rand(2, generator=stream.torch())
        return {"number": drawn, **{f"sum.{n}": b.sequences().sum() for n, b in batches.items()}}

    def loss(self, update: Update):
        NOTED.append(update)
        return torch.zeros(()), update.state


def noted(rule: CropAndFlip, batches: Mapping[str, Problems], number: int = 0) -> Update:
    draws = rule.draw(batches, stream(number))
    update = Update(
        network=Bound(module=nn.Identity()), batches=batches, task_loss=cross_entropy, draws=draws
    )
    rule.loss(update)
    return NOTED.pop()


BATCHES = {TRAINING: batch_of(images()), "unlabelled": batch_of(images(seed=1))}


def test_every_batch_is_changed_and_keeps_all_but_its_images() -> None:
    update = noted(CropAndFlip(objective=Notes()), BATCHES)
    for name, batch in BATCHES.items():
        shown = update.batches[name]
        assert shown.items.dtype == torch.uint8
        assert shown.sequences().shape == batch.sequences().shape
        assert not torch.equal(shown.sequences(), batch.sequences())
        assert torch.equal(shown.target, batch.target)
        assert update.draws[f"sum.{name}"] == shown.sequences().sum()
    assert update.draws.keys() == {"number", "sum.training", "sum.unlabelled"}
    assert not update.second_views
    again = noted(CropAndFlip(objective=Notes()), BATCHES)
    other = noted(CropAndFlip(objective=Notes()), BATCHES, 1)
    for name in BATCHES:
        assert torch.equal(again.batches[name].items, update.batches[name].items)
        assert not torch.equal(other.batches[name].items, update.batches[name].items)


def test_two_views_are_two_draws() -> None:
    update = noted(CropAndFlip(objective=Notes(compares=True)), BATCHES)
    assert update.second_views.keys() == {"unlabelled"}
    first, second = update.batches["unlabelled"], update.second_view("unlabelled")
    assert not torch.equal(first.items, second.items)
    assert torch.equal(first.index, second.index)
    assert update.second_view(TRAINING) is update.batches[TRAINING]


def test_all_images_of_a_problem_are_changed_alike() -> None:
    items = images(3)
    index = torch.tensor([[0, 1, 0], [2, 2, 1]])
    update = noted(
        CropAndFlip(objective=Notes()),
        {TRAINING: batch_of(items, index), "unlabelled": batch_of(items, index)},
    )
    shown = update.batches[TRAINING].sequences()
    assert torch.equal(shown[0, 0], shown[0, 2])
    assert torch.equal(shown[1, 0], shown[1, 1])
    found = [
        (row, column, flip)
        for row, column, flip in np.ndindex(5, 5, 2)
        if all(
            np.array_equal(one, oracle.cropped(items[i].numpy(), row, column, bool(flip), 2))
            for one, i in zip(shown[1].numpy(), index[1].tolist(), strict=True)
        )
    ]
    assert len(found) == 1


@pytest.mark.parametrize("flip, columns", [(True, (500, 1000, 500)), (False, (1000, 1000, 0))])
def test_windows_are_drawn_evenly_and_half_of_them_mirrored(flip: bool, columns) -> None:
    pixel = torch.zeros(1, 3, 3)
    pixel[0, 1, 0] = 1.0  # in one of three windows along the columns it is outside
    batch = batch_of(pixel, torch.zeros(3000, 1, dtype=torch.int64))
    rule = CropAndFlip(objective=Notes(), padding=1, flip=flip)
    shown = noted(rule, {TRAINING: batch, "unlabelled": batch}).batches[TRAINING].table()
    for counts, means in ((shown.sum((0, 2)), (2000 / 3,) * 3), (shown.sum((0, 1)), columns)):
        expected = np.array(means)
        deviation = np.sqrt(expected * (1 - expected / 3000))
        assert (np.abs(counts.numpy() - expected) <= 4 * deviation).all()


class Reader(nn.Module):
    """Four logits of the pixels of an image, of bytes or numbers; what it reads is noted."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3 * HEIGHT * WIDTH, 4, dtype=torch.float64)
        self.seen = list[Tensor]()

    def forward(self, items: Tensor, index: Tensor) -> Tensor:
        shown = items[index[:, 0]]
        self.seen.append(shown)
        return self.layer(shown.flatten(1).double())


RULES = {
    "supervised": Supervised(),
    "mixup": Mixup(),
    "manifold-mixup": ManifoldMixup(layers=("input", "layer")),
    "ict": ICT(consistency="unlabelled"),
    "vat": VAT(consistency="unlabelled", radius=1.0),
    "temporal-ensembling": TemporalEnsembling(num_outputs=4, consistency="unlabelled"),
    "mean-teacher": MeanTeacher(consistency="unlabelled"),
    "pi-model": PiModel(consistency="unlabelled", noise=0.0),
}


@pytest.mark.parametrize("name", RULES)
def test_a_rule_inside_has_the_loss_that_it_has_on_the_changed_images(name: str) -> None:
    rule, model = RULES[name], Reader()
    batches = {n: dataclasses.replace(b, items=b.items / 255) for n, b in BATCHES.items()}
    wrapped, network = CropAndFlip(objective=rule), Bound(module=model)
    state = wrapped.start(network, batches, stream(0))
    assert wrapped.scored(state).keys() == rule.scored(state).keys()
    changed = noted(CropAndFlip(objective=Notes(compares=bool(rule.second_views))), batches)
    update = Update(
        network=network,
        batches=batches,
        task_loss=cross_entropy,
        rows={set_name: torch.arange(6) for set_name in batches},
        state=state,
        progress=0.1,
    )
    found = wrapped.loss(dataclasses.replace(update, draws=wrapped.draw(batches, stream(0))))
    expected = rule.loss(
        dataclasses.replace(
            update,
            batches=changed.batches,
            second_views=changed.second_views,
            draws=rule.draw(changed.batches, stream(0).child("objective")),
        )
    )
    torch.testing.assert_close(found[0], expected[0], rtol=1e-12, atol=0)
    assert found[1].keys() == expected[1].keys()


@pytest.mark.parametrize("name", ["pi-model", "mean-teacher"])
def test_two_answers_are_to_two_views(name: str) -> None:
    model, rule = Reader(), CropAndFlip(objective=RULES[name])
    batches = {n: dataclasses.replace(b, items=b.items / 255) for n, b in BATCHES.items()}
    update = Update(
        network=Bound(module=model),
        batches=batches,
        task_loss=cross_entropy,
        state=rule.start(Bound(module=model), batches, stream(0)),
        draws=rule.draw(batches, stream(0)),
    )
    rule.loss(update)
    _, first, second = model.seen
    changed = noted(CropAndFlip(objective=Notes(compares=True)), batches)
    torch.testing.assert_close(first, changed.batches["unlabelled"].table())
    torch.testing.assert_close(second, changed.second_views["unlabelled"].table())


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="padding must be"):
        CropAndFlip(padding=-1)
    batch = batch_of(torch.rand(6, 3))
    with pytest.raises(ValueError, match=r"images of \(item, \*, height, width\), got \(6, 3\)"):
        CropAndFlip().draw({TRAINING: batch}, stream(0))
