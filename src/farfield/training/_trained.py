"""A trained network, from what its run left."""

from __future__ import annotations

from torch import nn

from farfield.core import stream
from farfield.experiments import Experiment
from farfield.records import Store, StoreError


def trained_network(experiment: Experiment, seed: int, store: Store) -> nn.Module:
    """The network of a finished run, in evaluation mode, on the CPU.

    Args:
        experiment: What was run.
        seed: Number of the run.
        store: Where its weights lie.

    Raises:
        StoreError: If the weights are missing, damaged or those of another network.
    """
    weights = store.weights(experiment.key, seed)
    network = experiment.model.build(experiment.task, stream(seed, "weights"))
    try:
        network.load_state_dict(weights)
    except RuntimeError as error:
        path = store.weights_path(experiment.key, seed)
        reason = " ".join(str(error).split())[:200]
        raise StoreError(f"{path} holds the weights of another network: {reason}") from error
    return network.eval()
