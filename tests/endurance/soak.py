"""Runs one after another in one process, where memory is scarce: none may add to what it holds."""

from __future__ import annotations

import gc
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from endurance.kills import MEMORY
from endurance.kinds import KINDS, Kind
from farfield.execution import ExecutionError, run
from farfield.experiments import ItemNetwork, Spec
from farfield.models import BottleneckMLP
from farfield.records import Store

ROOM = 512
"""Megabytes of addresses that the process may add to those it has after its first runs."""
HELD = 256
"""Megabytes that another process holds meanwhile."""
GROWTH = 24.0
"""Most megabytes between the second quarter of the runs and the last."""
HUNGRY = 10
"""One run of so many asks for more memory than there is."""

_COMPANION = f"held = bytearray(b'x' * {HELD << 20}); input()"


def numbers() -> tuple[float, int, int]:
    """Megabytes in memory, open files, and threads of this process."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    files, threads = (len([*Path("/proc/self", name).iterdir()]) for name in ("fd", "task"))
    return pages * resource.getpagesize() / 2**20, files, threads


@contextmanager
def scarce() -> Iterator[None]:
    """Another process holds memory, and this one gets few more addresses."""
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    words = [sys.executable, "-c", _COMPANION]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as companion:
        resource.setrlimit(resource.RLIMIT_AS, (size + (ROOM << 20), before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_AS, before)
            companion.communicate(b"\n")


def train(kind: Kind, more: int = 0) -> None:
    """Train a kind in a folder of its own, other seeds each time."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        run([replace(job, seed=job.seed + more) for job in kind.jobs], Store(folder), kind.executor)


def ask_for_too_much() -> str:
    """Train what needs more memory than there is; returns what is wrong with how that ends."""
    first = KINDS["networks"].jobs[0]
    model = ItemNetwork(core=Spec(BottleneckMLP, hidden_sizes=(1 << 14, 1 << 14)))
    try:
        train(Kind([replace(first, experiment=replace(first.experiment, model=model))]))
    except ExecutionError as error:
        return "" if "memory does not suffice" in str(error) else f"it says: {error}"
    return "it had enough"


def main(minutes: float) -> tuple[str, bool]:
    """Run all kinds in turn; returns a line in words, and whether all is well.

    Args:
        minutes: After which no other run begins.
    """
    for kind in KINDS.values():  # what is loaded late is loaded before anything is counted
        train(kind)
    until, seen, faults, refused = time.monotonic() + 60 * minutes, [], [], 0
    with scarce():
        while time.monotonic() < until:
            if len(seen) % HUNGRY == 0:
                refused += 1
                if wrong := ask_for_too_much():
                    faults.append(f"run {len(seen)} asked for too much, and {wrong}")
            train([*KINDS.values()][len(seen) % len(KINDS)], len(seen))
            seen.append(numbers())
    quarter = max(1, len(seen) // 4)
    memory, *counts = zip(*seen, strict=True)
    growth = statistics.fmean(memory[-quarter:]) - statistics.fmean(memory[quarter : 2 * quarter])
    slope = statistics.linear_regression(range(len(seen)), memory).slope
    if growth > GROWTH:
        faults.append(f"memory grows from {memory[quarter]:.0f} to {memory[-1]:.0f} MB")
    for what, count in zip(("open files", "threads"), counts, strict=True):
        if count[-1] > count[0]:
            faults.append(f"{what} grow from {count[0]} to {count[-1]}")
    for fault in faults:
        print(fault)
    line = (
        f"{len(seen):,} runs in {minutes:g} minutes, {refused:,} more refused for want of memory: "
        f"{1024 * slope:+.1f} kB a run, {growth:+.1f} MB in the later half"
    )
    return f"{line}{f', {len(faults)} faults' if faults else ''}", not faults
