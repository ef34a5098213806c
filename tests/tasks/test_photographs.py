"""Photographs that take more time, memory or trust than pictures should."""

from __future__ import annotations

import io
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, JpegImagePlugin

from farfield.tasks._files import _photographs as photographs
from farfield.tasks._files._photographs import _without_metadata


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of photographs, called `own` in the data folder."""
    monkeypatch.setenv("FARFIELD_DATA", str(tmp_path))
    monkeypatch.setenv("FARFIELD_CACHE", str(tmp_path / "cache"))
    (tmp_path / "own").mkdir()
    return tmp_path / "own"


def jpeg(width: int = 40, height: int = 40, mode: str = "RGB", **how: object) -> bytes:
    content = io.BytesIO()
    pixels = np.random.default_rng(0).integers(0, 256, (height, width, 3)).astype(np.uint8)
    Image.fromarray(pixels).convert(mode).save(content, "JPEG", **how)
    return content.getvalue()


def plain(width: int, height: int, **how: object) -> bytes:
    content = io.BytesIO()
    Image.new("RGB", (width, height)).save(content, "JPEG", quality=20, **how)
    return content.getvalue()


def pixels(content: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(content)).convert("RGB"))


def segment(marker: int, content: bytes) -> bytes:
    return bytes([0xFF, marker]) + (len(content) + 2).to_bytes(2, "big") + content


def frame(content: bytes) -> tuple[int, bytes]:
    """Where the frame header stands, and one that says 9,000 × 9,000 pixels."""
    start = content.index(b"\xff\xc0")
    head = content[start : start + 2 + int.from_bytes(content[start + 2 : start + 4])]
    return start, head[:5] + (9_000).to_bytes(2) * 2 + head[9:]


def behind_start(extra: bytes) -> bytes:
    return jpeg()[:2] + extra + jpeg()[2:]


def with_frame(after: int) -> bytes:
    content = jpeg()
    start, large = frame(content)
    return content[: start + after] + large + content[start + after :]


HOSTILE = {
    "one of many pixels": (plain(3_000, 3_000), "of at most 8,388,608 pixels, got 3000 × 3000"),
    "a frame before": (with_frame(0), "got a broken one"),
    "a frame behind": (with_frame(19), "of at most 8,388,608 pixels, got 9000 × 9000"),
    "a frame at the end": (jpeg()[:-2] + frame(jpeg())[1] + jpeg()[-2:], "got a broken one"),
    "comments": (behind_start(segment(0xFE, b"") * 2_000), "more than 1000 segments"),
    "cameras' words": (behind_start(segment(0xE1, b"Exif\0\0") * 2_000), "more than 1000 segments"),
    "zeros": (behind_start(bytes(99)), "no segment of a picture begins at byte 2"),
    "padding": (behind_start(b"\xff" * 99), "no segment of a picture begins at byte 2"),
    "a start again": (behind_start(b"\xff\xd8"), "no segment of a picture begins at byte 2"),
    "a short segment": (behind_start(b"\xff\xdb\0\0"), "no segment of a picture begins at byte 4"),
    "another segment": (behind_start(segment(0xF3, b"some")), "no segment of a picture begins at"),
    "an end": (jpeg()[:3], "no segment of a picture begins at byte 2"),
}


@pytest.mark.parametrize("content, message", HOSTILE.values(), ids=HOSTILE)
def test_what_is_more_than_a_picture_is_refused(own: Path, content: bytes, message: str) -> None:
    (own / "a.jpg").write_bytes(jpeg())
    (own / "b.jpg").write_bytes(content)
    with pytest.raises(ValueError, match=rf"b\.jpg must be a whole JPEG file.*{message}"):
        photographs.read_photographs("own", 28)


def test_scans_are_counted_before_they_are_read(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = plain(1_000, 1_000, progressive=True)
    last = content[content.rindex(b"\xff\xda") : -2]
    (own / "a.jpg").write_bytes(content[:-2] + last * 600 + content[-2:])
    monkeypatch.setattr(JpegImagePlugin.JpegImageFile, "load", lambda _: pytest.fail("decoded"))
    with pytest.raises(ValueError, match=r"a\.jpg .* all scans together at most 536,870,912 pix"):
        photographs.read_photographs("own", 28)


@pytest.mark.parametrize("mode", ["L", "RGB", "CMYK"])
@pytest.mark.parametrize("progressive", [True, False])
def test_metadata_change_no_pixel(own: Path, mode: str, progressive: bool) -> None:
    content = jpeg(60, 50, mode, progressive=progressive, icc_profile=bytes(200_000), comment=b"c")
    (own / "a.jpg").write_bytes(content)
    found = photographs.read_photographs("own", 28)
    assert np.array_equal(found.pixels.reshape(50, 60, 3), pixels(content))


UPRIGHT = {
    1: lambda x: x,
    2: lambda x: x[:, ::-1],
    3: lambda x: x[::-1, ::-1],
    4: lambda x: x[::-1],
    5: lambda x: x.swapaxes(0, 1),
    6: lambda x: np.rot90(x, -1),
    7: lambda x: x[::-1, ::-1].swapaxes(0, 1),
    8: np.rot90,
}
"""What a camera held in each of the orientations of EXIF saw, from the stored pixels."""


def marks(orientation: int) -> Image.Exif:
    found = Image.Exif()
    found[0x0112] = orientation
    return found


@pytest.mark.parametrize("orientation", UPRIGHT)
@pytest.mark.parametrize("kind", ["exif", "xmp"])
def test_photographs_are_upright(own: Path, orientation: int, kind: str) -> None:
    said = (
        {"exif": marks(orientation)}
        if kind == "exif"
        else {"xmp": f'<x tiff:Orientation="{orientation}"/>'.encode()}
    )
    content = jpeg(60, 50, **said)
    (own / "a.jpg").write_bytes(content)
    found = photographs.read_photographs("own", 28)
    expected = UPRIGHT[orientation](pixels(content))
    assert found.sizes.tolist() == [list(expected.shape[:2])]
    assert np.array_equal(found.pixels.reshape(expected.shape), expected)


def test_the_first_orientation_of_several_counts(own: Path) -> None:
    content = jpeg(60, 50)
    segments = [segment(0xE1, marks(number).tobytes()) for number in (6, 3)]
    oriented = content[:2] + b"".join(segments) + content[2:]
    (own / "a.jpg").write_bytes(oriented)
    found = photographs.read_photographs("own", 28)
    assert np.array_equal(found.pixels.reshape(60, 50, 3), np.rot90(pixels(content), -1))
    assert _without_metadata(oriented, (b"Exif\0\0",)).count(b"Exif") == 1


def test_exif_data_that_are_broken_are_refused(own: Path) -> None:
    exif = marks(6).tobytes()[:-8]
    content = jpeg(60, 50)
    (own / "a.jpg").write_bytes(content[:2] + segment(0xE1, exif) + content[2:])
    with pytest.raises(ValueError, match=r"a\.jpg must be a whole JPEG file, .*Corrupt EXIF"):
        photographs.read_photographs("own", 28)


def test_all_are_judged_before_one_is_decoded(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "abcde":
        (own / f"{name}.jpg").write_bytes(plain(2_890, 2_890))
    monkeypatch.setattr(JpegImagePlugin.JpegImageFile, "load", lambda _: pytest.fail("decoded"))
    with pytest.raises(ValueError, match=r"e\.jpg .* all photographs together at most 33,554,432"):
        photographs.read_photographs("own", 28)


def test_too_many_files_are_refused(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(photographs, "MOST_FILES", 3)
    for name in "abc":
        (own / f"{name}.jpg").write_bytes(jpeg())
    assert len(photographs.read_photographs("own", 28).sizes) == 3
    (own / "d.jpg").write_bytes(jpeg())
    with pytest.raises(ValueError, match="own must hold at most 3 photographs, it holds more"):
        photographs.read_photographs("own", 28)


@pytest.mark.parametrize("kind", ["pipe", "device", "sparse"])
def test_what_has_no_end_is_refused(own: Path, kind: str) -> None:
    path = own / "a.jpg"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        with path.open("wb") as file:
            file.truncate(10**10)
    with pytest.raises(ValueError, match=r"a\.jpg must be a photograph: it must be "):
        photographs.read_photographs("own", 28)


def test_names_are_shown_without_their_control_characters(own: Path) -> None:
    (own / "a\x1b[2J\u202e.jpg").write_bytes(b"")
    with pytest.raises(
        ValueError, match=r"own/a\\x1b\[2J\\u202e\.jpg must be a whole JPEG"
    ) as told:
        photographs.read_photographs("own", 28)
    assert str(told.value).isprintable()


def test_names_that_are_no_text_have_a_digest(own: Path) -> None:
    folder = own.parent / "sr" / "bsd200"
    folder.mkdir(parents=True)
    (folder / os.fsdecode(b"\xff.jpg")).write_bytes(jpeg())
    with pytest.raises(ValueError, match="must hold the 200 training photographs"):
        photographs.read_photographs(photographs.BSD, 28)


def test_a_tilde_is_the_home_folder(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (own / "a.jpg").write_bytes(jpeg())
    monkeypatch.setenv("HOME", str(own.parent))
    assert photographs.has_photographs("~/own")
    assert len(photographs.read_photographs("~/own", 28).sizes) == 1
    monkeypatch.setenv("FARFIELD_DATA", "~")
    assert photographs.has_photographs("own")
