"""Packages that the user's classes are made of, as records name them."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from farfield import _files
from farfield.execution import Here, _modules, jobs_of, results, run
from farfield.experiments import Experiment, Network, Spec
from farfield.records import Store
from small import tiny_experiment


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of installed packages: `mine`, from a folder, and `theirs`, from an index."""
    site = tmp_path / "site-packages"
    for name in ("mine_of_test", "theirs_of_test"):
        (site / name).mkdir(parents=True)
        (site / f"{name}-1.2.dist-info").mkdir()
        (site / f"{name}-1.2.dist-info" / "METADATA").write_text(f"Name: {name}\nVersion: 1.2\n")
        (site / name / "__init__.py").write_text(
            "SCALE = 2\ndef scaled(z):\n    return SCALE * z\n"
        )
    url = json.dumps({"url": "file:///mine", "dir_info": {}})
    (site / "mine_of_test-1.2.dist-info" / "direct_url.json").write_text(url)
    (tmp_path / "my_network_of_test.py").write_text(
        "import einops\nimport torch\nfrom torch import nn\n"
        "import mine_of_test\nfrom theirs_of_test import scaled\n"
        "class Net(nn.Module):\n"
        "    def __init__(self, length: int, in_features: int, num_outputs: int) -> None:\n"
        "        super().__init__()\n"
        "        self.layer = nn.Linear(length * in_features, num_outputs)\n"
        "    def forward(self, z):\n"
        "        return self.layer(mine_of_test.scaled(scaled(z)).flatten(1))\n"
    )
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.syspath_prepend(str(tmp_path))
    _modules._described.cache_clear()
    yield site
    _modules._described.cache_clear()


def mine() -> Experiment:
    module: Any = importlib.import_module("my_network_of_test")
    tiny = tiny_experiment(steps=1)
    return replace(tiny, model=replace(tiny.model, reasoner=Spec(module.Net)))


def test_packages_have_a_version_and_those_of_the_user_a_digest(
    installed: Path, tmp_path: Path
) -> None:
    source = _files.python_digest([installed / "mine_of_test"])
    experiment = mine()
    expected = (
        f"einops {metadata.version('einops')}, mine_of_test 1.2 (source {source}), "
        "theirs_of_test 1.2"
    )
    assert _modules.packages_of(experiment) == expected
    jobs, store = jobs_of([experiment], [0]), Store(tmp_path / "runs")
    run(jobs, store, Here())
    assert results(jobs, store)[0].environment["packages"] == expected


def test_what_is_farfields_uses_no_package() -> None:
    assert _modules.packages_of(tiny_experiment()) == ""
    assert isinstance(tiny_experiment().model, Network)


def test_a_digest_of_source_is_of_names_and_contents(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        (folder / "part").mkdir(parents=True)
        (folder / "a.py").write_text("a = 1\n")
        (folder / "part" / "b.py").write_text("b = 1\n")
    (second / "data.txt").write_text("not code")
    digest = _files.python_digest([first])
    assert _files.python_digest([second]) == digest
    (second / "part" / "b.py").write_text("b = 2\n")
    assert _files.python_digest([second]) != digest
    (first / "a.py").rename(first / "c.py")
    assert _files.python_digest([first]) != digest
