"""Table of results for any program: Markdown, CSV, LaTeX, HTML or a data frame."""

from __future__ import annotations

import csv
import html
import io
import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
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
        "↓": r"$\downarrow$",
        "≤": r"$\leq$",
        "≥": r"$\geq$",
        "×": r"$\times$",
        "÷": r"$\div$",
        ">": r"$>$",
        "<": r"$<$",
        "∞": r"$\infty$",
        "†": r"$\dagger$",
        "‡": r"$\ddagger$",
        "§": r"\S{}",
        "≈": r"$\approx$",
        "←": r"$\leftarrow$",
        "→": r"$\rightarrow$",
        "²": "$^2$",
        "…": r"\dots{}",
        "Π": r"$\Pi$",
        "π": r"$\pi$",
        "α": r"$\alpha$",
        "γ": r"$\gamma$",
        "η": r"$\eta$",
        "λ": r"$\lambda$",
        "σ": r"$\sigma$",
    }
)
"""Signs that LaTeX takes for commands, or that some of its engines have no letter for."""


def latex_words(text: object) -> str:
    """Format the text as a cell of LaTeX, in which nothing is a command.

    Args:
        text: A name that people gave, or a number.
    """
    words = one_line(text).translate(_LATEX)
    return (
        f"{{}}{words}" if words.startswith(("[", "*")) else words
    )  # else an option of a line's end


PAGE: Final = 96
"""Characters of a row that fit the width of a page in LaTeX; a wider table continues below."""
HEADING: Final = 16
"""Characters in a line of a heading in LaTeX."""


@final
@dataclass(frozen=True, kw_only=True)
class Tabular:
    """Table of results, as text for people and as plain values for programs.

    A notebook shows it as HTML.

    Args:
        headings: Heading of each column, as shown; of several lines in LaTeX and HTML.
        cells: Text of each row, under the headings.
        values: Values of each row, by the name of their column in data, as a CSV file and a data
            frame hold.
        bold: Row and column of each cell in bold.
        note: Sentence below the table.
    """

    headings: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    values: tuple[Mapping[str, Any], ...]
    bold: frozenset[tuple[int, int]] = frozenset()
    note: str = ""

    def __str__(self) -> str:
        return self.markdown()

    def pivot(
        self,
        row: str,
        columns: Sequence[str],
        cell: str,
        *,
        value: str,
        best: Callable[[Mapping[str, Any]], float | None] | None = None,
    ) -> Tabular:
        """Lay out one column of the table in two directions, e.g. models by tasks.

        Parts of the headings that all columns share are left out.

        Args:
            row: Heading of the column whose cells name the rows.
            columns: Headings of the columns whose cells, together, name the new columns.
            cell: Heading of the column whose cells are shown.
            value: Name of the number behind each cell, for CSV and data frames.
            best: Function from the values of a row to a score. The cells of the highest score in
                each new column are bold; a row of score `None` does not count.

        Raises:
            ValueError: If there is no such heading, or two rows have one cell.

        Example:
            >>> comparison.tabular.pivot(
            ...     "model", ("task", "regime"), "95 % interval", value="mean"
            ... )  # doctest: +SKIP
        """
        for name in (row, *columns, cell):
            if name not in self.headings:
                raise ValueError(f"headings must be among {', '.join(self.headings)}, got {name!r}")
        at = {name: number for number, name in enumerate(self.headings)}
        names = [cells[at[row]] for cells in self.cells]
        heads = _joined([[cells[at[name]] for name in columns] for cells in self.cells])
        found = dict[tuple[str, str], int]()
        for number, place in enumerate(zip(names, heads, strict=True)):
            if place in found:
                raise ValueError(f"rows must have one cell each, got two of {place}")
            found[place] = number
        down, across = [*dict.fromkeys(names)], [*dict.fromkeys(heads)]
        scores = [best(values) if best else None for values in self.values]
        highest = dict[str, float]()
        for head, score in zip(heads, scores, strict=True):
            if score is not None:
                highest[head] = max(score, highest.get(head, score))
        return Tabular(
            headings=(row, *across),
            cells=tuple(
                (name, *(self.cells[found[name, head]][at[cell]] if (name, head) in found
                         else text.MISSING for head in across))
                for name in down
            ),
            values=tuple(
                {row: name}
                | {one_heading(head): self.values[found[name, head]][value]
                   for head in across if (name, head) in found}
                for name in down
            ),
            bold=frozenset(
                (down.index(name), across.index(head) + 1)
                for (name, head), number in found.items()
                if head in highest and scores[number] == highest[head]
            ),
            note=self.note,
        )  # fmt: skip

    def transposed(self, corner: str) -> Tabular:
        """Exchange rows and columns of a pivot.

        Args:
            corner: Heading of the new first column.
        """
        _, *across = self.headings
        down = [cells[0] for cells in self.cells]
        return Tabular(
            headings=(corner, *down),
            cells=tuple(
                (one_heading(head), *(cells[number] for cells in self.cells))
                for number, head in enumerate(across, start=1)
            ),
            values=tuple(
                {corner: name} | {one: row[name] for one, row in zip(down, self.values, strict=True)
                                  if name in row}
                for name in map(one_heading, across)
            ),
            bold=frozenset((column - 1, row + 1) for row, column in self.bold),
            note=self.note,
        )  # fmt: skip

    def markdown(self) -> str:
        """Format the table in Markdown, of even columns: the first flush left, all others right."""
        rows = [[cell_words(one_heading(head)) for head in self.headings]]
        rows += [
            [f"**{cell_words(cell)}**" if (row, column) in self.bold else cell_words(cell)
             for column, cell in enumerate(cells)]
            for row, cells in enumerate(self.cells)
        ]  # fmt: skip
        widths = [max(3, *map(len, column)) for column in zip(*rows, strict=True)]
        rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
        lines = [_line(row, widths) for row in (rows[0], rule, *rows[1:])]
        return "\n".join([*lines, *(["", cell_words(self.note)] if self.note else [])])

    def latex(self) -> str:
        r"""Format the table in LaTeX, with the rules of `booktabs` (`\usepackage{booktabs}`).

        Columns that would leave the page follow below, under the same names of the rows, if no two
        rows have the same name. The note is a comment at the end, for the caption.
        """
        panels = self._panels()
        width = max(map(len, panels))
        lines = [f"\\begin{{tabular}}{{@{{}}l{'r' * width}@{{}}}}"]
        for number, panel in enumerate(panels):
            lines.append(r"\midrule" if number else r"\toprule")
            heads = [latex_words(self.headings[0])]
            heads += [_latex_heading(self.headings[column]) for column in panel]
            rows = [
                [latex_words(cells[0])] + [self._latex_cell(row, column) for column in panel]
                for row, cells in enumerate(self.cells)
            ]
            blanks = [""] * (width - len(panel))
            head, *found = [" & ".join([*row, *blanks]) + r" \\" for row in (heads, *rows)]
            lines += [head, r"\midrule", *found]
        note = [f"% {latex_words(self.note)}"] if self.note else []
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", *note, ""])

    def _panels(self) -> list[range]:
        """Split the columns after the first into equal parts that fit the width of a page."""
        columns = range(1, len(self.headings))
        names = [cells[0] for cells in self.cells]
        if not columns or len({*names}) < len(names):
            return [columns]
        shown = [
            (*_heading_lines(head), *(cells[number] for cells in self.cells))
            for number, head in enumerate(self.headings)
        ]
        widths = [max(map(len, column)) + 2 for column in shown]
        for count in range(1, len(columns) + 1):
            size = math.ceil(len(columns) / count)
            panels = [columns[first : first + size] for first in range(0, len(columns), size)]
            if max(sum(widths[one] for one in panel) for panel in panels) <= PAGE - widths[0]:
                break
        return panels

    def _latex_cell(self, row: int, column: int) -> str:
        found = latex_words(self.cells[row][column])
        return f"\\textbf{{{found}}}" if (row, column) in self.bold else found

    def _repr_html_(self) -> str:
        """Format the table in HTML, as a notebook shows it."""

        def line(cells: Sequence[str], tag: str, row: int = -1) -> str:
            found = []
            for column, cell in enumerate(cells):
                lines = (html.escape(one_line(part)) for part in cell.split("\n"))
                words = "<br>".join(lines)
                shown = f"<b>{words}</b>" if (row, column) in self.bold else words
                side = "right" if column else "left"
                style = f"text-align: {side}; padding: 0 .6em"
                style += "; white-space: nowrap" if tag == "td" else ""
                found.append(f'<{tag} style="{style}">{shown}</{tag}>')
            return f"<tr>{''.join(found)}</tr>"

        rows = "".join(line(cells, "td", row) for row, cells in enumerate(self.cells))
        note = f"<p>{html.escape(one_line(self.note))}</p>" if self.note else ""
        head = line(self.headings, "th")
        return f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>{note}"

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


def _joined(places: Sequence[Sequence[str]]) -> list[str]:
    """Join the parts of each heading by lines, without parts that all headings share."""
    parts = [*zip(*places, strict=True)]
    varying = [part for part in parts if len({*part}) > 1] or parts
    return ["\n".join(head) for head in zip(*varying, strict=True)]


def one_heading(text: str) -> str:
    """Join the lines of a heading with commas.

    Args:
        text: A heading.
    """
    return ", ".join(text.split("\n"))


def _heading_lines(head: str) -> list[str]:
    """Break a heading in lines of a few words."""
    whole = head.replace(" %", "\N{NO-BREAK SPACE}%")
    return [line for part in whole.split("\n")
            for line in textwrap.wrap(part, HEADING, break_long_words=False)]  # fmt: skip


def _latex_heading(head: str) -> str:
    """Format a heading, one of several lines as a stack."""
    lines = [latex_words(line) for line in _heading_lines(head)] or [""]
    return lines[0] if len(lines) == 1 else r"\shortstack[r]{" + r"\\".join(lines) + "}"


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
            (text.label(row), *(write(row) for write in text.COLUMNS.values()))
            for row in report.rows
        ),
        values=tuple(row.fields for row in report.rows),
    )
