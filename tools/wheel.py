"""Build the package, install it with no extra outside the checkout, and use it there.

What is recorded must be shown there as in the checkout.
"""

import os
import runpy
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
SDIST = "import setuptools.build_meta as backend; print(backend.build_sdist({!r}))"
COMMANDS = {
    "list": "webb2021/table-9",
    "report webb2021/table-9": "100.0 ± 0.0 (10)",
    "train --task same-different --model esbn --recipe.steps 5 --seeds 1": "experiment ",
    "report webb2021/beyond --records results --cell relational-match*/esbn*": "reached",
    "bench pairs.py:Pairs --seeds 1": "ESBN + TCN | 100.0 ± 0.0 %",
    "cite webb2021/table-11": "Emergent Symbols",
}
"""Arguments of `farfield`, and text that the output must contain; `report` alone before any run."""
PAIRS = """\
from torch import nn

class Pairs(nn.Module):
    def __init__(self, length, in_features, num_outputs):
        super().__init__()
        if length != 2:
            raise ValueError("reads pairs")
        self.output = nn.Linear(2 * in_features, num_outputs)

    def forward(self, z):
        return self.output(z.flatten(1))
"""
"""A module that fits same/different alone, whose networks take seconds."""


def run(*command: object, cwd: Path, expected: str = "") -> str:
    """Run a command, and end with its output where it fails or lacks the expected text."""
    start = time.monotonic()
    ended = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    words = " ".join(Path(str(word)).name for word in command[:4]).replace("\n", " ")
    if ended.returncode or expected not in ended.stdout:
        sys.exit(f"{ended.stdout}\n{words}: status {ended.returncode}, expected {expected!r}")
    print(f"{time.monotonic() - start:5.0f} s  {words}", flush=True)
    return ended.stdout


def build(folder: Path) -> Path:
    """Build the sdist from the checkout and the wheel from the sdist, as `python -m build` does."""
    run(sys.executable, "-c", SDIST.format(str(folder)), cwd=CHECKOUT)
    (sdist,) = folder.glob("*.tar.gz")
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", sdist, cwd=folder)
    (wheel,) = folder.glob("*.whl")
    return wheel


def use(wheel: Path, folder: Path) -> None:
    """Install the wheel into an empty environment, and run there what the README shows."""
    venv.create(folder / "venv", with_pip=True)
    programs = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    pip = programs / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check"
    run(*pip, "-c", CHECKOUT / "constraints.txt", wheel, cwd=folder)
    (folder / "pairs.py").write_text(PAIRS, encoding="utf-8")
    for line, expected in COMMANDS.items():
        run(programs / "farfield", *line.split(), cwd=folder, expected=expected)
    claims = programs / "farfield", "list", "claims"
    alone = run(*claims, cwd=folder, expected="in full")
    if alone != run(*claims, "--results", CHECKOUT / "results", cwd=folder):
        sys.exit("list claims: the package and the checkout record different runs")
    sys.path.insert(0, str(CHECKOUT / "tests"))  # as pytest has it
    script = runpy.run_path(str(CHECKOUT / "tests" / "docs" / "test_documents.py"))["script"]
    path = folder / "readme.py"
    path.write_text(script((CHECKOUT / "README.md").read_text(encoding="utf-8")), encoding="utf-8")
    run(programs / "python", path, cwd=folder)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="farfield-") as name:
        use(build(Path(name)), Path(name))
