"""A claim: one published number, or a goal of our own, beside the experiment that tests it."""

from __future__ import annotations

import dataclasses
import fnmatch
import math
import reprlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum, unique
from functools import cache, cached_property
from typing import Any, cast, final

from torch import nn

from farfield.core.internal import REFERENCES, UnknownNameError
from farfield.experiments import ByHand, Experiment, Selection, Spec
from farfield.metrics.internal import measure_of
from farfield.reproductions._published import Confirmation, Published, Unpublished
from farfield.reproductions._rule import VerdictRule
from farfield.tasks.internal import metric_of, no_memory_loss

Json = Any


@final
@unique
class Budget(StrEnum):
    """Number of training steps of a run: the paper's, or fewer."""

    QUICK = "quick"
    PAPER = "paper"


@final
@dataclass(frozen=True, kw_only=True)
class Claim:
    """One cell of a published table, with the experiment that tests it.

    Args:
        paper: Key of the paper, e.g. `"webb2021"`.
        table: Table of the number, e.g. `"table-11"`.
        row: Row as published, e.g. `"ESBN + TCN"`.
        column: Column as published, e.g. `"m = 95"`.
        published: The number and its meaning, or its substitute.
        experiment: Experiment that tests it, with the paper's number of steps.
        rule: How the verdict is reached.
        metric: Name of the score compared, e.g. `"accuracy"`.
        regime: Name of the regime scored, e.g. `"withheld-95"`.
        quick: Fraction of the paper's steps in the quick budget, in (0, 1].
        unbuilt: Whether its model is not built here, so that it is never run.
        quick_before: The same of everything that the experiment starts from; `None` for the
            same fraction.
        subject: Subject of its table, for headings, e.g. `"Distribution-of-three"`.
        group: Set before the name of the cell where a table is about several tasks, e.g.
            `"identity-rules"`.
        free: Fields of the task in which a run may differ and still test the claim, e.g. which
            images are shown.
        data: Real data that the experiment needs and nobody can generate; `None` for none.
        selection: The search by which fields of the experiment were chosen; `None` for none.

    Raises:
        ValueError: If the paper is unknown, a fraction lies outside (0, 1], a goal is no possible
            score, the model or the recipe is not the one that a confirmation froze, the experiment
            has other values than its selection, or the rule accepts intervals wider than a tenth of
            the range of the measure.
    """

    paper: str
    table: str
    row: str
    column: str
    published: Published | Unpublished
    experiment: Experiment
    rule: VerdictRule
    metric: str
    regime: str
    quick: float
    subject: str
    group: str = ""
    free: tuple[str, ...] = ()
    data: str | None = None
    quick_before: float | None = None
    unbuilt: bool = False
    selection: Selection | None = None

    def __post_init__(self) -> None:
        if self.paper not in REFERENCES:
            raise UnknownNameError("paper", self.paper, REFERENCES)
        if self.selection is not None and not self.selection.is_of(self.experiment):
            raise ValueError(
                f"experiment of {self.name} must have the values of its selection "
                f"({self.selection}); make it by selection.of(experiment)"
            )
        for name in ("quick", "quick_before"):
            fraction = getattr(self, name)
            if fraction is not None and not 0 < fraction <= 1:
                raise ValueError(f"{name} must lie in (0, 1], got {fraction}")
        measure, scale = measure_of(self.metric), self.published.scale
        lowest, highest = scale * measure.lowest, scale * measure.highest
        if isinstance(self.published, Unpublished):
            goal = self.published.goal
            if goal is not None and not lowest <= goal <= highest:
                raise ValueError(
                    f"goal of {self.name} must lie in {lowest:g}…{highest:g} "
                    f"({self.published.unit}), got {goal}"
                )
            frozen = self.published.confirmation
            if frozen is not None and frozen.recipe != self.recipe_digest:
                raise ValueError(
                    f"confirmation of {self.name} must be of its model and recipe, which are "
                    f"{self.recipe_digest} now, got {frozen.recipe}"
                )
        elif self.rule.widest > 0.1 * (highest - lowest) * (1 + 1e-9):
            raise ValueError(
                f"widest of the rule of {self.name} must be at most {0.1 * (highest - lowest):g}, "
                f"a tenth of the range, got {self.rule.widest}"
            )

    @property
    def floor(self) -> float:
        """Score of answers that ignore the problem, as recorded; NaN if unknown."""
        task: Any = self.experiment.task
        if self.metric == "loss":
            return no_memory_loss(task, self.regime)
        if self.metric.partition("/")[0] == metric_of(task):
            return float(self.experiment.chance(self.regime))
        # Of scores of a set only one is as the task's score would be.
        return (
            1 - float(self.experiment.chance(self.regime)) if self.metric == "error" else math.nan
        )

    @property
    def trains_nothing(self) -> bool:
        """True if a rule answers, or a model that returns its input."""
        core = getattr(self.experiment.model, "core", None)
        return self.is_by_hand or (isinstance(core, Spec) and core.cls is nn.Identity)

    @property
    def recipe_digest(self) -> str:
        """Digest of the experiment without its task and perturbations."""
        described = self.experiment.to_json()
        kept = {
            name: what for name, what in described.items() if name not in ("task", "perturbations")
        }
        return Experiment.key_of(kept)

    @property
    def confirmation(self) -> Confirmation | None:
        """Networks that are to confirm its goal; `None` for none."""
        return None if isinstance(self.published, Published) else self.published.confirmation

    def confirming(self, others: Iterable[Claim]) -> Claim | None:
        """Return the claim that is to confirm the goal of this claim; `None` without one.

        Args:
            others: Where to look.
        """
        if self.confirmation is None:
            return None
        place = self.home, self.confirmation.by
        return next((other for other in others if (other.home, other.cell) == place), None)

    @property
    def is_by_hand(self) -> bool:
        """True if a rule answers in place of a network."""
        return isinstance(self.experiment.model, ByHand)

    def by_hand(self, others: Iterable[Claim]) -> tuple[Claim, ...]:
        """Return the rows by hand in the column of this claim, of its task where there are any.

        Args:
            others: Where to look.
        """
        column = self.home, self.group, self.regime, self.metric
        rows = tuple(
            other
            for other in others
            if other.is_by_hand and (other.home, other.group, other.regime, other.metric) == column
        )
        task = self.experiment.task
        return tuple(row for row in rows if row.experiment.task == task) or rows[:1]

    @property
    def cell(self) -> str:
        """Name within its table, e.g. `"esbn+tcn/withheld-95"`."""
        return cell_name(self.row, self.regime, self.group)

    @property
    def home(self) -> str:
        """Key of the table of the claim, e.g. `"webb2021/table-11"`."""
        return f"{self.paper}/{self.table}"

    @property
    def name(self) -> str:
        """Unique name, e.g. `"webb2021/table-11/esbn+tcn/withheld-95"`."""
        return f"{self.home}/{self.cell}"

    def command(self, budget: Budget) -> str:
        """Write the command that runs this claim.

        Args:
            budget: How many steps to spend.
        """
        shortened = self.quick < 1 or (self.quick_before or 1) < 1
        whole = f" --budget {budget.value}" if budget is Budget.PAPER and shortened else ""
        return f"farfield reproduce {self.home} --cell {self.cell}{whole}"

    def same_experiment(self, other: Mapping[str, Json], steps: int) -> bool:
        """Tell if an experiment as JSON tests this claim, at some number of steps.

        Args:
            other: Result of `Experiment.to_json`.
            steps: Steps it was run for.

        Raises:
            ValueError: If it lacks steps that `steps_of` needs.
        """
        found = steps_of(other)
        if len(found) != len(self._steps) or found[-1] != steps:
            return False
        pairs = list(zip(found, self._steps, strict=True))
        if any(spent > paper for spent, paper in pairs):
            return False
        *before, fraction = [spent / paper for spent, paper in pairs]
        own = _described(self.experiment, fraction, before[-1] if before else None)
        return self._fixed(own) == self._fixed(other)

    @property
    def _steps(self) -> tuple[int, ...]:
        """Steps of the paper in every stage."""
        return tuple(stage.recipe.steps for stage in self.experiment.stages)

    def lacks(self, described: Mapping[str, Json]) -> list[str]:
        """Find stages in which an experiment as JSON has fewer steps than the paper.

        Args:
            described: Result of `Experiment.to_json`.
        """
        pairs = list(zip(steps_of(described), self._steps, strict=True))
        stages = [*(" before" for _ in pairs[1:]), ""]
        return [
            f"{steps:,} of {paper:,} steps{stage}"
            for (steps, paper), stage in zip(pairs, stages, strict=True)
            if steps < paper
        ]

    def fraction(self, described: Mapping[str, Json]) -> float:
        """Compute the fraction of the paper's steps in an experiment as JSON, all stages together.

        Args:
            described: Result of `Experiment.to_json`.
        """
        return sum(steps_of(described)) / sum(self._steps)

    def _fixed(self, described: Mapping[str, Json]) -> dict[str, Json]:
        """Build an experiment as JSON without the fields of the task that are free."""
        task = described.get("task")
        if not isinstance(task, Mapping):
            return {**described}
        kept = {name: value for name, value in task.items() if name not in self.free}
        return {**described, "task": kept}

    def at(self, budget: Budget) -> Experiment:
        """Build the experiment at a budget."""
        if budget is Budget.PAPER:
            return self.experiment
        return self.experiment.at_fraction(self.quick, before=self.quick_before)


def cell_name(row: str, regime: str, group: str = "") -> str:
    """Build the name of a cell within its table, e.g. `"esbn+tcn/withheld-95"`.

    Args:
        row: Row as published.
        regime: Regime of the column.
        group: Group of the column; empty without groups.
    """
    lower = row.lower().replace(" + ", "+").replace(" ", "-").replace("/", "-")
    # In patterns of cells a star matches anything.
    plain = lower.replace("*", "-star").translate(str.maketrans("", "", "().,"))
    return "/".join(part for part in (group, plain, regime) if part)


@cache
def _described(experiment: Experiment, fraction: float, before: float | None) -> dict[str, Json]:
    """Describe an experiment at a fraction of its steps as JSON, to compare records with."""
    return experiment.at_fraction(fraction, before=before).to_json()


def _check_confirmation(claim: Claim, other: Claim | None) -> None:
    """Raise `ValueError` unless a claim asks for the same of the same recipe on other problems."""
    if (
        other is None
        or isinstance(other.published, Published)
        or isinstance(claim.published, Published)
        or (other.metric, other.published.goal) != (claim.metric, claim.published.goal)
        or other.recipe_digest != claim.recipe_digest
        or (other.experiment.key, other.regime) == (claim.experiment.key, claim.regime)
    ):
        raise ValueError(
            f"confirmation of {claim.name} must be a cell of its table with the same goal, metric, "
            f"model and recipe, and another task or regime, got {claim.confirmation}"
        )


def steps_of(described: Mapping[str, Json]) -> tuple[int, ...]:
    """List steps of every stage of an experiment as JSON, the last one last.

    Args:
        described: Result of `Experiment.to_json`.

    Raises:
        ValueError: If a stage is not an object, or its steps are not an integer ≥ 1.
    """
    found: list[int] = []
    stage: Json = described
    while stage is not None:
        recipe = _field(stage, "recipe")
        steps = _field(recipe, "steps")
        if type(steps) is not int or steps < 1:
            raise ValueError(
                f"experiment must have an integer ≥ 1 as recipe.steps, got {reprlib.repr(steps)}"
            )
        found.append(steps)
        first = stage.get("starts_from")
        stage = None if first is None else _field(first, "experiment")
    return tuple(reversed(found))


def _field(described: Json, name: str) -> Json:
    """Return a required field of a JSON object of an experiment."""
    if not isinstance(described, Mapping) or described.get(name) is None:
        raise ValueError(
            f"experiment must have an object with {name} there, got {reprlib.repr(described)}"
        )
    return described[name]


@final
@dataclass(frozen=True, kw_only=True)
class Table:
    """A table of claims: a published table, or a selection from several.

    Args:
        key: Name on the command line, e.g. `"webb2021/table-11"`.
        title: Title in one line.
        claims: The cells, row by row.
        others: Cells that are not shown but stand in the same columns: an order is judged against
            them too.
        steps_published: Whether the paper says how long it trains; otherwise all of the steps are
            those planned here.
        tuned: Text on choices made for the rows and their data; `None` for no text.

    Raises:
        ValueError: If there are no claims, two have the same name, or a goal is to be confirmed by
            a cell that is not there or does not ask for the same of the same model and recipe.
    """

    key: str
    title: str
    claims: tuple[Claim, ...]
    others: tuple[Claim, ...] = ()
    steps_published: bool = True
    tuned: str | None = None

    def __post_init__(self) -> None:
        if not self.claims:
            raise ValueError(f"claims of {self.key} must not be empty")
        if len(self.cells) < len(self.claims):
            raise ValueError(f"claims of {self.key} must have different names")
        for claim in self.claims:
            if claim.confirmation is not None and isinstance(claim.confirmation.by, str):
                _check_confirmation(claim, claim.confirming((*self.claims, *self.others)))

    @cached_property
    def cells(self) -> dict[str, Claim]:
        """Claims by name within this table.

        A selection from several tables puts the table's name before that of the cell, e.g.
        `"table-11/esbn+tcn/withheld-95"`.
        """
        several = len({claim.home for claim in (*self.claims, *self.others)}) > 1
        return {
            f"{claim.table}/{claim.cell}" if several else claim.cell: claim for claim in self.claims
        }

    def select(self, *patterns: str) -> Table:
        """Select the cells of the table that match a pattern (`*` matches anything).

        Args:
            patterns: Names of cells, e.g. `"esbn+tcn/*"`; none selects everything.

        Raises:
            UnknownNameError: If a pattern matches no cell.
        """
        if not patterns:
            return self
        for pattern in patterns:
            if not fnmatch.filter(self.cells, pattern):
                raise UnknownNameError("cell", pattern, self.cells)
        chosen = {
            name
            for name in self.cells
            if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
        }
        left_out = [claim for name, claim in self.cells.items() if name not in chosen]
        return dataclasses.replace(
            self,
            claims=tuple(claim for name, claim in self.cells.items() if name in chosen),
            others=(*self.others, *left_out),
        )

    def with_task(self, **fields: object) -> Table:
        """Copy the table with its tasks changed in fields that the claims leave free.

        Cells that confirm a goal stay unchanged.

        Args:
            fields: Fields of the tasks, e.g. `shapes=GlyphSet.paper()`.

        Raises:
            ValueError: If a claim fixes a field.
        """
        every = (*self.claims, *self.others)
        kept = {other.name for claim in every if (other := claim.confirming(every))}

        def change(claim: Claim) -> Claim:
            if claim.name in kept:
                return claim
            for name in fields:
                if name not in claim.free:
                    raise ValueError(f"{name} is fixed by {claim.name}; free: {claim.free}")
            task = dataclasses.replace(cast("Any", claim.experiment.task), **fields)
            return dataclasses.replace(
                claim, experiment=dataclasses.replace(claim.experiment, task=task)
            )

        return dataclasses.replace(
            self,
            claims=tuple(map(change, self.claims)),
            others=tuple(map(change, self.others)),
        )
