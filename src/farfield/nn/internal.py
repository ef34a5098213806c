"""Names of `farfield.nn` for Farfield itself; they may change in any release."""

from typing import Final

from torch import nn as torch_nn

from farfield import nn
from farfield._exports import exported
from farfield.nn._control._value_heads import NoisyLinear as NoisyLinear
from farfield.nn._encoders._frames import FrameDecoder as FrameDecoder
from farfield.nn._encoders._linear_encoders import LinearDecoder as LinearDecoder
from farfield.nn._images._standardizations import CenterImages as CenterImages
from farfield.nn._interpreter._modulated import ModAttn as ModAttn
from farfield.nn._interpreter._modulated import ModLin as ModLin
from farfield.nn._interpreter._modulated import ModMLP as ModMLP
from farfield.nn._interpreter._modulated import RelativePosition as RelativePosition
from farfield.nn._interpreter._script import LineOfCode as LineOfCode
from farfield.nn._interpreter._script import Script as Script
from farfield.nn._interpreter._type_inference import TypeInference as TypeInference
from farfield.nn._nfm._multi_pass import LayerRead as LayerRead
from farfield.nn._norm._image_norms import IdentityNorm as IdentityNorm
from farfield.nn._norm._sequence_norms import NormalizedSequence as NormalizedSequence
from farfield.nn._norm._sequence_norms import PastNorm as PastNorm
from farfield.nn._norm._sequence_norms import SequenceNorm as SequenceNorm
from farfield.nn._norm._sequence_norms import TimeStepNorm as TimeStepNorm
from farfield.nn._recurrent._recurrence import Placement as Placement

VALUE_HEADS: Final[dict[str, type[torch_nn.Module]]] = {"implicit-quantiles": nn.QuantileHead}
"""Layers from an embedding to the values of actions by their name on the command line."""

SET_LAYERS: Final[dict[str, type[torch_nn.Module]]] = {
    "neural-interpreter": nn.NeuralInterpreter,
    "pre-norm-transformer": nn.PreNormTransformer,
}
"""Layers from set to set by their name on the command line."""

__all__ = exported(vars())
