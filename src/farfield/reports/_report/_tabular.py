"""Table of results for any program: Markdown, CSV, LaTeX or a data frame."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

from farfield._text import cell_words, one_line
from farfield.core.internal import expand_home
from farfield.records import frame
from farfield.records.internal import write_whole
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report

if TYPE_CHECKING:
    import pandas as pd

_LATEX: Final = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "±": r"$\pm$",
        "−": "$-$",
        "–": "--",
        "≤": r"$\leq$",
        "≥": r"$\geq$",
        "×": r"$\times$",
        "∞": r"$\infty$",
        "†": r"$\dagger$",
        "‡": r"$\ddagger$",
        "§": r"\S{}",
        "Π": r"$\Pi$",
        "α": r"$\alpha$",
    }
)
"""Signs that LaTeX takes for commands, or that some of its engines have no letter for."""


def latex_words(text: object) -> str:
    """Format the text as a cell of LaTeX, in which nothing is a command.

    Args:
        text: A name that people gave, or a number.
    """
    return one_line(text).translate(_LATEX)


@final
@dataclass(frozen=True, kw_only=True)
class Tabular:
    """Table of results, as text for people and as plain values for programs.

    Args:
        headings: Heading of each column, as shown.
        cells: Text of each row, under the headings.
        values: Values of each row, by the name of their column in data, as a CSV file and a data
            frame hold.
    """

    headings: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    values: tuple[Mapping[str, Any], ...]

    def __str__(self) -> str:
        return self.markdown()

    def markdown(self) -> str:
        """Format the table in Markdown, of even columns: the first flush left, all others right."""
        rows = [[*map(cell_words, row)] for row in (self.headings, *self.cells)]
        widths = [max(3, *map(len, column)) for column in zip(*rows, strict=True)]
        rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
        return "\n".join(_line(row, widths) for row in (rows[0], rule, *rows[1:]))

    def latex(self) -> str:
        r"""Format the table in LaTeX, with the rules of `booktabs` (`\usepackage{booktabs}`)."""
        head, *rows = [
            " & ".join(map(latex_words, row)) + r" \\" for row in (self.headings, *self.cells)
        ]
        columns = "l" + "r" * (len(self.headings) - 1)
        lines = [f"\\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule", *rows]
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])

    def csv(self) -> str:
        """Format the values as CSV, the names of the columns first; unknown values are empty."""
        names = dict.fromkeys(name for row in self.values for name in row)
        buffer = io.StringIO()
        writer = csv.DictWriter(buffer, [*names], lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.values)
        return buffer.getvalue()

    def frame(self) -> pd.DataFrame:
        """Return the values as a data frame of pandas.

        Raises:
            ModuleNotFoundError: If pandas, an extra, is not installed.
        """
        return frame(self.values)

    def write(self, path: str | Path) -> Path:
        """Write the table to a file, in the format that its name ends with.

        Args:
            path: A file that ends with `.csv`, `.md` or `.tex`.

        Raises:
            ValueError: If the name ends otherwise.
        """
        written = expand_home(path)
        formats = {".csv": self.csv, ".md": lambda: f"{self}\n", ".tex": self.latex}
        if written.suffix not in formats:
            raise ValueError(f"path must end with {', '.join(formats)}, got {str(path)!r}")
        write_whole(written, formats[written.suffix]().encode(errors="backslashreplace"))
        return written


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Format one row, the first column flush left and the rest flush right."""
    first, *others = zip(cells, widths, strict=True)
    padded = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
    return f"| {' | '.join(padded)} |"


def tabular_of(report: Report) -> Tabular:
    """Return the cells of a table of claims, a row for each.

    Args:
        report: The table with its results.
    """
    return Tabular(
        headings=("cell", *text.COLUMNS),
        cells=tuple(
            (text.place(row), *(write(row) for write in text.COLUMNS.values()))
            for row in report.rows
        ),
        values=tuple(row.fields for row in report.rows),
    )
