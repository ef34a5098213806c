"""Sets of small JPEG files: what they decode to, and archives and folders that are not whole."""

from __future__ import annotations

import hashlib
import io
import lzma
import shutil
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from farfield.tasks._files import _labelled_images as records
from farfield.tasks._files._data_sets import tar_files, unpack_xz
from farfield.tasks._files._known_data_sets import CIFAR10_EXCERPT, CIFAR10_JPEG
from farfield.tasks._files._labelled_images import record_images, split_records
from farfield.tasks.internal import DataFile, DataSet


def jpeg(seed: int, side: int, mode: str = "RGB") -> bytes:
    """A smooth picture, which loses little when it is compressed."""
    small = np.random.default_rng(seed).integers(0, 256, (2, 2, 3)).astype(np.uint8)
    content = io.BytesIO()
    Image.fromarray(small).resize((side, side)).convert(mode).save(content, "JPEG", quality=95)
    return content.getvalue()


def decoded(content: bytes) -> np.ndarray:
    with Image.open(io.BytesIO(content)) as picture:
        return np.asarray(picture.convert("RGB")).transpose(2, 0, 1)


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty cache, and a data folder with what a test puts there."""
    monkeypatch.setenv("FARFIELD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("FARFIELD_DATA", str(tmp_path / "data"))


# --- The copy of CIFAR-10 ------------------------------------------------------------------------

MEMBERS = {
    "train/00000_6.jpg": jpeg(0, 4),
    "train/00001_9.jpg": jpeg(1, 4, "L"),
    "test/00000_0.jpg": jpeg(2, 4),
}


def copy_of(folder: Path, members: Mapping[str, bytes], monkeypatch: pytest.MonkeyPatch) -> DataSet:
    """A data set of these members in their order, two of them for training."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for name, data in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    packed = lzma.compress(content.getvalue())
    (folder / "data" / "few").mkdir(parents=True)
    (folder / "data" / "few" / "few.tar.xz").write_bytes(packed)
    digest = hashlib.sha256(packed).hexdigest()
    file = DataFile(name="few.tar.xz", sha256=digest, size=len(packed), shape=(3, 49))
    monkeypatch.setattr(records, "PARTS", (("train", 2), ("test", 1)))
    return DataSet(name="few", files=(file,), mirrors=(), licence="none")


def test_a_copy_is_decoded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = copy_of(tmp_path, MEMBERS, monkeypatch)
    found = records.jpeg_copy(few)
    assert found[:, 0].tolist() == [6, 9, 0]
    for record, content in zip(found, MEMBERS.values(), strict=True):
        assert np.array_equal(record[1:].reshape(3, 4, 4), decoded(content))
    monkeypatch.setattr(records, "_pixels", None)
    assert np.array_equal(records.jpeg_copy(few), found)
    (tmp_path / "data" / "few" / "few.tar.xz").unlink()
    with pytest.raises(ValueError, match=r"few\.tar\.xz of few must exist"):
        records.jpeg_copy(few)


ODD = {
    "a path outside": {"../train/00000_6.jpg": jpeg(0, 4)},
    "another order": dict(reversed(MEMBERS.items())),
    "a label of two digits": {"train/00000_66.jpg": jpeg(0, 4)},
    "no label": {"train/00000.jpg": jpeg(0, 4)},
    "too few": dict(list(MEMBERS.items())[:2]),
    "a picture of another size": {"train/00000_6.jpg": jpeg(0, 5)},
    "another kind of file": {"train/00000_6.jpg": b"GIF89a" + bytes(50)},
    "a picture cut short": {"train/00000_6.jpg": jpeg(0, 4)[:-40]},
}
SAID = {
    "too few": "must hold 3 images, got 2",
    "a picture of another size": "it must have 48 values, got 5 × 5 pixels",
    "another kind of file": "must be a whole JPEG file",
    "a picture cut short": "must be a whole JPEG file",
}


@pytest.mark.parametrize("name", ODD)
def test_a_copy_that_is_not_whole_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    few = copy_of(tmp_path, ODD[name], monkeypatch)
    with pytest.raises(ValueError, match=SAID.get(name, r"must hold \w+/\d{5}_\*\.jpg next")):
        records.jpeg_copy(few)
    assert not (tmp_path / "cache").exists()


@pytest.mark.thorough
def test_the_copy_of_cifar_10_resembles_the_exact_images(
    data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Peak signal-to-noise ratio of 30 dB over the first images, and the labels of all."""
    if not (CIFAR10_JPEG.is_at_hand() and CIFAR10_EXCERPT.is_at_hand()):
        pytest.skip("CIFAR-10 absent")
    name = CIFAR10_JPEG.files[0].name
    archive = unpack_xz(name, CIFAR10_JPEG.content(name), 2**27)
    labels = [int(member[-5]) for member, _ in tar_files(name, archive)]
    published = (data_folder / "cifar10" / "train_labels.bin").read_bytes()
    assert labels[:50_000] == list(published)
    assert np.bincount(labels[50_000:]).tolist() == [1_000] * 10
    monkeypatch.setattr(records, "PARTS", (("train", 500),))
    images, own = split_records(records._copied(name, archive, (500, 3_073)), (3, 32, 32), 10)
    exact, same = record_images(CIFAR10_EXCERPT, [CIFAR10_EXCERPT.files[0].name], 10)
    assert own.tolist() == same[:500].tolist() == labels[:500]
    error = np.square(images.astype(float) - exact[:500]).mean()
    assert 10 * np.log10(255**2 / error) == pytest.approx(30.0, abs=0.5)


# --- Tiny ImageNet -------------------------------------------------------------------------------

TWO = ("n01443537", "n00000001")
TINY = {
    "wnids.txt": "\n".join(TWO).encode(),
    **{
        f"train/{name}/images/{name}_{number}.JPEG": jpeg(10 * place + number, 4, mode)
        for place, name in enumerate(TWO)
        for number, mode in enumerate(("RGB", "L", "RGB"))
    },
    "val/val_annotations.txt": (
        f"val_1.JPEG\t{TWO[1]}\t0\t0\t62\t62\nval_0.JPEG\t{TWO[0]}\t4\t3\t10\t20\n"
    ).encode(),
    "val/images/val_0.JPEG": jpeg(30, 4),
    "val/images/val_1.JPEG": jpeg(31, 4),
}


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with a Tiny ImageNet of two classes of three images, and two tests."""
    for name, count in (("CLASSES", 2), ("OF_A_CLASS", 3), ("ANNOTATED", 2)):
        monkeypatch.setattr(records, name, count)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, data in TINY.items():
            archive.writestr(f"tiny-imagenet-200/{name}", data)
    packed = content.getvalue()
    digest = hashlib.sha256(packed).hexdigest()
    file = DataFile(name="tiny.zip", sha256=digest, size=len(packed), shape=(8, 49))
    made = DataSet(name="tiny", files=(file,), mirrors=(), licence="none")
    monkeypatch.setattr(records, "TINY_IMAGENET", made)
    folder = tmp_path / "data" / "tiny"
    folder.mkdir(parents=True)
    (folder / "tiny.zip").write_bytes(packed)
    for name, data in TINY.items():
        path = folder / "tiny-imagenet-200" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def test_archive_and_folder_of_tiny_imagenet_are_the_same(tiny: Path) -> None:
    packed = records.tiny_imagenet()
    (tiny / "tiny.zip").unlink()
    assert records.has_tiny_imagenet()
    assert np.array_equal(records.tiny_imagenet(), packed)
    images, labels = split_records(packed, (3, 4, 4), 2)
    # In the order of the identifiers, the second one is class 0.
    assert labels.tolist() == [0, 0, 0, 1, 1, 1, 1, 0]
    names = [name for name in sorted(TINY) if name.endswith("JPEG")]
    for image, name in zip(images, names, strict=True):
        assert np.array_equal(image, decoded(TINY[name]))
    shutil.rmtree(tiny)
    assert not records.has_tiny_imagenet()
    with pytest.raises(ValueError, match=r"tiny\.zip of tiny must exist"):
        records.tiny_imagenet()


def test_another_archive_of_tiny_imagenet_is_refused(tiny: Path) -> None:
    (tiny / "tiny.zip").write_bytes(b"PK")
    with pytest.raises(ValueError, match=r"tiny\.zip must be the published file"):
        records.tiny_imagenet()


NINE = TWO[0].encode()
BROKEN = [
    ("wnids.txt", NINE, "wnids.txt must name 2 classes as n01443537, got 1"),
    ("wnids.txt", NINE + b"\n../../../etc", "wnids.txt must name 2 classes"),
    ("wnids.txt", b"\xff" + NINE, "wnids.txt must be a text of ASCII"),
    ("wnids.txt", bytes(2**20 + 1), "must be readable: it must be of at most 1,048,576 bytes"),
    ("val/val_annotations.txt", b"val_0.JPEG", "must give val_0.JPEG a class .* got none"),
    ("val/val_annotations.txt", b"val_0.JPEG\tn00000009", "a class of .* got n00000009"),
    ("val/images/val_1.JPEG", jpeg(0, 5), "val_1.JPEG must be a whole JPEG file.*48 values"),
    (f"train/{TWO[1]}/images/{TWO[1]}_2.JPEG", None, "_2.JPEG must be readable: No such file"),
]


@pytest.mark.parametrize(("name", "content", "message"), BROKEN)
def test_a_folder_of_tiny_imagenet_that_is_not_whole_is_refused(
    tiny: Path, name: str, content: bytes | None, message: str
) -> None:
    (tiny / "tiny.zip").unlink()
    path = tiny / "tiny-imagenet-200" / name
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        records.tiny_imagenet()


def test_labels_of_records_must_be_of_a_class() -> None:
    found = np.array([[7, 2, 10, 11, 12], [8, 0, 13, 14, 15]], np.uint8)
    images, labels = split_records(found, (3, 1, 1), 3)
    assert labels.tolist() == [2, 0]
    assert images[:, :, 0, 0].tolist() == [[10, 11, 12], [13, 14, 15]]
    with pytest.raises(ValueError, match=r"labels must be 0…1, got 2"):
        split_records(found, (3, 1, 1), 2)
    assert len(split_records(found[:0], (3, 1, 1), 2)[1]) == 0
