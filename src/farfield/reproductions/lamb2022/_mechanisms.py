"""Six mechanisms under five learning rules on six small tasks: where does a rule reach further?

A table of our own. Each mechanism reads the embeddings of one encoder under context norm, as the
ESBN does, but for whitening, which takes its place: without, recurrent mechanisms, interpreters and
reads of layers learn none but the easiest of these tasks in so few steps. All have the same steps,
batches and learning rate, and the rules the numbers of their papers. Consistency alone has others:
no mixed labels, which are a rule of their own here, no teacher, which would hardly have left its
first weights, and a weight of 1, as an ESBN learned nothing with 10 or with the paper's 100. All of
this was fixed on `GlyphSet.letters()`, a table of images that shares nothing with those that are
tested on.

What is compared is the regime of each task that lies farthest from training.
"""

from __future__ import annotations

from typing import Final

from farfield.experiments import Experiment, Network, Recipe, SetNetwork, Spec
from farfield.experiments.internal import Architecture
from farfield.models import ESBN, CoRelNet, LastState, Transformer
from farfield.nn import (
    CausalTransformer,
    ContextNorm,
    ContextWhitening,
    ConvEncoder,
    NeuralInterpreter,
    RIMs,
)
from farfield.objectives import (
    ICT,
    ActivationL1,
    ManifoldMixup,
    Mixup,
    Objective,
    Supervised,
)
from farfield.reproductions._claims import Claim, Table
from farfield.reproductions._published import Unpublished
from farfield.reproductions._rule import VerdictRule
from farfield.tasks import (
    TRAINING,
    AllSame,
    DistributionOfThree,
    IdentityRules,
    ProblemTask,
    RelationalMatchToSample,
    SameDifferent,
    TintedSameDifferent,
)

STEPS: Final = 500
WITHHELD: Final = 95
"""Images of 100 that training never shows."""
MOST: Final = 2_000
"""Problems of a set, at most."""

RECIPE: Final = Recipe(steps=STEPS, learning_rate=1e-3, batch_size=32, evaluations=1)
PLAIN: Final = "plain"
RULES: Final[dict[str, Objective]] = {
    PLAIN: Supervised(),
    "Mixup": Mixup(),
    "Manifold Mixup": ManifoldMixup(layers=("encoder",)),
    "consistency": ICT(decay=None, supervised_mixup=False, weight=1.0),
    "activation L1": ActivationL1(layers=("encoder",)),
}
CORES: Final = {
    "RIMs": Spec(RIMs, hidden_size=132, batch_first=True),
    "NFM": Spec(CausalTransformer, hidden_size=64, num_layers=3, layer_heads=4, batch_first=True),
}
"""Layers over sequences: the second one's blocks read the states of all blocks before."""
INTERPRETER: Final = Spec(NeuralInterpreter, num_features=64, num_functions=4, num_iterations=2)
MECHANISMS: Final[dict[str, Architecture]] = {
    "Context norm": Network(reasoner=Spec(Transformer)),
    "Whitening": Network(reasoner=Spec(CoRelNet), context=Spec(ContextWhitening)),
    "ESBN": Network(reasoner=Spec(ESBN, hidden_size=128, key_size=64)),
    "RIMs": Network(reasoner=Spec(LastState, core=CORES["RIMs"])),
    "Neural Interpreter": SetNetwork(
        core=INTERPRETER, encoder=Spec(ConvEncoder), context=Spec(ContextNorm)
    ),
    "NFM": Network(reasoner=Spec(LastState, core=CORES["NFM"])),
}
"""Whitened embeddings ask for a reasoner that compares them."""

TASKS: Final[dict[str, ProblemTask]] = {
    "Same/different": SameDifferent(withheld=WITHHELD, max_problems=MOST),
    "Relational match-to-sample": RelationalMatchToSample(withheld=WITHHELD, max_problems=MOST),
    "Distribution-of-three": DistributionOfThree(withheld=WITHHELD, max_problems=MOST),
    "Identity rules": IdentityRules(withheld=WITHHELD, max_problems=MOST),
    "All the same": AllSame(withheld=WITHHELD, max_problems=MOST),
    "Tinted same/different": TintedSameDifferent(withheld=WITHHELD, max_problems=MOST),
}
MEASURED: Final = Unpublished(runs=5, selection="weights of the last step", split="new problems")


def _claims(subject: str, mechanism: str, rule: str) -> list[Claim]:
    """A mechanism under a rule in each test regime of a task."""
    task = TASKS[subject]
    experiment = Experiment(
        task=task, model=MECHANISMS[mechanism], recipe=RECIPE, objective=RULES[rule]
    )
    return [
        Claim(
            paper="lamb2022",
            table="mechanisms-and-rules",
            row=f"{mechanism}, {rule}",
            column=regime.name,
            published=MEASURED,
            experiment=experiment,
            rule=VerdictRule(),
            metric="accuracy",
            regime=regime.name,
            quick=1,
            subject=subject,
            group=task.name,
            free=("shapes",),
        )
        for regime in task.regimes
        if regime.name != TRAINING
    ]


MECHANISMS_AND_RULES: Final = Table(
    key="lamb2022/mechanisms-and-rules",
    title="Six mechanisms under five learning rules on six small tasks",
    tuned="nothing; sizes, steps and withheld images were fixed on letters, which no test shows",
    claims=tuple(
        claim
        for subject in TASKS
        for mechanism in MECHANISMS
        for rule in RULES
        for claim in _claims(subject, mechanism, rule)
    ),
)
