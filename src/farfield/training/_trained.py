"""Trained networks of finished runs."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from torch import Tensor, nn

from farfield.experiments import Experiment
from farfield.records import Record, Store, StoreError
from farfield.training._start import build_network, weights_stream


def trained_network(experiment: Experiment, seed: int, store: Store) -> nn.Module:
    """The network of a finished run, in evaluation mode, on the CPU.

    Args:
        experiment: What was run.
        seed: Number of the run.
        store: Where its weights lie.

    Raises:
        StoreError: If the weights are missing, damaged or those of another network.
    """
    path, weights = store.weights_path(experiment.key, seed), store.weights(experiment.key, seed)
    network = build_network(experiment, weights_stream(seed))
    own = network.state_dict()
    types = {n: t.dtype for n, t in weights.items() if n in own and isinstance(t, Tensor)}
    others = [f"{name} is {kind}" for name, kind in types.items() if kind != own[name].dtype]
    try:
        network.load_state_dict(weights)
    except RuntimeError as error:
        others.append(" ".join(str(error).split())[:200])
    if others:
        raise StoreError(f"{path} holds the weights of another network: {others[-1]}")
    record = store.find(experiment.key, seed)
    if record is not None and not record.weights and _is_finite(record):
        for name, parameter in network.named_parameters():
            if not parameter.isfinite().all():
                raise StoreError(f"{path} is damaged: {name} has numbers that are not finite")
    return network.eval()


def trained_weights(experiment: Experiment, seed: int, store: Store) -> dict[str, Any]:
    """The state of the network of a finished run, by name.

    Where the record has no digest of it, from before there was one, the network is built to see
    whether the state is one of its own.

    Args:
        experiment: What was run.
        seed: Number of the run.
        store: Where its weights lie.

    Raises:
        StoreError: If the weights are missing, damaged or those of another network.
    """
    weights = store.weights(experiment.key, seed)
    record = store.find(experiment.key, seed)
    if record is None or not record.weights:
        trained_network(experiment, seed, store)
    return weights


def complete_runs(runs: Iterable[tuple[Experiment, int]], store: Store) -> set[tuple[str, int]]:
    """Key and seed of those runs that are finished, and whose scores and networks can be used.

    Args:
        runs: Experiment and seed of each.
        store: Where the records are.
    """
    asked = {(experiment.key, seed): (experiment, seed) for experiment, seed in runs}
    return {
        run
        for run, digest in store.complete(asked).items()
        if digest or _is_network_of(*asked[run], store)
    }


def _is_network_of(experiment: Experiment, seed: int, store: Store) -> bool:
    """True if the trained network of a run is one of its experiment's."""
    try:
        trained_network(experiment, seed, store)
    except StoreError:
        return False
    return True


def _is_finite(record: Record) -> bool:
    """True if every score of a run is finite, as where nothing diverged."""
    return all(math.isfinite(score.value) for score in record.scores)
