"""Settings of the papers in the text, in the released code and in claims."""

from __future__ import annotations

import ast
import dataclasses
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum, unique
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from itertools import zip_longest
from typing import Any, Final, final

from farfield.experiments import Experiment, Spec
from farfield.functional.internal import NFMRules
from farfield.nn import Syntax, Wiring
from farfield.reproductions._claims import Claim

NOT_SAID: Final = "not said"
"""Beginning of a text that leaves a setting open."""
COLUMNS: Final = (
    "setting",
    "path",
    "the text",
    "section",
    "the released code",
    "as text",
    "as code",
    "why",
    "tables",
    "does",
)
"""Columns of the table of a paper's settings, `settings.md` in its folder."""
IMPLIED: Final[Mapping[str, Callable[[], Any]]] = {
    "rules": NFMRules,
    "syntax": Syntax,
    "wiring": Wiring,
}
"""Options of modules that mean an object of these where they are `None`."""
BEFORE: Final = "before."
"""Beginning of a path into the experiment that an experiment starts from."""


@final
@unique
class Source(StrEnum):
    """Where a claim has a setting from."""

    BOTH = "text and code"
    TEXT = "text"
    CODE = "code"
    OWN = "own choice"
    NEITHER = "neither"


@final
@dataclass(frozen=True, kw_only=True)
class Setting:
    """A setting of a paper's experiments, and where the descriptions of claims have it.

    Args:
        name: Name of the setting, e.g. `"variance of context normalization"`.
        path: Class and field in the description of an experiment, e.g. `"ContextNorm.correction"`,
            with `before.` in front for the experiment it starts from; or a class alone. A slash
            separates alternative classes, `"VAECScale/VAECTranslation"`.
        text: Words of the text; begins with `not said` where it leaves the setting open.
        section: Section or table of the text, e.g. `"section 2.3"`.
        code: Setting of the released code; empty where it has none.
        as_text: Values of the field that are as the text has it; of a part the name of its class.
        as_code: Values that are as the released code has it.
        does: Effect of the class, for a path without a field.
        why: Why claims have another value than the text.
        tables: Patterns of the tables of the paper that it is about, or of cells, e.g.
            `"table-1/no-norm/*"`.

    Raises:
        ValueError: If `does` is given with a field, or a class has neither.
    """

    name: str
    path: str
    text: str
    section: str = ""
    code: str = ""
    as_text: tuple[object, ...] = ()
    as_code: tuple[object, ...] = ()
    does: str = ""
    why: str = ""
    tables: tuple[str, ...] = ("*",)

    def __post_init__(self) -> None:
        if bool(self.does) == ("." in self.path.removeprefix(BEFORE)):
            raise ValueError(
                "does must describe a class without a field, and be empty with a field, "
                f"got {self.does!r} for {self.path}"
            )

    def values(self, claim: Claim) -> tuple[Any, ...]:
        """List values in the experiment of a claim, no values where it lacks the part.

        The recipe of a claim that trains nothing has no values.

        Args:
            claim: The claim.

        Raises:
            ValueError: If a class of the path has no such field.
        """
        if claim.unbuilt or not any(self._names(claim, pattern) for pattern in self.tables):
            return ()
        experiment, path = claim.experiment, self.path
        if path.startswith(BEFORE):
            if experiment.starts_from is None:
                return ()
            experiment, path = experiment.starts_from.experiment, path.removeprefix(BEFORE)
        part, _, field = path.partition(".")
        if part == "Recipe" and claim.trains_nothing:
            return ()
        parts = _parts(experiment)
        found = [(name, of) for name in part.split("/") for of in parts.get(name, ())]
        if field and any(field not in of for _, of in found):
            raise ValueError(f"path must name a field of {part}, got {self.path}")
        return tuple(_distinct(of[field] if field else name for name, of in found))

    @staticmethod
    def _names(claim: Claim, pattern: str) -> bool:
        """Tell if a pattern of tables or cells is one of a claim."""
        name = f"{claim.table}/{claim.cell}" if "/" in pattern else claim.table
        return pattern == "*" or fnmatchcase(name, pattern)

    def source(self, values: Iterable[object]) -> Source:
        """Find the source of values: text, released code, both or neither.

        Args:
            values: Result of `values`.
        """
        names = [_name(value) for value in values]
        text, code = (all(name in of for name in names) for of in (self.as_text, self.as_code))
        if text or code:
            return Source.BOTH if text and code else Source.TEXT if text else Source.CODE
        return Source.OWN if self.text.startswith(NOT_SAID) else Source.NEITHER

    def shown(self, values: Iterable[object]) -> str:
        """Compute values in words.

        Args:
            values: Result of `values`.
        """
        return self.does or ", ".join(map(_written, values))


@final
@dataclass(frozen=True, kw_only=True)
class SheetLine:
    """A setting with the value that some claims have.

    Args:
        setting: The setting.
        value: Value of the setting, in words.
        source: Source of the value.
        claims: Claims with this value.
    """

    setting: Setting
    value: str
    source: Source
    claims: tuple[Claim, ...]


def sheet(claims: Iterable[Claim]) -> tuple[SheetLine, ...]:
    """List settings of claims beside text and code, a line for each value that some of them have.

    Args:
        claims: Claims of one paper.
    """
    claims = tuple(claims)
    lines = []
    for setting in settings_of(claims[0].paper):
        groups: dict[tuple[str, Source], list[Claim]] = {}
        for claim in claims:
            if values := setting.values(claim):
                group = setting.shown(values), setting.source(values)
                groups.setdefault(group, []).append(claim)
        lines += [
            SheetLine(setting=setting, value=value, source=source, claims=tuple(having))
            for (value, source), having in groups.items()
        ]
    return tuple(lines)


def settings_of(paper: str) -> tuple[Setting, ...]:
    """Read settings of a paper from the table in its folder.

    Args:
        paper: Key of the paper.

    Raises:
        ValueError: If the table has other columns, or values that Python cannot read.
    """
    return _load(paper)


@cache
def _load(paper: str) -> tuple[Setting, ...]:
    """Read the table, once."""
    page = files(f"farfield.reproductions.{paper}").joinpath("settings.md").read_text("utf-8")
    head, _, *rows = [_cells(line) for line in page.splitlines() if line.startswith("|")]
    if tuple(head) != COLUMNS:
        raise ValueError(f"columns of settings of {paper} must be {COLUMNS}, got {head}")
    return tuple(_setting(dict(zip_longest(COLUMNS, row, fillvalue=""))) for row in rows)


def _cells(line: str) -> list[str]:
    """Split a line of a table in Markdown into cells; missing cells at its end are empty."""
    return [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]


def _setting(row: dict[str, str]) -> Setting:
    """Read the setting of a row."""
    as_text, as_code = (
        ast.literal_eval(f"({row[name]},)" if row[name] else "()")
        for name in ("as text", "as code")
    )
    return Setting(
        name=row["setting"],
        path=row["path"],
        text=row["the text"],
        section=row["section"],
        code=row["the released code"],
        as_text=as_text,
        as_code=as_code,
        why=row["why"],
        tables=tuple(row["tables"].split(", ")) if row["tables"] else ("*",),
        does=row["does"],
    )


@cache
def _parts(experiment: Experiment) -> dict[str, list[Mapping[str, Any]]]:
    """Collect fields of the parts of an experiment by class name, without a stage before."""
    parts: dict[str, list[Mapping[str, Any]]] = {}
    for name, fields in _walk(experiment):
        parts.setdefault(name, []).append(fields)
    return parts


def _walk(value: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if isinstance(value, tuple):
        for part in value:
            yield from _walk(part)
    elif (fields := _fields(value)) is not None:
        yield _name(value), fields
        for name, part in fields.items():
            if name != "starts_from":
                yield from _walk(part)


def _fields(value: Any) -> dict[str, Any] | None:
    """Collect fields of a part with their values, defaults too; `None` for no part."""
    if isinstance(value, Spec):
        parameters = inspect.signature(value.cls).parameters.values()
        defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
        fields = {"cls": value.cls, **defaults, **dict(value.options)}
        left_out = {name: make() for name, make in IMPLIED.items() if fields.get(name, 0) is None}
        return fields | left_out
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return None


def _name(value: Any) -> Any:
    """Find the name of the class of a part; any other value unchanged."""
    if isinstance(value, tuple):
        return tuple(map(_name, value))
    if isinstance(value, Spec):
        return value.cls.__name__
    if isinstance(value, type) or inspect.isroutine(value):
        return value.__name__
    return type(value).__name__ if dataclasses.is_dataclass(value) else value


def _written(value: Any) -> str:
    """Write a value as Python does, a part with the fields that are not at their defaults."""
    if isinstance(value, tuple):
        return f"({', '.join(map(_written, value))}{',' * (len(value) == 1)})"
    if isinstance(value, Spec):
        options = dict(value.options)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        options = {
            field.name: content
            for field in dataclasses.fields(value)
            if (content := getattr(value, field.name)) != field.default
        }
    else:
        name = _name(value)
        return (
            f"{value:,}".replace(",", "_")
            if type(value) is int
            else (name if isinstance(value, type) or inspect.isroutine(value) else repr(value))
        )
    return f"{_name(value)}({', '.join(f'{k}={_written(v)}' for k, v in options.items())})"


def _distinct(values: Iterable[Any]) -> Iterator[Any]:
    """Compute values without repeats, by how they are written."""
    return iter({_written(value): value for value in values}.values())
