"""Training: batches, one network or a stack of them, the loop, checkpoints, evaluation."""

from farfield._exports import face
from farfield.training._evaluate import evaluate as evaluate
from farfield.training._loop import train as train
from farfield.training._networks import trained_network as trained_network

__all__ = face(vars())
