"""`bench`: one module in every experiment of a suite, beside the recorded mechanisms."""

from __future__ import annotations

import html
import importlib
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Final, final

from torch import Tensor, nn

from farfield.core import stream
from farfield.core.internal import UnknownNameError, check_arguments, expand_home
from farfield.execution import jobs_of, run
from farfield.execution.internal import Job, News
from farfield.experiments import Choice, Experiment, Search, Spec
from farfield.objectives import Objective
from farfield.records import Store, selection_of
from farfield.reports import Comparison, ExtrapolationProfile, Tabular, extrapolation_profile
from farfield.reports.internal import Point
from farfield.suites._forecasts import forecasts_of
from farfield.suites._recorded import Recorded, recorded
from farfield.suites._suites import SUITES, Item, Suite
from farfield.suites._tuning import Entrant, Tuned, rivals_of, search_of, trials_of
from farfield.tasks import TRAINING, is_at_hand

WANTED = "module must be FILE.py:CLASS, e.g. my_module.py:MyReasoner"

Own = Spec | Objective
"""Module of the user with options, or learning rule."""


def load_module(words: str) -> type[nn.Module | Objective]:
    """Load a class of networks or of learning rules from a file, as `import` would from its folder.

    Args:
        words: The file and the class, e.g. `my_module.py:MyReasoner`.

    Raises:
        ValueError: If there is no such file or class in it, the file cannot be imported, or another
            module has its name.
    """
    module, name = import_own(words, WANTED)
    found = getattr(module, name, None)
    if isinstance(found, type) and Objective in found.__mro__:
        return found
    if not (isinstance(found, type) and issubclass(found, nn.Module)):
        parts = {one: part for one, part in vars(module).items() if isinstance(part, type)}
        theirs = [
            one for one, part in parts.items()
            if {nn.Module, Objective} & {*part.__mro__} and part.__module__ == module.__name__
        ]  # fmt: skip
        raise ValueError(
            f"module must name a class of torch.nn.Module, or of Objective for a rule, in "
            f"{module.__name__}.py, got {name!r}; "
            f"it has {', '.join(theirs) or 'none'}"
        )
    return found


def import_own(words: str, wanted: str) -> tuple[ModuleType, str]:
    """Import the file of `FILE.py:NAME` as `import` would from its folder.

    The folder is put first on the path, so that worker processes find the file as well.

    Args:
        words: The file and the name.
        wanted: Beginning of the errors: the argument, and the words that it must be.

    Returns:
        The module, and the name.

    Raises:
        ValueError: If there is no such file, it cannot be imported, or another module has its name.
    """
    file, sign, name = words.rpartition(":")
    if not sign or not name.isidentifier() or not file.endswith(".py"):
        raise ValueError(f"{wanted}, got {words!r}")
    path = expand_home(file).absolute()
    if not path.is_file():
        raise ValueError(f"{wanted}, got {words!r}: there is no file {path}")
    sys.path.insert(0, str(path.parent))
    try:
        module = importlib.import_module(path.stem)
    except Exception as error:
        raise ValueError(
            f"module must be a file that can be imported, got {path}: {type(error).__name__}: "
            f"{error}"
        ) from error
    if Path(getattr(module, "__file__", None) or "") != path:
        raise ValueError(
            f"module must have a name that no other module has, got {path}: {path.stem} is "
            f"{getattr(module, '__file__', 'a part of Python')}; rename the file"
        )
    return module, name


def own_parts(files: Iterable[Path]) -> dict[str, Any]:
    """Import files and collect their classes and functions by the paths that records name.

    A class of a script that was run by itself is named after `__main__`.

    Args:
        files: Files with parts of one's own, e.g. `my_module.py`.

    Raises:
        ValueError: If a file is not there, cannot be imported, or has the name of another module.
    """
    found: dict[str, Any] = {}
    for file in files:
        if not expand_home(file).is_file():
            raise ValueError(f"module must be a Python file, e.g. my_module.py, got {file}")
        module, _ = import_own(f"{file}:_", "module must be a Python file, e.g. my_module.py")
        for name, part in vars(module).items():
            if isinstance(part, type | FunctionType) and part.__module__ == module.__name__:
                found |= {f"__main__.{name}": part, f"{module.__name__}.{name}": part}
    return found


TRIED: Final = 4
"""Problems that a module must answer before anything is trained."""

OTHER_NAME: Final = "{} (yours)"
"""Name of the user's module where a recorded one has the same."""


_OF_RIVALS = ("best", "best_mean", "difference", "difference_low", "difference_high")
"""Columns of `Benchmark.summary` that are empty where no mechanism is recorded."""


@final
@dataclass(frozen=True, kw_only=True)
class Misfit:
    """A task of a suite that a module was not trained on.

    Args:
        subject: The task, as the suite calls it.
        task: Name of the cell that it is from.
        reason: Why, in a line.
    """

    subject: str
    task: str
    reason: str


@final
@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """A module of one's own on a suite, beside the recorded mechanisms.

    Args:
        suite: Name of the suite.
        name: Name of the module.
        comparison: Its profiles and those of all recorded mechanisms, each less the module's own.
        experiments: Its experiments, by the cell that the task is from.
        misfits: The tasks that it was not trained on.
        choices: Values that were chosen on validation, by mechanism and task.
    """

    suite: str
    name: str
    comparison: Comparison
    experiments: tuple[tuple[str, Experiment], ...]
    misfits: tuple[Misfit, ...]
    choices: tuple[Tuned, ...] = ()

    @property
    def budget(self) -> str:
        """Budget in a line: the small budget of the recorded mechanisms."""
        steps = [one.recipe.steps for _, one in self.experiments]
        own = [one for name, one in self.comparison.profiles if name == self.name]
        networks = max(len(point.values) for one in own for point in one.points)
        span = f"{min(steps):,} to {max(steps):,}" if min(steps) < max(steps) else f"{steps[0]:,}"
        return (
            f"small budget: {span} steps a network, as the recorded mechanisms had, and {networks} "
            f"networks a task; more training can change the order\n{self._tuning}"
        )

    @property
    def _tuning(self) -> str:
        """Line on tuned mechanisms and their budget, and on mechanisms that were not tuned."""
        others = "the recorded mechanisms have the values of their tables"
        if not self.choices:
            return f"no value was tuned: {others}, {self.name} those of the task's recipe"
        names = [*dict.fromkeys(choice.name for choice in self.choices)]
        one = self.choices[0].selection
        seeds = " and ".join(map(str, one.seeds))
        return (
            f"tuned on validation, with equal budgets: {' and '.join(names)} ({len(one.trials)} "
            f"values of {', '.join(one.names)} a task, with the networks of seeds {seeds}, which "
            f"are not compared); {others} and were not tuned"
        )

    @property
    def tuning(self) -> Tabular:
        """Values that were tried, with their scores in validation."""
        return trials_of(self.choices)

    @property
    def summary(self) -> Tabular:
        """Results of the module in each test regime: score, rank, best rival."""
        own, others = dict[tuple[str, str], Point](), dict[tuple[str, str], dict[str, Point]]()
        for name, profile in self.comparison.profiles:
            for point in profile.points:
                place = (profile.task, point.regime)
                if name == self.name:
                    own[place] = point
                elif point.values:
                    others.setdefault(place, {})[name] = point
        pairs = {(one.first, one.task, one.regime): one for one in self.comparison.pairs}
        cells, values = [], []
        for (task, regime), point in own.items():
            rivals = others.get((task, regime), {})
            if regime == TRAINING or not point.values:
                continue
            shown = (task, f"{point.distance:g} {point.unit}", point.cells[2], point.cells[4])
            fields = {"task": task, **point.fields, "models": len(rivals) + 1}
            if not rivals:
                cells.append((*shown, "1 of 1", "none recorded", "", ""))
                values.append(fields | dict.fromkeys(_OF_RIVALS) | {"rank": 1, "pairs": 0})
                continue
            sign = -1 if point.measure.lower_is_better else 1
            best = max(rivals, key=lambda one: sign * rivals[one].mean)
            rank = 1 + sum(sign * one.mean > sign * point.mean for one in rivals.values())
            pair = pairs[best, task, regime]
            cells.append(
                (*shown, f"{rank} of {len(rivals) + 1}", best, rivals[best].cells[2],
                 pair.written(point.measure, -1))
            )  # fmt: skip
            values.append(
                fields
                | {"rank": rank, "best": best, "best_mean": rivals[best].mean,
                 "pairs": pair.difference.pairs, "difference": -pair.difference.value,
                 "difference_low": -pair.interval.high if pair.interval else None,
                 "difference_high": -pair.interval.low if pair.interval else None}
            )  # fmt: skip
        return Tabular(
            headings=("task", "distance", self.name, "floor", "rank", "best rival",
                      "its score", "difference [95 %] (pairs)"),
            cells=tuple(cells),
            values=tuple(values),
        )  # fmt: skip

    @property
    def forecasts(self) -> Tabular:
        """Forecasts at the farthest regime of each task from nearer regimes, beside the scores."""
        return forecasts_of(self.name, self.comparison.profiles)

    def __str__(self) -> str:
        tables = [f"{table}\n" for table in self._tables]
        return "\n".join([*tables, *self._remarks])

    def _repr_html_(self) -> str:
        """Format the tables in HTML, as a notebook shows them."""
        tables = [table._repr_html_() for table in self._tables]
        return "".join([*tables, *(f"<p>{html.escape(one)}</p>" for one in self._remarks)])

    @property
    def _tables(self) -> list[Tabular]:
        """Summary, aggregates over test regimes and forecasts if any, and the chosen values."""
        found = self.comparison.aggregates
        aggregates = [found] if any(row["regimes"] > 1 for row in found.values) else []
        chosen = [trials_of(self.choices, chosen_alone=True)] if self.choices else []
        forecasts = self.forecasts
        return [self.summary, *aggregates, *([forecasts] if forecasts.cells else []), *chosen]

    @property
    def _remarks(self) -> list[str]:
        """Budget, and the tasks that the module was not trained on."""
        misfits = [
            f"not trained on {one.subject} ({one.task}): {one.reason}" for one in self.misfits
        ]
        return [self.budget, *misfits]

    @check_arguments
    def write(self, folder: str | Path) -> list[Path]:
        """Write the picture and the tables: as `Comparison.write`, and `summary.csv`.

        Where values were tuned, `tuning.csv` lists all of them; where a task has three regimes or
        more, `forecasts.csv` has the forecasts at the farthest.

        Args:
            folder: Where to; made if need be.
        """
        tables = {"summary": self.summary} | ({"tuning": self.tuning} if self.choices else {})
        forecasts = self.forecasts
        tables |= {"forecasts": forecasts} if forecasts.cells else {}
        written = [one.write(Path(folder) / f"{name}.csv") for name, one in tables.items()]
        return [*self.comparison.write(folder), *written]


@check_arguments
def bench(  # noqa: PLR0913 — each is an option of the command
    module: type[nn.Module | Objective] | Own,
    suite: str = "relational",
    *,
    store: Store,
    seeds: Iterable[int] | None = None,
    tune: Sequence[Choice | str] = (),
    rivals: Sequence[str] = (),
    device: str = "cpu",
    workers: int | None = None,
    report: Callable[[News], None] | None = None,
) -> Benchmark:
    """Train your own module on the tasks of a suite, and compare it with recorded mechanisms.

    Each task has the recipe, the encoder and the context that a recorded mechanism was trained
    with, so that the two differ in the module alone; all others of as many steps are compared with
    them. Recorded networks are not trained again.

    With `tune`, values are first chosen for each task, on validation alone, by two networks of
    other seeds for each value. The networks that are compared are trained with the chosen values.
    Recorded mechanisms have the values of their tables, unless `rivals` names them: a rival is
    tuned and trained in the same way, and enters the comparison a second time.

    Args:
        module: Class of the module, or its `Spec` with options. On the suite `domains` also a
            learning rule, or its class: it trains the network that the recorded rules trained.
        suite: Name of the suite, one of `SUITES`.
        store: Store of the records of the module; the records of the package do not change.
        seeds: Numbers of the runs; those that the suite names if `None`.
        tune: Fields of the experiments to choose values of, e.g.
            `Choice(field="recipe.learning_rate", values=(1e-4, 1e-3))`; a name alone tries the
            value in the task's recipe, a fifth of it, and five times it, the first if equally good.
        rivals: Names of recorded mechanisms that are tuned as well, e.g. `"CoRelNet + TCN"`.
        device: `"cpu"` or `"cuda"`.
        workers: Number of processes; as many as there are cores if `None`.
        report: Takes the news of every network.

    Raises:
        UnknownNameError: If there is no such suite or rival.
        ValueError: If the module fits no task of it, with the reason for each; or there are rivals
            and nothing to tune, or a field that a mechanism does not have.
        ExecutionError: If some networks did not finish.

    Example:
        >>> found = bench(MyReasoner, "relational", store=Store("runs"))  # doctest: +SKIP
        >>> print(found)  # doctest: +SKIP
        >>> found.write("bench")  # doctest: +SKIP
    """
    asked = _suite(suite)
    own = _own(module)
    fitting, misfits = fitted(own, suite)
    numbers = range(asked.seeds) if seeds is None else [*seeds]
    start = partial(run, store=store, device=device, workers=workers, report=report)
    lines = recorded(suite)
    entrants = entrants_of(own, fitting, lines, rivals)
    name, choices = entrants[0].name, list[Tuned]()
    if rivals and not tune:
        raise ValueError(f"rivals must be left out where nothing is tuned, got {list(rivals)}")
    if tune:
        searches = [search_of(one, tune, max(numbers) + 1) for one in entrants]
        start(jobs_of([one for each in searches for one in each.experiments], searches[0].seeds))
        choices, diverged = _chosen(entrants, searches, store)
        entrants = [
            replace(one, experiment=choice.selection.of(one.experiment))
            for one in entrants
            for choice in choices
            if (choice.name, choice.item) == (one.name, one.item)
        ]
        misfits += diverged
    start(jobs_of([one.experiment for one in entrants], numbers))
    mine = [one for one in entrants if one.name == name]
    trained = {one.item.name for one in mine}
    profiles = _trained(entrants, numbers, store)
    profiles += _of_rivals([one for one in lines if one.task in trained])
    return Benchmark(
        suite=suite,
        name=name,
        comparison=Comparison(
            profiles=tuple(
                (who, ExtrapolationProfile(task=subject, points=tuple(points)))
                for who, subject, points in profiles
            ),
            against=name,
        ),
        experiments=tuple((one.item.name, one.experiment) for one in mine),
        misfits=misfits,
        choices=tuple(choices),
    )


def entrants_of(
    module: Own,
    fitting: Sequence[tuple[Item, Experiment]],
    lines: Sequence[Recorded],
    rivals: Iterable[str] = (),
) -> list[Entrant]:
    """List the mechanisms that are trained here, the user's first.

    Args:
        module: The user's module or rule.
        fitting: The tasks that it fits, with its experiments.
        lines: Recorded mechanisms of the suite.
        rivals: Names of recorded mechanisms that are trained as well.

    Raises:
        UnknownNameError: If no mechanism is recorded under a name.
    """
    name = _name(module)
    if any(one.name == name for one in lines):
        name = OTHER_NAME.format(name)
    own = [Entrant(name=name, item=item, experiment=one) for item, one in fitting]
    return own + rivals_of(rivals, [item for item, _ in fitting], lines)


def planned_jobs(
    module: type[nn.Module | Objective] | Own,
    suite: str,
    seeds: Sequence[int],
    *,
    tune: Sequence[Choice | str] = (),
    rivals: Iterable[str] = (),
) -> tuple[list[Job], list[Job], dict[str, str]]:
    """List the jobs of `bench`: the first, the later, and the tasks by experiment key.

    The first jobs are of the searches, if any. The later jobs have the values of the recipes, in
    the stead of the values that will be chosen.

    Args:
        module: Class of the module or rule, or its `Spec`.
        suite: Name of the suite.
        seeds: Numbers of the compared runs.
        tune: Fields to choose values of.
        rivals: Names of recorded mechanisms that are tuned as well.

    Raises:
        UnknownNameError: If there is no such suite or rival.
        ValueError: If a mechanism has no field to tune.
    """
    fitting, _ = fitted(module, suite)
    entrants = entrants_of(_own(module), fitting, recorded(suite), rivals)
    searches = [search_of(one, tune, max(seeds) + 1) for one in entrants] if tune else []
    first = [search.experiments for search in searches] or [(one.experiment,) for one in entrants]
    later = jobs_of([one.experiment for one in entrants], seeds) if searches else []
    labels = {
        experiment.key: one.item.subject
        for one, experiments in zip(entrants, first, strict=True)
        for experiment in (*experiments, one.experiment)
    }
    numbers = searches[0].seeds if searches else seeds
    return jobs_of([one for experiments in first for one in experiments], numbers), later, labels


def _chosen(
    entrants: Sequence[Entrant], searches: Iterable[Search], store: Store
) -> tuple[list[Tuned], tuple[Misfit, ...]]:
    """Choose the values of each mechanism on each task; misfits where all of them diverged.

    Raises:
        ValueError: If all values of the first mechanism, the user's, diverged on every task.
    """
    choices, misfits = list[Tuned](), list[Misfit]()
    for one, search in zip(entrants, searches, strict=True):
        try:
            selection = selection_of(search, store)
        except ValueError as error:
            reason = f"{one.name}: {error}"
            misfits.append(Misfit(subject=one.item.subject, task=one.item.name, reason=reason))
            continue
        choices.append(Tuned(name=one.name, item=one.item, selection=selection))
    if not any(choice.name == entrants[0].name for choice in choices):
        raise ValueError(
            f"tune must have a value that does not diverge, got none: {misfits[0].reason}"
        )
    return choices, tuple(misfits)


def fitted(
    module: type[nn.Module | Objective] | Own, suite: str
) -> tuple[list[tuple[Item, Experiment]], tuple[Misfit, ...]]:
    """Split the tasks of a suite: experiments where a module fits, reasons where it does not.

    Args:
        module: Class of the module or rule, or its `Spec` with options.
        suite: Name of the suite.

    Raises:
        UnknownNameError: If there is no such suite.
        ValueError: If the module fits none of its tasks, or is a rule on a suite of modules.
    """
    asked, own = _suite(suite), _own(module)
    if not (isinstance(own, Spec) or asked.compares_rules):
        known = [name for name, one in SUITES.items() if one.compares_rules]
        raise ValueError(
            f"suite must be {' or '.join(known)} for a learning rule, got {suite!r} for "
            f"{_name(own)}"
        )
    fitting, misfits = list[tuple[Item, Experiment]](), list[Misfit]()
    for item in asked.items:
        reason: str | None = f"its network has no {asked.part}; a learning rule fits"
        if hasattr(item.experiment.model, item.field_of(asked.part)) or not isinstance(own, Spec):
            experiment = item.experiment_with(asked.part, own)
            reason = _reason(experiment)
        if reason is None:
            fitting.append((item, experiment))
        else:
            misfits.append(Misfit(subject=item.subject, task=item.name, reason=reason))
    if not fitting:
        reasons = "\n  ".join(f"{one.subject} ({one.task}): {one.reason}" for one in misfits)
        raise ValueError(
            f"module must fit a task of the suite {suite} ({asked.reads}), got "
            f"{_name(own)}:\n  {reasons}"
        )
    return fitting, tuple(misfits)


def _suite(name: str) -> Suite:
    if name not in SUITES:
        raise UnknownNameError("suite", name, SUITES)
    return SUITES[name]


def _own(module: type[nn.Module | Objective] | Own) -> Own:
    """Build the spec of a module, or a rule; errors of the constructor become `ValueError`."""
    if not isinstance(module, type):
        return module
    try:
        return Spec(module) if issubclass(module, nn.Module) else module()
    except TypeError as error:
        raise ValueError(
            f"module must be a class that a task can fill in, got {module.__name__}: {error}; give "
            "it a default, or Spec(…) with a value"
        ) from error


def _name(own: Own) -> str:
    """Return the name of the class of a module or rule."""
    return own.cls.__name__ if isinstance(own, Spec) else type(own).__name__


def _reason(experiment: Experiment) -> str | None:
    """Give the reason that a module fails on a few problems of a task; `None` if it works."""
    task = experiment.problem_task
    if not is_at_hand(task):
        name = getattr(task, "data_set", "")
        hint = f"; farfield fetch {re.sub('-first.*', '', name)}" if name else ""
        return f"its data is not on this machine{hint}"
    try:
        model = experiment.model.build(task, stream(0, "trial"))
        problems = task.sample(TRAINING, TRIED, stream(0, "trial", "problems").numpy())
        outputs = model(problems.items, problems.index)
        if isinstance(outputs, Tensor) and outputs.shape[-1] != task.num_outputs:
            return (
                f"its outputs must be {task.num_outputs} numbers (num_outputs), got shape "
                f"{tuple(outputs.shape)}"
            )
        task.loss(outputs, problems)
    except Exception as error:  # noqa: BLE001 — whatever it was, the user must hear of it
        return f"{type(error).__name__}: {' '.join(str(error).split())}"
    return None


def _trained(
    entrants: Iterable[Entrant], seeds: Iterable[int], store: Store
) -> list[tuple[str, str, list[Point]]]:
    """Collect the mechanisms that were trained here with their points on each subject."""
    found: dict[tuple[str, str], list[Point]] = {}
    for one in entrants:
        records = [got for seed in seeds if (got := store.find(one.experiment.key, seed))]
        profile = extrapolation_profile(
            one.experiment.task, records, one.experiment.perturbations, regimes=one.item.shown
        )
        found.setdefault((one.name, one.item.subject), []).extend(profile.points)
    return [(name, subject, points) for (name, subject), points in found.items()]


def _of_rivals(lines: Iterable[Recorded]) -> list[tuple[str, str, list[Point]]]:
    """Collect the recorded mechanisms with their points on each subject."""
    found: dict[tuple[str, str], list[Point]] = {}
    for line in lines:
        found.setdefault((line.name, line.subject), []).extend(line.profile.points)
    return [(name, subject, points) for (name, subject), points in found.items()]
