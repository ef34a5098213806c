"""Agents in small rooms, at a size that one core trains in minutes: our own table.

Half as many units as in `lamb2022/object-picking`, smaller rooms and views, and short rollouts of
which few steps are learned from at once. Learning rate and rollouts were chosen once for all
layers, by the success of one LSTM in training.
"""

from __future__ import annotations

import dataclasses
from typing import Final

from farfield.experiments import AdamW, AgentNetwork, Experiment, Optimizer, Recipe, Spec
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
UPDATES: Final = PPO(rollout_length=16, clip=0.2, value_clip=0.2, minibatches=2)

LAYERS: Final = layers_of(120)


def _agent(core: Spec, optimizer: Optimizer) -> Experiment:
    return Experiment(
        task=SMALL,
        model=AgentNetwork(core=core, encoder=CELLS),
        recipe=dataclasses.replace(RECIPE, optimizer=optimizer),
        objective=UPDATES,
    )


def _table(name: str, title: str, optimizer: Optimizer, rows: dict[str, Spec]) -> Table:
    """Success of agents in every regime."""
    return Table(
        key=f"lamb2022/{name}",
        title=title,
        claims=tuple(
            picking(
                name,
                row,
                regime.name,
                regime.name,
                experiment=_agent(core, optimizer),
                subject="Object picking in small rooms",
            )
            for regime in SMALL.regimes
            for row, core in rows.items()
        ),
    )


PICKING_NARROW: Final = _table(
    "object-picking-narrow",
    "Object picking in small rooms, layers of 120 units, 200,000 steps of the environment: "
    "success with distractors never met, more of them, and in larger rooms",
    RECIPE.optimizer,
    LAYERS,
)

FORGETTING: Final = AdamW(
    weight_decay=1.0,
    undecayed=("core.*", "actor.*", "critic.*", "encoder.output.*", "encoder.layers.1.*", "*.bias"),
)
"""Decay of the first weights of the encoder: 1,600 updates leave 4 % of one without a gradient."""

PICKING_BEYOND: Final = _table(
    "object-picking-beyond",
    "Object picking in small rooms, with weight decay of the encoder's first layer: success with "
    "distractors never met, more of them, and in larger rooms",
    FORGETTING,
    {f"{name}, weight decay": LAYERS[name] for name in ("RIMs", "LSTM")},
)
"""Kinds and colors never met have no gradient, so that decay may make them invisible. Success among
them was to come within five points of that among known ones; no cell has a goal, as that is a
difference of two."""
