"""Recorded profiles of all mechanisms on the tasks of the suites, which come with the package."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from functools import cache
from importlib import resources
from pathlib import Path
from typing import final

import msgspec

from farfield.experiments import Experiment
from farfield.metrics.internal import measure_of
from farfield.records import Record
from farfield.reports import ExtrapolationProfile, extrapolation_profile
from farfield.reports.internal import Point, exported_at
from farfield.reproductions import Claim
from farfield.suites._suites import SUITES, Item
from farfield.tasks.internal import domains_of


class _Regime(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Scores in one regime, by seed, each the mean over some problems."""

    regime: str
    distance: float
    unit: str
    metric: str
    floor: float
    values: tuple[float, ...]
    seeds: tuple[int, ...]
    problems: int
    diverged: tuple[tuple[int, int], ...] = ()


@final
class Recorded(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A mechanism on one task of a suite, trained and scored before.

    Args:
        subject: The task, as the suite calls it.
        task: Name of the cell whose task and recipe it has.
        name: The mechanism, e.g. `ESBN + whitening`.
        key: `Experiment.key` of the run.
        steps: Steps of its training.
        seconds: Mean seconds of a network, wherever it was trained.
        regimes: Its scores.
    """

    subject: str
    task: str
    name: str
    key: str
    steps: int
    seconds: float
    regimes: tuple[_Regime, ...]

    @property
    def profile(self) -> ExtrapolationProfile:
        """Profile of the scores."""
        points = tuple(
            Point(
                regime=one.regime,
                distance=one.distance,
                unit=one.unit,
                values=one.values,
                floor=one.floor,
                measure=measure_of(one.metric),
                diverged=one.diverged,
                seeds=one.seeds,
            )
            for one in self.regimes
        )
        return ExtrapolationProfile(task=self.subject, points=points)


@cache
def recorded(suite: str) -> tuple[Recorded, ...]:
    """Load the recorded mechanisms of a suite.

    Args:
        suite: Name of the suite.
    """
    file = resources.files("farfield.suites") / "recorded" / f"{suite}.jsonl"
    lines = file.read_bytes().splitlines()
    return tuple(msgspec.json.decode(line, type=Recorded) for line in lines)


def record_suite(suite: str, folder: Path) -> bytes:
    """Collect the recorded mechanisms of a suite from the exports of `farfield report --export`.

    Args:
        suite: Name of the suite.
        folder: Folder of the exports, e.g. `results`.

    Returns:
        The contents of `suites/recorded/SUITE.jsonl` in the package.
    """
    encoder = msgspec.json.Encoder(order="sorted")
    lines = [one for item in SUITES[suite].items for one in _of_item(item, folder)]
    return b"".join(encoder.encode(line) + b"\n" for line in lines)


def _of_item(item: Item, folder: Path) -> Iterator[Recorded]:
    """Find the runs of equal length on the task of an item, a line for each mechanism."""
    find = exported_at(folder, item.budget)
    rows: dict[str, tuple[Claim, dict[int, Record]]] = {}
    for name, claim in comparable(item):
        _, networks = rows.setdefault(name, (claim, {}))
        for record in find(claim):
            networks[record.seed] = _joined(networks.get(record.seed, record), record)
    for name, (claim, networks) in rows.items():
        if networks:
            yield _line(item, name, claim, [networks[seed] for seed in sorted(networks)])


def comparable(item: Item) -> Iterator[tuple[str, Claim]]:
    """Find the cells with the task and the steps of an item, by the name of their mechanism.

    Args:
        item: One task of a suite.
    """
    for claim in item.claims:
        if _asked(claim.at(item.budget)) == _asked(item.experiment):
            yield item.of + claim.row.replace(" (conv)", ""), claim


def _asked(experiment: Experiment) -> tuple[object, ...]:
    """Describe the demands of an experiment on a mechanism, without its learning rate."""
    recipe = experiment.recipe
    domains = domains_of(experiment.task) if experiment.objective.by_domain else ("",)
    problems = len(domains) * recipe.batch_size
    return experiment.task, experiment.perturbations, recipe.steps, problems


def _joined(first: Record, second: Record) -> Record:
    """Join the scores of two lines of one network."""
    scores = {(s.step, s.regime, s.metric): s for s in (*first.scores, *second.scores)}
    return msgspec.structs.replace(first, scores=tuple(scores.values()))


def _line(item: Item, name: str, claim: Claim, records: list[Record]) -> Recorded:
    experiment = claim.at(item.budget)
    problems = {score.regime: score.count for record in records for score in record.scores}
    shown = [name for name in item.shown if name in problems]
    profile = extrapolation_profile(
        experiment.task, records, experiment.perturbations, regimes=shown
    )
    return Recorded(
        subject=item.subject,
        task=item.name,
        name=name,
        key=experiment.key,
        steps=experiment.recipe.steps,
        seconds=round(statistics.fmean(record.seconds for record in records), 1),
        regimes=tuple(
            _Regime(
                regime=point.regime,
                distance=point.distance,
                unit=point.unit,
                metric=point.measure.name,
                floor=point.floor,
                values=point.values,
                seeds=point.seeds,
                problems=problems[point.regime],
                diverged=point.diverged,
            )
            for point in profile.points
        ),
    )
