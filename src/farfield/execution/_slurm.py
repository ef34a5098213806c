"""Executor of a Slurm cluster: orders as jobs that submitit sends."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

from farfield.core import NonNegativeInt, PositiveFloat, PositiveInt, check_fields
from farfield.execution._cluster import Call, Result, call_of, package, run_on
from farfield.execution._job import News, WorkerError
from farfield.execution._order import Failed, Finished, Order
from farfield.records import write_whole

PAUSE: Final = 0.5
"""Seconds between two looks at the files of jobs; Slurm itself is asked once a minute."""
TIMEOUTS: Final = 1_000_000
"""Times that a job which ran out of time is queued again; submitit asks for a number."""


@final
@dataclass(frozen=True, kw_only=True)
class Slurm:
    """Trains networks as jobs of Slurm, whose records and weights this process writes.

    All machines must see `folder` and the folder of records at the same paths. A job that is
    preempted, or runs out of time, is queued again and goes on from its checkpoint. A job that
    finished while no process waited for it is found by the next. With GPUs a job trains all seeds
    of an experiment as one program. Partition and account are taken from Slurm's own variables
    (`SBATCH_PARTITION`, `SBATCH_ACCOUNT`). Where there is no Slurm, jobs are processes of this
    machine.

    Args:
        folder: Where orders, results and logs of jobs are kept.
        cores: Cores, and threads, of a job.
        gpus: GPUs of a job.
        hours: Longest time of a job, until it is queued again.
        jobs: Most jobs in the queue at once.

    Raises:
        ValueError: If a number is not positive.
    """

    folder: Path
    cores: PositiveInt = 1
    gpus: NonNegativeInt = 0
    hours: PositiveFloat = 24.0
    jobs: PositiveInt = 100

    def __post_init__(self) -> None:
        check_fields(self)

    def run(
        self, orders: Iterable[Order], report: Callable[[News], None]
    ) -> Generator[Finished | Failed, None, None]:
        """Train networks, as `Executor.run` does; of progress, only ends are reported.

        Raises:
            ModuleNotFoundError: If submitit, an extra, is not installed.
        """
        return run_on(_Jobs(self, package("submitit")), orders, report)


@final
class _Jobs:
    """The jobs of one run.

    Args:
        asked: What a job needs.
        submitit: The package.
    """

    def __init__(self, asked: Slurm, submitit: Any) -> None:
        self.on_gpu = asked.gpus > 0
        self._asked, self._folder = asked, asked.folder.absolute()
        self._executor = submitit.AutoExecutor(self._folder, slurm_max_num_timeout=TIMEOUTS)
        self._executor.update_parameters(
            name="farfield", cpus_per_task=asked.cores, gpus_per_node=asked.gpus,
            timeout_min=math.ceil(60 * asked.hours),
        )  # fmt: skip
        is_slurm = self._executor.cluster == "slurm"
        self._job = submitit.SlurmJob if is_slurm else submitit.LocalJob
        self._notes = dict[Any, list[Path]]()

    def room(self) -> int:
        """As many as may be queued."""
        return self._asked.jobs

    def submit(self, orders: list[Order]) -> Any:
        """Queue a job, unless one that was sent before for these seeds has finished."""
        key, seeds = orders[0].job.experiment.key, [order.job.seed for order in orders]
        notes = [self._folder / f"{key}-{seed}.job" for seed in seeds]
        named = " ".join(map(str, seeds))
        sent = dict(note.read_text().split(" ", 1) for note in notes if note.is_file())
        jobs = [self._job(self._folder, job_id) for job_id in sent]
        if [*sent.values()] == [named] and jobs[0].paths.result_pickle.exists():
            (job,) = jobs
        else:
            for job in jobs:  # of a process that was killed: the new one goes on from there
                job.cancel(check=False)
            cores = self._asked.cores
            call = call_of(orders, "a Slurm job", cores, on_gpu=self.on_gpu, leave=False)
            job = self._executor.submit(_Work(), call)
            for note in notes:
                write_whole(note, f"{job.job_id} {named}".encode())
        self._notes[job] = notes
        return job

    def wait(self, calls: Mapping[Any, list[Order]], report: Callable[[News], None]) -> list[Any]:
        """Wait for the end of a job; returns the jobs that have ended."""
        del report
        while not (ended := [job for job in calls if job.done()]):
            time.sleep(PAUSE)
        return ended

    def result(self, call: Any) -> Result | WorkerError:
        """Result of a job, or the reason for none."""
        self._forget(call)
        error = call.exception()
        if error is None:
            return call.result()
        last = str(error).strip().rpartition("\n")[2]
        return WorkerError(f"the Slurm job {call.job_id} did not finish: {last}", str(error))

    def cancel(self, call: Any) -> None:
        """Take a job from the queue, or stop it; its last checkpoint is kept."""
        call.cancel(check=False)
        self._forget(call)

    def _forget(self, call: Any) -> None:
        for note in self._notes.pop(call):
            note.unlink(missing_ok=True)


@final
class _Work:
    """Work of a job, which Slurm may stop before its end and start again."""

    def __init__(self) -> None:
        self._is_stopped = False

    def __call__(self, call: Call) -> Result:
        result = call.do(lambda _: None)
        if self._is_stopped:
            sys.exit(-1)  # it met the exit that submitit had asked for, which is no result
        return result

    def checkpoint(self, call: Call) -> Any:
        """Work to queue again; submitit asks for it before it stops a job."""
        self._is_stopped = True
        return package("submitit").helpers.DelayedSubmission(_Work(), call)
