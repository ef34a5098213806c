"""VAEC problems from HDF5 in the published layout; nothing in a file is taken on trust."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from jaxtyping import UInt8

from farfield.core import Problems
from farfield.tasks._vaec_layout import (
    LARGEST_SIDE,
    LARGEST_TABLE,
    LEVELS,
    MEMBERS,
    MOST_PROBLEMS,
    hdf5,
)
from farfield.tasks._vaec_problems import NUM_DIMENSIONS, candidates_of

_NOT_PACKING: Final = (2, 3)
"""HDF5's numbers of the filters that make nothing smaller: shuffle and checksum."""
_LARGEST_CHUNK: Final = 2**22
"""Bytes of a chunk, which is unpacked as a whole, where twice its dataset is less."""
_PACKED_MARGIN: Final = 2**16
"""Bytes that a compressed dataset may take beyond its own."""
_BROKEN: Final = (OSError, RuntimeError, KeyError, TypeError, MemoryError)
"""What h5py raises at a file that is damaged or made up."""

Picture = UInt8[np.ndarray, "height width 3"]


def read_vaec(path: str | Path) -> Problems:
    """Read VAEC problems from a file in the published layout, such as `analogy_train.hy`.

    The picture of an object is read once, where the file first shows it. Candidates stand as the
    task has them: D, then the foils in ascending order. h5py reads it:
    `pip install 'farfield[hdf5]'`.

    Args:
        path: A file of one region or scale.

    Returns:
        The problems, over a table of the file's distinct objects in the order of their levels.

    Raises:
        ValueError: If the file is no whole HDF5 file of such problems. The message names the file
            and the dataset at fault. Links, within the file or out of it, are not followed.
        ModuleNotFoundError: If h5py is not installed.

    Reference:
        webb2020, section 2.1.
    """
    path, h5py = Path(path), hdf5()
    try:
        with h5py.File(path, "r") as file:
            return _read(h5py, path, file)
    except _BROKEN as error:
        raise ValueError(f"{path} must be a whole HDF5 file of VAEC problems: {error}") from error


def _read(h5py: Any, path: Path, file: Any) -> Problems:
    """All problems of an open file."""
    if not 1 <= len(file) <= MOST_PROBLEMS:
        raise ValueError(f"{path} must hold 1…{MOST_PROBLEMS:,} problems, got {len(file):,}")
    pictures: dict[tuple[int, ...], Picture] = {}
    rows: list[dict[str, np.ndarray]] = []
    first: tuple[int, ...] | None = None
    for number in range(len(file)):
        where = f"{path}: /{number}"
        members = _members(h5py, where, _group(h5py, where, file, str(number)))
        shape = members["imgs"].shape
        if shape != (first := first or shape):
            raise ValueError(f"{where}/imgs must be of shape {first} as in /0, got {shape}")
        row = {name: _content(where, members, name).astype(np.int64) for name in MEMBERS[1:]}
        _check_values(where, row)
        objects = [tuple(levels) for levels in row["latent_class"].tolist()]
        if new := [place for place, levels in enumerate(objects) if levels not in pictures]:
            _check_size(where, len(pictures) + len(new), shape)
            shown = _content(where, members, "imgs")
            pictures |= {objects[place]: shown[place].copy() for place in new}
        rows.append(row)
    return _problems(pictures, {name: np.stack([row[name] for row in rows]) for name in rows[0]})


@contextmanager
def _named(where: str) -> Iterator[None]:
    """What breaks a group or dataset becomes a `ValueError` that names it."""
    try:
        yield
    except _BROKEN as error:
        raise ValueError(f"{where} must be whole, got a broken one: {error}") from error


def _content(where: str, members: dict[str, Any], name: str) -> np.ndarray:
    """The numbers of a dataset that has been checked."""
    with _named(f"{where}/{name}"):
        return np.asarray(members[name][()])


def _group(h5py: Any, where: str, file: Any, name: str) -> Any:
    """The group of a problem, with the right members."""
    group = _followed(h5py, where, file, name, h5py.Group)
    if len(group) != len(MEMBERS) or set(group) != set(MEMBERS):
        got = ", ".join(sorted(group)[:9])
        raise ValueError(f"{where} must hold {', '.join(MEMBERS)}, got {got or 'nothing'}")
    return group


def _followed(h5py: Any, where: str, parent: Any, name: str, kind: type) -> Any:
    """What stands under a name, if it stands there itself and is of a kind."""
    link = parent.get(name, getlink=True)
    if link is None:
        raise ValueError(f"{where} is missing: problems must be numbered from 0 without a gap")
    if not isinstance(link, h5py.HardLink):
        raise ValueError(f"{where} must stand in the file itself, got a {type(link).__name__}")
    with _named(where):
        found = parent[name]
    if not isinstance(found, kind):
        raise ValueError(f"{where} must be a {kind.__name__}, got a {type(found).__name__}")
    return found


def _members(h5py: Any, where: str, group: Any) -> dict[str, Any]:
    """The datasets of a problem, of the right types and shapes, none of them read yet."""
    members = {
        name: _followed(h5py, f"{where}/{name}", group, name, h5py.Dataset) for name in MEMBERS
    }
    for name, dataset in members.items():
        if dataset.external or dataset.is_virtual:
            raise ValueError(f"{where}/{name} must hold its data itself, got data kept elsewhere")
    images = members["imgs"]
    if images.dtype != np.uint8 or not _is_row_of_pictures(images.shape):
        raise ValueError(
            f"{where}/imgs must be uint8 of shape (levels, side, side, 3) with "
            f"{LEVELS[0]}…{LEVELS[-1]} levels, got {images.dtype} of shape {images.shape}"
        )
    levels = len(images)
    shapes = {"latent_class": (levels, NUM_DIMENSIONS), "ABCD": (4,), "not_D": (levels - 1,)}
    for name in MEMBERS[1:]:
        dataset, shape = members[name], shapes.get(name, ())
        if dataset.dtype.kind not in "iu" or dataset.shape != shape:
            raise ValueError(
                f"{where}/{name} must be integers of shape {shape}, "
                f"got {dataset.dtype} of shape {dataset.shape}"
            )
    for name, dataset in members.items():
        _check_chunk(f"{where}/{name}", dataset)
    return members


def _check_chunk(where: str, dataset: Any) -> None:
    """Raise `ValueError` if more would be unpacked than a dataset of its shape has a use for."""
    chunk = math.prod(dataset.chunks or ()) * dataset.dtype.itemsize
    if chunk > (most := max(2 * dataset.nbytes, _LARGEST_CHUNK)):
        raise ValueError(
            f"{where} must be stored in chunks of at most {most:,} B, got {dataset.chunks} of "
            f"{dataset.dtype}, {chunk:,} B, for a dataset of shape {dataset.shape}"
        )
    filters = dataset.id.get_create_plist()
    used = [filters.get_filter(place)[0] for place in range(filters.get_nfilters())]
    if len(packing := [number for number in used if number not in _NOT_PACKING]) > 1:
        raise ValueError(
            f"{where} must be compressed once at most, got {len(packing)} filters that compress"
        )
    # What a compressed chunk unpacks to is known only once it is there: a thousand times its bytes.
    packed, most = dataset.id.get_storage_size(), dataset.nbytes + _PACKED_MARGIN
    if dataset.compression is not None and packed > most:
        raise ValueError(
            f"{where} must be at most {most:,} B when compressed with {dataset.compression}, got "
            f"{packed:,} B, for a dataset of shape {dataset.shape}"
        )


def _is_row_of_pictures(shape: tuple[int, ...] | None) -> bool:
    if shape is None or len(shape) != 4:
        return False
    levels, height, width, channels = shape
    return levels in LEVELS and 1 <= height == width <= LARGEST_SIDE and channels == 3


def _check_values(where: str, row: dict[str, np.ndarray]) -> None:
    """Raise `ValueError` if the datasets of a problem do not describe one analogy."""
    classes, dimension = row["latent_class"], int(row["analogy_dim"])
    level = np.arange(len(classes))
    if not 0 <= dimension < NUM_DIMENSIONS:
        raise ValueError(f"{where}/analogy_dim must be 0…3, got {dimension}")
    wanted = np.repeat(np.clip(classes[:1], 0, level[-1]), len(level), axis=0)
    wanted[:, dimension] = level
    if not np.array_equal(classes, wanted):
        raise ValueError(
            f"{where}/latent_class must ascend from 0 to {level[-1]} in column {dimension} "
            f"(analogy_dim) and be the same level in every other, got {classes.tolist()}"
        )
    a, b, c, d = (int(place) for place in row["ABCD"])
    if not {a, b, c, d} <= set(level.tolist()) or a in (b, c) or b - a != d - c:
        raise ValueError(
            f"{where}/ABCD must be an analogy of places 0…{level[-1]}, B − A = D − C and neither "
            f"A = B nor A = C, got {row['ABCD'].tolist()}"
        )
    if int(row["dist"]) != b - a:
        raise ValueError(f"{where}/dist must be B − A = {b - a}, got {int(row['dist'])}")
    foils = candidates_of(row["ABCD"][3:], len(level))[0, 1:]
    if not np.array_equal(row["not_D"], foils):
        raise ValueError(f"{where}/not_D must be {foils.tolist()}, got {row['not_D'].tolist()}")


def _check_size(where: str, pictures: int, shape: tuple[int, ...]) -> None:
    if pictures * math.prod(shape[1:]) > LARGEST_TABLE:
        raise ValueError(
            f"{where}/imgs must leave the distinct pictures within {LARGEST_TABLE:,} bytes, "
            f"got {pictures} pictures of shape {shape[1:]}"
        )


def _problems(pictures: dict[tuple[int, ...], Picture], columns: dict[str, np.ndarray]) -> Problems:
    """The problems over the table of pictures, sorted by level."""
    classes, analogy = columns["latent_class"], columns["ABCD"]
    sizes = (classes.shape[1],) * NUM_DIMENSIONS
    table = sorted(pictures)
    numbers = np.ravel_multi_index(tuple(np.array(table).T), sizes)
    rows = np.searchsorted(numbers, np.ravel_multi_index(tuple(np.moveaxis(classes, 2, 0)), sizes))
    terms = np.concatenate([analogy[:, :3], candidates_of(analogy[:, 3], classes.shape[1])], axis=1)
    latent = {
        "dimension": columns["analogy_dim"],
        "analogy": analogy,
        "distance": columns["dist"],
        "object": classes[np.arange(len(classes)), analogy[:, 0]],
    }
    return Problems(
        items=torch.from_numpy(np.stack([pictures[levels] for levels in table])),
        index=torch.from_numpy(np.take_along_axis(rows, terms, axis=1)),
        target=torch.zeros(len(terms), dtype=torch.int64),
        latent={name: torch.from_numpy(column) for name, column in latent.items()},
    )
