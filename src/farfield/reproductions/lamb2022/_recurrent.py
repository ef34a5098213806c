"""Networks and recipes of chapter 8 of lamb2022 on sequences, and of our goals beyond it.

The text gives no number of updates. Learning rate, batch and clipping are those of the released
scripts, for all layers alike, and no weights are chosen; the exceptions are described where they
are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from farfield.experiments import (
    AdamW,
    Cosine,
    Experiment,
    ItemNetwork,
    Pretrained,
    Recipe,
    SequenceNetwork,
    Spec,
    Warmup,
)
from farfield.experiments.internal import RollOutNetwork
from farfield.models import QuickCNN
from farfield.nn import (
    DNC,
    CausalTransformer,
    Communication,
    EntNet,
    GRULayer,
    HoldingRNN,
    LinearEncoder,
    LinearRecurrentUnit,
    LSTMLayer,
    MapNormalizer,
    NTMLayer,
    RegisterMachine,
    RelationalMemoryCore,
    RIMs,
    Wiring,
)
from farfield.nn.internal import LinearDecoder
from farfield.objectives import ActivationL1, Objective, Supervised
from farfield.reproductions._grid import Cell
from farfield.tasks import (
    Adding,
    BouncingBalls,
    Copying,
    ProblemTask,
    SequentialMNIST,
    SymbolSequences,
)


def _rims(
    num_mechanisms: int, num_active: int, hidden_size: int, wiring: Wiring | None = None
) -> Spec:
    return Spec(
        RIMs,
        hidden_size=hidden_size,
        num_mechanisms=num_mechanisms,
        num_active=num_active,
        wiring=wiring,
    )


RELEASED: Final = _rims(6, 4, 600, wiring=Wiring.released())
"""First row of the copying half of Table 1, as in the released code."""
WITHOUT_COMMUNICATION: Final = Wiring(communication=None)
CORES: Final[dict[str, Spec]] = {
    "RIMs (6, 6, 600)": _rims(6, 6, 600),
    "RIMs (6, 5, 600)": _rims(6, 5, 600),
    "RIMs (6, 4, 600)": _rims(6, 4, 600),
    "RIMs (6, 3, 600)": _rims(6, 3, 600),
    "RIMs (6, 2, 600)": _rims(6, 2, 600),
    "RIMs (5, 2, 500)": _rims(5, 2, 500),
    "LSTM (300)": Spec(LSTMLayer, hidden_size=300),
    "LSTM (600)": Spec(LSTMLayer, hidden_size=600),
    # Sizes of the next five are not published.
    "NTM": Spec(NTMLayer, hidden_size=256),
    "DNC": Spec(DNC, hidden_size=256),
    "RMC": Spec(RelationalMemoryCore, hidden_size=256),
    "EntNet": Spec(EntNet, hidden_size=256),
    "Transformers": Spec(CausalTransformer, hidden_size=128),
    # Layers that the text does not try; the last one is Farfield's own.
    "GRU (600)": Spec(GRULayer, hidden_size=600),
    "Linear recurrent unit": Spec(LinearRecurrentUnit, hidden_size=128),
    "Holding RNN": Spec(HoldingRNN, hidden_size=256),
    # Ablations of section 8.4.4: fewer and more active mechanisms than the 30 to 70 % that it calls
    # best, no input attention, less communication.
    "RIMs (6, 4)": _rims(6, 4, 600),
    "RIMs, one active": _rims(6, 1, 600),
    "RIMs, five active": _rims(6, 5, 600),
    "RIMs, all active": _rims(6, 6, 600),
    "RIMs, no input attention": _rims(6, 6, 600, wiring=Wiring(input_attention=None)),
    "RIMs, no communication": _rims(6, 4, 600, wiring=WITHOUT_COMMUNICATION),
    "RIMs, sparse communication": _rims(
        6, 4, 600, wiring=Wiring(communication=Communication(top_k=2))
    ),
    "RIMs, as released": RELEASED,
    "RIMs (6, 6, 600), no communication": _rims(6, 6, 600, wiring=WITHOUT_COMMUNICATION),
    "RIMs (6, 5, 600), no communication": _rims(6, 5, 600, wiring=WITHOUT_COMMUNICATION),
    "RIMs (6, 4, 600), no communication": _rims(6, 4, 600, wiring=WITHOUT_COMMUNICATION),
}
"""Layers by row."""


# Copying. The text does not say which time steps the cross-entropy is over. Its values at T = 200
# exceed ln 8, which a mean over the last ten can and one over all time steps hardly: the loss here
# is over the last ten, in training and in the tests.

COPYING_TASK: Final = Copying(recalled_only=True)
COPYING_RECIPE: Final = Recipe(steps=5_000, learning_rate=1e-3, batch_size=64, clip_norm=1.0)
"""Recipe with as many updates as two cores can give every row."""


def copying(cell: Cell) -> Experiment:
    """Train a layer to copy."""
    return _copying(CORES[cell.row])


def _copying(
    core: Spec, recipe: Recipe = COPYING_RECIPE, task: Copying = COPYING_TASK
) -> Experiment:
    """Train a layer to copy by a recipe."""
    return Experiment(
        task=task,
        model=SequenceNetwork(core=core, encoder=Spec(LinearEncoder, out_features=600)),
        recipe=recipe,
    )


# Digits read pixel by pixel, tested at other resolutions: 100 epochs. Two thousand test images,
# each at four resolutions, are as many as two cores can read.

DIGITS_TASK: Final = SequentialMNIST(validation_images=2_000, test_images=2_000)


def digits(cell: Cell) -> Experiment:
    """Train a layer to read digits."""
    return Experiment(
        task=DIGITS_TASK,
        model=SequenceNetwork(core=CORES[cell.row], encoder=Spec(LinearEncoder, out_features=600)),
        recipe=Recipe(steps=75_000, learning_rate=7e-4, batch_size=64, clip_norm=1.0),
    )


# Reports of users of the released code. Two users of the released script find less on digits than
# is published, and not the same (its issue 2); the author answers with another setting, trained for
# about twenty epochs, and with a third one that changes the code too, with which the second user
# got no further. The script chooses weights on validation images of the size of the test; here they
# are those of the last step. On copying a user finds losses that are lower after 200 time steps
# than after 50 (its issue 8). Those of an LSTM are the score of a network that remembers nothing,
# where the loss is over all time steps; those of RIMs are not. Layer, dropout, learning rate, batch
# and clipping are the scripts'. The rest is as in the other tables: fixed sets of problems, a fresh
# state for every sequence, dropout throughout training.

EPOCHS: Final = 20
AS_ANSWERED: Final = _rims(5, 3, 510, wiring=Wiring.released())
"""RIMs as the author of the released code advises users who find less than published."""
SCRIPTS: Final[dict[tuple[str, str], tuple[Spec, float, int]]] = {
    ("digits", "RIMs (6, 4, 600), script"): (RELEASED, 7e-4, 600),
    ("digits", "RIMs (6, 4, 600), script, second user"): (RELEASED, 7e-4, 600),
    ("digits", "RIMs (5, 3, 510), answer"): (AS_ANSWERED, 1e-3, 600),
    ("digits", "LSTM (600), script"): (CORES["LSTM (600)"], 7e-4, 600),
    ("copying", "LSTM (300), script"): (CORES["LSTM (300)"], 1e-3, 300),
    ("copying", "LSTM (600), script"): (CORES["LSTM (600)"], 1e-3, 600),
    ("copying", "RIMs (6, 4, 600), script"): (RELEASED, 1e-3, 600),
}
"""Layers, learning rates and widths of the embedding, by group and row. Two users have the same
setting, and one row each."""


def script(cell: Cell) -> Experiment:
    """Train a layer by the released script, with the loss over all time steps in copying."""
    core, learning_rate, width = SCRIPTS[cell.group, cell.row]
    task = DIGITS_TASK if cell.group == "digits" else Copying()
    epochs = EPOCHS * DIGITS_TASK.training_images // 64
    return Experiment(
        task=task,
        model=SequenceNetwork(
            # Dropout is behind the embedding and behind the layer, by default in the scripts.
            core=core,
            encoder=Spec(LinearEncoder, out_features=width),
            dropout=0.5,
        ),
        recipe=Recipe(
            steps=epochs if cell.group == "digits" else COPYING_RECIPE.steps,
            learning_rate=learning_rate,
            batch_size=64,
            clip_norm=1.0,
        ),
    )


def adding(cell: Cell) -> Experiment:
    """Train a layer to add.

    After a thousand updates the first network of each layer adds: on validation sequences its error
    is at most a twentieth of the floor.
    """
    return Experiment(
        task=Adding(),
        model=SequenceNetwork(core=CORES[cell.row], encoder=Spec(LinearEncoder, out_features=100)),
        recipe=Recipe(steps=1_000, learning_rate=1e-3, batch_size=64, clip_norm=0.1),
    )


# Roll-outs of bouncing balls: Figure 3, which gives curves and no numbers. The text gives the
# frames, the loss and how many frames are true. It does not give encoder, decoder, learning rate,
# updates and the sizes of the layers, except that the LSTM has 256 units, or 512. One linear layer
# on either side learns in minutes on two cores as much as convolutions or hidden layers do in far
# longer, if the decoder starts from answers that are dark. Of 1e-3 and 3e-3 the learning rate is
# that with which RIMs had the lower loss on validation sequences after a minute; it is the same for
# all layers.

DARK: Final = -2.3
"""Logit of the share of white pixels of four balls, 0.09."""
FOUR: Final = BouncingBalls(given=15)
BALLS: Final = {"4-balls": FOUR, "6-8-balls": replace(FOUR, balls=(6, 8))}
BALL_CORES: Final[dict[str, Spec]] = {
    # The size of RIMs is not published, and is nearly that of the smaller LSTM.
    "RIMs (6, 4, 240)": _rims(6, 4, 240),
    "LSTM (256)": Spec(LSTMLayer, hidden_size=256),
    "LSTM (512)": Spec(LSTMLayer, hidden_size=512),
}


def balls(cell: Cell) -> Experiment:
    """Train a layer to roll out balls."""
    return Experiment(
        task=BALLS[cell.group],
        model=RollOutNetwork(
            core=BALL_CORES[cell.row],
            encoder=Spec(LinearEncoder, out_features=128),
            decoder=Spec(LinearDecoder, first_bias=DARK),
        ),
        recipe=Recipe(steps=20_000, learning_rate=3e-3, batch_size=32, clip_norm=1.0),
    )


# Goals at the hardest regimes. Copying: to hold ten symbols through a dormant phase of 10,000 after
# training at 50, a state must not decay at all. The gates of a `HoldingRNN` reach 1, and then
# nothing changes. They can also come so close to 1 that nothing is lost in training and a symbol in
# ten thousand steps; with a least move they cannot. The errors that remain are on sequences that
# were not trained on: one row is trained on every sequence once. The memory of an NTM stays
# unchanged where nothing is written. Tests led to three of the rows: the first NTM in the table of
# copying missed nothing at any length, networks without a least move missed symbols after 1,000
# time steps that they had after 50, and one of four with a least move missed symbols of the tests
# and none of its training sequences. Digits: 24 × 24 is hard because a row takes 24 steps where
# training had 14. A reader who knows that the sequence is a square picture can read it at the side
# of training; the rows show the gain of that, and that it does not come from the layer. Nothing
# else was chosen with a test in sight, the size of the least move neither.

HOLDING: Final = Recipe(
    steps=8_000,
    learning_rate=4e-3,
    batch_size=64,
    clip_norm=1.0,
    schedule=Warmup(fraction=0.05, then=Cosine()),
)
"""Recipe with a schedule: a constant learning rate of 2e-3 still leaves errors after 6,000 updates,
after 50 time steps too."""
LONGER: Final = replace(HOLDING, steps=10_000)
"""After 8,000 updates two of five networks without a least move still err in training, rarely."""
NEW: Final = replace(COPYING_TASK, training_sequences=LONGER.steps * LONGER.batch_size)
"""Task with as many training sequences as the updates take: each is trained on once."""
LEAST_MOVE: Final = Spec(HoldingRNN, hidden_size=256, min_update=0.05)
"""Layer with a least move: a leak of this size at every step loses all within the 50 of
training."""
HOLDERS: Final[dict[str, Experiment]] = {
    "Holding RNN": _copying(CORES["Holding RNN"], HOLDING),
    "Holding RNN, least move": _copying(LEAST_MOVE, LONGER),
    "Holding RNN, least move, new sequences": _copying(LEAST_MOVE, LONGER, NEW),
    # Three times the updates of the first network in the table of copying.
    "NTM": _copying(CORES["NTM"], replace(COPYING_RECIPE, steps=2_000)),
}
DIGITS_STEPS: Final = 750
"""Updates: one epoch."""


def holders(cell: Cell) -> Experiment:
    """Train a layer to hold symbols."""
    return HOLDERS[cell.row]


def readers(cell: Cell) -> Experiment:
    """Train a layer to read digits, at the side of training or as the sequence comes."""
    name, at, _ = cell.row.partition(", read at 14")
    return Experiment(
        task=DIGITS_TASK,
        model=SequenceNetwork(
            core=CORES[name],
            encoder=Spec(LinearEncoder, out_features=64),
            side=14 if at else None,
        ),
        recipe=Recipe(steps=DIGITS_STEPS, learning_rate=1e-3, batch_size=64, clip_norm=1.0),
    )


# One recurrent layer on three memories. A `HoldingRNN` has groups that hold their content bit for
# bit, and units that add up. To open a sum costs something, and it is open by a quarter or shut:
# one that counts blanks in training, or lets a little of every number pass, would have come to much
# in the tests. In training a fifth of the held content is dropped from every output, and nothing of
# the sums: an answer that has to be exact is then made of sums alone, which are right for any
# number of terms. A sequence that repeats itself with a period is read at one pace; no network
# knows which are pictures. All of it is the same on the three tasks, except the number of updates.

MEMORY_RECIPE: Final = replace(HOLDING, steps=3_000)
COST: Final = ActivationL1(layers=("inner.core.added",), weight=0.1)
"""Cost of opening a sum."""


def _memory(
    *,
    num_sums: int = 16,
    min_added: float | None = 0.25,
    dropout: float = 0.2,
    pace: int | None = 16,
) -> SequenceNetwork:
    """Build the network of the goals, or one without a part."""
    options: dict[str, Any] = {"num_sums": num_sums, "dropout": dropout, "min_update": 0.05}
    if min_added is not None:
        options["min_added"] = min_added
    core = Spec(HoldingRNN, hidden_size=128 + num_sums, **options)
    return SequenceNetwork(
        core=core,
        encoder=Spec(LinearEncoder, out_features=64),
        pace=pace,
        whole_periods=pace is not None,
    )


MEMORIES: Final[dict[str, tuple[SequenceNetwork, Objective]]] = {
    "one layer": (_memory(), COST),
    "sums ajar": (_memory(min_added=None), COST),
    "without sums": (_memory(num_sums=0), Supervised()),
    "at no cost of sums": (_memory(), Supervised()),
    "without dropout": (_memory(dropout=0.0), COST),
    "without a pace": (_memory(pace=None), replace(COST, layers=("core.added",))),
}
"""Network of the goals, and the same without one of its parts."""
MEMORY_TASKS: Final[dict[str, tuple[ProblemTask, int]]] = {
    "copying": (
        Copying(
            recalled_only=True,
            test_dormant=(10_000, 1_000_000),
            test_sequences=(64, 8),
            training_sequences=8_000 * 64,
        ),
        8_000,
    ),
    "adding": (Adding(test_lengths=(1_000, 10_000)), 3_000),
    "sequential-mnist": (DIGITS_TASK, DIGITS_STEPS),
}
"""Tasks of the goals, and updates, by group."""


def one_layer(cell: Cell) -> Experiment:
    """Train the network of the goals, or one without a part, on a memory."""
    (task, steps), (network, objective) = MEMORY_TASKS[cell.group], MEMORIES[cell.row]
    return Experiment(
        task=task,
        model=network,
        recipe=replace(MEMORY_RECIPE, steps=steps),
        objective=objective,
    )


# Digits of any length: trained on squares of 14 × 14, whose rows are found in each sequence, as in
# the tests. K-MNIST, of fewer images and larger variety, takes more updates. Stretch, slant and
# motion in training, a small share of the distortion by a row length that is wrong by a step, make
# the reader indifferent to such errors.

LENGTHS: Final = SequentialMNIST(
    test_sides=(24,), blanks=(1, 13, 24), widths=(20,), validation_images=1_000, test_images=1_000
)
"""Digits with blank pixels before and behind, missing pixels, and another width than height."""
LENGTH_TASKS: Final[dict[str, SequentialMNIST]] = {
    "mnist": LENGTHS,
    "k-mnist": replace(
        LENGTHS, data_set="kmnist-first7011", training_images=6_511, validation_images=500
    ),
}
LENGTH_STEPS: Final = {"mnist": 500, "k-mnist": 2_500}
FOUND: Final = ItemNetwork(
    core=Spec(QuickCNN, width=32, normalizer=MapNormalizer()), pace=14, jitter=0.2
)
"""Convolutions over an image of the found rows."""
FOUND_RECIPE: Final = Recipe(
    steps=LENGTH_STEPS["mnist"],
    learning_rate=4e-3,
    batch_size=64,
    optimizer=AdamW(),
    schedule=Warmup(fraction=0.1, then=Cosine()),
)
GRU: Final = Experiment(
    task=LENGTHS,
    model=SequenceNetwork(
        core=Spec(GRULayer, hidden_size=128), encoder=Spec(LinearEncoder, out_features=64)
    ),
    recipe=replace(MEMORY_RECIPE, steps=DIGITS_STEPS),
)
LENGTH_ROWS: Final[dict[str, Experiment]] = {
    "CNN, rows found": Experiment(task=LENGTHS, model=FOUND, recipe=FOUND_RECIPE),
    "one layer": replace(GRU, model=_memory(), objective=COST),
    "GRU": GRU,
}
"""Readers by row; the second is the network of `lamb2022/one-layer`, the third has no pace."""


def any_length(cell: Cell) -> Experiment:
    """Train a reader of digits for sequences of any length."""
    experiment = replace(LENGTH_ROWS[cell.row], task=LENGTH_TASKS[cell.group])
    if cell.row != "CNN, rows found":
        return experiment
    return replace(experiment, recipe=replace(FOUND_RECIPE, steps=LENGTH_STEPS[cell.group]))


# Seven memories of random symbols, asked for at the end. Lengths grow from stage to stage: each
# starts from the networks of the stage before. The last stage of a `RegisterMachine` is rounded, as
# in evaluation. Growth, sizes and recipe are the same for all rows and rules. The recurrent rivals
# read a hundred sequences of each test, a tenth of the others: an LSTM takes minutes for a thousand
# of the longest.

STAGES: Final = ((6, 300), (16, 300), (50, 500), (50, 600))
"""Longest sequence and updates of each stage of training; the last one is rounded."""
LONG: Final = {"copying": 3}
"""Factor of the updates of a rule: copying still errs in training after fewer updates."""
MACHINE: Final = Spec(RegisterMachine, hidden_size=32 + 8 + 64)
"""Layer of the goals: four automata of eight states, eight counters, eight registers of eight."""
SYMBOL_CORES: Final[dict[str, tuple[tuple[Spec, ...], int]]] = {
    "Register machine": (
        (MACHINE, MACHINE, MACHINE, Spec(RegisterMachine, hidden_size=104, rounded=True)),
        1_000,
    ),
    "LSTM (64)": ((Spec(LSTMLayer, hidden_size=64),) * 4, 100),
    "GRU (64)": ((Spec(GRULayer, hidden_size=64),) * 4, 100),
}
"""Layer of each stage by row, and sequences of a test."""


def seven_memories(cell: Cell) -> Experiment:
    """Train a layer on one of seven rules, at lengths that grow."""
    return _stage(cell, len(STAGES) - 1)


def _stage(cell: Cell, number: int) -> Experiment:
    """Train a stage, from the networks of the stage before."""
    cores, test_sequences = SYMBOL_CORES[cell.row]
    longest, steps = STAGES[number]
    steps *= LONG.get(cell.group, 1)
    recipe = replace(HOLDING, steps=steps)
    return Experiment(
        task=SymbolSequences(
            rule=cell.group,  # type: ignore[arg-type]
            training_lengths=(1, longest),
            test_lengths=(1_000, 10_000, 100_000) if number == len(STAGES) - 1 else (),
            training_sequences=steps * recipe.batch_size,
            test_sequences=test_sequences,
        ),
        model=SequenceNetwork(
            core=cores[number], encoder=Spec(LinearEncoder, out_features=32, bound=0.3)
        ),
        recipe=recipe,
        starts_from=Pretrained(experiment=_stage(cell, number - 1)) if number else None,
    )
