"""Executors of this process, and orders done elsewhere: as text there, in words or bytes back."""

from __future__ import annotations

import contextlib
import ctypes
import sys
import traceback
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from farfield.execution._job import News, OtherThereError, WorkerError, check_machine, reason_of
from farfield.execution._order import (
    Failed,
    Finished,
    Order,
    Run,
    state_from_bytes,
    state_to_bytes,
    train_order,
    train_together,
)
from farfield.records import Record, StoreError
from farfield.records.internal import DamageWarning
from farfield.training.internal import Progress, vmap_error

GLIBC: Final = "libc.so.6"
"""Library whose allocator takes the settings; only Linux has it, and not every Linux."""

_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_MAX = -1, -2, -4
_LARGE = 1 << 30


def keep_freed_memory() -> bool:
    """Tell glibc to reuse large buffers instead of mapping fresh, zeroed pages each time.

    Training on a CPU allocates the same buffers at every step; taking them from the system anew
    costs a page fault per 4 kB. Resident memory then stays at its peak until the process ends.

    Returns:
        Whether the allocator took the setting; `False` where it is not glibc's.
    """
    try:
        mallopt = ctypes.CDLL(GLIBC).mallopt
    except (OSError, AttributeError):
        return False
    settings = ((_M_MMAP_MAX, 0), (_M_TRIM_THRESHOLD, _LARGE), (_M_TOP_PAD, 64 << 20))
    return all(mallopt(name, value) == 1 for name, value in settings)


@final
@dataclass(frozen=True)
class Here:
    """Trains one network after another in this process, where a debugger reaches it.

    Args:
        device: `"cpu"` or `"cuda"`.

    Raises:
        ValueError: If the device is not available.
    """

    device: str = "cpu"

    def __post_init__(self) -> None:
        check_machine(self.device)

    def run(
        self, orders: Iterable[Order], report: Callable[[News], None]
    ) -> Generator[Finished | Failed, None, None]:
        """Train networks, as `Executor.run` does."""
        return one_after_another(orders, self.device, report)


@final
@dataclass(frozen=True)
class Stacked:
    """Trains the seeds of an experiment as one program under `vmap`.

    An experiment that cannot be mapped is trained one network after another; its record says why.

    Args:
        device: `"cpu"` or `"cuda"`.

    Raises:
        ValueError: If the device is not available.
    """

    device: str

    def __post_init__(self) -> None:
        check_machine(self.device)

    def run(
        self, orders: Iterable[Order], report: Callable[[News], None]
    ) -> Generator[Finished | Failed, None, None]:
        """Train networks, as `Executor.run` does."""
        for _, group in groupby(orders, key=lambda order: order.job.experiment.key):
            together = list(group)
            reason = vmap_error(together[0].job.experiment, self.device)
            if reason is None:
                yield _attempt(partial(train_together, device=self.device), together, report)
            else:
                engine = f"one after another: {reason}"
                yield from one_after_another(together, self.device, report, engine)


def one_after_another(
    orders: Iterable[Order],
    device: str,
    report: Callable[[News], None],
    engine: str = "one after another",
) -> Generator[Finished | Failed, None, None]:
    """Train networks in this process.

    Args:
        orders: Which ones.
        report: Takes the progress.
        engine: Words on the execution and its reason, for the records.
    """

    def work(orders: list[Order], report: Callable[[Progress], None]) -> list[Run]:
        return [train_order(one, device=device, engine=engine, report=report) for one in orders]

    for order in orders:
        yield _attempt(work, [order], report)


def _attempt(
    work: Callable[..., list[Run]], orders: list[Order], report: Callable[[News], None]
) -> Finished | Failed:
    """Train networks; an error says where it came from, but holds no network and data there."""
    jobs = tuple(order.job for order in orders)
    try:
        runs = work(orders, report=lambda progress: report(News(job=jobs[0], progress=progress)))
    except (Exception, SystemExit) as error:  # noqa: BLE001 — the other jobs must still run
        traceback.clear_frames(error.__traceback__)
        return Failed(jobs, error)
    return Finished(jobs, tuple(runs))


Answer = tuple[Record, bytes | Path] | WorkerError
"""Answer to an order: a record with the trained network, or its file; or the reason for none."""

Outcomes = Generator[tuple[Sequence[Order], Finished | Failed], None, None]
"""Outcomes, each with its orders."""


def do_orders(
    texts: Sequence[str],
    paths: Sequence[str],
    device: str,
    engine: str,
    report: Callable[[News], None],
    *,
    announce: Callable[[str], None] = lambda _: None,
    arrays: Mapping[str, np.ndarray[Any, Any]] | None = None,
    together: bool = False,
) -> list[Answer]:
    """Do orders in a worker; whatever goes wrong is returned, in words.

    Args:
        texts: The orders, as `Order.to_json` gave them.
        paths: Where modules of the user's are looked for.
        device: Where the networks are.
        engine: Words on the execution, for the records.
        report: Takes the progress.
        announce: Takes the name of a module before it is imported, and nothing after it.
        arrays: Arrays of the user's that the texts lack, by digest.
        together: Train seeds of one experiment as one program, where that can be.
    """
    sys.path[:] = paths
    try:
        orders = [Order.from_json(text, announce, arrays or {}) for text in texts]
        if together:
            outcomes = [*Stacked(device).run(orders, report)]
        else:
            outcomes = [*one_after_another(orders, device, report, engine)]
    except BaseException as error:  # noqa: BLE001 — whatever it was, the parent must hear of it
        return [in_words(error)] * len(texts)
    return [answer for outcome in outcomes for answer in _answers(outcome)]


def _answers(outcome: Finished | Failed) -> list[Answer]:
    if isinstance(outcome, Failed):
        return [in_words(outcome.error)] * len(outcome.jobs)
    return [(record, state_to_bytes(weights)) for record, weights in outcome.runs]


def in_words(error: BaseException) -> WorkerError:
    """Convert an error of a worker for another process.

    Args:
        error: The error.
    """
    if isinstance(error, OtherThereError):
        return error
    trace = "" if isinstance(error, StoreError) else "".join(traceback.format_exception(error))
    return WorkerError(reason_of(error), trace)


@contextlib.contextmanager
def damage_to(take: Callable[[DamageWarning], None]) -> Iterator[None]:
    """Give warnings of damage to `take`, and not to standard error.

    Args:
        take: Takes each of them.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("always", DamageWarning)
        show = warnings.showwarning

        def warn(message: Warning | str, category: type[Warning], *where: Any, **to: Any) -> None:
            if isinstance(message, DamageWarning):
                take(message)
            else:
                show(message, category, *where, **to)

        warnings.showwarning = warn
        yield


def outcomes_of(
    orders: Sequence[Order], answers: Sequence[Answer]
) -> Iterator[tuple[Sequence[Order], Finished | Failed]]:
    """List outcomes of orders that were done together: finished runs, then failures.

    Args:
        orders: The orders.
        answers: Answers of the worker, in the same order.
    """
    finished = [(order, found) for order, found in zip(orders, answers, strict=True)
                if not isinstance(found, WorkerError)]  # fmt: skip
    if finished:
        runs = tuple((record, state_from_bytes(_content(given))) for _, (record, given) in finished)
        done = [order for order, _ in finished]
        yield done, Finished(tuple(order.job for order in done), runs)
    for order, found in zip(orders, answers, strict=True):
        if isinstance(found, WorkerError):
            yield [order], Failed((order.job,), found)


def _content(weights: bytes | Path) -> bytes:
    """Read the bytes of a trained network, and remove their file."""
    if not isinstance(weights, Path):
        return weights
    content = weights.read_bytes()
    weights.unlink()
    return content


def or_here(
    outcomes: Outcomes, device: str, report: Callable[[News], None]
) -> Generator[Finished | Failed, None, None]:
    """Yield outcomes, and at the end outcomes of orders that only this process can do.

    Args:
        outcomes: Those of other processes.
        device: Where the networks are in this one.
        report: Takes the progress.
    """
    here = list[tuple[Order, str]]()
    with contextlib.closing(outcomes):
        for orders, outcome in outcomes:
            if isinstance(outcome, Failed) and isinstance(outcome.error, OtherThereError):
                here += [(order, str(outcome.error)) for order in orders]
            else:
                yield outcome
    for order, reason in here:
        yield from one_after_another([order], device, report, f"one after another: {reason}")
