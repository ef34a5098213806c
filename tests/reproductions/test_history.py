"""Records are never taken away: the history of the files under `results/`."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]

Place = tuple[str, str, int, str, int]
"""File, cell, steps, key and seed of a line."""


def taken_away(history: str) -> Iterator[Place]:
    """Lines that a commit took out of a file, from the differences that git prints."""
    path = ""
    for line in history.splitlines():
        if line.startswith("--- a/"):
            path = line.removeprefix("--- a/")
        elif line.startswith("-{"):
            yield place(path, line[1:])


def place(path: str, text: str) -> Place:
    line = json.loads(text)
    record = line["record"]
    return (path, line["cell"], record["steps"], record["key"], record["seed"])


def missing(history: str, checkout: Path) -> set[Place]:
    """What a commit took away and no file holds."""
    gone = set(taken_away(history))
    for path in {path for path, *_ in gone}:
        file = checkout / path
        text = file.read_text("utf-8") if file.exists() else ""
        gone -= {place(path, line) for line in text.splitlines()}
    return gone


def test_every_record_that_was_ever_committed_is_there() -> None:
    def git(*words: str) -> str:
        try:
            ran = subprocess.run(["git", *words], cwd=CHECKOUT, capture_output=True, check=True)
        except (FileNotFoundError, subprocess.CalledProcessError):
            pytest.skip("not a checkout under git")
        return ran.stdout.decode()

    if git("rev-parse", "--is-shallow-repository").strip() == "true":
        pytest.skip("a checkout without history")
    files = "results/*/*.jsonl"
    assert missing(git("log", "-p", "--no-color", "--format=", "--", files), CHECKOUT) == set()


def test_a_record_that_was_taken_away_is_noticed(tmp_path: Path) -> None:
    kept, gone = (
        json.dumps({"cell": "a/b", "record": {"steps": 1, "key": key, "seed": 0}})
        for key in ("kept", "gone")
    )
    (tmp_path / "table.jsonl").write_text(f"{kept}\n", "utf-8")
    history = f"--- a/table.jsonl\n+++ b/table.jsonl\n-{kept}\n-{gone}\n"
    assert missing(history, tmp_path) == {("table.jsonl", "a/b", 1, "gone", 0)}
