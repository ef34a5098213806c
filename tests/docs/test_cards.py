"""The cards are those of the docstrings, every public object has one, and every page is listed."""

from __future__ import annotations

import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
CARDS = CHECKOUT / "docs" / "cards"


COMMITTED = {path.stem: path.read_text(encoding="utf-8") for path in CARDS.iterdir()}
MEASURED = ["tasks"]
"""Pages with floors and ceilings, which are measured."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "names",
    [
        sorted(COMMITTED.keys() - MEASURED),
        pytest.param(MEASURED, marks=pytest.mark.thorough),
    ],
)
def test_the_committed_pages_are_those_of_the_docstrings(tmp_path: Path, names: list[str]) -> None:
    """`make docs` makes them again; here a process without the shape hook of the tests does."""
    command = [sys.executable, "-W", "error", CHECKOUT / "docs" / "cards.py", tmp_path, *names]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    fresh = {path.stem: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    assert [name for name in names if fresh.get(name) != COMMITTED[name]] == []


def test_every_public_class_and_function_has_a_card() -> None:
    without, commands = [], ("cli", "explorer")
    for path in (CHECKOUT / "src" / "farfield").glob("*/__init__.py"):
        module = importlib.import_module(f"farfield.{path.parent.name}")
        headings = re.findall(r"^## (\w+)$", COMMITTED.get(path.parent.name, ""), re.MULTILINE)
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            described = inspect.isclass(thing) or inspect.isfunction(thing)
            if described and path.parent.name not in commands and name not in headings:
                without.append(f"{path.parent.name}.{name}")
    assert without == []


def test_a_card_says_what_its_docstring_says() -> None:
    page = COMMITTED["nn"]
    card = page[page.index("## ContextNorm") : page.index("## ConvEncoder")]
    for part in (
        "from farfield.nn import ContextNorm",
        "segments: Sequence[Sequence[int]] | None = None,",
        "```math\ny_{jk} = ",
        "**Shape.** `(*batch, time, feature)` in and out, with an axis before time",
        "- `weight`: Gain $\\gamma$, starts at 1; None without `affine`.",
        "- `ValueError`: If `z` is (batch, feature), which has no time",
        "*Learning Representations that Support Extrapolation*",
    ):
        assert part in card


def test_a_task_card_holds_what_the_task_draws() -> None:
    page = COMMITTED["tasks"]
    card = page[page.index("## SameDifferent") : page.index("## ScoresSomeTraining")]
    assert "| 98 | 4 | 10,000 | `withheld-98` | 98 withheld shapes | 0.5 | 1 |" in card


def test_every_page_is_listed() -> None:
    index = (CHECKOUT / "docs" / "README.md").read_text(encoding="utf-8")
    pages = {path.relative_to(CHECKOUT / "docs") for path in (CHECKOUT / "docs").rglob("*.md")}
    listed = set(re.findall(r"\]\(([^)]+)\)", index))
    assert {page.as_posix() for page in pages} - {"README.md"} <= listed
