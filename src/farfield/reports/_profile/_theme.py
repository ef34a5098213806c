"""Colors and sizes of the pictures."""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, ParamSpec, final

import matplotlib.style
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import FixedFormatter, LogFormatterSciNotation

from farfield.core.internal import printable

P = ParamSpec("P")

FLOOR: Final = (0, (5, 3))
"""Line of answers that ignore the problem."""
CEILING: Final = (0, (1, 2))
"""Line of the rule itself."""


@final
@dataclass(frozen=True, kw_only=True)
class Theme:
    """Colors of a picture, for light or for dark surroundings.

    Args:
        background: Behind everything.
        foreground: Text and axes.
        muted: What is there but not looked at first.
        models: One color after another for the models.
    """

    background: str
    foreground: str
    muted: str
    models: tuple[str, ...]

    @property
    def style(self) -> dict[str, Any]:
        """Settings of matplotlib that all pictures share: axes without a box, sizes in points."""
        ticks = {"color": self.muted, "labelcolor": self.foreground, "labelsize": 7}
        ticks |= {"major.width": 0.6, "major.size": 2.5}
        return {
            "figure.facecolor": self.background,
            "figure.constrained_layout.use": True,
            "figure.labelsize": 7.5,
            "text.color": self.foreground,
            "axes.facecolor": self.background,
            "axes.edgecolor": self.muted,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.labelsize": 7.5,
            "axes.labelcolor": self.foreground,
            "axes.titlesize": 7.7,
            "axes.titlecolor": self.foreground,
            "axes.titleweight": "bold",
            "axes.titlelocation": "left",
            "axes.titlepad": 3,
            "legend.fontsize": 6.8,
            "legend.labelcolor": self.foreground,
            "legend.frameon": False,
            "legend.handlelength": 1.8,
            "legend.handletextpad": 0.5,
            "legend.columnspacing": 1.4,
        } | {f"{axis}tick.{name}": value for axis in "xy" for name, value in ticks.items()}


# The palette of Okabe and Ito (2008), which the color-blind can tell apart; on dark paper the
# dark colors of it are lightened.
LIGHT: Final = Theme(
    background="#ffffff",
    foreground="#1a1a1a",
    muted="#767676",
    models=("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#8a6fdf", "#7a4a2a"),
)
DARK: Final = Theme(
    background="#14171c",
    foreground="#e6e6e6",
    muted="#9aa0a8",
    models=("#56b4e9", "#f08a4b", "#2fc79b", "#e39cc4", "#e6c24a", "#9fd3f5", "#b7a3f2", "#b98a66"),
)


def in_style(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Decorate a function that draws so that matplotlib has the style of its theme meanwhile.

    Names are shown as they are: nothing in them is a formula or a control character.

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
    """The figure; signs that no letter stands for are escapes, lines stay lines."""
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
    """Settings of matplotlib for a while: its defaults and a style, whatever the user's file says.

    Letters are drawn without hinting, which differs between versions of FreeType. A
    dollar in a name is a dollar, and begins no formula.

    Args:
        style: What differs from the defaults.
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
