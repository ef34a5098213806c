"""Examples of CONTRIBUTING, moved into a copy of the package as the page says."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
KINDS = {"experiments", "nn", "objectives", "reports", "tasks"}
IMPORT = """
import importlib, sys
from pathlib import Path
for line in sys.stdin:
    name, package = line.split()
    module = importlib.import_module(package)
    assert Path.cwd() in Path(module.__file__).parents, module.__file__
    assert name in module.__all__
"""


def files(page: str) -> dict[Path, str]:
    """Find the blocks of a page that begin with the name of a file, by that name."""
    found = re.findall(r"^```python\n# (src/\S+\.py)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    return {Path(name): text for name, text in found}


def move(texts: dict[Path, str], root: Path) -> list[tuple[str, str]]:
    """Write files into a package and export the last class of each; returns names and packages."""
    moved = []
    for path, text in texts.items():
        (root / path).write_text(text, encoding="utf-8")
        name = re.findall(r"^class (\w+)", text, re.MULTILINE)[-1]
        module = ".".join(path.with_suffix("").parts[1:])
        package = ".".join(path.parts[1:3])
        init = root / Path(*path.parts[:3]) / "__init__.py"
        lines = init.read_text(encoding="utf-8").splitlines(keepends=True)
        export = f"from {module} import {name} as {name}\n"
        after = (n for n, line in enumerate(lines) if line.startswith("from ") and line > export)
        lines.insert(next(after), export)  # in the order that ruff asks for
        init.write_text("".join(lines), encoding="utf-8")
        moved.append((name, package))
    return moved


@pytest.mark.slow
def test_examples_are_imported_and_linted_where_they_are_moved(tmp_path: Path) -> None:
    texts = files((CHECKOUT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert {path.parts[2] for path in texts} == KINDS
    unwanted = shutil.ignore_patterns("__pycache__", "recorded")
    shutil.copytree(CHECKOUT / "src", tmp_path / "src", ignore=unwanted)
    shutil.copy(CHECKOUT / "pyproject.toml", tmp_path)
    moved = move(texts, tmp_path)
    lines = "\n".join(" ".join(names) for names in moved)
    for command in (
        ("-c", IMPORT),
        ("-m", "ruff", "check", "--no-cache", *texts),
        ("-m", "ruff", "format", "--no-cache", "--check", *texts),
    ):
        ended = subprocess.run(
            [sys.executable, *map(str, command)],
            input=lines,
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={"PYTHONPATH": "src"},
            check=False,
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
