"""`farfield explore`: what it says before it serves."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

from farfield import explorer


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[tuple]:
    """What would have been served."""
    calls: list[tuple] = []
    monkeypatch.setattr(explorer, "serve", lambda *arguments: calls.append(arguments))
    return calls


def test_folders_and_port_are_served_and_named(farfield, folder: Path, served) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ended = farfield(f"explore --records mine --port {port}")
    assert ended.status == 0
    assert f"http://127.0.0.1:{port}" in ended.out
    comes_with_farfield = folder / "none"
    assert served == [(Path("mine"), comes_with_farfield, port, ())]
    farfield(f"explore --records mine --results other --port {port}")
    assert served[1] == (Path("mine"), Path("other"), port, ())
    (folder / "my_parts_to_explore.py").write_text("class Mine: pass")
    farfield(f"explore --module my_parts_to_explore.py --port {port}")
    assert served[2][3] == (Path("my_parts_to_explore.py"),)
    refused = farfield(f"explore --module nil.py --port {port}")
    assert "module must be a Python file, e.g. my_module.py, got nil.py" in refused.err
    assert len(served) == 3
    assert not Path("mine").exists()


def test_a_port_that_is_taken_or_impossible_is_refused(farfield, served) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = farfield(f"explore --port {port}")
    assert (ended.status, ended.err.count("\n")) == (2, 1)
    assert f"port must be free, got {port}" in ended.err
    assert "port must be a number from 1 to 65535, got 0" in farfield("explore --port 0").err
    assert served == []


def test_what_is_not_installed_is_named(farfield, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("farfield.explorer")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    ended = farfield("explore")
    assert ended.status == 1
    assert ended.err == "farfield: the explorer needs uvicorn: pip install 'farfield[web]'\n"
