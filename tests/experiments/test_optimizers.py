"""Optimizers and schedules: what torch is given, what is refused."""

from __future__ import annotations

import math

import pytest
import torch

from farfield.experiments import (
    SGD,
    Adam,
    AdamW,
    Constant,
    Cosine,
    Halving,
    Linear,
    Optimizer,
    Player,
    Recipe,
    RMSprop,
    Schedule,
    Steps,
    Warmup,
)
from farfield.training._turns import Turn

DESCRIPTIONS = {
    "Adam": Adam(betas=(0.8, 0.9), eps=1e-6, weight_decay=0.1, undecayed=("*.bias",)),
    "AdamW": AdamW(betas=(0.8, 0.9), eps=1e-6, weight_decay=0.1, undecayed=("*.bias",)),
    "SGD": SGD(momentum=0.9, nesterov=True, weight_decay=0.1, undecayed=("*.bias",)),
    "RMSprop": RMSprop(alpha=0.9, momentum=0.5, weight_decay=0.1, undecayed=("*.bias",)),
}


def parameters() -> dict[str, torch.Tensor]:
    names = ("first.weight", "first.bias", "second.weight", "second.bias")
    return {name: torch.ones(2, requires_grad=True) for name in names}


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_torch_is_given_what_the_description_says(name: str) -> None:
    description = DESCRIPTIONS[name]
    assert isinstance(description, Optimizer)
    learned = parameters()
    recipe = Recipe(steps=1, learning_rate=0.01, optimizer=description)
    ((optimizer, _),) = Turn(0, [Player()], learned, recipe).optimizers
    assert type(optimizer) is getattr(torch.optim, name)
    decayed = {
        name: group["weight_decay"]
        for group in optimizer.param_groups
        for name, parameter in learned.items()
        if any(parameter is one for one in group["params"])
    }
    assert decayed == {
        "first.weight": 0.1,
        "first.bias": 0.0,
        "second.weight": 0.1,
        "second.bias": 0.0,
    }
    for group in optimizer.param_groups:
        for option in set(vars(description)) - {"weight_decay", "undecayed"}:
            assert group[option] == getattr(description, option), option


@pytest.mark.parametrize(
    "make, message",
    [
        (
            lambda: Adam(betas=(0.9, 1.0)),
            r"betas\[1\] must be a finite number of at least 0 and below 1, got 1.0",
        ),
        (lambda: AdamW(weight_decay=-0.1), "weight_decay must be"),
        (lambda: SGD(momentum=-0.9), "momentum must be"),
        (lambda: SGD(nesterov=True), "momentum must be above 0 with nesterov, got 0.0"),
        (lambda: RMSprop(alpha=1.0), "alpha must be"),
        (lambda: Cosine(first=0.0), "first must be"),
        (lambda: Cosine(again=1.5), "again must be"),
        (
            lambda: Cosine(span=0.0),
            "span must be a finite number above 0 and of at most 1, got 0.0",
        ),
        (lambda: Steps(factors=((0.5, 0.1), (0.5, 0.01))), "factors must grow in progress"),
        (lambda: Steps(factors=((0.5, -1.0),)), r"factors\[0\]\[1\] must be"),
        (lambda: Halving(after=0.5, every=0.0), "every must be a finite number above 0"),
        (lambda: Warmup(fraction=1.5), "fraction must be"),
    ],
)
def test_numbers_out_of_range_are_refused(unchecked: None, make, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_schedules_have_the_factors_of_their_formulas() -> None:
    def factors(schedule: Schedule, steps: int = 8) -> list[float]:
        return [schedule.factor(step, steps) for step in range(steps)]

    assert factors(Constant()) == [1.0] * 8
    assert factors(Cosine()) == pytest.approx(
        [(1 + math.cos(math.pi * step / 8)) / 2 for step in range(8)]
    )
    assert factors(Cosine(span=0.5))[-1] > 0.5
    assert Cosine().factor(8, 8) == 0
    again = [(1 + math.cos(math.pi * 0.9 * step / 4)) / 2 for step in (0, 1, 2, 3, 2, 3, 2, 3)]
    assert factors(Cosine(span=0.9, first=0.5, again=0.5)) == pytest.approx(again)
    assert factors(Steps(factors=((0.5, 0.1), (0.75, 0.01)))) == [1.0] * 4 + [0.1] * 2 + [0.01] * 2
    assert factors(Linear()) == [1 - step / 8 for step in range(8)]
    assert factors(Halving(after=0.5, every=0.25)) == [1.0] * 4 + [0.5] * 2 + [0.25] * 2
    rising = Warmup(fraction=0.25, then=Steps(factors=((0.5, 0.1),)))
    assert factors(rising) == [0.5, 1.0, 1.0, 1.0, 1.0, 0.1, 0.1, 0.1]


@pytest.mark.parametrize(
    "schedule", [Cosine(), Steps(factors=((0.5, 0.1),)), Halving(after=0.5, every=0.25)]
)
def test_a_shortened_run_keeps_the_shape(schedule: Schedule) -> None:
    long = [schedule.factor(step, 400) for step in range(0, 400, 50)]
    assert [schedule.factor(step, 8) for step in range(8)] == pytest.approx(long)
