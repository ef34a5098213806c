"""Exhibits, the figures that consist of exhibits, and the plates that exhibits return."""

from __future__ import annotations

import fnmatch
import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Final,
    NamedTuple,
    ParamSpec,
    Protocol,
    final,
    runtime_checkable,
)

from torch import nn

from farfield.core import Problems
from farfield.core.internal import check_arguments
from farfield.records import Record, Store
from farfield.reports._profile._theme import Theme
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report, Row
from farfield.reproductions import Claim, Table
from farfield.tasks import ProblemTask
from farfield.training import trained_network
from farfield.training.internal import problems_of_run

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

P = ParamSpec("P")

FINDING_HEAD: Final = ("quantity", "the paper", "measured")
"""Column heads of a table of findings."""


@final
@dataclass(frozen=True, kw_only=True)
class OneNetwork:
    """The network of a finding, where each network has a finding.

    Args:
        cell: Name of its cell within its table.
        seed: Number of its run.
        change: By how much the quantity changes: networks whose changes differ in sign disagree.
    """

    cell: str
    seed: int
    change: float


@final
@dataclass(frozen=True, kw_only=True)
class Finding:
    """One quantity: the statement of the paper, and the measured value.

    Args:
        what: The quantity.
        paper: Statement of the paper, in words or numbers; empty for none.
        ours: Measured value, with the number of networks behind it.
        network: The network of the finding; `None` for all networks of the row.
    """

    what: str
    paper: str
    ours: str
    network: OneNetwork | None = None

    @property
    def cells(self) -> tuple[str, str, str]:
        """Cells under `FINDING_HEAD`."""
        return (self.what, self.paper or "–", self.ours)


def by_quantity(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Join the findings of single networks, each by its seed, and say whether they disagree.

    Args:
        findings: In the order in which they are shown.
    """
    joined = [finding for finding in findings if finding.network is None]
    groups: dict[tuple[str, str], list[tuple[OneNetwork, str]]] = {}
    for one in findings:
        if one.network is not None:
            groups.setdefault((one.what, one.paper), []).append((one.network, one.ours))
    for (what, paper), found in groups.items():
        ordered = sorted(found, key=lambda one: one[0].seed)
        parts = [f"seed {network.seed}: {ours}" for network, ours in ordered]
        signs = {network.change > 0 for network, _ in ordered}
        parts += ["the networks disagree"] if len(signs) > 1 else []
        joined.append(Finding(what=what, paper=paper, ours="; ".join(parts)))
    return tuple(joined)


@final
@dataclass(frozen=True, kw_only=True)
class Plate:
    """A picture with its findings.

    Args:
        name: Name of its file, without suffix.
        title: Subject of the picture.
        caption: How to read it, and how the quantities are defined.
        draw: Draws the picture for a light or dark background; `None` for words alone.
        findings: The quantities.
    """

    name: str
    title: str
    caption: str
    draw: Callable[[Theme], Picture] | None
    findings: tuple[Finding, ...]


@runtime_checkable
class Exhibit(Protocol):
    """Measurement on trained networks for a figure, with its drawing."""

    def plate(self, figure: Figure, report: Report, store: Store | None) -> Plate | None:
        """Measure the picture and its findings; `None` where there is nothing to show.

        Args:
            figure: The figure with the statements of its paper.
            report: The figure's cells with their records.
            store: Store of the trained networks; `None` for records alone.
        """
        ...


@final
@dataclass(frozen=True, kw_only=True)
class Quote:
    """A paper's statement on a quantity, quoted or in numbers.

    Args:
        of: Names of the quantities; `*` matches anything.
        words: The statement, and where it is.
    """

    of: str
    words: str


@final
@dataclass(frozen=True, kw_only=True)
class Figure:
    """A published figure, or a figure of Farfield.

    Args:
        table: The claims behind it, under the figure's key and title.
        exhibits: Measurements beyond their scores.
        says: Statements of the paper on the quantities; the first that fits a name counts.
        quick_networks: Networks of each cell in the quick budget.

    Raises:
        ValueError: If the number of networks is below 1.
    """

    table: Table
    exhibits: tuple[Exhibit, ...]
    says: tuple[Quote, ...] = ()
    quick_networks: int = 10

    def __post_init__(self) -> None:
        if self.quick_networks < 1:
            raise ValueError(f"quick_networks must be at least 1, got {self.quick_networks}")

    @property
    def key(self) -> str:
        """Name on the command line, e.g. `"webb2021/figure-3"`."""
        return self.table.key

    def words(self, quantity: str) -> str:
        """Find the statement of the paper on a quantity; empty if there is none.

        Args:
            quantity: Its name.
        """
        for saying in self.says:
            if fnmatch.fnmatchcase(quantity, saying.of):
                return saying.words
        return ""


def figure(
    key: str,
    title: str,
    claims: Iterable[Claim] | Table,
    *exhibits: Exhibit,
    says: Mapping[str, str] | None = None,
    quick_networks: int = 10,
) -> Figure:
    """Build a figure from claims and exhibits.

    Args:
        key: Name on the command line.
        title: Title of the figure.
        claims: The claims behind the figure; or a table of them, with the claims that are not
            shown but judged beside them.
        exhibits: Measurements beyond their scores.
        says: Statements of the paper by the quantities that they are on; `*` matches anything.
        quick_networks: Networks of each cell in the quick budget.
    """
    known = claims if isinstance(claims, Table) else Table(key=key, title=title, claims=(*claims,))
    return Figure(
        table=replace(known, key=key, title=title),
        exhibits=exhibits,
        says=tuple(Quote(of=of, words=words) for of, words in (says or {}).items()),
        quick_networks=quick_networks,
    )


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


@final
@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Records and trained networks behind a figure, from which an exhibit is measured.

    Args:
        figure: The figure with the statements of its paper.
        report: The figure's cells with their records.
        store: Store of the trained networks; `None` for records alone.
    """

    figure: Figure
    report: Report
    store: Store | None

    @property
    def run(self) -> list[Row]:
        """Rows that were run."""
        return self.report.run

    @property
    def steps(self) -> str:
        """Share of the paper's steps, e.g. `2–100 % of steps`."""
        return text.steps(self.run)

    @property
    def seed(self) -> str:
        """Seed of the first network of each row, e.g. `0` or `0–2`."""
        seeds = sorted({row.records[0].seed for row in self.run})
        return text.span(str(seeds[0]), str(seeds[-1]))

    def network(self, row: Row, record: Record) -> nn.Module:
        """Load the trained network of a record.

        Args:
            row: The cell.
            record: One of its runs.

        Raises:
            StoreError: If the network is missing.
        """
        assert self.store is not None  # noqa: S101 — `network_exhibit` looks
        whole = row.claim.experiment
        experiment = whole.at_fraction(record.steps / whole.recipe.steps)
        return trained_network(experiment, record.seed, self.store)

    def looked_into(self, row: Row, record: Record | None = None) -> LookedInto:
        """Load the trained network of a record, with the problems of its run.

        Args:
            row: The cell.
            record: One of its runs; the first if `None`.

        Raises:
            StoreError: If the network is missing.
        """
        record = record or row.records[0]
        task = row.claim.experiment.problem_task
        network = self.network(row, record)
        return LookedInto(task, network, problems_of_run(task, record.seed))

    def finding(
        self, what: str, quantity: str, ours: str, network: OneNetwork | None = None
    ) -> Finding:
        """Build a finding beside the statement of the paper.

        Args:
            what: The quantity in words.
            quantity: Its name, for the statement; empty where the paper has none.
            ours: The measured value.
            network: As of `Finding`.
        """
        paper = self.figure.words(quantity) if quantity else ""
        return Finding(what=what, paper=paper, ours=ours, network=network)


Measure = Callable[Concatenate[Evidence, P], Plate | None]
"""Function from evidence and options to a plate; `None` where there is nothing to show."""


@final
@dataclass(frozen=True, kw_only=True)
class MeasuredExhibit:
    """An exhibit that a function measures.

    Args:
        measure: The function.
        options: Its options.
        of_networks: Whether it looks into trained networks, and shows nothing without them.
    """

    measure: Callable[..., Plate | None]
    options: Mapping[str, Any]
    of_networks: bool

    @property
    def name(self) -> str:
        """Name of the function."""
        return self.measure.__name__

    def plate(self, figure: Figure, report: Report, store: Store | None) -> Plate | None:
        """Measure the exhibit; `None` where there is nothing to show.

        Args:
            figure: The figure with the statements of its paper.
            report: The figure's cells with their records.
            store: Store of the trained networks; `None` for records alone.

        Raises:
            StoreError: If a trained network is missing.
        """
        if self.of_networks and (store is None or not report.run):
            return None
        evidence = Evidence(figure=figure, report=report, store=store)
        return self.measure(evidence, **self.options)


def exhibit(measure: Measure[P]) -> Callable[P, MeasuredExhibit]:
    """Decorate a function that measures records: a call with its options makes an exhibit.

    Args:
        measure: The function; its first argument is the evidence.
    """
    return _maker(measure, of_networks=False)


def network_exhibit(measure: Measure[P]) -> Callable[P, MeasuredExhibit]:
    """Decorate a function that measures trained networks, of which at least one was run.

    Args:
        measure: The function; its first argument is the evidence.
    """
    return _maker(measure, of_networks=True)


def _maker(measure: Measure[P], *, of_networks: bool) -> Callable[P, MeasuredExhibit]:
    """Build a function that binds the options of a measure."""

    @check_arguments
    @functools.wraps(measure)
    def make(*args: P.args, **options: P.kwargs) -> MeasuredExhibit:
        inspect.signature(measure).bind(None, *args, **options)
        return MeasuredExhibit(measure=measure, options=options, of_networks=of_networks)

    return make


def illustrate(figure: Figure, report: Report, store: Store | None) -> tuple[Plate, ...]:
    """Measure the exhibits of a figure, beyond the scores of its claims; nothing is run.

    Args:
        figure: The figure.
        report: Its cells with their records, from `tabulate`.
        store: Where the trained networks lie; `None` where there are records alone, for the
            exhibits that need no more.

    Returns:
        A plate for each exhibit that has something to show.

    Raises:
        StoreError: If a trained network is missing.
    """
    report = report.without_diverged()
    plates = (exhibit.plate(figure, report, store) for exhibit in figure.exhibits)
    return tuple(plate for plate in plates if plate is not None)
