"""FixMatch and FreeMatch: losses by loops and by the originals, views, means, and refusals."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor, nn

from farfield.core import Problems, stream
from farfield.core.internal import TRAINING
from farfield.objectives import Bound, FixMatch, FreeMatch, Objective, Update, _pillow_operations
from farfield.objectives._augmentation import crop_and_flip
from farfield.objectives._pillow_operations import STRONG_OPERATIONS, strong_views
from farfield.objectives._pseudo_labels import STATISTICS
from golden import Golden, cases, precisions
from made import gradcheck
from oracles import pseudo_labels as oracle
from pillow import by_pillow
from small import cross_entropy

OTHER = "unlabelled"


class Identity(nn.Module):
    """Items are logits."""

    def __init__(self, dtype: torch.dtype = torch.float64) -> None:
        super().__init__()
        self.unused = nn.Parameter(torch.zeros(1, dtype=dtype))

    def forward(self, items: Tensor, index: Tensor) -> Tensor:
        return items[index[:, 0]]


def as_problems(logits: Tensor, target: Tensor | None = None) -> Problems:
    target = torch.full((len(logits),), -1) if target is None else target
    return Problems(items=logits, index=torch.arange(len(logits))[:, None], target=target)


def update_of(views: Mapping[str, Tensor], target: Tensor, state: Mapping[str, Tensor]) -> Update:
    return Update(
        network=Bound(module=Identity()),
        batches={
            TRAINING: as_problems(views["labeled"], target),
            OTHER: as_problems(views["weak"]),
        },
        task_loss=cross_entropy,
        draws=views,
        state=state,
    )


def started(rule: Objective, sets: Mapping[str, Problems], dtype: torch.dtype) -> dict[str, Tensor]:
    return dict(rule.start(Bound(module=Identity(dtype)), sets, stream(0)))


@precisions
@cases("rivals_few_labels")
def test_the_originals(golden: Any, case: str, dtype: torch.dtype) -> None:
    arrays = Golden(case, golden(case), dtype)
    settings = arrays.meta["hyper_parameters"]
    fixed = FixMatch(
        threshold=settings["p_cutoff"],
        weight=settings["lambda_u"],
        decay=None,
        consistency=OTHER,
    )
    free = FreeMatch(
        num_outputs=settings["classes"],
        momentum=settings["ema_p"],
        fairness=settings["lambda_e"],
        weight=settings["lambda_u"],
        decay=None,
        consistency=OTHER,
    )
    total = torch.zeros((), dtype=dtype)
    state: Mapping[str, Tensor] = {}
    given: dict[str, Tensor] = {}
    for step in range(settings["steps"]):
        names = ("labelled", "weak", "strong")
        read = {name: arrays.tensor(f"in.{name}{step}", requires_grad=True) for name in names}
        given |= {f"{name}{step}": tensor for name, tensor in read.items()}
        views = {"labeled": read["labelled"], "weak": read["weak"], "strong": read["strong"]}
        target = torch.tensor(arrays[f"in.y{step}"])
        for name, rule in (("fixmatch", fixed), ("freematch", free)):
            update = update_of(views, target, state)
            if not update.state and rule is free:
                update = dataclasses.replace(update, state=started(free, update.batches, dtype))
            loss, after = rule.loss(update)
            state = after if rule is free else state
            arrays.check(loss, f"{name}_loss{step}")
            total = total + loss
    arrays.check(total, "loss")
    for ours, theirs in zip(STATISTICS, ("time_p", "p_model", "label_hist"), strict=True):
        arrays.check(state[ours], f"freematch_{theirs}")
    total.backward()
    for name, tensor in given.items():
        if name.startswith("weak"):
            assert tensor.grad is None or not tensor.grad.any()
        else:
            assert tensor.grad is not None
            arrays.check_gradient(tensor.grad, f"gradin.{name}")


def logits(seed: int, rows: int, classes: int, scale: float) -> Tensor:
    source = torch.Generator().manual_seed(seed)
    return scale * torch.randn(rows, classes, dtype=torch.float64, generator=source)


@pytest.mark.parametrize("classes, scale", [(2, 1.0), (4, 3.0), (7, 0.01)])
def test_losses_by_loops(classes: int, scale: float) -> None:
    """Over three steps; at the smallest scale FixMatch accepts nothing."""
    fixed = FixMatch(threshold=0.6, weight=2.0, decay=None, consistency=OTHER)
    free = FreeMatch(
        num_outputs=classes,
        momentum=0.7,
        fairness=0.3,
        weight=2.0,
        decay=None,
        consistency=OTHER,
    )
    means, state = oracle.FreeMatchMeans(classes, 0.7), dict[str, Tensor]()
    for step in range(3):
        views = {
            name: logits(10 * step + number, rows, classes, scale)
            for number, (name, rows) in enumerate([("labeled", 3), ("weak", 9), ("strong", 9)])
        }
        target = torch.arange(3) % classes
        own = {name: tensor.tolist() for name, tensor in views.items()}
        labeled = oracle.labeled_loss(own["labeled"], target.tolist())
        single, accepted = oracle.unlabeled_loss(own["weak"], own["strong"], [0.6] * classes)
        assert any(accepted) == (scale > 0.1)
        found, _ = fixed.loss(update_of(views, target, {}))
        assert found.item() == pytest.approx(labeled + 2 * single, rel=1e-9)
        thresholds = means.take(own["weak"])
        several, accepted = oracle.unlabeled_loss(own["weak"], own["strong"], thresholds)
        expected = labeled + 2 * several + 0.3 * means.fairness(own["strong"], accepted)
        update = update_of(views, target, state)
        state = dict(update.state) or started(free, update.batches, torch.float64)
        found, after = free.loss(dataclasses.replace(update, state=state))
        state = dict(after)
        assert found.item() == pytest.approx(expected, rel=1e-9)
        values = (means.time, means.p, means.h)
        for name, value in zip(STATISTICS, values, strict=True):
            np.testing.assert_allclose(state[name], value, rtol=1e-12)


def test_the_fairness_term_is_zero_without_accepted_rows() -> None:
    free = FreeMatch(num_outputs=3, momentum=1.0, fairness=5.0, decay=None, consistency=OTHER)
    views = {name: logits(k, 4, 3, 0.01) for k, name in enumerate(("labeled", "weak", "strong"))}
    update = update_of(views, torch.arange(4) % 3, {})
    state = started(free, update.batches, torch.float64)
    state[STATISTICS[0]] = torch.tensor(1.0, dtype=torch.float64)
    views["strong"].requires_grad_()
    loss, _ = free.loss(dataclasses.replace(update, state=state))
    expected = oracle.labeled_loss(views["labeled"].tolist(), [0, 1, 2, 0])
    assert loss.item() == pytest.approx(expected, rel=1e-12)
    loss.backward()
    assert views["strong"].grad is not None
    assert not views["strong"].grad.any()


@pytest.mark.parametrize(
    "rule",
    [
        FixMatch(threshold=0.3, decay=None, consistency=OTHER),
        FreeMatch(num_outputs=3, fairness=0.2, decay=None, consistency=OTHER),
    ],
)
def test_gradients_are_those_of_finite_differences(rule: Objective) -> None:
    weak = logits(1, 6, 3, 2.0)

    def loss(labeled: Tensor, strong: Tensor) -> Tensor:
        views = {"labeled": labeled, "weak": weak, "strong": strong}
        update = update_of(views, torch.arange(4) % 3, {})
        state = started(rule, update.batches, torch.float64)
        return rule.loss(dataclasses.replace(update, state=state))[0]

    values = (logits(0, 4, 3, 1.0).requires_grad_(), logits(2, 6, 3, 1.0).requires_grad_())
    assert gradcheck(loss, values)


# --- Views ----------------------------------------------------------------------------------------

SIDES = (16, 24)


def photographs(count: int, colors: int, seed: int = 0) -> Tensor:
    source = torch.Generator().manual_seed(seed)
    return torch.randint(256, (count, colors, *SIDES), dtype=torch.uint8, generator=source)


@pytest.mark.parametrize("padding", [0, 1, 15])
def test_weak_views_are_windows_in_a_mirrored_border(padding: int) -> None:
    images, generator = photographs(8, 3), np.random.default_rng(0)
    rows, columns = generator.integers(2 * padding + 1, size=(2, 8))
    flips = generator.random(8) < 0.5
    drawn = (torch.from_numpy(each) for each in (rows, columns, flips))
    found = crop_and_flip(images, *drawn, padding=padding, reflect=True)
    for image, row, column, flip, own in zip(images, rows, columns, flips, found, strict=True):
        expected = oracle.reflected_window(image.numpy(), row, column, flip, padding)
        np.testing.assert_array_equal(own.numpy(), expected)


def draws_of(rule: Objective, images: Tensor, number: int = 0) -> Mapping[str, Tensor]:
    labeled = as_problems(images, torch.zeros(len(images), dtype=torch.int64))
    return rule.draw({TRAINING: labeled, OTHER: as_problems(images)}, stream(number))


def shifts_of(image: Tensor, view: Tensor, most: int) -> list[tuple[int, int, bool]]:
    """All windows that the view may be."""
    return [
        (row, column, flip)
        for row in range(2 * most + 1)
        for column in range(2 * most + 1)
        for flip in (False, True)
        if np.array_equal(
            oracle.reflected_window(image.numpy(), row, column, flip, most), view.numpy()
        )
    ]


@pytest.mark.parametrize("flip", [False, True])
def test_weak_views_are_shifted_by_an_eighth_of_the_side_and_drawn_anew(flip: bool) -> None:
    images = photographs(60, 1)
    views = draws_of(FixMatch(flip=flip, consistency=OTHER), images)
    found = {
        name: [shifts_of(i, v, 2) for i, v in zip(images, views[name], strict=True)]
        for name in ("labeled", "weak")
    }
    for windows in found.values():
        assert all(len(each) == 1 for each in windows)
        rows, columns, flips = (set(part) for part in zip(*(w[0] for w in windows), strict=True))
        assert rows == columns == {0, 1, 2, 3, 4}
        assert flips == ({False, True} if flip else {False})
    assert found["labeled"] != found["weak"]
    assert not torch.equal(views["weak"], views["strong"])


def of_pillow(name: str, image: Image.Image, s: float) -> Image.Image:
    """An operation of the published list at a strength of −1…1."""
    factor, (width, height) = 0.05 + 0.9 * (s + 1) / 2, image.size
    return by_pillow(
        name,
        image,
        angle=30 * s,
        bits=int(4 + 4 * (s + 1) / 2),
        threshold=int(256 * (s + 1) / 2),
        factor=factor,
        shear=0.3 * s,
        columns=0.3 * width * s,
        rows=0.3 * height * s,
    )


def shown(image: Tensor) -> Image.Image:
    array = image.movedim(0, -1).numpy()
    return Image.fromarray(np.ascontiguousarray(array[..., 0] if array.shape[-1] == 1 else array))


@pytest.mark.parametrize("colors", [1, 3])
@pytest.mark.parametrize("strength", [-0.9, 0.3, 0.95])
def test_strong_operations_are_those_of_pillow(strength: float, colors: int) -> None:
    (image,) = photographs(1, colors)
    assert len(STRONG_OPERATIONS) == 14
    for name, operation in STRONG_OPERATIONS.items():
        expected = np.asarray(of_pillow(name, shown(image), strength)).astype(int)
        found = np.asarray(operation(shown(image), strength)).astype(int)
        assert np.abs(found - expected).max() <= 1, name  # factors are rounded otherwise


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float64])
@pytest.mark.parametrize("colors", [1, 3])
def test_a_strong_view_is_some_operations_and_a_gray_square(
    monkeypatch: pytest.MonkeyPatch, colors: int, dtype: torch.dtype
) -> None:
    """Each operation darkens by one; what is left is a square of gray."""
    darken = {str(k): lambda image, _: image.point(lambda value: value - 1) for k in range(14)}
    monkeypatch.setattr(_pillow_operations, "STRONG_OPERATIONS", darken)
    whole = torch.full((300, colors, *SIDES), 200, dtype=torch.uint8)
    given = whole if dtype == torch.uint8 else whole.to(dtype) / 255
    views = strong_views(given, operations=3, stream=stream(0))
    assert views.dtype == dtype
    assert views.shape == whole.shape
    views = views if dtype == torch.uint8 else (255 * views).round().to(torch.uint8)
    gray = torch.tensor([123] if colors == 1 else [125, 123, 114])
    sides = list[int]()
    for view in views:
        cut = (view != 197).all(0)
        assert (view[:, ~cut] == 197).all()
        assert (view[:, cut] == gray[:, None]).all()
        rows, columns = cut.any(1), cut.any(0)
        assert torch.equal(cut, rows[:, None] & columns)
        sides.append(int(columns.sum()))
    assert min(sides) == 0
    assert max(sides) == SIDES[1] // 2 - 1  # a side is below half the width, and rounded down


def test_operations_and_strengths_are_drawn_evenly(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = list[tuple[int, float]]()

    def note(kind: int) -> Any:
        return lambda image, strength: seen.append((kind, strength)) or image

    kinds = {str(kind): note(kind) for kind in range(14)}
    monkeypatch.setattr(_pillow_operations, "STRONG_OPERATIONS", kinds)
    strong_views(photographs(2_000, 1)[:, :, :2, :2], operations=2, stream=stream(0))
    counts = np.bincount([kind for kind, _ in seen], minlength=14)
    expected = 4_000 / 14
    assert np.abs(counts - expected).max() < 4 * np.sqrt(expected)
    strengths = np.array([strength for _, strength in seen])
    assert abs(strengths.mean()) < 4 / np.sqrt(3 * 4_000)
    assert strengths.min() < -0.99
    assert strengths.max() > 0.99


# --- Means of weights, and refusals ---------------------------------------------------------------


class Normalized(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(16 * 24, dtype=torch.float64)
        self.layer = nn.Linear(16 * 24, 3, dtype=torch.float64)
        self.calls = list[int]()

    def forward(self, items: Tensor, index: Tensor) -> Tensor:
        self.calls.append(len(index))
        return self.layer(self.norm(items[index[:, 0]].flatten(1).double() / 255))


def test_running_means_of_weights_are_scored_and_all_views_are_one_batch() -> None:
    rule, model = FreeMatch(num_outputs=3, decay=0.75, consistency=OTHER), Normalized()
    images = photographs(6, 1)
    sets = {TRAINING: as_problems(images[:4], torch.arange(4) % 3), OTHER: as_problems(images)}
    network = Bound(module=model)
    state = rule.start(network, sets, stream(0))
    first = model.layer.weight.detach().clone()
    _, state = rule.loss(
        Update(
            network=network,
            batches=sets,
            task_loss=cross_entropy,
            draws=rule.draw(sets, stream(1)),
            state=state,
        )
    )
    assert model.calls == [4 + 6 + 6]
    new = {name: p.detach() + 1 for name, p in model.named_parameters()}
    scored = rule.scored(rule.after(state, new, 0.5))
    assert scored.keys() == model.state_dict().keys()
    torch.testing.assert_close(scored["layer.weight"], first + 0.25)
    mean = 0.25 * model.norm.running_mean  # those of the start are zero
    torch.testing.assert_close(scored["norm.running_mean"], mean)


def test_without_means_the_weights_are_scored() -> None:
    rule = FreeMatch(num_outputs=3, decay=None, consistency=OTHER)
    sets = {TRAINING: as_problems(logits(0, 4, 3, 1.0), torch.zeros(4).long())}
    state = started(rule, {**sets, OTHER: sets[TRAINING]}, torch.float64)
    assert state.keys() == set(STATISTICS)
    assert rule.scored(rule.after(state, {}, 0.5)) == {}


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: FixMatch(threshold=1.1), "threshold must be"),
        (lambda: FixMatch(weight=-1.0), "weight must be"),
        (lambda: FixMatch(operations=0), "operations must be"),
        (lambda: FixMatch(decay=None, warmup=True), "warmup must be left out"),
        (lambda: FreeMatch(num_outputs=0), "num_outputs must be"),
        (lambda: FreeMatch(num_outputs=3, momentum=1.1), "momentum must be"),
        (lambda: FreeMatch(num_outputs=3, fairness=-1.0), "fairness must be"),
    ],
)
def test_options_out_of_range_are_refused(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_sets_and_outputs_that_do_not_fit_are_refused() -> None:
    rule = FreeMatch(num_outputs=5, decay=None)
    several = as_problems(logits(0, 4, 3, 1.0), torch.zeros(4, 2, dtype=torch.int64))
    with pytest.raises(ValueError, match=r"one class for each problem, got shape \(4, 2\)"):
        started(rule, {TRAINING: several}, torch.float64)
    numbers = as_problems(logits(0, 4, 3, 1.0), torch.rand(4))
    with pytest.raises(ValueError, match=r"targets must be classes, .* got torch.float32"):
        started(rule, {TRAINING: numbers}, torch.float64)
    views = {name: logits(0, 4, 3, 1.0) for name in ("labeled", "weak", "strong")}
    update = update_of(views, torch.zeros(4).long(), {})
    update = dataclasses.replace(update, batches={TRAINING: update.problems})
    state = started(rule, update.batches, torch.float64)
    with pytest.raises(ValueError, match="num_outputs must be that of the network, 3, got 5"):
        rule.loss(dataclasses.replace(update, state=state))


@pytest.mark.parametrize(
    "shape, message", [((4, 3), "items must be images of"), ((4, 2, 8, 8), "")]
)
def test_items_that_are_no_images_of_one_color_or_three_are_refused(
    shape: tuple[int, ...], message: str
) -> None:
    message = message or r"\(item, 1 or 3, height, width\), got shape \(4, 2, 8, 8\)"
    with pytest.raises(ValueError, match=message):
        draws_of(FixMatch(consistency=OTHER), torch.rand(shape))
