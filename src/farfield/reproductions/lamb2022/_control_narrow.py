"""Agents in small rooms, at a size that one core trains in minutes: our own table.

Half as many units as in `lamb2022/object-picking`, smaller rooms and views, and short rollouts of
which few steps are learned from at once. Learning rate and rollouts were chosen once for all
layers, by the success of one LSTM in training.
"""

from __future__ import annotations

from typing import Final

from farfield.experiments import AgentNetwork, Experiment, Recipe, Spec
from farfield.nn import PlanesEncoder
from farfield.objectives import PPO
from farfield.reproductions._claims import Table
from farfield.reproductions.lamb2022._control import layers_of, picking
from farfield.tasks import ObjectPicking

SMALL: Final = ObjectPicking(
    side=5, distractors=2, more_distractors=(4, 8), larger_sides=(8,), view=5
)
CELLS: Final = Spec(PlanesEncoder, convolutions=((16, 2, 1), (32, 2, 1)), out_features=64)
RECIPE: Final = Recipe(steps=200, learning_rate=2e-3, batch_size=64, clip_norm=0.5, evaluations=5)
UPDATES: Final = PPO(rollout_length=16, clip=0.2, minibatches=2)

PICKING_NARROW: Final = Table(
    key="lamb2022/object-picking-narrow",
    title="Object picking in small rooms, layers of 120 units, 200,000 steps of the environment: "
    "success with distractors never met, more of them, and in larger rooms",
    claims=tuple(
        picking(
            "object-picking-narrow",
            row,
            regime.name,
            regime.name,
            experiment=Experiment(
                task=SMALL,
                model=AgentNetwork(core=core, encoder=CELLS),
                recipe=RECIPE,
                objective=UPDATES,
            ),
            subject="Object picking in small rooms",
        )
        for regime in SMALL.regimes
        for row, core in layers_of(120).items()
    ),
)
