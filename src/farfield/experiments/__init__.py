"""Experiments and recipes: frozen, hashable, JSON in and out."""

from farfield._exports import face
from farfield.experiments._experiment import Experiment as Experiment
from farfield.experiments._experiment import Perturbation as Perturbation
from farfield.experiments._experiment import Pretrained as Pretrained
from farfield.experiments._experiment import Recipe as Recipe
from farfield.experiments._image_networks import GANNetwork as GANNetwork
from farfield.experiments._image_networks import ItemNetwork as ItemNetwork
from farfield.experiments._image_networks import Passes as Passes
from farfield.experiments._networks import AgentNetwork as AgentNetwork
from farfield.experiments._networks import ByHand as ByHand
from farfield.experiments._networks import Network as Network
from farfield.experiments._networks import QuantileNetwork as QuantileNetwork
from farfield.experiments._networks import ScoringNetwork as ScoringNetwork
from farfield.experiments._networks import SequenceNetwork as SequenceNetwork
from farfield.experiments._networks import SetNetwork as SetNetwork
from farfield.experiments._optimizers import SGD as SGD
from farfield.experiments._optimizers import Adam as Adam
from farfield.experiments._optimizers import AdamW as AdamW
from farfield.experiments._optimizers import Constant as Constant
from farfield.experiments._optimizers import Cosine as Cosine
from farfield.experiments._optimizers import Halving as Halving
from farfield.experiments._optimizers import Linear as Linear
from farfield.experiments._optimizers import Optimizer as Optimizer
from farfield.experiments._optimizers import Player as Player
from farfield.experiments._optimizers import RMSprop as RMSprop
from farfield.experiments._optimizers import Schedule as Schedule
from farfield.experiments._optimizers import Steps as Steps
from farfield.experiments._optimizers import Warmup as Warmup
from farfield.experiments._search import Choice as Choice
from farfield.experiments._search import Search as Search
from farfield.experiments._search import Selection as Selection
from farfield.experiments._search import Uniform as Uniform
from farfield.experiments._spec import Spec as Spec

__all__ = face(vars())
