"""Breaks copies of the package on purpose, and sees that the tests notice.

Each file beside this one lists the mutants of one area, as literals:

    MUTANTS = [
        (
            "core/_streams.py",                     # file, relative to src/farfield
            "self.key & (2**63 - 1)",               # text that stands there exactly once
            "0",                                    # what it becomes
            ["tests/core/test_streams.py::test_x"], # tests, each or together, that must fail
        ),
    ]

The first mutant of each area is run by the test command, so it should be a cheap one; all are run
by `make mutants`. A mutant must leave the package importable: its tests have to fail, not to be
missing. Name single tests, not whole files: the run stops at the first failure, but loads them all.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
PACKAGE = CHECKOUT / "src" / "farfield"
AREAS = sorted(path for path in Path(__file__).parent.glob("*.py") if path.stem != "test_mutants")
IN_TEST_COMMAND = 20
TESTS_FAILED = 1  # pytest's exit code; 2 and above say that tests could not be run at all

Mutant = tuple[str, str, str, list[str]]


def listed(area: Path) -> list[Mutant]:
    """The literal that an area's file binds to `MUTANTS`."""
    for statement in ast.parse(area.read_text(encoding="utf-8")).body:
        match statement:
            case ast.Assign(targets=[ast.Name(id="MUTANTS")], value=value):
                return ast.literal_eval(value)
    raise ValueError(f"{area.name} binds no literal list to MUTANTS")


def functions(path: Path) -> set[str]:
    """Names of the functions of a test file."""
    statements = ast.parse(path.read_text(encoding="utf-8")).body
    return {statement.name for statement in statements if isinstance(statement, ast.FunctionDef)}


def cases() -> list[object]:
    return [
        pytest.param(
            *mutant, id=f"{area.stem}-{number}", marks=[pytest.mark.mutants] * (number > 0)
        )
        for area in AREAS
        for number, mutant in enumerate(listed(area))
    ]


def mutated(file: str, old: str, new: str, folder: Path) -> Path:
    """A copy of the package under `folder` in which `old` has become `new`."""
    copy = folder / "farfield"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
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


@pytest.mark.parametrize("file, old, new, tests", cases())
def test_a_mutant_is_noticed(
    file: str, old: str, new: str, tests: list[str], tmp_path: Path
) -> None:
    mutated(file, old, new, tmp_path)
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", ""]
    ended = run(["-m", "pytest", *options, *tests], tmp_path)
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


@pytest.mark.parametrize("area", AREAS, ids=lambda area: area.stem)
def test_every_mutant_still_has_its_text_and_its_tests(area: Path) -> None:
    for file, old, _, tests in listed(area):
        assert (PACKAGE / file).read_text(encoding="utf-8").count(old) == 1, (file, old)
        for named in tests:
            path, _, name = named.partition("::")
            assert not name or name.partition("[")[0] in functions(CHECKOUT / path), named


def test_the_test_command_runs_a_handful() -> None:
    assert 0 < len(AREAS) <= IN_TEST_COMMAND
    assert all(listed(area) for area in AREAS)
