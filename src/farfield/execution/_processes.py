"""Executor of single-threaded processes, one per core."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnContext, SpawnProcess
from types import ModuleType
from typing import Any, Final, final

from farfield._interrupts import held_interrupts
from farfield.core.internal import num_cores
from farfield.execution._executors import (
    Answer,
    Outcomes,
    damage_to,
    do_orders,
    keep_freed_memory,
    or_here,
    outcomes_of,
)
from farfield.execution._job import News, OtherThereError, WorkerError, check_machine
from farfield.execution._modules import foreign, import_paths, spawn_error
from farfield.execution._order import Failed, Finished, Order
from farfield.records.internal import DamageWarning
from farfield.training.internal import Progress


@final
@dataclass(frozen=True)
class Processes:
    """Trains networks in processes of this machine, each single-threaded.

    Several processes share a GPU: a small network leaves most of it idle, since its process needs
    longer to ask for the arithmetic than the GPU needs for it. An experiment that cannot be
    sent to another process is trained in this one at the end; its record says why.

    Args:
        workers: Number of processes; as many as there are cores if `None`.
        device: `"cpu"` or `"cuda"`.

    Raises:
        ValueError: If `workers` is not positive, or the device is not available.
    """

    workers: int | None = None
    device: str = "cpu"

    def __post_init__(self) -> None:
        check_machine(self.device, self.workers)

    def run(
        self, orders: Iterable[Order], report: Callable[[News], None]
    ) -> Generator[Finished | Failed, None, None]:
        """Train networks, as `Executor.run` does."""
        return or_here(self._run_elsewhere(orders, report), self.device, report)

    def _run_elsewhere(self, orders: Iterable[Order], report: Callable[[News], None]) -> Outcomes:
        count = self.workers or num_cores()
        source, fatal = iter(orders), dict[str, WorkerError]()
        idle, busy = list[_Worker](), dict[Any, _Worker]()
        try:
            while True:
                while len(busy) < count and (order := next(source, None)) is not None:
                    if error := _refusal(order, fatal):
                        yield [order], Failed((order.job,), error)
                        continue
                    worker = idle.pop() if idle and idle[-1].is_alive else _Worker(fatal)
                    busy[worker.news] = worker
                    worker.begin(order, self.device, f"{count} single-threaded processes")
                if not busy:
                    return
                for news in wait([*busy]):
                    if answer := busy[news].take(report):
                        worker = busy.pop(news)
                        idle.append(worker)
                        yield from outcomes_of([worker.order], [answer])
        finally:
            with held_interrupts():  # a second Ctrl-C would leave locks of the system behind
                for worker in [*idle, *busy.values()]:
                    worker.stop()


def _refusal(order: Order, fatal: Mapping[str, WorkerError]) -> WorkerError | None:
    """Find the error of a job that no worker needs to try, or None."""
    classes = foreign(order.job.experiment)
    if reason := spawn_error(classes):
        return OtherThereError(reason)
    return next((fatal[cls.__module__] for cls in classes if cls.__module__ in fatal), None)


@final
class _Worker:
    """A pool of one process, for a pool of several is lost as a whole if one of them is killed.

    Args:
        fatal: Modules of the user's that end the process which imports them, and how; shared by
            workers, and added to by this one.
    """

    def __init__(self, fatal: dict[str, WorkerError]) -> None:
        self._fatal = fatal
        self._context = _Context()
        self.news, self._end = self._context.Pipe(duplex=False)
        with _environment_of_workers():  # its locks start a process of Python's that tracks them
            self._pool = ProcessPoolExecutor(
                1, mp_context=self._context, initializer=_begin, initargs=(self._end,)
            )

    def begin(self, order: Order, device: str, engine: str) -> None:
        """Give the process an order; its news end with the outcome."""
        self.order, self._importing = order, ""
        paths = import_paths(foreign(order.job.experiment))
        self._future: Future[Answer]
        try:
            self._future = self._pool.submit(_train, order.to_json(), paths, device, engine)
        except BrokenProcessPool as error:  # it was killed since `is_alive`
            self._future = Future()
            self._future.set_exception(error)
        self._end.close()  # the process has its own, so that the pipe ends when the process does

    def take(self, report: Callable[[News], None]) -> Answer | None:
        """Take one piece of news; returns the answer if it was the last."""
        try:
            item = self.news.recv()
        except (EOFError, OSError):
            item = None
        if item is None:
            return self._answer()
        if isinstance(item, Progress):
            report(News(job=self.order.job, progress=item))
        elif isinstance(item, DamageWarning):
            warnings.warn(item, stacklevel=2)
        else:
            self._importing = item
        return None

    def _answer(self) -> Answer:
        try:
            return self._future.result()
        except BrokenProcessPool:
            return self._ended()

    def _ended(self) -> WorkerError:
        """Describe the end of the process, with the module of the user's that it imported then."""
        self.stop()
        code = (self._context.process and self._context.process.exitcode) or 0
        kept = "; its last checkpoint is kept"
        when = f" while it imported {self._importing}" if self._importing else kept
        error = WorkerError(f"the worker process ended ({_status(code)}){when}{_advice(code)}")
        if self._importing and code >= 0:
            self._fatal[self._importing] = error
        return error

    @property
    def is_alive(self) -> bool:
        """True if the process, which has nothing to do, still runs."""
        return not self.news.closed and not self.news.poll()

    def stop(self) -> None:
        """End the process; a run in progress goes on from its checkpoint another time."""
        if self._context.process:
            self._context.process.kill()
        self._pool.shutdown()
        self.news.close()


def _status(code: int) -> str:
    """Describe the exit code of a process; a negative code is a signal's."""
    return f"signal {-code}" if code < 0 else f"exit status {code}"


def _advice(code: int) -> str:
    """Reason for the signal of an exit code, where the system has that signal."""
    killed = hasattr(signal, "SIGKILL") and code == -signal.SIGKILL
    return "; the system sends it when memory runs out" if killed else ""


_ENVIRONMENT: Final = {
    **dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"),
    "PYTHONSAFEPATH": "1",  # or files of the current folder would stand before all modules
}
_STARTING: Final = threading.Lock()


@contextlib.contextmanager
def _environment_of_workers() -> Iterator[None]:
    """Context manager: environment variables of workers, for processes started in the block."""
    with _STARTING:
        before = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
        os.environ.update(_ENVIRONMENT)
        try:
            yield
        finally:
            for name in _ENVIRONMENT:
                del os.environ[name]
            os.environ.update(before)


@final
class _Process(SpawnProcess):
    """A process that does not run the script of its parent again, and hears of no Ctrl-C.

    `multiprocessing` would import the script, for the classes there. Nothing of it is needed, and a
    script without a guard (`if __name__ == "__main__":`) would start its runs again.
    """

    def start(self) -> None:
        with _environment_of_workers(), held_interrupts():
            main = sys.modules["__main__"]
            sys.modules["__main__"] = ModuleType("__main__")
            try:
                super().start()
            finally:
                sys.modules["__main__"] = main


@final
class _Context(SpawnContext):
    """Makes one process, and remembers it."""

    process: _Process | None = None

    def Process(self, *args: Any, **options: Any) -> _Process:  # type: ignore[override] # noqa: N802
        self.process = _Process(*args, **options)
        return self.process


_NEWS: Final = list[Connection]()
"""Pipe of a worker to its parent."""


def _begin(news: Connection) -> None:
    """Make this process a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # on Windows the parent could not hold it back
    threading.Thread(target=_end_with_parent, daemon=True).start()
    keep_freed_memory()
    os.dup2(2, 1)  # the prints of a module go to standard error
    _NEWS.append(news)


def _end_with_parent() -> None:
    """Wait for the end of the parent, however it ends, and end this process."""
    if parent := multiprocessing.parent_process():
        parent.join()
    os._exit(1)


def _train(text: str, paths: Sequence[str], device: str, engine: str) -> Answer:
    """Do an order in a worker."""
    [news] = _NEWS
    try:
        with damage_to(news.send):
            [answer] = do_orders(
                [text], paths, device, engine, lambda item: news.send(item.progress),
                announce=news.send,
            )  # fmt: skip
        return answer
    finally:
        news.send(None)
