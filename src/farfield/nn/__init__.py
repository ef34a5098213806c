"""Mechanisms as modules, each usable in a network of one's own: normalizers, cells, encoders."""

from typing import Final

from torch import nn

from farfield._exports import face
from farfield.nn._control._value_heads import QuantileHead as QuantileHead
from farfield.nn._encoders._analogy_encoder import AnalogyEncoder as AnalogyEncoder
from farfield.nn._encoders._direction_encoder import DirectionEncoder as DirectionEncoder
from farfield.nn._encoders._encoders import ConvEncoder as ConvEncoder
from farfield.nn._encoders._encoders import MLPEncoder as MLPEncoder
from farfield.nn._encoders._encoders import RandomEncoder as RandomEncoder
from farfield.nn._encoders._frames import FrameEncoder as FrameEncoder
from farfield.nn._encoders._linear_encoders import LinearEncoder as LinearEncoder
from farfield.nn._encoders._linear_encoders import WordEncoder as WordEncoder
from farfield.nn._encoders._moment_encoder import MomentEncoder as MomentEncoder
from farfield.nn._encoders._panels import FigureEncoder as FigureEncoder
from farfield.nn._encoders._panels import PanelEncoder as PanelEncoder
from farfield.nn._encoders._planes import PlanesEncoder as PlanesEncoder
from farfield.nn._encoders._planes import PlanesNFMEncoder as PlanesNFMEncoder
from farfield.nn._encoders._pose_encoder import PoseEncoder as PoseEncoder
from farfield.nn._encoders._set_encoders import ComponentEncoder as ComponentEncoder
from farfield.nn._encoders._set_encoders import PatchEncoder as PatchEncoder
from farfield.nn._encoders._silhouette_encoder import SilhouetteEncoder as SilhouetteEncoder
from farfield.nn._images._standardizations import ZCA as ZCA
from farfield.nn._images._standardizations import Standardize as Standardize
from farfield.nn._interpreter._neural_interpreter import NeuralInterpreter as NeuralInterpreter
from farfield.nn._interpreter._neural_interpreter import PreNormTransformer as PreNormTransformer
from farfield.nn._interpreter._syntax import Functions as Functions
from farfield.nn._interpreter._syntax import Instructions as Instructions
from farfield.nn._interpreter._syntax import Syntax as Syntax
from farfield.nn._interpreter._syntax import TypeMatching as TypeMatching
from farfield.nn._nfm._multi_pass import MultiPass as MultiPass
from farfield.nn._nfm._nfm import NFM as NFM
from farfield.nn._norm._context_norm import ContextNorm as ContextNorm
from farfield.nn._norm._context_norm import ContextWhitening as ContextWhitening
from farfield.nn._norm._divisive_norm import DivisiveNorm1d as DivisiveNorm1d
from farfield.nn._norm._divisive_norm import DivisiveNorm2d as DivisiveNorm2d
from farfield.nn._norm._field_norm import BatchContextNorm as BatchContextNorm
from farfield.nn._norm._field_norm import MisalignedContextNorm as MisalignedContextNorm
from farfield.nn._norm._field_norm import PooledBatchNorm as PooledBatchNorm
from farfield.nn._norm._field_norm import SlidingContextNorm as SlidingContextNorm
from farfield.nn._norm._field_norm import SlotBatchNorm as SlotBatchNorm
from farfield.nn._norm._field_norm import SubBatchNorm as SubBatchNorm
from farfield.nn._norm._image_norms import GroupNorm as GroupNorm
from farfield.nn._norm._image_norms import ImageBatchNorm as ImageBatchNorm
from farfield.nn._norm._image_norms import InstanceNorm as InstanceNorm
from farfield.nn._norm._image_norms import LayerNorm as LayerNorm
from farfield.nn._norm._image_norms import MapNormalizer as MapNormalizer
from farfield.nn._norm._statistics_match import StatisticsMatch as StatisticsMatch
from farfield.nn._recurrent._causal_transformer import CausalTransformer as CausalTransformer
from farfield.nn._recurrent._fused_layers import GRUDynamics as GRUDynamics
from farfield.nn._recurrent._fused_layers import GRULayer as GRULayer
from farfield.nn._recurrent._fused_layers import LSTMDynamics as LSTMDynamics
from farfield.nn._recurrent._fused_layers import LSTMLayer as LSTMLayer
from farfield.nn._recurrent._gated_delta_net import GatedDeltaNet as GatedDeltaNet
from farfield.nn._recurrent._gated_linear_attention import (
    GatedLinearAttention as GatedLinearAttention,
)
from farfield.nn._recurrent._holding_rnn import HoldingRNN as HoldingRNN
from farfield.nn._recurrent._linear_recurrent_unit import LinearRecurrentUnit as LinearRecurrentUnit
from farfield.nn._recurrent._mamba import Mamba as Mamba
from farfield.nn._recurrent._memory_layers import DNC as DNC
from farfield.nn._recurrent._memory_layers import EntNet as EntNet
from farfield.nn._recurrent._memory_layers import NTMLayer as NTMLayer
from farfield.nn._recurrent._memory_layers import RelationalMemoryCore as RelationalMemoryCore
from farfield.nn._recurrent._mlstm import MLSTM as MLSTM
from farfield.nn._recurrent._normalized_layers import NormalizedGRU as NormalizedGRU
from farfield.nn._recurrent._normalized_layers import NormalizedLSTM as NormalizedLSTM
from farfield.nn._recurrent._normalized_layers import NormalizedRNN as NormalizedRNN
from farfield.nn._recurrent._recurrence import PerNonlinearity as PerNonlinearity
from farfield.nn._recurrent._recurrence import PerProjection as PerProjection
from farfield.nn._recurrent._register_machine import RegisterMachine as RegisterMachine
from farfield.nn._recurrent._slstm import SLSTM as SLSTM
from farfield.nn._relations._dual_attention import DualAttention as DualAttention
from farfield.nn._relations._dual_attention import (
    DualAttentionTransformer as DualAttentionTransformer,
)
from farfield.nn._relations._relational_attention import Abstractor as Abstractor
from farfield.nn._relations._relational_attention import (
    RelationalCrossAttention as RelationalCrossAttention,
)
from farfield.nn._relations._relational_convolution import (
    GroupAttentionConvolution as GroupAttentionConvolution,
)
from farfield.nn._relations._relational_convolution import (
    RelationalConvolution as RelationalConvolution,
)
from farfield.nn._relations._slot_attention import SlotAttention as SlotAttention
from farfield.nn._relations._slot_encoder import SlotDecoder as SlotDecoder
from farfield.nn._relations._slot_encoder import SlotEncoder as SlotEncoder
from farfield.nn._relations._symbols import PositionalSymbols as PositionalSymbols
from farfield.nn._relations._symbols import RelativeSymbols as RelativeSymbols
from farfield.nn._relations._symbols import SymbolLibrary as SymbolLibrary
from farfield.nn._rims._mechanisms import Communication as Communication
from farfield.nn._rims._mechanisms import InputAttention as InputAttention
from farfield.nn._rims._mechanisms import Wiring as Wiring
from farfield.nn._rims._rims import RIMs as RIMs

ENCODERS: Final[dict[str, type[nn.Module]]] = {
    "analogy": AnalogyEncoder,
    "figure": FigureEncoder,
    "component": ComponentEncoder,
    "conv": ConvEncoder,
    "frame": FrameEncoder,
    "linear": LinearEncoder,
    "mlp": MLPEncoder,
    "moment": MomentEncoder,
    "panel": PanelEncoder,
    "patch": PatchEncoder,
    "planes": PlanesEncoder,
    "planes-nfm": PlanesNFMEncoder,
    "pose": PoseEncoder,
    "random": RandomEncoder,
    "silhouette": SilhouetteEncoder,
    "direction": DirectionEncoder,
    "slot": SlotEncoder,
    "word": WordEncoder,
}
"""Encoders by their name on the command line."""

CONTEXTS: Final[dict[str, type[nn.Module]]] = {
    "norm": ContextNorm,
    "whitening": ContextWhitening,
    "slot-batch-norm": SlotBatchNorm,
    "pooled-batch-norm": PooledBatchNorm,
    "batch-context-norm": BatchContextNorm,
    "sub-batch-norm": SubBatchNorm,
    "misaligned-context-norm": MisalignedContextNorm,
    "sliding-context-norm": SlidingContextNorm,
    "layer-norm": LayerNorm,
}
"""Normalizations over the context of a problem by their name on the command line."""

SEQUENCE_LAYERS: Final[dict[str, type[nn.Module]]] = {
    "lstm": LSTMLayer,
    "gru": GRULayer,
    "holding-rnn": HoldingRNN,
    "register-machine": RegisterMachine,
    "ntm": NTMLayer,
    "dnc": DNC,
    "relational-memory-core": RelationalMemoryCore,
    "entnet": EntNet,
    "causal-transformer": CausalTransformer,
    "linear-recurrent-unit": LinearRecurrentUnit,
    "gated-linear-attention": GatedLinearAttention,
    "gated-delta-net": GatedDeltaNet,
    "mlstm": MLSTM,
    "slstm": SLSTM,
    "mamba": Mamba,
    "rims": RIMs,
}
"""Layers over sequences by their name on the command line."""

__all__ = face(vars())
