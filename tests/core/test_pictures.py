"""Files of pictures: what is read, and what is refused by name."""

from __future__ import annotations

import io
import struct
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from farfield.core.internal import read_picture

GRAY = np.arange(12, dtype=np.uint8).reshape(3, 4) * 20
COLOR = np.stack([GRAY, 255 - GRAY, GRAY // 2], axis=2)


@pytest.mark.parametrize("ending", ["png", "bmp"])
@pytest.mark.parametrize("pixels", [GRAY, COLOR], ids=["gray", "color"])
def test_levels_come_back(tmp_path: Path, pixels: np.ndarray, ending: str) -> None:
    path = tmp_path / f"picture.{ending}"
    Image.fromarray(pixels).save(path)
    np.testing.assert_array_equal(read_picture(path), pixels)


def test_a_palette_gives_its_colors_and_jpeg_is_read(tmp_path: Path) -> None:
    Image.fromarray(COLOR).quantize(12).save(tmp_path / "palette.png")
    assert read_picture(tmp_path / "palette.png").shape == (3, 4, 3)
    Image.fromarray(COLOR).save(tmp_path / "photograph.jpg")
    assert read_picture(tmp_path / "photograph.jpg").shape == (3, 4, 3)


@pytest.mark.parametrize(
    "mode, ending, message",
    [
        ("RGBA", "png", r"got an alpha channel \(RGBA\); convert it first"),
        ("LA", "png", r"got an alpha channel \(LA\)"),
        ("CMYK", "jpg", "got the color space CMYK"),
        ("I;16", "png", "got the color space I;16"),
        ("1", "png", "got the color space 1"),
    ],
)
def test_other_spaces_are_refused_by_name(
    tmp_path: Path, mode: str, ending: str, message: str
) -> None:
    path = tmp_path / f"other.{ending}"
    Image.new(mode, (4, 3)).save(path)
    with pytest.raises(ValueError, match=f"other.{ending} must be gray .*{message}"):
        read_picture(path)


def test_a_transparent_color_is_an_alpha_channel(tmp_path: Path) -> None:
    Image.fromarray(COLOR).save(tmp_path / "key.png", transparency=(0, 255, 0))
    with pytest.raises(ValueError, match=r"got an alpha channel \(RGB\)"):
        read_picture(tmp_path / "key.png")


def test_broken_files_and_others_are_refused(tmp_path: Path) -> None:
    written = io.BytesIO()
    Image.fromarray(np.tile(COLOR, (30, 30, 1))).save(written, "PNG")
    (tmp_path / "cut.png").write_bytes(written.getvalue()[:-40])
    (tmp_path / "text.png").write_text("no picture")
    Image.fromarray(COLOR).save(tmp_path / "moving.png", "GIF")
    for name in ("cut.png", "text.png", "moving.png", "missing.png"):
        with pytest.raises(ValueError, match=f"{name} must be a whole BMP, JPEG or PNG file"):
            read_picture(tmp_path / name)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_photographs_are_turned_upright(tmp_path: Path, orientation: int) -> None:
    pixels = np.zeros((16, 32), np.uint8)
    pixels[:8, :8] = 255
    seen = {
        1: pixels,
        2: pixels[:, ::-1],
        3: pixels[::-1, ::-1],
        4: pixels[::-1],
        5: pixels.T,
        6: pixels.T[:, ::-1],
        7: pixels.T[::-1, ::-1],
        8: pixels.T[::-1],
    }
    marks = Image.Exif()
    marks[0x0112] = orientation
    Image.fromarray(pixels).save(tmp_path / "a.png", exif=marks)
    assert np.array_equal(read_picture(tmp_path / "a.png"), seen[orientation])


@pytest.mark.parametrize("marks", [b"Exif\0\0MM\0*\xff\xff\xff\xff", b"\0" * 40])
def test_damaged_marks_of_a_camera_are_refused(tmp_path: Path, marks: bytes) -> None:
    Image.fromarray(np.zeros((4, 8), np.uint8)).save(tmp_path / "a.png", exif=marks)
    with pytest.raises(ValueError, match=r"a.png must be a whole BMP, JPEG or PNG file: "):
        read_picture(tmp_path / "a.png")


@pytest.mark.parametrize(
    ("tag", "words"), [(0x0112, "larger than file. Skipping tag 274"), (0x0106, None)]
)
def test_metadata_are_judged_where_they_may_turn_a_picture(
    tmp_path: Path, tag: int, words: str | None
) -> None:
    path = tmp_path / "a.png"
    entry = struct.pack(">HHII", tag, 3, 1_000, 8)  # more numbers than the file is long
    exif = b"Exif\0\0MM\0*" + struct.pack(">IH", 8, 1) + entry + bytes(4)
    Image.fromarray(COLOR).save(path, exif=exif)
    with pytest.raises(ValueError, match=f"a.png .*{words}") if words else nullcontext():
        np.testing.assert_array_equal(read_picture(path), COLOR)
