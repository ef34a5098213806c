"""Adversarial training: the attack by loops and finite differences, and what it refuses."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from farfield.analysis import PGD
from farfield.core import Problems, stream
from farfield.core.internal import TRAINING
from farfield.objectives import AdversarialTraining, Bound, Update
from oracles import learning_rules as oracle
from small import ThreeLayers, classified, cross_entropy, loss_of, parameters_of

EPS, STEP = 0.5, 0.3


def loss_by_loops(x: np.ndarray, target: list[int], own: dict[str, np.ndarray]) -> list[float]:
    return [
        oracle.cross_entropy(row, y) for row, y in zip(oracle.outputs(x, own), target, strict=True)
    ]


def slopes(x: np.ndarray, target: list[int], own: dict[str, np.ndarray]) -> np.ndarray:
    """Slopes of the losses by central differences, one number after another."""
    found = np.zeros_like(x)
    for place in np.ndindex(x.shape[1:]):
        change = np.zeros_like(x)
        change[:, *place] = 1e-5
        above, below = (loss_by_loops(x + sign * change, target, own) for sign in (1, -1))
        found[:, *place] = (np.array(above) - np.array(below)) / 2e-5
    return found


@pytest.mark.parametrize("bounds", [None, (-0.4, 0.7)])
@pytest.mark.parametrize("random_start", [True, False])
def test_the_loss_is_that_of_items_moved_step_by_step(random_start: bool, bounds: Any) -> None:
    batch, model = classified(1), ThreeLayers()
    rule = AdversarialTraining(
        eps=EPS, steps=3, step_size=STEP, random_start=random_start, bounds=bounds
    )
    own, target = parameters_of(model), batch.target.tolist()
    items = batch.sequences().numpy()
    low, high = items - EPS, items + EPS
    if bounds is not None:
        low, high = low.clip(*bounds), high.clip(*bounds)
    moved = items
    if random_start:
        start = rule.draw({TRAINING: batch}, stream(0))["start"].double().numpy()
        moved = (items + EPS * start).clip(low, high)
    for _ in range(3):
        moved = (moved + STEP * np.sign(slopes(moved, target, own))).clip(low, high)
    found = loss_of(rule, model, batch, cross_entropy, stream(0)).item()
    assert found == pytest.approx(np.mean(loss_by_loops(moved, target, own)), rel=1e-12)
    assert found > np.mean(loss_by_loops(items, target, own))


def test_the_first_points_fill_the_box() -> None:
    draws = [AdversarialTraining().draw({TRAINING: classified(1)}, stream(0, k)) for k in range(99)]
    points = torch.stack([draw["start"] for draw in draws])
    assert points.shape == (99, 5, 2, 3)
    assert points.min() < -0.99
    assert points.max() > 0.99
    assert points.abs().max() <= 1
    assert points.var().item() == pytest.approx(1 / 3, rel=0.05)


def test_it_is_the_attack_that_a_profile_measures() -> None:
    """Images of bytes under `PGD` from the items, in the same box."""
    source = torch.Generator().manual_seed(0)
    images = torch.randint(256, (6, 3, 4, 4), dtype=torch.uint8, generator=source)
    batch = Problems(items=images, index=torch.arange(6)[:, None], target=torch.arange(6) % 4)

    class Flat(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.Linear(48, 7), nn.Linear(7, 4)
            for parameter in self.parameters():
                nn.init.normal_(parameter, generator=source)

        def forward(self, items: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
            return self.second(self.first(items[index[:, 0]].flatten(1)).tanh())

    model, options = Flat(), {"eps": 0.2, "steps": 4, "step_size": 0.1, "random_start": False}
    attacked = PGD(**options, of="test")(model, batch, cross_entropy, stream(0))
    expected = cross_entropy(model(attacked.items, attacked.index), attacked).mean()
    found = loss_of(AdversarialTraining(**options), model, batch, cross_entropy, stream(0))
    torch.testing.assert_close(found, expected)


def test_batch_statistics_are_of_the_moved_problems_once() -> None:
    model, batch = ThreeLayers(), classified(1)
    model.encoder = nn.Sequential(model.encoder, nn.BatchNorm1d(4, dtype=torch.float64))
    rule = AdversarialTraining(eps=EPS, steps=2, step_size=STEP, random_start=False)
    loss_of(rule, model, batch, cross_entropy, stream(0)).backward()
    plain = 0.1 * model.encoder[0](batch.items).detach().mean(0)
    assert int(model.encoder[1].num_batches_tracked) == 1
    assert not torch.allclose(model.encoder[1].running_mean, plain)
    assert all(p.grad is not None for p in model.parameters())


def test_no_gradient_passes_to_the_moved_items() -> None:
    """At an attack that reaches the corners of the box, the slope is that at fixed corners."""
    model, batch = ThreeLayers(), classified(1)
    rule = AdversarialTraining(eps=EPS, steps=2, step_size=9.0, random_start=False)
    seen: list[torch.Tensor] = []
    hook = model.encoder.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    loss_of(rule, model, batch, cross_entropy, stream(0)).backward()
    hook.remove()
    corners = dataclasses.replace(batch.unshared(), items=seen[-1].detach())
    slope = model.hidden.weight.grad.clone()
    model.zero_grad()
    cross_entropy(model(corners.items, corners.index), corners).mean().backward()
    torch.testing.assert_close(slope, model.hidden.weight.grad)
    assert not seen[-1].requires_grad


@pytest.mark.parametrize(
    "options, message",
    [
        ({"eps": 0.0}, "eps must be"),
        ({"steps": 0}, "steps must be"),
        ({"step_size": -1.0}, "step_size must be"),
        ({"bounds": (1.0, 0.0)}, "bounds must be"),
        ({"bounds": (float("nan"), 1.0)}, r"bounds\[0\] must be a finite number"),
    ],
)
def test_bad_numbers_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        AdversarialTraining(**options)


def test_items_that_are_integers_are_refused(unchecked: None) -> None:
    batch = classified(1)
    integers = dataclasses.replace(batch, items=batch.items.long())
    rule = AdversarialTraining(random_start=False)
    network = Bound(module=ThreeLayers())
    update = Update(network=network, batches={TRAINING: integers}, task_loss=cross_entropy)
    with pytest.raises(ValueError, match=r"items must be uint8 .* or floating-point"):
        rule.loss(update)
