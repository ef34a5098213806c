"""`farfield fetch`: a data set brought into the cache."""

from __future__ import annotations

from rich.console import Console

from farfield.cli._arguments import Fetch
from farfield.core.internal import printable
from farfield.tasks import DATA_SETS, fetch


def fetch_data(command: Fetch) -> None:
    """Bring a data set into the cache.

    Args:
        command: Which one, and from where.
    """
    mirrors = () if command.mirror is None else (command.mirror,)
    console = Console(soft_wrap=True, highlight=False, markup=False)
    for path, source in fetch(command.data_set, mirrors=mirrors).items():
        found = f"from {printable(source)}" if source else "was there"
        console.print(f"{printable(path)}: {found}")
    console.print(f"licence: {DATA_SETS[command.data_set].licence}")
