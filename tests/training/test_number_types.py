"""Types of numbers in networks of users: kept, or refused by the name of the parameter."""

from __future__ import annotations

import dataclasses

import pytest
import torch
from torch import Tensor, nn

from farfield.core import stream
from farfield.core.internal import keeps_numbers
from farfield.experiments import Experiment, ItemNetwork, Pretrained, Recipe, Spec
from farfield.tasks import TwoMoons
from farfield.training import evaluate
from farfield.training.internal import OneNetwork, Stack


class Scaled(nn.Module):
    """Two logits of two numbers, each times one number of a type, and a constant of a type."""

    def __init__(
        self, num_outputs: int, *, weight: str = "float32", constant: str = "float32"
    ) -> None:
        super().__init__()
        kind = getattr(torch, weight)
        learns = kind.is_floating_point or kind.is_complex
        self.scale = nn.Parameter(torch.tensor([1, 2]).to(kind), requires_grad=learns)
        self.register_buffer("constant", torch.tensor([1, 0]).to(getattr(torch, constant)))
        self.output = nn.Linear(2, num_outputs)

    def forward(self, x: Tensor) -> Tensor:
        scaled = x.flatten(1) * self.scale + self.constant
        return self.output(scaled.abs() if scaled.is_complex() else scaled)


def experiment(**options: str) -> Experiment:
    return Experiment(
        task=TwoMoons(labels_per_class=4),
        model=ItemNetwork(core=Spec(Scaled, **options)),
        recipe=Recipe(steps=2, batch_size=4),
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weight": "complex64"}, r"parameter core\.scale must be of torch\.float32.* real and"),
        ({"weight": "complex128"}, r"parameter core\.scale .* got torch\.complex128"),
        ({"weight": "float64"}, r"parameter core\.scale .* got torch\.float64; make it in float32"),
        ({"weight": "float16"}, r"parameter core\.scale .* got torch\.float16"),
        ({"weight": "bfloat16"}, r"parameter core\.scale .* got torch\.bfloat16"),
        ({"constant": "complex64"}, r"buffer core\.constant .* got torch\.complex64"),
        ({"constant": "float64"}, r"buffer core\.constant .* got torch\.float64"),
    ],
)
def test_numbers_that_training_would_change_are_refused_by_name(
    options: dict[str, str], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        OneNetwork(experiment(**options), 0)
    with pytest.raises(ValueError, match=message):
        Stack(experiment(**options), [0, 1])


def test_float64_is_trained_where_it_is_asked_for() -> None:
    learner = OneNetwork(experiment(weight="float64"), 0, dtype=torch.float64)
    before = learner.weights()[0]["core.scale"].clone()
    learner.update(0)
    after = learner.weights()[0]["core.scale"]
    assert after.dtype == torch.float64
    assert not torch.equal(before, after)


@pytest.mark.parametrize("kind", ["int64", "int8", "uint8", "bool"])
def test_integers_that_are_not_trained_stay_as_they_are(kind: str) -> None:
    whole = experiment(weight=kind, constant=kind)
    for learner in (OneNetwork(whole, 0), Stack(whole, [0, 1])):
        before = learner.weights()[0]["core.output.weight"].clone()
        learner.update(0)
        found = learner.weights()[0]
        for name in ("core.scale", "core.constant"):
            assert found[name].dtype == getattr(torch, kind)
        assert torch.equal(found["core.scale"], torch.tensor([1, 2]).to(found["core.scale"].dtype))
        assert not torch.equal(found["core.output.weight"], before)


def test_items_are_not_rounded_to_the_integers_of_the_first_parameter() -> None:
    scores = {}
    for kind in ("int64", "float32"):
        model = experiment(weight=kind).model.build(TwoMoons(labels_per_class=4), stream(0))
        scores[kind] = evaluate(model, TwoMoons(labels_per_class=4))
    assert scores["int64"] == scores["float32"]


@pytest.mark.parametrize("kind", [torch.float64, torch.int64, torch.complex64])
def test_a_start_of_another_type_is_named(kind: torch.dtype) -> None:
    first = experiment()
    second = dataclasses.replace(first, starts_from=Pretrained(experiment=first))
    start = OneNetwork(first, 0).weights()[0]
    OneNetwork(second, 0, start=start)
    start["core.scale"] = start["core.scale"].to(kind)
    with pytest.raises(ValueError, match=r"core\.scale must be of torch\.float32 in the .* got"):
        OneNetwork(second, 0, start=start)


def test_narrower_numbers_are_kept_by_wider_ones() -> None:
    kept = {
        (own, found)
        for own in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64)
        for found in (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int8)
        if keeps_numbers(own, found)
    }
    assert kept == {
        *((torch.float64, f) for f in (torch.float64, torch.float32, torch.float16)),
        (torch.float64, torch.bfloat16),
        *((torch.float32, f) for f in (torch.float32, torch.float16, torch.bfloat16)),
        (torch.float16, torch.float16),
        (torch.bfloat16, torch.bfloat16),
    }
