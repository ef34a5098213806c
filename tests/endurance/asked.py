"""Pages of the explorer over damaged records, at random addresses: each is answered, and soon."""

from __future__ import annotations

import contextlib
import faulthandler
import io
import json
import os
import random
import shutil
import tempfile
import time
import warnings
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from msgspec.structs import replace

from endurance.files import HURTS, ODD, RESULTS, _under_way, odd_document, odd_line
from endurance.kills import MEMORY, Fault, in_child
from endurance.kinds import KINDS
from farfield.execution import run
from farfield.records import Score, Store, StoreError
from farfield.tasks import ENVIRONMENTS, TASKS

SECONDS, PATIENCE = 30.0, 150.0
"""Longest time of an answer, and time after which it hangs; the first one waits for imports."""
FOLDERS = 12
"""Requests to one folder before another one is damaged."""
NEEDED = ("starlette", "uvicorn", "jinja2")

ALREADY = (ValueError, IndexError, RecursionError, AttributeError, StoreError)
"""Errors at what cannot be hurt any more."""

ADDRESSES = {
    "/": (),
    "/claims": ("paper", "table", "verdict", "mechanism"),
    "/profiles": ("table", "curve"),
    "/problems": ("task", "regime", "seed", "number"),
    "/problems.png": ("task", "regime", "seed", "number"),
    "/runs": (),
    "/network": ("key", "seed", "regime", "problem"),
    "/network.png": ("key", "seed", "regime", "problem"),
    "/static/": (),
}
"""Addresses, and what may be asked for there."""


def _whole(folder: Path) -> None:
    """Records, progress and exports as they should be."""
    kind = KINDS["chains"]
    store = Store(folder / "runs")
    run(kind.jobs, store, kind.executor)
    _under_way(folder / "runs")
    (folder / "results" / "ren2017").mkdir(parents=True)
    lines = (RESULTS / "ren2017" / "table-8.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "results" / "ren2017" / "table-8.jsonl").write_bytes(b"".join(lines[:20]))
    shutil.copy(RESULTS / "floors-and-ceilings.jsonl", folder / "results")


def _odd(value: Any, draw: random.Random) -> Any:
    """JSON of an experiment with something else in it."""
    return json.loads(odd_document(json.dumps(value).encode(), draw))


def _damage(folder: Path, draw: random.Random) -> str:
    """Hurt a file of the folder, or put a record that says odd things beside the others."""
    name = draw.choice(
        ("record", "records.sqlite", "k-0.json", "table-8.jsonl", "floors", "network")
    )
    if name == "record":
        job = KINDS["chains"].jobs[0]
        store = Store(folder / "runs")
        [record] = [one for one in store.records(job.experiment.key) if one.seed == 0]
        weights = store.weights(record.key, 0)
        odd = Score(
            step=draw.choice((0, record.steps, 2**62)), regime=draw.choice(("\x1b[2J", "test")),
            metric="accuracy", value=draw.choice((float("nan"), 1e308, -1.0)), count=0,
        )  # fmt: skip
        more: dict[str, Any] = draw.choice(
            (
                {"scores": (odd,)},
                {"experiment": {}},
                {"experiment": record.experiment | {"task": draw.choice(([], None, "x" * 9_999))}},
                {"steps": draw.choice((0, -1, 2**62))},
                {"seconds": draw.choice((-1.0, float("inf")))},
                {"environment": {"finished": "\x1b[2J", "files": "[["}},
            )
        )
        with contextlib.suppress(ValueError):  # it is not the explorer that refuses it
            more |= {"experiment": _odd(record.experiment, draw)} if draw.random() < 0.4 else {}
            store.write(replace(record, key=f"{draw.getrandbits(40):x}", **more), weights)
        return "an odd record"
    whole = {"floors": "floors-and-ceilings.jsonl", "network": "*.safetensors"}
    path = draw.choice(sorted(folder.rglob(whole.get(name, name))))
    hurts = {".json": (odd_document,) * 5, ".jsonl": (odd_line,) * 5}
    hurt = draw.choice((*HURTS, *hurts.get(path.suffix, ())))
    path.write_bytes(hurt(path.read_bytes(), draw))
    return f"{path.name} {hurt.__name__.replace('_', ' ')}"


def _address(keys: list[str], draw: random.Random) -> str:
    """A random address with random values."""
    if draw.random() < 0.1:
        return "/" + quote(draw.randbytes(9), safe=draw.choice(("", "/?&=%;")))
    page = draw.choice([*ADDRESSES])
    query: list[tuple[str, object]] = []
    known = {
        "task": [*TASKS, *ENVIRONMENTS], "key": keys, "table": ["ren2017/table-8"],
        "paper": ["ren2017", "all"], "curve": [f"run|{key}" for key in keys],
    }  # fmt: skip
    for name in ADDRESSES[page]:
        if name in known and draw.random() < 0.7:
            query.append((name, draw.choice(known[name])))
        elif draw.random() < 0.5:
            odd = [str(one).encode("utf-8", "surrogateescape") for one in ODD if one != "\ud800"]
            query.append((name, draw.choice((*odd, draw.randbytes(20), b"9" * 30, b"-1", b"3"))))
    if page.startswith("/problems") and draw.random() < 0.5:
        fields = ("training_sequences", "side", "image_size", "withheld", "steps", "length")
        query.append(
            (draw.choice(fields), draw.choice((0, -1, 3, 10**4, 10**9, 2**63, "nan", "1e9")))
        )
    draw.shuffle(query)
    return f"{page}?{urlencode([*query, *query[: draw.randrange(2)]])}"


def _answers(count: int, seed: int, end: int) -> None:
    """Ask, and tell of each answer what it is."""
    from starlette.testclient import TestClient

    from farfield.explorer import application
    from farfield.explorer._app import CHILD

    warnings.simplefilter("ignore")  # of damage

    def tell(*words: str) -> None:
        if words[0] == "fault":
            print(words[1], flush=True)
        os.write(end, json.dumps(words).encode() + b"\n")

    with tempfile.TemporaryDirectory(dir=MEMORY) as home:
        _whole(Path(home, "whole"))
        for first in range(0, count, FOLDERS):
            draw = random.Random(f"{seed} {first}")
            folder = Path(home, str(first))
            shutil.copytree(Path(home, "whole"), folder)
            what = "nothing"
            app = application(folder / "runs", folder / "results")
            with TestClient(app, "http://127.0.0.1", raise_server_exceptions=False) as pages:
                keys = sorted(job.experiment.key for job in KINDS["chains"].jobs)
                for number in range(first, min(first + FOLDERS, count)):
                    if number % 4 == 0:
                        with contextlib.suppress(*ALREADY):
                            what = _damage(folder, draw)
                    address = _address(keys, draw)
                    faulthandler.dump_traceback_later(PATIENCE, exit=True)
                    started = time.monotonic()
                    shown = io.StringIO()
                    with contextlib.redirect_stderr(shown):
                        found = pages.get(address)
                    seconds = time.monotonic() - started
                    faulthandler.cancel_dump_traceback_later()
                    place = f"request {number} to {address[:300]}, after {what}"
                    if found.status_code >= 500:
                        tell("fault", f"{place}: {found.status_code} {found.text[-300:]!r}")
                    elif seconds > SECONDS and number:
                        tell("fault", f"{place}: {found.status_code} after {seconds:.0f} s")
                    else:
                        tell("end", str(found.status_code))
            shutil.rmtree(folder)
        CHILD.close()


def main(count: int, seed: int) -> tuple[str, bool]:
    """Ask the explorer for pages; returns a line in words, and whether all is well.

    Args:
        count: How many requests.
        seed: Decides what is damaged and asked for.
    """
    if lacking := [name for name in NEEDED if find_spec(name) is None]:
        return f"the explorer was not asked: {', '.join(lacking)} is not installed", True
    try:
        whole, lines = in_child(lambda end: _answers(count, seed, end), None)
    except Fault as fault:
        whole, lines = False, [["fault", ""]]
        print(f"the explorer hangs or fails: {fault}", flush=True)
    faults = [said for kind, said in lines if kind == "fault"]
    ends = Counter(said for kind, said in lines if kind == "end")
    told = ", ".join(f"{ends[status]} of status {status}" for status in sorted(ends))
    return f"{count:,} requests to the explorer: {told}, {len(faults)} faults", whole and not faults
