"""Searches over the fields of an experiment, and the selection of the best."""

from __future__ import annotations

import dataclasses
import itertools
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple, final

import numpy as np

from farfield.core import ArgumentError, stream
from farfield.core.internal import Checked, NonNegativeInt, Size, UnknownNameError, check_fields
from farfield.experiments._describe import Json, describe, restore
from farfield.experiments._experiment import Experiment, source_of_value
from farfield.experiments._spec import field_of, with_field
from farfield.metrics.internal import measure_of
from farfield.tasks import VALIDATION
from farfield.tasks.internal import (
    ORACLE,
    HasDomains,
    SetScores,
    domains_of,
    metric_of,
    with_validation,
)

SEARCHED: Final = ("model", "recipe", "objective", "starts_from")
"""Fields of an experiment that may be searched over: another task draws other problems."""
LEFT_OUT: Final = "left-out-domain"
"""Regime of a search in which each training domain is left out once and scored."""
_FEWEST: Final = 3
"""Fewest training domains of which one can be left out where a rule compares domains."""


@final
@dataclass(frozen=True, kw_only=True)
class Choice:
    """A field of an experiment with the values that a search tries.

    Args:
        field: Dotted path of the field, e.g. `"recipe.learning_rate"` or
            `"model.reasoner.hidden_size"`.
        values: The values, at least one.

    Raises:
        ValueError: If there are no values.
    """

    field: str
    values: tuple[Any, ...]

    def __post_init__(self) -> None:
        check_fields(self)
        if not self.values:
            raise ValueError(f"values of {self.field} must not be empty")

    def draw(self, generator: np.random.Generator) -> Any:
        """Draw one of the values, each equally likely."""
        return self.values[int(generator.integers(len(self.values)))]


@final
@dataclass(frozen=True, kw_only=True)
class Uniform:
    """A field of an experiment with the interval from which a search draws its values.

    Args:
        field: Dotted path of the field, e.g. `"recipe.learning_rate"`.
        low: Least value.
        high: Greatest value.
        log: Whether the logarithm of the value is uniform, and not the value.

    Raises:
        ValueError: If the interval is empty, or holds 0 or less where the logarithm is drawn.
    """

    field: str
    low: float
    high: float
    log: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
        if not self.low < self.high:
            raise ValueError(f"high must be greater than low ({self.low}), got {self.high}")
        if self.log and self.low <= 0:
            raise ValueError(f"low must be above 0 where log is True, got {self.low}")

    def draw(self, generator: np.random.Generator) -> float:
        """Draw a value of the interval."""
        if self.log:
            return math.exp(generator.uniform(math.log(self.low), math.log(self.high)))
        return float(generator.uniform(self.low, self.high))


@final
class Trial(NamedTuple):
    """One combination of values of a search.

    Attributes:
        values: The values, in the order of the search's fields.
        experiment: The experiment with these values.
    """

    values: tuple[Any, ...]
    experiment: Experiment


@final
@dataclass(frozen=True, kw_only=True)
class Search:
    """Search over fields of an experiment: a grid of values, or a number of random draws.

    Every trial is an ordinary experiment: `run(jobs_of(search.experiments, search.seeds), store)`
    trains networks without a record, and `selection_of(search, store)` chooses among them.

    A choice is made on problems that no test shows: the regime is `"validation"`, or one that a
    perturbation makes from it. The task is the same in all trials: the experiment's, with
    validation problems where it has none. `Selection.of` gives the experiment itself the values.

    A task with several training domains has two more regimes (Gulrajani and Lopez-Paz 2021).
    `"validation"` is the held-out part of the training domains. `"left-out-domain"` trains one
    network without each training domain and scores it there; a trial counts by the mean.
    `"oracle"`, of tasks that have it, is the held-out part of the test domain: a choice on it is an
    oracle's, and says so.

    Args:
        experiment: The experiment, with any values of the fields.
        over: The fields, each with its values.
        samples: Number of random draws of a combination; `None` for all combinations of all
            values. A combination that is drawn again is one trial.
        sampling_seed: Seed of the draws.
        metric: Name of the score by which trials are chosen; `None` for that of the task.
        regime: Name of the regime that is scored.
        seeds: Seeds of each trial's networks.

    Raises:
        ValueError: If a field does not exist, takes no such value or is one of the task, a grid is
            asked for over an interval, the regime is one of the tests, or too few domains remain
            where one is left out.

    Example:
        >>> from farfield.experiments import Choice, Network, Recipe, Spec
        >>> from farfield.models import LSTM
        >>> from farfield.tasks import ProgressiveMatrices
        >>> search = Search(
        ...     experiment=Experiment(
        ...         task=ProgressiveMatrices(),
        ...         model=Network(reasoner=Spec(LSTM)),
        ...         recipe=Recipe(steps=1_000),
        ...     ),
        ...     over=(
        ...         Choice(field="recipe.learning_rate", values=(1e-3, 1e-4)),
        ...         Choice(field="model.reasoner.hidden_size", values=(128, 256, 512)),
        ...     ),
        ... )
        >>> len(search.trials)
        6
    """

    experiment: Experiment
    over: tuple[Choice | Uniform, ...]
    samples: Size | None = None
    sampling_seed: NonNegativeInt = 0
    metric: str | None = None
    regime: str = VALIDATION
    seeds: tuple[NonNegativeInt, ...] = (0,)

    def __post_init__(self) -> None:
        check_fields(self)
        if not self.over or not self.seeds:
            raise ValueError(f"{'seeds' if self.over else 'over'} must not be empty")
        self._check_over()
        _check_regime(self._validated, self.regime)
        _check_metric(self.experiment, self.chosen_by)

    def _check_over(self) -> None:
        """Raise `ValueError` for a field that cannot be searched over."""
        for name in self.fields:
            field_of(self.experiment, name)
            if name.partition(".")[0] not in SEARCHED:
                wanted = f"fields of {', '.join(SEARCHED)}, as another task draws other problems"
                raise ArgumentError("over", wanted, name)
            if self.fields.count(name) > 1:
                raise ValueError(f"over must name each field once, got {name!r} twice")
        for one in self.over:
            if isinstance(one, Uniform) and self.samples is None:
                raise ValueError(
                    f"samples must be a number where values of {one.field} are drawn, got None"
                )
            tried = one.values if isinstance(one, Choice) else (one.low, one.high)
            for value in tried:
                with_field(self.experiment, one.field, value)

    @cached_property
    def _validated(self) -> Experiment:
        """Experiment with a task that has validation problems."""
        task = with_validation(self.experiment.task)
        if task == self.experiment.task:
            return self.experiment
        return dataclasses.replace(self.experiment, task=task)

    @property
    def fields(self) -> tuple[str, ...]:
        """Dotted paths of the fields."""
        return tuple(one.field for one in self.over)

    @property
    def chosen_by(self) -> str:
        """Name of the score by which trials are chosen."""
        return self.metric or metric_of(self.experiment.task)

    @cached_property
    def trials(self) -> tuple[Trial, ...]:
        """Trials, each once; the values of the last field change first."""
        found: dict[str, Trial] = {}
        for values in self._combinations():
            experiment = self._validated
            for name, value in zip(self.fields, values, strict=True):
                experiment = with_field(experiment, name, value)
            taken = tuple(field_of(experiment, name) for name in self.fields)
            found.setdefault(experiment.key, Trial(taken, experiment))
        return tuple(found.values())

    @property
    def experiments(self) -> tuple[Experiment, ...]:
        """Experiments to train: one of each trial, or one for each domain that is left out."""
        return tuple(one for trial in self.trials for one, _ in self.scored(trial))

    def scored(self, trial: Trial) -> tuple[tuple[Experiment, str], ...]:
        """List the experiments of a trial, each with the name of the regime that is scored.

        Args:
            trial: One of `trials`.
        """
        task = trial.experiment.task
        if self.regime != LEFT_OUT or not isinstance(task, HasDomains):
            return ((trial.experiment, self.regime),)
        return tuple(
            (
                dataclasses.replace(
                    trial.experiment, task=task.leaving_out(domain), perturbations=()
                ),
                domain,
            )
            for domain in task.domains
        )

    def _combinations(self) -> Sequence[tuple[Any, ...]]:
        """List all combinations of values, or the drawn combinations."""
        if self.samples is None:
            grids = [one.values for one in self.over if isinstance(one, Choice)]
            return [*itertools.product(*grids)]
        base = stream(self.sampling_seed, "search")
        generators = [base.child(name).numpy() for name in self.fields]
        pairs = [*zip(self.over, generators, strict=True)]
        return [tuple(one.draw(numbers) for one, numbers in pairs) for _ in range(self.samples)]


def _check_regime(experiment: Experiment, regime: str) -> None:
    """Raise `ValueError` unless a regime is validation or an oracle's, perturbed or not."""
    names = [known.name for known in experiment.regimes]
    fitting = [name for name in names if experiment.unperturbed(name) == VALIDATION]
    fitting += [name for name in names if name == ORACLE]
    fitting += [LEFT_OUT] * (len(domains_of(experiment.task)) > 1)
    if regime == LEFT_OUT:
        _check_left_out(experiment)
        return
    if regime in fitting:
        return
    task = experiment.task.name
    if regime not in names:
        raise UnknownNameError("regime", regime, fitting)
    raise ValueError(
        f"regime must be {' or '.join(map(repr, fitting))}, got {regime!r} of {task}: nothing is "
        "chosen on problems of a test or of training"
    )


def _check_left_out(experiment: Experiment) -> None:
    """Raise `ValueError` unless a training domain can be left out."""
    domains, rule = domains_of(experiment.task), experiment.objective
    compares = getattr(rule, "by_domain", False)  # a user's rule may lack it
    fewest = _FEWEST if compares else _FEWEST - 1
    if len(domains) < fewest:
        raise ValueError(
            f"regime {LEFT_OUT!r} needs a task with {fewest} or more training domains where the "
            f"objective is {type(rule).__name__}, got {', '.join(domains)}"
        )


def _check_metric(experiment: Experiment, metric: str) -> None:
    """Raise `ValueError` for a score that a task does not have, where it is known before a run."""
    known = (metric_of(experiment.task), "loss")
    if metric.partition("/")[0] not in known and not isinstance(experiment.task, SetScores):
        raise UnknownNameError("metric", metric, known)


@final
@dataclass(frozen=True, kw_only=True)
class ScoredTrial(Checked):
    """One combination of values of a search, with the scores of its networks.

    Args:
        values: The values, in the order of the search's fields.
        key: `Experiment.key` of the trial.
        scores: Score of each network in the order of the seeds; `None` for one that diverged.
    """

    values: tuple[Any, ...]
    key: str
    scores: tuple[float | None, ...]

    @property
    def mean(self) -> float | None:
        """Mean score; `None` where a network diverged."""
        finite = [score for score in self.scores if score is not None]
        return statistics.fmean(finite) if len(finite) == len(self.scores) else None


@final
@dataclass(frozen=True, kw_only=True)
class Selection:
    """Choice among the trials of a search by the mean score of their networks.

    The best mean is chosen; of equal ones the first. A trial of which a network diverged is not
    chosen, however good the others are. As JSON it lists all trials with all scores, so that a
    claim can name its choice.

    Args:
        fields: Dotted paths of the fields that were searched over.
        metric: Name of the score.
        regime: Name of the regime that was scored.
        seeds: Seeds of each trial's networks.
        trials: All trials, in the order of the search.

    Raises:
        ValueError: If every trial has a network that diverged, or the values and scores of one are
            not as many as fields and seeds.
    """

    fields: tuple[str, ...]
    metric: str
    regime: str
    seeds: tuple[NonNegativeInt, ...]
    trials: tuple[ScoredTrial, ...]

    def __post_init__(self) -> None:
        check_fields(self)
        for trial in self.trials:
            if (len(trial.values), len(trial.scores)) != (len(self.fields), len(self.seeds)):
                raise ValueError(
                    f"trials must have {len(self.fields)} values and {len(self.seeds)} scores "
                    f"each, got {trial}"
                )
        if all(trial.mean is None for trial in self.trials):
            raise ValueError(
                "trials must have one of which no network diverged, got "
                f"{len(self.trials)} of which some did"
            )

    @property
    def best(self) -> ScoredTrial:
        """Chosen trial."""
        sign = -1 if measure_of(self.metric).lower_is_better else 1
        means = [(sign * trial.mean, trial) for trial in self.trials if trial.mean is not None]
        return max(means, key=lambda pair: pair[0])[1]

    @property
    def chosen(self) -> dict[str, Any]:
        """Chosen values, by field."""
        return dict(zip(self.fields, self.best.values, strict=True))

    def of(self, experiment: Experiment) -> Experiment:
        """Build an experiment with the values that are chosen.

        Args:
            experiment: That of the search, or another one with these fields.
        """
        for name, value in self.chosen.items():
            experiment = with_field(experiment, name, value)
        return experiment

    def is_of(self, experiment: Experiment) -> bool:
        """Tell if an experiment has the values that are chosen.

        Args:
            experiment: An experiment with these fields.
        """
        return all(field_of(experiment, name) == value for name, value in self.chosen.items())

    def __str__(self) -> str:
        """Describe the choice: its values, the number of trials and the score."""
        words = [f"{name} {text}" for name, text in zip(self.names, self.texts(), strict=True)]
        networks = f"{len(self.seeds)} network{'s' if len(self.seeds) > 1 else ''}"
        label = measure_of(self.metric).label
        oracle = " (an oracle: it saw the test domain)" if self.is_oracle else ""
        return (
            f"{', '.join(words)}, chosen among {len(self.trials)} by {self.regime} {label} "
            f"over {networks} each{oracle}"
        )

    @property
    def is_oracle(self) -> bool:
        """True if the choice was made on held-out problems of the test domain."""
        return self.regime == ORACLE

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the fields in words; the whole paths where the words are not distinct."""
        words = tuple(name.rpartition(".")[2].replace("_", " ") for name in self.fields)
        return words if len({*words}) == len(words) else self.fields

    def texts(self, trial: ScoredTrial | None = None) -> tuple[str, ...]:
        """Write the values of a trial as text.

        Args:
            trial: The trial; `None` for the one that is chosen.
        """
        return tuple(map(_text, (trial or self.best).values))

    def to_json(self) -> dict[str, Json]:
        """Write the choice and all trials as plain JSON; `from_json` reads it back."""
        described: dict[str, Json] = describe(self)
        return described

    @staticmethod
    def from_json(
        described: dict[str, Json], *, classes: Mapping[str, type] | None = None
    ) -> Selection:
        """Restore the selection that `to_json` described.

        Args:
            described: Result of `to_json`.
            classes: Classes of one's own that it names, by their path.

        Raises:
            ValueError: If it is not the description of a selection, or contains an unknown name.
        """
        try:
            selection = restore(described, classes=classes)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"described is not a selection: {error}") from error
        if not isinstance(selection, Selection):
            raise ValueError(f"described is not a selection but {selection!r}")
        return selection


def _text(value: object) -> str:
    """Write a value as text, e.g. `0.01` or `SGD(momentum=0.9)`."""
    return f"{value:g}" if isinstance(value, float) else source_of_value(value)
