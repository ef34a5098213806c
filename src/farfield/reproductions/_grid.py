"""Tables and statements of a paper, read from TOML and TSV in its folder.

Python keeps networks and recipes: a function from a `Cell` to an `Experiment`, in a module that the
paper's `__init__` hands to `Paper`. All else of a table is data, in `claims.toml`:

    [table-1]
    title = "Analogies in regions away from training"
    experiments = "vaec" # name of the function
    rows = ["Context norm.", "No norm."]
    columns = ["training", { name = "Region 2", regime = "region-2" }] # a name alone is the regime
    numbers = "table-1.tsv" # names of the columns in the first line, then a line for each row
    metric = "accuracy" # and further fields of `Claim`, `Published` and `Unpublished`
    runs = 8
    but."no-norm/*" = { quick = 0.004 } # for cells by name, as `farfield list` shows names

A field of a cell is that of `[defaults]`, the table, the grid, the column or `but`, whichever comes
last. A number has the digits of the paper, `61.6 ± 4.9` or `61.6`; an empty cell is no claim, and
`-` a claim without a published number, as are all without `numbers`. `goal` in `but` sets the goal
of a cell; `by_hand = "By hand"` adds rows by hand behind the cells, and `by_hand = { "By hand" =
"by_hand", … }` several, each with the method of the task that answers. Cells come column by column,
or by `order = "rows"`. A table of several parts has `[[table-1.grids]]` with the keys that differ,
and `like = "table-1"` takes the keys of another table.

A table of `statements.toml` is a `Statement` with one comparison: `ratio`, `gap`, `single`, `wins`
or `parameters`, of means of cells, e.g. `ratio = ["table-1/no-norm/*", "table-1/context-norm/*"]`.
In `wins`, each name of `over` replaces `{}`.

An error names file, table and field; unknown keys, rows and regimes are errors.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from importlib.resources import files
from inspect import isfunction
from types import ModuleType
from typing import Any, Final, Literal, NamedTuple, final

import msgspec
from msgspec import Struct

from farfield.core.internal import UnknownNameError
from farfield.experiments import Experiment
from farfield.reproductions._by_hand import with_rows_by_hand
from farfield.reproductions._claims import Claim, Table, cell_name
from farfield.reproductions._comparisons import (
    Cells,
    Comparison,
    Gap,
    Parameters,
    Ratio,
    Single,
    Wins,
)
from farfield.reproductions._published import Confirmation, Published, Unpublished
from farfield.reproductions._rule import VerdictRule
from farfield.reproductions._statements import Statement

Toml = dict[str, Any]
Number = int | float
Pattern = str | list[str]
"""Names of cells with `*`, e.g. `"table-1/no-norm/*"`."""

UNPUBLISHED: Final = "-"
"""Cell of a TSV without a published number."""
SPREAD: Final = {"spread_kind", "runs_assumed"}
"""Fields of `Published` that `Unpublished` lacks."""
NUMBER: Final = SPREAD | {
    *("runs", "selection", "split", "decimals", "unit", "goal", "confirmation")
}
"""Fields of `Published` and `Unpublished`; all others of a cell are fields of `Claim`."""
STATEMENT: Final = ("about", "quote", "where", "low", "high", "margin", "missing", "note")
"""Fields of `Statement`; all other keys of a statement describe its comparison."""


class Cell(NamedTuple):
    """Name of a cell of a table.

    Attributes:
        row: Row as published.
        regime: Regime of the column.
        group: Group of the column; empty without groups.
    """

    row: str
    regime: str
    group: str


Make = Callable[[Cell], Experiment]
"""Function from a cell to the experiment that tests it."""


class _Fields(Struct, kw_only=True, forbid_unknown_fields=True):
    """Fields of a claim and its number; `None` where the data does not give the field."""

    regime: str | None = None
    group: str | None = None
    metric: str | None = None
    subject: str | None = None
    quick: Number | None = None
    quick_before: Number | None = None
    free: tuple[str, ...] | None = None
    data: str | None = None
    unbuilt: bool | None = None
    rule: dict[str, Number] | None = None
    runs: int | None = None
    runs_assumed: bool | None = None
    selection: str | None = None
    split: str | None = None
    decimals: tuple[int, int] | None = None
    unit: Literal["percent", "fraction"] | None = None
    spread_kind: Literal["standard error", "standard deviation", "not said"] | None = None
    goal: Number | None = None
    confirmation: Confirmation | None = None

    def given(self) -> Toml:
        """Collect the fields with a value, by name."""
        values = {name: getattr(self, name) for name in _Fields.__struct_fields__}
        return {name: value for name, value in values.items() if value is not None}


class _Column(_Fields):
    """A column: name as published, and fields of its cells."""

    name: str


class _Grid(_Fields):
    """Rows and columns, and fields of all cells."""

    experiments: str
    rows: list[str]
    columns: list[str | _Column]
    numbers: str | None = None
    order: Literal["columns", "rows"] = "columns"
    by_hand: str | dict[str, str] | None = None
    but: dict[str, _Fields] = msgspec.field(default_factory=dict)


class _Table(Struct, kw_only=True, forbid_unknown_fields=True):
    """Fields of a `Table`; all other keys of a table belong to grids."""

    title: str
    tuned: str | None = None
    steps_published: bool = True


class _Said(Struct, kw_only=True, forbid_unknown_fields=True):
    """Fields of a `Statement`, and one comparison with its options."""

    about: str
    quote: str
    where: str
    low: Number | None = None
    high: Number | None = None
    margin: Number | None = None
    missing: str | None = None
    note: str | None = None
    ratio: tuple[Pattern, Pattern] | None = None
    gap: tuple[Pattern, Pattern] | None = None
    single: Pattern | None = None
    wins: list[list[str]] | None = None
    parameters: str | None = None
    over: list[str] = msgspec.field(default_factory=lambda: [""])
    digits: int | None = None
    error: bool = False
    parts: bool = False


@final
class Paper:
    """Tables and statements of a paper.

    Args:
        key: Key of the paper, the name of its folder.
        modules: Modules with the functions that make experiments; grids name them.

    Attributes:
        tables: Tables by name, without the paper's key.
        statements: Statements on cells of the tables.

    Raises:
        ValueError: If a file has an unknown key or name, or a wrong value.
    """

    def __init__(self, key: str, *modules: ModuleType) -> None:
        self.key = key
        self._folder = files(f"farfield.reproductions.{key}")
        self._makers: dict[str, Make] = {
            name: thing
            for module in modules
            for name, thing in vars(module).items()
            if isfunction(thing)
            and not name.startswith("_")
            and thing.__module__ == module.__name__
        }
        with _naming(f"{key}/claims.toml"):
            data = tomllib.loads(self._text("claims.toml"))
            shared = data.pop("defaults", {})
            self.tables = {name: self._table(name, shared, data) for name in data}
        with _naming(f"{key}/statements.toml"):
            said = tomllib.loads(self._text("statements.toml"))
            self.statements = tuple(self._statement(name, given) for name, given in said.items())

    def numbers(self, name: str) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
        """Read the names of the columns of a TSV, and the texts of each row.

        Args:
            name: Name of the file.

        Raises:
            ValueError: If a row occurs twice, or has more texts than the first line.
        """
        (_, *columns), *lines = [line.split("\t") for line in self._text(name).splitlines()]
        rows: dict[str, tuple[str, ...]] = {}
        for row, *texts in lines:
            if row in rows or len(texts) > len(columns):
                raise ValueError(
                    f"{name}: row {row!r} must occur once, with at most {len(columns)} "
                    f"numbers, got {texts}"
                )
            rows[row] = (*texts, *[""] * (len(columns) - len(texts)))
        return tuple(columns), rows

    def _text(self, name: str) -> str:
        """Read a file of the paper."""
        return self._folder.joinpath(name).read_text("utf-8")

    def _table(self, name: str, shared: Toml, data: Toml) -> Table:
        """Build a table from its keys, over the keys that all tables share."""
        with _naming(name):
            given = _with_like(data[name], data)
            own = {key: given.pop(key) for key in _Table.__struct_fields__ if key in given}
            fields = msgspec.structs.asdict(msgspec.convert(own, _Table))
            claims: list[Claim] = []
            names, start = set[str](), 0
            for keys in given.pop("grids", [{}]):
                but = given.get("but", {}) | keys.get("but", {})
                grid = msgspec.convert({**shared, **given, **keys, "but": but}, _Grid)
                for cell, claim in self._cells(name, grid):
                    names.add(cell)
                    claims.append(claim)
                if grid.by_hand is not None:
                    claims[start:] = with_rows_by_hand(claims[start:], grid.by_hand)
                    start = len(claims)
            blocks = (data[name], *data[name].get("grids", []))
            for pattern in (pattern for keys in blocks for pattern in keys.get("but", {})):
                if not any(fnmatchcase(cell, pattern) for cell in names):
                    raise UnknownNameError("cell", pattern, names)
            return Table(key=f"{self.key}/{name}", claims=tuple(claims), **fields)

    def _cells(self, table: str, grid: _Grid) -> Iterator[tuple[str, Claim]]:
        """Yield the claims of a grid, each behind the name that `but` knows."""
        columns = [_Column(name=one) if isinstance(one, str) else one for one in grid.columns]
        texts = dict.fromkeys(grid.rows, (UNPUBLISHED,) * len(columns))
        if grid.numbers is not None:
            names, texts = self.numbers(grid.numbers)
            if names != tuple(column.name for column in columns):
                raise ValueError(f"columns must be those of {grid.numbers}, {names}")
        indices = [(row, column) for column in range(len(columns)) for row in grid.rows]
        if grid.order == "rows":
            indices.sort(key=lambda index: grid.rows.index(index[0]))
        for row, column in indices:
            if row not in texts:
                raise UnknownNameError(f"row of {grid.numbers}", row, texts)
            if text := texts[row][column]:
                yield self._cell(table, grid, row, columns[column], text)

    def _cell(
        self, table: str, grid: _Grid, row: str, column: _Column, text: str
    ) -> tuple[str, Claim]:
        """Build the claim of a cell, behind the name that `but` knows."""
        fields = {"regime": column.name, "group": "", **grid.given(), **column.given()}
        name = cell_name(row, fields["regime"], fields["group"])
        with _naming(name):
            for pattern, changed in grid.but.items():
                if fnmatchcase(name, pattern):
                    fields |= changed.given()
            if grid.experiments not in self._makers:
                raise UnknownNameError("function of experiments", grid.experiments, self._makers)
            make = self._makers[grid.experiments]
            number = {key: fields.pop(key) for key in NUMBER & fields.keys()}
            with _naming(grid.numbers or "number"):
                published = _parse_number(text, number)
            claim = Claim(
                paper=self.key,
                table=table,
                row=row,
                column=column.name,
                published=published,
                experiment=make(Cell(row, fields["regime"], fields["group"])),
                rule=VerdictRule(**fields.pop("rule", {})),
                **fields,
            )
            regimes = [regime.name for regime in claim.experiment.regimes]
            if claim.regime not in regimes:
                raise UnknownNameError("regime", claim.regime, regimes)
        return name, claim

    def _statement(self, name: str, given: Toml) -> Statement:
        """Build a statement from its keys."""
        with _naming(name):
            said = msgspec.convert(given, _Said)
            own = {key: value for key, value in given.items() if key in STATEMENT}
            return Statement(paper=self.key, name=name, comparison=self._comparison(said), **own)

    def _comparison(self, said: _Said) -> Comparison | None:
        """Build the comparison of a statement; `None` without one."""
        digits = {} if said.digits is None else {"digits": said.digits}
        found: list[Comparison] = []
        if said.ratio is not None:
            first, second = (self._mean(one, said) for one in said.ratio)
            found.append(Ratio(first=first, second=second))
        if said.gap is not None:
            first, second = (self._mean(one, said) for one in said.gap)
            found.append(Gap(first=first, second=second, **digits))
        if said.single is not None:
            found.append(Single(only=self._mean(said.single, said), **digits))
        if said.wins is not None:
            contests = tuple(one for wins in said.wins for one in self._contests(wins, said))
            found.append(Wins(contests=contests))
        if said.parameters is not None:
            claim, *_ = self._mean(said.parameters, said).claims
            found.append(Parameters(experiment=claim.experiment))
        if len(found) > 1:
            raise ValueError(f"must have one comparison, got {len(found)}")
        return found[0] if found else None

    def _contests(self, rivals: list[str], said: _Said) -> Iterator[tuple[Cells, ...]]:
        """Yield a contest for each name of `over`, without the rivals that lack this name."""
        found = [
            [self._matching(rival.replace("{}", one)) for one in said.over] for rival in rivals
        ]
        for rival, claims in zip(rivals, found, strict=True):
            if not any(claims):
                raise UnknownNameError("cell", rival, self._names)
        for contest in zip(*found, strict=True):
            yield tuple(
                Cells(claims=tuple(claims), error=said.error, parts=said.parts)
                for claims in contest
                if claims
            )

    def _mean(self, patterns: Pattern, said: _Said) -> Cells:
        """Build the mean of the cells that match; no cell is an error."""
        claims: list[Claim] = []
        for pattern in [patterns] if isinstance(patterns, str) else patterns:
            found = self._matching(pattern)
            if not found:
                raise UnknownNameError("cell", pattern, self._names)
            claims += found
        return Cells(claims=tuple(claims), error=said.error, parts=said.parts)

    @property
    def _names(self) -> list[str]:
        """Names of all cells, with their tables."""
        return [f"{name}/{cell}" for name, table in self.tables.items() for cell in table.cells]

    def _matching(self, pattern: str) -> list[Claim]:
        """Find the cells that match `TABLE/PATTERN`."""
        table, _, cell = pattern.partition("/")
        if table not in self.tables:
            raise UnknownNameError("table", table, self.tables)
        cells = self.tables[table].cells
        return [claim for name, claim in cells.items() if fnmatchcase(name, cell)]


def _with_like(keys: Toml, tables: Toml) -> Toml:
    """Copy the keys of a table, over the keys of the table that `like` names."""
    own = dict(keys)
    if (other := own.pop("like", None)) is None:
        return own
    if other not in tables:
        raise UnknownNameError("table of like", str(other), tables)
    others = {name: table for name, table in tables.items() if name != other}
    base = _with_like(tables[other], others)
    return {**base, **own, "but": base.get("but", {}) | own.get("but", {})}


def _parse_number(text: str, fields: Toml) -> Published | Unpublished:
    """Parse the number of a cell, e.g. `"61.6 ± 4.9"`; `"-"` for none."""
    if text == UNPUBLISHED:
        return Unpublished(**{key: fields[key] for key in fields.keys() - SPREAD})
    mean, _, spread = text.partition(" ± ")
    digits = len(mean.partition(".")[2]), len(spread.partition(".")[2])
    return Published(
        mean=float(mean),
        spread=float(spread) if spread else None,
        **{"decimals": digits, **fields},
    )


@contextmanager
def _naming(where: str) -> Iterator[None]:
    """Context manager: put a file, a table or a cell before the message of an error."""
    try:
        yield
    except KeyError as error:
        raise ValueError(f"{where}: unknown {error}") from error
    except (TypeError, ValueError, msgspec.ValidationError) as error:
        raise ValueError(f"{where}: {error}") from error
