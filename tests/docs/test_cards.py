"""The cards are those of the docstrings, every public object has one, and every page is listed."""

from __future__ import annotations

import importlib
import inspect
import re
import runpy
from pathlib import Path
from typing import Any

import pytest
import torch

from farfield.core import ARGUMENTS
from farfield.nn import ContextNorm
from processes import run_forked

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
    script = str(CHECKOUT / "docs" / "cards.py")
    program = (
        f"import runpy, warnings; warnings.simplefilter('error');"
        f"runpy.run_path({script!r}, run_name='__main__')"
    )
    status, _, err = run_forked(program, tmp_path, *names)
    assert status == 0, err
    fresh = {path.stem: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    assert [name for name in names if fresh.get(name) != COMMITTED[name]] == []


def test_every_public_class_and_function_has_a_card() -> None:
    without, commands = [], ("cli", "explorer")
    for path in (CHECKOUT / "src" / "farfield").glob("*/__init__.py"):
        module = importlib.import_module(f"farfield.{path.parent.name}")
        pages = [text for page, text in COMMITTED.items()
                 if page.partition("-")[0] == path.parent.name]  # fmt: skip
        headings = re.findall(r"^## (\w+)$", "\n".join(pages), re.MULTILINE)
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            described = inspect.isclass(thing) or inspect.isfunction(thing)
            if described and path.parent.name not in commands and name not in headings:
                without.append(f"{path.parent.name}.{name}")
    assert without == []


def undescribed(cards: dict[str, Any], thing: Any) -> set[str]:
    """Arguments that neither a docstring, one of a base, nor `ARGUMENTS` describes."""
    text = cards["PARSER"].parse(inspect.getdoc(thing) or "")
    if not text.params:
        return set()
    said = [part.args[1] for part in cards["described"](thing, text) if len(part.args) > 1]
    names = {name.strip().lstrip("*") for part in said for name in part.split(",")}
    return inspect.signature(thing).parameters.keys() - names - {"self", "cls"}


def test_a_docstring_that_describes_arguments_describes_all_but_the_common_ones() -> None:
    cards = runpy.run_path(str(CHECKOUT / "docs" / "cards.py"))
    without = []
    faces = [f"farfield.{folder}{face}" for folder in cards["PAGES"] for face in ("", ".internal")]
    for face in faces:
        module = importlib.import_module(face)
        for name in module.__all__:
            thing = getattr(module, name)
            if not (inspect.isclass(thing) or inspect.isfunction(thing)):
                continue
            members = vars(thing).values() if inspect.isclass(thing) else ()
            functions = [getattr(member, "__func__", member) for member in members]
            for part in [thing, *filter(inspect.isfunction, functions)]:
                without += [f"{face}.{part.__qualname__}: {n}" for n in undescribed(cards, part)]
    assert without == []


def test_arguments_that_are_not_described_are_found() -> None:
    cards = runpy.run_path(str(CHECKOUT / "docs" / "cards.py"))

    def function(first: int, second: int, generator: torch.Generator) -> None:
        """Do nothing.

        Args:
            first: Any number.
        """

    assert undescribed(cards, function) == {"second"}


def test_a_card_holds_the_common_arguments_that_a_docstring_leaves_out() -> None:
    page = COMMITTED["nn-normalizers"]
    card = page[page.index("## ContextNorm") : page.index("## ContextWhitening")]
    assert "num_features" not in ContextNorm.__doc__
    assert f"**Arguments**\n\n- `num_features`: {ARGUMENTS['num_features']}\n- `seg" in card
    assert "farfield.core.ARGUMENTS" in ContextNorm.__init__.__doc__  # where `help` sends a reader


def test_a_card_says_what_its_docstring_says() -> None:
    page = COMMITTED["nn-normalizers"]
    card = page[page.index("## ContextNorm") : page.index("## ContextWhitening")]
    for part in (
        "from farfield.nn import ContextNorm",
        "segments: Sequence[Sequence[int]] | None = None,",
        "```math\ny_{jk} = ",
        "**Shape.** `(*batch, time, feature)` in and out, with an axis before time",
        "- `weight`: Gain $\\gamma$, starts at 1; None without gain and shift.",
        "- `ValueError`: If `z` is (batch, feature), which has no time",
        "*Learning Representations that Support Extrapolation*",
    ):
        assert part in card


def test_a_task_card_holds_what_the_task_draws() -> None:
    page = COMMITTED["tasks"]
    card = page[page.index("## SameDifferent") : page.index("## SequentialMNIST")]
    assert "| 98 | 4 | 10,000 | `withheld-98` | 98 withheld shapes | 0.5 | 1 |" in card


def test_a_page_of_layers_is_one_family_and_the_list_of_all_leads_to_every_card() -> None:
    families = {name: text for name, text in COMMITTED.items() if name.startswith("nn-")}
    cards = [(name, card) for name, text in families.items()
             for card in re.findall(r"^## (\w+)$", text, re.MULTILINE)]  # fmt: skip
    links = re.findall(r"^- \[`(\w+)`\]\((nn-\w+)\.md#(\w+)\): .+", COMMITTED["nn"], re.MULTILINE)
    assert sorted((page, name) for name, page, _ in links) == sorted(cards)
    assert all(name.lower() == anchor for name, _, anchor in links)
    assert len({name for _, name in cards}) == len(cards)
    assert max(len(text) for text in families.values()) < 80_000


def test_every_page_is_listed() -> None:
    index = (CHECKOUT / "docs" / "README.md").read_text(encoding="utf-8")
    pages = {path.relative_to(CHECKOUT / "docs") for path in (CHECKOUT / "docs").rglob("*.md")}
    listed = set(re.findall(r"\]\(([^)]+)\)", index))
    assert {page.as_posix() for page in pages} - {"README.md"} <= listed
