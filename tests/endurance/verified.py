"""`farfield verify` over damaged and foreign records, and killed: it names them, changes none."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import shutil
import tempfile
import time
import warnings
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

from msgspec.structs import replace

from endurance.files import HURTS, said_by
from endurance.kills import MEMORY, Fault, Moment, in_child
from endurance.kinds import HERE, KINDS
from farfield.cli import main as command_line
from farfield.execution import run
from farfield.records import Record, Store
from farfield.records.internal import DamageWarning

PATIENCE = 60.0
"""Seconds after which the command hangs."""
JOB = KINDS["chains"].jobs[0]
KILLS = 2
"""One of so many commands is killed."""


def _foreign(record: Record, draw: random.Random) -> tuple[str, Record]:
    """The record of another program, version or machine, and what must be said of it."""
    described = record.experiment
    last = replace(record.scores[-1], value=record.scores[-1].value + 1e-6)
    task: dict[str, Any] = described["task"]
    choices: tuple[tuple[str, dict[str, Any]], ...] = (
        ("left out", {"key": "a" * 20}),
        ("left out", {"key": "b" * 20, "experiment": {}}),
        ("left out", {"experiment": described | {"task": task | {"class": "theirs.Task"}}}),
        ("left out", {"experiment": described | {"task": task | {"version": 99}}}),
        ("left out", {"experiment": described | {"model": None}}),
        ("differs", {"scores": (*record.scores[:-1], last)}),
        ("differs", {"scores": (*record.scores, replace(last, regime="\x1b[2J"))}),
        ("not judged", {"environment": record.environment | {"torch": "0.1"}, "scores": (last,)}),
        ("not judged", {"environment": {"torch": "\x1b[2J"}, "scores": (last,)}),
        ("same bytes", {"environment": record.environment | {"files": "[["}}),
        ("same bytes", {"seconds": 1e300}),
    )
    said, fields = draw.choice(choices)
    return said, replace(record, weights="", **fields)


def _verified(folder: Path) -> tuple[str, str]:
    """What the command says, and its error."""
    out, err = io.StringIO(), io.StringIO()
    here = mock.patch("farfield.execution._run._executor_for", return_value=HERE)
    with here, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            command_line(["verify", "--share", "1", "--records", str(folder)])
        except SystemExit as ended:
            if not ended.code:
                return out.getvalue(), ""
            return out.getvalue(), err.getvalue().strip() or "it says nothing"
    return out.getvalue(), err.getvalue().strip()


def _contents(folder: Path) -> dict[str, bytes]:
    """All files of the folder but those that SQLite keeps while a database is open."""
    found = {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    return {
        str(path.relative_to(folder)): content
        for path, content in found.items()
        if not path.name.endswith(("-wal", "-shm"))
    }


def _judged(folder: Path, expected: str, name: str) -> str:
    """How the command ends; raises `Fault` if that is not as it should be."""
    try:
        out, error = _verified(folder)
    except Exception as raised:  # which one it is, is the question
        raise Fault(f"it raises {said_by(raised)}") from raised
    said = f"{out} {error}"
    if "Traceback" in said or not said.replace("\n", "").isprintable():
        raise Fault(f"it says {said[-400:]!r}")
    if expected not in said and name not in said:
        raise Fault(f"neither {expected!r} nor {name} is named: {said[-400:]!r}")
    return "refused" if error else "verified"


def _told(folder: Path, expected: str, name: str, end: int) -> None:
    tempfile.tempdir = str(folder.parent / "temporary")
    try:
        said = ["end", _judged(folder, expected, name)]
    except Fault as fault:
        said = ["fault", str(fault)]
    os.write(end, json.dumps(said).encode() + b"\n")


def main(count: int, seed: int) -> tuple[str, bool]:
    """Verify records of all kinds in turn; returns a line in words, and whether all is well.

    Args:
        count: How many commands.
        seed: Decides what is damaged, and the moments of kills.
    """
    ends, faults = Counter[str](), list[str]()
    with tempfile.TemporaryDirectory(dir=MEMORY) as home:
        whole = Store(Path(home, "whole"))
        run([JOB], whole, HERE)
        [record] = whole.records(JOB.experiment.key)
        weights = whole.weights(record.key, record.seed)
        started = time.monotonic()
        _verified(whole.folder)
        longest = time.monotonic() - started
        for number in range(count):
            draw = random.Random(f"{seed} {number}")
            folder = Path(home, str(number), "runs")
            (folder.parent / "temporary").mkdir(parents=True)
            expected, name, what = "", "records.sqlite", "nothing"
            if draw.random() < 0.5:
                shutil.copytree(whole.folder, folder)
                hurt, path = draw.choice(HURTS), draw.choice(sorted(_contents(folder)))
                (folder / path).write_bytes(hurt((folder / path).read_bytes(), draw))
                what = f"{path} {hurt.__name__.replace('_', ' ')}"
                expected = "same"  # or it names the file
            else:
                expected, foreign = _foreign(record, draw)
                what = f"a record that is {expected}"
                name = foreign.key
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", DamageWarning)
                    Store(folder).write(foreign, weights)
            before = _contents(folder)
            is_killed = number % KILLS == 0
            moment = Moment(None, draw.uniform(0, longest) if is_killed else PATIENCE)
            try:
                ended, lines = in_child(partial(_told, folder, expected, name), moment)
                if not (ended or is_killed):
                    raise Fault("it hangs")
                if lines and lines[-1][0] == "fault":
                    raise Fault(lines[-1][1])
                after = _contents(folder)
                if changed := [path for path in before if after.get(path) != before[path]]:
                    raise Fault(f"it changes {', '.join(changed)}")
                if left := after.keys() - before.keys():
                    raise Fault(f"it leaves {', '.join(left)}")
                ends[lines[-1][1] if lines else "killed"] += 1
            except Fault as fault:
                faults.append(f"verification {number}, {what}: {fault}")
                print(faults[-1], flush=True)
            shutil.rmtree(folder.parent)
    told = ", ".join(f"{ends[end]} {end}" for end in sorted(ends))
    return f"{count:,} verifications: {told}, {len(faults)} faults", not faults
