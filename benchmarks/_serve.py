"""The worker's end: one contender that answers requests until the parent closes the line."""

from __future__ import annotations

import json
import os
import sys

import torch

from benchmarks._contenders import CONTENDERS


def main(contender: str, threads: int) -> None:
    """Serve requests; only answers go to standard output."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    torch.set_num_threads(threads)
    serving = CONTENDERS[contender]()
    for line in sys.stdin:
        arguments = json.loads(line)
        request = arguments.pop("ask")
        answers.write(json.dumps(getattr(serving, request)(**arguments)) + "\n")
        answers.flush()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
