"""Trained networks of runs, with the problems that the runs drew."""

from __future__ import annotations

from typing import NamedTuple

from torch import nn

from farfield.analysis import routing_of
from farfield.analysis.internal import Routing
from farfield.core import Problems
from farfield.records import Record, Store
from farfield.reports._report._report import Report, Row
from farfield.tasks import ProblemTask
from farfield.training import trained_network
from farfield.training.internal import problems_of_run


class LookedInto(NamedTuple):
    """A run with its trained network and problems.

    Attributes:
        task: Its task.
        network: Its trained network.
        sets: The problems that it drew, by regime.
    """

    task: ProblemTask
    network: nn.Module
    sets: dict[str, Problems]


def looked_into(row: Row, record: Record, store: Store) -> LookedInto:
    """The trained network behind a record of a row, and its problems.

    Args:
        row: The cell.
        record: One of its runs.
        store: Where the trained networks lie.

    Raises:
        StoreError: If the trained network is missing.
    """
    task = row.claim.experiment.problem_task
    return LookedInto(task, network_of(row, record, store), problems_of_run(task, record.seed))


def network_of(row: Row, record: Record, store: Store) -> nn.Module:
    """The trained network behind a record of a row.

    Args:
        row: The cell.
        record: One of its runs.
        store: Where the trained networks lie.

    Raises:
        StoreError: If it is missing.
    """
    whole = row.claim.experiment
    experiment = whole.at_fraction(record.steps / whole.recipe.steps)
    return trained_network(experiment, record.seed, store)


def routings(
    report: Report, regime: str, samples: int, store: Store
) -> tuple[Row, list[Routing]] | None:
    """The row with the largest share of its steps, and the routing of its networks.

    `None` where none was run.

    Args:
        report: The cells.
        regime: Whose problems are routed.
        samples: How many of them, the first ones.
        store: Where the trained networks lie.

    Raises:
        StoreError: If a trained network is missing.
    """
    if not report.run:
        return None
    row = max(report.run, key=lambda row: row.judgement.fraction or 0.0)
    looked = (looked_into(row, record, store) for record in row.records)
    return row, [routing_of(one.network, one.sets[regime][:samples]) for one in looked]
