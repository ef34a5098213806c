"""Colors and sizes of the pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

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
