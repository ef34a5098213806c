"""Trials of a search with their scores, from the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farfield.experiments import ScoredTrial, Search, Selection
from farfield.records._errors import StoreError
from farfield.records._frame import frame
from farfield.records._record import Record
from farfield.records._store import Store

if TYPE_CHECKING:
    import pandas as pd


def selection_of(search: Search, store: Store) -> Selection:
    """The choice among the trials of a search; of their scores only those of its regime are read.

    A network has diverged if its loss or a score is not finite after the last step, in training or
    in that regime.

    Args:
        search: What was run.

    Raises:
        StoreError: If a network has no record.
        ValueError: If the score was not measured, or every trial has a network that diverged.
    """
    return Selection(
        fields=search.fields,
        metric=search.chosen_by,
        regime=search.regime,
        seeds=search.seeds,
        trials=tuple(
            ScoredTrial(
                values=trial.values,
                key=trial.experiment.key,
                scores=tuple(
                    _score(_found(store, trial.experiment.key, seed), search)
                    for seed in search.seeds
                ),
            )
            for trial in search.trials
        ),
    )


def _found(store: Store, key: str, seed: int) -> Record:
    record = store.find(key, seed)
    if record is None:
        raise StoreError(f"seed {seed} of experiment {key} is not recorded in {store.folder}")
    return record


def _score(record: Record, search: Search) -> float | None:
    """Score of a network; `None` if it diverged."""
    if record.diverged(search.regime) is not None:
        return None
    try:
        return record.final(search.regime, search.chosen_by)
    except KeyError:
        known = sorted({s.metric for s in record.scores if s.regime == search.regime})
        raise ValueError(
            f"metric must be one that was measured in {search.regime} ({', '.join(known)}), "
            f"got {search.chosen_by!r}"
        ) from None


def trials_frame(selection: Selection) -> pd.DataFrame:
    """All networks of a search, a row for each: the fields, then key, seed and score.

    Args:
        selection: What `selection_of` gave.

    Raises:
        ModuleNotFoundError: If pandas, an extra, is not installed.
    """
    return frame(
        dict(zip(selection.fields, trial.values, strict=True))
        | {"key": trial.key, "seed": seed, selection.metric: score}
        for trial in selection.trials
        for seed, score in zip(selection.seeds, trial.scores, strict=True)
    )
