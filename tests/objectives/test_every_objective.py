"""Every objective: seeds together as each alone, and stop and resume, whatever it draws."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from each import some
from farfield.experiments import SGD, AdamW, Recipe, RMSprop
from farfield.objectives import (
    ICT,
    VAT,
    ActivationL1,
    CropAndFlip,
    Cutout,
    ManifoldMixup,
    MeanTeacher,
    Mixup,
    Objective,
    PiModel,
    TemporalEnsembling,
)
from farfield.training import OneNetwork, Stack
from learners import check_together
from small import SMALL_LSTM, learning_rules, small_experiment

ELSEWHERE = {
    *("augmented", "carried-state", "centered-l1", "hinge-discriminator", "hinge-generator"),
    *("predicting-embeddings", "reconstructing"),
}
"""Rules for other networks or items; `test_sweep` trains them, and their own tests."""
EVERY = learning_rules("encoder", num_outputs=4)
ROWS: dict[str, Objective] = {
    "activation-l1": ActivationL1(layers=("encoder",)),
    "mixup": Mixup(alpha=0.5),
    "manifold-mixup": ManifoldMixup(layers=("input", "encoder", "reasoner")),
    "manifold-mixup-stopped": ManifoldMixup(
        layers=("input", "encoder"), per_example=True, stop_gradient=True
    ),
    "mean-teacher": MeanTeacher(decay=0.9),
    "mean-teacher-warmed-up": MeanTeacher(decay=0.9, warmup=True),
    "cutout": Cutout(size=9),
    "crop-and-flip": CropAndFlip(objective=Cutout(size=9), padding=3),
    "crop-and-flip-pi-model": CropAndFlip(objective=PiModel(noise=0.5, ramp=0.0)),
    "crop-and-flip-ict": CropAndFlip(objective=ICT(decay=0.6), flip=False),
    "pi-model": PiModel(noise=0.5, ramp=0.0),
    "temporal-ensembling": TemporalEnsembling(num_outputs=4, ramp=0.0),
    "vat": VAT(entropy=0.5, radius=1.0, step=1.0, iterations=2),
    "ict": ICT(),
    "ict-released": ICT(
        decay=0.6,
        warmup=True,
        independent_teacher=True,
        mixes_logits=True,
        layers=("input", "encoder"),
    ),
    "ict-without-teacher": ICT(decay=None, supervised_mixup=False),
}
RULES: dict[str, Objective] = {
    **{name: rule for name, rule in EVERY.items() if name not in ELSEWHERE},
    **ROWS,
}
"""Rules by the names of `OBJECTIVES`, and variants."""
SHOWN = ["crop-and-flip", "temporal-ensembling", "vat", "ict-released"]
REMEMBERING = ["temporal-ensembling", "ict-released"]
OPTIMIZERS = {
    "mean-teacher": SGD(momentum=0.9, nesterov=True),
    "temporal-ensembling": RMSprop(momentum=0.5, centered=True),
}
"""Of some objectives, for the others AdamW: the state of one is no part of the other's."""


def experiment_of(rule: Objective):
    plain = small_experiment(steps=4, reasoner=SMALL_LSTM)
    recipe = dataclasses.replace(plain.recipe, batch_size=20)  # each problem is seen twice
    return dataclasses.replace(plain, recipe=recipe, objective=rule)


@pytest.mark.parametrize("name", some(SHOWN, RULES))
def test_networks_trained_together_are_networks_alone(name: str) -> None:
    check_together(experiment_of(RULES[name]), steps=4)


@pytest.mark.parametrize("name", some(REMEMBERING, RULES))
def test_a_restored_state_goes_on_with_the_same_bytes(name: str) -> None:
    recipe = Recipe(steps=4, batch_size=20, optimizer=OPTIMIZERS.get(name, AdamW()))
    experiment = dataclasses.replace(experiment_of(RULES[name]), recipe=recipe)
    for make in (lambda: OneNetwork(experiment, 3), lambda: Stack(experiment, (0, 3))):
        whole, resumed = make(), make()
        for step in range(2):
            whole.update(step)
        resumed.load_state({part: tensor.clone() for part, tensor in whole.state().items()})
        for step in range(2, 4):
            whole.update(step)
            resumed.update(step)
        for part, tensor in whole.state().items():
            assert torch.equal(resumed.state()[part], tensor), part


def test_a_set_that_the_task_lacks_is_named() -> None:
    rule = MeanTeacher(consistency="unlabelled")
    with pytest.raises(ValueError, match=r"objective must read sets .* got 'unlabelled'"):
        OneNetwork(experiment_of(rule), 0)
