"""Every objective: seeds together as alone, stop and resume, one step of every mechanism."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, final

import pytest
import torch
from torch import Tensor, nn

from each import each, some
from farfield.core import Stream
from farfield.experiments import (
    SGD,
    AdamW,
    Experiment,
    Network,
    Recipe,
    RMSprop,
    SequenceNetwork,
    SetNetwork,
    Spec,
)
from farfield.experiments.internal import Architecture, PredictionNetwork
from farfield.models import ESBN, LSTM, MNM
from farfield.models.internal import NextEmbedding
from farfield.nn import (
    ContextNorm,
    FrameEncoder,
    GRULayer,
    LinearEncoder,
    NeuralInterpreter,
    PatchEncoder,
    PreNormTransformer,
    RIMs,
)
from farfield.nn.internal import FrameDecoder, PastNorm
from farfield.objectives import (
    ICT,
    OBJECTIVES,
    SNTG,
    VAT,
    ActivationL1,
    AdversarialTraining,
    CropAndFlip,
    Cutout,
    ManifoldMixup,
    MeanTeacher,
    Mixup,
    Objective,
    PiModel,
    TemporalEnsembling,
    VAdD,
)
from farfield.tasks import DynamicObjects, ProblemTask
from farfield.training.internal import OneNetwork, Stack
from learners import check_together
from plain import Plain
from small import SMALL_LSTM, small_experiment

WIDTHS: dict[str, tuple[int, ...]] = {
    "encoder": (6,),
    "reasoner": (2,),
    "output": (2,),
    "reader.core": (5, 8),
    "hidden": (5,),
    "predictor": (4,),
}
"""Shape of the output of a layer for one problem."""


def learning_rules(layer: str, *, num_outputs: int) -> dict[str, Objective]:
    """Make one of every class of learning rules, by its name on the command line.

    Args:
        layer: Layer of the network that rules read or mix.
        num_outputs: Number of outputs of the network.
    """
    arguments: dict[str, dict[str, Any]] = {
        "activation-l1": {"layers": (layer,)},
        "coral": {"layer": layer},
        "cutout": {"size": 3},
        "fixmatch": {"threshold": 0.0},
        "freematch": {"num_outputs": num_outputs},
        "ict": {"layers": ("input", layer)},
        "manifold-mixup": {"layers": (layer,)},
        "mean-teacher": {"averages_buffers": True},
        "sntg": {"objective": PiModel(), "layer": layer},
        "vadd": {"layer": layer, "shape": WIDTHS[layer], "change": 0.2},
        "temporal-ensembling": {"num_outputs": num_outputs},
    }
    return {name: cls(**arguments.get(name, {})) for name, cls in OBJECTIVES.items()}


ELSEWHERE = {
    *("augmented", "carried-state", "centered-l1", "hinge-discriminator", "hinge-generator"),
    *("predicting-embeddings", "reconstructing"),
    *("coral", "group-dro", "irm", "vrex"),  # of several training domains
    *("swad", "early-stopping"),  # which validate
}
"""Rules for other networks or items; a step below trains them, and their own tests."""
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
    "adversarial-training": AdversarialTraining(eps=0.5, step_size=0.2, steps=2),
    "vadd": VAdD(layer="reasoner", shape=(4,), change=0.5, ramp=0.0),
    "sntg": SNTG(objective=MeanTeacher(decay=0.9, ramp=0.0), layer="reasoner", margin=9.0),
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
SHOWN = ["crop-and-flip", "temporal-ensembling", "vat", "ict-released", "freematch"]
REMEMBERING = ["temporal-ensembling", "ict-released", "freematch"]
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


# --- One step of every mechanism under every rule -------------------------------------------------


@final
@dataclass(frozen=True, kw_only=True)
class VectorNetwork:
    """A perceptron of a hidden layer on the first item of a problem."""

    def build(self, task: ProblemTask, stream: Stream) -> nn.Module:
        """The network."""
        network = Perceptron(task.item_shape[0], task.num_outputs)
        with torch.no_grad():
            for parameter in network.parameters():
                parameter.normal_(generator=stream.torch())
        return network


class Perceptron(nn.Module):
    def __init__(self, in_features: int, num_outputs: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(in_features, 5)
        self.output = nn.Linear(5, num_outputs)

    def forward(self, items: Tensor, index: Tensor) -> Tensor:
        return self.output(self.hidden(items[index[:, 0]]).relu())


VECTORS, ONE_VECTOR = Plain(item_shape=(4,), length=4), Plain(item_shape=(4,), length=1)
IMAGES = Plain(item_shape=(3, 8, 8), length=1)
ENCODER, CONTEXT = Spec(LinearEncoder, out_features=6), Spec(ContextNorm)
PATCHES = Spec(PatchEncoder, out_features=8, patch_size=4)
FRAMES = {
    "encoder": Spec(FrameEncoder, out_features=4, channels=2, hidden_size=6),
    "decoder": Spec(FrameDecoder, channels=2, hidden_size=6),
}
MECHANISMS: dict[str, tuple[ProblemTask, Architecture, str]] = {
    "esbn": (
        VECTORS,
        Network(reasoner=Spec(ESBN, hidden_size=5, key_size=4), encoder=ENCODER, context=CONTEXT),
        "encoder",
    ),
    "lstm": (
        VECTORS,
        Network(reasoner=Spec(LSTM, hidden_size=5), encoder=ENCODER, context=CONTEXT),
        "reasoner",
    ),
    "mnm": (VECTORS, Network(reasoner=Spec(MNM), encoder=ENCODER), "encoder"),
    "rims": (
        VECTORS,
        SequenceNetwork(
            core=Spec(RIMs, hidden_size=6, num_mechanisms=3, num_active=2), encoder=ENCODER
        ),
        "output",
    ),
    "sequence": (
        VECTORS,
        SequenceNetwork(core=Spec(GRULayer, hidden_size=5), encoder=ENCODER),
        "encoder",
    ),
    "interpreter": (
        IMAGES,
        SetNetwork(
            core=Spec(NeuralInterpreter, num_functions=2, num_iterations=2), encoder=PATCHES
        ),
        "reader.core",
    ),
    "set": (
        IMAGES,
        SetNetwork(core=Spec(PreNormTransformer), encoder=PATCHES),
        "reader.core",
    ),
    "perceptron": (ONE_VECTOR, VectorNetwork(), "hidden"),
    "prediction": (
        DynamicObjects(num_frames=4, training_sequences=6, test_sequences=2),
        PredictionNetwork(
            context=Spec(PastNorm), predictor=Spec(NextEmbedding, hidden_size=5), **FRAMES
        ),
        "predictor",
    ),
}
"""A task, a small network, and a layer of it at which problems can be mixed."""


NO_IMAGES = {"esbn", "lstm", "mnm", "rims", "sequence", "perceptron"}
NORMALIZED = {"esbn", "lstm", "mnm"}
REFUSED: dict[str, tuple[set[str], str]] = {
    "augmented": (NO_IMAGES | {"prediction"}, "items must be images in color, "),
    "carried-state": (MECHANISMS.keys(), "objective must read problems in any order, "),
    "centered-l1": (MECHANISMS.keys() - NORMALIZED, "model must run parts with a method center, "),
    "crop-and-flip": (NO_IMAGES, "items must be images of "),
    "cutout": (NO_IMAGES, "items must be images of "),
    **{
        rule: (NO_IMAGES | {"prediction"}, "items must be images of |outputs must be logits")
        for rule in ("fixmatch", "freematch")
    },
    "predicting-embeddings": (
        MECHANISMS.keys() - {"prediction"},
        "model must have a method predict, ",
    ),
    **{
        side: (MECHANISMS.keys(), "items must be vectors of noise, with images as targets, ")
        for side in ("hinge-discriminator", "hinge-generator")
    },
    **{
        rule: (MECHANISMS.keys(), "objective must read one training domain, ")
        for rule in ("coral", "group-dro", "irm", "vrex")
    },
    **{
        rule: (MECHANISMS.keys(), "validation must name a set that the task draws ")
        for rule in ("swad", "early-stopping")
    },
    "sntg": (
        {"esbn", "mnm", "sequence", "prediction"},
        "layer must give one output of .*, a row for each problem|outputs must be logits",
    ),
    "reconstructing": (MECHANISMS.keys() - {"mnm"}, "must have a method answer_and_error"),
    **{
        rule: ({"prediction"}, "outputs must be logits of classes for each target, ")
        for rule in (
            "ict",
            "label-smoothing",
            "mean-teacher",
            "pi-model",
            "temporal-ensembling",
            "vat",
        )
    },
    "vadd": (
        {"esbn", "mnm", "sequence", "prediction"},
        "shape must be that of the layer for each of |outputs must be logits",
    ),
}
"""Mechanisms whose networks a rule refuses, and with which words."""
UNTRAINED = {("prediction", "predicting-embeddings"): "decoder."}
"""Beginning of the names of parameters that a rule does not train."""


@each("rule", list(OBJECTIVES))
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_network_makes_a_step_or_is_refused(unchecked: None, mechanism: str, rule: str) -> None:
    task, model, layer = MECHANISMS[mechanism]
    experiment = Experiment(
        task=task,
        model=model,
        objective=learning_rules(layer, num_outputs=2)[rule],
        recipe=Recipe(steps=1, batch_size=16),
    )
    refused, message = REFUSED.get(rule, (set(), ""))
    if mechanism in refused:
        with pytest.raises((ValueError, TypeError), match=message):
            OneNetwork(experiment, 0, dtype=torch.float64).update(0)
        return
    learner = OneNetwork(experiment, 0, dtype=torch.float64)
    before = {name: p.detach().clone() for name, p in learner.model.named_parameters()}
    assert learner.update(0).isfinite().all()
    same = {n for n, p in learner.model.named_parameters() if torch.equal(p, before[n])}
    untrained = UNTRAINED.get((mechanism, rule))
    assert same == {name for name in before if untrained and name.startswith(untrained)}
    assert all(p.isfinite().all() for p in learner.model.parameters())
