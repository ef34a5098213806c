"""Digests of the files that tasks read, and words on what has changed since."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from farfield import _files
from farfield._files import TICK, file_stamp, is_settled
from farfield.tasks import (
    RAVEN,
    Digits,
    PublishedMatrices,
    PublishedVisualAnalogies,
    SameDifferent,
    SuperResolution,
    WordText,
)
from farfield.tasks._files import _fetch
from farfield.tasks.internal import ReadsFiles, changed_files, file_digests

FOLDERS: dict[str, tuple[Callable[[str], Any], tuple[str, ...]]] = {
    "texts": (lambda folder: WordText(folder=folder), ("train.txt", "valid.txt", "test.txt")),
    "pictures": (
        lambda folder: SuperResolution(training=f"{folder}/mine", tests=(f"{folder}/other",)),
        ("mine/a.png", "mine/b.png", "other/a.png"),
    ),
    "photographs": (lambda folder: Digits(photographs=folder), ("a.jpg", "b.jpeg")),
    "raven": (
        lambda folder: RAVEN(folder=folder, configurations=("center_single",)),
        tuple(f"raven/center_single/RAVEN_0_{split}.npz" for split in ("train", "val", "test")),
    ),
    "matrices": (
        lambda folder: PublishedMatrices(folder=folder),
        tuple(f"pgm/neutral/PGM_neutral_{split}_0.npz" for split in ("train", "val", "test")),
    ),
    "analogies": (
        lambda folder: PublishedVisualAnalogies(folder=folder, archive="interpolation"),
        tuple(f"analogies/analogy_interpolation_{split}_lbc_0.npz" for split in ("train", "test")),
    ),
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """A task of the user's that reads every file of a folder."""

    folder: Path

    def input_files(self) -> dict[str, Path]:
        return {f"{p.parent.name}/{p.name}": p for p in self.folder.glob("*/*")}


@pytest.mark.parametrize("name", FOLDERS)
def test_every_file_that_is_read_has_the_digest_of_its_bytes(tmp_path: Path, name: str) -> None:
    make, files = FOLDERS[name]
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_bytes(file.encode())
    task = make(str(tmp_path))
    found = file_digests(task)
    assert sorted(found.values()) == sorted(hashlib.sha256(f.encode()).hexdigest() for f in files)
    assert not changed_files(task, found)

    last = tmp_path / files[-1]
    before = last.stat()
    last.write_bytes(last.read_bytes()[::-1])
    os.utime(last, ns=(before.st_atime_ns, before.st_mtime_ns))
    [words] = changed_files(task, found)
    assert words.endswith(f"{last.name} has other content")
    last.unlink()
    if name not in ("raven", "matrices", "analogies"):  # of which a folder must have all sets
        [words] = changed_files(task, found)
        assert words.endswith(f"{last.name} is missing")


def test_a_file_that_was_added_is_named(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "a").write_bytes(b"a")
    task = Numbers(folder=tmp_path)
    found = file_digests(task)
    (tmp_path / "mine" / "b").write_bytes(b"b")
    assert changed_files(task, found) == ["mine/b is new"]


def test_files_that_are_known_or_on_another_machine_are_not_compared(tmp_path: Path) -> None:
    assert file_digests(SameDifferent()) == {}
    assert file_digests(Digits()) == {}  # whose photographs are the published ones
    assert file_digests(WordText()) == {}
    recorded = {"train.txt": "0" * 64}
    assert not changed_files(WordText(folder=str(tmp_path)), recorded)
    assert not changed_files(RAVEN(folder=str(tmp_path / "none")), recorded)


def test_of_many_files_each_folder_has_a_digest_and_none_is_read_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_fetch, "MOST_NAMED", 3)
    monkeypatch.setenv("FARFIELD_CACHE", str(tmp_path / "cache"))
    files = [tmp_path / "data" / folder / file for folder in "ab" for file in "xy"]
    for number, path in enumerate(files):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes([number]))
        os.utime(path, (0, 0))
    task = Numbers(folder=tmp_path / "data")
    assert isinstance(task, ReadsFiles)
    monkeypatch.setattr(_fetch, "is_settled", lambda _: True)
    found = file_digests(task)
    of_a = hashlib.sha256()
    for name, path in (("a/x", files[0]), ("a/y", files[1])):
        of_a.update(name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).hexdigest().encode())
    assert found.keys() == {"a/*", "b/*"}
    assert found["a/*"] == of_a.hexdigest()

    read = list[Path]()
    digest = _fetch.file_digest
    monkeypatch.setattr(_fetch, "file_digest", lambda path: read.append(path) or digest(path))
    assert file_digests(task) == found
    assert not read
    files[2].write_bytes(b"other")
    assert changed_files(task, found) == ["b/* has other content (changed last: b/x)"]
    assert {*read} == {files[2]}


def test_a_digest_is_kept_until_the_file_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "numbers"
    path.write_bytes(b"one")
    opened = list[Path]()
    open_regular = _files.open_regular
    monkeypatch.setattr(
        _files, "open_regular", lambda p, most: opened.append(p) or open_regular(p, most)
    )
    for _ in range(2):  # so fresh a file may change again within a tick of the clock
        assert _files.file_digest(path) == hashlib.sha256(b"one").hexdigest()
    assert len(opened) == 2
    monkeypatch.setattr(_files, "is_settled", lambda _: True)
    for _ in range(2):
        assert _files.file_digest(path) == hashlib.sha256(b"one").hexdigest()
    assert len(opened) == 3
    path.write_bytes(b"two")
    assert _files.file_digest(path) == hashlib.sha256(b"two").hexdigest()


def test_a_file_is_settled_after_a_tick(tmp_path: Path) -> None:
    path = tmp_path / "numbers"
    path.write_bytes(b"one")
    written, changed, *_ = file_stamp(path)
    assert not is_settled((0, changed))
    assert not is_settled((written, 0))
    assert is_settled((written - TICK, changed - TICK))
