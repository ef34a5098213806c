"""The command line: list · show · train · search · reproduce · report · fetch · cite."""

from farfield.cli._main import main as main

__all__ = ["main"]
