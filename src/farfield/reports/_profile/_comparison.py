"""Comparison of experiments of one's own: profiles, intervals and paired tests, without a paper."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

from farfield.core.internal import check_arguments, expand_home
from farfield.experiments import Experiment
from farfield.experiments.internal import source_of_value
from farfield.metrics import Interval
from farfield.metrics.internal import Measure, SeededDifference, seeded_difference
from farfield.records import Store
from farfield.records.internal import write_whole
from farfield.reports._profile import _comparison_tables as _tables
from farfield.reports._profile._extrapolation import (
    ExtrapolationProfile,
    Point,
    extrapolation_profile,
)
from farfield.reports._profile._pictures import pdf, png, svg
from farfield.reports._profile._series import FEWEST
from farfield.reports._profile._theme import LIGHT, Theme
from farfield.reports._report import _text as text
from farfield.reports._report._tabular import Tabular

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

PICTURES: Final[dict[str, Callable[[Any], bytes]]] = {".png": png, ".pdf": pdf, ".svg": svg}
"""Formats of a picture by the end of the name of its file."""
MOST_COLUMNS: Final = 8
"""Most regimes that have a column each in LaTeX; of more, the one furthest out of each task has."""
HEADING: Final = 16
"""Characters in a line of a heading in LaTeX."""


@final
@dataclass(frozen=True, kw_only=True)
class Pair:
    """Difference of the means of two models in one regime.

    A seed gives both the same problems, so the differences of two networks of one seed scatter
    less than the networks do; the interval and the test count that.

    Args:
        task: Task of both.
        first: Name of the model whose mean is reduced.
        second: Name of the model whose mean is subtracted.
        difference: First − second, as recorded, over all networks of both.
        fewest: Number of networks of the model that has fewer.
        reach: Largest difference of two scores.
    """

    task: str
    regime: str
    first: str
    second: str
    difference: SeededDifference
    fewest: int
    reach: float = math.inf

    @property
    def interval(self) -> Interval | None:
        """95 % interval of the difference, cut where no difference can be.

        `None` where a model has a single network.
        """
        interval = self.difference.interval
        return interval.cut(-self.reach, self.reach) if self.fewest > 1 else None

    @property
    def p(self) -> float | None:
        """Probability of Student's test, of this pair alone; `None` for fewer than 3 networks."""
        return self.difference.p if self.fewest >= FEWEST else None

    def written(self, measure: Measure, sign: int = 1) -> str:
        """Format the difference with its interval and number of pairs: `+3.1 [1.0, 5.2] (5)`.

        Args:
            measure: Measure of the scores, for the unit.
            sign: -1 for second − first.
        """
        scale, digits = (100, 1) if measure.percent else (1, 4)
        ends = (self.interval.low, self.interval.high) if self.interval else ()
        numbers = (self.difference.value, *ends[::sign])
        mean, *shown = (text.signed(sign * scale * number, digits) for number in numbers)
        interval = f" [{', '.join(shown)}]" if shown else ""
        return f"{mean}{interval} ({self.difference.pairs})"


@final
@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Models beside each other: score against distance, with intervals and paired differences.

    Args:
        profiles: Names of models, each with a profile; a model has one for each task.
        against: Name of the model that all others are compared with.

    Raises:
        ValueError: If there are no profiles, none of the model to compare with, or two of a model
            on one task.
    """

    profiles: tuple[tuple[str, ExtrapolationProfile], ...]
    against: str

    def __post_init__(self) -> None:
        if self.against not in self.names:
            raise ValueError(
                f"against must be one of the models ({', '.join(self.names) or 'there are none'}), "
                f"got {self.against!r}"
            )
        places = Counter((name, profile.task) for name, profile in self.profiles)
        (name, task), count = places.most_common(1)[0]
        if count > 1:
            raise ValueError(
                f"profiles must have one of each model on a task, got {count} of {name!r} on "
                f"{task}; give each experiment a separate name"
            )

    @property
    def names(self) -> tuple[str, ...]:
        """Models, in order."""
        return tuple(dict.fromkeys(name for name, _ in self.profiles))

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """Differences of all other models from `against`, in every regime that both have."""
        base = {
            (task, regime): point
            for name, task, regime, point in self.points
            if name == self.against
        }
        found = []
        for name, task, regime, point in self.points:
            other = base.get((task, regime))
            if name == self.against or other is None:
                continue
            if not point.values or not other.values:
                continue
            found.append(
                Pair(
                    task=task,
                    regime=regime,
                    first=name,
                    second=self.against,
                    difference=seeded_difference(point.by_seed, other.by_seed),
                    fewest=min(len(point.values), len(other.values)),
                    reach=point.measure.range,
                )
            )
        return tuple(found)

    @property
    def points(self) -> list[tuple[str, str, str, Point]]:
        """Names of model, task and regime with each point, outwards from training in each task."""
        every = [
            (name, profile.task, point.regime, point)
            for name, profile in self.profiles
            for point in profile.points
        ]
        tasks, places = dict[str, int](), dict[tuple[str, str], int]()
        for _, task, regime, _ in every:
            tasks.setdefault(task, len(tasks))
            places.setdefault((task, regime), len(places))
        return sorted(every, key=lambda one: (tasks[one[1]], one[3].distance, places[one[1:3]]))

    @property
    def tabular(self) -> Tabular:
        """Comparison as a table: a row for each model in each regime."""
        pairs = {(pair.first, pair.task, pair.regime): pair for pair in self.pairs}
        every = [(name, task, point, pairs.get((name, task, regime)))
                 for name, task, regime, point in self.points]  # fmt: skip
        return Tabular(
            headings=(
                "model", "task", "regime", "distance", "score ± SE", "95 % interval", "floor",
                "networks", f"− {self.against} [95 %] (pairs)", "p",
            ),
            cells=tuple(
                (name, task, point.regime, f"{point.distance:g} {point.unit}", point.cells[2],
                 _interval(point), point.cells[4], point.cells[-1], *_difference(point, pair))
                for name, task, point, pair in every
            ),
            values=tuple(
                {"model": name, "task": task, **point.fields, "against": self.against}
                | _tested(pair)
                for name, task, point, pair in every
            ),
        )  # fmt: skip

    @property
    def scores(self) -> Tabular:
        """Means with standard errors for a paper: models by regimes, the best in bold.

        More than eight regimes are rows, with the models as columns. Of more than eight models in
        more than eight regimes, the regime furthest from training represents each task. Models
        with few results are left out, and counted in the note; `tabular` has all.
        """
        return _tables.scores(self)

    @property
    def differences(self) -> Tabular:
        """Differences from `against` with intervals and numbers of pairs, laid out as `scores`."""
        return _tables.differences(self)

    @property
    def aggregates(self) -> Tabular:
        """Skill of each model over all regimes far from training.

        Mean, interquartile mean, its difference from `against`, the probability of improvement,
        and the shares of networks above 25, 50 and 75 % of the skill.
        """
        return _tables.aggregates(self)

    @property
    def _shown(self) -> dict[str, Tabular]:
        """Tables by name: no differences of a single model, no aggregates of a single regime."""
        found, aggregates = {"scores": self.scores}, self.aggregates
        if self.pairs:
            found["differences"] = self.differences
        if any(row["regimes"] > 1 for row in aggregates.values):
            found["aggregates"] = aggregates
        return found

    def __str__(self) -> str:
        return "\n\n".join(map(str, self._shown.values()))

    def _repr_html_(self) -> str:
        """Format the tables in HTML, as a notebook shows them."""
        return "".join(table._repr_html_() for table in self._shown.values())

    def figure(self, theme: Theme = LIGHT) -> Picture:
        """Return the profiles as a picture, a panel for each task.

        Filled markers are means, with 95 % intervals where there are three networks or more, dots
        single networks. Of more models than there are colors those of `against` and of the best of
        each panel are shown; of the others a thin line shows the mean.
        """
        from farfield.reports._profile._comparison_drawing import draw_profiles  # noqa: PLC0415

        return draw_profiles(self.profiles, self.against, theme)

    @check_arguments
    def write(self, folder: str | Path) -> list[Path]:
        """Write pictures and tables to a folder.

        The picture is `profile.png`, `.pdf` and `.svg`; `table.csv` has every number, `table.md`
        all printed tables, `table.tex` the scores. `scores.csv`, `differences` and `aggregates`
        (`.csv`, `.tex`) are the tables of these names.

        Args:
            folder: Where to; made if need be.

        Returns:
            The files written.
        """
        place, figure = expand_home(folder), self.figure()
        place.mkdir(parents=True, exist_ok=True)
        written = []
        for suffix, encode in PICTURES.items():
            written.append(place / f"profile{suffix}")
            write_whole(written[-1], encode(figure))
        written += [self.tabular.write(place / "table.csv"), place / "table.md"]
        write_whole(written[-1], f"{self}\n".encode(errors="backslashreplace"))
        for name, table in self._shown.items():
            written.append(table.write(place / f"{name}.csv"))
            written.append(table.write(place / f"{'table' if name == 'scores' else name}.tex"))
        return written


@check_arguments
def compare(
    experiments: Mapping[str, Experiment], store: Store, *, against: str | None = None
) -> Comparison:
    """Compare experiments of one's own from their records; nothing is run.

    Args:
        experiments: Experiments that were run, by the names to show.
        store: Where the records are; all finished networks count.
        against: Name of the one that the others are compared with; the first one if `None`.

    Raises:
        ValueError: If there are no experiments, one of them was not run, or `against` is none of
            them.

    Example:
        >>> comparison = compare({"wide": wide, "narrow": narrow}, store)  # doctest: +SKIP
        >>> print(comparison)  # doctest: +SKIP
        >>> comparison.write("comparison")  # doctest: +SKIP
    """
    found = {name: store.records(one.key) for name, one in experiments.items()}
    for name, records in found.items():
        if not records:
            raise ValueError(
                f"experiments must have been run, got {name!r} ({experiments[name].key}) without a "
                f"record in {store.folder}; run(jobs_of([experiment], seeds=range(10)), store)"
            )
    tasks: dict[str, set[Any]] = {}
    for one in experiments.values():
        tasks.setdefault(one.task.name, set()).add(one.task)
    profiles = []
    for name, one in experiments.items():
        profile = extrapolation_profile(one.task, found[name], one.perturbations)
        if len(tasks[one.task.name]) > 1:
            profile = ExtrapolationProfile(task=source_of_value(one.task), points=profile.points)
        profiles.append((name, profile))
    first = next(iter(experiments), "")
    return Comparison(profiles=tuple(profiles), against=first if against is None else against)


def _interval(point: Point) -> str:
    """Format the interval of a mean in the shown unit, cut to possible scores."""
    interval, written = point.interval, point.measure.written
    if interval is None:
        return text.MISSING
    return f"[{written(interval.low)}, {written(interval.high)}]"


def _difference(point: Point, pair: Pair | None) -> tuple[str, str]:
    """Return the difference with its interval and the number of pairs, and the test's p."""
    if pair is None:
        return text.MISSING, text.MISSING
    p = text.MISSING if pair.p is None or math.isnan(pair.p) else f"{pair.p:.2g}"
    return pair.written(point.measure), p


def _tested(pair: Pair | None) -> dict[str, Any]:
    """Return the difference as plain values."""
    interval, known = (pair.interval, pair.difference) if pair else (None, None)
    return {
        "pairs": known.pairs if known else None,
        "difference": known.value if known else None,
        "difference_low": interval.low if interval else None,
        "difference_high": interval.high if interval else None,
        "t": known.t if known and pair and pair.p is not None else None,
        "p": pair.p if pair else None,
    }
