"""The command line: list · show · train · reproduce · report · fetch · cite."""

from farfield.cli._main import main as main

__all__ = ["main"]
