"""Runs on files of a user that are written anew between kills: each run says so by their names."""

from __future__ import annotations

import json
import os
import random
import tempfile
import time
import warnings
from collections import Counter
from functools import partial
from pathlib import Path

from endurance.kills import CLOCK, MEMORY, Fault, Moment, compare, in_child, leavings
from endurance.kinds import HERE, Kind
from farfield.execution import ExecutionError, jobs_of, run
from farfield.experiments import Experiment, Recipe, SequenceNetwork, Spec
from farfield.nn import NormalizedLSTM, WordEncoder
from farfield.records import Store
from farfield.tasks import WordText

PATIENCE = 60.0
"""Seconds after which a run hangs."""
NAMES = ("train.txt", "valid.txt", "test.txt")


def _write(folder: Path) -> None:
    """The three texts."""
    for number, name in enumerate(NAMES):
        (folder / name).write_text("one two three one two <unk>\n" * (40 + number))


def _rewrite(folder: Path, draw: random.Random) -> str:
    """Change one of the texts; returns its name."""
    name = draw.choice(NAMES)
    path, lines = folder / name, (folder / name).read_text().splitlines(keepends=True)
    known = path.stat()
    match draw.randrange(5):
        case 0:
            path.unlink()
        case 1:
            path.write_text("".join(lines[:-1]))
        case 2:
            path.write_bytes("".join(lines).replace("\n", "\r\n").encode())
        case 3:  # of the same size and time
            path.write_text("".join(lines).replace("one two", "two one", 1))
            os.utime(path, ns=(known.st_atime_ns, known.st_mtime_ns))
        case _:
            (folder / "other").write_text("".join([*lines, "two\n"]))
            (folder / "other").replace(path)
    return name


def _kind(folder: Path) -> Kind:
    """A network that learns the texts of a folder."""
    experiment = Experiment(
        task=WordText(folder=str(folder), steps=4),
        model=SequenceNetwork(
            core=Spec(NormalizedLSTM, hidden_size=6), encoder=Spec(WordEncoder, out_features=4)
        ),
        recipe=Recipe(steps=30, evaluations=3, batch_size=8, learning_rate=0.01),
    )
    return Kind(jobs_of([experiment], range(1)))


def _sitting(kind: Kind, folder: Path, end: int) -> None:
    """Train what is missing, and tell what is said of it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            run(kind.jobs, Store(folder), HERE, clock=CLOCK)
            said = ["trained", *(str(warning.message) for warning in caught)]
        except (ValueError, ExecutionError) as error:
            said = ["refused", str(error)]
    os.write(end, json.dumps(said).encode() + b"\n")


def _endure(home: Path, draw: random.Random, seconds: float) -> str:
    """Kill a run, write a file anew, and start it again; raises `Fault` for what goes unsaid."""
    texts, folder = home / "texts", home / "runs"
    texts.mkdir()
    folder.mkdir()
    _write(texts)
    kind = _kind(texts)
    store = Store(folder)
    key = kind.jobs[0].experiment.key
    in_child(partial(_sitting, kind, folder), Moment(None, draw.uniform(0, 1.2 * seconds)))
    is_done = store.is_recorded(key, 0)
    is_begun = store.checkpoint_path(key, 0).exists()
    name = _rewrite(texts, draw)
    whole, lines = in_child(partial(_sitting, kind, folder), Moment(None, PATIENCE))
    if not whole:
        raise Fault("it hangs")
    ((end, *said),) = lines
    is_lacking = not (texts / name).exists()
    if (is_done or is_lacking) and end != "refused":
        raise Fault(f"{name} was written anew, and the run is not refused")
    if (is_done or is_begun or is_lacking) and not any(name in one for one in said):
        raise Fault(f"{name} was written anew, and the run says {said}")
    _write(texts)
    whole, lines = in_child(partial(_sitting, kind, folder), Moment(None, PATIENCE))
    if end == "trained" and lines[0][0] != "refused":
        raise Fault(f"{name} was put back after a run on another, and the run is not refused")
    if end == "refused" and lines[0][0] != "trained":
        raise Fault(f"all files were put back, and the run says {lines[0][1]}")
    if end == "refused":
        alone = home / "alone"
        alone.mkdir()
        in_child(partial(_sitting, kind, alone), None)
        compare(_networks(kind, folder), _networks(kind, alone))
    return "recorded" if is_done else "begun" if is_begun else "not begun"


def _networks(kind: Kind, folder: Path) -> dict[str, object]:
    """Networks and records that a run has left."""
    return {name: one for name, one in leavings(kind, folder).items() if "lock" not in name}


def main(count: int, seed: int) -> tuple[str, bool]:
    """Kill runs and write their files anew; returns a line in words, and whether all is well.

    Args:
        count: How many runs.
        seed: Decides the moments, and what becomes of which file.
    """
    ends, faults = Counter[str](), list[str]()
    with tempfile.TemporaryDirectory(dir=MEMORY) as home:
        (Path(home) / "texts").mkdir()
        (Path(home) / "runs").mkdir()
        _write(Path(home, "texts"))
        run(_kind(Path(home, "texts")).jobs, Store(Path(home, "runs")), HERE)  # loads what is late
        started = time.monotonic()
        in_child(partial(_sitting, _kind(Path(home, "texts")), Path(home)), None)
        seconds = time.monotonic() - started
    for number in range(count):
        with tempfile.TemporaryDirectory(dir=MEMORY) as home:
            try:
                ends[_endure(Path(home), random.Random(f"{seed} {number}"), seconds)] += 1
            except Fault as fault:
                faults.append(f"run {number}: {fault}")
                print(faults[-1], flush=True)
    told = ", ".join(f"{ends[end]} {end}" for end in sorted(ends))
    return f"{count:,} runs with files that change: {told}, {len(faults)} faults", not faults
