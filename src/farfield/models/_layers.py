"""Weights of the LSTM of a reasoner."""

from __future__ import annotations

from torch import Tensor, nn


def weights_of(cell: nn.LSTMCell) -> dict[str, Tensor]:
    """Return the weights and biases of an LSTM by name.

    Args:
        cell: Module that holds the weights.
    """
    return {
        "weight_ih": cell.weight_ih,
        "weight_hh": cell.weight_hh,
        "bias_ih": cell.bias_ih,
        "bias_hh": cell.bias_hh,
    }
