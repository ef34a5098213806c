"""Images and labels of data sets: IDX, MATLAB, records of bytes, and small JPEG files."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import PIL
from jaxtyping import Int64, UInt8

from farfield.core.internal import excerpt, printable, read_regular
from farfield.tasks._files._data_sets import (
    DataFile,
    DataSet,
    cached_array,
    folders,
    tar_files,
    unpack_xz,
)
from farfield.tasks._files._known_data_sets import TINY_IMAGENET
from farfield.tasks._files._photographs import opened_jpeg

Records = UInt8[np.ndarray, "item value"]
"""Class of each image, then its pixels color by color."""
ReadFile = Callable[[str], bytes]
"""Function from a name inside a data set to the bytes of that file."""
PARTS: Final = (("train", 50_000), ("test", 10_000))
"""Folders of the copy of CIFAR-10, with their numbers of images."""
CLASSES: Final = 200
"""Classes of Tiny ImageNet."""
OF_A_CLASS: Final = 500
"""Number of training images of each class."""
ANNOTATED: Final = 10_000
"""Name of the validation images, the only further images with published classes."""
ROOT: Final = "tiny-imagenet-200"
"""Folder of its files, in the archive too."""
_LARGEST_FILE: Final = 2**20
_LARGEST_ARCHIVE: Final = 2**27
_BROKEN_ZIP: Final = (KeyError, OSError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error)


def jpeg_copy(data_set: DataSet) -> Records:
    """Decode the images of a tar archive of `train/00000_6.jpg`, …, `test/09999_7.jpg`, in order.

    Args:
        data_set: The data set.

    Raises:
        ValueError: If the archive is missing, or differs from the one that is known.
    """
    (file,) = data_set.files
    content = data_set.content(file.name)
    name = printable(data_set.find(file.name))
    return _decoded_once(
        file, lambda: _copied(name, unpack_xz(name, content, _LARGEST_ARCHIVE), file.shape)
    )


def has_tiny_imagenet() -> bool:
    """Check whether Tiny ImageNet is on this machine, as its archive or unpacked."""
    return TINY_IMAGENET.is_at_hand() or _unpacked_folder() is not None


def tiny_imagenet() -> Records:
    """Read training images of Tiny ImageNet class by class, then validation images by number.

    They come from the published archive, or else from its unpacked folder, whose files are not
    compared with those published.

    Raises:
        ValueError: If neither exists, or a file of it is missing, broken or of another size.
    """
    (file,) = TINY_IMAGENET.files
    folder = _unpacked_folder()
    if folder is not None and not TINY_IMAGENET.is_at_hand():
        return _tiny_records(lambda name: _read(folder / name))
    content = TINY_IMAGENET.content(file.name)
    return _decoded_once(file, lambda: _tiny_records(_reader_of_zip(file.name, content)))


def _decoded_once(file: DataFile, decode: Callable[[], Records]) -> Records:
    """Load the records of a file from the cache, by the version of the decoder of JPEG."""
    name = f"{file.sha256}-pillow-{PIL.__version__}"
    return cached_array(name, file.shape, np.dtype(np.uint8), decode)


def _copied(name: str, archive: bytes, shape: tuple[int, ...]) -> Records:
    """Decode the records of the copy of CIFAR-10."""
    records = np.empty(shape, np.uint8)
    wanted = ((part, number) for part, count in PARTS for number in range(count))
    found = 0
    for (part, number), (member, content) in zip(wanted, tar_files(name, archive), strict=False):
        label = re.fullmatch(rf"{part}/{number:05}_(\d)\.jpg", member, re.ASCII)
        if label is None:
            raise ValueError(
                f"{name} must hold {part}/{number:05}_*.jpg next, got {excerpt(member)}"
            )
        records[found, 0] = int(label[1])
        records[found, 1:] = _pixels(f"{name}: {member}", content, shape[1] - 1)
        found += 1
    if found != len(records):
        raise ValueError(f"{name} must hold {len(records):,} images, got {found:,}")
    return records


def _pixels(name: str, content: bytes, count: int) -> UInt8[np.ndarray, " value"]:
    """Decode the pixels of a square picture, color by color."""
    with opened_jpeg(Path(name), content) as picture:
        width, height = picture.size
        if width != height or 3 * width * height != count:
            raise ValueError(f"it must have {count:,} values, got {width} × {height} pixels")
        return np.asarray(picture.convert("RGB")).transpose(2, 0, 1).reshape(-1)


def _unpacked_folder() -> Path | None:
    """Return the unpacked folder of Tiny ImageNet, if there is one."""
    found = (folder / TINY_IMAGENET.name / ROOT for folder in folders())
    return next((folder for folder in found if (folder / "wnids.txt").is_file()), None)


def _read(path: Path) -> bytes:
    try:
        return read_regular(path, _LARGEST_FILE)
    except OSError as error:
        raise ValueError(f"{printable(path)} must be readable: {error.strerror}") from error


def _reader_of_zip(name: str, content: bytes) -> ReadFile:
    """Make a function that reads files of an archive."""
    archive = zipfile.ZipFile(io.BytesIO(content))

    def read(member: str) -> bytes:
        try:
            with archive.open(f"{ROOT}/{member}") as file:
                return file.read(_LARGEST_FILE)
        except _BROKEN_ZIP as error:
            raise ValueError(f"{name} must hold {member} whole: {excerpt(error)}") from error

    return read


def _tiny_records(read: ReadFile) -> Records:
    """Decode the records of Tiny ImageNet."""
    (file,) = TINY_IMAGENET.files
    records = np.empty((CLASSES * OF_A_CLASS + ANNOTATED, file.shape[1]), np.uint8)
    for record, (name, label) in zip(records, _tiny_names(read), strict=True):
        record[0] = label
        record[1:] = _pixels(name, read(name), file.shape[1] - 1)
    return records


def _tiny_names(read: ReadFile) -> Iterator[tuple[str, int]]:
    """Name and class of every image; classes are numbered in the order of their identifiers."""
    classes = {name: number for number, name in enumerate(sorted(_lines(read, "wnids.txt")))}
    if len(classes) != CLASSES or not all(re.fullmatch(r"n\d{8}", name) for name in classes):
        raise ValueError(f"wnids.txt must name {CLASSES} classes as n01443537, got {len(classes)}")
    for name, label in classes.items():
        for number in range(OF_A_CLASS):
            yield f"train/{name}/images/{name}_{number}.JPEG", label
    lines = (line.split("\t") for line in _lines(read, "val/val_annotations.txt"))
    annotated = {name: more[0] for name, *more in lines if more}
    for number in range(ANNOTATED):
        found = annotated.get(name := f"val_{number}.JPEG", "none")
        if found not in classes:
            raise ValueError(
                f"val_annotations.txt must give {name} a class of wnids.txt, got {excerpt(found)}"
            )
        yield f"val/images/{name}", classes[found]


def _lines(read: ReadFile, name: str) -> list[str]:
    try:
        return read(name).decode("ascii").splitlines()
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} must be a text of ASCII: {error}") from error


Images = UInt8[np.ndarray, "item channel height width"]
Labels = Int64[np.ndarray, " item"]
"""Class of each image."""
LabelledImages = tuple[Images, Labels]
_SMALL: Final = (3, 32, 32)


def idx_images(data_set: DataSet, part: str) -> tuple[UInt8[np.ndarray, "item 28 28"], Labels]:
    """Read images and labels of a data set in IDX format.

    Args:
        data_set: The data set.
        part: Prefix of the names of its files.

    Raises:
        ValueError: If a file is missing, or differs from the published one.
    """
    images = data_set.read(f"{part}-images-idx3-ubyte.gz")
    labels = data_set.read(f"{part}-labels-idx1-ubyte.gz")
    return images, labels.astype(np.int64)


def house_numbers(data_set: DataSet, name: str) -> LabelledImages:
    """Read a MATLAB file of SVHN, opened only after a check of its digest.

    Args:
        data_set: The data set.
        name: Name of the file.

    Raises:
        ValueError: If it is missing, or differs from the published one.
    """
    from scipy.io import loadmat  # noqa: PLC0415 — a tenth of a second to import

    held = loadmat(io.BytesIO(data_set.content(name)), variable_names=("X", "y"))
    images = np.ascontiguousarray(held["X"].transpose(3, 2, 0, 1))
    # Label 10 is the digit 0.
    return images, held["y"][:, 0].astype(np.int64) % 10


def record_images(data_set: DataSet, names: Sequence[str], classes: int) -> LabelledImages:
    """Read images of 32 × 32 in the binary layout of CIFAR, one file after the other.

    A record is its labels, a byte each, of which the last is the class, then the pixels in red,
    in green and in blue, row by row.

    Args:
        data_set: The data set.
        names: Names of the files.
        classes: Number of classes.

    Raises:
        ValueError: If a file is missing, differs from the published one, or names another class.
    """
    parts = [
        np.frombuffer(content, np.uint8).reshape(data_set.file(name).shape)
        for name, content in zip(names, data_set.contents(*names), strict=True)
    ]
    return split_records(np.concatenate(parts), _SMALL, classes)


def split_records(
    records: UInt8[np.ndarray, "item value"], shape: tuple[int, int, int], classes: int
) -> LabelledImages:
    """Split records into images and labels.

    Args:
        records: Labels of each, of which the last is the class, then its pixels.
        shape: Channels, height and width of an image.
        classes: Number of classes.

    Raises:
        ValueError: If a label is that of no class.
    """
    pixels = int(np.prod(shape))
    labels = records[:, -pixels - 1].astype(np.int64)
    if len(labels) and labels.max() >= classes:
        raise ValueError(f"labels must be 0…{classes - 1}, got {labels.max()}")
    return records[:, -pixels:].reshape(-1, *shape), labels
