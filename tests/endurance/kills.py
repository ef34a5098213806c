"""Runs that are killed at random moments and started again, until they end: as if nothing was."""

from __future__ import annotations

import gc
import itertools
import json
import os
import random
import select
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, final

from msgspec.structs import replace

from endurance.kinds import KINDS, Kind
from farfield.execution import Executor, Finished, run
from farfield.execution.internal import Failed, Job, News, Order
from farfield.records import Store, environment
from farfield.training.internal import Clock

CLOCK = Clock(report_seconds=0.02, checkpoint_seconds=0.01)
"""Thousands of times as often as in a user's run, which is longer than these."""
EVENTS = {"open", "os.mkdir", "os.remove", "os.rename", "sqlite3.connect"}
"""What Python tells of before it touches a file."""
PAUSE = 0.004
"""Longest time between such an event and the kill that is aimed at what it begins, seconds."""
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""A folder in memory, where there is one: a process that is killed loses nothing of a disk."""


class Fault(Exception):  # noqa: N818 — it is found, not made
    """What a killed run did that one in peace does not."""


class Moment(NamedTuple):
    """When a run is killed: some seconds after its beginning, or after an event of its files.

    Attributes:
        event: Number of the event; `None` for the beginning.
        seconds: How long after it; 0 is before what the event announces is done.
    """

    event: int | None
    seconds: float


@final
@dataclass(frozen=True)
class Traced:
    """An executor that tells what it begins, and whether there is a checkpoint to go on from."""

    executor: Executor
    tell: Callable[[Job, str], None]

    def run(
        self, orders: Iterable[Order], report: Callable[[News], None]
    ) -> Generator[Finished | Failed, None, None]:
        return self.executor.run(map(self._begin, orders), report)

    def _begin(self, order: Order) -> Order:
        self.tell(order.job, "resumes" if order.checkpoint.exists() else "begins")
        return order


def sitting(kind: Kind, folder: Path, moment: Moment | None, end: int) -> None:
    """Train what is missing; every line of news goes into a pipe as soon as it is true."""

    def tell(job: Job | None, word: str) -> None:
        place = -1 if job is None else kind.jobs.index(job)
        os.write(end, f"{json.dumps([place, word])}\n".encode())

    def report(news: News) -> None:
        if news.progress is None:
            tell(news.job, "found" if news.found else "finished")
        elif news.progress.step == 1:
            tell(news.job, "first step")

    def aim() -> None:
        if not moment.seconds:
            os.kill(os.getpid(), signal.SIGKILL)
        tell(None, "aim")

    events = itertools.count()
    at_event(lambda: next(events) == (moment and moment.event) and aim(), folder)
    warnings.simplefilter("error")  # a kill damages nothing that anybody would have to be told of
    store = Store(folder)
    complete = store.complete([(job.experiment.key, job.seed) for job in kind.jobs])
    for job in kind.jobs:
        if (job.experiment.key, job.seed) in complete:
            tell(job, "complete")
    tell(None, "looked")
    run(kind.jobs, store, Traced(kind.executor, tell), report=report, clock=CLOCK)
    tell(None, f"events {next(events)}")


def at_event(act: Callable[[], object], folder: Path) -> None:
    """Call something before every event of the files in a folder, as long as the process lives."""

    def hook(name: str, arguments: tuple[Any, ...]) -> None:
        if name in EVENTS and str(folder) in str(arguments[0]):
            act()

    sys.addaudithook(hook)


def in_child(work: Callable[[int], None], moment: Moment | None) -> tuple[bool, list[list[Any]]]:
    """Do work in a process that begins as this one is, and kill it at a moment.

    Returns:
        Whether it came to its end, and its lines.
    """
    started = time.monotonic()
    start, end = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(start)
            work(end)
            status = 0
        except BaseException:  # noqa: BLE001 — of the parent's program nothing may run here
            traceback.print_exc()
        finally:
            os._exit(status)
    os.close(end)
    due = started + moment.seconds if moment and moment.event is None else float("inf")
    lines = []
    with os.fdopen(start, "rb", buffering=0) as news:
        rest = b""
        while True:
            left = None if due == float("inf") else max(0.0, due - time.monotonic())
            if not select.select([news], [], [], left)[0]:
                os.kill(child, signal.SIGKILL)
                due = float("inf")
                continue
            if not (found := news.read(1 << 16)):
                break
            *whole, rest = (rest + found).split(b"\n")
            lines += [json.loads(line) for line in whole]
            if moment and [-1, "aim"] in lines and due == float("inf"):
                due = time.monotonic() + moment.seconds
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status not in (0, -signal.SIGKILL):
        raise Fault(f"the run failed, exit status {status}")
    return status == 0, lines


@final
@dataclass
class Peace:
    """What a kind leaves where nothing is killed, and how long that takes.

    Attributes:
        seconds: Of the run.
        events: Of its files.
        left: As `leavings`.
    """

    seconds: float
    events: int
    left: dict[str, Any]

    @classmethod
    def of(cls, kind: Kind) -> Peace:
        with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
            run(kind.jobs, Store(folder), kind.executor)  # and all is loaded that is loaded late
        with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
            started = time.monotonic()
            _, lines = in_child(partial(sitting, kind, Path(folder), None), None)
            seconds = time.monotonic() - started
            left = leavings(kind, Path(folder))
        return cls(seconds=seconds, events=int(lines[-1][1].split()[1]), left=left)

    def moment(self, draw: random.Random) -> Moment:
        """A moment to kill at: half of them whenever, the others where files are touched."""
        if draw.random() < 0.5:
            return Moment(None, draw.uniform(0, self.seconds))
        return Moment(draw.randrange(self.events), draw.choice((0.0, draw.uniform(0, PAUSE))))


def leavings(kind: Kind, folder: Path) -> dict[str, Any]:
    """All that a run leaves: files of every name, and records without what no two runs share."""
    store = Store(folder)
    records = store.find_all((job.experiment.key, job.seed) for job in kind.jobs)
    left: dict[str, Any] = {
        f"record of {record.key}, seed {record.seed}": replace(
            record, seconds=0.0, environment=record.environment | {"finished": ""}
        )
        for record in records
        if record is not None
    }
    for path in folder.rglob("*"):
        if path.is_file() and path.name != "records.sqlite":
            left[str(path.relative_to(folder))] = path.read_bytes()
    return left


def compare(left: dict[str, Any], expected: dict[str, Any]) -> None:
    """Raise `Fault` for what is left over, missing or other than it should be."""
    for name in sorted(left.keys() | expected.keys()):
        if name not in expected:
            raise Fault(f"{name} is left")
        if left.get(name) != expected[name]:
            raise Fault(f"{name} {'differs' if name in left else 'is missing'}")


def check(kind: Kind, before: set[int], lines: list[list[Any]]) -> set[int]:
    """The networks that are finished after a sitting; raises `Fault` if one was lost or repeated.

    Args:
        kind: Which networks there are.
        before: Places of those that were finished before it.
        lines: What it told.
    """
    told: dict[str, set[int]] = {}
    for place, word in lines:
        told.setdefault(word, set()).add(place)
    complete = told.get("complete", set())
    if "looked" in told and (lost := before - complete):
        raise Fault(f"finished and lost: {_named(kind, lost)}")
    if again := complete & (told.get("begins", set()) | told.get("resumes", set())):
        raise Fault(f"finished and trained again: {_named(kind, again)}")
    if forgotten := told.get("resumes", set()) & told.get("first step", set()):
        raise Fault(f"begun again in spite of a checkpoint: {_named(kind, forgotten)}")
    return before | complete | told.get("finished", set())


def _named(kind: Kind, places: set[int]) -> str:
    jobs = [kind.jobs[place] for place in sorted(places)]
    return ", ".join(f"seed {job.seed} of {job.experiment.key}" for job in jobs)


def endure(kind: Kind, peace: Peace, draw: random.Random, most: int) -> int:
    """Start a run again and again until it ends; returns how often it was killed.

    Args:
        kind: What is trained.
        peace: What it leaves otherwise.
        draw: Source of the moments.
        most: Kills after which it is let be.

    Raises:
        Fault: If it does not end as in peace.
    """
    done: set[int] = set()
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        for kills in itertools.count():
            moment = peace.moment(draw) if kills < most else None
            ended, lines = in_child(partial(sitting, kind, Path(folder), moment), moment)
            done = check(kind, done, lines)
            if ended:
                break
        left = leavings(kind, Path(folder))
    compare(left, peace.left)
    return kills


def main(kills: int, seconds: float, seed: int) -> tuple[str, bool]:
    """Kill runs of all kinds in turn; returns a line in words, and whether all is well.

    Args:
        kills: How many kills there are to be.
        seconds: After which no other run begins.
        seed: Decides the moments.
    """
    runs, faults = Counter[str](), []
    environment(device="cpu", engine="")  # asks another program, once
    peaces = {name: Peace.of(kind) for name, kind in KINDS.items()}
    gc.collect()
    gc.freeze()  # or every child copies what the collector touches
    done, until = 0, time.monotonic() + seconds
    for number, name in enumerate(itertools.cycle(KINDS)):
        if done >= kills or time.monotonic() > until:
            break
        draw = random.Random(f"{seed} {number}")
        try:
            done += endure(KINDS[name], peaces[name], draw, kills - done)
        except Fault as fault:
            faults.append(f"run {number} of {name}: {fault}")
            print(faults[-1], flush=True)
        runs[name] += 1
    if done < kills and len(runs) < len(KINDS):
        faults.append(f"{len(runs)} of {len(KINDS)} kinds were run")
    said = "all bytes equal" if not faults else f"{len(faults)} differ"
    return f"{done:,} kills, {runs.total():,} runs of {len(runs)} kinds: {said}", not faults
