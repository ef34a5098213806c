"""What can go wrong with the folder of records."""

from __future__ import annotations

from typing import final


@final
class StoreError(RuntimeError):
    """The folder of records cannot be read or written; what was finished before is still there."""


@final
class BusyError(RuntimeError):
    """Another process is at the same run."""


@final
class DamageWarning(UserWarning):
    """Something of a run is not what was written; the run counts as not done."""
