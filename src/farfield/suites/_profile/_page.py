"""Page, picture and tables of a profile over shifts, as files."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from farfield.core.internal import expand_home
from farfield.records.internal import write_whole
from farfield.reports import Tabular
from farfield.reports.internal import LIGHT, Theme, in_style
from farfield.suites._profile._curves import Curve
from farfield.suites._profile._forecasts import in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from farfield.suites._profile._profile import ShiftProfile

MOST_PANELS: Final = 16
"""Most curves of a picture."""

MOST_COLUMNS: Final = 9
"""Most columns of a table in the size of the text; one with more is set smaller."""

COLUMNS: Final = 4
"""Panels side by side."""

LIMITS: Final = (
    "The changed items are taken to keep their answers. Other changes, and other networks of the "
    "same recipe, may break earlier."
)
"""Last sentence of a page."""

STYLE: Final = """
body { margin: 2rem auto; max-width: 66rem; padding: 0 1rem; color: #20242c; background: #fff;
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
h1 { font-size: 1.3rem; } h2 { font-size: 1.05rem; margin-top: 2rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: .88rem; }
th, td { padding: .25rem .5rem; text-align: right; border-bottom: 1px solid #d9dce1; }
td { white-space: nowrap; } .many { font-size: .78rem; }
th:first-child, td:first-child { text-align: left; } th { color: #5f6670; font-weight: 600; }
img { width: 100%; height: auto; } .notes { color: #5f6670; }
"""


def page(found: ShiftProfile, sections: Mapping[str, str] = MappingProxyType({})) -> str:
    """Format a profile as one HTML page that needs no other file.

    Args:
        found: The profile.
        sections: Paragraphs and Markdown tables of more sections, by heading.
    """
    parts = [
        f"<h1>{_text(found.subject)}</h1>",
        f"<p>{_text(found.heading.removeprefix(f'{found.subject}: '))}</p>",
        "<h2>Where it stops working</h2>",
        _html_table(found.table) if found.broken else "<p>No shift breaks it.</p>",
    ]
    if found.broken:
        picture = base64.b64encode(_png(draw_curves(found))).decode()
        parts.append(f'<p><img alt="Curves" src="data:image/png;base64,{picture}"></p>')
    forecasts = in_words(found.forecasts)
    shown = {**sections, **({"Forecast from the first half": forecasts} if forecasts else {})}
    for heading, text in shown.items():
        parts.append(f"<h2>{_text(heading)}</h2>")
        parts += map(_html_block, text.split("\n\n"))
    parts += [f'<p class="notes">{_text(line)}</p>' for line in found.rest.split("\n")]
    parts.append(f'<p class="notes">{_text(LIMITS)}</p>')
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{_text(found.subject)}</title><style>{STYLE}</style>"
    )
    body = "\n".join(parts)
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}\n</body></html>\n'


def _text(words: str) -> str:
    return html.escape(words)


def _html_block(block: str) -> str:
    """Format a paragraph, or a table of Markdown without markup in its cells."""
    if not block.startswith("|"):
        return f"<p>{_text(block)}</p>"
    head, _, *rows = [
        tuple(cell.strip() for cell in line.strip("|").split("|")) for line in block.split("\n")
    ]
    return _html_table(Tabular(headings=head, cells=tuple(rows), values=()))


def _html_table(table: Tabular) -> str:
    """Format a table as HTML."""
    head = "".join(f"<th>{_text(one)}</th>" for one in table.headings)
    rows = "".join(
        f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in row)}</tr>\n" for row in table.cells
    )
    kind = ' class="many"' if len(table.headings) > MOST_COLUMNS else ""
    return f'<div class="wide"><table{kind}><tr>{head}</tr>\n{rows}</table></div>'


def _png(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=160)
    return buffer.getvalue()


@in_style
def draw_curves(found: ShiftProfile, theme: Theme = LIGHT) -> Figure:
    """Draw the curves that fall, worst first, over the same items before and after the shift.

    Args:
        found: The profile.
        theme: Colors.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 — half a second to import

    curves = found.broken[:MOST_PANELS]
    rows = max(1, -(-len(curves) // COLUMNS))
    pairs = any(curve.shown for curve in curves)
    figure = Figure(figsize=(8.4, rows * (2.6 if pairs else 1.6)))
    heights = [1.5, 1.0] * rows if pairs else [1.0] * rows
    grid = figure.add_gridspec(len(heights), COLUMNS, height_ratios=heights)
    for number, curve in enumerate(curves):
        row, column = divmod(number, COLUMNS)
        axes = figure.add_subplot(grid[row * (2 if pairs else 1), column])
        _draw_curve(axes, curve, found, theme)
        if column == 0:
            axes.set_ylabel(found.metric.split()[0])
        if curve.shown:
            _draw_items(figure.add_subplot(grid[2 * row + 1, column]), curve, theme)
    return figure


def _draw_curve(axes: Axes, curve: Curve, found: ShiftProfile, theme: Theme) -> None:
    """Draw one curve with its floor, its onset and its failure."""
    color = theme.models[0]
    axes.plot(curve.strengths, curve.means, "-o", color=color, markersize=2, linewidth=1)
    axes.axhline(found.floor, color=theme.muted, linestyle=(0, (5, 3)), linewidth=0.7)
    start = float(curve.means[0])
    for point, level in ((curve.onset, 0.9), (curve.failure, found.level)):
        at = found.floor + level * (start - found.floor)
        ends = np.clip([point.low, point.high], 0, point.end)
        if not point.holds:
            axes.plot(ends, [at, at], color=theme.models[1], linewidth=2.5, alpha=0.6)
            axes.plot([point.value], [at], "|", color=theme.models[1], markersize=8)
    axes.set_title(f"{curve.name}  {curve.failure}", fontsize=7)
    axes.set_xlabel(curve.unit, fontsize=6.5)
    axes.set_ylim(min(0.0, float(curve.means.min())) if found.metric != "R²" else -0.1, 1.05)


def _draw_items(axes: Axes, curve: Curve, theme: Theme) -> None:
    """Draw two items unchanged, at the onset and at the failure, side by side."""
    axes.set_axis_off()
    plain, *changed = curve.shown
    if plain.ndim == 4:
        low, high = float(plain.min()), float(plain.max())
        shades = [np.clip((one - low) / (high - low or 1), 0, 1) for one in (plain, *changed)]
        gap = max(1, plain.shape[1] // 16)
        margins = ((0, 0), (0, gap), (0, gap), (0, 0))
        framed = [np.pad(one, margins, constant_values=1.0) for one in shades]
        picture = np.concatenate([np.concatenate(list(one), axis=0) for one in framed], axis=1)
        one_channel = picture.shape[-1] == 1
        axes.imshow(picture[..., 0] if one_channel else picture[..., :3], cmap="gray", vmin=0,
                    vmax=1, interpolation="nearest")  # fmt: skip
        return
    colors: Sequence[Any] = (theme.muted, theme.models[2], theme.models[1])
    for series, color in zip(curve.shown, colors, strict=False):
        axes.plot(series[0, :, 0], color=color, linewidth=0.9)


def write_all(
    found: ShiftProfile, folder: str | Path, sections: Mapping[str, str]
) -> tuple[Path, ...]:
    """Write page, picture, tables and the profile itself.

    Args:
        found: The profile.
        folder: Folder, which is made if it is missing.
        sections: Paragraphs and Markdown tables of more sections of the page, by heading.
    """
    from farfield.suites._profile._saved import to_json  # noqa: PLC0415 — it reads profiles

    into = expand_home(folder)
    into.mkdir(parents=True, exist_ok=True)
    written = {
        "profile.html": page(found, sections).encode(),
        "points.csv": found.table.csv().encode(),
        "curves.csv": _curves_table(found).csv().encode(),
        "table.md": f"{found.table}\n".encode(),
        "table.tex": found.table.latex().encode(),
        "profile.json": to_json(found),
    }
    if (forecasts := found.forecasts).cells:
        written["forecasts.csv"] = forecasts.csv().encode()
    if found.broken:
        written["profile.png"] = _png(draw_curves(found))
    for name, content in written.items():
        write_whole(into / name, content)
    return tuple(into / name for name in written)


def _curves_table(found: ShiftProfile) -> Tabular:
    """Return a row for each strength of each shift."""
    values = [
        {"shift": curve.name, "unit": curve.unit, "strength": strength, "score": float(score)}
        for curve in found.curves
        for strength, score in zip(curve.strengths, curve.means, strict=True)
    ]
    rows = tuple(tuple(f"{cell}" for cell in row.values()) for row in values)
    return Tabular(
        headings=("shift", "unit", "strength", "score"), cells=rows, values=tuple(values)
    )
