"""Starting, watching and killing real processes, for tests of what survives it."""

from __future__ import annotations

import functools
import multiprocessing
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerContext


def wait_for(condition: Callable[[], bool], seconds: float = 100) -> None:
    """Look again and again until `condition` holds."""
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, "waited in vain"
        time.sleep(0.02)


@functools.cache
def warm() -> ForkServerContext:
    """Context whose processes are forked from one that has loaded torch and the package.

    A new process needs three seconds of processor to load them, and what torch loads where the
    first optimizer is made.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        pytest.skip("needs processes that are forked")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["farfield.execution", "farfield.reports", "torch._dynamo"])
    forkserver.ensure_running()
    return context


class Forked:
    """A program in a process of `warm`, for a `subprocess.Popen` of `python -c`.

    Args:
        program: Text of the program.
        words: What follows the program in `sys.argv`.
        folder: Folder that it starts in.
    """

    def __init__(self, program: str, *words: object, folder: Path | None = None) -> None:
        ends = [warm().Pipe(duplex=False) for _ in range(3)]
        theirs = [ends[0][0], ends[1][1], ends[2][1]]
        argv = ["-c", *map(str, words)]
        self.process = warm().Process(target=_run, args=(program, argv, folder, theirs))
        self.process.start()
        for end in theirs:
            end.close()
        self._kept = ends[0][1], ends[1][0], ends[2][0]
        self.stdin = os.fdopen(ends[0][1].fileno(), "w", closefd=False)
        self.stdout = os.fdopen(ends[1][0].fileno(), closefd=False)
        self.stderr = os.fdopen(ends[2][0].fileno(), closefd=False)

    def wait(self, seconds: float | None = None) -> int | None:
        """Wait for the end; returns the exit status, or None if it takes longer."""
        self.process.join(seconds)
        return self.process.exitcode

    def kill(self) -> None:
        """Kill the process and wait for its end."""
        self.process.kill()
        self.process.join()

    def finish(self) -> tuple[int | None, str, str]:
        """Wait for the end; returns the exit status, what was printed, and the errors."""
        self._kept[0].close()
        out, err = self.stdout.read(), self.stderr.read()
        return self.wait(), out, err


def run_forked(
    program: str, *words: object, folder: Path | None = None
) -> tuple[int | None, str, str]:
    """Run a program in a process of `warm`; returns exit status, what was printed, and errors."""
    return Forked(program, *words, folder=folder).finish()


def _run(program: str, argv: list[str], folder: Path | None, ends: list[Connection]) -> None:
    """Run a program, in its process."""
    for number, end in enumerate(ends):
        os.dup2(end.fileno(), number)
        end.close()
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", closefd=False) for number in (1, 2))
    os.chdir(folder or Path.cwd())
    sys.argv, sys.modules["__main__"] = argv, ModuleType("__main__")
    exec(program, vars(sys.modules["__main__"]))


def workers(pid: int) -> list[int]:
    """Worker processes that a process started and that still run."""
    server = forkserver._forkserver._forkserver_pid if pid == os.getpid() else None
    return [
        child
        for child, (parent, state, command) in _listed("-A").items()
        if "Z" not in state and (parent == server or (parent == pid and "spawn_main" in command))
    ]


def gone(pid: int) -> bool:
    """Whether a process is at its end."""
    return all("Z" in state for _, state, _ in _listed("-p", str(pid)).values())


def _listed(*which: str) -> dict[int, tuple[int, str, str]]:
    """Parents, states and commands of processes, by the program that every Unix has."""
    if not shutil.which("ps"):
        pytest.skip("needs ps, which lists processes")
    command = ["ps", "-ww", *which, "-o", "pid=,ppid=,state=,command="]
    lines = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    rows = [line.split(maxsplit=3) for line in lines]
    return {int(pid): (int(parent), state, "".join(said)) for pid, parent, state, *said in rows}
