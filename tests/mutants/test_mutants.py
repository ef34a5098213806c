"""Breaks copies of the package on purpose, and sees that the tests notice.

`semantic.py` lists the mutants. Each must leave the package importable: its test has to fail, not
to be missing. A mutation tool makes the simple ones (`make mutants`).
"""

from __future__ import annotations

import ast
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
PACKAGE = CHECKOUT / "src" / "farfield"
MUTANTS = runpy.run_path(str(Path(__file__).with_name("semantic.py")))["MUTANTS"]
IN_TEST_COMMAND = 1
TESTS_FAILED = 1  # pytest's exit code; 2 and above say that tests could not be run at all


def functions(path: Path) -> set[str]:
    """Names of the functions of a test file."""
    statements = ast.parse(path.read_text(encoding="utf-8")).body
    return {statement.name for statement in statements if isinstance(statement, ast.FunctionDef)}


def cases() -> list[object]:
    return [
        pytest.param(*mutant, id=name, marks=[pytest.mark.mutants] * (number >= IN_TEST_COMMAND))
        for number, (name, *mutant) in enumerate(MUTANTS)
    ]


def mutated(file: str, old: str, new: str, folder: Path) -> Path:
    """A copy of the package under `folder` in which `old` has become `new`."""
    copy = folder / "farfield"
    shutil.copytree(PACKAGE, copy)  # with what is compiled already
    path = copy / file
    text = path.read_text(encoding="utf-8")
    if (found := text.count(old)) != 1:
        raise ValueError(
            f"{file} must hold {old!r} exactly once to be mutated, it does {found} times"
        )
    path.write_text(text.replace(old, new), encoding="utf-8")
    return copy


def run(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Python with the package taken from `folder`."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=CHECKOUT,
        env=kept | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("file, old, new, test", cases())
def test_a_mutant_is_noticed(file: str, old: str, new: str, test: str, tmp_path: Path) -> None:
    mutated(file, old, new, tmp_path)
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", ""]
    ended = run(["-m", "pytest", *options, f"tests/{test}"], tmp_path)
    closing = (ended.stdout.strip().splitlines() or [""])[-1]
    if ended.returncode == 0 and "skipped" in closing and "passed" not in closing:
        pytest.skip(f"its tests were skipped: {closing}")
    assert ended.returncode == TESTS_FAILED, f"{closing}\n{ended.stdout}\n{ended.stderr}"


def test_the_copy_is_what_runs(tmp_path: Path) -> None:
    copy = mutated("py.typed", "", "", tmp_path)
    shown = run(["-c", "import farfield; print(farfield.__file__)"], tmp_path)
    assert Path(shown.stdout.strip()).resolve() == (copy / "__init__.py").resolve(), shown.stderr


def test_text_that_is_gone_or_stands_twice_is_no_mutant(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="exactly once to be mutated, it does 0 times"):
        mutated("core/_streams.py", "no such text", "", tmp_path / "gone")
    with pytest.raises(ValueError, match="exactly once to be mutated, it does"):
        mutated("core/_streams.py", "return", "", tmp_path / "twice")


def test_every_mutant_still_has_its_text_and_its_test() -> None:
    for _, file, old, _, test in MUTANTS:
        assert (PACKAGE / file).read_text(encoding="utf-8").count(old) == 1, (file, old)
        path, _, name = test.partition("::")
        assert name.partition("[")[0] in functions(CHECKOUT / "tests" / path), test
