"""Small experiments that train in a second, for tests of everything around them."""

from __future__ import annotations

from farfield.experiments import Experiment, Network, Recipe, Spec
from farfield.models import ESBN, LSTM
from farfield.nn import ContextNorm, MLPEncoder
from farfield.tasks import DistributionOfThree, SameDifferent

SMALL_ESBN = Spec(ESBN, hidden_size=12, key_size=6)
SMALL_LSTM = Spec(LSTM, hidden_size=12)
SMALL_ENCODER = Spec(MLPEncoder, out_features=10)


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
        task=DistributionOfThree(withheld=withheld, max_problems=80),
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
