"""What some systems lack, hidden: the side of each branch that this machine would not take."""

from __future__ import annotations

import io
import os
import signal
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from farfield import _system
from farfield._interrupts import held_interrupts
from farfield._system import PATIENCE, limit_memory, peak_memory, replace_file
from farfield.core.internal import num_cores
from farfield.execution import _executors, _processes
from farfield.records import Store, _environment, _locks
from farfield.records.internal import BusyError
from processes import run_forked


def hide(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> None:
    """Take away what a module of Python has on some systems only."""
    monkeypatch.delattr(owner, name, raising=False)
    assert not hasattr(owner, name)


def test_everything_is_imported_without_what_windows_lacks() -> None:
    code = """
    import os, signal, sys
    import torch, filelock  # whose own business it is
    for name in [name for name in sys.modules if name.startswith("farfield")]:
        del sys.modules[name]
    for name in ("resource", "fcntl", "pwd", "grp", "termios"):
        sys.modules[name] = None
    for owner, names in (
        (os, ("sched_getaffinity", "O_NOFOLLOW")),
        (signal, ("SIGKILL", "pthread_sigmask")),
    ):
        for name in names:
            if hasattr(owner, name):
                delattr(owner, name)
    import farfield.cli, farfield.execution, farfield.explorer, farfield.suites
    """
    status, _, err = run_forked(textwrap.dedent(code))
    assert (status, err) == (0, "")


def test_peak_memory_is_unknown_without_the_module_resource(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if "resource" in sys.modules:
        assert (peak_memory() or 0) > 1 << 20
    monkeypatch.setitem(sys.modules, "resource", None)
    assert peak_memory() is None


def test_memory_is_limited_where_the_system_says_what_is_held(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    resource = pytest.importorskip("resource")
    limits: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "setrlimit", lambda kind, limit: limits.append(limit))
    monkeypatch.setattr(_system, "PROC", tmp_path)
    limit_memory(5000)
    assert limits == []  # as on a Mac
    (tmp_path / "self").mkdir()
    (tmp_path / "self" / "status").write_text("Name:\tpython\nVmData:\t   300 kB\n")
    for hard in (resource.RLIM_INFINITY, 10**6, 10**5):
        monkeypatch.setattr(resource, "getrlimit", lambda kind, hard=hard: (0, hard))
        limit_memory(5000)
    more = 300 * 1024 + 5000
    assert limits == [(more, resource.RLIM_INFINITY), (more, 10**6), (10**5, 10**5)]


def test_cores_are_those_of_the_machine_without_affinity(monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert num_cores() == 7


def test_interrupts_are_not_held_without_masks(monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, signal, "pthread_sigmask")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may ignore it
    try:
        with pytest.raises(KeyboardInterrupt), held_interrupts():
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


def test_the_end_of_a_worker_is_described_without_sigkill(monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, signal, "SIGKILL")
    assert [_processes._advice(code) for code in (0, 1, -9)] == ["", "", ""]
    assert [_processes._status(code) for code in (1, -9)] == ["exit status 1", "signal 9"]


def test_freed_memory_is_not_kept_without_glibc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_executors, "GLIBC", "no_such_library.so")
    assert not _executors.keep_freed_memory()


def test_processor_and_file_system_have_names_without_proc(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_system, "PROC", tmp_path)
    monkeypatch.setattr(_environment.platform, "processor", lambda: "arm")
    assert _environment._processor.__wrapped__() == "arm"
    assert _locks._file_system(tmp_path / "lock") == f"of {tmp_path}"


def test_a_lock_is_no_link_without_the_flag_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide(monkeypatch, os, "O_NOFOLLOW")
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "lock").symlink_to(tmp_path / "mine")
    with _locks.hold(tmp_path / "lock", "a run"):
        assert (tmp_path / "mine").read_text() == "mine"
    assert not (tmp_path / "lock").exists()


class Locked(io.FileIO):
    """A file as Windows shows it to others while its first byte is locked."""

    def read(self, size: int | None = -1) -> bytes:
        if self.tell() == 0:
            raise PermissionError(13, "Permission denied")
        return super().read(size)


def test_the_holder_of_a_lock_that_cannot_be_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(tmp_path).lock("k", 3):
        monkeypatch.setattr(Path, "open", lambda path, mode, buffering: Locked(path))
        with (
            pytest.raises(BusyError, match=f"process {os.getpid()} is at seed 3"),
            Store(tmp_path).lock("k", 3),
        ):
            pass


def test_a_lock_that_cannot_be_removed_while_it_is_open_is_removed_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unlink, is_open = Path.unlink, list[bool]()

    def refuse(path: Path) -> None:
        try:
            is_open.append(os.path.samestat(path.stat(), os.fstat(lock.descriptor)))
        except OSError:
            is_open.append(False)
        if is_open[-1]:
            raise PermissionError(13, "Permission denied")
        unlink(path)

    with _locks.hold(tmp_path / "lock", "a run") as lock:
        monkeypatch.setattr(Path, "unlink", refuse)
    assert is_open == [True, False]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("tries", [3, None])
def test_a_file_that_a_reader_has_open_is_replaced_when_it_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tries: int | None
) -> None:
    """After three tries, or never: then the error comes, and after `PATIENCE`."""
    old, new, clock, count = tmp_path / "old", tmp_path / "new", [0.0], [0]
    old.write_text("old")
    new.write_text("new")
    replace = os.replace

    def refuse(source: Path, target: Path) -> None:
        count[0] += 1
        if tries is None or count[0] < tries:
            raise PermissionError(13, "Permission denied")
        replace(source, target)

    def sleep(seconds: float) -> None:
        clock[0] += seconds

    monkeypatch.setattr(os, "replace", refuse)
    monkeypatch.setattr(_system.time, "sleep", sleep)
    monkeypatch.setattr(_system.time, "monotonic", lambda: clock[0])
    if tries is None:
        with pytest.raises(PermissionError):
            replace_file(new, old)
        assert PATIENCE < clock[0] < 2 * PATIENCE
    else:
        replace_file(new, old)
        assert (count[0], old.read_text()) == (tries, "new")
