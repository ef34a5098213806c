"""Data sets that are read from files: found, judged by digests, fetched whole or not at all."""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
import io
import lzma
import os
import re
import tarfile
from pathlib import Path

import numpy as np
import pytest

from farfield.core.internal import UnknownNameError, cache_folder
from farfield.tasks import DATA_SETS, fetch
from farfield.tasks._files import _data_sets
from farfield.tasks._files._data_sets import cached_array
from farfield.tasks.internal import DataFile, DataSet

ARRAY = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)


def idx(array: np.ndarray) -> bytes:
    head = bytes([0, 0, 8, array.ndim]) + b"".join(n.to_bytes(4, "big") for n in array.shape)
    return head + array.tobytes()


def described(name: str, content: bytes, shape: tuple[int, ...]) -> DataFile:
    digest = hashlib.sha256(content).hexdigest()
    return DataFile(name=name, sha256=digest, size=len(content), shape=shape)


WHOLE = {"a.gz": gzip.compress(idx(ARRAY), mtime=0), "b.gz": gzip.compress(idx(ARRAY[0]), mtime=0)}
TINY = DataSet(
    name="tiny",
    files=(described("a.gz", WHOLE["a.gz"], (2, 3, 4)), described("b.gz", WHOLE["b.gz"], (3, 4))),
    mirrors=(),
    licence="none",
)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, no data folder, and the tiny data set among those known."""
    monkeypatch.delenv("FARFIELD_DATA", raising=False)
    monkeypatch.setenv("FARFIELD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setitem(DATA_SETS, "tiny", TINY)
    return tmp_path / "cache" / "tiny"


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    """A folder with the published files."""
    return written(tmp_path / "mirror", WHOLE)


def written(folder: Path, files: dict[str, bytes]) -> Path:
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def test_the_cache_is_where_the_user_says(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FARFIELD_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert cache_folder() == Path.home() / ".cache" / "farfield"
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert cache_folder() == Path("/x/farfield")
    monkeypatch.setenv("FARFIELD_CACHE", "/y")
    assert cache_folder() == Path("/y")


def test_without_a_home_the_data_folder_serves_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("FARFIELD_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    monkeypatch.setenv("FARFIELD_DATA", str(tmp_path))
    assert _data_sets.folders() == (tmp_path,)
    monkeypatch.delenv("FARFIELD_DATA")
    with pytest.raises(OSError, match="FARFIELD_CACHE must name a folder"):
        _data_sets.folders()


def test_an_array_is_read_from_the_data_folder_before_the_cache(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not TINY.is_at_hand()
    written(cache, WHOLE)
    assert TINY.is_at_hand()
    assert np.array_equal(TINY.read("a.gz"), ARRAY)
    assert np.array_equal(TINY.read("b.gz"), ARRAY[0])
    monkeypatch.setenv("FARFIELD_DATA", str(tmp_path / "data"))
    assert TINY.is_at_hand()
    named = written(tmp_path / "data" / "tiny", {"a.gz": b"other"})
    with pytest.raises(ValueError, match=f"{named / 'a.gz'} must be the published file"):
        TINY.read("a.gz")
    assert np.array_equal(TINY.read("b.gz"), ARRAY[0])


def test_a_file_that_is_not_at_hand_says_where_it_should_be(cache: Path) -> None:
    with pytest.raises(ValueError, match=f"not in {cache}: run `farfield fetch tiny`, or set FAR"):
        TINY.read("a.gz")
    with pytest.raises(UnknownNameError, match=r"unknown file 'c\.gz'"):
        TINY.read("c.gz")


@pytest.mark.parametrize(
    "content", [b"", WHOLE["a.gz"][:-1], WHOLE["a.gz"] + b"\0", b"x" + WHOLE["a.gz"][1:]]
)
def test_another_file_is_refused_with_both_digests(cache: Path, content: bytes) -> None:
    written(cache, {"a.gz": content})
    with pytest.raises(ValueError, match="must be the published file") as error:
        TINY.read("a.gz")
    said = str(error.value)
    assert str(cache / "a.gz") in said
    assert TINY.files[0].sha256 in said
    assert hashlib.sha256(content).hexdigest() in said


@pytest.mark.parametrize(
    ("unpacked", "packed"),
    [
        (idx(ARRAY)[:-1], True),
        (idx(ARRAY) + b"\0" * 10**6, True),
        (idx(ARRAY.reshape(2, 4, 3)), True),
        (b"\0\0\x09\x03" + idx(ARRAY)[4:], True),
        (b"", True),
        (idx(ARRAY), False),
    ],
)
def test_a_published_file_that_holds_no_such_array_is_refused(
    cache: Path, unpacked: bytes, packed: bool
) -> None:
    content = gzip.compress(unpacked, mtime=0) if packed else unpacked
    odd = DataSet(
        name="tiny", files=(described("a.gz", content, (2, 3, 4)),), mirrors=(), licence="none"
    )
    written(cache, {"a.gz": content})
    message = "must (hold an IDX array|unpack to at most)" if packed else "must be a whole gzip"
    with pytest.raises(ValueError, match=message):
        odd.read("a.gz")


def test_no_more_is_unpacked_than_there_should_be(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    class Watched(gzip.GzipFile):
        def read(self, size: int = -1) -> bytes:
            asked.append(size)
            return super().read(size)

    monkeypatch.setattr(_data_sets, "GzipFile", Watched)
    written(cache, WHOLE)
    TINY.read("a.gz")
    assert asked == [len(idx(ARRAY)) + 1]


def test_fetching_fills_the_cache_once(cache: Path, mirror: Path) -> None:
    found = fetch("tiny", mirrors=[mirror.as_uri()])
    assert found == {cache / name: f"{mirror.as_uri()}/{name}" for name in WHOLE}
    assert {path.name: path.read_bytes() for path in cache.iterdir()} == WHOLE
    assert np.array_equal(TINY.read("a.gz"), ARRAY)
    assert fetch("tiny", mirrors=[mirror.as_uri()]) == dict.fromkeys(found, "")
    (cache / "a.gz").write_bytes(b"x" * len(WHOLE["a.gz"]))
    (cache / "b.gz").unlink()
    assert fetch("tiny", mirrors=[mirror.as_uri() + "/"]) == found
    assert {path.name: path.read_bytes() for path in cache.iterdir()} == WHOLE


def test_a_wrong_mirror_is_passed_over(cache: Path, tmp_path: Path, mirror: Path) -> None:
    wrong = written(tmp_path / "wrong", {"a.gz": b"wrong", "b.gz": WHOLE["b.gz"]})
    found = fetch("tiny", mirrors=[(tmp_path / "absent").as_uri(), wrong.as_uri(), mirror.as_uri()])
    assert list(found.values()) == [f"{mirror.as_uri()}/a.gz", f"{wrong.as_uri()}/b.gz"]


def test_without_a_mirror_that_has_it_nothing_is_written(cache: Path, tmp_path: Path) -> None:
    wrong = written(tmp_path / "wrong", {"a.gz": WHOLE["a.gz"] + b"more", "b.gz": WHOLE["b.gz"]})
    with pytest.raises(OSError, match=r"a\.gz must come from a mirror, none has it") as error:
        fetch("tiny", mirrors=[(tmp_path / "absent").as_uri(), wrong.as_uri()])
    said = str(error.value)
    assert (tmp_path / "absent").as_uri() in said
    assert "must be the published file" in said
    assert not cache.exists()


def test_a_file_that_cannot_be_put_in_place_leaves_nothing(
    cache: Path, mirror: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device"):
        fetch("tiny", mirrors=[mirror.as_uri()])
    assert list(cache.iterdir()) == []


BARE = {"folder/a.bin": bytes(range(24)), "folder/b.bin": b"other"}


def packed_in(contents: dict[str, bytes]) -> bytes:
    """A tar archive with these files, and another one."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for name, data in {"readme": b"text", **contents}.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return content.getvalue()


ARCHIVE = packed_in(BARE)
IN_ARCHIVE = DataSet(
    name="tiny",
    files=tuple(described(name, content, (len(content),)) for name, content in BARE.items()),
    mirrors=(),
    licence="none",
    archive=described("all.tar.gz", ARCHIVE, ()),
    pickles=("folder-py",),
)


def test_a_file_is_read_as_it_is_or_compressed_or_from_the_archive(cache: Path) -> None:
    name, other = BARE
    with pytest.raises(
        ValueError, match=r"a\.bin of tiny must exist, .* run `farfield fetch tiny`"
    ):
        IN_ARCHIVE.contents(name, other)
    written(cache, {"all.tar.gz": ARCHIVE})
    assert IN_ARCHIVE.is_at_hand()
    assert IN_ARCHIVE.contents(other, name) == [BARE[other], BARE[name]]
    (cache / "folder").mkdir()
    (cache / f"{name}.xz").write_bytes(lzma.compress(BARE[name]))
    assert IN_ARCHIVE.find(name) == cache / f"{name}.xz"
    assert IN_ARCHIVE.contents(name, other) == [*BARE.values()]
    (cache / name).write_bytes(BARE[name])
    assert IN_ARCHIVE.find(name) == cache / name
    assert IN_ARCHIVE.contents(name, other) == [*BARE.values()]
    (cache / "all.tar.gz").unlink()
    assert IN_ARCHIVE.is_at_hand(name)
    assert not IN_ARCHIVE.is_at_hand()


@pytest.mark.parametrize("content", [bytes(24), bytes(23), b"", bytes(10**7)])
def test_what_a_compressed_file_holds_is_judged(cache: Path, content: bytes) -> None:
    name, _ = BARE
    (cache / "folder").mkdir(parents=True)
    (cache / f"{name}.xz").write_bytes(lzma.compress(content))
    said = "must unpack to at most 24 bytes" if len(content) > 24 else "must be the published file"
    with pytest.raises(ValueError, match=said):
        IN_ARCHIVE.contents(name)


def test_another_archive_is_never_opened(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(cache, {"all.tar.gz": ARCHIVE[:-1] + bytes([ARCHIVE[-1] ^ 1])})
    monkeypatch.setattr(_data_sets, "tar_files", None)
    with pytest.raises(ValueError, match=r"all\.tar\.gz must be the published file"):
        IN_ARCHIVE.contents(*BARE)


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        ({"../a.bin": BARE["folder/a.bin"]}, "must be the published file"),
        ({"folder/a.bin": bytes(24), "folder/b.bin": b"other"}, "must be the published file"),
        ({**BARE, "bomb": bytes(10**7)}, "must unpack to at most"),
    ],
)
def test_an_archive_that_holds_other_files_is_refused(
    cache: Path, contents: dict[str, bytes], message: str
) -> None:
    content = packed_in(contents)
    odd = dataclasses.replace(IN_ARCHIVE, archive=described("all.tar.gz", content, ()))
    written(cache, {"all.tar.gz": content})
    with pytest.raises(ValueError, match=message):
        odd.contents(*BARE)
    assert [path.name for path in cache.iterdir()] == ["all.tar.gz"]


def test_pickles_are_named_and_never_loaded(cache: Path) -> None:
    (cache / "folder-py").mkdir(parents=True)
    said = rf"a\.bin of tiny must exist.*; {cache / 'folder-py'} holds pickles, which are never lo"
    with pytest.raises(ValueError, match=said):
        IN_ARCHIVE.contents(*BARE)


def test_an_archive_is_fetched_in_place_of_its_files(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(DATA_SETS, "tiny", IN_ARCHIVE)
    mirror = written(tmp_path / "mirror", {"all.tar.gz": ARCHIVE})
    found = fetch("tiny", mirrors=[mirror.as_uri()])
    assert found == {cache / "all.tar.gz": f"{mirror.as_uri()}/all.tar.gz"}
    assert IN_ARCHIVE.contents(*BARE) == [*BARE.values()]
    assert fetch("tiny", mirrors=[mirror.as_uri()]) == {cache / "all.tar.gz": ""}


def test_an_array_is_made_once_and_again_where_it_is_damaged(cache: Path) -> None:
    made = []

    def make() -> np.ndarray:
        made.append(len(made))
        return np.arange(6.0).reshape(2, 3) + len(made)

    def ask(name: str = "name", shape: tuple[int, ...] = (2, 3)) -> float:
        return float(cached_array(name, shape, np.dtype(np.float64), make)[0, 0])

    assert [ask(), ask(), ask("other"), ask()] == [1, 1, 2, 1]
    (path,) = cache.parent.glob("arrays/name")
    assert sorted(file.name for file in path.parent.iterdir()) == ["name", "other"]
    content = path.read_bytes()
    for damaged in (content[:-1], content + b"x", bytes([content[0] ^ 1]) + content[1:], b""):
        before = len(made)
        path.write_bytes(damaged)
        assert [ask(), ask()] == [before + 1] * 2
    assert ask(shape=(3, 2)) > before


def test_a_folder_that_cannot_be_written_keeps_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("FARFIELD_CACHE", str(tmp_path / "file"))
    dtype = np.dtype(np.uint8)
    for number in (1, 2):
        found = cached_array("name", (1,), dtype, lambda: np.array([number], dtype))  # noqa: B023
        assert found == number
    assert (tmp_path / "file").read_bytes() == b""


def test_names_and_addresses_that_are_none_are_refused(cache: Path) -> None:
    with pytest.raises(UnknownNameError, match="unknown data set 'mnits'; did you mean 'mnist'"):
        fetch("mnits")
    for address in ("/data/mnist", "ftp://somewhere/mnist"):
        with pytest.raises(ValueError, match="mirrors must begin with one of https:, http:, file:"):
            fetch("tiny", mirrors=[address])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((None, ()), "name must be text, got None"),
        ((["mnist"], ()), "name must be text, got ['mnist']"),
        (("mnist", None), "mirrors must be a Sequence, got None"),
        (("mnist", "https://x"), "mirrors must be a Sequence, got 'https://x'"),
        (("mnist", [3]), "mirrors[0] must be text, got 3"),
        (("mnist", ["https://"]), "mirrors must name a host after https://, got 'https://'"),
        (("mnist", ["http://x:abc/"]), "mirrors must be addresses: Port"),
        (("mnist", ["http://a b/"]), "mirrors must be addresses, without blanks"),
        (("mnist", ["file:///a\0b"]), "mirrors must be addresses, without blanks"),
    ],
)
def test_arguments_of_fetching_are_judged_before_anything_is_made(
    cache: Path, arguments: tuple, said: str
) -> None:
    name, mirrors = arguments
    with pytest.raises(ValueError, match=f"^{re.escape(said)}"):
        fetch(name, mirrors=mirrors)
    assert not cache.exists()


def test_a_cache_that_cannot_be_made_is_named_before_anything_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("FARFIELD_CACHE", str(tmp_path / "file"))
    with pytest.raises(OSError, match=r"cannot make .*/file/mnist: .*/file is no folder; FARFIELD"):
        fetch("mnist", mirrors=[tmp_path.as_uri()])


def test_what_is_published_says_so_in_full() -> None:
    for name, data_set in DATA_SETS.items():
        assert data_set.name == name
        assert data_set.licence
        secure = all(mirror.startswith("https://") for mirror in data_set.mirrors)
        assert secure or name == "svhn"  # whose publisher has no other; the digest judges
        assert all(len(file.sha256) == 64 for file in data_set.files)


def test_the_files_of_the_data_folder_are_those_described(data_folder: Path) -> None:
    for data_set in DATA_SETS.values():
        if data_set.is_at_hand():
            for file in data_set.files:
                if (path := data_set.find(file.name)).name == file.name:
                    assert path.stat().st_size == file.size
                if file.name.endswith(".gz"):
                    assert data_set.read(file.name).shape == file.shape
