"""Images and labels of data sets, whatever their layout: IDX, MATLAB, records of bytes."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Final

import numpy as np
from jaxtyping import Int64, UInt8

from farfield.tasks._files._data_sets import DataSet

Images = UInt8[np.ndarray, "item channel height width"]
Labels = Int64[np.ndarray, " item"]
"""The class of each image."""
LabelledImages = tuple[Images, Labels]
_SMALL: Final = (3, 32, 32)


def idx_images(data_set: DataSet, part: str) -> tuple[UInt8[np.ndarray, "item 28 28"], Labels]:
    """Images and labels of a data set in IDX format.

    Args:
        data_set: Which one.
        part: How the names of its files begin.

    Raises:
        ValueError: If a file is missing, or differs from the published one.
    """
    images = data_set.read(f"{part}-images-idx3-ubyte.gz")
    labels = data_set.read(f"{part}-labels-idx1-ubyte.gz")
    return images, labels.astype(np.int64)


def house_numbers(data_set: DataSet, name: str) -> LabelledImages:
    """A MATLAB file of SVHN, opened only if its bytes are those published.

    Args:
        data_set: Which one.
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
    """Images of 32 × 32 in the binary layout of CIFAR, one file after the other.

    A record is its labels, a byte each, of which the last is the class, then the pixels in red,
    in green and in blue, row by row.

    Args:
        data_set: Which one.
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
    """Images and labels of records.

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
