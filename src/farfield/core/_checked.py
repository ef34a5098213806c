"""Base of descriptions whose fields are checked."""

from __future__ import annotations

from dataclasses import dataclass

from farfield.core._arguments import check_fields


@dataclass(frozen=True)
class Checked:
    """Base of frozen dataclasses: every field is converted and checked by its annotation.

    Raises:
        ValueError: If a field is of another type, or a number outside of its limits.
    """

    def __post_init__(self) -> None:
        check_fields(self)
