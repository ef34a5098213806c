"""Experiments and recipes: frozen, hashable, JSON in and out."""

from farfield.experiments._agent_network import AgentNetwork as AgentNetwork
from farfield.experiments._arrays import array_digest as array_digest
from farfield.experiments._describe import arrays_of as arrays_of
from farfield.experiments._describe import public_path as public_path
from farfield.experiments._experiment import Experiment as Experiment
from farfield.experiments._experiment import Pretrained as Pretrained
from farfield.experiments._experiment import Recipe as Recipe
from farfield.experiments._item_network import ItemNetwork as ItemNetwork
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
from farfield.experiments._owners import is_ours as is_ours
from farfield.experiments._perturbation import Perturbation as Perturbation
from farfield.experiments._players import Player as Player
from farfield.experiments._players import check_parts as check_parts
from farfield.experiments._schedules import Constant as Constant
from farfield.experiments._schedules import Cosine as Cosine
from farfield.experiments._schedules import Halving as Halving
from farfield.experiments._schedules import Schedule as Schedule
from farfield.experiments._schedules import Steps as Steps
from farfield.experiments._schedules import Warmup as Warmup
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
    "Constant",
    "Cosine",
    "Experiment",
    "ForSomeTasks",
    "Halving",
    "ItemNetwork",
    "Network",
    "Optimizer",
    "Perturbation",
    "Player",
    "PredictionNetwork",
    "Pretrained",
    "RMSprop",
    "Recipe",
    "RollOutNetwork",
    "Schedule",
    "ScoringNetwork",
    "SequenceNetwork",
    "SetNetwork",
    "Spec",
    "Steps",
    "Warmup",
    "array_digest",
    "arrays_of",
    "check_parts",
    "is_ours",
    "public_path",
]
