"""One single-threaded process per core: how many networks train on a CPU."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from typing import Final, final

from farfield._interrupts import held_interrupts
from farfield.core import from_line, to_line
from farfield.execution._imports import import_paths
from farfield.execution._job import Job, News, OtherThereError, WorkerError
from farfield.execution._messages import Answer, Order, foreign, order
from farfield.records import DamageWarning, Store
from farfield.training import Clock

_START: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from farfield.execution._worker import main; main()"
)
"""Program of a worker: a variable of the environment could not hold a folder with a colon."""


@final
class _Worker:
    """A worker process and the pipes to it.

    Args:
        paths: Where it finds modules.
        fatal: Modules of the user's that end the process which imports them, and how; shared by
            workers, and added to by this one.
    """

    def __init__(self, paths: Sequence[str], fatal: dict[str, WorkerError]) -> None:
        self._fatal = fatal
        threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        with held_interrupts():  # they are for the parent
            self._process = subprocess.Popen(
                # Without -P files of the current folder would stand before all modules.
                [sys.executable, "-P", "-c", _START, json.dumps(paths)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, **threads},
            )

    def do(self, message: Order, take: Callable[[Answer], None]) -> WorkerError | None:
        """Do one order; returns what went wrong, or nothing."""
        if self._process.stdin is None or self._process.stdout is None:
            return WorkerError("the worker process has no pipes")
        for module, _ in message.classes.values():
            if module in self._fatal:
                return self._fatal[module]
        importing = ""
        try:
            self._process.stdin.write(to_line(message).encode() + b"\n")
            self._process.stdin.flush()
            for line in self._process.stdout:
                answer = from_line(line, Answer)
                if answer.done:
                    return None
                if answer.error:
                    kind = OtherThereError if answer.is_other else WorkerError
                    return kind(answer.error, answer.traceback)
                if answer.importing is None:
                    take(answer)
                else:
                    importing = answer.importing
        except (OSError, ValueError) as error:
            self._process.kill()  # whatever it does, nobody will hear of it
            self._process.wait()
            return WorkerError(f"the pipe to the worker process broke: {error}")
        return self._ended(importing)

    def _ended(self, importing: str) -> WorkerError:
        """How the process ended, and the module of the user's that it imported at its end."""
        code = self._process.wait()
        why = f"signal {-code}" if code < 0 else f"exit status {code}"
        when = f" while it imported {importing}" if importing else "; its last checkpoint is kept"
        memory = "; the system sends it when memory runs out" if code == -9 else ""
        error = WorkerError(f"the worker process ended ({why}){when}{memory}")
        if importing and code >= 0:
            self._fatal[importing] = error
        return error

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def stop(self) -> None:
        """End the process; a run in progress goes on from its checkpoint another time."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()


def run_processes(
    jobs: Sequence[Job],
    store: Store,
    *,
    workers: int,
    report: Callable[[News], None] | None = None,
    clock: Clock | None = None,
) -> list[tuple[Job, WorkerError]]:
    """Train every job, `workers` at a time, each in a single-threaded process.

    Args:
        jobs: What to run.
        store: Where the records go.
        workers: Number of processes.
        report: Takes the news, in this thread.
        clock: How often to report and to save.

    Returns:
        The jobs that failed, and why; the others are done and kept.
    """
    waiting: queue.SimpleQueue[Job] = queue.SimpleQueue()
    for job in jobs:
        waiting.put(job)
    news: queue.SimpleQueue[News | tuple[Job, WorkerError] | str | None] = queue.SimpleQueue()
    count = min(workers, len(jobs))
    engine = f"{count} single-threaded processes"
    folder = str(store.folder.resolve())
    paths = import_paths(cls for job in jobs for cls in foreign(job.experiment))
    fatal: dict[str, WorkerError] = {}
    crew = [_Worker(paths, fatal) for _ in range(count)]
    hiring, closed = threading.Lock(), threading.Event()

    def replace_dead(place: int) -> None:
        with hiring:
            if not closed.is_set() and not crew[place].alive:
                crew[place].stop()
                crew[place] = _Worker(paths, fatal)

    def serve(place: int) -> None:
        while not closed.is_set():
            try:
                job = waiting.get_nowait()
            except queue.Empty:
                break
            replace_dead(place)

            def take(answer: Answer, job: Job = job) -> None:
                news.put(answer.warning or News(job=job, progress=answer.progress()))

            trouble = crew[place].do(order(job, folder, engine, clock or Clock()), take)
            news.put((job, trouble) if trouble else News(job=job))
        news.put(None)

    threads = [threading.Thread(target=serve, args=(k,), daemon=True) for k in range(count)]
    try:
        for thread in threads:
            thread.start()
        return _follow(news, count, report)
    finally:
        with hiring:
            closed.set()
            for worker in crew:
                worker.stop()


def _follow(
    news: queue.SimpleQueue[News | tuple[Job, WorkerError] | str | None],
    count: int,
    report: Callable[[News], None] | None,
) -> list[tuple[Job, WorkerError]]:
    """Pass the news on until every worker is at its end; returns the jobs that failed."""
    failed = []
    while count:
        item = news.get()
        if item is None:
            count -= 1
        elif isinstance(item, tuple):
            failed.append(item)
        elif isinstance(item, str):
            warnings.warn(item, DamageWarning, stacklevel=2)
        elif report:
            report(item)
    return failed
