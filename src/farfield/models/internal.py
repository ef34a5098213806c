"""Names of `farfield.models` for Farfield itself; they may change in any release."""

from farfield._exports import exported
from farfield.core.internal import EncodesItems as EncodesItems
from farfield.core.internal import EncodesWithPart as EncodesWithPart
from farfield.models._abilities import CarriesState as CarriesState
from farfield.models._abilities import EncodesToSets as EncodesToSets
from farfield.models._abilities import HasHiddenSize as HasHiddenSize
from farfield.models._abilities import HasOutFeatures as HasOutFeatures
from farfield.models._abilities import NeedsCalibration as NeedsCalibration
from farfield.models._abilities import ReadsMemberships as ReadsMemberships
from farfield.models._abilities import width_of as width_of
from farfield.models._agents import AgentOutputs as AgentOutputs
from farfield.models._agents import HasFirstState as HasFirstState
from farfield.models._composition import AnalogyScoring as AnalogyScoring
from farfield.models._composition import Relational as Relational
from farfield.models._images._gan import FeatureNetwork as FeatureNetwork
from farfield.models._object_prediction import RollOut as RollOut
from farfield.models._token_reader import TokenReader as TokenReader

__all__ = exported(vars())
