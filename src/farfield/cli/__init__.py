"""The command line: `farfield list`, `train`, `bench`, `reproduce`, `report` and other commands."""

from farfield.cli._main import main as main

__all__ = ["main"]
