"""The parent's end of a worker process that works on request.

The parent writes `{"ask": NAME, ...}` and reads one line of JSON back; between two requests the
process sleeps in a read, so that it leaves the cores to the others.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, final

ROOT = Path(__file__).resolve().parents[1]


@final
class Worker:
    """The parent's end of a worker process.

    Args:
        contender: Name of the contender the process is.
        threads: Threads that the process may use.
    """

    def __init__(self, contender: str, threads: int) -> None:
        names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks._serve", contender, str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env={**os.environ, **dict.fromkeys(names, str(threads))},
            text=True,
        )

    def ask(self, request: str, **arguments: Any) -> None:
        """Send a request, and do not wait."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"ask": request, **arguments}) + "\n")
        self.process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """Wait for the answer to the oldest open request."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"a worker ended with status {self.process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """End the process and wait until it is gone."""
        self.process.communicate()
