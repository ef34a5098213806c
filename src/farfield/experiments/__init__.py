"""Experiments and recipes: frozen, hashable, JSON in and out."""

from farfield.experiments._agent_network import AgentNetwork as AgentNetwork
from farfield.experiments._agent_network import QuantileNetwork as QuantileNetwork
from farfield.experiments._arrays import array_digest as array_digest
from farfield.experiments._by_hand import ByHand as ByHand
from farfield.experiments._describe import arrays_of as arrays_of
from farfield.experiments._describe import public_path as public_path
from farfield.experiments._describe import restore as restore
from farfield.experiments._experiment import Experiment as Experiment
from farfield.experiments._experiment import Pretrained as Pretrained
from farfield.experiments._experiment import Recipe as Recipe
from farfield.experiments._experiment import source_of_value as source_of_value
from farfield.experiments._fields import field_of as field_of
from farfield.experiments._fields import with_field as with_field
from farfield.experiments._gan_network import GANNetwork as GANNetwork
from farfield.experiments._gan_network import Judge as Judge
from farfield.experiments._gan_network import LoadedNetwork as LoadedNetwork
from farfield.experiments._item_network import ItemNetwork as ItemNetwork
from farfield.experiments._map_network import MapNetwork as MapNetwork
from farfield.experiments._map_network import Passes as Passes
from farfield.experiments._networks import Architecture as Architecture
from farfield.experiments._networks import AutoencoderNetwork as AutoencoderNetwork
from farfield.experiments._networks import ForSomeTasks as ForSomeTasks
from farfield.experiments._networks import Network as Network
from farfield.experiments._networks import PredictionNetwork as PredictionNetwork
from farfield.experiments._networks import RollOutNetwork as RollOutNetwork
from farfield.experiments._networks import ScoringNetwork as ScoringNetwork
from farfield.experiments._networks import SequenceNetwork as SequenceNetwork
from farfield.experiments._optimizers import SGD as SGD
from farfield.experiments._optimizers import Adam as Adam
from farfield.experiments._optimizers import AdamW as AdamW
from farfield.experiments._optimizers import Optimizer as Optimizer
from farfield.experiments._optimizers import RMSprop as RMSprop
from farfield.experiments._owners import is_of_the_user as is_of_the_user
from farfield.experiments._owners import is_ours as is_ours
from farfield.experiments._perturbation import ChangesNetwork as ChangesNetwork
from farfield.experiments._perturbation import Perturbation as Perturbation
from farfield.experiments._players import Player as Player
from farfield.experiments._players import check_parts as check_parts
from farfield.experiments._schedules import Constant as Constant
from farfield.experiments._schedules import Cosine as Cosine
from farfield.experiments._schedules import Halving as Halving
from farfield.experiments._schedules import Linear as Linear
from farfield.experiments._schedules import Schedule as Schedule
from farfield.experiments._schedules import Steps as Steps
from farfield.experiments._schedules import Warmup as Warmup
from farfield.experiments._search import Choice as Choice
from farfield.experiments._search import Search as Search
from farfield.experiments._search import Trial as Trial
from farfield.experiments._search import Uniform as Uniform
from farfield.experiments._selection import ScoredTrial as ScoredTrial
from farfield.experiments._selection import Selection as Selection
from farfield.experiments._set_network import SetNetwork as SetNetwork
from farfield.experiments._spec import TASK_ARGUMENTS as TASK_ARGUMENTS
from farfield.experiments._spec import Spec as Spec

__all__ = [
    "SGD",
    "TASK_ARGUMENTS",
    "Adam",
    "AdamW",
    "AgentNetwork",
    "Architecture",
    "AutoencoderNetwork",
    "ByHand",
    "ChangesNetwork",
    "Choice",
    "Constant",
    "Cosine",
    "Experiment",
    "ForSomeTasks",
    "GANNetwork",
    "Halving",
    "ItemNetwork",
    "Judge",
    "Linear",
    "LoadedNetwork",
    "MapNetwork",
    "Network",
    "Optimizer",
    "Passes",
    "Perturbation",
    "Player",
    "PredictionNetwork",
    "Pretrained",
    "QuantileNetwork",
    "RMSprop",
    "Recipe",
    "RollOutNetwork",
    "Schedule",
    "ScoredTrial",
    "ScoringNetwork",
    "Search",
    "Selection",
    "SequenceNetwork",
    "SetNetwork",
    "Spec",
    "Steps",
    "Trial",
    "Uniform",
    "Warmup",
    "array_digest",
    "arrays_of",
    "check_parts",
    "field_of",
    "is_of_the_user",
    "is_ours",
    "public_path",
    "restore",
    "source_of_value",
    "with_field",
]
