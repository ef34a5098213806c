"""Colors and sizes of the pictures, as data: nothing here imports matplotlib."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, final

WIDTH: Final = 7.0
"""Width of a figure over both columns of a paper, inches."""
LEGEND: Final = 0.24
"""Height of the line at the foot that explains the markers, inches."""
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
        muted: Color of marks in the background.
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


# The palette of Okabe and Ito (2008), which the color-blind can tell apart; on a dark background
# its dark colors are lightened.
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
