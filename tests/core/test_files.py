"""Where files may be written, what lines carry, and how many cores there are."""

from __future__ import annotations

import math
import os
import socket
from pathlib import Path

import msgspec
import pytest

from farfield.core.internal import (
    expand_home,
    from_line,
    num_cores,
    read_regular,
    to_line,
    writable_place,
)


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """Something to carry."""

    score: float = 0.0
    sizes: tuple[int, ...] = ()


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf, 0.1])
def test_a_line_carries_numbers_that_are_not_finite(score: float) -> None:
    line = to_line(Message(score=score, sizes=(1, 2)))
    assert "\n" not in line
    found = from_line(line.encode(), Message)
    assert found.score == score or (math.isnan(found.score) and math.isnan(score))
    assert found.sizes == (1, 2)


@pytest.mark.parametrize("line", ["", "{", '{"score": "x"}', "[" * 100_000])
def test_what_is_no_such_value_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        from_line(line, Message)


def test_a_link_leads_to_its_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"1")
    (tmp_path / "link").symlink_to("file")
    assert writable_place(tmp_path / "link") == (tmp_path / "file").resolve()
    assert writable_place(tmp_path / "new") == (tmp_path / "new").resolve()


def test_a_pipe_is_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="must be a regular file, not a device, pipe or socket"):
        writable_place(tmp_path / "pipe")


def test_links_in_a_circle_lead_nowhere(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="symbolic links"):
        (tmp_path / "a").read_bytes()
    with pytest.raises(OSError, match="symbolic links"):
        writable_place(tmp_path / "a").write_bytes(b"")


def test_cores_are_those_that_the_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {3, 5, 7}, raising=False)
    assert num_cores() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert num_cores() == 1


def test_a_tilde_is_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert expand_home("~/runs") == tmp_path / "runs"
    assert expand_home(Path("~")) == tmp_path
    assert expand_home("runs/~") == Path("runs/~")
    assert writable_place(Path("~/new")) == (tmp_path / "new").resolve()
    with pytest.raises(ValueError, match=r"home folder that exists, got '~nobody\\x1b/x'"):
        expand_home("~nobody\x1b/x")


@pytest.fixture
def special(tmp_path: Path) -> dict[str, Path]:
    """What is no regular file, by kind."""
    paths = {kind: tmp_path / kind for kind in ("pipe", "socket", "folder", "absent", "circle")}
    os.mkfifo(paths["pipe"])
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind(os.path.relpath(paths["socket"]))
    paths["folder"].mkdir()
    (tmp_path / "dangling").symlink_to("absent")
    paths["circle"].symlink_to("circle")
    return {**paths, "dangling": tmp_path / "dangling", "device": Path("/dev/zero")}


@pytest.mark.parametrize(
    "kind, message",
    [
        *((kind, "must be a regular file") for kind in ("pipe", "socket", "folder", "device")),
        ("absent", "No such file"),
        ("dangling", "No such file"),
        ("circle", "symbolic links"),
    ],
)
def test_only_regular_files_are_read(special: dict[str, Path], kind: str, message: str) -> None:
    with pytest.raises(OSError, match=message):
        read_regular(special[kind], 10)


def test_no_file_is_read_that_is_larger_than_allowed(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"12345")
    assert read_regular(tmp_path / "file", 5) == b"12345"
    with pytest.raises(OSError, match="must be of at most 4 bytes, got 5"):
        read_regular(tmp_path / "file", 4)
    with pytest.raises(OSError, match="null"):
        read_regular(tmp_path / "fi\0le", 5)
