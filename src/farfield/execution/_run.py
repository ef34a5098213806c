"""Run what is missing, however this machine does it best."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence

import torch

from farfield.core import NonNegativeInt, kind_of, num_cores
from farfield.execution._here import run_one, run_stack, tell
from farfield.execution._imports import check_no_worker, why_not_elsewhere
from farfield.execution._job import (
    ExecutionError,
    Job,
    News,
    OtherThereError,
    WorkerError,
    distinct_jobs,
    log_divergence,
    reason_of,
)
from farfield.execution._messages import foreign
from farfield.execution._processes import run_processes
from farfield.experiments import Experiment
from farfield.records import Record, Store
from farfield.training import Clock, is_complete, why_not_stacked


def jobs_of(experiments: Iterable[Experiment], seeds: Iterable[int]) -> list[Job]:
    """Every seed of every experiment, experiment by experiment, each once.

    Args:
        experiments: What to run.
        seeds: Numbers of the runs, from 0 on: a list, a range, an array.

    Raises:
        ValueError: If a seed is negative or no integer, or something is no experiment.
    """
    found = kind_of(tuple[Experiment, ...]).take("experiments", experiments)
    numbers = kind_of(tuple[NonNegativeInt, ...]).take("seeds", seeds)
    return distinct_jobs(Job(experiment=one, seed=seed) for one in found for seed in numbers)


def check_machine(device: str, workers: int | None = None) -> None:
    """Refuse a device or a number of processes that no run could have.

    Args:
        device: `"cpu"` or `"cuda"`, the latter also with a number, as in `"cuda:1"`.
        workers: Number of processes; as many as there are cores if `None`.

    Raises:
        ValueError: If the device is not at hand, or `workers` is not positive.
    """
    kind, _, number = device.partition(":")
    if device != "cpu" and not re.fullmatch(r"cuda(:\d+)?", device):
        raise ValueError(f"device must be 'cpu' or 'cuda', got {device!r}")
    if kind == "cuda" and torch.cuda.device_count() <= int(number or 0):
        raise ValueError(f"device is {device!r}, but torch finds no such GPU here; use 'cpu'")
    if workers is not None and workers < 1:
        raise ValueError(f"workers must be at least 1, got {workers}")


def run(
    jobs: Sequence[Job],
    store: Store,
    *,
    device: str = "cpu",
    workers: int | None = None,
    report: Callable[[News], None] | None = None,
    clock: Clock | None = None,
) -> None:
    """Train what has no record yet, and keep a record of each.

    A record that is damaged, or whose network is, does not count: a `DamageWarning` names it, the
    network is trained anew, and its file, under another name, and its record replaced. Where an
    experiment starts from networks of another, those are trained first, unless they are kept
    already.

    On a CPU, one single-threaded process per core; on a GPU, the seeds of an experiment as one
    program under `vmap`. What cannot be sent to another process or mapped runs here, one network
    after another; the record's `environment["engine"]` says how, and why. A network whose loss is
    not finite is logged as a warning at once, with experiment, seed and step; it is trained to the
    end, and its record says so (`Record.diverged`).

    Args:
        jobs: What to run.
        store: Where the records are.
        device: `"cpu"` or `"cuda"`.
        workers: Number of processes; as many as there are cores if `None`.
        report: Takes the news of every job, and of those that others start from, in this thread.
        clock: How often to report and to save.

    Raises:
        ValueError: If the device is not at hand, `workers` is not positive, or the classes of an
            experiment were changed since its key was taken.
        ExecutionError: If some runs did not finish (one failed, or another process is at it); those
            that did are kept. Its cause is the first error raised in this process, if there is one.
        WorkerError: If this is a worker process, which imports a module that starts runs.
        StoreError: If the folder of records cannot be used.
    """
    check_no_worker()
    check_machine(device, workers)
    jobs = distinct_jobs(jobs)
    report = log_divergence(report)
    cores = workers if workers is not None else num_cores()
    missing = []
    for job in jobs:
        if not is_complete(job.experiment, job.seed, store):
            missing.append(job)
            continue
        store.sweep(job.experiment.key, job.seed)
        report(News(job=job, found=True))
    failed: dict[Job, BaseException] = {}
    waves = _waves(missing, store)
    for wave in waves:
        failed |= {job: WorkerError(_UNREADY) for job in wave if _before(job) in failed}
        ready = [job for job in wave if job not in failed]
        if torch.device(device).type == "cpu":
            failed |= dict(_run_on_cpu(ready, store, cores, report, clock))
        else:
            failed |= dict(_run_on_gpu(ready, store, device, report, clock))
    _raise_failures(failed, sum(map(len, waves)))


SHOWN = 3
"""Most reasons that are told of runs that did not finish."""

_UNREADY = "what it starts from did not finish"


def _before(job: Job) -> Job | None:
    """The job whose network a job starts from."""
    first = job.experiment.starts_from
    return None if first is None else Job(experiment=first.experiment, seed=job.seed)


def _waves(missing: Sequence[Job], store: Store) -> list[list[Job]]:
    """Jobs in the order in which they can be run, those that others start from among them."""
    waves, wanted = list[list[Job]](), list(missing)
    while wanted:
        waves.insert(0, wanted)
        firsts = dict.fromkeys(first for job in wanted if (first := _before(job)) is not None)
        wanted = [job for job in firsts if not is_complete(job.experiment, job.seed, store)]
    taken: set[Job] = set()
    for place, wave in enumerate(waves):
        waves[place] = [job for job in wave if job not in taken]
        taken.update(wave)
    return waves


def _run_on_cpu(
    jobs: Sequence[Job],
    store: Store,
    cores: int,
    report: Callable[[News], None] | None,
    clock: Clock | None,
) -> list[tuple[Job, BaseException]]:
    """Run jobs in processes, or here; returns those that failed, and why."""
    reasons = {job: why_not_elsewhere(foreign(job.experiment)) for job in jobs}
    elsewhere = [job for job in jobs if reasons[job] is None]
    failed: list[tuple[Job, BaseException]] = []
    if elsewhere:
        for job, error in run_processes(
            elsewhere, store, workers=cores, report=report, clock=clock
        ):
            if isinstance(error, OtherThereError):
                reasons[job] = str(error)
            else:
                failed.append((job, error))
    for job in jobs:
        if reasons[job] is not None:
            engine = f"one after another: {reasons[job]}"
            failed += _try_here(job, store, "cpu", engine, report, clock)
    return failed


def _try_here(
    job: Job,
    store: Store,
    device: str,
    engine: str,
    report: Callable[[News], None] | None,
    clock: Clock | None,
) -> list[tuple[Job, BaseException]]:
    """Run a job in this process; returns it with the error if it failed."""
    try:
        run_one(job, store, device=device, engine=engine, report=tell(job, report), clock=clock)
    except (Exception, SystemExit) as error:  # noqa: BLE001 — the other jobs must still run
        return [(job, _without_locals(error))]
    if report:
        report(News(job=job))
    return []


def _without_locals(error: BaseException) -> BaseException:
    """An error that says where it came from, but no longer holds the network and data there."""
    traceback.clear_frames(error.__traceback__)
    return error


def _raise_failures(failed: Mapping[Job, BaseException], asked: int) -> None:
    """Say which jobs failed, if any did, with the tracebacks of those that failed in a worker."""
    if not failed:
        return
    by_reason = {reason_of(error): error for error in reversed([*failed.values()])}
    by_reason.pop(_UNREADY, None)
    shown = sorted(by_reason)[:SHOWN]
    raised = ExecutionError(
        f"{len(failed)} of {asked} runs did not finish: {'; '.join(shown)}. "
        "What finished is kept; the same command goes on with the rest"
    )
    for reason in shown:
        error = by_reason[reason]
        if isinstance(error, WorkerError) and error.traceback:
            raised.add_note(f"In a worker process: {error.traceback.rstrip()}")
    raise raised from next((e for e in failed.values() if not isinstance(e, WorkerError)), None)


def _run_on_gpu(
    jobs: Sequence[Job],
    store: Store,
    device: str,
    report: Callable[[News], None] | None,
    clock: Clock | None,
) -> list[tuple[Job, BaseException]]:
    """Run the seeds of each experiment as one program, or here; returns what failed, and why."""
    groups: dict[str, list[Job]] = {}
    for job in jobs:
        groups.setdefault(job.experiment.key, []).append(job)
    failed: list[tuple[Job, BaseException]] = []
    for group in groups.values():
        experiment = group[0].experiment
        reason = why_not_stacked(experiment, device)
        if reason is None:
            failed += _try_stack(group, store, device, report, clock)
        else:
            for job in group:
                engine = f"one after another: {reason}"
                failed += _try_here(job, store, device, engine, report, clock)
    return failed


def _try_stack(
    jobs: Sequence[Job],
    store: Store,
    device: str,
    report: Callable[[News], None] | None,
    clock: Clock | None,
) -> list[tuple[Job, BaseException]]:
    """Run the seeds of one experiment as one program; returns them with the error if it failed."""
    experiment, seeds = jobs[0].experiment, [job.seed for job in jobs]
    shown = tell(jobs[0], report)
    try:
        run_stack(experiment, seeds, store, device=device, report=shown, clock=clock)
    except (Exception, SystemExit) as error:  # noqa: BLE001 — the other experiments must still run
        return [(job, _without_locals(error)) for job in jobs]
    if report:
        for job in jobs:
            report(News(job=job))
    return []


def results(jobs: Sequence[Job], store: Store) -> list[Record]:
    """The records of jobs that are done.

    Args:
        jobs: What was run.
        store: Where the records are.

    Raises:
        ExecutionError: If a job has no record.
    """
    found = []
    for job in jobs:
        record = store.find(job.experiment.key, job.seed)
        if record is None:
            raise ExecutionError(f"seed {job.seed} of {job.experiment.key} has no record")
        found.append(record)
    return found
