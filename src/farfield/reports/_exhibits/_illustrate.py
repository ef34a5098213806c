"""The plates of a figure, from records and stored networks."""

from __future__ import annotations

from functools import partial
from typing import Final

from farfield.records import Store
from farfield.reports._exhibits._activation_plate import activation_plate
from farfield.reports._exhibits._course_plate import course_plate
from farfield.reports._exhibits._curve_plate import curve_plate
from farfield.reports._exhibits._difference_plate import difference_plate
from farfield.reports._exhibits._dormant_plate import dormant_plate
from farfield.reports._exhibits._embedding_plate import embedding_plate
from farfield.reports._exhibits._key_plate import key_plate
from farfield.reports._exhibits._matrix_plate import matrix_plate
from farfield.reports._exhibits._path_plate import path_plate
from farfield.reports._exhibits._plates import Finding, Plate
from farfield.reports._exhibits._roll_out_plate import roll_out_plate
from farfield.reports._exhibits._sweep_plate import iteration_plate, removal_plate
from farfield.reports._exhibits._type_plate import type_plate
from farfield.reports._profile._profiles import profiles
from farfield.reports._tables import _text as text
from farfield.reports._tables._report import Report, Row
from farfield.reproductions import (
    ActivationOverTime,
    AgainstColumns,
    Analysis,
    DormantPhases,
    EmbeddingsByDimension,
    Figure,
    FunctionsRemoved,
    Generalization,
    IterationsAtTest,
    KeysByPlace,
    OfInterpreters,
    PairedTests,
    RollOuts,
    RoutingPaths,
    ScoredMatrix,
    TimeCourses,
    TypesByIteration,
)

LOWEST: Final = (
    "Filled: means over our networks, with their 95 % intervals; open: as published. Hardest: the "
    "regime of a task that lies farthest from training."
)


def illustrate(figure: Figure, report: Report, store: Store | None) -> tuple[Plate, ...]:
    """Everything a figure shows beyond the scores of its claims; nothing is run.

    Args:
        figure: The figure.
        report: Its cells with what was found, from `tabulate`.
        store: Where the trained networks lie; `None` where there are records alone, for the
            analyses that need no more.

    Returns:
        A plate for each analysis that there is something to show of.

    Raises:
        StoreError: If a trained network is missing.
    """
    report = report.without_diverged()
    plates = [_plate(figure, analysis, report, store) for analysis in figure.analyses]
    return tuple(plate for plate in plates if plate is not None)


def _plate(figure: Figure, analysis: Analysis, report: Report, store: Store | None) -> Plate | None:
    match analysis:
        case Generalization() | AgainstColumns() | TimeCourses() | PairedTests():
            return _score_plate(figure, analysis, report)
        case _ if store is None:
            return None
        case RoutingPaths() | TypesByIteration() | IterationsAtTest() | FunctionsRemoved():
            return _interpreter_plate(figure, analysis, report, store)
        case (
            ActivationOverTime()
            | DormantPhases()
            | KeysByPlace()
            | EmbeddingsByDimension()
            | RollOuts()
            | ScoredMatrix()
        ):
            return _network_plate(figure, analysis, report, store)


def _score_plate(
    figure: Figure,
    analysis: Generalization | AgainstColumns | TimeCourses | PairedTests,
    report: Report,
) -> Plate | None:
    """What records tell by themselves."""
    match analysis:
        case Generalization():
            return _generalization(figure, analysis, report)
        case AgainstColumns():
            return curve_plate(figure, analysis, report)
        case TimeCourses():
            return course_plate(figure, analysis, report)
        case PairedTests():
            return difference_plate(analysis, report)


def _network_plate(
    figure: Figure,
    analysis: ActivationOverTime
    | DormantPhases
    | KeysByPlace
    | EmbeddingsByDimension
    | RollOuts
    | ScoredMatrix,
    report: Report,
    store: Store,
) -> Plate | None:
    """What trained networks are asked for."""
    match analysis:
        case ActivationOverTime():
            return activation_plate(figure, analysis, report, store)
        case DormantPhases():
            return dormant_plate(figure, analysis, report, store)
        case KeysByPlace():
            return key_plate(figure, report, store)
        case EmbeddingsByDimension():
            return embedding_plate(figure, report, store)
        case RollOuts():
            return roll_out_plate(figure, analysis, report, store)
        case ScoredMatrix():
            return matrix_plate(figure, analysis, report, store)


def _interpreter_plate(
    figure: Figure, analysis: OfInterpreters, report: Report, store: Store
) -> Plate | None:
    """What trained Neural Interpreters are asked for."""
    match analysis:
        case RoutingPaths():
            return path_plate(figure, analysis, report, store)
        case TypesByIteration():
            return type_plate(figure, analysis, report, store)
        case IterationsAtTest():
            return iteration_plate(figure, analysis, report, store)
        case FunctionsRemoved():
            return removal_plate(figure, analysis, report, store)


def _generalization(figure: Figure, analysis: Generalization, report: Report) -> Plate | None:
    """The lowest mean of the row, and the highest of the others where it is hardest."""
    own = [row for row in report.rows if row.claim.row == analysis.row]
    run = [row for row in own if row.records]
    if not run:
        return None
    others = []
    for subject, rows in report.subjects.items():
        farthest = max(row.distance for row in rows)
        hardest = [row for row in rows if row.distance == farthest and row.records]
        rivals = [row for row in hardest if row not in own]
        if rivals:
            others.append(f"{subject} {_ours(max(rivals, key=_mean))}")
    findings = (
        Finding(
            what=f"{analysis.row}: lowest mean of all regimes",
            paper=figure.words("lowest"),
            ours=f"{_ours(min(run, key=_mean))}, of {len(run)} of {len(own)} regimes run",
        ),
        Finding(
            what="the best of the other rows in the hardest regime of each task",
            paper=figure.words("others"),
            ours="; ".join(others) or text.MISSING,
        ),
    )
    return Plate(
        name="generalization",
        title="How far they hold",
        caption=LOWEST,
        draw=partial(profiles, report),
        findings=findings,
    )


def _mean(row: Row) -> float:
    return row.judgement.ours.mean if row.judgement.ours else float("nan")


def _ours(row: Row) -> str:
    """Mean and standard error, and whose, e.g. `95.0 ± 0.7 (10) (ESBN + TCN, m = 95)`."""
    return f"{text.ours(row)} {text.place(row)}"
