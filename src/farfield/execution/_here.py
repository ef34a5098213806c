"""Executors of this process: one network after another, or all seeds as one program."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import final

from farfield.execution._job import News, check_machine
from farfield.execution._order import (
    Failed,
    Finished,
    Order,
    Run,
    train_order,
    train_together,
)
from farfield.training import Progress, vmap_error


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

    What cannot be mapped is trained one network after another; its record says why.

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
        engine: What their records say of how they ran, and why so.
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
