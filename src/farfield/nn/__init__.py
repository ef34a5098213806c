"""Mechanisms as modules, each usable in a network of one's own: normalizers, cells, encoders."""

from typing import Final

from torch import nn

from farfield.nn._analogy_encoder import AnalogyEncoder as AnalogyEncoder
from farfield.nn._context_norm import ContextNorm as ContextNorm
from farfield.nn._context_whitening import ContextWhitening as ContextWhitening
from farfield.nn._encoders import ConvEncoder as ConvEncoder
from farfield.nn._encoders import MLPEncoder as MLPEncoder
from farfield.nn._encoders import RandomEncoder as RandomEncoder
from farfield.nn._normalized_gru import NormalizedGRU as NormalizedGRU
from farfield.nn._normalized_lstm import NormalizedLSTM as NormalizedLSTM
from farfield.nn._normalized_rnn import NormalizedRNN as NormalizedRNN
from farfield.nn._placements import PerNonlinearity as PerNonlinearity
from farfield.nn._placements import PerProjection as PerProjection
from farfield.nn._placements import Placement as Placement

ENCODERS: Final[dict[str, type[nn.Module]]] = {
    "analogy": AnalogyEncoder,
    "conv": ConvEncoder,
    "mlp": MLPEncoder,
    "random": RandomEncoder,
}
"""Encoders by their name on the command line."""

CONTEXTS: Final[dict[str, type[nn.Module]]] = {"norm": ContextNorm, "whitening": ContextWhitening}
"""Normalizations over the context of a problem by their name on the command line."""

__all__ = [
    "CONTEXTS",
    "ENCODERS",
    "AnalogyEncoder",
    "ContextNorm",
    "ContextWhitening",
    "ConvEncoder",
    "MLPEncoder",
    "NormalizedGRU",
    "NormalizedLSTM",
    "NormalizedRNN",
    "PerNonlinearity",
    "PerProjection",
    "Placement",
    "RandomEncoder",
]
