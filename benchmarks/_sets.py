"""Time and memory of drawing one cell's sets, in a process that does nothing else."""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path

from farfield.core import stream
from farfield.tasks import TASKS, GlyphSet


def megabytes(field: str) -> float:
    """Read the memory of this process, MB: `VmRSS` is the current size, `VmHWM` the peak."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    found = re.search(rf"^{field}:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) * 1024 / 1e6 if found else float("nan")


def main(task: str, withheld: int, seed: int) -> None:
    """Draw the training and test sets of one run and print the time and memory."""
    described = TASKS[task](withheld=withheld)
    start = time.perf_counter()
    GlyphSet.glyphs()  # drawn once in a process, whatever is made of them
    images = time.perf_counter() - start
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before = megabytes("VmRSS")
    start = time.perf_counter()
    sets = described.draw(stream(seed))
    seconds = time.perf_counter() - start
    sizes = {name: len(problems) for name, problems in sets.items()}
    more = megabytes("VmHWM") - before
    found = {"images": images, "seconds": seconds, "megabytes": more, "sizes": sizes}
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
