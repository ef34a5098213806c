"""Running of missing experiments: runs are ordered, locked and written here alone."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from functools import partial

import torch

from farfield.core.internal import NonNegativeInt, check_arguments, kind_of, num_cores
from farfield.execution._executors import Stacked
from farfield.execution._job import (
    ExecutionError,
    Job,
    News,
    WorkerError,
    check_machine,
    check_matmul,
    distinct_jobs,
    log_divergence,
    reason_of,
)
from farfield.execution._modules import check_no_worker
from farfield.execution._order import Executor, Failed, Finished, Order
from farfield.execution._processes import Processes
from farfield.execution._progress import note_progress
from farfield.experiments import Experiment
from farfield.objectives.internal import teacher_warning
from farfield.records import Record, Store, StoreError
from farfield.records.internal import DamageWarning
from farfield.training.internal import (
    Clock,
    Matmul,
    changed_inputs,
    complete_runs,
    trained_weights,
    words_of,
)


def jobs_of(experiments: Iterable[Experiment], seeds: Iterable[int]) -> list[Job]:
    """List every seed of every experiment, experiment by experiment, each once.

    Args:
        experiments: The experiments.
        seeds: Numbers of the runs, from 0 on: a list, a range, an array.

    Raises:
        ValueError: If a seed is not an integer ≥ 0, or something is not an experiment.
    """
    found = kind_of(tuple[Experiment, ...]).take("experiments", experiments)
    numbers = kind_of(tuple[NonNegativeInt, ...]).take("seeds", seeds)
    return distinct_jobs(Job(experiment=one, seed=seed) for one in found for seed in numbers)


@check_arguments
def run(
    jobs: Iterable[Job],
    store: Store,
    executor: Executor | None = None,
    *,
    device: str = "cpu",
    workers: int | None = None,
    report: Callable[[News], None] | None = None,
    clock: Clock | None = None,
    matmul: Matmul = "float32",
) -> None:
    """Train the networks without a record, and write their records.

    A record that is damaged, or whose network is, does not count: a `DamageWarning` names it, the
    network is trained anew, and its file, under another name, and its record replaced. Where an
    experiment starts from networks of another, those are trained first, unless they are kept
    already.

    On a CPU, one single-threaded process per core; on a GPU, the seeds of an experiment as one
    program under `vmap`, or one after another in each of `workers` processes; elsewhere if an
    executor is given. An experiment that cannot be sent to another process or mapped runs here, one
    network after another; the record's `environment["engine"]` says how, and why. A network whose
    loss is not finite is logged as a warning at once, with experiment, seed and step; it is trained
    to the end, and its record says so (`Record.diverged`).

    Scripts, notebooks, threads and coroutines can call it alike. A script needs no guard
    (`if __name__ == "__main__":`); a module of one's own that an experiment takes classes from does
    where it starts runs, as worker processes import it.

    Args:
        jobs: The jobs.
        executor: Where networks are trained; chosen by `device` and `workers` if `None`.
        device: `"cpu"` or `"cuda"`.
        workers: Number of processes; if `None`, as many as there are cores, and none on a GPU.
        report: Takes the news of every job, and of those that others start from, in this thread.
        clock: How often to report and to save.
        matmul: How a GPU multiplies matrices of float32: exactly, or with `"tf32"` rounded
            first, which is faster. Records of a GPU say which (`environment["matmul"]`).

    Raises:
        ValueError: If an argument is of another type, the device is not available, `workers` is
            not positive, either is given beside an executor, a CPU is asked for TF32, the classes
            of an experiment were changed since its key was taken, or a recorded run has read
            files that are others now.
        ExecutionError: If some runs did not finish (one failed, or another process is at it); those
            that did are kept. Its cause is the first error raised in this process, if there is one.
        WorkerError: If this is a worker process, which imports a module that starts runs.
        StoreError: If the folder of records cannot be used.
    """
    check_no_worker()
    if executor is not None and (device, workers) != ("cpu", None):
        raise ValueError("executor must be given without device and workers, got them as well")
    check_machine(device, workers)
    if executor is None:
        check_matmul(matmul, device)
    jobs = distinct_jobs(jobs)
    report = note_progress(_warn_of_inputs(log_divergence(report)), store, len(jobs))
    missing = _incomplete(jobs, store)
    _check_files([job for job in jobs if job not in missing], missing, store)
    for job in jobs:
        if job not in missing:
            store.sweep(job.experiment.key, job.seed)
            report(News(job=job, found=True))
    _warn_of_teachers(missing)
    failed: dict[Job, BaseException] = {}
    waves = _waves(missing, store)
    for wave in waves:
        failed |= {job: WorkerError(_UNREADY) for job in wave if _before(job) in failed}
        ready = [job for job in wave if job not in failed]
        chosen = executor or _executor_for(device, workers, len(ready))
        order_of = partial(_order, store=store, clock=clock or Clock(), matmul=matmul)
        failed |= _run_wave(ready, store, chosen, report, order_of)
    _raise_failures(failed, sum(map(len, waves)))


def _warn_of_inputs(report: Callable[[News], None]) -> Callable[[News], None]:
    """Wrap a report of news: it also warns, once an experiment, of inputs that its key lacks.

    Args:
        report: Takes the news.
    """
    warned = set[str]()

    def take(news: News) -> None:
        record, key = news.record, news.job.experiment.key
        words = words_of(record.files, record.environment.get("inputs", "")) if record else ()
        if words and key not in warned:
            warned.add(key)
            more = f" and {len(words) - SHOWN:,} more" if len(words) > SHOWN else ""
            text = (
                f"experiment {key} has read inputs that its key lacks: "
                f"{'; '.join(words[:SHOWN])}{more}; its records say so"
            )
            warnings.warn(text, UserWarning, stacklevel=2)
        report(news)

    return take


def _warn_of_teachers(jobs: Iterable[Job]) -> None:
    """Warn, once per rule and number of steps, of teachers near their untrained weights.

    Args:
        jobs: Networks to train.
    """
    texts = dict.fromkeys(
        teacher_warning(player.objective, job.experiment.recipe.steps * player.repeats)
        for job in jobs
        for turn in job.experiment.turns
        for player in turn
    )
    for text in filter(None, texts):
        warnings.warn(text, UserWarning, stacklevel=3)


def _executor_for(device: str, workers: int | None, jobs: int) -> Executor:
    """Choose the executor of a number of networks on a device."""
    if workers is None and torch.device(device).type != "cpu":
        return Stacked(device)
    return Processes(max(1, min(workers or num_cores(), jobs)), device)


def _check_files(found: Iterable[Job], missing: Iterable[Job], store: Store) -> None:
    """Raise `ValueError` if a run that is recorded has read other files than there are now.

    Of an experiment with a missing run all recorded runs are compared, or its seeds would differ.
    """
    asked = dict.fromkeys(found)
    for job in [*asked, *missing]:
        first = _before(job)
        while first is not None:  # it has read files as well
            asked[first], first = None, _before(first)
    for experiment in {job.experiment.key: job.experiment for job in missing}.values():
        seeds = sorted(store.seeds(experiment.key))
        asked |= {Job(experiment=experiment, seed=seed): None for seed in seeds}
    runs = [(job.experiment.key, job.seed) for job in asked]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DamageWarning)  # whoever trains them anew says so
        records = store.find_all(runs)
    known: dict[tuple[str, str], list[str]] = {}
    for job, record in zip(asked, records, strict=True):
        if record is None or not record.files:
            continue
        place = record.key, record.environment["files"]
        if place not in known:
            known[place] = changed_inputs(job.experiment, record.files)
        if known[place]:
            raise ValueError(
                f"files must be those that seed {job.seed} of experiment {record.key} "
                f"({job.experiment.task.name}) was trained on, got others: "
                f"{'; '.join(known[place][:SHOWN])}. Put the old ones back, give another folder "
                f"for records, or remove the run: farfield runs delete {record.key[:12]} --yes"
            )


SHOWN = 3
"""Most reasons that an error names."""

_UNREADY = "the run that it starts from did not finish"


def _before(job: Job) -> Job | None:
    """Find the job whose network a job starts from."""
    first = job.experiment.starts_from
    return None if first is None else Job(experiment=first.experiment, seed=job.seed)


def _incomplete(jobs: Iterable[Job], store: Store) -> dict[Job, None]:
    """List the jobs that are to be run, in order."""
    jobs = [*jobs]
    complete = complete_runs([(job.experiment, job.seed) for job in jobs], store)
    return {job: None for job in jobs if (job.experiment.key, job.seed) not in complete}


def _waves(missing: Iterable[Job], store: Store) -> list[list[Job]]:
    """Sort jobs by the order in which they can run, with the jobs that they start from."""
    waves, wanted = list[list[Job]](), missing
    while wanted:
        waves.insert(0, [*wanted])
        firsts = dict.fromkeys(first for job in wanted if (first := _before(job)) is not None)
        wanted = _incomplete(firsts, store)
    taken: set[Job] = set()
    for place, wave in enumerate(waves):
        waves[place] = [job for job in wave if job not in taken]
        taken.update(wave)
    return waves


def _run_wave(
    jobs: Sequence[Job],
    store: Store,
    executor: Executor,
    report: Callable[[News], None],
    order_of: Callable[[Job], Order],
) -> dict[Job, BaseException]:
    """Run jobs, write finished runs, and return the failed jobs with their errors."""
    failed: dict[Job, BaseException] = {}
    held: dict[Job, ExitStack] = {}
    places: dict[str, int] = {}
    in_succession = sorted(jobs, key=lambda job: places.setdefault(job.experiment.key, len(places)))

    def orders() -> Iterator[Order]:
        for job in in_succession:
            held[job] = ExitStack()
            try:
                held[job].enter_context(store.lock(job.experiment.key, job.seed))
                order = None if _is_done(job, store) else order_of(job)
            except Exception as error:  # noqa: BLE001 — the other jobs must still run
                failed[job] = error
                held.pop(job).close()
                continue
            if order is None:  # another process finished it after this one looked
                held.pop(job).close()
                report(News(job=job))
            else:
                yield order

    try:
        with closing(executor.run(orders(), report)) as outcomes:
            for outcome in outcomes:
                error = outcome.error if isinstance(outcome, Failed) else _write(outcome, store)
                if error is not None:
                    failed |= dict.fromkeys(outcome.jobs, error)
                runs = outcome.runs if isinstance(outcome, Finished) else ()
                records = {record.seed: record for record, _ in runs}
                for job in outcome.jobs:
                    held.pop(job).close()
                    if job not in failed:
                        report(News(job=job, record=records[job.seed]))
    finally:
        for lock in held.values():
            lock.close()
    return failed


def _is_done(job: Job, store: Store) -> bool:
    """Tell if a run is finished; its other files are removed, or set aside where damaged."""
    key, seed = job.experiment.key, job.seed
    if not store.is_recorded(key, seed):
        return False
    try:
        trained_weights(job.experiment, seed, store)
    except StoreError as error:
        store.set_aside(key, seed, str(error))
        return False
    store.sweep(key, seed)
    return True


def _order(job: Job, store: Store, clock: Clock, matmul: Matmul) -> Order:
    """Build the order for a job, with the trained network that it starts from."""
    before = _before(job)
    return Order(
        job=job,
        start=None if before is None else trained_weights(before.experiment, before.seed, store),
        checkpoint=store.checkpoint_path(job.experiment.key, job.seed),
        clock=clock,
        matmul=matmul,
    )


def _write(outcome: Finished, store: Store) -> Exception | None:
    """Write finished runs at once, then remove their checkpoints; returns the error, if any."""
    try:
        store.write_all(outcome.runs)
    except Exception as error:  # noqa: BLE001 — the other jobs must still run
        return error
    for job in outcome.jobs:
        store.sweep(job.experiment.key, job.seed)
    return None


def _raise_failures(failed: Mapping[Job, BaseException], asked: int) -> None:
    """Raise an error if jobs failed, with the tracebacks of workers."""
    if not failed:
        return
    by_reason = {reason_of(error): error for error in reversed([*failed.values()])}
    by_reason.pop(_UNREADY, None)
    shown = sorted(by_reason)[:SHOWN]
    raised = ExecutionError(
        f"{len(failed)} of {asked} runs did not finish: {'; '.join(shown)}. "
        "Finished runs are kept; the same command goes on with the rest"
    )
    for reason in shown:
        error = by_reason[reason]
        if isinstance(error, WorkerError) and error.traceback:
            raised.add_note(f"In a worker process: {error.traceback.rstrip()}")
    raise raised from next((e for e in failed.values() if not isinstance(e, WorkerError)), None)


@check_arguments
def results(jobs: Iterable[Job], store: Store) -> list[Record]:
    """Read the records of jobs that are done.

    Args:
        jobs: The jobs.

    Raises:
        ExecutionError: If a job has no record.
    """
    found = []
    runs = [(job.experiment.key, job.seed) for job in jobs]
    for (key, seed), record in zip(runs, store.find_all(runs), strict=True):
        if record is None:
            raise ExecutionError(f"seed {seed} of {key} has no record")
        found.append(record)
    return found
