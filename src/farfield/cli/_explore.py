"""`farfield explore`: claims, profiles, problems and networks as pages in the browser."""

from __future__ import annotations

import socket

from farfield.cli._arguments import Explore
from farfield.cli._console import make_console, say


def explore(command: Explore) -> None:
    """Serve the pages to this machine until the command is interrupted.

    Args:
        command: Folders and port.

    Raises:
        ModuleNotFoundError: If the packages of the extra are not installed.
        ValueError: If the port is impossible or taken.
    """
    from farfield.cli._results import results_folder
    from farfield.explorer import serve

    if not 1 <= command.port <= 65535:
        raise ValueError(f"port must be a number from 1 to 65535, got {command.port}")
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", command.port)) == 0:
            raise ValueError(f"port must be free, got {command.port}, which something listens on")
    records, results = results_folder(command.records), results_folder(command.results)
    say(make_console(), f"http://127.0.0.1:{command.port} (Ctrl-C ends it)")
    serve(records, results, command.port)
