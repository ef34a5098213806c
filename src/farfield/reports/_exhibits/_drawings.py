"""Drawings of frames by matplotlib: curves, bars, points, cells and grids of images."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import singledispatch
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke
from matplotlib.ticker import NullFormatter

from farfield.reports._exhibits._frames import (
    FAINT,
    GAP,
    ROW,
    Bars,
    Boundary,
    Cells,
    Color,
    Curve,
    Dots,
    Drawing,
    Images,
    Label,
    Panel,
    Tile,
)
from farfield.reports._profile._panels import end_labels
from farfield.reports._profile._series import MARKERS, Series
from farfield.reports._profile._style import in_style, label_powers
from farfield.reports._profile._theme import CEILING, FLOOR, Theme

LINES: Final = "x|"
"""Markers that consist of lines."""
TINT: Final = "#56b4e9"
"""Tint of columns of an image, bright enough on black."""


@in_style
def draw(drawing: Drawing, theme: Theme) -> Figure:
    """Draw the panels of a drawing.

    Args:
        drawing: The panels.
    """
    heights = drawing.height if isinstance(drawing.height, Sequence) else [1.0] * len(drawing.rows)
    height = sum(heights) if isinstance(drawing.height, Sequence) else drawing.height
    figure = Figure(figsize=(drawing.width, height))
    if drawing.note:
        figure.suptitle(drawing.note, x=0.006, ha="left", fontsize=7.2, color=theme.muted)
    widest = math.lcm(*_slots(drawing))
    grid = figure.add_gridspec(
        len(drawing.rows), widest, height_ratios=heights, width_ratios=drawing.widths
    )  # fmt: skip
    first: dict[int, Axes] = {}
    for number, (row, slots) in enumerate(zip(drawing.rows, _slots(drawing), strict=True)):
        span, head = widest // slots, None
        for column, panel in enumerate(row):
            axes = figure.add_subplot(grid[number, column * span : (column + 1) * span])
            _panel(axes, panel, theme)
            if head is not None and "y" in drawing.shares:
                axes.sharey(head)
                axes.tick_params(axis="y", labelleft=False)
            if column in first and "x" in drawing.shares:
                first[column].sharex(axes)
                first[column].tick_params(axis="x", labelbottom=False)
            head, first[column] = head or axes, axes
    for axes in first.values() if drawing.x_label else ():
        axes.set_xlabel(drawing.x_label)
    figure.supylabel(drawing.y_label)
    _legend(figure, drawing, theme)
    return figure


def _slots(drawing: Drawing) -> list[int]:
    """Count the panels that each row has room for: a last row is as wide as the row before."""
    slots = [len(row) for row in drawing.rows]
    return [*slots[:-1], max(slots[-2:])]


def _legend(figure: Figure, drawing: Drawing, theme: Theme) -> None:
    """Explain every name once, at the foot."""
    known: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
            known.setdefault(name, handle)
    if drawing.legend:
        hidden = figure.add_axes((0, 0, 0, 0), label="legend", visible=False)
        for mark in drawing.legend:
            _draw(mark, hidden, theme, 1)
        known |= {
            name: handle for handle, name in zip(*hidden.get_legend_handles_labels(), strict=True)
        }
        hidden.remove()
    if known:
        columns = min(len(known), drawing.columns)
        figure.legend(
            [*known.values()], [*known], loc="outside lower center", ncols=columns
        )  # fmt: skip


def _panel(axes: Axes, panel: Panel, theme: Theme) -> None:
    """Draw the marks, the reference lines and the axes of a panel."""
    for edge in panel.edges:
        axes.axvline(edge, color=theme.models[0], linewidth=1.0, zorder=1)
    for levels, line in ((panel.floors, FLOOR), (panel.ceilings, CEILING)):
        for level in levels:
            axes.axhline(level, color=theme.muted, linewidth=0.8, linestyle=line, zorder=1)
    for letter in panel.logarithmic:
        getattr(axes, f"set_{letter}scale")("log")
        label_powers(getattr(axes, f"{letter}axis"))
    for order, mark in enumerate(panel.marks):
        _draw(mark, axes, theme, 2 + order / 1000)
    axes.set(xlabel=panel.x_label, ylabel=panel.y_label)
    _axis(axes, panel)
    _frame(axes, panel)
    _title(axes, panel, theme)
    ends = [(float(mark.y[-1]), _series(mark, theme)) for mark in panel.marks
            if isinstance(mark, Curve) and mark.end]  # fmt: skip
    if ends:
        end_labels(axes, ends, panel.gap)


def _axis(axes: Axes, panel: Panel) -> None:
    """Set the ticks and limits of both axes."""
    for letter, limits, ticks in (
        ("x", panel.x_limits, panel.x_ticks),
        ("y", panel.y_limits, panel.y_ticks),
    ):
        if isinstance(ticks, Mapping):
            getattr(axes, f"set_{letter}ticks")([*ticks], [*ticks.values()])
            getattr(axes, f"{letter}axis").set_minor_formatter(NullFormatter())
        elif ticks is not None:
            getattr(axes, f"set_{letter}ticks")([*ticks])
        if limits is not None:
            getattr(axes, f"set_{letter}lim")(*limits)


def _frame(axes: Axes, panel: Panel) -> None:
    """Draw axes, a box, ticks alone or nothing around a panel."""
    if panel.frame == "none":
        axes.set_axis_off()
    elif panel.frame == "box":
        axes.set(xticks=[], yticks=[])
        axes.spines[:].set_visible(True)
    elif panel.frame == "ticks":
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
    if panel.is_square:
        axes.set_aspect("equal", anchor="NW" if panel.frame == "none" else "C")


def _title(axes: Axes, panel: Panel, theme: Theme) -> None:
    """Write the title of a panel, and its note beneath."""
    lines = panel.note.count("\n") + 1
    axes.set_title(panel.title, pad=5 + 9 * lines if panel.note else 3)
    if panel.note:
        axes.annotate(
            panel.note, (0, 1), (0, 4), "axes fraction", textcoords="offset points",
            fontsize=6.8, color=theme.muted, va="bottom",
        )  # fmt: skip


def _series(curve: Curve, theme: Theme) -> Series:
    """Convert a curve to a series with a label at its end."""
    marker = curve.marker or next(iter(MARKERS))
    return Series(
        label=curve.end, color=_color(curve.color, theme), dashes=curve.line, marker=marker, rows=()
    )


def _color(color: Color, theme: Theme) -> str:
    """Look up a color in a theme."""
    if isinstance(color, int):
        return theme.models[color % len(theme.models)]
    if isinstance(color, float):
        first, second = (np.array(to_rgb(one)) for one in theme.models[:2])
        return to_hex(first + color * (second - first))
    if color.endswith(FAINT):
        muted, background = (np.array(to_rgb(one)) for one in (theme.muted, theme.background))
        return to_hex(muted + float(color.removesuffix(FAINT)) * (background - muted))
    names = {field.name for field in fields(theme)}
    return str(getattr(theme, color)) if color in names else color


@singledispatch
def _draw(mark: object, axes: Axes, theme: Theme, order: float) -> None:
    raise NotImplementedError(f"{mark!r}, {axes!r}, {theme!r}, {order!r}")


@_draw.register
def _(mark: Curve, axes: Axes, theme: Theme, order: float) -> None:
    color, low, high = _color(mark.color, theme), np.asarray(mark.low), np.asarray(mark.high)
    x, y = np.asarray(mark.x, float), np.asarray(mark.y, float)
    style: dict[str, Any] = {
        "color": color, "linewidth": mark.width, "linestyle": mark.line, "marker": mark.marker,
        "markersize": 3, "label": mark.name, "zorder": order,
    }  # fmt: skip
    if len(low) and not mark.is_band:
        axes.errorbar(x, y, yerr=np.stack([y - low, high - y]), capsize=2, **style)
        return
    axes.plot(x, y, **style)
    if len(low):
        axes.fill_between(x, low, high, color=color, alpha=0.2, linewidth=0, zorder=order)


@_draw.register
def _(mark: Dots, axes: Axes, theme: Theme, order: float) -> None:
    several = isinstance(mark.color, Sequence) and not isinstance(mark.color, str)
    names: Sequence[Color] = mark.color if several else [mark.color]  # type: ignore[assignment,list-item]
    colors = [_color(name, theme) for name in names]
    style: dict[str, Any] = {"color": colors, "linewidths": 0.7}
    if mark.marker not in LINES:
        edges = colors if mark.edge == "" else [_color(mark.edge, theme)]
        filled = mark.is_filled and mark.edge == ""
        style = {"facecolors": colors if mark.is_filled else [theme.background]}
        style |= {"edgecolors": edges, "linewidths": 0 if filled else 0.7}
    axes.scatter(
        np.asarray(mark.x), np.asarray(mark.y), s=np.asarray(mark.size), marker=mark.marker,
        alpha=mark.opacity, label=mark.name, zorder=order, **style,
    )  # fmt: skip


@_draw.register
def _(mark: Bars, axes: Axes, theme: Theme, order: float) -> None:
    axes.barh(
        np.asarray(mark.at), mark.length, left=np.asarray(mark.left), height=0.72,
        color=theme.foreground, linewidth=0, zorder=order,
    )  # fmt: skip


@_draw.register
def _(mark: Cells, axes: Axes, theme: Theme, order: float) -> None:
    background = np.array(to_rgb(theme.background))
    tints = {name: np.nan_to_num(share)[..., None] for name, share in mark.tints.items()}
    pixels = background + sum(
        share * (np.array(to_rgb(_color(name, theme))) - background)
        for name, share in tints.items()
    )
    axes.imshow(
        np.clip(pixels, 0, 1), extent=mark.plane, origin="upper" if mark.plane is None else "lower",
        interpolation="bilinear" if mark.is_smooth else "nearest", aspect="auto", zorder=order,
    )  # fmt: skip
    dark = sum(share[..., 0] for share in tints.values())
    for (row, column), text in (mark.texts or {}).items():
        strong = (row, column) in mark.framed
        color = "muted" if column in mark.muted else "foreground"
        color = "background" if dark[row, column] > 0.6 else color
        axes.text(
            column, row, text, ha="center", va="center", fontsize=6.8, color=_color(color, theme),
            weight="bold" if strong else "normal",
        )  # fmt: skip
    for row, column in mark.framed:
        axes.add_patch(
            Rectangle(
                (column - 0.46, row - 0.43),
                0.92,
                0.86,
                fill=False,
                edgecolor=theme.foreground,
                linewidth=1.3,
                zorder=order,
            )
        )


@_draw.register
def _(mark: Boundary, axes: Axes, theme: Theme, order: float) -> None:
    if mark.heights.min() < 0 < mark.heights.max():
        axes.contour(
            np.asarray(mark.x), np.asarray(mark.y), mark.heights, levels=[0],
            colors=[_color(mark.color, theme)], linewidths=mark.width, zorder=order,
        )  # fmt: skip


@_draw.register
def _(mark: Label, axes: Axes, theme: Theme, order: float) -> None:
    where = "axes fraction" if mark.inside else "data"
    halo = [withStroke(linewidth=1.6, foreground=theme.background)]
    right = mark.inside and mark.at[0] > 0.5
    axes.annotate(
        mark.text, mark.at, mark.offset, where, textcoords="offset points", va="center",
        ha="right" if right else "left" if mark.inside else "center", path_effects=halo,
        color=_color(mark.color, theme), fontsize=7, zorder=order + 1,
        weight="bold" if mark.is_bold else "normal",
    )  # fmt: skip


@_draw.register
def _(mark: Images, axes: Axes, theme: Theme, order: float) -> None:
    del order
    width, height = mark.size
    axes.set(xlim=(0, width), ylim=(height, 0))
    write = _writer(axes, theme)
    top = ROW * bool(mark.heads)
    for column, head in enumerate(mark.heads):
        write(mark.left + column * (mark.side + GAP) + mark.side / 2, top / 2, head)
    for number, row in enumerate(mark.rows):
        low = top + number * mark.pitch
        if mark.names:
            color = mark.colors[number] if mark.colors else "foreground"
            write(mark.left - GAP, low + mark.side / 2, mark.names[number], "right", color)
        for line, name in enumerate(mark.lines if any(row) else ()):
            write(mark.left - GAP, low + mark.side + ROW * (line + 0.6), name, "right")
        for column, tile in enumerate(row):
            if tile is not None:
                corner = mark.left + column * (mark.side + GAP), low
                _tile(axes, corner, tile, mark.side, theme)


def _writer(axes: Axes, theme: Theme) -> Callable[..., None]:
    """Build a function that writes a line of text beside images."""

    def write(
        x: float, y: float, text: str, align: str = "center", color: Color = "foreground",
        weight: str = "normal",
    ) -> None:  # fmt: skip
        axes.text(
            x, y, text, ha=align, va="center", fontsize=6.5, color=_color(color, theme),
            weight=weight,
        )  # fmt: skip

    return write


def _tile(axes: Axes, corner: tuple[float, float], tile: Tile, side: float, theme: Theme) -> None:
    """Draw an image in a square, its longer side filling it, with its lines of text."""
    (left, top), write = corner, _writer(axes, theme)
    if tile.pixels is not None:
        pixels = np.asarray(tile.pixels)
        high, wide = (side * length / max(pixels.shape[:2]) for length in pixels.shape[:2])
        x, y = left + (side - wide) / 2, top + (side - high) / 2
        axes.imshow(
            pixels, extent=(x, x + wide, y + high, y), cmap="gray", vmin=0, aspect="auto",
            vmax=255 if pixels.dtype == np.uint8 else 1, interpolation="nearest",
        )  # fmt: skip
    if tile.tinted is not None:
        start, stop = (side * share for share in tile.tinted)
        axes.add_patch(
            Rectangle((left + start, top), stop - start, side, color=TINT, alpha=0.5, linewidth=0)
        )
    axes.add_patch(
        Rectangle(
            corner,
            side,
            side,
            fill=False,
            clip_on=False,
            edgecolor=_color("muted" if tile.frame == "" else tile.frame, theme),
            linewidth=0.6 if tile.frame == "" else 2.2,
        )
    )
    if tile.word:
        axes.text(left + side / 2, top + side / 2, tile.word, ha="center", va="center", fontsize=13)
    for number, line in enumerate(tile.lines):
        strong = bool(tile.bold) and tile.bold[number]
        height = top + side + ROW * (number + 0.6)
        write(left + side / 2, height, line, weight="bold" if strong else "normal")
