"""Π-model, temporal ensembling and virtual adversarial training: by loops, and what they refuse."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from farfield.core import Problems, stream
from farfield.core.internal import TRAINING
from farfield.models.internal import ItemModel
from farfield.objectives import VAT, Bound, Objective, PiModel, TemporalEnsembling, Update
from made import gradcheck
from oracles import learning_rules as oracle
from small import ThreeLayers, classified, cross_entropy, parameters_of

BATCHES = {TRAINING: classified(1), "unlabelled": classified(2)}
X = {name: batch.sequences().numpy() for name, batch in BATCHES.items()}
PLAIN = ([1.0] * 5, [0] * 5)


def update_of(rule: Objective, model: nn.Module, number: int = 0, **others: Any) -> Update:
    return Update(
        network=Bound(module=model),
        batches=BATCHES,
        task_loss=cross_entropy,
        draws=rule.draw(BATCHES, stream(number)),
        **others,
    )


def supervised_loss(parameters: dict[str, np.ndarray]) -> float:
    logits = oracle.outputs(X[TRAINING], parameters)
    return oracle.mixup_loss(logits, BATCHES[TRAINING].target.tolist(), *PLAIN)


def test_the_pi_model_compares_answers_under_two_noises() -> None:
    model, rule = ThreeLayers(), PiModel(weight=3.0, ramp=0.4, noise=0.5, consistency="unlabelled")
    own, update = parameters_of(model), update_of(rule, model, progress=0.2)
    noise = [update.draws[name].double().numpy() for name in ("first", "second")]
    first, second = (oracle.outputs(X["unlabelled"] + 0.5 * one, own) for one in noise)
    distance = oracle.distance(first, [oracle.probabilities(row) for row in second])
    expected = supervised_loss(own) + 3 * np.exp(-1.25) * distance
    assert rule.loss(update)[0].item() == pytest.approx(expected, rel=1e-12)
    assert rule.sets == (TRAINING, "unlabelled")


def test_the_pi_model_trains_both_answers() -> None:
    model, rule = ThreeLayers(), PiModel(noise=0.5, ramp=0.0)
    names, values = zip(*model.named_parameters(), strict=True)

    def loss(*parameters: Tensor) -> Tensor:
        network = Bound(module=model, parameters=dict(zip(names, parameters, strict=True)))
        return rule.loss(dataclasses.replace(update_of(rule, model), network=network))[0]

    assert gradcheck(loss, values)


def test_noise_is_standard_normal_and_of_its_own_for_every_answer() -> None:
    draws = [PiModel().draw(BATCHES, stream(0, step)) for step in range(200)]
    first, second = (torch.stack([draw[name] for draw in draws]) for name in ("first", "second"))
    assert first.shape == (200, 5, 2, 3)
    assert abs(first.mean()) < 4 / np.sqrt(first.numel())
    assert first.var().item() == pytest.approx(1, abs=4 * np.sqrt(2 / first.numel()))
    assert abs((first * second).mean()) < 4 / np.sqrt(first.numel())


def test_temporal_ensembling_compares_with_the_mean_of_past_answers() -> None:
    model = ThreeLayers()
    rule = TemporalEnsembling(
        num_outputs=4, weight=3.0, ramp=0.0, decay=0.7, consistency="unlabelled"
    )
    sets = {TRAINING: classified(1), "unlabelled": Problems(**_several(classified(2), 9))}
    state = rule.start(Bound(module=model), sets, stream(0))
    seen: dict[int, list[list[float]]] = {row: [] for row in range(9)}
    for rows in ([0, 1, 2, 3, 4], [4, 6, 7, 8, 0], [1, 0, 6, 5, 4]):
        with torch.no_grad():
            model.reader.weight.mul_(0.9)
        own = parameters_of(model)
        update = update_of(
            rule, model, state=state, rows={"unlabelled": torch.tensor(rows)}, progress=0.5
        )
        answers = [oracle.probabilities(row) for row in oracle.outputs(X["unlabelled"], own)]
        squares = 0.0
        for b, row in enumerate(rows):
            weights = [0.7**age for age in range(len(seen[row]))]
            for k in range(4):
                if past := seen[row]:
                    pairs = zip(weights, reversed(past), strict=True)
                    mean = sum(w * one[k] for w, one in pairs) / sum(weights)
                    squares += (answers[b][k] - mean) ** 2
            seen[row].append(answers[b])
        loss, state = rule.loss(update)
        expected = supervised_loss(own) + 3 * squares / 20
        assert loss.item() == pytest.approx(expected, rel=1e-12)
        assert not any(tensor.requires_grad for tensor in state.values())
    assert state["visits"].tolist() == [3, 2, 1, 1, 3, 1, 2, 1, 1]


def _several(problems: Problems, count: int) -> dict[str, Tensor]:
    """That many problems over the same items."""
    rows = torch.arange(count) % len(problems)
    return {
        "items": problems.items,
        "index": problems.index[rows],
        "target": problems.target[rows],
    }


def test_temporal_ensembling_refuses_another_number_of_outputs() -> None:
    model, rule = ThreeLayers(), TemporalEnsembling(num_outputs=1)
    state = rule.start(Bound(module=model), BATCHES, stream(0))
    update = update_of(rule, model, state=state, rows={TRAINING: torch.arange(5)})
    with pytest.raises(ValueError, match=r"num_outputs must be that of the network, \(4,\), got 1"):
        rule.loss(update)


def test_vat_moves_the_outputs_of_a_layer_in_its_unit() -> None:
    """Behind a front that doubles, a radius is twice that at the items."""
    items = torch.randn(5, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    batch = Problems(items=items, index=torch.arange(5)[:, None], target=torch.arange(5) % 4)
    core = nn.Linear(3, 4, dtype=torch.float64)
    double = nn.Linear(3, 3, bias=False, dtype=torch.float64)
    double.weight.data = 2 * torch.eye(3, dtype=torch.float64)
    model = ItemModel(core, double)

    def loss(rule: VAT) -> float:
        batches = {TRAINING: batch}
        update = Update(
            network=Bound(module=model),
            batches=batches,
            task_loss=cross_entropy,
            draws=rule.draw(batches, stream(3)),
        )
        return float(rule.loss(update)[0].detach())

    behind = loss(VAT(radius=0.6, step=0.02, layer="front"))
    assert behind == pytest.approx(loss(VAT(radius=0.3, step=0.01)), rel=1e-9)
    assert behind != pytest.approx(loss(VAT(radius=0.6, step=0.02)), rel=1e-3)
    with pytest.raises(ValueError, match=r"layer must give outputs of the shape of items \(5, 3\)"):
        loss(VAT(layer="core"))
    with pytest.raises(ValueError, match="layers must be layers of the network, got 'fronts'"):
        VAT(layer="fronts").start(Bound(module=model), {TRAINING: batch}, stream(0))


@pytest.mark.parametrize("iterations", [1, 3])
def test_vat_moves_problems_where_answers_change_most(iterations: int) -> None:
    model = ThreeLayers()
    rule = VAT(
        weight=2.0,
        entropy=0.3,
        radius=0.8,
        step=0.4,
        iterations=iterations,
        consistency="unlabelled",
    )
    own, update = parameters_of(model), update_of(rule, model)
    direction, x = update.draws["direction"].double().numpy(), X["unlabelled"]
    shift = oracle.adversary(x, own, direction, radius=0.8, step=0.4, iterations=iterations)
    clean = oracle.outputs(x, own)
    found, _ = rule.loss(update)
    found.backward()

    def expected(parameters: dict[str, np.ndarray]) -> float:
        """With the change and the answer that is compared with as they are."""
        changed = oracle.outputs(x + shift, parameters)
        divergences = [oracle.divergence(a, b) for a, b in zip(clean, changed, strict=True)]
        entropies = [oracle.entropy(row) for row in oracle.outputs(x, parameters)]
        return (
            supervised_loss(parameters)
            + 2.0 * sum(divergences) / len(divergences)
            + 0.3 * sum(entropies) / len(entropies)
        )

    assert found.item() == pytest.approx(expected(own), rel=1e-6)
    for name, parameter in model.named_parameters():
        slopes = np.empty(parameter.shape)
        for entry in np.ndindex(parameter.shape):
            both = []
            for sign in (1, -1):
                values = own[name].copy()
                values[entry] += sign * 1e-5
                both.append(expected({**own, name: values}))
            slopes[entry] = (both[0] - both[1]) / 2e-5
        np.testing.assert_allclose(parameter.grad, slopes, rtol=1e-4, atol=1e-6)


class Convolutional(nn.Module):
    """A small network of images, which notes what it is shown."""

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1),
            nn.Tanh(),
            nn.AvgPool2d(4),
            nn.Flatten(),
            nn.Linear(72, 4),
        )
        source = torch.Generator().manual_seed(0)
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.normal_(std=0.3, generator=source)
        self.to(dtype)
        self.seen = torch.zeros(0)

    def forward(self, items: Tensor, index: Tensor) -> Tensor:
        self.seen = items
        return self.layers(items[index[:, 0]])


def vat_change(step: float, dtype: torch.dtype) -> Tensor:
    """What virtual adversarial training adds to six images, in 64 bits."""
    images = torch.rand(6, 3, 12, 12, generator=torch.Generator().manual_seed(1)).to(dtype)
    batch = Problems(items=images, index=torch.arange(6)[:, None], target=torch.arange(6) % 4)
    model, rule = Convolutional(dtype), VAT(step=step, radius=1.0)
    update = Update(
        network=Bound(module=model),
        batches={TRAINING: batch},
        task_loss=cross_entropy,
        draws=rule.draw({TRAINING: batch}, stream(0)),
    )
    rule.loss(update)
    return (model.seen - images).double().flatten(1)


def test_the_default_step_of_vat_gives_the_direction_of_its_limit_in_32_bits() -> None:
    limit = vat_change(1e-6, torch.float64)
    torch.testing.assert_close(limit.norm(dim=1), torch.ones(6, dtype=torch.float64))
    ours, published = (vat_change(step, torch.float32) for step in (VAT().step, 1e-6))
    assert (ours * limit).sum(1).min() > 0.99
    assert (published * limit).sum(1).mean() < 0.5


def test_vat_leaves_batch_statistics_to_the_training_problems() -> None:
    model = ThreeLayers()
    model.encoder = nn.Sequential(model.encoder, nn.BatchNorm1d(4, dtype=torch.float64))
    plain = model.encoder[0](BATCHES[TRAINING].items).detach()
    loss, _ = VAT(consistency="unlabelled").loss(update_of(VAT(), model))
    loss.backward()
    torch.testing.assert_close(model.encoder[1].running_mean, 0.1 * plain.mean(0))
    assert int(model.encoder[1].num_batches_tracked) == 1


def test_answers_that_do_not_change_have_no_divergence() -> None:
    model = ThreeLayers()
    with torch.no_grad():
        model.reader.weight.zero_()
    loss, _ = VAT().loss(update_of(VAT(), model))
    assert loss.item() == pytest.approx(supervised_loss(parameters_of(model)), rel=1e-12)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: PiModel(noise=-1.0), "noise must be"),
        (lambda: PiModel(weight=-1.0), "weight must be"),
        (lambda: TemporalEnsembling(num_outputs=4, decay=1.0), "decay must be"),
        (lambda: TemporalEnsembling(num_outputs=0), "num_outputs must be"),
        (lambda: VAT(radius=0.0), "radius must be"),
        (lambda: VAT(iterations=0), "iterations must be"),
        (lambda: VAT(entropy=-1.0), "entropy must be"),
    ],
)
def test_options_out_of_range_are_refused(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("rule", [PiModel(), TemporalEnsembling(num_outputs=4), VAT()])
def test_answers_that_are_no_classes_are_refused(rule: Objective) -> None:
    batch = BATCHES[TRAINING]
    wrong = Problems(items=batch.items, index=batch.index, target=torch.rand(5))
    with pytest.raises(ValueError, match=r"targets must be classes, .* got torch.float32"):
        rule.start(Bound(module=ThreeLayers()), {TRAINING: wrong}, stream(0))
