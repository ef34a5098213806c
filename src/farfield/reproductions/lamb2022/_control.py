"""Agents of lamb2022: Figures 4 and 5 of chapter 8, and Table 3 of chapter 10.

The text says that agents learn with PPO and that only the recurrent layer differs; sizes, rollouts,
learning rates and numbers of steps it leaves out. On Atari they are those of the released code
(eight copies, rollouts of 128 steps, learning rate 2.5e-4, layers of 512 units, of which 510 are
divided among six mechanisms), at ten million steps of the environment. Of the suite of games those
stand here that the text names. For BabyAI and for rooms of our own they are chosen once for all
layers: layers of 240 units, a learning rate of 1e-3, five million and four million steps.

Chapter 10 has an implicit quantile network in the form of Rainbow with a residual encoder and says
"exactly the same setup as in (Lieber, 2019)". The code published by Lieber has an agent with an
LSTM; the other settings are taken from there: 32 copies of a game, returns of three steps, eight
quantiles, rewards clipped to 1, a learning rate of 2.5e-4, and a copy of the network every 20,000
steps of the environment. The encoder is a ResNet18, as Table 3 has it; its width, and which four
places it reads at, the text does not say, nor the number of steps. The claims take a PreActResNet18
of width 16, whose stem has a stride of 2, with modules after its four groups, and ten million steps
as above, each of which is learned from four times. The memory holds 100,000 steps, a tenth of
Lieber's.

By the time of an update, a network takes on one core: with RIMs 0.9 hours in rooms of our own, 1.3
in BabyAI and 21 on Atari; with an LSTM 0.3, 0.6 and 12; in the rooms 0.4 with a GRU or a Holding
RNN, and 0.8 with a linear recurrent unit.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Final

from farfield.experiments import AgentNetwork, Experiment, QuantileNetwork, Recipe, Spec
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
from farfield.reproductions._claims import Claim, Table
from farfield.reproductions._published import Published, Unpublished
from farfield.reproductions._rule import VerdictRule
from farfield.reproductions.lamb2022 import _print_control as printed
from farfield.tasks import TRAINING, Atari, BabyAIPicking, Environment, ObjectPicking

SELECTION: Final = "weights of the last step"
QUICK: Final = 1 / 100


def layers_of(units: int) -> dict[str, Spec]:
    """RIMs, rivals, and a layer of Farfield's own, the last one.

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


LAYERS: Final = layers_of(240)
PAIR: Final = ("RIMs", "LSTM")
"""The layers of Figures 4 and 5."""

SUCCESS: Final = Unpublished(
    runs=printed.TRIALS, selection=SELECTION, split="episodes of new rooms, actions drawn"
)
POINTS: Final = Unpublished(
    runs=printed.TRIALS,
    selection=SELECTION,
    split="ten episodes, actions drawn",
    decimals=(0, 0),
    unit="fraction",
)
BABYAI: Final = BabyAIPicking()
ROOMS: Final = ObjectPicking()
LEARNED: Final = Recipe(steps=2_000, learning_rate=1e-3, batch_size=64, clip_norm=0.5)
RULE: Final = PPO(rollout_length=40, clip=0.2, value_clip=0.2)


def in_rooms(task: Environment, core: Spec, steps: int) -> Experiment:
    """An agent that picks up objects.

    Args:
        task: The rooms.
        core: Its recurrent layer.
        steps: Number of rollouts, of 2,560 steps of the environment each.
    """
    return Experiment(
        task=task,
        model=AgentNetwork(core=core, encoder=Spec(PlanesEncoder)),
        recipe=dataclasses.replace(LEARNED, steps=steps),
        objective=RULE,
    )


def picking(
    table: str,
    row: str,
    regime: str,
    column: str,
    *,
    published: Unpublished = SUCCESS,
    **options: Any,
) -> Claim:
    """Success of agents in a regime.

    Args:
        table: The table.
        row: The layer.
        regime: The regime.
        column: How its column is called.
        published: That nothing is printed, and the unit of success.
        options: Further fields of the claim.
    """
    return Claim(
        paper="lamb2022",
        table=table,
        row=row,
        column=column,
        published=published,
        rule=VerdictRule(),
        metric="success",
        regime=regime,
        quick=QUICK,
        **options,
    )


FIGURE_4: Final = Table(
    key="lamb2022/figure-4-agents",
    title="Object picking in BabyAI: success, known and novel distractors",
    claims=tuple(
        picking(
            "figure-4-agents",
            row,
            regime,
            column,
            experiment=in_rooms(BABYAI, LAYERS[row], 2_000),
            subject="Object picking in BabyAI",
            data="the package minigrid: pip install 'farfield[rl]'",
        )
        for regime, column in ((TRAINING, "known"), ("novel-distractors", "novel"))
        for row in PAIR
    ),
)
"""Figure 4, which gives curves and no numbers."""

PICKING: Final = Table(
    key="lamb2022/object-picking",
    title="Object picking in rooms of our own: success with distractors never met, more of them, "
    "and in larger rooms",
    claims=tuple(
        picking(
            "object-picking",
            row,
            regime.name,
            regime.name,
            experiment=in_rooms(ROOMS, core, 1_600),
            subject="Object picking",
        )
        for regime in ROOMS.regimes
        for row, core in LAYERS.items()
    ),
)
"""After Figure 4, without a package."""

SMALL_ROOMS: Final = ObjectPicking(
    side=5, distractors=2, more_distractors=(4, 8), larger_sides=(8,)
)
BEST: Final = dataclasses.replace(SUCCESS, split="episodes of new rooms, best actions with noise")
NARROW: Final = NFMRules(num_heads=2, key_size=8, value_size=8, top_k=4, space_to_depth=False)
ENCODERS: Final[dict[str, Spec]] = {
    "Rainbow-IQN": Spec(PlanesEncoder),
    "Rainbow-IQN + NFM": Spec(PlanesNFMEncoder, rules=NARROW),
}
PICKING_VALUES: Final = Table(
    key="lamb2022/object-picking-values",
    title="Object picking in small rooms: success of agents that learn values, with NFM in the "
    "encoder",
    claims=tuple(
        picking(
            "object-picking-values",
            row,
            regime.name,
            regime.name,
            published=BEST,
            experiment=Experiment(
                task=SMALL_ROOMS,
                model=QuantileNetwork(
                    encoder=encoder, head=Spec(QuantileHead, hidden_size=64, num_cosines=32)
                ),
                recipe=Recipe(steps=3_000, learning_rate=1e-3, batch_size=64, clip_norm=10.0),
                objective=RainbowIQN(
                    memory_size=50_000,
                    first_steps=2_000,
                    acting_quantiles=8,
                    target_period=250,
                ),
            ),
            subject="Object picking, small rooms",
        )
        for regime in SMALL_ROOMS.regimes
        for row, encoder in ENCODERS.items()
    ),
)
"""After Table 3, in rooms and with a network that one core trains in minutes.

Learning rate and rooms are chosen for both rows at once, by success in training without modules.
"""


def _mechanisms(num_active: int) -> Spec:
    wiring = Wiring.released_for_agents()
    return Spec(RIMs, hidden_size=510, num_mechanisms=6, num_active=num_active, wiring=wiring)


WITHOUT_ATTENTION: Final = "RIMs (6, 6), no input attention"
PLAYERS: Final[dict[str, Spec]] = {
    "RIMs (6, 4)": _mechanisms(4),
    "RIMs (6, 5)": _mechanisms(5),
    WITHOUT_ATTENTION: Spec(
        RIMs,
        hidden_size=510,
        num_mechanisms=6,
        num_active=6,
        wiring=dataclasses.replace(Wiring.released_for_agents(), input_attention=None),
    ),
    "LSTM": Spec(LSTMLayer, hidden_size=512),
}
"""The layers of Figure 5 and of the ablations of section 8.4.4 on Atari."""
SCREENS: Final = Spec(
    PlanesEncoder, convolutions=((32, 8, 4), (64, 4, 2), (32, 3, 1)), out_features=512
)


def on_atari(game: str, core: Spec) -> Experiment:
    """An agent that plays a game.

    Args:
        game: Its name in ale-py.
        core: The recurrent layer.
    """
    return Experiment(
        task=Atari(game=game),
        model=AgentNetwork(core=core, encoder=SCREENS),
        recipe=Recipe(steps=9_766, learning_rate=2.5e-4, batch_size=8, clip_norm=0.5),
        objective=PPO(value_clip=0.1, reward_clip=1.0),
    )


def _game(table: str, row: str, name: str, published: Any, experiment: Experiment) -> Claim:
    return Claim(
        paper="lamb2022",
        table=table,
        row=row,
        column=name,
        published=published,
        experiment=experiment,
        rule=VerdictRule(),
        metric="return",
        regime=TRAINING,
        quick=QUICK,
        subject=name,
        group=printed.GAMES[name].replace("_", "-"),
        data="the package ale-py: pip install 'farfield[atari]'",
    )


FIGURE_5: Final = Table(
    key="lamb2022/figure-5-agents",
    title="Games of Atari: the score at the end of training",
    claims=tuple(
        _game("figure-5-agents", row, name, POINTS, on_atari(printed.GAMES[name], core))
        for name in printed.GAMES
        for row, core in PLAYERS.items()
    ),
)
"""Figure 5, which gives bars and no numbers, and its ablations, for the games that are named."""

_RESIDUAL: Final[dict[str, Any]] = {"num_outputs": 512, "width": 16, "stem_stride": 2}
NETWORKS: Final[dict[str, Spec]] = {
    "Rainbow-IQN": Spec(PreActResNet, **_RESIDUAL),
    "Rainbow-IQN + NFM": Spec(
        PreActResNetNFM,
        rules=NFMRules(key_size=32, value_size=32, top_k=4, space_to_depth=False),
        **_RESIDUAL,
    ),
}
"""The encoders of Table 3, ResNet18 each. The sides of their maps, 42, 21, 11 and 6, are not
multiples of each other."""


def by_values(game: str, encoder: Spec) -> Experiment:
    """An agent that plays a game by the quantiles of its returns.

    Args:
        game: Its name in ale-py.
        encoder: Of the images.
    """
    return Experiment(
        task=Atari(game=game),
        model=QuantileNetwork(encoder=encoder),
        recipe=Recipe(steps=312_500, learning_rate=2.5e-4, batch_size=128, clip_norm=40.0),
        objective=RainbowIQN(first_steps=50_000, target_period=625, reward_clip=1.0),
    )


def _score(number: tuple[int, int | None]) -> Published:
    mean, spread = number
    return Published(
        mean=mean,
        spread=spread,
        spread_kind="not said",
        runs=1 if spread is None else 2,  # a spread is of at least two
        decimals=(0, 0),
        unit="fraction",
        selection="not published",
        split="not published",
        runs_assumed=True,
    )


TABLE_3: Final = Table(
    key="lamb2022/nfm-table-3",
    title="Games of Atari: scores with NFM in the encoder",
    claims=tuple(
        _game("nfm-table-3", row, name, _score(number), by_values(printed.GAMES[name], encoder))
        for name, numbers in printed.TABLE_3.items()
        for (row, encoder), number in zip(NETWORKS.items(), numbers, strict=True)
    ),
)
"""Table 3 of chapter 10."""
