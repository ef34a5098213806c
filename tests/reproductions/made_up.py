"""Claims and records that nobody trained, for tests of what becomes of them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from functools import cache

import msgspec

from farfield.experiments import Experiment, Network, Recipe, Selection, Spec
from farfield.experiments.internal import ScoredTrial
from farfield.models import LSTM
from farfield.records import Record, Score
from farfield.records.internal import DIVERGED
from farfield.reproductions import Claim, Published, Unpublished, VerdictRule
from farfield.tasks import SameDifferent

STEPS = 100
ENVIRONMENT = {"commit": "release", "torch": "2.13.0", "processor": "none", "engine": "none"}


def published(mean: float, spread: float, runs: int = 10, decimals: tuple = (1, 1)) -> Published:
    return Published(
        mean=mean,
        spread=spread,
        spread_kind="standard error",
        runs=runs,
        decimals=decimals,
        unit="percent",
        selection="last epoch",
        split="test",
    )


def selection(hidden_size: int = 512) -> Selection:
    """A made-up choice of a size by two networks each."""
    trials = [
        ScoredTrial(values=(size,), key=f"size {size}", scores=(score, score))
        for size, score in ((hidden_size // 2, 0.5), (hidden_size, 0.7), (2 * hidden_size, 0.6))
    ]
    return Selection(
        fields=("model.reasoner.hidden_size",),
        metric="accuracy",
        regime="validation",
        seeds=(0, 1),
        trials=tuple(trials),
    )


def claim(
    mean: float = 90.0,
    spread: float = 0.5,
    *,
    row: str = "LSTM + TCN",
    hidden_size: int = 512,
    withheld: int = 98,
    runs: int = 10,
    data: str | None = None,
) -> Claim:
    """One made-up cell; rows with different `hidden_size` are different experiments."""
    return Claim(
        paper="webb2021",
        table="table-9",
        row=row,
        column=f"m = {withheld}",
        published=published(mean, spread, runs),
        experiment=Experiment(
            task=SameDifferent(withheld=withheld),
            model=Network(reasoner=Spec(LSTM, hidden_size=hidden_size)),
            recipe=Recipe(steps=STEPS),
        ),
        rule=VerdictRule(),
        metric="accuracy",
        regime=f"withheld-{withheld}",
        quick=0.1,
        subject="Same/different",
        free=("shapes",),
        data=data,
    )


def three(regime: str) -> tuple[str, ...]:
    """Cells of three models with TCN."""
    return tuple(f"{name}+tcn/{regime}" for name in ("esbn", "transformer", "lstm"))


def number_of(claim: Claim) -> float:
    """The published mean, or 60 where none is printed."""
    return claim.published.mean if isinstance(claim.published, Published) else 60.0


def unpublished(
    goal: float | None = None,
    *,
    row: str = "Ours",
    hidden_size: int = 512,
) -> Claim:
    """One made-up cell of which no paper prints a number."""
    own = Unpublished(runs=10, selection="last epoch", split="test", goal=goal)
    return dataclasses.replace(claim(row=row, hidden_size=hidden_size), published=own)


def records(
    claim: Claim, percents: Sequence[float], *, steps: int = STEPS, first_seed: int = 0
) -> list[Record]:
    """One record for each number, in hundredths."""
    key, described = _described(claim.experiment, steps)
    return [
        Record(
            key=key,
            experiment=described,
            seed=seed,
            steps=steps,
            scores=(
                Score(step=steps, regime="training", metric="accuracy", value=1.0, count=4),
                Score(
                    step=steps,
                    regime=claim.regime,
                    metric=claim.metric,
                    value=float(percent) / 100,
                    count=10_000,
                ),
            ),
            seconds=1.5 + seed,
            environment=ENVIRONMENT,
        )
        for seed, percent in enumerate(percents, first_seed)
    ]


@cache
def _described(experiment: Experiment, steps: int) -> tuple[str, dict[str, object]]:
    """Key and JSON of the experiment with that many steps; reports ask thousands of times."""
    shortened = experiment.at_fraction(steps / experiment.recipe.steps)
    return shortened.key, shortened.to_json()


def diverged(
    records: Sequence[Record], seed: int, step: int, loss: float = math.nan
) -> list[Record]:
    """The records with one as of a network whose loss is not finite since a step."""
    steps = records[0].steps
    marks = (
        Score(step=step, regime="training", metric=DIVERGED, value=1.0, count=1),
        Score(step=steps, regime="training", metric="loss", value=loss, count=4),
    )
    return [
        msgspec.structs.replace(record, scores=record.scores + marks)
        if record.seed == seed
        else record
        for record in records
    ]


def spread_out(mean: float, standard_error: float, count: int = 10) -> list[float]:
    """`count` numbers with exactly that mean and standard error."""
    half = [index - (count - 1) / 2 for index in range(count)]
    deviation = (sum(x * x for x in half) / (count - 1)) ** 0.5
    scale = standard_error * count**0.5 / deviation
    return [mean + scale * x for x in half]
