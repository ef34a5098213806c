"""Attacks on a linear classifier against loops, their bounds, the check for masked gradients."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from farfield.analysis import FGSM, PGD
from farfield.core import Problems, stream
from farfield.experiments import Perturbation
from oracles.attacks import pgd
from small import cross_entropy


class Linear(nn.Module):
    """Classes from all items of a problem, one after another."""

    def __init__(self, in_features: int, num_classes: int) -> None:
        super().__init__()
        self.layer = nn.Linear(in_features, num_classes, dtype=torch.float64)
        source = torch.Generator().manual_seed(0)
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.normal_(generator=source)

    def forward(self, items: Tensor, index: Tensor) -> Tensor:
        return self.layer(items[index].flatten(1))


ONE_STEP = {"eps": 0.1, "steps": 1, "step_size": 0.1, "of": "x"}


def drawn(seed: int, *, bounds: tuple[float, float] = (0.0, 1.0)) -> Problems:
    """Seven problems of two items of three numbers, some items in several."""
    source = torch.Generator().manual_seed(seed)
    low, high = bounds
    items = low + (high - low) * torch.rand(5, 3, dtype=torch.float64, generator=source)
    index = torch.randint(5, (7, 2), generator=source)
    return Problems(items=items, index=index, target=torch.arange(7) % 4)


@pytest.mark.parametrize("bounds", [None, (0.0, 1.0)])
@pytest.mark.parametrize("random_start", [True, False])
@pytest.mark.parametrize("steps, step_size", [(1, 0.07), (6, 0.02), (40, 0.005)])
def test_steps_are_those_of_the_equation(steps, step_size, random_start, bounds) -> None:
    model, problems, where = Linear(6, 4), drawn(1), stream(3, "attack")
    attack = PGD(
        eps=0.05,
        steps=steps,
        step_size=step_size,
        of="test",
        random_start=random_start,
        bounds=bounds,
    )
    found = attack(model, problems, cross_entropy, where)
    start = np.zeros((7, 6))
    if random_start:
        share = torch.rand((14, 3), generator=where.torch()).double().reshape(7, 6)
        start = 0.05 * (2 * share.numpy() - 1)
    weight, bias = (p.detach().numpy() for p in model.parameters())
    before = problems.sequences().flatten(1).numpy()
    for row in range(7):
        expected = pgd(
            before[row], weight, bias, row % 4, eps=0.05, steps=steps, step_size=step_size,
            start=start[row], bounds=bounds,
        )  # fmt: skip
        np.testing.assert_allclose(found.sequences()[row].flatten(), expected, rtol=1e-12)
    assert torch.equal(found.target, problems.target)


@pytest.mark.parametrize("bounds", [None, (0.1, 0.9)])
def test_one_step_of_full_size_is_the_fast_method(bounds) -> None:
    model, problems = Linear(6, 4), drawn(2)
    once = PGD(eps=0.1, steps=1, step_size=0.1, of="x", random_start=False, bounds=bounds)
    fast = FGSM(eps=0.1, of="x", bounds=bounds)
    pair = [attack(model, problems, cross_entropy, stream(0)) for attack in (once, fast)]
    assert torch.equal(pair[0].items, pair[1].items)


def test_more_steps_find_a_larger_loss_within_the_same_box() -> None:
    """Of a network that is not linear, whose slopes change on the way."""
    net = nn.Sequential(nn.Flatten(), nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 4)).double()
    source = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.normal_(generator=source)

    def model(items: Tensor, index: Tensor) -> Tensor:
        return net(items[index])

    def loss_of(problems: Problems) -> float:
        with torch.no_grad():
            return float(cross_entropy(model(problems.items, problems.index), problems).mean())

    problems = drawn(4)
    once, often = (
        PGD(eps=0.2, steps=steps, step_size=0.2 / min(steps, 10), of="x", random_start=False)(
            model, problems, cross_entropy, stream(0)
        )
        for steps in (1, 50)
    )
    assert loss_of(problems) < loss_of(once) < loss_of(often)
    moved = (often.sequences() - problems.sequences()).abs()
    assert 0.19 < float(moved.max()) <= 0.2 + 1e-12


def test_first_points_differ_by_their_stream_alone() -> None:
    model, problems = Linear(6, 4), drawn(5)
    attack = PGD(eps=0.3, steps=1, step_size=0.01, of="x")
    first, again, other = (
        attack(model, problems, cross_entropy, stream(seed)).items for seed in (0, 0, 1)
    )
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_bytes_are_attacked_as_fractions_within_black_and_white() -> None:
    problems = Problems(
        items=torch.tensor([[0, 255, 3], [128, 250, 0]], dtype=torch.uint8),
        index=torch.tensor([[0, 1], [1, 1]]),
        target=torch.tensor([0, 1]),
    )
    model = Linear(6, 2).float()
    attacked = PGD(eps=0.5, steps=9, step_size=0.1, of="x")(
        model, problems, cross_entropy, stream(0)
    )
    before, after = problems.sequences() / 255, attacked.sequences()
    assert (float(after.min()), float(after.max())) == (0.0, 1.0)
    assert float((after - before).abs().max()) == pytest.approx(0.5)


def accuracy_under(attack: PGD, model, problems: Problems) -> float:
    attacked = attack(model, problems, cross_entropy, stream(0))
    return float(
        (model(attacked.items, attacked.index).argmax(1) == attacked.target).float().mean()
    )


def test_a_long_attack_without_bound_tells_masked_gradients_from_robustness() -> None:
    """A staircase has no slope: it withstands every attack by gradients, though not by accident."""
    source = torch.Generator().manual_seed(0)
    items = torch.rand(200, 2, dtype=torch.float64, generator=source) * 0.8 + 0.1
    target = (items[:, 0] > items[:, 1]).long()
    problems = Problems(items=items, index=torch.arange(200)[:, None], target=target)

    def plain(items: Tensor, index: Tensor) -> Tensor:
        each = items[index[:, 0]]
        return 5 * torch.stack([each[:, 1] - each[:, 0], each[:, 0] - each[:, 1]], dim=1)

    def staircase(items: Tensor, index: Tensor) -> Tensor:
        return plain((items * 32).round() / 32 + 0 * items, index)

    search = PGD(eps=1.0, steps=200, step_size=0.01, of="x", random_start=False, bounds=(0.0, 1.0))
    assert accuracy_under(search, plain, problems) == 0.0
    assert accuracy_under(search, staircase, problems) > 0.9
    assert accuracy_under(dataclasses.replace(search, eps=0.05), plain, problems) > 0.5


def test_an_attack_names_a_regime_at_the_distance_of_its_strength() -> None:
    attack = PGD(eps=0.03, steps=7, step_size=0.01, of="test")
    assert isinstance(attack, Perturbation)
    assert (attack.regime.name, attack.regime.distance, attack.regime.unit) == (
        "pgd-7-0.03-test",
        0.03,
        FGSM(eps=0.03, of="test").regime.unit,
    )


@pytest.mark.parametrize(
    "name, value, wanted",
    [("eps", 0.0, "above 0"), ("steps", 0, "1…16777216"), ("step_size", -1.0, "above 0")],
)
def test_wrong_fields_are_refused(name: str, value: object, wanted: str, unchecked) -> None:
    fields = {"eps": 0.1, "steps": 3, "step_size": 0.1, "of": "test", name: value}
    with pytest.raises(ValueError, match=f"{name} must be .*{wanted}, got {value}"):
        PGD(**fields)


def test_symbols_have_no_slope(unchecked) -> None:
    symbols = Problems(
        items=torch.arange(3)[:, None], index=torch.arange(3)[:, None], target=torch.zeros(3).long()
    )
    for attack in (FGSM(eps=0.1, of="x"), PGD(eps=0.1, steps=1, step_size=0.1, of="x")):
        with pytest.raises(ValueError, match="items must be uint8 of 0…255 or floating-point"):
            attack(Linear(1, 2), symbols, cross_entropy, stream(0))


@pytest.mark.parametrize(
    "make", [lambda **b: FGSM(eps=0.1, of="x", **b), lambda **b: PGD(**ONE_STEP, **b)]
)
def test_bounds_that_hold_nothing_are_refused(make) -> None:
    with pytest.raises(ValueError, match=r"bounds must be a number and a larger one, got \(1.0, 0"):
        make(bounds=(1.0, 0.0))
