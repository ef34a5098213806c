"""Sequence layers as ONNX, where its packages are installed; the reference runs what is written."""

from __future__ import annotations

import contextlib
import io

import pytest
import torch

from each import some
from farfield.nn import (
    DNC,
    EntNet,
    GRULayer,
    HoldingRNN,
    LSTMLayer,
    NormalizedLSTM,
    NTMLayer,
    RegisterMachine,
    RelationalMemoryCore,
    RIMs,
    Wiring,
)
from made import drawn, generator
from zoo import MACHINE

pytest.importorskip("onnxscript")
onnx_reference = pytest.importorskip("onnx.reference")

LAYERS = {
    "DNC": lambda **options: DNC(3, 8, num_slots=4, slot_size=2, **options),
    "EntNet": lambda **options: EntNet(3, 8, num_slots=2, **options),
    "GRULayer": lambda **options: GRULayer(3, 8, **options),
    "HoldingRNN": lambda **options: HoldingRNN(3, 8, num_groups=4, **options),
    "LSTMLayer": lambda **options: LSTMLayer(3, 8, **options),
    "NTMLayer": lambda **options: NTMLayer(3, 8, num_slots=4, slot_size=2, **options),
    "NormalizedLSTM": lambda **options: NormalizedLSTM(
        3, 8, normalizer=torch.nn.LayerNorm, **options
    ),
    "RIMs": lambda **options: RIMs(3, 12, 2, num_mechanisms=3, num_active=2, **options),
    "RIMs, released": lambda **options: RIMs(
        3, 12, num_mechanisms=3, num_active=2, wiring=Wiring.released(), **options
    ),
    "RegisterMachine": lambda **options: RegisterMachine(3, 8, **MACHINE, **options),
    "RelationalMemoryCore": lambda **options: RelationalMemoryCore(
        3, 8, num_slots=2, num_heads=2, **options
    ),
}
"""Not `LinearRecurrentUnit`, `GatedDeltaNet`: ONNX has no complex numbers and solves no systems."""


@pytest.mark.slow
@pytest.mark.usefixtures("unchecked")
@pytest.mark.filterwarnings("ignore")  # of torch's own exporter
@pytest.mark.parametrize("name", some(["EntNet"], LAYERS))
def test_what_onnx_says_is_what_the_layer_says(name: str) -> None:
    layer = LAYERS[name](batch_first=True, generator=generator()).double().eval()
    batch = torch.export.Dim("batch", min=1, max=10_000)
    x = drawn(3, 2, 3)
    with contextlib.redirect_stdout(io.StringIO()):
        program = torch.onnx.export(layer, (x,), dynamo=True, dynamic_shapes=({0: batch},))
    session = onnx_reference.ReferenceEvaluator(program.model_proto)
    x = drawn(7, 2, 3, seed=1)
    found, *_ = session.run(None, {session.input_names[0]: x.numpy()})
    torch.testing.assert_close(torch.from_numpy(found), layer(x)[0], rtol=1e-4, atol=1e-5)
