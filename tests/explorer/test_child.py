"""What takes too long or too much is refused in words, and the next request is answered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException

from explorer.conftest import Explored
from farfield.explorer import _app, _child
from farfield.explorer._child import Child, answer
from farfield.explorer._pages import problems
from farfield.explorer._source import Source

FOLDERS = (Path(), Path())
READY = """
import os, sys, time
sys.stdout.buffer.write(bytes([1, 0, 0, 0, 0, 0, 0, 0, 192]))  # None, in a byte
sys.stdout.flush()
sys.stdin.buffer.read(8)
"""


@pytest.fixture
def child_of(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Child]]:
    """A child that runs other code, which costs no imports."""
    made: list[Child] = []

    def make(code: str) -> Child:
        monkeypatch.setattr(_child, "_CODE", READY + code)
        made.append(Child())
        return made[-1]

    yield make
    for child in made:
        child._end()


def refusal(child: Child) -> tuple[int, str]:
    with pytest.raises(HTTPException) as refused:
        child.ask("problems", FOLDERS, ())
    return refused.value.status_code, refused.value.detail


def test_what_does_not_end_is_ended(child_of, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_child, "SECONDS", 0.01)
    child = child_of("time.sleep(1000)")
    child.start()
    process = child._process
    assert refusal(child) == (413, "this takes longer than 0.01 s: ask for fewer or smaller ones")
    assert process.poll() is not None
    assert child._process not in (None, process)  # ready for the next request


def test_a_process_that_ends_by_itself_is_told(child_of) -> None:
    status, said = refusal(child_of("os._exit(3)"))
    assert (status, "ended with status 3" in said) == (413, True)


def test_a_closed_child_starts_no_process(child_of) -> None:
    child = child_of("time.sleep(1000)")
    child.start()
    process = child._process
    child.close()  # as the first Ctrl-C does
    assert refusal(child) == (503, "the explorer is ending")
    process.wait()
    assert refusal(child) == (503, "the explorer is ending")
    assert child._process is process


def test_the_first_ctrl_c_ends_what_is_being_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[str] = []
    monkeypatch.setattr(_app, "CHILD", SimpleNamespace(close=lambda: ended.append("child")))
    server = _app._Server(_app.uvicorn.Config(lambda: None))
    server.handle_exit(2, None)
    assert (ended, server.should_exit, server.force_exit) == (["child"], True, False)


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (ValueError("n must be at most 3, got 4"), 400, "n must be at most 3, got 4"),
        (FileNotFoundError("no such file"), 404, "no such file"),
        (ModuleNotFoundError("this needs ale-py"), 404, "this needs ale-py"),
        (MemoryError(), 413, "this takes more than 1 GiB of memory"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory"), 413, "this takes more than"),
        (KeyError("x"), 500, "this cannot be shown: KeyError: 'x'"),
    ],
)
def test_errors_are_told_with_their_status(
    error: Exception, status: int, said: str, capfd: pytest.CaptureFixture
) -> None:
    def fail(source: Any, query: Any) -> None:
        raise error

    pages = SimpleNamespace(source_of=lambda *folders: folders, draw=fail)
    found, words = answer(pages, ("draw", FOLDERS, ()))
    assert (found, words[: len(said)]) == (status, said)
    assert ("Traceback" in capfd.readouterr().err) == (status == 500)


HUGE = {"task": "copying", "training_sequences": "10000000"}


@pytest.mark.slow
def test_a_picture_of_ten_million_is_refused_and_the_next_drawn(explored: Explored) -> None:
    found = explored.pages.get("/problems.png", params=HUGE)
    assert found.status_code == 413
    assert "this takes more than 1 GiB of memory" in found.text
    fine = explored.pages.get("/problems.png", params={"task": "same-different", "number": "1"})
    assert fine.headers["content-type"] == "image/png"


def test_a_page_says_why_it_has_no_picture(
    explored: Explored, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(name: str, folders: Any, words: Any) -> Any:
        if name == "problems_picture":
            raise HTTPException(413, "too <much>")
        return problems(Source(*folders), QueryParams(words))

    monkeypatch.setattr(_app, "CHILD", SimpleNamespace(ask=ask, start=lambda: None))
    page = explored.pages.get("/problems", params=HUGE)
    assert page.status_code == 200
    assert "There is no picture: too &lt;much&gt;" in page.text
    assert '<img class="sheet"' not in page.text
    assert 'name="training_sequences"' in page.text  # to ask for fewer
