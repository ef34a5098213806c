"""A worker process: takes jobs on its standard input, trains on one thread, answers in JSON."""

from __future__ import annotations

import os
import queue
import signal
import threading
import traceback
import warnings
from typing import Any, BinaryIO

from farfield.core import from_line, to_line
from farfield.execution._allocator import keep_freed_memory
from farfield.execution._here import run_one
from farfield.execution._job import Job, OtherThereError, reason_of
from farfield.execution._messages import Answer, Order, experiment_of
from farfield.records import BusyError, DamageWarning, Store, StoreError
from farfield.training import Clock, Progress


def _read_orders(pipe: BinaryIO, orders: queue.SimpleQueue[bytes]) -> None:
    """Queue what the parent sends; end the process when the parent is gone."""
    for line in pipe:
        orders.put(line)
    os._exit(1)


def _private_pipes() -> tuple[BinaryIO, BinaryIO]:
    """The pipes from and to the parent.

    Whatever else the process reads is empty, and whatever else it prints goes to standard error.
    """
    pipes = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return pipes


def main() -> None:
    """Do orders until the parent closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # on Windows the parent could not hold it back
    keep_freed_memory()
    source, pipe = _private_pipes()
    orders: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read_orders, args=(source, orders), daemon=True).start()

    def answer(message: Answer) -> None:
        pipe.write(to_line(message).encode() + b"\n")
        pipe.flush()

    def report(progress: Progress) -> None:
        answer(
            Answer(
                step=progress.step,
                steps=progress.steps,
                score=progress.score,
                seconds=progress.seconds,
                diverged=progress.diverged,
            )
        )

    show = warnings.showwarning

    def warn(message: Warning | str, category: type[Warning], *where: Any, **to: Any) -> None:
        if issubclass(category, DamageWarning):
            answer(Answer(warning=str(message)))
        else:
            show(message, category, *where, **to)

    warnings.showwarning = warn  # those of damage are for the parent to show
    warnings.simplefilter("always", DamageWarning)
    while True:
        message = from_line(orders.get(), Order)
        try:
            experiment = experiment_of(message, lambda name: answer(Answer(importing=name)))
            job = Job(experiment=experiment, seed=message.seed)
            run_one(
                job,
                Store(message.folder),
                device="cpu",
                engine=message.engine,
                report=report,
                clock=Clock(
                    report_seconds=message.report_seconds,
                    checkpoint_seconds=message.checkpoint_seconds,
                ),
            )
        except (BusyError, StoreError) as error:
            answer(Answer(error=str(error)))
        except BaseException as error:  # noqa: BLE001 — whatever it was, the parent must hear of it
            answer(
                Answer(
                    error=reason_of(error),
                    traceback="".join(traceback.format_exception(error)),
                    is_other=isinstance(error, OtherThereError),
                )
            )
        else:
            answer(Answer(done=True))
