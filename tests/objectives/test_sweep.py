"""One step of small networks of every mechanism under every learning rule, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import pytest
import torch
from torch import Tensor, nn

from each import each
from farfield.core import Stream
from farfield.experiments import (
    Experiment,
    Network,
    PredictionNetwork,
    Recipe,
    SequenceNetwork,
    SetNetwork,
    Spec,
)
from farfield.experiments.internal import Architecture
from farfield.models import ESBN, LSTM, MNM
from farfield.models.internal import NextEmbedding
from farfield.nn import (
    ContextNorm,
    FrameDecoder,
    FrameEncoder,
    GRULayer,
    LinearEncoder,
    NeuralInterpreter,
    PastNorm,
    PatchEncoder,
    PreNormTransformer,
    RIMs,
)
from farfield.objectives import OBJECTIVES
from farfield.tasks import DynamicObjects, ProblemTask
from farfield.training import OneNetwork
from plain import Plain
from small import learning_rules


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
    "predicting-embeddings": (
        MECHANISMS.keys() - {"prediction"},
        "model must have a method predict, ",
    ),
    **{
        side: (MECHANISMS.keys(), "items must be vectors of noise, with images as targets, ")
        for side in ("hinge-discriminator", "hinge-generator")
    },
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
