"""Texts in plain words: a docstring says what a thing is, in the terms of the field."""

from __future__ import annotations

import ast
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

from each import each

CHECKOUT = Path(__file__).resolve().parent.parent
PACKAGE = CHECKOUT / "src" / "farfield"
OPENERS = ("What", "Which", "Whether", "How")
WORDS = ("told", "bears?", "at hand", "stands? beside", "in print", "what is no")

SOURCES = sorted(PACKAGE.rglob("*.py"))
DOCUMENTS = [
    CHECKOUT / "README.md",
    CHECKOUT / "CONTRIBUTING.md",
    *sorted((CHECKOUT / "docs").glob("*.md")),
]


def riddles(tree: ast.AST) -> Iterator[str]:
    """First lines of docstrings, those of attributes too, that begin as a question and ask none."""
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                line = text.strip().partition("\n")[0]
                if line.startswith(tuple(f"{opener} " for opener in OPENERS)) and "?" not in line:
                    yield line


def worn(text: str) -> list[str]:
    """The words of a text that have a plainer one."""
    return re.findall(rf"\b(?:{'|'.join(WORDS)})\b", " ".join(text.split()), re.IGNORECASE)


def texts(path: Path) -> Iterator[str]:
    """Strings and comments of a file."""
    with tokenize.open(path) as file:
        for token in tokenize.generate_tokens(file.readline):
            if token.type != tokenize.NAME:
                yield token.string


@each("path", SOURCES)
def test_sources_are_in_plain_words(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    if re.search(rf"[\"'][\\\s]*(?:{'|'.join(OPENERS)}) ", source):  # else no string begins so
        assert list(riddles(ast.parse(source))) == []
    if worn(source):  # else no part of it is; to take it apart takes long
        assert [word for text in texts(path) for word in worn(text)] == []


@each("path", DOCUMENTS)
def test_documents_are_in_plain_words(path: Path) -> None:
    assert worn(path.read_text(encoding="utf-8")) == []


def test_riddles_and_worn_words_are_found(tmp_path: Path) -> None:
    path = tmp_path / "riddles.py"
    path.write_text(
        '"""What a task is."""\n'
        "told = 1  # as in\n"
        '"""Whether it was."""\n'
        "def f():\n"
        '    """Which digit is it? An image is shown."""\n'
        '    return "no number is at\\\n  hand"  # bears no name\n',
        encoding="utf-8",
    )
    assert list(riddles(ast.parse(path.read_text()))) == ["What a task is.", "Whether it was."]
    assert [word for text in texts(path) for word in worn(text)] == ["bears"]
    assert worn("Numbers in\n  print, and what is no\nnumber") == ["in print", "what is no"]
