"""Every example runs, at a size that takes no time, and draws its picture."""

from __future__ import annotations

import re
import runpy
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
import torch

CHECKOUT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted(
    path
    for path in (CHECKOUT / "examples").glob("*.py")
    if not path.with_suffix(".json").exists()  # one that shows a record has a test of its own
)
SHORTER = {"SEEDS": "1", "STEPS": "2", "LENGTHS": "[6, 15]"}
"""What stands at the head of examples, as the tests have it."""
OPTIONAL = ("accelerate", "lightning", "transformers")
"""Packages of examples that Farfield does not need, nor its tests."""


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_draws_its_picture(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = path.read_text(encoding="utf-8")
    assert re.search("^STEPS = ", text, re.MULTILINE)
    for name in OPTIONAL:
        if re.search(rf"^(from|import) {name}\b", text, re.MULTILINE):
            pytest.importorskip(name, reason=f"needs {name}")
            warnings.simplefilter("ignore")  # other packages may warn of each other
    for name, value in SHORTER.items():
        text = re.sub(f"^{name} = .*", f"{name} = {value}", text, flags=re.MULTILINE)
    script = tmp_path / path.name
    script.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with torch.random.fork_rng(), plt.rc_context({"backend": "agg"}):
        runpy.run_path(str(script), run_name="__main__")
    plt.close("all")
    assert plt.imread(script.with_suffix(".png")).std() > 0.01


def test_the_guide_leads_to_every_example() -> None:
    guide = (CHECKOUT / "docs" / "which-mechanism.md").read_text(encoding="utf-8")
    assert [path.name for path in EXAMPLES if f"(../examples/{path.name})" not in guide] == []
