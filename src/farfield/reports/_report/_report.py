"""Reports: tables of claims with results, from records alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, final

from farfield.metrics import Interval
from farfield.metrics.internal import measure_of
from farfield.records import Record, frame
from farfield.reports._report._levels import Levels
from farfield.reproductions import Budget, Claim, Table, judge
from farfield.reproductions.internal import Judgement
from farfield.tasks import GlyphSet, Task, is_at_hand

if TYPE_CHECKING:
    import pandas as pd

IMAGES = {"webb2021": " --images paper", "letters": " --images letters"}
"""Option of a command for images that are not built in, by the name of the table."""

Finder = Callable[[Claim], Sequence[Record]]
"""Records to judge a claim by."""


@final
@dataclass(frozen=True, kw_only=True)
class Row:
    """One claim with its records and verdict.

    Args:
        name: Name of the cell within the table.
        judgement: The verdict and its grounds.
        records: Networks of ours, by seed.
        floor: Score of answers that ignore the problem, in the published unit; NaN if unknown.
        ceiling: Score of the oracle, in the published unit.
        command: Command that makes this row.
        earlier: Networks of each recipe that the claim had before, the first one first.
        missing: Commits that the repository lacks.
    """

    name: str
    claim: Claim
    judgement: Judgement
    records: tuple[Record, ...]
    floor: float
    ceiling: float
    command: str
    earlier: tuple[tuple[Record, ...], ...] = ()
    missing: AbstractSet[str] = frozenset()

    @property
    def values(self) -> tuple[float, ...]:
        """Score of each network that did not diverge, by seed, in the published unit."""
        scale = self.claim.published.scale
        return tuple(
            scale * record.final(self.claim.regime, self.claim.metric) for record in self.kept
        )

    @property
    def interval(self) -> Interval | None:
        """Interval of the mean in the published unit, cut where no mean can be.

        `None` for fewer than two networks.
        """
        if len(values := self.values) < 2:
            return None
        measure, claim = measure_of(self.claim.metric), self.claim
        return measure.interval(
            values, scale=claim.published.scale, confidence=claim.rule.confidence
        )

    @property
    def kept(self) -> tuple[Record, ...]:
        """Networks that did not diverge, by seed."""
        gone = dict(self.judgement.diverged)
        return tuple(record for record in self.records if record.seed not in gone)

    @property
    def fields(self) -> dict[str, Any]:
        """Cell as plain values by name, as in a row of a data frame."""
        claim, judgement, published = self.claim, self.judgement, self.claim.published
        ours, difference = judgement.ours, judgement.difference
        return {
            "cell": self.name,
            "subject": claim.subject,
            "row": claim.row,
            "column": claim.column,
            "regime": claim.regime,
            "distance": self.distance,
            "metric": claim.metric,
            "published": getattr(published, "mean", None),
            "spread": getattr(published, "spread", None),
            "mean": None if ours is None else ours.mean,
            "standard_error": None if ours is None else ours.standard_error,
            "networks": judgement.seeds,
            "diverged": len(judgement.diverged),
            "fraction": judgement.fraction,
            "low": None if difference is None else difference.interval.low,
            "high": None if difference is None else difference.interval.high,
            "floor": self.floor,
            "ceiling": self.ceiling,
            "verdict": judgement.verdict.value,
            "seconds": self.seconds,
        }

    @property
    def seconds(self) -> float | None:
        """Wall-clock seconds of training and scoring, all networks; `None` without any."""
        return sum(record.seconds for record in self.records) if self.records else None

    @property
    def environments(self) -> tuple[str, ...]:
        """Origins of its networks (code and machine), each in a line."""
        parts = ("processor", "capability", "device", "engine", "torch", "farfield", "commit")
        places = (
            ", ".join(f"{part} {where[part]}" for part in parts if part in where)
            for where in (record.environment for record in self.records)
        )
        return tuple(dict.fromkeys(places))

    @property
    def distance(self) -> float:
        """Distance of the regime from training."""
        return _regime_distance(self.claim)[0]

    @property
    def unit(self) -> str:
        """Unit of the distance."""
        return _regime_distance(self.claim)[1]


@final
@dataclass(frozen=True, kw_only=True)
class Report:
    """A table with its results.

    Args:
        key: Name of the table.
        title: Title in one line.
        rows: Its cells, in the table's order.
        tuned: Text on choices made for the rows and their data; `None` for no text.
    """

    key: str
    title: str
    rows: tuple[Row, ...]
    tuned: str | None = None

    @property
    def subjects(self) -> dict[str, list[Row]]:
        """Rows by the subject of their table."""
        groups: dict[str, list[Row]] = {}
        for row in self.rows:
            groups.setdefault(row.claim.subject, []).append(row)
        return groups

    def frame(self) -> pd.DataFrame:
        """Return the cells as a data frame of pandas, a row for each, in the unit of the paper.

        Raises:
            ModuleNotFoundError: If pandas, an extra, is not installed.
        """
        return frame(row.fields for row in self.rows)

    @property
    def run(self) -> list[Row]:
        """Rows that were run."""
        return [row for row in self.rows if row.records]

    def without_diverged(self) -> Report:
        """Return the report without networks that diverged, to draw pictures of."""
        rows = tuple(replace(row, records=row.kept) for row in self.rows)
        return replace(self, rows=rows)

    @property
    def verdicts(self) -> dict[str, int]:
        """Number of claims by verdict, the most frequent first."""
        return dict(Counter(row.judgement.verdict.value for row in self.rows).most_common())

    @property
    def environments(self) -> dict[str, list[Row]]:
        """Rows by the origin of their networks, which is a line of text."""
        found: dict[str, list[Row]] = {}
        for row in self.rows:
            for place in row.environments:
                found.setdefault(place, []).append(row)
        return found


def tabulate(
    table: Table,
    find: Finder,
    budget: Budget = Budget.PAPER,
    levels: Levels | None = None,
    missing: AbstractSet[str] = frozenset(),
) -> Report:
    """Return the table with results of the records.

    Args:
        table: The claims.
        find: The records to judge a claim by, e.g. from `records_at`.
        budget: Budget of the commands beside the rows.
        levels: Floors and ceilings that are known; `None` measures all of them.
        missing: Commits that the repository lacks.

    Raises:
        ValueError: If records do not belong to the claim they were found for.
    """
    levels = levels or Levels()
    found = {claim.name: tuple(find(claim)) for claim in (*table.claims, *table.others)}
    runs = [(claim, found[claim.name]) for claim in (*table.claims, *table.others)]

    def row(name: str, claim: Claim) -> Row:
        lacks_data = not is_at_hand(claim.experiment.task)
        level, scale = levels.of(claim), claim.published.scale
        return Row(
            name=name,
            claim=claim,
            judgement=judge(claim, found[claim.name], runs, data_missing=lacks_data),
            records=tuple(sorted(found[claim.name], key=lambda record: record.seed)),
            floor=scale * level.floor,
            ceiling=scale * level.ceiling,
            command=claim.command(budget) + _images_option(claim.experiment.task),
            missing=missing,
        )

    return Report(
        key=table.key,
        title=table.title,
        tuned=table.tuned,
        rows=tuple(row(name, claim) for name, claim in table.cells.items()),
    )


def records_at(
    records: Callable[[str, int | None], Sequence[Record]], budget: Budget, seeds: int | None = None
) -> Finder:
    """Find the records of a claim at a budget, each once.

    Args:
        records: The records of an experiment, by its key and the number of seeds:
            `Store(...).records`.
        budget: Share of the paper's steps.
        seeds: Only seeds below this number; all of them if `None`.
    """
    read = cache(records)
    return lambda claim: [*read(claim.at(budget).key, seeds)]


def _images_option(task: Task) -> str:
    """Return the option of the command for images that are not built in."""
    shapes = getattr(task, "shapes", None)
    return IMAGES.get(shapes.name, "") if isinstance(shapes, GlyphSet) else ""


def _regime_distance(claim: Claim) -> tuple[float, str]:
    for regime in claim.experiment.regimes:
        if regime.name == claim.regime:
            return regime.distance, regime.unit
    raise ValueError(f"{claim.name} names a regime that its task lacks: {claim.regime!r}")
