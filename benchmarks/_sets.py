"""Time and memory of drawing one cell's sets, in a process that does nothing else."""

from __future__ import annotations

import json
import resource
import sys
import time

from farfield.core import stream
from farfield.tasks import TASKS


def peak_megabytes() -> float:
    """The most memory this process ever held, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def main(task: str, withheld: int, seed: int) -> None:
    """Draw the training and test sets of one run and print what it took."""
    described = TASKS[task](withheld=withheld)
    before = peak_megabytes()
    start = time.perf_counter()
    sets = described.draw(stream(seed))
    seconds = time.perf_counter() - start
    sizes = {name: len(problems) for name, problems in sets.items()}
    megabytes = peak_megabytes() - before
    print(json.dumps({"seconds": seconds, "megabytes": megabytes, "sizes": sizes}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
