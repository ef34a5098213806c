"""A trained network comes back from its record as it was scored."""

from __future__ import annotations

import dataclasses
import math
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
import torch

from farfield.execution import Here, run
from farfield.execution._order import state_from_bytes, state_to_bytes
from farfield.execution.internal import Job
from farfield.records import Store, StoreError
from farfield.records.internal import write_tensors
from farfield.training import trained_network
from farfield.training.internal import (
    complete_runs,
    problems_of_run,
    score_problems,
    trained_weights,
)
from small import small_experiment

EXPERIMENT = small_experiment(steps=6, evaluations=1)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one trained network."""
    folder = tmp_path_factory.mktemp("trained")
    run([Job(experiment=EXPERIMENT, seed=3)], Store(folder), Here())
    return folder


@pytest.fixture
def store(trained: Path, tmp_path: Path) -> Store:
    """Copy of that folder."""
    shutil.copytree(trained, tmp_path, dirs_exist_ok=True)
    return Store(tmp_path)


def test_a_trained_network_scores_what_its_record_says(store: Store) -> None:
    network = trained_network(EXPERIMENT, 3, store)
    assert not network.training
    record = store.find(EXPERIMENT.key, 3)
    for regime, problems in problems_of_run(EXPERIMENT.task, 3).items():
        scores, losses = score_problems(network, EXPERIMENT.task, problems)
        assert float(scores.double().mean()) == record.final(regime)
        assert float(losses.double().mean()) == pytest.approx(record.final(regime, "loss"), 1e-6)


def test_weights_are_in_the_order_of_the_network(store: Store) -> None:
    wanted = [*trained_network(EXPERIMENT, 3, store).state_dict()]
    assert wanted != sorted(wanted)
    assert [*store.weights(EXPERIMENT.key, 3)] == wanted
    assert [*trained_weights(EXPERIMENT, 3, store)] == wanted


def test_a_state_keeps_its_order_between_processes() -> None:
    state = {"b.weight": torch.ones(2), "b._extra_state": [1, "x"], "a": torch.zeros(3)}
    found = state_from_bytes(state_to_bytes(state))
    assert [*found] == [*state]
    assert found["b._extra_state"] == [1, "x"]


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


State = dict[str, torch.Tensor]


def planted(state: State) -> State:
    return state | {name: torch.full_like(t, torch.nan) for name, t in [*state.items()][-1:]}


def in_half(state: State) -> State:
    return {name: tensor.half() for name, tensor in state.items()}


def without_one(state: State) -> State:
    return dict([*state.items()][1:])


@pytest.mark.parametrize("change", [planted, in_half, without_one])
@pytest.mark.parametrize("is_signed", [True, False], ids=["with a digest", "from before"])
def test_weights_that_are_not_the_run_s_do_not_count(
    store: Store, change: Callable[[State], State], is_signed: bool
) -> None:
    key, path = EXPERIMENT.key, store.weights_path(EXPERIMENT.key, 3)
    record, weights = store.find(key, 3), store.weights(key, 3)
    if not is_signed:
        database = store.folder / "records.sqlite"  # as format 1 was
        with closing(sqlite3.connect(database)) as connection, connection:
            connection.execute("ALTER TABLE runs DROP COLUMN weights")
            connection.execute("ALTER TABLE runs DROP COLUMN digest")
            connection.execute("PRAGMA user_version = 1")
        connection.close()
        assert store.find(key, 3) == msgspec.structs.replace(record, weights="")
    assert complete_runs([(EXPERIMENT, 3)], store)
    write_tensors(path, change(weights))
    assert not complete_runs([(EXPERIMENT, 3)], store)
    for read in (trained_network, trained_weights):
        with pytest.raises(StoreError, match=r"3\.safetensors"):
            read(EXPERIMENT, 3, store)


def test_a_network_of_old_that_diverged_counts(store: Store) -> None:
    key, path = EXPERIMENT.key, store.weights_path(EXPERIMENT.key, 3)
    record, weights = store.find(key, 3), store.weights(key, 3)
    worst = [msgspec.structs.replace(score, value=math.nan) for score in record.scores]
    path.unlink()
    store.write(msgspec.structs.replace(record, scores=tuple(worst)), planted(weights))
    assert complete_runs([(EXPERIMENT, 3)], store)
    assert not complete_runs([(EXPERIMENT, 4)], store)
