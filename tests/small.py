"""Small experiments that train in a second, for tests of everything around them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import torch
from torch import Tensor, nn

from farfield.core import Problems, Stream
from farfield.core.internal import TRAINING
from farfield.experiments import Experiment, Network, Player, Pretrained, Recipe, Spec
from farfield.experiments.internal import AutoencoderNetwork, PredictionNetwork
from farfield.models import ESBN, LSTM
from farfield.models.internal import NextEmbedding
from farfield.nn import ContextNorm, FrameEncoder, LinearEncoder
from farfield.nn.internal import FrameDecoder, SequenceNorm
from farfield.objectives import (
    Bound,
    Objective,
    PredictingEmbeddings,
    Update,
)
from farfield.tasks import DistributionOfThree, DynamicObjects, ObjectFrames, SameDifferent


def loss_of(
    rule: Objective,
    model: nn.Module,
    problems: Problems,
    task_loss: Callable[[Tensor, Problems], Tensor],
    stream: Stream,
    parameters: Mapping[str, Tensor] | None = None,
) -> Tensor:
    """The loss of one step of an objective that remembers nothing."""
    batches = {TRAINING: problems}
    draws = rule.draw(batches, stream)
    network = Bound(module=model, parameters=parameters or {})
    update = Update(network=network, batches=batches, task_loss=task_loss, draws=draws)
    return rule.loss(update)[0]


def parameters_of(model: nn.Module) -> dict[str, np.ndarray]:
    """The parameters of a network as arrays, by name."""
    return {name: p.detach().numpy() for name, p in model.named_parameters()}


class ThreeLayers(nn.Module):
    """Two items, each embedded, and a reader of both: the network of `oracles.learning_rules`."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        source = torch.Generator().manual_seed(seed)
        self.encoder = nn.Linear(3, 4, dtype=torch.float64)
        self.hidden = nn.Linear(8, 5, dtype=torch.float64)
        self.reader = nn.Linear(5, 4, dtype=torch.float64)
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.normal_(generator=source)

    def forward(self, items: Tensor, index: Tensor) -> Tensor:
        read = self.encoder(items)[index].flatten(1).tanh()
        return self.reader(self.hidden(read).tanh())


def classified(seed: int) -> Problems:
    """Five problems of two items of three numbers, for `ThreeLayers`."""
    source = torch.Generator().manual_seed(seed)
    items = torch.randn(6, 3, dtype=torch.float64, generator=source)
    index = torch.randint(6, (5, 2), generator=source)
    return Problems(items=items, index=index, target=torch.arange(5) % 4)


def cross_entropy(outputs: Tensor, problems: Problems) -> Tensor:
    """Cross-entropy of each answer."""
    return nn.functional.cross_entropy(outputs, problems.target, reduction="none")


SMALL_ESBN = Spec(ESBN, hidden_size=12, key_size=6)
SMALL_LSTM = Spec(LSTM, hidden_size=12)
SMALL_ENCODER = Spec(LinearEncoder, out_features=10)


def small_experiment(
    *,
    steps: int = 12,
    evaluations: int = 3,
    reasoner: Spec = SMALL_ESBN,
    encoder: Spec = SMALL_ENCODER,
    withheld: int = 95,
) -> Experiment:
    """Distribution-of-three on a few problems, with a network of a few thousand weights."""
    return Experiment(
        task=DistributionOfThree(withheld=withheld, max_problems=40),
        model=Network(reasoner=reasoner, encoder=encoder, context=Spec(ContextNorm)),
        recipe=Recipe(steps=steps, evaluations=evaluations, batch_size=16),
    )


def tiny_experiment(*, steps: int = 4) -> Experiment:
    """Same/different on four training problems."""
    return Experiment(
        task=SameDifferent(withheld=98, max_problems=40),
        model=Network(reasoner=SMALL_LSTM, encoder=SMALL_ENCODER, context=None),
        recipe=Recipe(steps=steps),
    )


LATENT = PredictingEmbeddings()
ENDS = {
    "encoder": Spec(FrameEncoder, out_features=4, channels=2, hidden_size=12),
    "decoder": Spec(FrameDecoder, channels=2, hidden_size=12),
}


def reconstruction_experiment(*, steps: int = 3) -> Experiment:
    """An autoencoder of a few frames."""
    return Experiment(
        task=ObjectFrames(training_frames=20, test_frames=5),
        model=AutoencoderNetwork(**ENDS),
        recipe=Recipe(steps=steps, batch_size=8),
    )


def prediction_experiment(
    *,
    steps: int = 6,
    context: Spec | None = Spec(SequenceNorm),
    objective: Objective = LATENT,
) -> Experiment:
    """A predictor of short sequences, on the autoencoder of `reconstruction_experiment`."""
    return Experiment(
        task=DynamicObjects(num_frames=4, training_sequences=10, test_sequences=6),
        model=PredictionNetwork(
            context=context, predictor=Spec(NextEmbedding, hidden_size=5), **ENDS
        ),
        recipe=Recipe(steps=steps, batch_size=4, evaluations=2),
        players=(
            Player(
                objective=objective,
                parts=("predictor",) if context is None else ("context", "predictor"),
            ),
        ),
        starts_from=Pretrained(
            experiment=reconstruction_experiment(), include=("encoder", "decoder")
        ),
    )
