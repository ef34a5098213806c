"""Export of figures: findings as JSON, with pictures as PNG."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final, Literal, final

import msgspec

from farfield.core.internal import excerpt, expand_home, printable, read_regular
from farfield.records import Record
from farfield.records.internal import write_whole
from farfield.reports._exhibits._exhibit import Finding, Plate
from farfield.reports._export._export import Line, encode, line_of, load_export
from farfield.reports._figures._registry import FIGURES
from farfield.reports._profile._pictures import png
from farfield.reports._profile._theme import LIGHT
from farfield.reports._report._report import Report
from farfield.reproductions import Budget, Claim

PAPER_DIGEST: Final = "5bcab740c0313f98abfa170d3aa8d1760191aa24d50b8550b465343dcf587434"
"""`array_digest` of the 100 images of webb2021."""

BUILT_IN: Final = "built-in images"
PAPER_IMAGES: Final = "the paper's own images"


def images_of(claim: Claim, record: Record) -> str:
    """Format the text of the task's fields that the claim leaves free; empty if there are none.

    Args:
        record: One of its runs.
    """
    if not claim.free:
        return ""
    task: Mapping[str, object] = record.experiment.get("task", {})
    free = {name: task[name] for name in claim.free if name in task}
    if not free:
        return BUILT_IN
    described = json.dumps(free, sort_keys=True)
    if PAPER_DIGEST in described:
        return PAPER_IMAGES
    return f"own images {hashlib.sha256(described.encode()).hexdigest()[:8]}"


NAME: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
"""Allowed names of a plate, which are parts of file names."""
LARGEST_TEXT: Final = 1 << 22
"""Largest size of the findings in bytes."""
LARGEST_PICTURE: Final = 1 << 24
"""Bytes of a picture."""


@final
class TrainedNetwork(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of an export that a figure rests on.

    Args:
        table: Key of the table whose file holds it.
        cell: Name of its cell within the table.
        seed: Number of its run.
        digest: Of the line, from `digest_of`: a run done again is another network.
    """

    table: str
    cell: str
    seed: int
    digest: str


@final
class ExhibitExport(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A plate without its drawing.

    Args:
        name: Its name.
        title: Title in one line.
        caption: How to read it.
        digest: SHA-256 of the picture as a file; `None` where there is none.
        findings: The quantities.
    """

    name: str
    title: str
    caption: str
    digest: str | None
    findings: tuple[Finding, ...]


@final
class FigureExport(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Findings of a figure.

    Args:
        figure: Its key.
        budget: Of its runs.
        images: Images of its networks, in words; empty where there is no choice.
        networks: Those it was measured on.
        exhibits: Its exhibits.
    """

    figure: str
    budget: Literal["quick", "paper"]
    images: str
    networks: Annotated[tuple[TrainedNetwork, ...], msgspec.Meta(min_length=1)]
    exhibits: Annotated[tuple[ExhibitExport, ...], msgspec.Meta(min_length=1)]

    @property
    def place(self) -> str:
        """File within a folder of results, without suffix."""
        shown = "" if self.images in {"", BUILT_IN} else self.images.removeprefix("the paper's ")
        return "-".join([self.figure, self.budget, *shown.split()])

    def picture(self, exhibit: ExhibitExport) -> str:
        """Format the file of a picture within a folder of results.

        Args:
            exhibit: One of the figure's.
        """
        return f"{self.place}-{exhibit.name}.png"


def digest_of(line: Line) -> str:
    """Format the SHA-256 of a line as `export` writes it.

    Args:
        line: The line.
    """
    return _sha(encode([line]))


def export_figure(
    report: Report, plates: Sequence[Plate], folder: Path, budget: Budget
) -> list[Path]:
    """Write measurements of a figure, `<folder>/<paper>/<figure>-<budget>.json`, and pictures.

    Files of the same figure, budget and images are replaced, except for findings of single
    networks that are recorded as they were then and are not among those measured now. Nothing is
    written where there is no plate. If it is cut short, text and pictures do not go together, which
    `load_figure` sees.

    Args:
        report: The figure's cells with their results.
        plates: Its plates, from `illustrate`.
        folder: Where to; made if need be.
        budget: Of the runs.

    Returns:
        The files written, the text last.

    Raises:
        ValueError: If networks were shown different images.
        StoreError: If a file cannot be written.
    """
    if not plates:
        return []
    folder = expand_home(folder)
    runs = [(row.claim, record) for row in report.run for record in row.kept]
    images = {images_of(claim, record) for claim, record in runs}
    if len(images) > 1:
        raise ValueError(f"networks of a figure must have been shown the same images, got {images}")
    pictures = {plate.name: png(plate.draw(LIGHT)) for plate in plates if plate.draw}
    exported = FigureExport(
        figure=report.key,
        budget=budget.value,
        images=images.pop(),
        networks=tuple(
            TrainedNetwork(
                table=claim.home,
                cell=claim.cell,
                seed=record.seed,
                digest=digest_of(line_of(claim, record)),
            )
            for claim, record in runs
        ),
        exhibits=tuple(
            ExhibitExport(
                name=plate.name,
                title=plate.title,
                caption=plate.caption,
                digest=_sha(pictures[plate.name]) if plate.name in pictures else None,
                findings=plate.findings,
            )
            for plate in plates
        ),
    )
    exported = _with_earlier(exported, folder)
    contents = {
        exported.picture(one): pictures[one.name] for one in exported.exhibits if one.digest
    }
    written = msgspec.json.format(msgspec.json.encode(exported), indent=2) + b"\n"
    contents[f"{exported.place}.json"] = written
    for name, content in contents.items():
        write_whole(folder / name, content)
    for one in exported.exhibits:
        if one.digest is None:
            (folder / exported.picture(one)).unlink(missing_ok=True)
    return [folder / name for name in contents]


def _with_earlier(figure: FigureExport, folder: Path) -> FigureExport:
    """Return the figure with earlier sentences on single networks that are still recorded."""
    path = folder / f"{figure.place}.json"
    if not path.exists():
        return figure
    before = load_figure(path, folder)
    now = {(network.table, network.cell, network.seed) for network in figure.networks}
    networks = [
        network
        for network in before.networks
        if (network.table, network.cell, network.seed) not in now
        and network.digest in _digests(folder, network.table)
    ]
    kept = {(network.cell, network.seed) for network in networks}
    earlier = {exhibit.name: exhibit.findings for exhibit in before.exhibits}
    exhibits = []
    found = set()
    for exhibit in figure.exhibits:
        of_kept = [
            finding
            for finding in earlier.get(exhibit.name, ())
            if (one := finding.network) and (one.cell, one.seed) in kept
        ]
        found |= {(one.cell, one.seed) for finding in of_kept if (one := finding.network)}
        exhibits.append(msgspec.structs.replace(exhibit, findings=(*exhibit.findings, *of_kept)))
    shown = [network for network in networks if (network.cell, network.seed) in found]
    return msgspec.structs.replace(
        figure, networks=(*figure.networks, *shown), exhibits=tuple(exhibits)
    )


def _digests(folder: Path, table: str) -> set[str]:
    """Return digests of the lines of a table."""
    path = folder / f"{table}.jsonl"
    return {digest_of(line) for line in load_export(path)} if path.exists() else set()


def _sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def load_figure(path: Path, folder: Path) -> FigureExport:
    """Read a file that `export_figure` wrote.

    Args:
        path: The text.
        folder: The folder of results that it lies in.

    Raises:
        ValueError: If the file cannot be read, is damaged or of no figure, if a network is of none
            of the figure's cells, or a picture is missing or another.
    """
    path, folder = expand_home(path), expand_home(folder)
    where = printable(path)
    try:
        found = msgspec.json.decode(read_regular(path, LARGEST_TEXT), type=FigureExport)
    except OSError as error:
        raise ValueError(f"cannot read {where}: {error.strerror or error}") from error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"{where}: not measurements of a figure: {excerpt(error)}") from error
    if found.figure not in FIGURES or path != folder / f"{found.place}.json":
        raise ValueError(
            f"{where}: figure, budget and images must be those of its name, "
            f"got {excerpt(found.place)}"
        )
    cells = {(claim.home, claim.cell) for claim in FIGURES[found.figure].table.claims}
    for network in found.networks:
        if (network.table, network.cell) not in cells:
            cell = excerpt(f"{network.table}/{network.cell}")
            raise ValueError(f"{where}: {cell} must be a cell of the figure")
    names = [exhibit.name for exhibit in found.exhibits]
    if len(set(names)) < len(names) or not all(map(NAME.fullmatch, names)):
        raise ValueError(f"{where}: exhibits must have different names, got {excerpt(names)}")
    for exhibit in found.exhibits:
        _check_picture(found, exhibit, folder)
    return found


def _check_picture(figure: FigureExport, exhibit: ExhibitExport, folder: Path) -> None:
    """Raise `ValueError` for a figure without its picture."""
    if exhibit.digest is None:
        return
    picture = folder / figure.picture(exhibit)
    where = printable(picture)
    try:
        content = read_regular(picture, LARGEST_PICTURE)
    except OSError as error:
        raise ValueError(f"cannot read {where}: {error.strerror or error}") from error
    if _sha(content) != exhibit.digest:
        raise ValueError(
            f"{where}: not the picture that belongs to {figure.place}; export the figure again"
        )
