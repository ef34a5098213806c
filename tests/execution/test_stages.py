"""Experiments that start from others: what is run before, again, or not at all."""

from __future__ import annotations

import dataclasses
import os
import signal
import warnings
from pathlib import Path

import pytest
import torch

from farfield.execution import ExecutionError, Executor, Here, Stacked, jobs_of, results, run
from farfield.execution import vmap_error as why_not
from farfield.execution._run import _waves
from farfield.execution.internal import Job, News
from farfield.experiments import Pretrained
from farfield.records import Store
from farfield.records.internal import DamageWarning, read_tensors
from farfield.training import train, trained_network
from farfield.training.internal import Clock, OneNetwork
from processes import workers
from small import prediction_experiment, reconstruction_experiment

FIRST, SECOND = reconstruction_experiment(), prediction_experiment()
THIRD = dataclasses.replace(SECOND, starts_from=Pretrained(experiment=SECOND))


def wave(jobs: list[Job]) -> list[tuple[str, int]]:
    names = {FIRST.key: "first", SECOND.key: "second", THIRD.key: "third"}
    return [(names[job.experiment.key], job.seed) for job in jobs]


def test_what_others_start_from_is_run_first_and_recorded_for_itself(tmp_path: Path) -> None:
    store, news = Store(tmp_path), list[News]()
    jobs = jobs_of([SECOND], (0, 1))
    run(jobs, store, workers=1, report=news.append)
    done = [item.job for item in news if item.progress is None]
    assert {*wave(done[:2])} == {("first", 0), ("first", 1)}
    assert {*wave(done[2:])} == {("second", 0), ("second", 1)}
    for job, record in zip(jobs, results(jobs, store), strict=True):
        first = store.weights(FIRST.key, job.seed)
        learner = OneNetwork(SECOND, job.seed, start=first)
        [scores], _ = train(learner, SECOND)
        assert {*record.scores} == {*scores}
        kept = store.weights(SECOND.key, job.seed)
        for name, tensor in learner.weights()[0].items():
            assert torch.equal(kept[name], tensor), name
        for name, tensor in first.items():
            assert torch.equal(kept[name], tensor), name
        again = trained_network(SECOND, job.seed, store).state_dict()
        assert all(torch.equal(again[name], kept[name]) for name in kept)
    assert [record.seed for record in store.records(FIRST.key)] == [0, 1]


def test_waves_hold_each_job_once_behind_what_it_starts_from(tmp_path: Path) -> None:
    store = Store(tmp_path)
    jobs = jobs_of([THIRD, FIRST, SECOND], (0, 1))
    assert [wave(part) for part in _waves(jobs, store)] == [
        [("first", 0), ("first", 1)],
        [("second", 0), ("second", 1)],
        [("third", 0), ("third", 1)],
    ]
    run([Job(experiment=FIRST, seed=1)], store, Here())
    assert [wave(part) for part in _waves(jobs_of([SECOND], (0, 1)), store)] == [
        [("first", 0)],
        [("second", 0), ("second", 1)],
    ]


def test_what_is_recorded_runs_nothing_before_it(tmp_path: Path) -> None:
    store, news = Store(tmp_path), list[News]()
    jobs = jobs_of([SECOND], (0,))
    run(jobs, store, Here())
    store.weights_path(FIRST.key, 0).unlink()
    run(jobs, store, workers=1, report=news.append)
    assert [(item.job, item.found) for item in news] == [(jobs[0], True)]
    assert not store.weights_path(FIRST.key, 0).exists()


@pytest.mark.parametrize("damage", ["missing", "cut short", "no record"])
def test_a_first_stage_that_is_not_whole_is_run_again(tmp_path: Path, damage: str) -> None:
    store = Store(tmp_path)
    run(jobs_of([FIRST], (0,)), store, Here())
    [record] = store.records(FIRST.key)
    path = store.weights_path(FIRST.key, 0)
    whole = path.read_bytes()
    assert store.is_complete(FIRST.key, 0)
    if damage == "missing":
        path.unlink()
    elif damage == "cut short":
        path.write_bytes(whole[:-40])
    else:
        (tmp_path / "records.sqlite").unlink()
        store = Store(tmp_path)
    assert not store.is_complete(FIRST.key, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DamageWarning)
        run(jobs_of([SECOND], (0,)), store, Here())
    assert path.read_bytes() == whole
    assert len(store.records(SECOND.key)) == 1
    [again] = store.records(FIRST.key)
    assert (again.weights, again.scores) == (record.weights, record.scores)


def test_killed_in_the_first_stage_it_goes_on_and_ends_with_the_same_bytes(tmp_path: Path) -> None:
    first = reconstruction_experiment(steps=40)
    second = dataclasses.replace(
        SECOND, starts_from=Pretrained(experiment=first, include=("encoder", "decoder"))
    )
    store, jobs = Store(tmp_path / "killed"), jobs_of([second], (0,))
    clock = Clock(report_seconds=-1.0, checkpoint_seconds=-1.0)

    def kill(news: News) -> None:
        if news.progress and news.progress.step == 5:
            os.kill(workers(os.getpid())[0], signal.SIGKILL)

    with pytest.raises(ExecutionError, match=r"2 of 2 runs did not finish: .*signal 9"):
        run(jobs, store, workers=1, report=kill, clock=clock)
    assert '"step":' in read_tensors(store.checkpoint_path(first.key, 0))[1]
    whole = Store(tmp_path / "whole")
    for folder in (store, whole):
        run(jobs, folder, Here())
    for key in (first.key, second.key):
        found, expected = (f.weights_path(key, 0).read_bytes() for f in (store, whole))
        assert found == expected


def test_what_starts_from_a_run_that_failed_is_not_tried(tmp_path: Path) -> None:
    store, news = Store(tmp_path), list[News]()
    jobs = jobs_of([SECOND], (0, 1))
    with (
        store.lock(FIRST.key, 1),
        pytest.raises(ExecutionError, match=r"2 of 4 runs did not finish: process \d+ is at"),
    ):
        run(jobs, store, Here(), report=news.append)
    assert [record.seed for record in store.records(SECOND.key)] == [0]
    assert ("second", 1) not in wave([item.job for item in news])


@pytest.mark.parametrize("executor", [Here(), Stacked("cpu")], ids=["here", "stacked"])
@pytest.mark.parametrize("damage", ["missing", "another's"])
def test_what_it_starts_from_is_lost_meanwhile_and_that_is_said(
    tmp_path: Path, executor: Executor, damage: str
) -> None:
    store = Store(tmp_path)
    paths = [store.weights_path(FIRST.key, seed) for seed in (0, 1)]

    def spoil(news: News) -> None:
        if news.job == Job(experiment=FIRST, seed=1) and news.record is not None:
            paths[1].unlink()
            if damage != "missing":
                paths[1].write_bytes(paths[0].read_bytes())

    why = "cannot read .*1.safetensors" if damage == "missing" else "it is not the file that the"
    with pytest.raises(ExecutionError, match=rf"1 of 4 runs did not finish: .*{why}"):
        run(jobs_of([SECOND], (0, 1)), store, executor, report=spoil)
    assert [record.seed for record in store.records(SECOND.key)] == [0]


def test_seeds_of_one_program_start_from_their_own(tmp_path: Path) -> None:
    # The way of a GPU, on this machine's CPU.
    store, jobs = Store(tmp_path), jobs_of([SECOND], (0, 1))
    assert why_not(SECOND, "cpu") is None
    run(jobs, store, Stacked("cpu"))
    for record in results(jobs, store):
        assert record.environment["engine"] == "vmap over 2 seeds"
        first, second = (store.weights(e.key, record.seed) for e in (FIRST, SECOND))
        assert all(torch.equal(second[name], tensor) for name, tensor in first.items())


def test_other_parts_or_another_start_are_other_experiments() -> None:
    keys = {
        FIRST.key,
        SECOND.key,
        THIRD.key,
        dataclasses.replace(SECOND, starts_from=None).key,
        dataclasses.replace(SECOND, starts_from=Pretrained(experiment=FIRST)).key,
    }
    assert len(keys) == 5
