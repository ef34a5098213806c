"""Starting, watching and killing real processes, for tests of what survives it."""

from __future__ import annotations

import functools
import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from pathlib import Path
from types import ModuleType


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
    """Worker processes that the main thread of a process started and that still run."""
    server = forkserver._forkserver._forkserver_pid if pid == os.getpid() else None
    found = [child for child in _children(pid) if _is_worker(child)]
    return found + ([child for child in _children(server) if not gone(child)] if server else [])


def _children(pid: int) -> list[int]:
    """Processes that the main thread of a process started."""
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _is_worker(pid: int) -> bool:
    """Whether a process is one of those, and not that which `multiprocessing` keeps beside them."""
    try:
        return b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes() and not gone(pid)
    except OSError:
        return False


def gone(pid: int) -> bool:
    """Whether a process is at its end."""
    try:
        return "Z" in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
