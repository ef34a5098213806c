"""One process at a run, whatever happens to its locks."""

from __future__ import annotations

import errno
import os
import shutil
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch

from each import some
from farfield.records import Record, Score, Store, StoreError
from farfield.records.internal import BusyError
from processes import Forked, run_forked

RECORD = Record(
    key="k",
    experiment={},
    seed=3,
    steps=1,
    scores=(Score(step=1, regime="training", metric="loss", value=0.5, count=1),),
    seconds=0.0,
    environment={},
)
WEIGHTS = {"w": torch.ones(2)}

HOLDER = """
import sys
from farfield.records import Store
from processes import Forked, run_forked
with Store(sys.argv[1]).lock("k", 3):
    print("held", flush=True)
    sys.stdin.readline()
"""


@contextmanager
def another_process(folder: Path) -> Iterator[Forked]:
    """A process that holds a run until the context ends."""
    process = Forked(HOLDER, folder)
    assert process.stdout.readline() == "held\n"
    try:
        yield process
    finally:
        process.finish()


def test_two_processes_cannot_hold_one_run(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.lock("k", 3):
        message = f"process {os.getpid()} is at seed 3 of experiment k"
        with pytest.raises(BusyError, match=message), Store(tmp_path).lock("k", 3):
            pass
        with Store(tmp_path).lock("k", 4):
            pass
    with store.lock("k", 3):
        pass
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and "sql" not in path.name]


@pytest.mark.parametrize(
    "removed", some([["locks"]], [[], ["locks"], ["weights"], ["checkpoints"]])
)
def test_a_removed_folder_lets_no_second_process_in(tmp_path: Path, removed: list[str]) -> None:
    store = Store(tmp_path)
    with another_process(tmp_path) as process:
        for name in removed:
            shutil.rmtree(tmp_path / name, ignore_errors=True)
        message = f"process {process.process.pid} is at seed 3"
        for _ in range(2):  # the first try leaves what the second meets
            with pytest.raises(BusyError, match=message), store.lock("k", 3):
                pass
    with store.lock("k", 3):
        pass


def test_a_killed_process_holds_nothing(tmp_path: Path) -> None:
    with another_process(tmp_path) as process:
        process.kill()
        with Store(tmp_path).lock("k", 3):
            pass


def test_who_lost_every_lock_writes_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.lock("k", 3):
        shutil.rmtree(tmp_path / "locks")
        shutil.rmtree(tmp_path / "weights")
        with Store(tmp_path).lock("k", 3):
            with pytest.raises(StoreError, match=r"the locks of seed 3 .* were removed"):
                store.write(RECORD, WEIGHTS)
            assert store.records("k") == []
        assert not (tmp_path / "locks" / "k-3").exists()
    with store.lock("k", 3):
        store.write(RECORD, WEIGHTS)
    assert store.is_complete("k", 3)


def test_who_lost_one_lock_writes(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.lock("k", 3):
        shutil.rmtree(tmp_path / "locks")
        store.write(RECORD, WEIGHTS)
    assert store.is_complete("k", 3)


@pytest.mark.parametrize(
    "number", [errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EINVAL, errno.EIO, errno.EBADF]
)
def test_a_file_system_without_locks_is_said_to_be_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("fcntl.flock", fail)
    said = rf"cannot lock {tmp_path}/locks/k-3: {os.strerror(number)}; the file system \w+ at /"
    with pytest.raises(StoreError, match=said), Store(tmp_path).lock("k", 3):
        pass


def test_a_full_disk_at_a_claim_names_the_lock(tmp_path: Path) -> None:
    """A limit on the size of files stands in for a full disk; the system answers alike."""
    Store(tmp_path)
    code = textwrap.dedent(
        """
        import resource, signal, sys
        from farfield.records import Store, StoreError
        store = Store(sys.argv[1])
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        try:
            with store.lock("k", 3):
                print("held")
        except StoreError as error:
            sys.exit(str(error))
        """
    )
    lock = tmp_path / "locks" / "k-3"
    assert run_forked(code, tmp_path) == (1, "", f"cannot write {lock}: File too large\n")
    with Store(tmp_path).lock("k", 3):
        pass
