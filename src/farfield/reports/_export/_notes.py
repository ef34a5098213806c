"""Notes beside the exports: reasons for failures, wanted runs, and commits that are missing."""

from __future__ import annotations

import fnmatch
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Final, Literal, TypeVar, final

import msgspec

from farfield.core import excerpt, expand_home, printable, read_regular
from farfield.records import Record, missing_commits, write_whole
from farfield.reports._figures._registry import FIGURES
from farfield.reports._report._origins import COMMIT, commits_of
from farfield.reproductions import TABLES, Claim

REASONS: Final = "reasons.toml"
"""Name of the file of reasons in a folder of exports."""

WANTED: Final = "wanted.toml"
"""Name of the list of runs in a folder of exports."""

MISSING: Final = "missing-commits.toml"
"""Name of the list of commits in a folder of exports."""

LARGEST_FILE: Final = 1 << 22
"""Its bytes."""


@final
class Reason(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Reason for some cells that are not reproduced.

    Args:
        cells: Names of cells, that of the table before them; `*` stands for anything.
        why: The reason, in a line.
    """

    cells: tuple[str, ...]
    why: str

    def holds_for(self, claim: Claim) -> bool:
        """True if it is the reason for a cell.

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
        why: What it is for, in a line.
    """

    command: str
    minutes: Annotated[float, msgspec.Meta(gt=0)]
    device: Literal["cpu", "cuda"]
    why: str

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The cells that it runs."""
        _, _, name, *options = shlex.split(self.command)
        pairs = zip(options[::2], options[1::2], strict=True)
        cells = [pattern for option, pattern in pairs if option == "--cell"]
        table = TABLES[name] if name in TABLES else FIGURES[name].table
        return table.select(*cells).claims

    @property
    def time(self) -> str:
        """The estimate in words, e.g. `9 h of a CPU core`."""
        place = "a GPU" if self.device == "cuda" else "a CPU core"
        hours = self.minutes / 60
        amount = f"{self.minutes:.0f} min" if hours < 1 else f"{hours:,.0f} h"
        return f"{amount} of {place}"


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
    """The reasons in a folder of exports; none where it has no such file.

    Args:
        folder: The folder.

    Raises:
        ValueError: If the file is damaged.
    """
    return _load(expand_home(folder) / REASONS, _Reasons).reason


def load_wanted(folder: Path) -> tuple[Wanted, ...]:
    """The wanted runs in a folder of exports; none where it has no such file.

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
        return msgspec.toml.decode(read_regular(path, LARGEST_FILE), type=form)
    except (msgspec.MsgspecError, OSError, ValueError) as error:
        raise ValueError(f"{printable(path)}: not a list of notes: {excerpt(error)}") from error
