"""The images: the same bytes everywhere, distinct, and no file that harms."""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from PIL.PngImagePlugin import PngStream

from farfield.core import stream
from farfield.tasks import GlyphSet, SameDifferent
from farfield.tasks._rules import _glyph_set

GLYPHS = "6624bfc277679537d0b570d7c35acbdb8dec2c01f2214db9a39a39a5f81960a9"
LETTERS = "0502970b4305cbe95e05b8630cd5a9df86c0232a7e7927957fc0e71e0d1c3a3d"
PAPER_CLOSEST = 4.25  # distance of the closest two images of webb2021, on the scale 0…1


def own(count: int = 6, height: int = 5, width: int = 4, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (count, height, width), dtype=np.uint8)


def test_the_glyphs_are_the_stored_bytes() -> None:
    images = GlyphSet.glyphs().images
    assert images.shape == (100, 32, 32)
    assert hashlib.sha256(images.tobytes()).hexdigest() == GLYPHS


def test_the_hundred_characters_differ_more_than_the_papers() -> None:
    pictures = GlyphSet.glyphs().items.flatten(1).double()
    distance = torch.cdist(pictures, pictures, compute_mode="donot_use_mm_for_euclid_dist")
    closest = distance.fill_diagonal_(torch.inf).min()
    assert closest > 2.5 * PAPER_CLOSEST


def test_the_letters_are_the_stored_bytes_and_share_nothing_with_the_glyphs() -> None:
    letters, glyphs = GlyphSet.letters(), GlyphSet.glyphs()
    assert letters.images.shape == (100, 32, 32)
    assert hashlib.sha256(letters.images.tobytes()).hexdigest() == LETTERS
    pictures = (shapes.items.flatten(1).double() for shapes in (letters, glyphs))
    apart = torch.cdist(*pictures, compute_mode="donot_use_mm_for_euclid_dist")
    assert apart.min() > PAPER_CLOSEST
    assert (letters.name, GlyphSet.letters()) == ("letters", letters)


def test_the_glyphs_are_black_on_white_with_much_and_with_little_ink() -> None:
    images = GlyphSet.glyphs().items
    ink = 1 - images.mean(dim=(1, 2))
    assert ink.min() < 0.13
    assert ink.max() > 0.5
    assert (images.amin(dim=(1, 2)) == 0).all()
    assert (images.amax(dim=(1, 2)) == 1).all()


def test_the_glyphs_are_read_once() -> None:
    assert GlyphSet.glyphs() is GlyphSet.glyphs()


def test_items_are_the_grey_levels_over_255() -> None:
    images = own()
    items = GlyphSet(images).items
    assert items.dtype == torch.float32
    assert torch.equal((items.double() * 255).round().to(torch.uint8), torch.tensor(images))
    assert items.max() <= 1


def test_tables_with_equal_pixels_are_equal() -> None:
    images = own()
    assert GlyphSet(images) == GlyphSet(images.copy())
    assert hash(GlyphSet(images)) == hash(GlyphSet(images.copy()))
    assert GlyphSet(images) != GlyphSet(own(seed=1))
    assert GlyphSet(images) != GlyphSet(images.reshape(6, 4, 5))
    assert GlyphSet(images) != images.tobytes()


def test_a_table_cannot_be_changed_afterwards() -> None:
    images = own()
    shapes = GlyphSet(images)
    before = shapes.digest
    images[0] = 0
    assert GlyphSet(shapes.images).digest == before
    with pytest.raises(ValueError, match="read-only"):
        shapes.images[0] = 0


def test_names_say_where_images_come_from() -> None:
    assert GlyphSet.glyphs().name == "glyphs"
    shapes = GlyphSet(own())
    assert shapes.name == f"own-{shapes.digest[:8]}"
    assert "6 of 5×4" in repr(shapes)


@pytest.mark.parametrize(
    "images, message",
    [
        (own().tolist(), "must be a NumPy array, got list"),
        (own().astype(np.float32), "must hold uint8 gray levels 0…255, got float32"),
        (own()[0], r"must be of \(item, height, width\), got shape \(5, 4\)"),
        (own()[..., None], r"got shape \(6, 5, 4, 1\)"),
        (own()[:0], r"got shape \(0, 5, 4\)"),
        (own()[[0, 1, 2, 1]], "got image 3 equal to image 1"),
    ],
)
def test_wrong_images_are_refused(unchecked: None, images: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GlyphSet(images)  # type: ignore[arg-type] # wrong on purpose


def test_the_papers_images_are_read_as_they_are(data_folder: Path) -> None:
    shapes = GlyphSet.paper(data_folder)
    assert shapes.name == "webb2021"
    for number in (0, 38, 99):
        with Image.open(data_folder / "esbn_unicode" / f"{number}.png") as picture:
            assert np.array_equal(shapes.images[number], np.asarray(picture))
    pictures = shapes.items.flatten(1).double()
    distance = (pictures[38] - pictures[95]).norm()
    assert distance == pytest.approx(PAPER_CLOSEST, abs=0.005)


@pytest.fixture
def pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with made-up images in place of the paper's, of which tests change some."""
    images = own(100, 32, 32)
    (tmp_path / "esbn_unicode").mkdir()
    for number, image in enumerate(images):
        Image.fromarray(image).save(tmp_path / "esbn_unicode" / f"{number}.png")
    monkeypatch.setattr(_glyph_set, "PAPER_DIGEST", GlyphSet(images).digest)
    return tmp_path


def test_the_data_folder_may_come_from_the_environment(
    pictures: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FARFIELD_DATA", str(pictures))
    assert GlyphSet.paper() == GlyphSet.paper(pictures)
    sets = SameDifferent(shapes=GlyphSet.paper()).draw(stream(0))
    assert torch.equal(sets["training"].items, GlyphSet.paper().items)


def test_without_a_folder_the_error_says_how_to_name_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FARFIELD_DATA", raising=False)
    with pytest.raises(ValueError, match="set FARFIELD_DATA"):
        GlyphSet.paper()


def chunk(kind: bytes, content: bytes) -> bytes:
    check = struct.pack(">I", zlib.crc32(kind + content))
    return struct.pack(">I", len(content)) + kind + content + check


def png(width: int = 32, height: int = 32, depth: int = 8, color: int = 0) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, 0)
    rows = b"".join(b"\0" + bytes(range(32)) for _ in range(32))
    data = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + data


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "does not start as such"),
        (b"GIF89a" + bytes(64), "does not start as such"),
        (png()[:20], "does not start as such"),
        (png()[:60], "whole PNG"),
        (png()[:41] + b"\xff" * 8 + png()[49:], "whole PNG"),
        (png(width=60_000, height=60_000), "got 60000×60000"),
        (png(width=31), "got 31×32"),
        (png(color=2), "color type 2"),
        (png(depth=16), "16-bit"),
        (png() + bytes(100_000), "at most 65,536 bytes"),
    ],
    ids=["empty", "gif", "head", "cut", "broken", "bomb", "size", "color", "deep", "large"],
)
def test_a_hostile_picture_ends_in_a_clear_error(
    tmp_path: Path, content: bytes, message: str
) -> None:
    folder = tmp_path / "esbn_unicode"
    folder.mkdir()
    (folder / "0.png").write_bytes(content)
    with pytest.raises(ValueError, match=message) as raised:
        GlyphSet.paper(tmp_path)
    assert "0.png" in str(raised.value)


def rebuilt(content: bytes, *, before: bytes = b"", after: bytes = b"") -> bytes:
    """A PNG file with more chunks behind its header and before its end."""
    return content[:33] + before + content[33:-12] + after + content[-12:]


PNG_END = chunk(b"IEND", b"")
SECOND_HEADER = chunk(b"IHDR", struct.pack(">IIBBBBB", 64, 64, 8, 0, 0, 0, 0))


@pytest.mark.parametrize("place", ["before", "after"])
def test_a_second_header_is_refused(pictures: Path, place: str) -> None:
    path = pictures / "esbn_unicode" / "99.png"
    path.write_bytes(rebuilt(path.read_bytes(), **{place: SECOND_HEADER}))
    with pytest.raises(ValueError, match=r"99\.png must have one header, got 2"):
        GlyphSet.paper(pictures)


PACKED = zlib.compress(bytes(20_000_000))
EXTRAS = {
    "texts": b"".join(chunk(b"zTXt", b"key\0\0" + PACKED) for _ in range(2)),
    "translations": chunk(b"iTXt", b"key\0\1\0\0\0" + PACKED),
    "profile": chunk(b"iCCP", b"name\0\0" + PACKED),
    "frames": chunk(b"acTL", struct.pack(">II", 9, 0))
    + chunk(b"fcTL", struct.pack(">IIIIIHHBB", 0, 32, 32, 0, 0, 1, 1, 0, 0)),
    "transparency": chunk(b"tRNS", b"\0\0"),
    "broken": chunk(b"gAMA", b"")[:-1] + b"\0",
}


@pytest.mark.parametrize("extra", EXTRAS.values(), ids=EXTRAS)
def test_nothing_beside_the_pixels_is_unpacked(
    pictures: Path, extra: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = pictures / "esbn_unicode" / "0.png"
    path.write_bytes(rebuilt(path.read_bytes(), before=extra))
    monkeypatch.setattr(PngStream, "chunk_zTXt", lambda *_: pytest.fail("unpacked"))
    monkeypatch.setattr(PngStream, "chunk_iTXt", lambda *_: pytest.fail("unpacked"))
    monkeypatch.setattr(PngStream, "chunk_iCCP", lambda *_: pytest.fail("unpacked"))
    assert GlyphSet.paper(pictures).name == "webb2021"


@pytest.mark.parametrize("interlaced", [0, 1])
def test_pixels_that_inflate_are_refused(pictures: Path, interlaced: int) -> None:
    packed = zlib.compress(bytes(60_000_000))
    header = struct.pack(">IIBBBBB", 32, 32, 8, 0, 0, 0, interlaced)
    parts = [packed[:9_999], packed[9_999:]]
    chunks = [chunk(b"IHDR", header), *(chunk(b"IDAT", part) for part in parts), PNG_END]
    (pictures / "esbn_unicode" / "0.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(chunks))
    with pytest.raises(ValueError, match=r"0\.png must be .* unpack to more than 2,112 bytes"):
        GlyphSet.paper(pictures)


def test_other_images_are_not_taken_for_the_papers(pictures: Path) -> None:
    (pictures / "esbn_unicode" / "7.png").write_bytes(png())
    with pytest.raises(ValueError, match=r"esbn_unicode must hold the images of webb2021, digest"):
        GlyphSet.paper(pictures)


def test_a_pipe_is_not_waited_for(pictures: Path) -> None:
    path = pictures / "esbn_unicode" / "0.png"
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(
        ValueError, match=r"0\.png, which cannot be read: it must be a regular file"
    ):
        GlyphSet.paper(pictures)


def test_a_tilde_is_the_home_folder(pictures: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(pictures.parent))
    assert GlyphSet.paper(f"~/{pictures.name}").name == "webb2021"
    monkeypatch.setenv("FARFIELD_DATA", f"~/{pictures.name}")
    assert GlyphSet.paper().name == "webb2021"


def test_a_missing_picture_is_named(tmp_path: Path) -> None:
    (tmp_path / "esbn_unicode").mkdir()
    (tmp_path / "esbn_unicode" / "0.png").write_bytes(png())
    with pytest.raises(ValueError, match=r"1\.png"):
        GlyphSet.paper(tmp_path)
