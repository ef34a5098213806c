"""Names of `farfield.models` for Farfield itself; they may change in any release."""

from typing import Final

from torch import nn

from farfield import models
from farfield._exports import exported
from farfield.core.internal import EncodesItems as EncodesItems
from farfield.core.internal import EncodesWithPart as EncodesWithPart
from farfield.models._abilities import CarriesState as CarriesState
from farfield.models._abilities import EncodesToSets as EncodesToSets
from farfield.models._abilities import FitsAtOnce as FitsAtOnce
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
from farfield.models._items import ItemModel as ItemModel
from farfield.models._items import SetModel as SetModel
from farfield.models._maps._map_encoders import ConvMaps as ConvMaps
from farfield.models._maps._map_encoders import DenseMaps as DenseMaps
from farfield.models._maps._map_encoders import OutlineMaps as OutlineMaps
from farfield.models._maps._map_model import MapModel as MapModel
from farfield.models._maps._object_reader import ObjectReader as ObjectReader
from farfield.models._maps._readers import MLPReader as MLPReader
from farfield.models._maps._readers import PresenceReader as PresenceReader
from farfield.models._maps._readers import RNReader as RNReader
from farfield.models._object_prediction import NextEmbedding as NextEmbedding
from farfield.models._object_prediction import ObjectAutoencoder as ObjectAutoencoder
from farfield.models._object_prediction import ObjectPredictor as ObjectPredictor
from farfield.models._object_prediction import RollOut as RollOut
from farfield.models._recurrent_scorers import LayerNormLSTMScorer as LayerNormLSTMScorer
from farfield.models._recurrent_scorers import RNNScorer as RNNScorer
from farfield.models._selective_scorer import SelectiveScorer as SelectiveScorer
from farfield.models._sequence_model import SequenceModel as SequenceModel
from farfield.models._sequence_reasoners import LastState as LastState
from farfield.models._token_reader import TokenReader as TokenReader

CLASSIFIERS: Final[dict[str, type[nn.Module]]] = {
    "preact-resnet": models.PreActResNet,
    "preact-resnet-nfm": models.PreActResNetNFM,
    "wide-resnet": models.WideResNet,
    "cnn-13": models.CNN13,
    "digit-cnn": models.DigitCNN,
    "quick-cnn": models.QuickCNN,
    "resnet": models.ResNet,
    "mlp": models.BottleneckMLP,
}
"""Classifiers of single items by their name on the command line."""

RESTORERS: Final[dict[str, type[nn.Module]]] = {
    "anchored-regression": models.AnchoredRegression,
    "srcnn": models.SRCNN,
}
"""Networks from images to sharper images by their name on the command line."""

MAP_READERS: Final[dict[str, type[nn.Module]]] = {
    "mlp-reader": MLPReader,
    "presence-reader": PresenceReader,
    "rn-reader": RNReader,
}
"""Readers of maps by their name on the command line."""

SCORERS: Final[dict[str, type[nn.Module]]] = {
    "layer-norm-lstm-scorer": LayerNormLSTMScorer,
    "lstm-scorer": models.LSTMScorer,
    "rnn-scorer": RNNScorer,
    "set-scorer": models.SetScorer,
    "slotwise-scorer": models.SlotwiseScorer,
    "selective-scorer": SelectiveScorer,
    "sran": models.SRAN,
    "wren": models.WReN,
}
"""Scorers of candidates by their name on the command line."""

__all__ = exported(vars())
