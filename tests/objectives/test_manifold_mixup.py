"""Manifold mixup: its loss by loops and by the released code, gradients, draws, bad input."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from farfield.core import Problems, stream
from farfield.core.internal import TRAINING
from farfield.objectives import Bound, ManifoldMixup, Mixup, Update
from farfield.training.internal import OneNetwork
from made import gradcheck
from oracles import learning_rules as oracle
from small import ThreeLayers, classified, cross_entropy, loss_of, small_experiment

LAYERS = ("input", "encoder", "hidden")


def update_of(model: nn.Module, batch: Problems, draws: dict[str, Tensor], **others) -> Update:
    return Update(
        network=Bound(module=model),
        batches={TRAINING: batch},
        task_loss=cross_entropy,
        draws=draws,
        **others,
    )


@pytest.mark.parametrize("per_example", [False, True])
def test_the_loss_is_that_of_mixtures_at_the_layer(per_example: bool) -> None:
    model, batch = ThreeLayers(), classified(1)
    rule = ManifoldMixup(layers=LAYERS, alpha=1.5, per_example=per_example)
    parameters = {name: p.detach().numpy() for name, p in model.named_parameters()}
    x = batch.sequences().numpy()
    met = set[str]()
    for number in range(30):
        draws = rule.draw({TRAINING: batch}, stream(number))
        at, partner = LAYERS[int(draws["layer"])], draws["partner"].tolist()
        weights = draws["weight"].expand(len(batch)).tolist()
        met.add(at)
        logits = oracle.outputs(x, parameters, at, weights, partner)
        expected = oracle.mixup_loss(logits, batch.target.tolist(), weights, partner)
        found = rule.loss(update_of(model, batch, dict(draws)))[0].item()
        assert found == pytest.approx(expected, rel=1e-12)
    assert met == set(LAYERS)


def test_at_the_input_alone_it_is_mixup_to_the_bit() -> None:
    model, batch = ThreeLayers(), classified(1)
    rules = (ManifoldMixup(layers=("input",), alpha=0.7), Mixup(alpha=0.7))
    first, second = (loss_of(rule, model, batch, cross_entropy, stream(2)) for rule in rules)
    assert torch.equal(first, second)


class Released(nn.Module):
    """A hidden tensor, and logits that do not depend on it."""

    def __init__(self, logits: np.ndarray) -> None:
        super().__init__()
        self.block = nn.Identity()
        self.logits = nn.Parameter(torch.tensor(logits, dtype=torch.float64))
        self.mixed = torch.zeros(0)

    def forward(self, items: Tensor, index: Tensor) -> Tensor:
        self.mixed = self.block(items[index[:, 0]])
        return self.logits


def released_loss(outputs: Tensor, problems: Problems) -> Tensor:
    answers = nn.functional.one_hot(problems.target, outputs.shape[-1]).to(outputs)
    return nn.functional.binary_cross_entropy(outputs.softmax(-1), answers, reduction="none").mean(
        -1
    )


def test_released_code(golden) -> None:
    arrays = golden("manifold_mixup_mixing")
    hidden = torch.tensor(arrays["in.hidden"], dtype=torch.float64)
    index, target = torch.arange(len(hidden))[:, None], torch.tensor(arrays["in.labels"])
    draws = {
        "weight": torch.tensor(float(arrays["in.lambda"][0]), dtype=torch.float64),
        "partner": torch.tensor(arrays["in.permutation"]),
    }
    model = Released(arrays["in.logits"])
    update = Update(
        network=Bound(module=model),
        batches={TRAINING: Problems(items=hidden, index=index, target=target)},
        task_loss=released_loss,
        draws=draws,
    )
    loss, _ = ManifoldMixup(layers=("block",)).loss(update)
    loss.backward()
    np.testing.assert_allclose(model.mixed, arrays["out.mixed_hidden"], rtol=1e-6, atol=1e-7)
    assert loss.item() == pytest.approx(float(arrays["out64.loss_bce"]), rel=1e-9)
    np.testing.assert_allclose(model.logits.grad, arrays["gradin.logits"], rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("layer", [0, 1, 2])
def test_gradients_are_those_of_finite_differences(layer: int) -> None:
    model, batch = ThreeLayers(), classified(1)
    rule = ManifoldMixup(layers=LAYERS)
    draws = {**rule.draw({TRAINING: batch}, stream(0)), "layer": torch.tensor(layer)}
    names, values = zip(*model.named_parameters(), strict=True)

    def loss(*parameters: Tensor) -> Tensor:
        network = Bound(module=model, parameters=dict(zip(names, parameters, strict=True)))
        update = Update(
            network=network,
            batches={TRAINING: batch},
            task_loss=cross_entropy,
            draws=draws,
        )
        return rule.loss(update)[0]

    assert gradcheck(loss, values)


@pytest.mark.parametrize(
    "layer, still", [("input", set()), ("encoder", {"encoder"}), ("hidden", {"encoder", "hidden"})]
)
def test_a_stopped_gradient_reaches_nothing_below_the_layer(layer: str, still: set[str]) -> None:
    model, batch = ThreeLayers(), classified(1)
    stopped = ManifoldMixup(layers=LAYERS, stop_gradient=True)
    draws = {
        **stopped.draw({TRAINING: batch}, stream(0)),
        "layer": torch.tensor(LAYERS.index(layer)),
    }
    gradients = []
    for rule in (stopped, ManifoldMixup(layers=LAYERS)):
        model.zero_grad()
        rule.loss(update_of(model, batch, draws))[0].backward()
        gradients.append({name: p.grad for name, p in model.named_parameters()})
    for name, gradient in gradients[0].items():
        if name.partition(".")[0] in still:
            assert not gradient.any()
        else:
            assert torch.equal(gradient, gradients[1][name])
            assert gradient.any()


def test_weights_of_examples_and_layers_are_drawn_evenly() -> None:
    batch, alpha = classified(1), 0.4
    rule = ManifoldMixup(layers=LAYERS, alpha=alpha, per_example=True)
    draws = [rule.draw({TRAINING: batch}, stream(0, step)) for step in range(1500)]
    weights = torch.stack([draw["weight"] for draw in draws])
    assert weights.shape == (1500, len(batch))
    assert weights.var().item() == pytest.approx(1 / (4 * (2 * alpha + 1)), rel=0.05)
    layers = torch.stack([draw["layer"] for draw in draws]).bincount()
    assert (layers - 500).abs().max() < 4 * np.sqrt(1500 * 2 / 9)


def test_a_loss_that_reads_the_items_reads_those_of_the_partner() -> None:
    model, batch, seen = ThreeLayers(), classified(1), list[Tensor]()

    def loss(outputs: Tensor, problems: Problems) -> Tensor:
        seen.append(problems.sequences())
        return cross_entropy(outputs, problems)

    rule = ManifoldMixup(layers=("hidden", "input"))
    x = batch.sequences()
    for layer in (0, 1):
        draws = {**rule.draw({TRAINING: batch}, stream(0)), "layer": torch.tensor(layer)}
        partner, weight = draws["partner"], draws["weight"]
        update = Update(
            network=Bound(module=model), batches={TRAINING: batch}, task_loss=loss, draws=draws
        )
        rule.loss(update)
        mixed = weight * x + (1 - weight) * x[partner]
        expected = (mixed, mixed) if layer else (x, x[partner])
        torch.testing.assert_close((seen[-2], seen[-1]), expected)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"layers": ()}, r"layers must be at least one name, each named once, got \(\)"),
        ({"layers": ("input", "input")}, "layers must be at least one name"),
        ({"layers": ("input",), "alpha": 0.0}, "alpha must be a finite number above 0"),
    ],
)
def test_options_that_are_none_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ManifoldMixup(**options)  # type: ignore[arg-type]


def test_a_layer_that_is_not_there_is_named_before_training() -> None:
    experiment = small_experiment()
    rule = ManifoldMixup(layers=("input", "encoders"))
    with pytest.raises(ValueError, match=r"got 'encoders'; did you mean 'encoder'\?"):
        OneNetwork(dataclasses.replace(experiment, objective=rule), 0)


def test_layers_that_cannot_be_mixed_are_refused() -> None:
    model, batch = ThreeLayers(), classified(1)
    model.unused = nn.Identity()
    with pytest.raises(ValueError, match=r"layers that the model calls, got \['unused'\]"):
        loss_of(ManifoldMixup(layers=("unused",)), model, batch, cross_entropy, stream(0))
    model.encoder.register_forward_hook(lambda *args: args[-1][:-1])
    with pytest.raises(ValueError, match=r"a row for each of 5 problems or 10 items, got \(9, 4\)"):
        loss_of(ManifoldMixup(layers=("encoder",)), model, batch, cross_entropy, stream(0))


def test_items_that_are_no_numbers_are_mixed_at_a_hidden_layer_only() -> None:
    class Tokens(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(5, 3)

        def forward(self, items: Tensor, index: Tensor) -> Tensor:
            return self.embedding(items)[index].sum(1)

    batch = Problems(
        items=torch.arange(5), index=torch.tensor([[0, 1], [2, 4]]), target=torch.tensor([1, 0])
    )
    hidden = loss_of(
        ManifoldMixup(layers=("embedding",)), Tokens(), batch, cross_entropy, stream(0)
    )
    assert hidden.isfinite()
    with pytest.raises(ValueError, match=r"items must be uint8 .* got torch.int64"):
        loss_of(Mixup(), Tokens(), batch, cross_entropy, stream(0))
