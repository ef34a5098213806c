"""Choices from the store: which scores are read, and what a run leaves."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

from farfield.execution import Here, jobs_of, run
from farfield.experiments import (
    Choice,
    Experiment,
    ItemNetwork,
    Recipe,
    Search,
    SequenceNetwork,
    Spec,
)
from farfield.models import BottleneckMLP
from farfield.nn import LSTMLayer
from farfield.records import Record, Score, Store, StoreError, selection_of, trials_frame
from farfield.tasks import Copying, DigitDomains

TASK = Copying(
    dormant=2,
    test_dormant=(3,),
    training_sequences=20,
    validation_sequences=10,
    test_sequences=(10,),
)
SEARCH = Search(
    experiment=Experiment(
        task=TASK,
        model=SequenceNetwork(core=Spec(LSTMLayer, hidden_size=2)),
        recipe=Recipe(steps=2),
    ),
    over=(Choice(field="recipe.learning_rate", values=(0.1, 0.01, 0.001)),),
    seeds=(0, 1),
)


def fill(store: Store, scores: list[tuple[float, float]], search: Search = SEARCH) -> None:
    """Write a record of every network, whose test scores fall as the others rise."""
    for made, each in zip(search.experiments, scores, strict=True):
        for seed, value in zip(search.seeds, each, strict=True):
            values = {"training": value, "validation": value, "dormant-3": 1 - value}
            record = Record(
                key=made.key,
                experiment=made.to_json(),
                seed=seed,
                steps=2,
                scores=tuple(
                    Score(step=2, regime=regime, metric="accuracy", value=score, count=1)
                    for regime, score in values.items()
                ),
                seconds=1.0,
                environment={},
            )
            store.write(record, {"w": torch.ones(1)})


def test_validation_decides_and_no_test(tmp_path: Path) -> None:
    store = Store(tmp_path)
    fill(store, [(0.1, 0.3), (0.8, 0.9), (0.2, 0.2)])
    found = selection_of(SEARCH, store)
    assert found.best.values == (0.01,)
    assert [trial.scores for trial in found.trials] == [(0.1, 0.3), (0.8, 0.9), (0.2, 0.2)]
    assert [trial.key for trial in found.trials] == [made.key for made in SEARCH.experiments]


def test_a_trial_that_diverged_is_kept_and_not_chosen(tmp_path: Path) -> None:
    store = Store(tmp_path)
    fill(store, [(0.1, 0.3), (0.99, math.nan), (0.2, 0.3)])
    found = selection_of(SEARCH, store)
    assert found.trials[1].scores == (0.99, None)
    assert found.best.values == (0.001,)


def test_a_trial_counts_by_the_mean_over_domains_that_are_left_out(tmp_path: Path) -> None:
    search = Search(
        experiment=Experiment(
            task=DigitDomains(kind="rotated", left_out=("rotation-15", "rotation-30")),
            model=ItemNetwork(core=Spec(BottleneckMLP)),
            recipe=Recipe(steps=2),
        ),
        over=(Choice(field="recipe.learning_rate", values=(0.1, 0.01, 0.001)),),
        regime="left-out-domain",
    )
    scores = {
        (0.1,): (0.9, 0.1, 0.2),  # the best on one domain
        (0.01,): (0.5, 0.5, 0.5),
        (0.001,): (0.9, 0.9, math.nan),
    }
    store = Store(tmp_path)
    for trial in search.trials:
        for (made, domain), value in zip(search.scored(trial), scores[trial.values], strict=True):
            regimes = {"training": 1.0, "validation": float(value == 0.1), domain: value}
            record = Record(
                key=made.key,
                experiment=made.to_json(),
                seed=0,
                steps=2,
                scores=tuple(
                    Score(step=2, regime=name, metric="accuracy", value=score, count=1)
                    for name, score in regimes.items()
                ),
                seconds=1.0,
                environment={},
            )
            store.write(record, {"w": torch.ones(1)})
    found = selection_of(search, store)
    assert [trial.scores for trial in found.trials] == [(pytest.approx(0.4),), (0.5,), (None,)]
    assert found.chosen == {"recipe.learning_rate": 0.01}
    assert found.of(search.experiment).task == search.experiment.task
    assert "by left-out-domain accuracy" in str(found)
    assert not found.is_oracle


def test_a_missing_network_and_a_score_that_was_not_measured_are_named(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with pytest.raises(StoreError, match=r"seed 0 of experiment .* is not recorded"):
        selection_of(SEARCH, store)
    by_loss = Search(
        experiment=SEARCH.experiment, over=SEARCH.over, seeds=SEARCH.seeds, metric="loss"
    )
    fill(store, [(0.1, 0.3), (0.8, 0.9), (0.2, 0.2)])
    with pytest.raises(ValueError, match=r"metric must be one that was measured .*\(accuracy\)"):
        selection_of(by_loss, store)


def test_the_frame_has_a_row_for_each_network(tmp_path: Path) -> None:
    store = Store(tmp_path)
    fill(store, [(0.1, 0.3), (0.8, math.inf), (0.2, 0.2)])
    frame = trials_frame(selection_of(SEARCH, store))
    assert list(frame.columns) == ["recipe.learning_rate", "key", "seed", "accuracy"]
    assert frame["recipe.learning_rate"].tolist() == [0.1, 0.1, 0.01, 0.01, 0.001, 0.001]
    assert frame["seed"].tolist() == [0, 1] * 3
    assert frame["accuracy"].isna().tolist() == [False] * 3 + [True] + [False] * 2


def test_trials_are_ordinary_runs_that_go_on_where_they_stopped(tmp_path: Path) -> None:
    store, jobs = Store(tmp_path), jobs_of(SEARCH.experiments, SEARCH.seeds)
    run(jobs[:3], store, Here())
    found: list[bool] = []
    run(jobs, store, Here(), report=lambda news: found.append(news.found))
    assert found.count(True) == 3
    chosen = selection_of(SEARCH, store)
    means = [
        sum(store.records(made.key)[seed].final("validation") for seed in (0, 1)) / 2
        for made in SEARCH.experiments
    ]
    assert chosen.best.values == (SEARCH.over[0].values[means.index(max(means))],)  # type: ignore[union-attr]
    assert chosen.best.key == chosen.of(SEARCH.experiment).key
