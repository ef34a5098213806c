"""Scores against the settings that columns name, e.g. a smoothing constant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, final

from matplotlib.figure import Figure as Picture

from farfield.metrics import mean_and_standard_error
from farfield.records import Store
from farfield.reports._exhibits._exhibit import Figure
from farfield.reports._exhibits._plates import Finding, Plate
from farfield.reports._profile._axes import WIDTH, draw_floors, errors_of, legend, score_label
from farfield.reports._profile._theme import Theme, in_style
from farfield.reports._report import _text as text
from farfield.reports._report._report import Report, Row

CAPTION: Final = (
    "Score against each setting, mean of the networks, with its 95 % interval where there are "
    "several; dashed: answers that ignore the problem. Best: the setting with the highest mean, "
    "and what it gains over the first."
)
SEPARATOR: Final = " = "
"""Text between a setting and its number in the name of a column."""


@final
@dataclass(frozen=True, kw_only=True)
class ScoresBySetting:
    """Scores against settings, a panel for each, of columns such as `σ = 0.25`.

    The quantities have the name of the row and of the setting, e.g. `BN/σ`.
    """

    def plate(self, figure: Figure, report: Report, store: Store | None) -> Plate | None:
        """A curve for each row and setting; `None` where nothing has been run.

        Args:
            figure: What the paper says.
            report: The figure's cells with what was found.
            store: Not used.
        """
        del store
        if not report.run:
            return None
        panels: dict[str, list[Row]] = {}
        for row in report.run:
            subject, (setting, _) = row.claim.subject, _setting(row)
            panels.setdefault(f"{subject}: {setting}", []).append(row)
        return Plate(
            name="settings",
            title="Scores by setting",
            caption=CAPTION,
            draw=partial(draw_settings, panels),
            findings=tuple(_findings(figure, panels)),
        )


def _findings(figure: Figure, panels: dict[str, list[Row]]) -> Iterator[Finding]:
    """The best setting of each row of each panel."""
    for title, rows in panels.items():
        for name, own in _curves(rows).items():
            means = [mean_and_standard_error(row.values).mean for row in own]
            best = max(range(len(own)), key=means.__getitem__)
            yield Finding(
                what=f"{title}, {name}: best",
                paper=figure.words(f"{name}/{_setting(own[best])[0]}"),
                ours=f"{own[best].claim.column}, {text.signed(means[best] - means[0], 1)}",
            )


def _setting(row: Row) -> tuple[str, float]:
    """Name and number of the setting of a row."""
    name, _, number = row.claim.column.partition(SEPARATOR)
    return name, float(number)


def _curves(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """The rows of each name, by the number of their setting."""
    names = dict.fromkeys(row.claim.row for row in rows)
    return {
        name: sorted((row for row in rows if row.claim.row == name), key=_setting) for name in names
    }


@in_style
def draw_settings(panels: dict[str, list[Row]], theme: Theme) -> Picture:
    """A panel for each setting of each set of problems, a line in it for each row.

    Args:
        panels: The cells of each panel, by its title.
        theme: Colors.
    """
    picture = Picture(figsize=(WIDTH, 2.4 * -(-len(panels) // 2)))
    grid = picture.subplots(-(-len(panels) // 2), 2, squeeze=False, sharey="row")
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    for axes, (title, rows) in zip(grid.flat, panels.items(), strict=False):
        draw_floors(axes.axhline, rows, theme)
        numbers = sorted({_setting(row)[1] for row in rows})
        for place, (name, own) in enumerate(_curves(rows).items()):
            means = [mean_and_standard_error(row.values).mean for row in own]
            errors = errors_of(own)
            axes.errorbar(
                [numbers.index(_setting(row)[1]) for row in own], means,
                yerr=errors,
                color=theme.models[place % len(theme.models)], marker="o", markersize=3,
                linewidth=1.3, capsize=2, label=name,
            )  # fmt: skip
        axes.set_xticks(range(len(numbers)), [f"{number:g}" for number in numbers])
        axes.set_title(title)
        axes.set_xlabel(_setting(rows[0])[0])
    for axes in grid[:, 0]:
        axes.set_ylabel(score_label(next(iter(panels.values()))[0]))
    handles, names = picture.axes[0].get_legend_handles_labels()
    legend(picture, dict(zip(names, handles, strict=True)), columns=len(names))
    return picture
