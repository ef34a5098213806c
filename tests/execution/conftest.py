"""Workers of these tests are forked from a process that has loaded torch."""

from __future__ import annotations

from multiprocessing.popen_forkserver import Popen

import pytest

from farfield.execution import _processes
from processes import warm


@pytest.fixture
def spawned() -> None:
    """Workers are new processes, as a user's are."""


@pytest.fixture(autouse=True)
def _forked(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fork workers, unless the test is about their beginning."""
    if "spawned" not in request.fixturenames:
        monkeypatch.setattr(_processes._Process, "_Popen", staticmethod(_start))


def _start(process: _processes._Process) -> Popen:
    warm()
    return Popen(process)
