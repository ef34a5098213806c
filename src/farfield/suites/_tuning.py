"""Values of mechanisms on a suite, chosen on validation with an equal budget for each."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, final

from farfield.core.internal import UnknownNameError
from farfield.experiments import Choice, Experiment, Search, Selection
from farfield.experiments.internal import field_of
from farfield.metrics.internal import measure_of
from farfield.reports import Tabular
from farfield.suites._recorded import Recorded, comparable
from farfield.suites._suites import Item

TUNING_NETWORKS: Final = 2
"""Networks that try each value on each task."""
FACTORS: Final = (1.0, 0.2, 5.0)
"""Values of a field that is given without any, as multiples of the value in the task's recipe.

This value is the first, which is chosen where several are equally good.
"""
TUNED: Final = "{}, tuned"
"""Name of a recorded mechanism that is trained here with chosen values."""


@final
@dataclass(frozen=True, kw_only=True)
class Entrant:
    """A mechanism on one task of a suite, to be trained here.

    Args:
        name: Name of the mechanism.
        item: The task.
        experiment: The experiment.
    """

    name: str
    item: Item
    experiment: Experiment


@final
@dataclass(frozen=True, kw_only=True)
class Tuned:
    """Choice of the values of a mechanism on one task.

    Args:
        name: Name of the mechanism.
        item: The task.
        selection: All values that were tried, with their scores in validation.
    """

    name: str
    item: Item
    selection: Selection


def rivals_of(
    names: Iterable[str], items: Sequence[Item], lines: Iterable[Recorded]
) -> list[Entrant]:
    """Find the experiments of recorded mechanisms, to train them here.

    Args:
        names: Names of mechanisms, in upper or lower case.
        items: Tasks of the suite; a mechanism enters those on which it is recorded.
        lines: Recorded mechanisms of the suite.

    Raises:
        UnknownNameError: If no mechanism is recorded under a name.
    """
    known = {line.name.casefold(): line.name for line in lines}
    found = []
    for asked in names:
        if asked.casefold() not in known:
            raise UnknownNameError("rival", asked, known.values())
        wanted = known[asked.casefold()]
        for item in items:
            claims = [claim for name, claim in comparable(item) if name == wanted]
            if claims:
                experiment = claims[0].at(item.budget)
                name = TUNED.format(wanted)
                found.append(Entrant(name=name, item=item, experiment=experiment))
    return found


def search_of(entrant: Entrant, tune: Iterable[Choice | str], first_seed: int) -> Search:
    """Plan the search of a mechanism on a task: the same values and networks for each mechanism.

    Perturbed regimes are left out, as nothing is chosen on them.

    Args:
        entrant: The mechanism.
        tune: Fields with values; a field alone has multiples of the value in the task's recipe.
        first_seed: Seed of the first network.

    Raises:
        ValueError: If the mechanism has no such field, or the task no validation.
    """
    return Search(
        experiment=dataclasses.replace(entrant.experiment, perturbations=()),
        over=tuple(_choice(field, entrant.item) for field in tune),
        seeds=tuple(range(first_seed, first_seed + TUNING_NETWORKS)),
    )


def _choice(field: Choice | str, item: Item) -> Choice:
    """Return a field with its values: given, or around the value in the task's recipe."""
    if isinstance(field, Choice):
        return field
    usual = field_of(item.experiment, field)
    if not isinstance(usual, float):
        raise ValueError(
            f"tune must give the values of {field}, whose value is {usual!r}, got none: only "
            "fractions have values around them"
        )
    return Choice(field=field, values=tuple(float(f"{usual * factor:.6g}") for factor in FACTORS))


def trials_of(choices: Iterable[Tuned], *, chosen_alone: bool = False) -> Tabular:
    """List all values that were tried, with their scores in validation.

    Args:
        choices: The choices.
        chosen_alone: Whether to list the chosen values alone.
    """
    rows = [
        (choice, trial, dict(zip(choice.selection.fields, trial.values, strict=True)))
        for choice in choices
        for trial in choice.selection.trials
        if not chosen_alone or trial is choice.selection.best
    ]
    return Tabular(
        headings=("model", "task", "cell", "values", "validation", "networks", "chosen"),
        cells=tuple(
            (
                choice.name,
                choice.item.subject,
                choice.item.cell.rpartition("/")[2],
                ", ".join(
                    f"{name} {text}"
                    for name, text in zip(
                        choice.selection.names, choice.selection.texts(trial), strict=True
                    )
                ),
                "diverged"
                if trial.mean is None
                else f"{(m := measure_of(choice.selection.metric)).written(trial.mean)}{m.unit}",
                str(len(trial.scores)),
                "yes" if trial is choice.selection.best else "",
            )
            for choice, trial, _ in rows
        ),
        values=tuple(
            {
                "model": choice.name,
                "task": choice.item.subject,
                "cell": choice.item.name,
                **values,
                "metric": choice.selection.metric,
                "validation": trial.mean,
                "seeds": " ".join(map(str, choice.selection.seeds)),
                "key": trial.key,
                "chosen": trial is choice.selection.best,
            }
            for choice, trial, values in rows
        ),
    )
