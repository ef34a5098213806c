"""The choice among the trials of a search, as plain data."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

from farfield.core import NonNegativeInt, check_fields
from farfield.experiments._describe import Json, describe, restore
from farfield.experiments._experiment import Experiment, source_of_value
from farfield.experiments._fields import field_of, with_field
from farfield.metrics import measure_of


@final
@dataclass(frozen=True, kw_only=True)
class ScoredTrial:
    """One combination of values of a search, with the scores of its networks.

    Args:
        values: The values, in the order of the search's fields.
        key: `Experiment.key` of the trial.
        scores: Score of each network in the order of the seeds; `None` for one that diverged.
    """

    values: tuple[Any, ...]
    key: str
    scores: tuple[float | None, ...]

    def __post_init__(self) -> None:
        check_fields(self)

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
    chosen, however good the others are. As JSON it says what was tried, with all scores, so that a
    claim can name what was chosen for it.

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
        """The trial that is chosen."""
        sign = -1 if measure_of(self.metric).lower_is_better else 1
        means = [(sign * trial.mean, trial) for trial in self.trials if trial.mean is not None]
        return max(means, key=lambda pair: pair[0])[1]

    @property
    def chosen(self) -> dict[str, Any]:
        """The values that are chosen, by field."""
        return dict(zip(self.fields, self.best.values, strict=True))

    def of(self, experiment: Experiment) -> Experiment:
        """An experiment with the values that are chosen.

        Args:
            experiment: That of the search, or another one with these fields.
        """
        for name, value in self.chosen.items():
            experiment = with_field(experiment, name, value)
        return experiment

    def is_of(self, experiment: Experiment) -> bool:
        """True if an experiment has the values that are chosen.

        Args:
            experiment: An experiment with these fields.
        """
        return all(field_of(experiment, name) == value for name, value in self.chosen.items())

    def __str__(self) -> str:
        """The choice in words: what was chosen, among how many trials and by what."""
        words = [f"{name} {text}" for name, text in zip(self.names, self.texts(), strict=True)]
        networks = f"{len(self.seeds)} network{'s' if len(self.seeds) > 1 else ''}"
        label = measure_of(self.metric).label
        return (
            f"{', '.join(words)}, chosen among {len(self.trials)} by {self.regime} {label} "
            f"over {networks} each"
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the fields in words; the whole paths where the words are not distinct."""
        words = tuple(name.rpartition(".")[2].replace("_", " ") for name in self.fields)
        return words if len({*words}) == len(words) else self.fields

    def texts(self, trial: ScoredTrial | None = None) -> tuple[str, ...]:
        """The values of a trial as text.

        Args:
            trial: The trial; `None` for the one that is chosen.
        """
        return tuple(map(_text, (trial or self.best).values))

    def to_json(self) -> dict[str, Json]:
        """The choice and all trials as plain JSON; `from_json` reads it back."""
        described: dict[str, Json] = describe(self)
        return described

    @staticmethod
    def from_json(
        described: dict[str, Json], *, classes: Mapping[str, type] | None = None
    ) -> Selection:
        """The selection that `to_json` described.

        Args:
            described: What `to_json` returned.
            classes: Classes of one's own that it names, by their path.

        Raises:
            ValueError: If it is not the description of a selection, or names what is not known.
        """
        try:
            selection = restore(described, classes=classes)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"described is not a selection: {error}") from error
        if not isinstance(selection, Selection):
            raise ValueError(f"described is not a selection but {selection!r}")
        return selection


def _text(value: object) -> str:
    """A value as text, e.g. `0.01` or `SGD(momentum=0.9)`."""
    return f"{value:g}" if isinstance(value, float) else source_of_value(value)
