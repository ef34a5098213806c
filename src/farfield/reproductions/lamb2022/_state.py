"""Networks and recipes of the suites `state`, `algorithms` and `series`."""

from __future__ import annotations

import dataclasses
from typing import Final

from farfield.experiments import (
    Cosine,
    Experiment,
    Network,
    Recipe,
    SequenceNetwork,
    Spec,
    Warmup,
)
from farfield.models import LSTM
from farfield.nn import (
    DNC,
    MLSTM,
    SLSTM,
    Abstractor,
    CausalTransformer,
    ContextNorm,
    DualAttentionTransformer,
    EntNet,
    GatedDeltaNet,
    GatedLinearAttention,
    GRULayer,
    HoldingRNN,
    LinearEncoder,
    LinearRecurrentUnit,
    LSTMLayer,
    Mamba,
    NeuralInterpreter,
    NTMLayer,
    PreNormTransformer,
    RegisterMachine,
    RelationalMemoryCore,
    RIMs,
    SymbolLibrary,
)
from farfield.reproductions._grid import Cell
from farfield.tasks import ChomskyHierarchy, ProblemTask, SetAlgorithms, ShiftedSeries
from farfield.tasks.internal import SERIES

# Sizes, steps and batches are such that one network of an LSTM takes less than a minute on a core,
# and 15 of them, one for each task, less than ten minutes on two.

STEPS: Final = 1_000
BATCH: Final = 32
TURNING: Final = 0.01
"""Learning rate of layers with gates on the state."""
RESIDUAL: Final = 0.003
"""Learning rate of layers whose state is linear in the input, or none."""
ENCODER: Final = Spec(LinearEncoder, out_features=32)
STATE_CORES: Final[dict[str, tuple[Spec, float]]] = {
    "LSTM": (Spec(LSTMLayer, hidden_size=64), TURNING),
    "GRU": (Spec(GRULayer, hidden_size=64), TURNING),
    "Holding RNN": (Spec(HoldingRNN, hidden_size=64), TURNING),
    "Register machine": (Spec(RegisterMachine, hidden_size=104), TURNING),
    "NTM": (Spec(NTMLayer, hidden_size=96), TURNING),
    "DNC": (Spec(DNC, hidden_size=80), TURNING),
    "RMC": (Spec(RelationalMemoryCore, hidden_size=64), TURNING),
    "EntNet": (Spec(EntNet, hidden_size=64), TURNING),
    "RIMs (4, 2)": (Spec(RIMs, hidden_size=64, num_mechanisms=4, num_active=2), TURNING),
    "sLSTM": (Spec(SLSTM, hidden_size=64), RESIDUAL),
    "mLSTM": (Spec(MLSTM, hidden_size=64), RESIDUAL),
    "Gated linear attention": (Spec(GatedLinearAttention, hidden_size=64), RESIDUAL),
    "Gated DeltaNet": (Spec(GatedDeltaNet, hidden_size=64), RESIDUAL),
    "Mamba": (Spec(Mamba, hidden_size=64), RESIDUAL),
    "Linear recurrent unit": (Spec(LinearRecurrentUnit, hidden_size=64), RESIDUAL),
    "Transformer": (Spec(CausalTransformer, hidden_size=64), RESIDUAL),
}
"""Layer by row, and its learning rate."""
SET_ENCODER: Final = Spec(LinearEncoder, out_features=64)
SET_CORES: Final[dict[str, Spec]] = {
    "Transformer, no order": Spec(PreNormTransformer, num_layers=2),
    "Neural Interpreter": Spec(NeuralInterpreter, num_functions=4, num_iterations=2),
    "Abstractor": Spec(Abstractor, symbols=Spec(SymbolLibrary), num_layers=2),
    "Dual attention": Spec(DualAttentionTransformer, num_layers=2),
}
"""Layer over a whole set by row, as wide as the embeddings."""


def state(cell: Cell) -> Experiment:
    """Train a sequence layer on a task of the Chomsky hierarchy."""
    task = ChomskyHierarchy(
        rule=cell.group,  # type: ignore[arg-type]
        training_strings=STEPS * BATCH,
        test_strings=(256, 4),
    )
    return _of_core(task, cell.row, STEPS)


def algorithms(cell: Cell) -> Experiment:
    """Train a layer on an algorithm over a set, read element by element or at once."""
    task = SetAlgorithms(
        algorithm=cell.group,  # type: ignore[arg-type]
        training_strings=STEPS * BATCH,
        test_strings=(500, 200),
    )
    if cell.row not in SET_CORES:
        return _of_core(task, cell.row, STEPS)
    model = SequenceNetwork(core=SET_CORES[cell.row], encoder=SET_ENCODER)
    return dataclasses.replace(_of_core(task, "Transformer", STEPS), model=model)


SERIES_STEPS: Final = 200
GROUPS: Final = {name.lower().replace("_", "-"): name for name in SERIES}
"""Set of series by group."""
REASONERS: Final[dict[str, Spec | None]] = {
    "LSTM, no norm": None,
    "LSTM + context norm": Spec(ContextNorm),
}
"""Context of the rows that read with `models.LSTM`, which differ in the context alone."""


def series(cell: Cell) -> Experiment:
    """Train a layer over sequences on a set of series, none of them shifted."""
    task = ShiftedSeries(series=GROUPS[cell.group])  # type: ignore[arg-type]
    if cell.row not in REASONERS:
        return _of_core(task, cell.row, SERIES_STEPS)
    reader, context = Spec(LSTM, hidden_size=64), REASONERS[cell.row]
    model = Network(reasoner=reader, encoder=ENCODER, context=context)
    return dataclasses.replace(_of_core(task, "LSTM", SERIES_STEPS), model=model)


def _of_core(task: ProblemTask, row: str, steps: int) -> Experiment:
    """Build the experiment of a sequence layer on a task, by the name of its row."""
    core, learning_rate = STATE_CORES[row]
    return Experiment(
        task=task,
        model=SequenceNetwork(core=core, encoder=ENCODER),
        recipe=Recipe(
            steps=steps,
            learning_rate=learning_rate,
            batch_size=BATCH,
            clip_norm=1.0,
            schedule=Warmup(fraction=0.05, then=Cosine()),
        ),
    )
