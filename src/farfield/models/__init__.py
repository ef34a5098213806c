"""Architectures as published, assembled from the mechanisms of `farfield.nn`."""

from typing import Final

from torch import nn

from farfield._exports import face
from farfield.models._agents import ActorCritic as ActorCritic
from farfield.models._agents import QuantileAgent as QuantileAgent
from farfield.models._images._anchored_regression import (
    AnchoredRegression as AnchoredRegression,
)
from farfield.models._images._cnn13 import CNN13 as CNN13
from farfield.models._images._discriminators import ResNetDiscriminator as ResNetDiscriminator
from farfield.models._images._gan import GAN as GAN
from farfield.models._images._generators import ResNetGenerator as ResNetGenerator
from farfield.models._images._preact_resnet import PreActResNet as PreActResNet
from farfield.models._images._preact_resnet_nfm import PreActResNetNFM as PreActResNetNFM
from farfield.models._images._resnet import ResNet as ResNet
from farfield.models._images._small_networks import BottleneckMLP as BottleneckMLP
from farfield.models._images._small_networks import DigitCNN as DigitCNN
from farfield.models._images._small_networks import QuickCNN as QuickCNN
from farfield.models._images._srcnn import SRCNN as SRCNN
from farfield.models._images._wide_resnet import WideResNet as WideResNet
from farfield.models._likeness_net import LikenessNet as LikenessNet
from farfield.models._matrix_scorers import SRAN as SRAN
from farfield.models._matrix_scorers import SetScorer as SetScorer
from farfield.models._matrix_scorers import WReN as WReN
from farfield.models._memory_reasoners import ESBN as ESBN
from farfield.models._memory_reasoners import MNM as MNM
from farfield.models._memory_reasoners import NTM as NTM
from farfield.models._recurrent_scorers import LSTMScorer as LSTMScorer
from farfield.models._recurrent_scorers import SlotwiseScorer as SlotwiseScorer
from farfield.models._relational_readers import AbstractorNet as AbstractorNet
from farfield.models._relational_readers import RelConvNet as RelConvNet
from farfield.models._relations import RN as RN
from farfield.models._relations import TRN as TRN
from farfield.models._relations import CoRelNet as CoRelNet
from farfield.models._relations import DeepSets as DeepSets
from farfield.models._relations import PrediNet as PrediNet
from farfield.models._sequence_model import PacedSequence as PacedSequence
from farfield.models._sequence_model import ResizedSequence as ResizedSequence
from farfield.models._sequence_reasoners import LSTM as LSTM
from farfield.models._sequence_reasoners import Transformer as Transformer
from farfield.models._slot_reasoners import OCRA as OCRA
from farfield.models._slot_reasoners import SlotAbstractor as SlotAbstractor

REASONERS: Final[dict[str, type[nn.Module]]] = {
    "abstractor": AbstractorNet,
    "corelnet": CoRelNet,
    "deep-sets": DeepSets,
    "esbn": ESBN,
    "lstm": LSTM,
    "mnm": MNM,
    "ntm": NTM,
    "ocra": OCRA,
    "predinet": PrediNet,
    "relational-convolution": RelConvNet,
    "rn": RN,
    "slot-abstractor": SlotAbstractor,
    "transformer": Transformer,
    "trn": TRN,
}
"""Reasoners by their name on the command line."""

__all__ = face(vars())
