"""Virtual adversarial dropout: masks and losses by loops, and what the rule refuses."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from farfield.core import stream
from farfield.core.internal import TRAINING
from farfield.objectives import Bound, Update, VAdD
from made import gradcheck
from oracles import learning_rules as oracle
from small import ThreeLayers, classified, cross_entropy, parameters_of

BATCHES = {TRAINING: classified(1), "unlabelled": classified(2)}
RULE = VAdD(layer="hidden", shape=(5,), weight=3.0, ramp=0.4, change=0.4, consistency="unlabelled")


def update_of(rule: VAdD, model: nn.Module, **others: Any) -> Update:
    return Update(
        network=Bound(module=model),
        batches=BATCHES,
        task_loss=cross_entropy,
        draws=rule.draw(BATCHES, stream(0)),
        progress=0.2,
        **others,
    )


def answers_by_loops(model: ThreeLayers, masks: np.ndarray, dropout: float) -> list[list[float]]:
    """Probabilities for each problem, its hidden row masked."""
    batch = BATCHES["unlabelled"]
    with torch.no_grad():
        hidden = model.hidden(model.encoder(batch.items)[batch.index].flatten(1).tanh()).numpy()
    weight, bias = model.reader.weight.detach().numpy(), model.reader.bias.detach().numpy()
    return [
        oracle.probabilities(
            oracle.affine(
                [math.tanh(h * m / (1 - dropout)) for h, m in zip(row, mask, strict=True)],
                weight,
                bias,
            )
        )
        for row, mask in zip(hidden, masks, strict=True)
    ]


def apart(first: list[float], second: list[float]) -> float:
    return sum((p - q) ** 2 for p, q in zip(first, second, strict=True))


@pytest.mark.parametrize("change, count", [(0.4, 2), (0.6, 3), (0.1, 0), (1.0, 5)])
def test_the_mask_changes_where_the_slope_is_steepest(change: float, count: int) -> None:
    model, dropout = ThreeLayers(), 0.3
    rule = dataclasses.replace(RULE, change=change, dropout=dropout)
    update = update_of(rule, model)
    first, mask = (update.draws[name].double().numpy() for name in ("first", "second"))
    target = answers_by_loops(model, first, dropout)
    changed = mask.copy()
    for b in range(5):
        gains = []
        for j in range(5):
            both = []
            for sign in (1, -1):
                moved = mask.copy()
                moved[b, j] += sign * 1e-5
                both.append(apart(answers_by_loops(model, moved, dropout)[b], target[b]))
            slope = (both[0] - both[1]) / 2e-5
            gains.append(-slope if mask[b, j] else slope)
        steepest = sorted(range(5), key=lambda j: -gains[j])[:count]
        for j in steepest:
            if gains[j] > 1e-9:
                changed[b, j] = 1 - mask[b, j]
    second = answers_by_loops(model, changed, dropout)
    distance = sum(map(apart, target, second)) / 20
    logits = oracle.outputs(BATCHES[TRAINING].sequences().numpy(), parameters_of(model))
    supervised = oracle.mixup_loss(logits, BATCHES[TRAINING].target.tolist(), [1.0] * 5, [0] * 5)
    expected = supervised + 3 * math.exp(-1.25) * distance
    assert rule.loss(update)[0].item() == pytest.approx(expected, rel=1e-9)
    assert bool(count) == bool((changed != mask).any())


def test_the_gradient_passes_to_both_answers() -> None:
    model = ThreeLayers()
    names, values = zip(*model.named_parameters(), strict=True)

    def loss(*parameters: Tensor) -> Tensor:
        network = Bound(module=model, parameters=dict(zip(names, parameters, strict=True)))
        return RULE.loss(dataclasses.replace(update_of(RULE, model), network=network))[0]

    assert gradcheck(loss, values)


def test_masks_are_dropped_with_the_probability() -> None:
    rule = VAdD(layer="hidden", shape=(5, 3), dropout=0.2)
    draws = [rule.draw(BATCHES, stream(0, step)) for step in range(300)]
    first, second = (torch.stack([draw[name] for draw in draws]) for name in ("first", "second"))
    assert first.shape == (300, 5, 5, 3)
    assert set(first.unique().tolist()) == {0.0, 1.0}
    assert first.mean().item() == pytest.approx(0.8, abs=0.01)
    assert (first * second).mean().item() == pytest.approx(0.64, abs=0.01)


def test_equal_masks_stay_and_statistics_are_of_the_training_problems() -> None:
    model = ThreeLayers()
    model.encoder = nn.Sequential(model.encoder, nn.BatchNorm1d(4, dtype=torch.float64))
    update = update_of(RULE, model)
    draws = dict.fromkeys(update.draws, update.draws["first"])
    loss, _ = RULE.loss(dataclasses.replace(update, draws=draws))
    supervised = RULE.supervised(update)
    assert loss.item() == pytest.approx(supervised.item(), rel=1e-12)
    assert int(model.encoder[1].num_batches_tracked) == 2


@pytest.mark.parametrize(
    "options, message",
    [
        ({"dropout": 1.0}, "dropout must be"),
        ({"change": 1.5}, "change must be"),
        ({"shape": (0,)}, r"shape\[0\] must be"),
    ],
)
def test_bad_numbers_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        VAdD(**{"layer": "hidden", "shape": (5,), **options})


def test_layers_of_another_shape_and_unknown_ones_are_refused() -> None:
    rule = dataclasses.replace(RULE, shape=(4,))
    with pytest.raises(ValueError, match=r"shape must be .* for each of 5 problems, \(5, 5\) from"):
        rule.loss(update_of(rule, ThreeLayers()))
    with pytest.raises(ValueError, match="beneath"):
        dataclasses.replace(RULE, layer="beneath").start(
            Bound(module=ThreeLayers()), BATCHES, stream(0)
        )
