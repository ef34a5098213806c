"""Executors of this process: one network after another, or all seeds as one program."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import final

from farfield.execution._job import News
from farfield.execution._machine import check_machine
from farfield.execution._order import (
    Failed,
    Finished,
    Order,
    Run,
    train_order,
    train_together,
)
from farfield.training import why_not_stacked


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
            reason = why_not_stacked(together[0].job.experiment, self.device)
            if reason is not None:
                yield from one_after_another(together, self.device, report, reason)
            else:
                yield _attempt(
                    together,
                    lambda orders: train_together(orders, device=self.device, report=report),
                )


def one_after_another(
    orders: Iterable[Order], device: str, report: Callable[[News], None], reason: str = ""
) -> Generator[Finished | Failed, None, None]:
    """Train networks in this process.

    Args:
        orders: Which ones.
        device: Where they are.
        report: Takes the progress.
        reason: Why they are not trained otherwise, for their records.
    """
    engine = f"one after another{': ' if reason else ''}{reason}"
    for order in orders:
        yield _attempt(
            [order],
            lambda orders: [train_order(orders[0], device=device, engine=engine, report=report)],
        )


def _attempt(
    orders: Sequence[Order], work: Callable[[list[Order]], list[Run]]
) -> Finished | Failed:
    """Train networks; an error says where it came from, but holds no network and data there."""
    jobs = tuple(order.job for order in orders)
    try:
        return Finished(jobs, tuple(work(list(orders))))
    except (Exception, SystemExit) as error:  # noqa: BLE001 — the other jobs must still run
        traceback.clear_frames(error.__traceback__)
        return Failed(jobs, error)
