"""Networks and recipes of lamb2022 on agents: Figures 4 and 5 of chapter 8, Table 3 of chapter 10.

The text says that agents learn with PPO and that only the recurrent layer differs; sizes, rollouts,
learning rates and numbers of steps it leaves out. On Atari they are those of the released code
(eight copies, rollouts of 128 steps, learning rate 2.5e-4, layers of 512 units, of which 510 are
divided among six mechanisms), at ten million steps of the environment. Of the suite of games the
tables have those that the text names. For BabyAI and for rooms of our own they are chosen once for
all layers: layers of 240 units, a learning rate of 1e-3, five million and four million steps.

Chapter 10 has an implicit quantile network in the form of Rainbow with a residual encoder and says
"exactly the same setup as in (Lieber, 2019)". The code published by Lieber has an agent with an
LSTM; the other settings are taken from there: 32 copies of a game, returns of three steps, eight
quantiles, rewards clipped to 1, a learning rate of 2.5e-4, and a copy of the network every 20,000
steps of the environment. The encoder is a ResNet18, as Table 3 has it; the text does not say its
width, its four positions of reads or the number of steps. The claims take a PreActResNet18 of width
16, whose stem has a stride of 2, with modules after its four groups, and ten million steps as
above, each of which is learned from four times. The memory holds 100,000 steps, a tenth of
Lieber's.

By the time of an update, a network takes on one core: with RIMs 0.9 hours in rooms of our own, 1.3
in BabyAI and 21 on Atari; with an LSTM 0.3, 0.6 and 12; in the rooms 0.4 with a GRU or a Holding
RNN, and 0.8 with a linear recurrent unit.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Final

from farfield.experiments import AdamW, AgentNetwork, Experiment, QuantileNetwork, Recipe, Spec
from farfield.functional.internal import NFMRules
from farfield.models import PreActResNet, PreActResNetNFM
from farfield.nn import (
    GRULayer,
    HoldingRNN,
    LinearRecurrentUnit,
    LSTMLayer,
    PlanesEncoder,
    PlanesNFMEncoder,
    QuantileHead,
    RIMs,
    Wiring,
)
from farfield.objectives import PPO, RainbowIQN
from farfield.reproductions._grid import Cell
from farfield.tasks import Atari, BabyAIPicking, Environment, ObjectPicking


def _layers(units: int) -> dict[str, Spec]:
    """Build RIMs, their rivals, and a layer of Farfield's own, the last one.

    Args:
        units: Number of hidden units; of the last layer the next multiple of its 32 groups.
    """
    return {
        "RIMs": Spec(RIMs, hidden_size=units, num_mechanisms=6, num_active=4),
        "LSTM": Spec(LSTMLayer, hidden_size=units),
        "GRU": Spec(GRULayer, hidden_size=units),
        "Linear recurrent unit": Spec(LinearRecurrentUnit, hidden_size=units),
        "Holding RNN": Spec(HoldingRNN, hidden_size=-(-units // 32) * 32),
    }


LAYERS: Final = _layers(240)


def babyai(cell: Cell) -> Experiment:
    """Train an agent in rooms of BabyAI, for five million steps."""
    return _in_rooms(BabyAIPicking(), LAYERS[cell.row], 2_000)


def rooms(cell: Cell) -> Experiment:
    """Train an agent in rooms of our own, for four million steps."""
    return _in_rooms(ObjectPicking(), LAYERS[cell.row], 1_600)


def _in_rooms(task: Environment, core: Spec, steps: int) -> Experiment:
    """Train an agent that picks up objects.

    Args:
        task: The rooms.
        core: The recurrent layer.
        steps: Number of rollouts, of 2,560 steps of the environment each.
    """
    return Experiment(
        task=task,
        model=AgentNetwork(core=core, encoder=Spec(PlanesEncoder)),
        recipe=Recipe(steps=steps, learning_rate=1e-3, batch_size=64, clip_norm=0.5),
        objective=PPO(rollout_length=40, clip=0.2, value_clip=0.2),
    )


# After Table 3, in rooms and with a network that one core trains in minutes. Learning rate and
# rooms are chosen for both rows at once, by success in training without modules.

SMALL_ROOMS: Final = ObjectPicking(
    side=5, distractors=2, more_distractors=(4, 8), larger_sides=(8,)
)
ENCODERS: Final[dict[str, Spec]] = {
    "Rainbow-IQN": Spec(PlanesEncoder),
    "Rainbow-IQN + NFM": Spec(
        PlanesNFMEncoder,
        rules=NFMRules(num_heads=2, key_size=8, value_size=8, top_k=4, space_to_depth=False),
    ),
}


def values_in_rooms(cell: Cell) -> Experiment:
    """Train an agent that learns values in small rooms."""
    return Experiment(
        task=SMALL_ROOMS,
        model=QuantileNetwork(
            encoder=ENCODERS[cell.row],
            head=Spec(QuantileHead, hidden_size=64, num_cosines=32),
        ),
        recipe=Recipe(steps=3_000, learning_rate=1e-3, batch_size=64, clip_norm=10.0),
        objective=RainbowIQN(
            memory_size=50_000, first_steps=2_000, acting_quantiles=8, target_period=250
        ),
    )


# Agents in small rooms, at a size that one core trains in minutes: half as many units as in
# `lamb2022/object-picking`, smaller rooms and views, and short rollouts of which few steps are
# learned from at once. Learning rate and rollouts were chosen once for all layers, by the success
# of one LSTM in training. With weight decay, kinds and colors never met have no gradient, so that
# decay may make them invisible. Success among them was to come within five points of that among
# known ones; no cell has a goal, as that is a difference of two.

NARROW_LAYERS: Final = _layers(120)
NARROW_RECIPE: Final = Recipe(
    steps=200, learning_rate=2e-3, batch_size=64, clip_norm=0.5, evaluations=5
)
FORGETTING: Final = AdamW(
    weight_decay=1.0,
    undecayed=("core.*", "actor.*", "critic.*", "encoder.output.*", "encoder.layers.1.*", "*.bias"),
)
"""Decay of the first weights of the encoder: 1,600 updates leave 4 % of one without a gradient."""


def small_rooms(cell: Cell) -> Experiment:
    """Train an agent in small rooms, with weight decay where the row says so."""
    name, decays, _ = cell.row.partition(", weight decay")
    recipe = dataclasses.replace(NARROW_RECIPE, optimizer=FORGETTING) if decays else NARROW_RECIPE
    return Experiment(
        task=dataclasses.replace(SMALL_ROOMS, view=5),
        model=AgentNetwork(
            core=NARROW_LAYERS[name],
            encoder=Spec(PlanesEncoder, convolutions=((16, 2, 1), (32, 2, 1)), out_features=64),
        ),
        recipe=recipe,
        objective=PPO(rollout_length=16, clip=0.2, value_clip=0.2, minibatches=2),
    )


def _mechanisms(num_active: int) -> Spec:
    wiring = Wiring.released_for_agents()
    return Spec(RIMs, hidden_size=510, num_mechanisms=6, num_active=num_active, wiring=wiring)


PLAYERS: Final[dict[str, Spec]] = {
    "RIMs (6, 4)": _mechanisms(4),
    "RIMs (6, 5)": _mechanisms(5),
    "RIMs (6, 6), no input attention": Spec(
        RIMs,
        hidden_size=510,
        num_mechanisms=6,
        num_active=6,
        wiring=dataclasses.replace(Wiring.released_for_agents(), input_attention=None),
    ),
    "LSTM": Spec(LSTMLayer, hidden_size=512),
}
"""Layers of Figure 5 and of the ablations of section 8.4.4 on Atari."""
SCREENS: Final = Spec(
    PlanesEncoder, convolutions=((32, 8, 4), (64, 4, 2), (32, 3, 1)), out_features=512
)


def atari(cell: Cell) -> Experiment:
    """Train an agent that plays the game of a group."""
    return Experiment(
        task=_game(cell),
        model=AgentNetwork(core=PLAYERS[cell.row], encoder=SCREENS),
        recipe=Recipe(steps=9_766, learning_rate=2.5e-4, batch_size=8, clip_norm=0.5),
        objective=PPO(value_clip=0.1, reward_clip=1.0),
    )


def _game(cell: Cell) -> Atari:
    """Build the game of a group, by its name in ale-py."""
    return Atari(game=cell.group.replace("-", "_"))


_RESIDUAL: Final[dict[str, Any]] = {"num_outputs": 512, "width": 16, "stem_stride": 2}
RESIDUAL_ENCODERS: Final[dict[str, Spec]] = {
    "Rainbow-IQN": Spec(PreActResNet, **_RESIDUAL),
    "Rainbow-IQN + NFM": Spec(
        PreActResNetNFM,
        rules=NFMRules(key_size=32, value_size=32, top_k=4, space_to_depth=False),
        **_RESIDUAL,
    ),
}
"""Encoders of Table 3, ResNet18 each. The sides of their maps, 42, 21, 11 and 6, are not multiples
of each other."""


def values_of_atari(cell: Cell) -> Experiment:
    """Train an agent that plays the game of a group by the quantiles of its returns."""
    return Experiment(
        task=_game(cell),
        model=QuantileNetwork(encoder=RESIDUAL_ENCODERS[cell.row]),
        recipe=Recipe(steps=312_500, learning_rate=2.5e-4, batch_size=128, clip_norm=40.0),
        objective=RainbowIQN(first_steps=50_000, target_period=625, reward_clip=1.0),
    )
