"""Records as a data frame of pandas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from farfield.records._record import Record

if TYPE_CHECKING:
    import pandas as pd


def frame(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """A data frame of rows.

    Args:
        rows: Content of each row by the name of its column.

    Raises:
        ModuleNotFoundError: If pandas, an extra, is not installed.
    """
    try:
        import pandas as pd  # noqa: PLC0415 — an extra, and half a second to import
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "a data frame needs pandas: pip install 'farfield[frames]'"
        ) from error
    return pd.DataFrame.from_records([dict(row) for row in rows])


def score_rows(records: Iterable[Record]) -> Iterator[dict[str, Any]]:
    """All scores of some networks as plain values, a row for each.

    Its columns are key, task, model, seed, step, regime, metric, value and count.

    Args:
        records: The records, e.g. `Store("runs").records(experiment.key)`.
    """
    for record in records:
        network = {"key": record.key, "task": record.task, "model": record.model}
        for score in record.scores:
            yield network | {"seed": record.seed} | msgspec.structs.asdict(score)


def scores_frame(records: Iterable[Record]) -> pd.DataFrame:
    """All scores of some networks as a data frame, with the columns of `score_rows`.

    Args:
        records: The records, e.g. `Store("runs").records(experiment.key)`.

    Raises:
        ModuleNotFoundError: If pandas, an extra, is not installed.
    """
    return frame(score_rows(records))
