"""Options of measurements in rounds of turns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True, kw_only=True)
class Options:
    """Options and duration of the measurement.

    Args:
        rounds: Rounds of turns; the medians are over these.
        quick: Three rounds, for a first look.
        beside: What else ran on the machine, for the page; empty for nothing.
        name: Name of the result files; by default date and processor.
    """

    rounds: int = 11
    quick: bool = False
    beside: str = ""
    name: str | None = None
