"""`device` and `dtype`, as torch's own modules take them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from farfield.functional.internal import NFMRules
from farfield.models import (
    CNN13,
    SRCNN,
    AnchoredRegression,
    BottleneckMLP,
    DigitCNN,
    PreActResNet,
    PreActResNetNFM,
    QuickCNN,
    ResNet,
    WideResNet,
)
from farfield.nn import (
    AnalogyEncoder,
    BatchContextNorm,
    ComponentEncoder,
    ContextNorm,
    ConvEncoder,
    DivisiveNorm1d,
    DivisiveNorm2d,
    DualAttention,
    FrameEncoder,
    GroupAttentionConvolution,
    GroupNorm,
    ImageBatchNorm,
    InstanceNorm,
    LayerNorm,
    LinearEncoder,
    MapNormalizer,
    MisalignedContextNorm,
    MLPEncoder,
    MomentEncoder,
    NeuralInterpreter,
    PanelEncoder,
    PatchEncoder,
    PlanesEncoder,
    PooledBatchNorm,
    PoseEncoder,
    PositionalSymbols,
    PreNormTransformer,
    RandomEncoder,
    RelationalConvolution,
    RelationalCrossAttention,
    RelativeSymbols,
    SilhouetteEncoder,
    SlidingContextNorm,
    SlotAttention,
    SlotBatchNorm,
    SubBatchNorm,
    SymbolLibrary,
)
from farfield.nn.internal import (
    FrameDecoder,
    LinearDecoder,
    LineOfCode,
    ModAttn,
    ModLin,
    ModMLP,
    PastNorm,
    RelativePosition,
    Script,
    SequenceNorm,
    TimeStepNorm,
    TypeInference,
)
from made import generator

SIZES: dict[type[nn.Module], tuple[object, ...]] = {
    BatchContextNorm: (4,),
    ContextNorm: (4,),
    GroupNorm: (2, 4),
    ImageBatchNorm: (4,),
    InstanceNorm: (4,),
    LayerNorm: (4,),
    MisalignedContextNorm: (4,),
    PastNorm: (4,),
    PooledBatchNorm: (4,),
    PoseEncoder: ((8, 8),),
    SequenceNorm: (4,),
    SlidingContextNorm: (4,),
    SlotBatchNorm: (4,),
    SubBatchNorm: (4,),
    DivisiveNorm1d: (4, 3),
    DivisiveNorm2d: (4, 3),
}
DRAWN: dict[type[nn.Module], tuple[object, ...]] = {
    AnalogyEncoder: ((16, 16, 3),),
    BottleneckMLP: ((2,), 2),
    ComponentEncoder: (),
    ConvEncoder: ((8, 8),),
    FrameDecoder: ((8, 8),),
    FrameEncoder: ((8, 8),),
    LinearDecoder: ((2, 2), 3),
    LinearEncoder: ((2, 2),),
    LineOfCode: (8, 4),
    MLPEncoder: ((8, 8),),
    ModAttn: (8, 4),
    ModLin: (3, 2, 4),
    ModMLP: ((3, 2), 4),
    MomentEncoder: ((8, 8, 3),),
    NeuralInterpreter: (8,),
    PanelEncoder: ((8, 8),),
    PatchEncoder: ((2, 4, 4),),
    PlanesEncoder: ((2, 5, 6),),
    PreNormTransformer: (8,),
    PositionalSymbols: (8,),
    RelativeSymbols: (8,),
    SymbolLibrary: (8,),
    RelationalCrossAttention: (8,),
    RelationalConvolution: (8,),
    GroupAttentionConvolution: (8,),
    DualAttention: (8,),
    SlotAttention: (8,),
    RandomEncoder: ((8, 8),),
    RelativePosition: ((2, 2), 2, 3, 4),
    Script: (8,),
    SilhouetteEncoder: ((8, 8, 3),),
    TypeInference: (4, 3),
}
BUILDS: dict[str, Callable[..., nn.Module]] = {
    **{
        cls.__name__: lambda cls=cls, sizes=sizes, **options: cls(*sizes, **options)
        for cls, sizes in SIZES.items()
    },
    **{
        cls.__name__: lambda cls=cls, sizes=sizes, **options: cls(
            *sizes, generator=generator(), **options
        )
        for cls, sizes in DRAWN.items()
    },
    "CNN13": lambda **options: CNN13((12, 12), 2, width=2, generator=generator(), **options),
    "PreActResNet": lambda **options: PreActResNet(
        (4, 4), 2, width=2, generator=generator(), **options
    ),
    "QuickCNN": lambda **options: QuickCNN(
        (8, 8), 2, width=2, normalizer=MapNormalizer(affine=True), generator=generator(), **options
    ),
    "DigitCNN": lambda **options: DigitCNN((4, 4), 2, width=8, generator=generator(), **options),
    "AnchoredRegression": lambda **options: AnchoredRegression(
        num_anchors=2, num_components=2, **options
    ),
    "SRCNN": lambda **options: SRCNN(channels=(2, 2), generator=generator(), **options),
    "ResNet": lambda **options: ResNet(
        (4, 4), 2, depth=8, width=2, generator=generator(), **options
    ),
    "PreActResNetNFM": lambda **options: PreActResNetNFM(
        (4, 4),
        2,
        rules=NFMRules(space_to_depth=False),
        passes=1,
        width=2,
        generator=generator(),
        **options,
    ),
    "WideResNet": lambda **options: WideResNet(
        (4, 4), 2, depth=10, widen_factor=1, generator=generator(), **options
    ),
    "DivisiveNorm1d, learned": lambda **options: DivisiveNorm1d(
        4, 3, affine=True, learned_sigma=True, **options
    ),
    "PooledBatchNorm, training": lambda **options: PooledBatchNorm(
        4, training_statistics=True, learned_sigma=True, **options
    ),
    "TimeStepNorm": lambda **options: TimeStepNorm(4, 3, sample=2, **options),
}


@pytest.mark.parametrize("name", BUILDS)
def test_weights_are_the_same_wherever_and_whatever_they_are(name: str) -> None:
    build = BUILDS[name]
    plain, wide, empty = build(), build(dtype=torch.float64), build(device="meta")
    assert {tensor.dtype for tensor in wide.state_dict().values()} <= {torch.float64, torch.int64}
    expected = plain.double().state_dict()
    assert wide.state_dict().keys() == expected.keys()
    for key, tensor in wide.state_dict().items():
        assert torch.equal(tensor.nan_to_num(), expected[key].nan_to_num())
        assert tensor.device.type == "cpu"
        assert empty.state_dict()[key].is_meta
