"""Networks that start from trained ones, and items that are embedded once."""

from __future__ import annotations

import dataclasses
import math
from functools import cache
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from farfield.core import stream
from farfield.experiments import Network, Pretrained, Spec
from farfield.nn import LinearEncoder
from farfield.nn.internal import SequenceNorm, TimeStepNorm
from farfield.objectives import Objective, PredictingEmbeddings, Supervised
from farfield.tasks import DynamicObjects
from farfield.training import train
from farfield.training._networks import embedded, has_fixed_encoder, without_encoder
from farfield.training._one_network import SUBSET_NUMBERS, train_subset
from farfield.training.internal import OneNetwork
from learners import check_resumed, check_together
from small import SMALL_LSTM, prediction_experiment, reconstruction_experiment, tiny_experiment

pytestmark = pytest.mark.processor

FIRST = reconstruction_experiment()
SECOND = prediction_experiment()
DRAWN = dataclasses.replace(SECOND, starts_from=None)


@cache
def trained(seed: int = 0) -> dict[str, Tensor]:
    """Weights of the first stage."""
    learner = OneNetwork(FIRST, seed)
    train(learner, FIRST)
    return learner.weights()[0]


def test_the_parts_named_are_taken_over_and_the_others_drawn() -> None:
    start, drawn = trained(), OneNetwork(DRAWN, 0).weights()[0]
    for name, tensor in OneNetwork(SECOND, 0, start=start).weights()[0].items():
        taken = name.startswith(("encoder.", "decoder."))
        assert torch.equal(tensor, (start if taken else drawn)[name]), name
    encoder_only = dataclasses.replace(
        SECOND, starts_from=Pretrained(experiment=FIRST, include=("encoder",))
    )
    for name, tensor in OneNetwork(encoder_only, 0, start=start).weights()[0].items():
        taken = name.startswith("encoder.")
        assert torch.equal(tensor, (start if taken else drawn)[name]), name


def test_without_parts_the_whole_network_is_taken_over() -> None:
    start = trained()
    again = dataclasses.replace(FIRST, starts_from=Pretrained(experiment=FIRST))
    for name, tensor in OneNetwork(again, 0, start=start).weights()[0].items():
        assert torch.equal(tensor, start[name])
    with pytest.raises(ValueError, match=r"context.weight of shape \(4,\) must be in the network"):
        OneNetwork(dataclasses.replace(SECOND, starts_from=again.starts_from), 0, start=start)


def test_a_start_that_does_not_fit_is_named() -> None:
    start = trained()
    for bad, message in (
        (None, "start must be the network that it starts from for experiment"),
        ({}, "encoder.convolutions.0.weight of shape .* which has nothing there"),
        (
            {**start, "decoder.layers.0.bias": torch.zeros(3)},
            r"decoder.layers.0.bias of shape \(12,\) must be in .* which has shape \(3,\) there",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            OneNetwork(SECOND, 0, start=bad)
    with pytest.raises(ValueError, match="start must be none for experiment"):
        OneNetwork(DRAWN, 0, start=start)


@pytest.mark.parametrize("field", ["include", "exclude", "resize"])
def test_parts_that_a_network_has_not_are_named(field: str) -> None:
    named = {field: ("encoder", "decodr")}
    nowhere = dataclasses.replace(SECOND, starts_from=Pretrained(experiment=FIRST, **named))
    wanted = f"{field} must name parts of the network, got 'decodr'; it has encoder.convolutions"
    with pytest.raises(ValueError, match=wanted):
        OneNetwork(nowhere, 0, start=trained())


def test_a_start_of_which_nothing_is_taken_over_is_none() -> None:
    parts = ("encoder",)
    nothing = Pretrained(experiment=FIRST, include=parts, exclude=parts)
    with pytest.raises(ValueError, match="exclude must leave something to take over"):
        OneNetwork(dataclasses.replace(SECOND, starts_from=nothing), 0, start=trained())


@pytest.mark.parametrize(
    ("objective", "context"),
    [
        (PredictingEmbeddings(denormalized=True), Spec(TimeStepNorm, sample=5)),
        (Supervised(), Spec(SequenceNorm)),
    ],
    ids=["latent", "pixels"],
)
def test_items_embedded_once_train_the_same_network(
    monkeypatch: pytest.MonkeyPatch, objective: Objective, context: Spec
) -> None:
    experiment = prediction_experiment(context=context, objective=objective)
    start = {name: tensor.double() for name, tensor in trained().items()}
    once = OneNetwork(experiment, 0, dtype=torch.float64, start=start)
    assert once._is_embedded
    monkeypatch.setattr("farfield.training._one_network.has_fixed_encoder", lambda network: False)
    anew = OneNetwork(experiment, 0, dtype=torch.float64, start=start)
    assert not anew._is_embedded
    scores = [train(learner, experiment)[0][0] for learner in (once, anew)]
    for name, tensor in once.weights()[0].items():
        torch.testing.assert_close(anew.weights()[0][name], tensor, rtol=1e-9, atol=1e-12)
    assert [s.value for s in scores[0]] == pytest.approx([s.value for s in scores[1]], rel=1e-9)


@pytest.mark.parametrize(
    "context", [Spec(SequenceNorm), Spec(TimeStepNorm, sample=5)], ids=["sequence", "training"]
)
def test_together_equals_alone(context: Spec) -> None:
    starts = [{n: t.double() for n, t in trained(seed).items()} for seed in (0, 3)]
    check_together(prediction_experiment(context=context), starts=starts)


def test_stopped_and_started_again_ends_with_the_same_bytes(tmp_path: Path) -> None:
    start = trained()
    check_resumed(lambda: OneNetwork(SECOND, 0, start=start), SECOND, tmp_path / "c", stop=3)


class Heir(LinearEncoder):
    """One that may do anything, whatever its parent says of itself."""


class Noisy(nn.Module):
    """An encoder without parameters that adds noise in training, and counts its calls."""

    def __init__(self, item_shape: tuple[int, ...]) -> None:
        super().__init__()
        self.out_features = math.prod(item_shape)
        self.calls = 0

    def forward(self, items: Tensor) -> Tensor:
        self.calls += self.training
        flat = items.flatten(1)
        return flat + torch.randn_like(flat) if self.training else flat


def test_an_encoder_that_adds_noise_is_run_at_every_update() -> None:
    model = Network(reasoner=SMALL_LSTM, encoder=Spec(Noisy), context=None)
    experiment = dataclasses.replace(tiny_experiment(steps=5), model=model)
    learner = OneNetwork(experiment, 0)
    train(learner, experiment)
    assert learner.model.encoder.calls == 5


def test_an_encoder_of_ones_own_is_fixed_where_it_says_so() -> None:
    class Pure(Noisy):
        is_pure = True

    model = Network(reasoner=SMALL_LSTM, encoder=Spec(Pure), context=None)
    experiment = dataclasses.replace(tiny_experiment(steps=5), model=model)
    learner = OneNetwork(experiment, 0)
    before = learner.model.encoder.calls
    for step in range(3):
        learner.update(step)
    assert learner.model.encoder.calls == before > 0


def test_only_an_encoder_that_never_changes_is_fixed() -> None:
    def network(encoder: nn.Module) -> nn.Module:
        model = DRAWN.model.build(DRAWN.task, stream(0, "weights"))
        model.encoder = encoder
        return model

    fixed = network(LinearEncoder((3,)).requires_grad_(False))
    assert has_fixed_encoder(fixed)
    for changing in (
        LinearEncoder((3,)),
        Heir((3,)).requires_grad_(False),
        Noisy((3,)),
        nn.Sequential(LinearEncoder((3,)), nn.ReLU()).requires_grad_(False),
        nn.Linear(3, 4).requires_grad_(False),
        nn.Sequential(nn.Linear(3, 4).requires_grad_(False), nn.Dropout()),
        nn.Sequential(nn.Linear(3, 4).requires_grad_(False), nn.BatchNorm1d(4, affine=False)),
        nn.Identity(),
    ):
        assert not has_fixed_encoder(network(changing))
    assert not has_fixed_encoder(nn.Linear(3, 4))
    with without_encoder(fixed):
        assert isinstance(fixed.encoder, nn.Identity)
    assert isinstance(fixed.encoder, LinearEncoder)
    with pytest.raises(RuntimeError, match="on the way"), without_encoder(fixed):
        raise RuntimeError("on the way")
    assert isinstance(fixed.encoder, LinearEncoder)
    with pytest.raises(TypeError, match="network must have methods encode and answer"):
        embedded(nn.Linear(3, 4), DRAWN.task.draw(stream(0, "weights"))["training"])


def test_large_items_are_glanced_at_less() -> None:
    sets = DynamicObjects(training_sequences=300, test_sequences=1).draw(stream(0, "weights"))
    assert len(train_subset(sets["training"])) == SUBSET_NUMBERS // (20 * 64 * 64)
    assert len(train_subset(sets["training"][:7])) == 7


def test_an_encoder_that_is_trained_along_is_trained() -> None:
    start = trained()
    tuned = dataclasses.replace(SECOND, players=())
    for experiment, moves in ((tuned, True), (SECOND, False)):
        learner = OneNetwork(experiment, 0, start=start)
        learner.update(0)
        for name in ("encoder.output.weight", "decoder.layers.0.weight"):
            assert torch.equal(learner.weights()[0][name], start[name]) is not moves
