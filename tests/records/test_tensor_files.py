"""Files of tensors that say other than they hold."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import torch

from farfield.records import StoreError
from farfield.records import _files as files
from farfield.records.internal import read_tensors, write_tensors


def tensor(start: int, end: int) -> dict[str, object]:
    return {"dtype": "U8", "shape": [end - start], "data_offsets": [start, end]}


def file(header: object, body: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


TWICE = b'{"a":%b,"a":%b}' % ((json.dumps(tensor(0, 4)).encode(),) * 2)
WRONG = {
    "many": (file({f"{n}": tensor(0, 0) for n in range(10_001)}), "at most 10,000 tensors, got 10"),
    "twice": (file(TWICE, bytes(4)), "names must be unique"),
    "overlapping": (file({"a": tensor(0, 4), "b": tensor(0, 4)}, bytes(4)), "invalid offset"),
    "far": (file({"a": tensor(0, 10**12)}), "it must be of 1,000,000,000,0.. bytes, got"),
    "short": (file({"a": tensor(0, 4)}, bytes(3)), "it must be of .* bytes, got"),
    "long": (file({"a": tensor(0, 4)}, bytes(5)), "it must be of .* bytes, got"),
    "deep": (file(b'{"a":' + b"[" * 1_000_000), "it must hold names and shapes"),
    "numbers": (file({"a": 1, "b": [2]}), "it must hold names and shapes"),
    "list": (file([1, 2]), "it must hold names and shapes"),
    "endless": (file({"a": {"data_offsets": [0, float("inf")]}}), "it must hold names and shapes"),
    "negative": (file({"a": {**tensor(0, 4), "shape": [-4]}}, bytes(4)), "invalid value"),
    "escape": (file({"a": {**tensor(0, 4), "dtype": "\x1b[2J\u202e"}}, bytes(4)), r"\\x1b\[2J"),
    "no text": (file(b"\xff\xfe{}"), "cannot read"),
    "a note": (file({"__metadata__": 3}), "cannot read"),
    **{
        f"the order {order[:9]}": (
            file({"__metadata__": {"farfield": f"note\0{order}"}, "a": tensor(0, 4)}, bytes(4)),
            "it must hold the order of its 1 tensors",
        )
        for order in ("", "[]", "[1]", "[0, 0]", '["a"]', '{"0": 0}', "0", "[" * 1_000_000)
    },
}


@pytest.mark.parametrize("content, message", WRONG.values(), ids=WRONG)
def test_other_than_is_held_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "w").write_bytes(content)
    with pytest.raises(StoreError, match=rf"cannot read .*w: .*{message}|{message}") as told:
        read_tensors(tmp_path / "w")
    assert str(told.value).isprintable()


def test_a_file_that_is_longer_than_it_says_is_not_read(tmp_path: Path) -> None:
    write_tensors(tmp_path / "w", {"a": torch.zeros(4)})
    os.truncate(tmp_path / "w", 10**8)
    with pytest.raises(StoreError, match=r"w: it must be of \d+ bytes, got 100,000,000"):
        read_tensors(tmp_path / "w")


def test_no_more_is_written_than_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_TENSORS", 2)
    tensors = {name: torch.zeros(1) for name in "abc"}
    with pytest.raises(StoreError, match=r"cannot write .*w: it must hold at most 2 tensors"):
        write_tensors(tmp_path / "w", tensors)
    assert [*tmp_path.iterdir()] == []
    tensors.pop("c")
    write_tensors(tmp_path / "w", tensors, "note")
    assert read_tensors(tmp_path / "w")[1] == "note"


def test_tensors_come_back_in_their_order(tmp_path: Path) -> None:
    names = ["second.weight", "a", "é", "Z", "first.bias", "a_b", "0"]
    kinds = [torch.float32, torch.int64, torch.float64, torch.bool]
    tensors = {name: torch.ones(3).to(kinds[k % 4]) for k, name in enumerate(names)}
    digest = write_tensors(tmp_path / "w", tensors, '{"a": 1}')
    for _ in range(5):
        found, note = read_tensors(tmp_path / "w", digest)
        assert [*found] == names
        assert note == '{"a": 1}'
    assert write_tensors(tmp_path / "again", tensors, '{"a": 1}') == digest
    for name, tensor in tensors.items():
        assert torch.equal(found[name], tensor)


def test_older_files_hold_no_order_and_give_that_of_the_names(tmp_path: Path) -> None:
    header = {"__metadata__": {"farfield": "note"}, "b": tensor(0, 4), "a": tensor(4, 8)}
    (tmp_path / "w").write_bytes(file(header, bytes(8)))
    found, note = read_tensors(tmp_path / "w")
    assert ([*found], note) == (["a", "b"], "note")
