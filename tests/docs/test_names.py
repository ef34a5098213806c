"""The names of the command line are those of the classes and tables themselves."""

from __future__ import annotations

import runpy
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]


def test_the_committed_names_are_those_of_the_code() -> None:
    """`make docs` makes them again."""
    made = runpy.run_path(str(CHECKOUT / "docs" / "names.py"))
    assert made["text"]() == made["FILE"].read_text(encoding="utf-8")
    page = made["PAGE"].read_text(encoding="utf-8")
    assert made["with_tasks"](page) == page
