"""Style of the pictures: settings of matplotlib, printable texts, and ticks of powers."""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, ParamSpec

import matplotlib.style
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import FixedFormatter, LogFormatterSciNotation

from farfield.core.internal import printable
from farfield.reports._profile._theme import LIGHT, Theme

P = ParamSpec("P")


def in_style(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Decorate a function that draws so that matplotlib has the style of its theme meanwhile.

    Names are shown unchanged: nothing in them is a formula or a control character.

    Args:
        draw: The function; one of its arguments is the `Theme`, `LIGHT` if none is.
    """

    @functools.wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> Figure:
        given = [one for one in (*args, *kwargs.values()) if isinstance(one, Theme)]
        with own_settings((given or [LIGHT])[0].style):
            return _with_printable_texts(draw(*args, **kwargs))

    return drawn


def _with_printable_texts(figure: Figure) -> Figure:
    """Return the figure; signs without a letter are escapes, lines stay lines."""
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if isinstance(labels := axis.get_major_formatter(), FixedFormatter):
                labels.seq = [*map(_printable_lines, labels.seq)]
    for text in figure.findobj(Text):
        if isinstance(text, Text):
            text.set_text(_printable_lines(text.get_text()))
    return figure


def _printable_lines(text: str) -> str:
    return "\n".join(map(printable, text.split("\n")))


def own_settings(style: Mapping[str, Any]) -> contextlib.AbstractContextManager[None]:
    """Set matplotlib's defaults and a style for a while, whatever the user's file says.

    Letters are drawn without hinting, which differs between versions of FreeType. A
    dollar in a name is a dollar, and begins no formula.

    Args:
        style: Differences from the defaults.
    """
    return matplotlib.style.context(
        ["default", {"text.hinting": "none", "text.parse_math": False, **style}]
    )


_RAISED: Final = str.maketrans("-−0123456789", "⁻⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class _Powers(LogFormatterSciNotation):
    """Ticks of a logarithmic axis in plain letters, as in 10⁻³: names share their settings."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        formula = super().__call__(x, pos).replace(r"\mathdefault", "").replace(r"\times", "×")
        plain = re.sub(r"\^\{([^}]*)\}", lambda found: found[1].translate(_RAISED), formula)
        return re.sub("[${}]", "", plain)


def label_powers(axis: Axis) -> None:
    """Label the ticks of a logarithmic axis.

    Args:
        axis: The axis; its scale is a logarithm.
    """
    axis.set_major_formatter(_Powers())
    axis.set_minor_formatter(_Powers(labelOnlyBase=False))
