"""The plates of a figure, from records and stored networks."""

from __future__ import annotations

from farfield.records import Store
from farfield.reports._exhibits._exhibit import Figure
from farfield.reports._exhibits._plates import Plate
from farfield.reports._report._report import Report


def illustrate(figure: Figure, report: Report, store: Store | None) -> tuple[Plate, ...]:
    """Everything a figure shows beyond the scores of its claims; nothing is run.

    Args:
        figure: The figure.
        report: Its cells with what was found, from `tabulate`.
        store: Where the trained networks lie; `None` where there are records alone, for the
            exhibits that need no more.

    Returns:
        A plate for each exhibit that there is something to show of.

    Raises:
        StoreError: If a trained network is missing.
    """
    report = report.without_diverged()
    plates = (exhibit.plate(figure, report, store) for exhibit in figure.exhibits)
    return tuple(plate for plate in plates if plate is not None)
