"""Training: batches, one network or a stack of them, the loop, checkpoints, evaluation."""

from farfield._exports import face
from farfield.training._agent import OneAgent as OneAgent
from farfield.training._evaluate import evaluate as evaluate
from farfield.training._learner import Learner as Learner
from farfield.training._loop import train as train
from farfield.training._networks import trained_network as trained_network
from farfield.training._one_network import OneNetwork as OneNetwork
from farfield.training._stack import Stack as Stack

__all__ = face(vars())
