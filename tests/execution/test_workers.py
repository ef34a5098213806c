"""Modules of the user's in worker processes: found wherever they are, imported once, named."""

from __future__ import annotations

import importlib
import inspect
import os
import signal
import sys
from pathlib import Path
from types import ModuleType

import pytest

from farfield.execution import ExecutionError, _processes, jobs_of, results, run
from farfield.execution._job import reason_of
from farfield.experiments import Experiment, Network, Recipe, Spec
from farfield.records import Store
from processes import run_forked
from small import SMALL_ENCODER, small_experiment

MODULE = """
import os, random, sys, torch
from torch import nn
IN_WORKER = "FARFIELD_WORKER" in os.environ
{at_import}
class Flat(nn.Module):
    scale = 1.0
    def __init__(self, length: int, in_features: int, num_outputs: int) -> None:
        super().__init__()
        self.output = nn.Linear(length * in_features, num_outputs)
    def forward(self, z):
        {in_forward}
        return self.output(z.flatten(1)) * self.scale
"""


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """A name that no other test has imported, and a path that is given back."""
    name = f"mine_{abs(hash(request.node.name))}"
    monkeypatch.setattr(sys, "path", [*sys.path])
    return name


def write(folder: Path, name: str, at_import: str = "", in_forward: str = "") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.py"
    path.write_text(MODULE.format(at_import=at_import, in_forward=in_forward))
    return path


def imported(folder: Path, name: str, **parts: str) -> ModuleType:
    write(folder, name, **parts)
    sys.path.insert(0, str(folder))
    return importlib.import_module(name)


def experiment(mine: ModuleType) -> Experiment:
    return Experiment(
        task=small_experiment().task,
        model=Network(reasoner=Spec(mine.Flat), encoder=SMALL_ENCODER),
        recipe=Recipe(steps=2),
    )


def engine_of(store: Store, mine: ModuleType) -> str:
    [record] = results(jobs_of([experiment(mine)], (0,)), store)
    return record.environment["engine"]


def test_a_module_that_runs_at_import_is_imported_once_by_a_worker_which_says_why(
    tmp_path: Path,
) -> None:
    runs = """
from farfield.execution import jobs_of, run
from farfield.experiments import Experiment, Network, Recipe, Spec
from farfield.records import Store
from farfield.tasks import SameDifferent
network = Network(reasoner=Spec(Flat))
task = SameDifferent(withheld=98, max_problems=200)
e = Experiment(task=task, model=network, recipe=Recipe(steps=1))
run(jobs_of([e], seeds=[0, 1]), Store("runs"), workers=1)
"""
    path = write(tmp_path, "mine", at_import='open("count", "a").write("x")')
    path.write_text(path.read_text() + runs)
    _, _, err = run_forked('import sys; sys.path.insert(0, ""); import mine', folder=tmp_path)
    assert (tmp_path / "count").read_text() == "xx"
    last = err.strip().splitlines()
    said = next(line for line in last if "2 of 2 runs did not finish" in line)
    assert "a worker process cannot import mine: " in said
    assert "in mine, put the call that starts them under if __name__ == '__main__':" in said


def test_modules_are_found_by_a_relative_path_after_a_change_of_folder_and_behind_a_colon(
    tmp_path: Path, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a:b").mkdir()
    (tmp_path / "else" / "lib").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a:b")
    write(Path("lib"), module)
    sys.path.insert(0, "lib")
    mine = importlib.import_module(module)
    monkeypatch.chdir(tmp_path / "else")
    store = Store("runs")
    run(jobs_of([experiment(mine)], (0,)), store, workers=1)
    assert engine_of(store, mine) == "1 single-threaded processes"


def test_a_module_that_is_on_no_path_any_more_is_found_where_it_lies(
    tmp_path: Path, module: str
) -> None:
    mine = imported(tmp_path, module)
    sys.path.remove(str(tmp_path))
    store = Store(tmp_path / "runs")
    run(jobs_of([experiment(mine)], (0,)), store, workers=1)
    assert engine_of(store, mine) == "1 single-threaded processes"


def test_a_module_that_prints_and_reads_disturbs_nobody(tmp_path: Path, module: str) -> None:
    talk = "print('hello')\nif IN_WORKER:\n    assert sys.stdin.read() == ''"
    mine = imported(tmp_path, module, at_import=talk, in_forward="print('at work')")
    store = Store(tmp_path / "runs")
    run(jobs_of([experiment(mine)], (0,)), store, workers=1)
    assert engine_of(store, mine) == "1 single-threaded processes"


@pytest.mark.parametrize(
    ("last_words", "message"),
    [
        (
            "sys.exit(3)",
            r"cannot import {0}: SystemExit: 3 \({0}.py:6 in <module>\)",
        ),
        pytest.param(
            "import nowhere_at_all",
            r"cannot import {0}: ModuleNotFoundError: .*nowhere_at_all",
            marks=pytest.mark.thorough,
        ),
        pytest.param("input()", r"cannot import {0}: EOFError: ", marks=pytest.mark.thorough),
        pytest.param(
            "os._exit(9)",
            r"the worker process ended \(exit status 9\) while it imported {0}",
            marks=pytest.mark.thorough,
        ),
        (
            "os.kill(os.getpid(), 9)",
            r"ended \(signal 9\) while it imported {0}; the system sends it when memory runs out",
        ),
    ],
)
def test_a_module_that_cannot_be_imported_again_is_named_with_the_reason(
    tmp_path: Path, module: str, last_words: str, message: str
) -> None:
    mine = imported(tmp_path, module, at_import=f"if IN_WORKER:\n    {last_words}")
    with pytest.raises(ExecutionError, match=message.format(module)):
        run(jobs_of([experiment(mine)], (0,)), Store(tmp_path / "runs"), workers=1)


@pytest.mark.parametrize("last_words", ["raise ValueError(1)", "os._exit(3)"])
def test_a_module_is_imported_once_however_many_jobs_need_it(
    tmp_path: Path, module: str, last_words: str
) -> None:
    note = f"if IN_WORKER:\n    open({str(tmp_path / 'count')!r}, 'a').write('x')\n    {last_words}"
    mine = imported(tmp_path, module, at_import=note)
    jobs = jobs_of([experiment(mine)], (0, 1, 2))
    with pytest.raises(ExecutionError, match="3 of 3 runs did not finish"):
        run(jobs, Store(tmp_path / "runs"), workers=1)
    assert (tmp_path / "count").read_text() == "x"


def test_what_is_not_the_same_in_another_process_runs_in_this_one(
    tmp_path: Path, module: str
) -> None:
    mine = imported(tmp_path, module)
    mine.Flat.scale = 2.0
    store = Store(tmp_path / "runs")
    run(jobs_of([experiment(mine)], (0,)), store, workers=1)
    assert engine_of(store, mine).startswith("one after another: in a new process, ")


@pytest.mark.parametrize("is_here", [False, True], ids=["in a worker", "here"])
def test_an_error_names_the_last_line_of_the_user_s_and_shows_the_traceback(
    tmp_path: Path, module: str, is_here: bool
) -> None:
    mine = imported(tmp_path, module, in_forward="z = z[..., 1:]")
    if is_here:
        mine.Flat.__qualname__ = "f.<locals>.Flat"
    with pytest.raises(
        ExecutionError, match=rf"RuntimeError: mat1 and mat2 .*\({module}\.py:13 in forward\)"
    ) as caught:
        run(jobs_of([experiment(mine)], (0,)), Store(tmp_path / "runs"), workers=1)
    if is_here:
        assert isinstance(caught.value.__cause__, RuntimeError)
        return
    [note] = caught.value.__notes__
    assert note.startswith("In a worker process: Traceback (most recent call last)")
    assert "linear.py" in note
    assert f"{module}.py" in note


def test_a_reason_looks_behind() -> None:
    """What an error was raised from may have come through the user's code."""

    def theirs() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError) as caught:
        theirs()
    error = ValueError("the state must load")
    error.__cause__ = caught.value
    line = inspect.getsourcelines(theirs)[1] + 1
    said = reason_of(error)
    assert said == f"ValueError: the state must load (test_workers.py:{line} in theirs)"


def test_a_reason_is_a_line_that_can_be_shown() -> None:
    assert reason_of(RuntimeError("a\n\x1b[2Jb")) == r"RuntimeError: a \x1b[2Jb"
    assert reason_of(RuntimeError("a" * 2_000)) == f"RuntimeError: {'a' * 750} … {'a' * 250}"


def test_what_python_starts_for_a_pool_looks_into_no_folder_of_the_user(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its tracker of locks would import a file `socket.py` that lies in the current folder."""
    seen: list[str | None] = []
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    monkeypatch.setattr(
        _processes,
        "ProcessPoolExecutor",
        lambda *_, **__: seen.append(os.environ.get("PYTHONSAFEPATH")),
    )
    worker = _processes._Worker({})
    worker.news.close()
    worker._end.close()
    assert (seen, os.environ.get("PYTHONSAFEPATH")) == (["1"], None)


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="the system holds nothing back")
def test_workers_are_ended_before_a_second_ctrl_c_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[bool] = []

    class Interrupted:
        news = is_alive = False

        def begin(self, *_: object) -> None:
            raise KeyboardInterrupt

        def stop(self) -> None:
            held.append(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))

    monkeypatch.setattr(_processes, "_Worker", lambda fatal: Interrupted())
    monkeypatch.setattr(_processes, "_refusal", lambda order, fatal: None)
    with pytest.raises(KeyboardInterrupt):
        next(_processes.Processes(workers=1)._run_elsewhere([object()], print))
    assert held == [True]
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_a_worker_starts_no_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "FARFIELD_WORKER", "mine")
    with pytest.raises(
        RuntimeError, match="in mine, put the call that starts them under if __name__"
    ):
        run([], Store(tmp_path))
