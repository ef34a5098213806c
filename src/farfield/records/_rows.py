"""A record as rows of two tables, with a digest that shows damage."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from farfield.core import printable
from farfield.records._record import Record

RUN: Final = ("experiment", "steps", "seconds", "environment", "weights")
"""Fields of a record in the table of runs, beside key, seed and digest."""

SCORE: Final = ("step", "regime", "metric", "value", "count")
"""Fields of a score in the table of scores, beside key and seed."""


def rows_of(record: Record) -> tuple[tuple[Any, ...], list[tuple[Any, ...]]]:
    """The row of a run and those of its scores, without key and seed.

    Args:
        record: What the run left.
    """
    environment = {name: printable(text) for name, text in record.environment.items()}
    run = (
        json.dumps(record.experiment, sort_keys=True),
        record.steps,
        _stored(record.seconds),
        json.dumps(environment, sort_keys=True),
        record.weights,
    )
    scores = {
        (s.step, s.regime, s.metric): (_stored(s.value), s.count) for s in reversed(record.scores)
    }
    return run, [(*place, *numbers) for place, numbers in scores.items()]


def _stored(number: float) -> float | str:
    """A number as SQLite gives it back; it takes nan for NULL and keeps no sign of zero."""
    return "nan" if math.isnan(number) else float(number) + 0.0


def digest_of(key: str, seed: Any, run: Sequence[Any], scores: Iterable[Sequence[Any]]) -> str:
    """SHA-256 of a run's rows, in hexadecimal digits.

    Args:
        key: `Experiment.key`.
        seed: Number of the run.
        run: The values of `RUN`.
        scores: Those of `SCORE`, one sequence each, in any order.

    Raises:
        TypeError: If there are values that no run can leave.
        ValueError: Likewise.
    """
    experiment, steps, seconds, *others = run
    content = [
        [key, seed, experiment, steps, float(seconds), *others],
        sorted([*place, float(value), count] for *place, value, count in scores),
    ]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def record_of(
    key: str, seed: Any, run: Sequence[Any], scores: Sequence[Sequence[Any]], digest: str | None
) -> Record:
    """The record that rows hold.

    Args:
        key: `Experiment.key`.
        seed: Number of the run.
        run: The values of `RUN`.
        scores: Those of `SCORE`, one sequence each.
        digest: What `digest_of` said when they were written; `None` if nobody asked then.

    Raises:
        ValueError: If they are not what was written, or no record.
    """
    try:
        if not scores:
            raise ValueError("a run without scores")
        if digest is not None and digest != digest_of(key, seed, run, scores):
            raise ValueError("it is not what was written")
        described = dict(zip(RUN, run, strict=True))
        environment = json.loads(described["environment"])
        described["environment"] = {name: printable(text) for name, text in environment.items()}
        described["experiment"] = json.loads(described["experiment"])
        named = [dict(zip(SCORE, score, strict=True)) for score in scores]
        described["scores"] = [score | {"value": float(score["value"])} for score in named]
        return msgspec.convert({"key": key, "seed": seed, **described}, Record)
    except (msgspec.MsgspecError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise ValueError(str(error)) from error
