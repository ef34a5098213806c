"""Smooth neighbors on teacher graphs: by loops, and what the rule refuses."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from farfield.core import Problems, stream
from farfield.core.internal import TRAINING
from farfield.objectives import (
    SNTG,
    VAT,
    Bound,
    MeanTeacher,
    Objective,
    PiModel,
    TemporalEnsembling,
    Update,
)
from made import gradcheck
from small import ThreeLayers, classified, cross_entropy

UNLABELED = "unlabelled"
BATCHES = {TRAINING: classified(1), UNLABELED: classified(2)}
RULES: dict[str, Any] = {
    "mean-teacher": MeanTeacher(consistency=UNLABELED, ramp=0.4),
    "pi-model": PiModel(consistency=UNLABELED, ramp=0.4),
    "temporal-ensembling": TemporalEnsembling(num_outputs=4, consistency=UNLABELED, ramp=0.4),
}


def update_of(rule: Objective, model: nn.Module, state: Any = None, **others: Any) -> Update:
    network = Bound(module=model)
    return Update(
        network=network,
        batches=BATCHES,
        rows={name: torch.arange(len(batch)) for name, batch in BATCHES.items()},
        task_loss=cross_entropy,
        draws=rule.draw(BATCHES, stream(0)),
        state=rule.start(network, BATCHES, stream(0)) if state is None else state,
        progress=0.2,
        **others,
    )


def neighbors_by_loops(features: Tensor, labels: list[int], margin: float) -> float:
    half, total = len(labels) // 2, 0.0
    for b in range(half):
        apart = math.dist(features[b].tolist(), features[b + half].tolist())
        same = labels[b] == labels[b + half]
        total += apart**2 if same else max(0.0, margin - apart) ** 2
    return total / half


def features_of(model: ThreeLayers, problems: Problems) -> Tensor:
    return model.hidden(model.encoder(problems.items)[problems.index].flatten(1).tanh())


@pytest.mark.parametrize("margin", [0.5, 4.0, 30.0])
@pytest.mark.parametrize("name", ["mean-teacher", "temporal-ensembling"])
def test_features_are_near_where_the_teacher_sees_one_class(name: str, margin: float) -> None:
    """The teacher is another network, or the answers of another, and not the student."""
    model, teacher = ThreeLayers(0), ThreeLayers(4)
    inner = RULES[name]
    rule = SNTG(objective=inner, layer="hidden", weight=3.0, margin=margin)
    with torch.no_grad():
        answers = teacher(BATCHES[UNLABELED].items, BATCHES[UNLABELED].index)
        features = features_of(model, BATCHES[UNLABELED])
    state = dict(inner.start(Bound(module=model), BATCHES, stream(0)))
    if name == "mean-teacher":
        state |= {key: tensor.detach() for key, tensor in teacher.named_parameters()}
    else:
        state |= {"answers": 0.4 * answers.softmax(-1), "visits": torch.ones(5, dtype=torch.int64)}
    alone, kept = inner.loss(update_of(inner, model, state))
    own = {f"objective.{key}": tensor for key, tensor in state.items()}
    loss, new = rule.loss(update_of(rule, model, own))
    labels = answers.argmax(-1).tolist()
    assert labels != model(BATCHES[UNLABELED].items, BATCHES[UNLABELED].index).argmax(-1).tolist()
    term = 3 * math.exp(-1.25) * neighbors_by_loops(features, labels, margin)
    assert loss.item() - alone.item() == pytest.approx(term, rel=1e-9)
    assert new.keys() == {f"objective.{key}" for key in kept}
    assert all(torch.equal(new[f"objective.{key}"], tensor) for key, tensor in kept.items())


def test_pairs_are_of_one_class_and_of_two() -> None:
    """So that the test above reads both cases."""
    answers = ThreeLayers(4)(BATCHES[UNLABELED].items, BATCHES[UNLABELED].index).argmax(-1)
    assert {bool(answers[b] == answers[b + 2]) for b in range(2)} == {True, False}


def test_the_gradient_passes_to_features() -> None:
    model, rule = ThreeLayers(), SNTG(objective=RULES["pi-model"], layer="hidden", margin=30.0)
    names, values = zip(*model.named_parameters(), strict=True)

    def loss(*parameters: Tensor) -> Tensor:
        network = Bound(module=model, parameters=dict(zip(names, parameters, strict=True)))
        return rule.loss(dataclasses.replace(update_of(rule, model), network=network))[0]

    assert gradcheck(loss, values)


def test_equal_features_of_two_classes_have_a_finite_gradient() -> None:
    model, rule = ThreeLayers(), SNTG(objective=RULES["pi-model"], layer="hidden")
    with torch.no_grad():
        model.hidden.weight.zero_()
    loss, _ = rule.loss(update_of(rule, model))
    loss.backward()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())


def test_the_teacher_follows_and_is_scored() -> None:
    inner = RULES["mean-teacher"]
    model, rule = ThreeLayers(), SNTG(objective=inner, layer="hidden")
    _, state = rule.loss(update_of(rule, model))
    moved = {name: p.detach() + 1 for name, p in model.named_parameters()}
    found = rule.scored(rule.after(state, moved, 0.3))
    expected = inner.after({k.removeprefix("objective."): t for k, t in state.items()}, moved, 0.3)
    assert found.keys() == inner.scored(expected).keys()
    assert all(torch.equal(found[name], expected[name]) for name in found)


@pytest.mark.parametrize(
    "options, message",
    [({"margin": 0.0}, "margin must be"), ({"weight": -1.0}, "weight must be")],
)
def test_bad_numbers_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SNTG(objective=PiModel(), layer="hidden", **options)


def test_a_rule_without_a_teacher_is_refused() -> None:
    with pytest.raises((TypeError, ValueError), match="objective must be"):
        SNTG(objective=VAT(), layer="hidden")


def test_layers_without_a_row_for_each_problem_are_refused() -> None:
    rule = SNTG(objective=RULES["pi-model"], layer="encoder")
    with pytest.raises(ValueError, match=r"layer must give one output of \(5, …\), a row for each"):
        rule.loss(update_of(rule, ThreeLayers()))
    with pytest.raises(ValueError, match="features"):
        SNTG(objective=PiModel(), layer="features").start(
            Bound(module=ThreeLayers()), BATCHES, stream(0)
        )
