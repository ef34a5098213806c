"""Where files may be written, what lines carry, and how many cores there are."""

from __future__ import annotations

import math
import os
from pathlib import Path

import msgspec
import pytest

from farfield.core import from_line, num_cores, to_line, writable_place


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
