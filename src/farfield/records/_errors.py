"""Errors of the folder of records."""

from __future__ import annotations

from typing import final

from farfield.core import FarfieldError


@final
class StoreError(FarfieldError):
    """The folder of records cannot be read or written; finished runs are kept."""


@final
class BusyError(FarfieldError):
    """Another process is training the same run."""


@final
class DamageWarning(UserWarning):
    """A run is damaged; it counts as not done."""
