"""A trained network comes back from its record as it was scored."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from farfield.execution import Job, run_one
from farfield.records import Store, StoreError, write_tensors
from farfield.training import problems_of_run, score_problems, trained_network
from small import small_experiment

EXPERIMENT = small_experiment(steps=6, evaluations=1)


@pytest.fixture
def store(tmp_path) -> Store:
    store = Store(tmp_path)
    run_one(Job(experiment=EXPERIMENT, seed=3), store, device="cpu", engine="here")
    return store


def test_a_trained_network_scores_what_its_record_says(store: Store) -> None:
    network = trained_network(EXPERIMENT, 3, store)
    assert not network.training
    record = store.find(EXPERIMENT.key, 3)
    for regime, problems in problems_of_run(EXPERIMENT.task, 3).items():
        scores, losses = score_problems(network, EXPERIMENT.task, problems)
        assert float(scores.double().mean()) == record.final(regime)
        assert float(losses.double().mean()) == pytest.approx(record.final(regime, "loss"), 1e-6)


def test_building_a_trained_network_draws_nothing_globally(store: Store) -> None:
    before = torch.get_rng_state()
    trained_network(EXPERIMENT, 3, store)
    assert torch.equal(torch.get_rng_state(), before)


def test_weights_that_are_missing_or_another_s_are_refused(store: Store) -> None:
    with pytest.raises(StoreError, match=r"cannot read .*4\.safetensors"):
        trained_network(EXPERIMENT, 4, store)
    bare = dataclasses.replace(EXPERIMENT.model, context=None)
    other = dataclasses.replace(EXPERIMENT, model=bare)
    path = store.weights_path(other.key, 3)
    write_tensors(path, store.weights(EXPERIMENT.key, 3))
    with pytest.raises(StoreError, match=r"3\.safetensors holds the weights of another network"):
        trained_network(other, 3, store)
