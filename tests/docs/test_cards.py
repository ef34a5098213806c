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


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The pages as made now, by a process without the shape hook of the tests."""
    folder = tmp_path_factory.mktemp("cards")
    command = [sys.executable, "-W", "error", CHECKOUT / "docs" / "cards.py", folder]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}


def test_the_committed_pages_are_those_of_the_docstrings(fresh: dict[str, str]) -> None:
    """`make docs` makes them again."""
    committed = {path.name: path.read_text(encoding="utf-8") for path in CARDS.iterdir()}
    differing = [name for name in fresh | committed if fresh.get(name) != committed.get(name)]
    assert differing == []


def test_every_public_class_and_function_has_a_card(fresh: dict[str, str]) -> None:
    without = []
    for path in (CHECKOUT / "src" / "farfield").glob("*/__init__.py"):
        module = importlib.import_module(f"farfield.{path.parent.name}")
        headings = re.findall(r"^## (\w+)$", fresh.get(f"{path.parent.name}.md", ""), re.MULTILINE)
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            described = inspect.isclass(thing) or inspect.isfunction(thing)
            if described and path.parent.name != "cli" and name not in headings:
                without.append(f"{path.parent.name}.{name}")
    assert without == []


def test_a_card_says_what_its_docstring_says(fresh: dict[str, str]) -> None:
    page = fresh["nn.md"]
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


def test_a_task_card_holds_what_the_task_draws(fresh: dict[str, str]) -> None:
    page = fresh["tasks.md"]
    card = page[page.index("## SameDifferent") : page.index("## ScoresSomeTraining")]
    assert "| 98 | 4 | 10,000 | `withheld-98` | 98 withheld shapes | 0.5 | 1 |" in card


def test_every_page_is_listed() -> None:
    index = (CHECKOUT / "docs" / "README.md").read_text(encoding="utf-8")
    pages = {path.relative_to(CHECKOUT / "docs") for path in (CHECKOUT / "docs").rglob("*.md")}
    listed = set(re.findall(r"\]\(([^)]+)\)", index))
    assert {page.as_posix() for page in pages} - {"README.md"} <= listed
