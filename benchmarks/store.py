"""The folder of records from a thousand finished runs to a million: the cost of a run in each.

Run from the root of the checkout:

    python -m benchmarks.store                    # to a million, some minutes and 3 GB of disk
    python -m benchmarks.store --most 100_000

A tenth of the runs are seeds of one experiment, the others are ten seeds each. Rows that stand for
them are made by SQLite; the runs that are timed go through the store: new seeds of the large
experiment, and experiments of ten seeds whose keys lie among the others. Processor time is taken,
which a neighbor on the machine does not lengthen by its own; waiting for the disk is not in it.
"""

from __future__ import annotations

import hashlib
import resource
import sqlite3
import tempfile
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, final

import torch
import tyro
from msgspec.structs import replace

from benchmarks import _pages, _store_report
from benchmarks._rounds import Lines, publish
from benchmarks.rims import seconds_of
from farfield.experiments import Experiment, Network, Recipe, Spec
from farfield.models import ESBN
from farfield.records import Record, Score, Store, environment
from farfield.tasks import SameDifferent

RESULTS: Final = _pages.RESULTS / "store"
SIZES: Final = (1_000, 10_000, 100_000, 1_000_000)
SEEDS, SCORES, TIMED = 10, 10, 10
LARGE: Final = "8" + "0" * 19
"""Key of the experiment with a tenth of all seeds."""

_FILL: Final = (
    """
    CREATE TEMP TABLE filler AS
    WITH RECURSIVE n(v) AS (SELECT 0 UNION ALL SELECT v + 1 FROM n WHERE v < :count - 1)
    SELECT CASE WHEN v < :count / 10 THEN :large
           ELSE printf('%016x%04x', (v / :seeds) * (9223372036854775807 / :count), 7) END AS key,
           CASE WHEN v < :count / 10 THEN v ELSE v % :seeds END AS seed
    FROM n ORDER BY key, seed
    """,
    "CREATE TEMP TABLE run AS SELECT * FROM runs LIMIT 1",
    "CREATE TEMP TABLE score AS SELECT * FROM scores LIMIT :scores",
    """
    INSERT INTO runs SELECT filler.key, filler.seed, experiment, steps, seconds, environment,
                            weights, digest, stamp
    FROM filler CROSS JOIN run
    """,
    """
    INSERT INTO scores SELECT filler.key, filler.seed, step, regime, metric, value, count
    FROM filler CROSS JOIN score
    """,
)


@final
@dataclass(frozen=True, kw_only=True)
class Options:
    """Options and size of the measurement.

    Args:
        rounds: Times that each piece of work is done; the medians are over these.
        quick: Three rounds, for a first look.
        most: Runs in the largest store.
        beside: Other load of the machine, for the page; empty for none.
        name: Name of the result files; by default date and processor.
    """

    rounds: int = 11
    quick: bool = False
    most: int = SIZES[-1]
    beside: str = ""
    name: str | None = None


def example() -> Record:
    """Make the record of a run, as large as the records of webb2021."""
    experiment = Experiment(
        task=SameDifferent(withheld=95),
        model=Network(reasoner=Spec(ESBN)),
        recipe=Recipe(steps=1_000),
    )
    return Record(
        key=LARGE,
        experiment=experiment.to_json(),
        seed=0,
        steps=1_000,
        scores=tuple(
            Score(step=100 * step, regime=regime, metric="accuracy", value=0.5, count=10_000)
            for step in range(6, 11)
            for regime in ("training", "withheld-95")
        ),
        seconds=20.0,
        environment=environment(device="cpu", engine="one process per core"),
    )


def fill(store: Store, count: int) -> None:
    """Make rows for other runs, in the order of their keys."""
    names = {"count": count, "large": LARGE, "seeds": SEEDS, "scores": SCORES}
    with closing(sqlite3.connect(store.folder / "records.sqlite")) as connection, connection:
        connection.execute("PRAGMA journal_mode = OFF")  # which would write it all twice
        for statement in _FILL:
            connection.execute(statement, names)
        connection.commit()
        connection.execute("PRAGMA journal_mode = WAL")


def measure(count: int, rounds: int, folder: Path) -> dict[str, Any]:
    """Measure the seconds of every operation in a store of one size, and its bytes.

    Args:
        count: Finished runs in it.
        rounds: Times that each piece of work is done.
        folder: Where it is made.
    """
    store, record, weights = Store(folder), example(), {"w": torch.ones(1_000)}
    keys = [hashlib.sha256(str(number).encode()).hexdigest()[:20] for number in range(TIMED)]
    runs = [(key, seed) for key in keys for seed in range(SEEDS)]
    store.write_all([(replace(record, key=run[0], seed=run[1]), weights) for run in runs])
    fill(store, count - len(runs))
    samples: dict[str, list[float]] = {name: [] for name in _store_report.WORKS}
    for number in range(rounds + 1):
        key, seed = keys[number % TIMED], count + number
        new = replace(record, seed=seed)
        works = {
            "write": partial(store.write, new, weights),
            "find": partial(store.find, LARGE, seed),
            "is complete": partial(store.is_complete, LARGE, seed),
            "table": partial(store.records, key, SEEDS),
            "key": partial(store.keys, key[:8]),
            "results": partial(store.find_all, runs),
        }
        for name, work in works.items():
            taken = seconds_of(work)
            if number:  # the first calls fill the caches
                samples[name].append(taken / (len(runs) if name == "results" else 1))
    assert store.find(LARGE, count) is not None
    return {
        "runs": count,
        "seconds": samples,
        "bytes": (folder / "records.sqlite").stat().st_size,
        "peak": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    }


def measure_all(most: int, rounds: int) -> Lines:
    """Measure a line for each size, the smallest first.

    Args:
        most: Runs in the largest store.
        rounds: Times that each piece of work is done.
    """
    lines = []
    for count in (size for size in SIZES if size <= most):
        with tempfile.TemporaryDirectory() as folder:
            lines.append(measure(count, rounds, Path(folder)))
    return lines


def main(options: Options) -> None:
    """Measure, show it and write it down."""
    settings = {"seeds": SEEDS, "scores": SCORES, "results": SEEDS * TIMED}
    parts = {"lines": partial(measure_all, options.most)}
    publish(options, settings, parts, RESULTS, _store_report.markdown, _store_report.cells)


if __name__ == "__main__":
    main(tyro.cli(Options))
