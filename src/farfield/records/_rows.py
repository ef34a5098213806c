"""A record as rows of two tables, with a digest that shows damage."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from farfield.core import excerpt, printable
from farfield.records._record import Record

RUN: Final = ("experiment", "steps", "seconds", "environment", "weights")
"""Fields of a record in the table of runs, beside key, seed and digest."""

SCORE: Final = ("step", "regime", "metric", "value", "count")
"""Fields of a score in the table of scores, beside key and seed."""


def check_record(record: Record) -> Record:
    """The record with numbers of Python's types, if it can be read again once it is written.

    Args:
        record: What a run left; numbers of NumPy and torch are taken.

    Raises:
        ValueError: If a field is of another type, or holds what a database does not keep.
    """
    if not isinstance(record, Record):
        raise ValueError(f"record must be a Record, got {excerpt(repr(record))}")
    try:
        taken = msgspec.convert(msgspec.to_builtins(record, enc_hook=_plain), Record)
        _check_kept(taken)
        run, scores = rows_of(taken)
        digest = digest_of(taken.key, taken.seed, run, scores)
        record_of(taken.key, taken.seed, run, scores, digest)
    except (msgspec.MsgspecError, TypeError, ValueError, AttributeError, RecursionError) as error:
        place = f"of experiment {excerpt(record.key)}, seed {excerpt(record.seed)},"
        raise ValueError(
            f"record {place} must be one that can be read: {excerpt(error)}"
        ) from error
    return taken


def _plain(value: Any) -> Any:
    """A number of NumPy or torch, or a kind of text, as one of Python."""
    for kind in (str, int, float):
        if isinstance(value, kind):
            return kind(value)
    if getattr(value, "ndim", None) == 0 and callable(item := getattr(value, "item", None)):
        return item()
    raise TypeError(f"it must hold plain numbers and text, got {excerpt(repr(value))}")


def _check_kept(record: Record) -> None:
    """Raise `ValueError` for what a row or the name of a file cannot hold."""
    if record.key in ("", ".", "..") or not re.fullmatch(r"[^/\\\0]*", record.key):
        raise ValueError(f"key must be the name of a folder, got {record.key!r}")
    if math.isnan(record.seconds):
        raise ValueError("seconds must be a number, got nan")
    numbers = [record.seed, record.steps]
    texts = [record.key, record.weights]
    for score in record.scores:
        numbers += [score.step, score.count]
        texts += [score.regime, score.metric]
    for number in numbers:
        if not -(2**63) <= number < 2**63:
            raise ValueError(f"seeds, steps and counts must be of 64 bits, got {number}")
    for text in texts:
        text.encode()


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
