"""The command line: list · show · train · reproduce · report · cite."""

from farfield.cli._main import main as main

__all__ = ["main"]
