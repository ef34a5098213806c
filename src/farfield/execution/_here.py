"""Runs in this process: one network after another, or all seeds as one program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

import torch

from farfield.execution._job import Job, News
from farfield.experiments import Experiment
from farfield.records import Record, Store, StoreError, environment
from farfield.training import (
    Clock,
    Learner,
    OneNetwork,
    Progress,
    Stack,
    train,
    trained_weights,
)


def run_one(
    job: Job,
    store: Store,
    *,
    device: str,
    engine: str,
    report: Callable[[Progress], None] | None = None,
    clock: Clock | None = None,
) -> None:
    """Train one network by itself and keep its record.

    Args:
        job: What to run.
        store: Where the record goes.
        device: Where the network is.
        engine: What the record says of how it ran.
        report: Shown how far it is.
        clock: How often to report and to save.

    Raises:
        BusyError: If another process is at the same run.
        StoreError: If the folder of records cannot be written, or lacks the network that the
            experiment starts from.
    """
    with store.claim(job.experiment.key, job.seed):
        if _is_done(job.experiment, job.seed, store):
            return  # another process finished it after this one looked
        [start] = _starts(job.experiment, [job.seed], store)
        learner = OneNetwork(job.experiment, job.seed, device=device, start=start)
        _finish(learner, job.experiment, store, device, engine, report, clock)


def run_stack(
    experiment: Experiment,
    seeds: Sequence[int],
    store: Store,
    *,
    device: str,
    report: Callable[[Progress], None] | None = None,
    clock: Clock | None = None,
) -> None:
    """Train the networks of several seeds as one program and keep their records.

    Args:
        experiment: What to run.
        seeds: Numbers of the runs.
        store: Where the records go.
        device: Where the networks are.
        report: Shown how far they are.
        clock: How often to report and to save.

    Raises:
        BusyError: If another process is at one of the runs.
        StoreError: If the folder of records cannot be written, or lacks a network that the
            experiment starts from.
    """
    with ExitStack() as claims:
        for seed in seeds:
            claims.enter_context(store.claim(experiment.key, seed))
        missing = [seed for seed in seeds if not _is_done(experiment, seed, store)]
        if not missing:
            return  # another process finished them after this one looked
        starts = _starts(experiment, missing, store)
        learner = Stack(experiment, missing, device=device, starts=starts)
        engine = f"vmap over {len(missing)} seeds"
        _finish(learner, experiment, store, device, engine, report, clock)


def _starts(
    experiment: Experiment, seeds: Sequence[int], store: Store
) -> list[dict[str, Any] | None]:
    """The trained networks that those of an experiment start from, by seed; `None` for none."""
    first = experiment.starts_from
    return [None if first is None else trained_weights(first.experiment, s, store) for s in seeds]


def _is_done(experiment: Experiment, seed: int, store: Store) -> bool:
    """Whether a run is finished; what it left is swept up, or set aside where it is damaged."""
    if seed not in store.seeds(experiment.key):
        return False
    try:
        trained_weights(experiment, seed, store)
    except StoreError as error:
        store.set_aside(experiment.key, seed, str(error))
        return False
    store.sweep(experiment.key, seed)
    return True


def _finish(
    learner: Learner,
    experiment: Experiment,
    store: Store,
    device: str,
    engine: str,
    report: Callable[[Progress], None] | None,
    clock: Clock | None,
) -> None:
    """Train, write one record per seed, all at once, then drop the checkpoint."""
    key = experiment.key
    checkpoint = store.checkpoint_path(key, learner.seeds[0])
    scores, seconds = train(learner, experiment, checkpoint=checkpoint, report=report, clock=clock)
    where = environment(device=str(torch.device(device)), engine=engine)
    share = seconds / len(learner.seeds)
    records = [
        Record(
            key=key,
            experiment=experiment.to_json(),
            seed=seed,
            steps=experiment.recipe.steps,
            scores=tuple(found),
            seconds=share,
            environment=where,
        )
        for seed, found in zip(learner.seeds, scores, strict=True)
    ]
    store.write_all(list(zip(records, learner.weights(), strict=True)))
    for seed in learner.seeds:
        store.sweep(key, seed)


def tell(job: Job, report: Callable[[News], None] | None) -> Callable[[Progress], None] | None:
    """A report of progress as news of a job.

    Args:
        job: Which one.
        report: Takes the news.
    """
    if report is None:
        return None
    take = report
    return lambda progress: take(News(job=job, progress=progress))
