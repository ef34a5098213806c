"""Descriptions of the arguments that many classes and functions share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

ARGUMENTS: Final[Mapping[str, str]] = {
    "batch_first": "True for `(batch, time, feature)`, False for `(time, batch, feature)`.",
    "claim": "Claim of a table or figure.",
    "device": "Device of the parameters.",
    "dtype": "Type of the parameters.",
    "embeddings": "Embeddings of the items, as `encode` returns them.",
    "experiment": "Task, network and recipe of a run.",
    "generator": "Source of random numbers, in a constructor of the initial parameters; None is "
    "torch's global generator.",
    "hidden_size": "Number of hidden units.",
    "in_features": "Number of features of an embedding that is read.",
    "index": "Row of `items` at each position of each problem.",
    "input_size": "Number of features of an input.",
    "items": "Distinct items of the problems.",
    "n": "Number of problems, at least 1.",
    "network": "Network, trained or not.",
    "num_channels": "Number of channels.",
    "num_features": "Number of features.",
    "num_outputs": "Number of outputs per problem.",
    "out_features": "Number of features of an embedding that is returned.",
    "outputs": "Outputs of the network.",
    "problems": "Problems of one regime.",
    "regime": "Name of the regime.",
    "seed": "Number of the run, at least 0.",
    "sets": "Whole sets of problems, by name.",
    "store": "Store of records and trained networks.",
    "stream": "Stream of random numbers of the run.",
    "task": "Task with its regimes and score.",
    "theme": "Colors of the figure.",
    "update": "Step of training.",
}
"""Common arguments, described once; a docstring leaves them out, or says its own meaning."""

CONSTRUCTOR: Final = (
    "Make one; `farfield.core.ARGUMENTS` and base classes describe the other arguments."
)
"""Docstring of constructors that have none."""
