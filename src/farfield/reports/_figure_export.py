"""What figures measure as text that stays, with their pictures beside it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal, final

import msgspec

from farfield.records import write_whole
from farfield.reports._plates import Finding, Plate
from farfield.reports._profiles import png
from farfield.reports._report import Report
from farfield.reports._theme import LIGHT
from farfield.reproductions import FIGURES, Budget

NAME: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
"""What a plate may be called: part of the name of a file."""


@final
class Network(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A trained network behind a figure.

    Args:
        cell: Name of the cell within the figure.
        key: Of its experiment.
        seed: Number of its run.
    """

    cell: str
    key: str
    seed: int


@final
class Exhibit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A plate without what draws it.

    Args:
        name: Its name.
        title: What it shows.
        caption: How to read it.
        drawn: Whether there is a picture.
        findings: The quantities.
    """

    name: str
    title: str
    caption: str
    drawn: bool
    findings: tuple[Finding, ...]


@final
class FigureExport(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was measured for a figure.

    Args:
        figure: Its key.
        budget: Of its runs.
        networks: Those it was measured on.
        exhibits: What it shows.
    """

    figure: str
    budget: Literal["quick", "paper"]
    networks: tuple[Network, ...]
    exhibits: tuple[Exhibit, ...]

    @property
    def place(self) -> str:
        """Its file within a folder of results, without suffix."""
        return f"{self.figure}-{self.budget}"

    def picture(self, exhibit: Exhibit) -> str:
        """The file of a picture within a folder of results.

        Args:
            exhibit: One of the figure's.
        """
        return f"{self.place}-{exhibit.name}.png"


def export_figure(
    report: Report, plates: Sequence[Plate], folder: Path, budget: Budget
) -> list[Path]:
    """Write what a figure measures, `<folder>/<paper>/<figure>-<budget>.json`, and its pictures.

    What was there of the same figure and budget is replaced. Nothing is written where there is no
    plate.

    Args:
        report: The figure's cells with what was found.
        plates: What it shows, from `illustrate`.
        folder: Where to; made if need be.
        budget: Of the runs.

    Returns:
        The files written, the text last.

    Raises:
        StoreError: If a file cannot be written.
    """
    if not plates:
        return []
    exported = FigureExport(
        figure=report.key,
        budget=budget.value,
        networks=tuple(
            Network(cell=row.name, key=record.key, seed=record.seed)
            for row in report.run
            for record in row.records
        ),
        exhibits=tuple(
            Exhibit(
                name=plate.name,
                title=plate.title,
                caption=plate.caption,
                drawn=plate.draw is not None,
                findings=plate.findings,
            )
            for plate in plates
        ),
    )
    written = []
    for plate, exhibit in zip(plates, exported.exhibits, strict=True):
        if plate.draw is not None:
            written.append(folder / exported.picture(exhibit))
            write_whole(written[-1], png(plate.draw(LIGHT)))
    written.append(folder / f"{exported.place}.json")
    write_whole(written[-1], msgspec.json.format(msgspec.json.encode(exported), indent=2) + b"\n")
    return written


def load_figure(path: Path, folder: Path) -> FigureExport:
    """Read what `export_figure` wrote.

    Args:
        path: The text.
        folder: The folder of results that it lies in.

    Raises:
        ValueError: If the file cannot be read, is damaged or of no figure, or a picture is missing.
    """
    try:
        found = msgspec.json.decode(path.read_bytes(), type=FigureExport)
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror or error}") from error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"{path}: not what a figure measures: {error}") from error
    if found.figure not in FIGURES or path != folder / f"{found.place}.json":
        raise ValueError(f"{path}: figure and budget must be those of its name, got {found.place}")
    for exhibit in found.exhibits:
        if NAME.fullmatch(exhibit.name) is None:
            raise ValueError(f"{path}: no picture can be called {exhibit.name!r}")
        if exhibit.drawn and not (folder / found.picture(exhibit)).is_file():
            raise ValueError(f"{path}: its picture {found.picture(exhibit)} is missing")
    return found
