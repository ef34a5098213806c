"""A process that works when it is told to: one contender, driven by lines of JSON.

The parent writes `{"ask": NAME, ...}` and reads one line back; between two requests the process
sleeps in a read, so that it leaves the cores to the others.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any, final


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
            [sys.executable, "-m", "benchmarks._worker", contender, str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
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
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def main(contender: str, threads: int) -> None:
    """Serve requests until the parent closes the line."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    import torch

    from benchmarks._contenders import CONTENDERS

    torch.set_num_threads(threads)
    serving = CONTENDERS[contender]()
    for line in sys.stdin:
        arguments = json.loads(line)
        request = arguments.pop("ask")
        answers.write(json.dumps(getattr(serving, request)(**arguments)) + "\n")
        answers.flush()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
