"""Mixtures at layers: of networks that encode items once, and at layers that a network declares."""

from __future__ import annotations

import dataclasses

import pytest
import torch
from torch import Tensor, nn

from farfield.core import Problems, stream
from farfield.core.internal import TRAINING
from farfield.objectives import ICT, Bound, ManifoldMixup, Update
from farfield.training.internal import OneNetwork
from oracles import learning_rules as oracle
from small import ThreeLayers, classified, cross_entropy, small_experiment

LAYERS = ("input", "encoder", "hidden")


class TwoStages(ThreeLayers):
    """The same network, which encodes items before it reads problems, and notes how many."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        self.encoded = list[int]()

    def encode(self, items: Tensor) -> Tensor:
        self.encoded.append(len(items))
        return self.encoder(items)

    def answer(self, embeddings: Tensor, index: Tensor) -> Tensor:
        return self.reader(self.hidden(embeddings[index].flatten(1).tanh()).tanh())

    def forward(self, items: Tensor, index: Tensor) -> Tensor:
        return self.answer(self.encode(items), index)


def batch_of(items: int, problems: int = 5) -> Problems:
    """Problems of two of some items."""
    source = torch.Generator().manual_seed(items)
    return Problems(
        items=torch.randn(items, 3, dtype=torch.float64, generator=source),
        index=torch.randint(items, (problems, 2), generator=source),
        target=torch.arange(problems) % 4,
    )


def update_of(model: nn.Module, batch: Problems, draws: dict[str, Tensor]) -> Update:
    return Update(
        network=Bound(module=model),
        batches={TRAINING: batch},
        task_loss=cross_entropy,
        draws=draws,
    )


@pytest.mark.parametrize("per_example", [False, True])
@pytest.mark.parametrize("layer", range(3))
@pytest.mark.parametrize("items", [2, 3, 5, 6, 10])
def test_items_are_encoded_as_often_as_without_mixtures(
    items: int, layer: int, per_example: bool
) -> None:
    batch, model = batch_of(items), TwoStages()
    rule = ManifoldMixup(layers=LAYERS, per_example=per_example)
    draws = {**rule.draw({TRAINING: batch}, stream(0)), "layer": torch.tensor(layer)}
    found = rule.loss(update_of(model, batch, draws))[0]
    weights, partner = draws["weight"].expand(5).tolist(), draws["partner"].tolist()
    parameters = {name: p.detach().numpy() for name, p in model.named_parameters()}
    logits = oracle.outputs(batch.sequences().numpy(), parameters, LAYERS[layer], weights, partner)
    expected = oracle.mixup_loss(logits, batch.target.tolist(), weights, partner)
    assert found.item() == pytest.approx(expected, rel=1e-12)
    pairs = 10 if per_example else min(10, items**2)
    assert model.encoded == [items if layer else pairs]


def test_before_a_layer_in_the_encoder_every_position_is_encoded_by_itself() -> None:
    batch, model, draws = batch_of(3), TwoStages(), ManifoldMixup(layers=("encoder",)).draw
    losses = []
    for layer in ("encoder", "encoder.0"):
        if layer == "encoder.0":
            model.encoder = nn.Sequential(model.encoder)
        update = update_of(model, batch, dict(draws({TRAINING: batch}, stream(0))))
        losses.append(ManifoldMixup(layers=(layer,)).loss(update)[0])
    torch.testing.assert_close(*losses, rtol=1e-12, atol=0)
    assert model.encoded == [3, 10]


@pytest.mark.parametrize("items", [2, 3, 5, 6, 10])
def test_gradients_are_those_of_a_network_that_reads_all_at_once(items: int) -> None:
    batch, rule = batch_of(items), ManifoldMixup(layers=LAYERS)
    for layer in range(3):
        draws = {**rule.draw({TRAINING: batch}, stream(1)), "layer": torch.tensor(layer)}
        gradients = []
        for model in (TwoStages(), ThreeLayers()):
            rule.loss(update_of(model, batch, draws))[0].backward()
            gradients.append([p.grad for p in model.parameters()])
        torch.testing.assert_close(*gradients, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("items", [2, 6])
def test_layers_of_networks_that_run_as_one_program_are_chosen_by_numbers(items: int) -> None:
    batch, model, rule = batch_of(items), TwoStages(), ManifoldMixup(layers=LAYERS)
    draws = [rule.draw({TRAINING: batch}, stream(seed)) for seed in range(16)]
    stacked = {name: torch.stack([draw[name] for draw in draws]) for name in draws[0]}
    assert set(stacked["layer"].tolist()) == {0, 1, 2}

    def loss(drawn: dict[str, Tensor]) -> Tensor:
        return rule.loss(update_of(model, batch, drawn))[0]

    together = torch.func.vmap(loss)(stacked)
    torch.testing.assert_close(together, torch.stack([loss(dict(draw)) for draw in draws]))


class Declared(nn.Module):
    """A network in a network that declares layers."""

    def __init__(self) -> None:
        super().__init__()
        self.core = ThreeLayers()
        self.core.mixing_layers = ("hidden", "encoder")

    def forward(self, items: Tensor, index: Tensor) -> Tensor:
        return self.core(items, index)


NAMED = ("input", "core.hidden", "core.encoder")


@pytest.mark.parametrize("make", [ManifoldMixup, ICT])
def test_without_names_layers_are_those_that_the_network_declares(make: type) -> None:
    batch, model = classified(1), Declared()
    rule, named = make(layers=None), make(layers=NAMED)
    update = update_of(model, batch, {})
    state = rule.start(Bound(module=model), {TRAINING: batch}, stream(0))
    met = set[int]()
    for number in range(20):
        draws = dict(rule.draw({TRAINING: batch}, stream(number)))
        found = rule.loss(dataclasses.replace(update, draws=draws, state=state))[0]
        for name in (name for name in draws if name.endswith("layer")):
            draws[name] %= 3
            met.add(int(draws[name]))
        expected = named.loss(dataclasses.replace(update, draws=draws, state=state))[0]
        assert torch.equal(found, expected)
    assert met == {0, 1, 2}


def test_a_layer_that_several_parts_declare_counts_once() -> None:
    batch, model = classified(1), Declared()
    model.mixing_layers = ("core.encoder", "core.hidden")
    rule, named = ManifoldMixup(), ManifoldMixup(layers=("input", "core.encoder", "core.hidden"))
    for number in range(6):
        draws = dict(rule.draw({TRAINING: batch}, stream(number)))
        found = rule.loss(update_of(model, batch, draws))[0]
        draws["layer"] %= 3
        assert torch.equal(found, named.loss(update_of(model, batch, draws))[0])


@pytest.mark.parametrize("rule", [ManifoldMixup(), ICT(layers=None)])
def test_a_network_that_declares_no_layers_is_refused(rule) -> None:
    message = (
        r"layers must be named for a network no part of which has mixing_layers, got None for "
        r'ThreeLayers; it has "input" and encoder, hidden, reader'
    )
    with pytest.raises(ValueError, match=message):
        rule.start(Bound(module=ThreeLayers()), {TRAINING: classified(1)}, stream(0))
    with pytest.raises(ValueError, match="got None for Relational"):
        OneNetwork(dataclasses.replace(small_experiment(), objective=rule), 0)
