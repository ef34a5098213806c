"""What a plate looks into: the trained network of a run, and the problems that the run drew."""

from __future__ import annotations

from typing import NamedTuple

from torch import nn

from farfield.core import Problems
from farfield.records import Record, Store
from farfield.reports._report import Row
from farfield.tasks import Task
from farfield.training import problems_of_run, trained_network


class LookedInto(NamedTuple):
    """A run whose network is looked into.

    Attributes:
        task: Its task.
        network: Its trained network.
        sets: The problems that it drew, by regime.
    """

    task: Task
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
    whole = row.claim.experiment
    experiment = whole.at_fraction(record.steps / whole.recipe.steps)
    network = trained_network(experiment, record.seed, store)
    return LookedInto(experiment.task, network, problems_of_run(experiment.task, record.seed))


def trained_share(row: Row) -> float:
    """Share of its steps that a row was trained for; 0 where it was not run.

    Args:
        row: The cell.
    """
    return row.judgement.fraction or 0.0
