"""Unpacking of files that may be cut short, made up or far larger than they say."""

from __future__ import annotations

import gzip
import io
import lzma
import tarfile

import pytest

from farfield.tasks._files import _data_sets
from farfield.tasks._files._data_sets import tar_files, unpack_gzip, unpack_xz

CONTENT = bytes(range(256)) * 4
BOMB = bytes(10**7)
PACKINGS = [(unpack_xz, lzma.compress), (unpack_gzip, gzip.compress)]
both = pytest.mark.parametrize(("unpack", "pack"), PACKINGS)


@both
def test_what_was_packed_comes_out(unpack, pack) -> None:
    for content in (CONTENT, b""):
        assert unpack("file", pack(content), len(content)) == content
    assert unpack("file", pack(CONTENT), 10**6) == CONTENT


@both
def test_no_more_is_unpacked_than_there_may_be(unpack, pack) -> None:
    for content, most in ((CONTENT, len(CONTENT) - 1), (BOMB, 1_000), (BOMB, 0)):
        with pytest.raises(ValueError, match=f"file must unpack to at most {most:,} bytes"):
            unpack("file", pack(content), most)


@both
def test_a_file_that_is_cut_short_or_another_is_refused(unpack, pack) -> None:
    packed = pack(CONTENT)
    for broken in (packed[:-1], packed[: len(packed) // 2], b"", b"no" + packed, CONTENT):
        if broken or unpack is unpack_xz:
            with pytest.raises(ValueError, match=r"file must be an? (whole )?(xz|gzip) file"):
                unpack("file", broken, 10**6)


def test_a_file_that_asks_for_much_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    strongest = lzma.compress(CONTENT, preset=9)
    assert unpack_xz("file", strongest, len(CONTENT)) == CONTENT
    monkeypatch.setattr(_data_sets, "MOST_MEMORY", 2**20)
    with pytest.raises(ValueError, match="file must be an xz file: Memory usage limit"):
        unpack_xz("file", strongest, len(CONTENT))


def archive(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as made:
        for member, data in members:
            member.size = len(data)
            made.addfile(member, io.BytesIO(data))
    return content.getvalue()


def member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def test_an_archive_gives_its_files_and_writes_none(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    whole = archive(
        (member("folder", tarfile.DIRTYPE), b""),
        (member("folder/a"), b"first"),
        (member("../outside"), b"second"),
        (member("/absolute"), b""),
    )
    found = [("folder/a", b"first"), ("../outside", b"second"), ("/absolute", b"")]
    assert list(tar_files("file", whole)) == found
    assert list(tmp_path.iterdir()) == []
    assert not (tmp_path.parent / "outside").exists()


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE]
)
def test_links_and_devices_are_refused(kind: bytes) -> None:
    linked = archive((member("a"), b"first"), (member("b", kind, "a"), b""))
    with pytest.raises(ValueError, match="file must be a tar archive of files: b is neither"):
        list(tar_files("file", linked))


def test_a_sparse_file_is_refused_before_it_is_made() -> None:
    """A header that says that a file of a few bytes is of many."""
    sparse = member("b")
    sparse.pax_headers = {
        "GNU.sparse.major": "0",
        "GNU.sparse.minor": "1",
        "GNU.sparse.size": str(2**40),
        "GNU.sparse.map": "0,5",
    }
    with pytest.raises(ValueError, match="b is neither a file nor a folder"):
        list(tar_files("file", archive((sparse, b"few!!"))))


def test_an_archive_that_is_cut_short_is_refused() -> None:
    whole = archive((member("a"), CONTENT))
    for broken in (whole[:700], b"no archive" * 100):
        with pytest.raises(ValueError, match="file must be a tar archive of files"):
            list(tar_files("file", broken))
