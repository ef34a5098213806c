"""Layers as programs that torch records: traces for any number of problems, some exports."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from each import some
from farfield.functional import context_whiten
from farfield.nn import (
    BatchContextNorm,
    ContextNorm,
    ContextWhitening,
    DivisiveNorm1d,
    DivisiveNorm2d,
    GroupNorm,
    InstanceNorm,
    LayerNorm,
    MisalignedContextNorm,
    NeuralInterpreter,
    PooledBatchNorm,
    PreNormTransformer,
    SlidingContextNorm,
    SlotBatchNorm,
)
from made import drawn, generator, unsettled

SEQUENCES, MAPS = (5, 3, 8), (5, 4, 6, 5)
LAYERS = {
    "ContextNorm": (ContextNorm(8), SEQUENCES),
    "ContextNorm, learned": (ContextNorm(8, learned_sigma=True, eps=0.1), SEQUENCES),
    "ContextNorm, segments": (ContextNorm(8, segments=((0, 2), (1,))), SEQUENCES),
    "ContextWhitening": (ContextWhitening(8), SEQUENCES),
    "BatchContextNorm": (BatchContextNorm(8), SEQUENCES),
    "MisalignedContextNorm": (MisalignedContextNorm(8), SEQUENCES),
    "PooledBatchNorm": (PooledBatchNorm(8), SEQUENCES),
    "SlidingContextNorm": (SlidingContextNorm(8), SEQUENCES),
    "SlotBatchNorm": (SlotBatchNorm(8, correction=1), SEQUENCES),
    "DivisiveNorm1d": (DivisiveNorm1d(8, 3, learned_sigma=True), SEQUENCES),
    "DivisiveNorm2d": (DivisiveNorm2d(4, 3, affine=True), MAPS),
    "GroupNorm": (GroupNorm(2, 4, learned_sigma=True), MAPS),
    "InstanceNorm": (InstanceNorm(4, learned_sigma=True), MAPS),
    "LayerNorm": (LayerNorm(8, learned_sigma=True), SEQUENCES),
    "NeuralInterpreter": (NeuralInterpreter(8, 2, 2, generator=generator()), SEQUENCES),
    "PreNormTransformer": (PreNormTransformer(8, generator=generator()), SEQUENCES),
}
layers = pytest.mark.parametrize("name", LAYERS)


@layers
@pytest.mark.usefixtures("unchecked")  # sizes are tensors
@pytest.mark.filterwarnings("ignore")  # of sizes that become constants
@pytest.mark.parametrize("training", some([True], [True, False]))
def test_traced_layers_are_the_layers(name: str, training: bool) -> None:
    layer, shape = LAYERS[name]
    layer = unsettled(layer).train(training)
    traced = torch.jit.trace(layer, drawn(*shape))
    pieces = name == "MisalignedContextNorm"  # which are cut as the first problems were
    for number in (shape[0], shape[0] if pieces else 9):
        z = drawn(number, *shape[1:], seed=3)
        torch.testing.assert_close(traced(z), layer(z), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("eps", some([1e-9], [1e-3, 1e-6, 1e-9]))
def test_exported_whitening_needs_products_alone(eps: float) -> None:
    layer, z = ContextWhitening(8, eps=eps), drawn(5, 6, 8)
    z[0] = 0
    z[1, 3:] = z[1, :3]  # equal places: as far from invertible as can be
    program = torch.export.export(layer, (z,))
    named = {str(node.target) for node in program.graph.nodes}
    assert not {target for target in named if "eigh" in target or "solve" in target}
    found = program.module()(z)
    torch.testing.assert_close(found, context_whiten(z, eps=eps), rtol=0, atol=1e-4 * eps**-0.1)


def test_a_padding_mask_is_exported_with_the_layer() -> None:
    class Padded(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = ContextNorm(8)

        def forward(self, z: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            return self.norm(z, padding_mask=mask)

    module, z = Padded().double(), drawn(5, 3, 8)
    mask = torch.zeros(5, 3, dtype=torch.bool)
    mask[1, 2] = mask[2, 0] = True
    program = torch.export.export(module, (z, mask))
    torch.testing.assert_close(program.module()(z, mask), module(z, mask), rtol=1e-9, atol=1e-9)
