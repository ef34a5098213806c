"""Export of the records behind tables, and notes on commits and gaps."""

from __future__ import annotations

import fnmatch
import math
import shlex
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar, final

import msgspec

from farfield.core.internal import excerpt, expand_home, open_regular, printable, read_regular
from farfield.experiments import Experiment
from farfield.metrics.internal import MEASURES
from farfield.records import Record
from farfield.records.internal import DIVERGED, missing_commits, write_whole
from farfield.reports._figures._registry import FIGURES
from farfield.reports._report import _text as text
from farfield.reports._report._report import Finder
from farfield.reports._report._text import COMMIT, commits_of, is_uncommitted, is_unknown
from farfield.reproductions import TABLES, Budget, Claim, Table
from farfield.tasks import TRAINING
from farfield.tasks.internal import metric_of

REASONS: Final = "reasons.toml"
"""Name of the file of reasons in a folder of exports."""

WANTED: Final = "wanted.toml"
"""Name of the list of runs in a folder of exports."""

MISSING: Final = "missing-commits.toml"
"""Name of the list of commits in a folder of exports."""

LARGEST_NOTES: Final = 1 << 22
"""Size in bytes."""


@final
class Reason(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Reason for some cells that are not reproduced.

    Args:
        cells: Names of cells, that of the table before them; `*` matches anything.
        why: The reason, in a line.
    """

    cells: tuple[str, ...]
    why: str

    def holds_for(self, claim: Claim) -> bool:
        """Tell if it is the reason for a cell.

        Args:
            claim: The cell.
        """
        return any(fnmatch.fnmatchcase(claim.name, pattern) for pattern in self.cells)


@final
class Wanted(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A run that is wanted.

    Args:
        command: Command that runs it.
        minutes: Estimate of its time.
        device: Where it runs.
        why: Purpose in a line.
    """

    command: str
    minutes: Annotated[float, msgspec.Meta(gt=0)]
    device: Literal["cpu", "cuda"]
    why: str

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Cells that it runs."""
        _, _, name, *words = shlex.split(self.command)
        table = TABLES[name] if name in TABLES else FIGURES[name].table
        return table.select(*options_of(words).get("--cell", ())).claims

    @property
    def time(self) -> str:
        """Cost in words, e.g. `9 h of a CPU core`."""
        place = "a GPU" if self.device == "cuda" else "a CPU core"
        hours = self.minutes / 60
        amount = f"{self.minutes:.0f} min" if hours < 1 else f"{hours:,.0f} h"
        return f"{amount} of {place}"


def options_of(words: Iterable[str]) -> dict[str, list[str]]:
    """List the values of each option of a command; an option may have several, and come again.

    Args:
        words: Words of the command after its name: options that begin with `--`, and their values.

    Raises:
        ValueError: If the first word is no option.
    """
    found: dict[str, list[str]] = {}
    option = ""
    for word in words:
        if word.startswith("--"):
            option, equals, value = word.partition("=")
            found.setdefault(option, []).extend([value] if equals else [])
        elif not option:
            raise ValueError(f"words must begin with an option, got {word!r}")
        else:
            found[option].append(word)
    return found


@final
class _Reasons(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    reason: tuple[Reason, ...] = ()


@final
class _Runs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    run: tuple[Wanted, ...] = ()


@final
class _Missing(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    commits: tuple[Annotated[str, msgspec.Meta(pattern=f"^{COMMIT.pattern}$")], ...] = ()


HEAD: Final = """\
# Commits that records name and the history of the repository lacks; `farfield report --export`
# writes this list.
"""
"""First lines of the list of commits."""


def load_reasons(folder: Path) -> tuple[Reason, ...]:
    """Read the reasons in a folder of exports; a folder without the file has no reasons.

    Args:
        folder: The folder.

    Raises:
        ValueError: If the file is damaged.
    """
    return _load(expand_home(folder) / REASONS, _Reasons).reason


def load_wanted(folder: Path) -> tuple[Wanted, ...]:
    """Read the wanted runs in a folder of exports; a folder without the file has no runs.

    Args:
        folder: The folder.

    Raises:
        ValueError: If the file is damaged.
    """
    return _load(expand_home(folder) / WANTED, _Runs).run


def load_missing(folder: Path) -> frozenset[str]:
    """Read the commits that records in a folder of exports name and the repository lacks.

    Args:
        folder: The folder; none are known where it has no such list.

    Raises:
        ValueError: If the list is damaged.
    """
    return frozenset(_load(expand_home(folder) / MISSING, _Missing).commits)


def keep_missing(folder: Path, records: Iterable[Record]) -> None:
    """Add the commits of records that the repository lacks to the list in a folder of exports.

    The list stays unchanged where nobody can tell.

    Args:
        folder: The folder of exports.
        records: The records.

    Raises:
        ValueError: If the list that is there is damaged.
        StoreError: If the list cannot be written.
    """
    named = commits_of(records)
    missing = missing_commits(named)
    before = load_missing(folder)
    after = before if missing is None else (before - named) | missing
    if after != before:
        lines = "".join(f'    "{commit}",\n' for commit in sorted(after))
        write_whole(expand_home(folder) / MISSING, f"{HEAD}commits = [\n{lines}]\n".encode())


Form = TypeVar("Form", bound=msgspec.Struct)


def _load(path: Path, form: type[Form]) -> Form:
    if not path.is_file():
        return form()
    try:
        return msgspec.toml.decode(read_regular(path, LARGEST_NOTES), type=form)
    except (msgspec.MsgspecError, OSError, ValueError) as error:
        raise ValueError(f"{printable(path)}: not a list of notes: {excerpt(error)}") from error


LARGEST_LINE: Final = 1 << 20
"""Largest size of a line in bytes; no record is longer."""
LARGEST_FILE: Final = 1 << 25
"""Largest size of a file in bytes; the longest of the tables has five million."""


@final
class Line(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """One line of an export.

    Args:
        cell: Name of the cell within its table.
        record: Record of the run.
        superseded: True for a run of an earlier recipe, which the claim no longer has.
    """

    cell: str
    record: Record
    superseded: bool = False

    @property
    def place(self) -> tuple[str, int, str, int]:
        """Sort key of a line, unique within a file."""
        return (self.cell, self.record.steps, self.record.key, self.record.seed)


def export(table: Table, find: Finder, folder: Path, *, any_commit: bool = False) -> list[Path]:
    """Write the records behind a table as text, `<folder>/<paper>/<table>.jsonl`.

    A selection from several tables is written to their files. Lines of a file for other
    cells, budgets and seeds stays; of the same run the new record wins. Runs of an experiment that
    a claim no longer has stay as superseded ones. The same records give the same bytes.

    Args:
        table: The claims.
        find: The records of a claim, e.g. from `records_at`.
        folder: Where to; made if need be.
        any_commit: Whether networks of uncommitted trees, and of commits that the repository lacks,
            are written too.

    Returns:
        The files written.

    Raises:
        ValueError: If a number is one that no run can leave, a network is of no commit that can be
            looked up, or an older file is damaged.
        StoreError: If a file cannot be written.
    """
    if not any_commit:
        check_commits([table], find, folder)
    by_home: dict[str, list[Line]] = {}
    for claim in table.claims:
        for record in find(claim):
            line = line_of(claim, record)
            _check(line, f"seed {record.seed} of {claim.name}")
            by_home.setdefault(claim.home, []).append(line)
    written = []
    for home, lines in by_home.items():
        path = expand_home(folder) / f"{home}.jsonl"
        claims = {claim.cell: claim for claim in table.claims if claim.home == home}
        before = _marked(claims, load_export(path) if path.exists() else [])
        merged = {line.place: line for line in (*before, *lines)}
        write_whole(path, encode(merged.values()))
        keep_missing(folder, [line.record for line in merged.values()])
        written.append(path)
    return written


MOST_NAMED: Final = 5
"""Cells that an error names."""


def check_commits(tables: Iterable[Table], find: Finder, folder: Path) -> None:
    """Refuse networks that an export would add and whose code nobody can look up.

    Args:
        tables: The claims.
        find: The records of a claim.
        folder: Where they would be exported to; lines that it holds already are not refused.

    Raises:
        ValueError: If a network comes from an uncommitted tree, or from a commit that the
            repository lacks; or if a file in the folder is damaged.
    """
    lines = [
        (claim, record) for table in tables for claim in table.claims for record in find(claim)
    ]
    missing = missing_commits(commits_of(record for _, record in lines)) or frozenset()
    read = cache(_lines_at)
    found: dict[str, dict[str, list[Record]]] = {}
    for claim, record in lines:
        kind = "an uncommitted tree" * is_uncommitted(record)
        kind = kind or "a commit that the repository lacks" * is_unknown(record, missing)
        if kind and encode([line_of(claim, record)]) not in read(folder, claim.home):
            found.setdefault(kind, {}).setdefault(claim.name, []).append(record)
    if found:
        each = "; ".join(
            f"{_counted(cells)} of {kind} ({_named(cells)})" for kind, cells in found.items()
        )
        raise ValueError(
            f"records must be of committed code that the repository has, got {each}. Train them "
            "again, or export them with --any-commit (any_commit=True in Python): pages mark them"
        )


def _lines_at(folder: Path, home: str) -> frozenset[bytes]:
    """Return the lines of an exported table as written."""
    path = expand_home(folder) / f"{home}.jsonl"
    return frozenset(encode([line]) for line in load_export(path)) if path.exists() else frozenset()


def _counted(cells: Mapping[str, list[Record]]) -> str:
    """Compute the number of networks behind some cells, one of several cells once."""
    runs = {(record.key, record.seed) for records in cells.values() for record in records}
    return text.networks(len(runs))


def _named(cells: Mapping[str, list[Record]]) -> str:
    """Name some cells with seeds and commits, the first cells of many."""
    named = [
        f"{name}, seeds {text.ranges([record.seed for record in records])} "
        f"of {excerpt(' '.join(sorted({record.commit or 'no commit' for record in records})))}"
        for name, records in cells.items()
    ]
    rest = len(named) - MOST_NAMED
    return "; ".join(named[:MOST_NAMED] + [f"and {rest} more cells"] * (rest > 0))


def _marked(claims: Mapping[str, Claim], lines: Iterable[Line]) -> Iterator[Line]:
    """Mark lines as superseded whose claim has another experiment by now."""
    same: dict[tuple[str, str], bool] = {}
    for line in lines:
        claim, record = claims.get(line.cell), line.record
        if claim is None or line.superseded:
            yield line
            continue
        run = (line.cell, record.key)
        if run not in same:
            same[run] = claim.same_experiment(record.experiment, record.steps)
        yield line if same[run] else msgspec.structs.replace(line, superseded=True)


def line_of(claim: Claim, record: Record) -> Line:
    """Return the record with scores of training and the claim's regime in the claim's metric.

    Of the parts of that metric, e.g. `r2/function-21`, the last scores are kept. One network may
    answer for dozens of claims, a line each.

    Args:
        claim: Claim that it answers.
        record: The record.
    """
    metrics = {claim.metric, metric_of(claim.experiment.task), "loss", DIVERGED}
    regimes = {claim.regime, TRAINING}
    parts = f"{claim.metric}/"
    kept = [
        s
        for s in record.scores
        if (s.regime in regimes and s.metric in metrics)
        or (s.metric.startswith(parts) and (s.step, s.regime) == (record.steps, claim.regime))
    ]
    return Line(cell=claim.cell, record=msgspec.structs.replace(record, scores=tuple(kept)))


def encode(lines: Iterable[Line]) -> bytes:
    """List the lines as text, sorted; the same lines give the same bytes.

    Args:
        lines: The lines, in any order.
    """
    encoder = msgspec.json.Encoder(order="sorted")
    ordered = sorted(lines, key=lambda line: line.place)
    return b"".join(encoder.encode(_as_text(line)) + b"\n" for line in ordered)


NOT_FINITE: Final = ("nan", "inf", "-inf")
"""Texts of scores that JSON has no numbers for."""


def _as_text(line: Line) -> Line | dict[str, Any]:
    """Return a line with scores that are not finite as text."""
    if all(math.isfinite(score.value) for score in line.record.scores):
        return line
    plain: dict[str, Any] = msgspec.to_builtins(line)
    for score in plain["record"]["scores"]:
        if not math.isfinite(score["value"]):
            score["value"] = str(score["value"])
    return plain


def _from_text(text: bytes) -> Line:
    """Return a line, some of whose scores may be text."""
    plain = msgspec.json.decode(text)
    for score in plain["record"]["scores"]:
        if score["value"] in NOT_FINITE:
            score["value"] = float(score["value"])
    return msgspec.convert(plain, Line)


def load_export(path: Path) -> list[Line]:
    """Read a file that `export` wrote.

    Args:
        path: The file.

    Raises:
        ValueError: If the file cannot be read, or a line is not a whole, sane record, naming file
            and line.
    """
    decoder = msgspec.json.Decoder(Line)
    found: dict[tuple[str, int, str, int], Line] = {}
    try:
        with open_regular(expand_home(path), LARGEST_FILE) as file:
            for number, text in enumerate(iter(lambda: file.readline(LARGEST_LINE), b""), 1):
                where = f"{printable(path)}, line {number}"
                line = _decode(decoder, text, where)
                if line.place in found:
                    raise ValueError(
                        f"{where}: seed {line.record.seed} of {excerpt(line.cell)} occurs twice"
                    )
                found[line.place] = line
    except OSError as error:
        raise ValueError(f"cannot read {printable(path)}: {error.strerror or error}") from error
    return list(found.values())


def exported_at(folder: Path, budget: Budget, seeds: int | None = None) -> Finder:
    """Find the records of a claim at a budget in files that `export` wrote.

    Args:
        folder: Folder that `export` wrote to.
        budget: Share of the paper's steps.
        seeds: Only seeds below this number; all of them if `None`.

    Raises:
        ValueError: If a file is damaged, when its records are asked for.
    """

    @cache
    def of_table(home: str) -> dict[str, list[Record]]:
        path = expand_home(folder) / f"{home}.jsonl"
        found: dict[str, list[Record]] = {}
        for line in load_export(path) if path.is_file() else []:
            if seeds is None or line.record.seed < seeds:
                found.setdefault(line.cell, []).append(line.record)
        return found

    def find(claim: Claim) -> list[Record]:
        found = of_table(claim.home).get(claim.cell, [])
        key = claim.at(budget).key if found else ""  # an experiment to make and to describe
        return [record for record in found if record.key == key]

    return find


def _decode(decoder: msgspec.json.Decoder[Line], text: bytes, where: str) -> Line:
    """Return one line, checked."""
    if not text.endswith(b"\n"):
        raise ValueError(f"{where}: the line is cut short or longer than {LARGEST_LINE} bytes")
    try:
        try:
            line = decoder.decode(text)
        except msgspec.ValidationError:
            line = _from_text(text)
    except (msgspec.MsgspecError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{where}: not a record: {excerpt(error)}") from error
    _check(line, where)
    return line


def _check(line: Line, where: str) -> None:
    """Raise `ValueError` for a record that no run can leave."""
    record = line.record
    if not 0 <= record.seed < 2**63 or not 1 <= record.steps < 2**63:
        raise ValueError(
            f"{where}: seed must be at least 0 and steps at least 1, "
            f"got {excerpt(record.seed)} and {excerpt(record.steps)}; both below 2**63"
        )
    _check_key(record, where)
    if not 0 <= record.seconds < math.inf:
        raise ValueError(f"{where}: seconds must be a finite number, got {record.seconds}")
    places = {(score.step, score.regime, score.metric) for score in record.scores}
    if len(places) < len(record.scores):
        raise ValueError(f"{where}: scores must be unique, got one twice")
    for score in record.scores:
        measure = MEASURES.get(score.metric.partition("/")[0])
        value = score.value
        inside = measure is None or math.isnan(value) or measure.lowest <= value <= measure.highest
        if not inside or score.count < 1 or not 0 <= score.step <= record.steps:
            raise ValueError(f"{where}: no run can leave {excerpt(score)}")


def _check_key(record: Record, where: str) -> None:
    """Raise `ValueError` unless a record's key is the key of its experiment."""
    try:
        key = Experiment.key_of(record.experiment)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{where}: not a record: {excerpt(error)}") from error
    if key != record.key:
        raise ValueError(
            f"{where}: key must be {key}, that of the experiment, got {excerpt(record.key)!r}"
        )
