"""What the documents show works: Python runs, commands parse, links lead somewhere.

The Python of a document is run as one script, as a reader would who pastes it block by block. It
stands in the script on the lines it has in the document, so that a traceback names those.
"""

from __future__ import annotations

import functools
import io
import itertools
import json
import re
import runpy
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from processes import run_forked

CHECKOUT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted(
    [*CHECKOUT.glob("*.md"), *(CHECKOUT / "docs").rglob("*.md")],
    key=lambda path: path.relative_to(CHECKOUT).as_posix(),
)
WITH_PYTHON = [
    "README.md",
    "CONTRIBUTING.md",
    "docs/my-mechanism.md",
    "docs/my-model.md",
    "docs/own-work.md",
    "docs/tasks.md",
    "docs/large-data.md",
    "docs/which-mechanism.md",
]

SHORTER = {
    "Recipe(steps=100)": "Recipe(steps=2)",
    "Recipe(steps=100, batch_size=8)": "Recipe(steps=2, batch_size=8)",
    "max_problems=1000": "max_problems=100",
    "seeds=range(10)": "seeds=range(2)",
    "SameDifferent(withheld=withheld)": "SameDifferent(withheld=withheld, max_problems=100)",
    "for _ in range(20)": "for _ in range(2)",
    "training_sequences=500": "training_sequences=100, test_dormant=(7,), test_sequences=(50,)",
}
"""What the examples are run with instead, so that the tests stay short."""

documents = pytest.mark.parametrize(
    "document", DOCUMENTS, ids=lambda path: path.relative_to(CHECKOUT).as_posix()
)


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Args:
        language: The word behind the fence.
        line: Number of its first line, from 1.
        text: What stands between the fences.
    """

    language: str
    line: int
    text: str


def blocks(document: str) -> Iterator[Block]:
    """The fenced blocks of a document, in order."""
    for found in re.finditer(r"^```(\w*)\n(.*?)^```$", document, re.MULTILINE | re.DOTALL):
        yield Block(found[1], document[: found.start(2)].count("\n") + 1, found[2])


def script(document: str) -> str:
    """The Python of a document, on its own lines."""
    lines: list[str] = []
    for block in blocks(document):
        if block.language == "python":
            lines += [""] * (block.line - 1 - len(lines))
            lines += block.text.splitlines()
    text = "\n".join(lines) + "\n"
    for written, shorter in SHORTER.items():
        text = text.replace(written, shorter)
    return text


HERE = """
import runpy, sys, warnings
from farfield.execution import Here, _run
warnings.simplefilter("error")
_run._executor_for = lambda *_: Here()
sys.path.insert(0, ".")
runpy.run_path(sys.argv[1], run_name="__main__")
"""
"""Starts a script whose networks train in its process, which takes less than to start others."""


def run_as_script(text: str, name: str, folder: Path) -> tuple[int | None, str]:
    """Run a script in `folder`, where its records go; returns its exit status and its errors."""
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    status, _, err = run_forked(HERE, path, folder=folder)
    return status, err


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_PYTHON)
def test_the_python_of_a_document_runs(name: str, tmp_path: Path) -> None:
    document = (CHECKOUT / name).read_text(encoding="utf-8")
    status, err = run_as_script(script(document), Path(name).stem, tmp_path)
    assert status == 0, err


def test_only_these_documents_hold_python() -> None:
    holding = {
        path.relative_to(CHECKOUT).as_posix()
        for path in DOCUMENTS
        if any(b.language == "python" for b in blocks(path.read_text(encoding="utf-8")))
    }
    assert holding == set(WITH_PYTHON)


def test_what_is_made_shorter_is_there() -> None:
    text = "".join((CHECKOUT / name).read_text(encoding="utf-8") for name in WITH_PYTHON)
    assert [written for written in SHORTER if written not in text] == []


def test_a_block_that_fails_is_noticed_on_its_own_line(tmp_path: Path) -> None:
    document = (
        "Text.\n\n```python\na = 1\n```\n\n```console\n$ x\n```\n\n```python\nb = a / 0\n```\n"
    )
    status, err = run_as_script(script(document), "failing", tmp_path)
    assert status == 1
    assert "line 12" in err
    assert "ZeroDivisionError" in err


# --- Commands ------------------------------------------------------------------------------------


def commands(document: str) -> list[list[str]]:
    """The words of every line behind a prompt."""
    return [
        shlex.split(line.removeprefix("$ "))
        for block in blocks(document)
        if block.language == "console"
        for line in block.text.replace("\\\n", "").splitlines()
        if line.startswith("$ ")
    ]


def check_command(words: list[str]) -> None:
    """Raise what the command line would end with; nothing is run."""
    import tyro

    from farfield.cli._arguments import Command, Plan, Reproduce, Search, Show, Train, is_key
    from farfield.cli._list import check_names
    from farfield.cli._reproduce import changes_of
    from farfield.cli._show import task_of
    from farfield.cli._train import experiment_of, search_of
    from farfield.reports import FIGURES
    from farfield.reproductions import TABLES

    behind = {**TABLES, **{key: figure.table for key, figure in FIGURES.items()}}
    command, rest = tyro.cli(Command, args=words, return_unknown_args=True)
    check_names(command)
    match command:
        case Train():
            experiment_of(command, rest)
            return
        case Search():
            search_of(command, rest)
            return
        case Show(task=task) if is_key(task):
            pass
        case Show():
            task_of(command, rest)
            return
        case Reproduce(table=table, cell=cells):
            behind[table].select(*itertools.chain(*cells))
            changes_of(command, rest)
            return
        case Plan(table=table, cell=cells):
            behind[table].select(*itertools.chain(*cells))
    if rest:
        raise ValueError(f"unrecognized: {rest}")


def targets() -> set[str]:
    """What `make` can make."""
    makefile = (CHECKOUT / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))


@documents
def test_every_command_is_one(document: Path) -> None:
    for words in commands(document.read_text(encoding="utf-8")):
        match words:
            case ["farfield", *arguments]:
                check_command(arguments)
            case ["make", *goals]:
                assert {goal for goal in goals if "=" not in goal} <= targets()


@pytest.mark.parametrize(
    "line",
    [
        "lst",
        "list --loud",
        "show same-diferent",
        "show 65de --task.side 3",
        "show all-same --task.num-image 3",
        "train --task same-different --model esbn --recipe.step 3",
        "train --task same-different --model esnb",
        "reproduce webb2021/table-99",
        "reproduce webb2021/table-9 --recipe.rate 3",
        'reproduce webb2021/table-11 --cell "esnb*"',
        "report webb2021/table-9 --budget large",
        "fetch mnits",
        "cite webb2012",
    ],
)
def test_a_wrong_command_is_noticed(line: str) -> None:
    with pytest.raises((SystemExit, ValueError)):
        check_command(shlex.split(line))


# --- Links ---------------------------------------------------------------------------------------


def slug(heading: str) -> str:
    """The name that a heading can be linked to by."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def prose(document: str) -> str:
    """A document without its fenced blocks and its code."""
    text = re.sub(r"^```.*?^```$", "", document, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "code", text)


@functools.cache
def anchors(path: Path) -> set[str]:
    """Every name of a document that can be linked to; equal ones are numbered."""
    document = path.read_text(encoding="utf-8")
    text = re.sub(r"^```.*?^```$", "", document, flags=re.MULTILINE | re.DOTALL)
    found: list[str] = []
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        name = slug(heading)
        before = sum(re.fullmatch(rf"{name}(-\d+)?", earlier) is not None for earlier in found)
        found.append(f"{name}-{before}" if before else name)
    return set(found)


def broken_links(path: Path) -> list[str]:
    """Relative links of a document that lead nowhere."""
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(path.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", link):
            continue
        place, _, anchor = link.partition("#")
        target = path.parent / place if place else path
        if not target.exists() or (anchor and anchor not in anchors(target.resolve())):
            broken.append(link)
    return broken


@documents
def test_every_relative_link_leads_somewhere(document: Path) -> None:
    assert broken_links(document) == []


def test_a_broken_link_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(
        "# One: `two`\n[a](page.md) [b](gone.md) [c](#one-two) [d](page.md#three) [e](https://x.y)\n"
    )
    assert broken_links(path) == ["gone.md", "page.md#three"]


# --- What the documents say ----------------------------------------------------------------------


def text_of(name: str) -> str:
    return (CHECKOUT / name).read_text(encoding="utf-8")


def test_the_readme_is_short_and_its_prose_holds_no_measured_number() -> None:
    text = text_of("README.md")
    assert text.count("\n") <= 180
    lines = [line for line in prose(text).splitlines() if not line.startswith("|")]
    assert re.findall(r"\d\s?%|±\s?\d", "\n".join(lines)) == []


def test_the_table_of_the_readme_is_that_of_its_record() -> None:
    made = runpy.run_path(str(CHECKOUT / "examples" / "digits_under_brightness.py"))
    record = json.loads(made["RECORD"].read_text(encoding="utf-8"))
    assert f"\n\n{made['table'](record['scores'])}\n\n" in text_of("README.md")


def test_the_report_in_the_readme_is_that_of_the_records() -> None:
    from rich.console import Console

    from farfield.reports import tabulate
    from farfield.reports.internal import Levels, exported_at, terminal
    from farfield.reproductions import TABLES, Budget

    table = TABLES["webb2021/beyond"].select("relational-match-to-sample/*conv+*")
    results = CHECKOUT / "results"
    found = tabulate(
        table, exported_at(results, Budget.PAPER, 10), Budget.PAPER, Levels(results, results)
    )
    console = Console(file=io.StringIO(), width=1000)
    console.print(terminal(found))
    shown = [line.rstrip() for line in console.file.getvalue().splitlines()]
    (block,) = (b for b in blocks(text_of("README.md")) if b.text.startswith(shown[0]))
    *lines, ellipsis = block.text.splitlines()
    assert (lines, ellipsis) == (shown[: len(lines)], "…")
    assert len(lines) > len(table.claims)


def test_contributing_names_every_folder_from_the_top_down() -> None:
    named = re.findall(r"^\| \[`(\w+)`\]", text_of("CONTRIBUTING.md"), re.MULTILINE)
    there = {path.parent.name for path in (CHECKOUT / "src/farfield").glob("*/__init__.py")}
    assert set(named) == there
    layers = re.search(r"^layers = \[(.*?)\]", text_of("pyproject.toml"), re.MULTILINE | re.DOTALL)
    folders = [layer for layer in re.findall(r"\w+", layers[1]) if layer[0] != "_"]
    assert named == folders  # files that the lowest floor and the highest use are none


def test_it_is_said_what_every_verdict_means() -> None:
    from farfield.reproductions import Verdict

    text = text_of("docs/my-paper.md")
    assert [v.value for v in Verdict if f"\n| {v.value} | {v.meaning} |\n" not in text] == []


def test_the_page_on_verdicts_has_the_numbers_that_were_simulated() -> None:
    text = " ".join(text_of("docs/my-paper.md").split())
    found = json.loads(text_of("benchmarks/results/verdicts/rule.json"))
    called = {name: f"{100 * by['different']:.1f}" for name, by in found["verdicts"].items()}
    held = {name: f"{100 * by['cut']:.0f}" for name, by in found["intervals"].items()}
    one_in_ten = [held[f"one network in ten fails, {count} networks"] for count in (3, 10, 20)]
    same = [called[name] for name in called if name.startswith("normal") and "apart" not in name]
    for said in (
        f"at most {max(same, key=float)} of 100 cells of normal scores",
        f"{called['near the ceiling, three networks each']} of 100 near the ceiling",
        f"{called['one network in ten fails']} of 100 where one network in ten fails",
        f"{called['half of the networks fail']} of 100 where half of them fail",
        f"in {one_in_ten[0]}, {one_in_ten[1]} and {one_in_ten[2]} of 100",
    ):
        assert said in text


def test_every_task_is_in_the_list_of_tasks() -> None:
    from farfield.tasks import TASKS

    _, _, table = text_of("docs/tasks.md").partition("| task | question |\n")
    rows, _, _ = table.partition("\n\n")
    assert re.findall(r"^\| `([a-z-]+)` \|", rows, re.MULTILINE) == list(TASKS)
