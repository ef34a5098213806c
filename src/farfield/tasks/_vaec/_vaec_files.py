"""VAEC problems in the published HDF5 layout: reading of untrusted files, and writing."""

from __future__ import annotations

import contextlib
import importlib
import itertools
import math
import os
import secrets
import sys
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from jaxtyping import Int64, UInt8

from farfield._system import replace_file
from farfield.core import Problems
from farfield.core.internal import excerpt, expand_home, open_regular, printable, writable_place
from farfield.tasks._vaec._vaec_objects import NUM_DIMENSIONS, candidates_of

MEMBERS: Final = ("imgs", "latent_class", "analogy_dim", "ABCD", "dist", "not_D")
"""Datasets of a problem."""
PREMISES: Final = 3
"""Number of images before the candidates: A, B and C."""
LEVELS: Final = range(3, 15)
"""Possible numbers of images of a problem."""
MOST_PROBLEMS: Final = 2_000_000
LARGEST_SIDE: Final = 1024
"""Height and width of a picture, pixels."""
LARGEST_TABLE: Final = 2**28
"""Distinct pictures of a file, bytes; a published one has 118 million."""


def hdf5() -> Any:
    """Import the module h5py, which only these files need.

    Raises:
        ModuleNotFoundError: If it is not installed.
    """
    try:
        return importlib.import_module("h5py")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "HDF5 files need h5py, which is not installed: pip install 'farfield[hdf5]'"
        ) from error


_DEFLATE: Final = 1
_FILTERS: Final = (_DEFLATE, 2, 3)
"""HDF5's numbers of gzip, shuffling and a checksum."""
_CHECKSUM: Final = 4
"""Bytes."""
_LARGEST_CHUNK: Final = {"imgs": 2**22}
"""Bytes of a chunk, which is unpacked as a whole, where twice its dataset is less; else 64 KiB."""
_MOST_CHUNKS: Final = 4_096
_PACKED_MARGIN: Final = 2**16
"""Bytes that a compressed dataset may take beyond its own."""
_MOST_NAMED: Final = 9
"""Members of a group that an error lists."""
_BROKEN: Final = (OSError, RuntimeError, KeyError, TypeError, MemoryError, zlib.error)
"""Errors of h5py and gzip at a file that is damaged or made up."""

Shown = dict[tuple[int, ...], tuple[int, int]]
"""Number of the problem, and slot in its pictures, that shows an object first, by its levels."""
Pictures = UInt8[np.ndarray, "item height width 3"]


def read_vaec(path: str | Path) -> Problems:
    """Read VAEC problems from a file in the published layout, such as `analogy_train.hy`.

    The picture of an object is read once, where the file first shows it. Candidates have the order
    of the task: D, then the foils in ascending order. h5py reads it: `pip install
    'farfield[hdf5]'`.

    Args:
        path: A file of one region or scale.

    Returns:
        The problems, over a table of the file's distinct objects in the order of their levels.

    Raises:
        ValueError: If the file is not a complete HDF5 file of such problems. The message names the
            file and the dataset at fault. Links, within the file or out of it, are not followed.
        ModuleNotFoundError: If h5py is not installed.

    Reference:
        webb2020, section 2.1.
    """
    path, h5py = expand_home(path), hdf5()
    name = printable(path)
    try:
        open_regular(path, sys.maxsize).close()
        with h5py.File(path, "r") as file:
            return _read(h5py, name, file)
    except _BROKEN as error:
        raise ValueError(
            f"{name} must be a whole HDF5 file of VAEC problems: {excerpt(error)}"
        ) from error


def _read(h5py: Any, name: str, file: Any) -> Problems:
    """Read all problems of an open file: first their descriptions, then the pictures."""
    if not 1 <= len(file) <= MOST_PROBLEMS:
        raise ValueError(f"{name} must hold 1…{MOST_PROBLEMS:,} problems, got {len(file):,}")
    shown: Shown = {}
    rows: list[dict[str, np.ndarray]] = []
    first: tuple[int, ...] = ()
    for number in range(len(file)):
        where = f"{name}: /{number}"
        members = _members(h5py, where, _group(h5py, where, file, str(number)))
        shape = members["imgs"].shape
        if shape != (first := first or shape):
            raise ValueError(f"{where}/imgs must be of shape {first} as in /0, got {shape}")
        row = {one: _content(where, members, one).astype(np.int64) for one in MEMBERS[1:]}
        _check_values(where, row)
        for slot, levels in enumerate(row["latent_class"].tolist()):
            shown.setdefault(tuple(levels), (number, slot))
        _check_size(where, len(shown), shape)
        rows.append(row)
    table = np.empty((len(shown), *first[1:]), np.uint8)
    _read_pictures(name, file, shown, table)
    return _problems(
        table, sorted(shown), {one: np.stack([r[one] for r in rows]) for one in rows[0]}
    )


def _read_pictures(name: str, file: Any, shown: Shown, table: Pictures) -> None:
    """Fill the table of pictures, in the order of levels, each from where it is shown first."""
    wanted: dict[int, list[tuple[int, int]]] = {}
    for row, levels in enumerate(sorted(shown)):
        number, slot = shown[levels]
        wanted.setdefault(number, []).append((row, slot))
    for number, pairs in sorted(wanted.items()):
        content = _content(f"{name}: /{number}", file[str(number)], "imgs")
        for row, slot in pairs:
            table[row] = content[slot]


@contextmanager
def _named(where: str) -> Iterator[None]:
    """Turn errors of a group or dataset into a `ValueError` that names it."""
    try:
        yield
    except _BROKEN as error:
        raise ValueError(f"{where} must be whole, got a broken one: {excerpt(error)}") from error


def _content(where: str, members: Mapping[str, Any], name: str) -> np.ndarray:
    """Read the numbers of a dataset that has been checked."""
    with _named(f"{where}/{name}"):
        dataset = members[name]
        _check_unpacked(f"{where}/{name}", dataset)
        return np.asarray(dataset[()])


def _group(h5py: Any, where: str, file: Any, name: str) -> Any:
    """Return the group of a problem, with the right members."""
    group = _followed(h5py, where, file, name, h5py.Group)
    wanted = f"{where} must hold {', '.join(MEMBERS)}"
    if len(group) > _MOST_NAMED:
        raise ValueError(f"{wanted}, got {len(group):,} members")
    if set(group) != set(MEMBERS):
        raise ValueError(f"{wanted}, got {excerpt(', '.join(sorted(group))) or 'nothing'}")
    return group


def _followed(h5py: Any, where: str, parent: Any, name: str, kind: Any) -> Any:
    """Return the member of a name, which must be of the right kind and not a link."""
    link = parent.get(name, getlink=True)
    if link is None:
        raise ValueError(f"{where} is missing: problems must be numbered from 0 without a gap")
    if not isinstance(link, h5py.HardLink):
        raise ValueError(f"{where} must stand in the file itself, got a {type(link).__name__}")
    with _named(where):
        found = parent[name]
    if not isinstance(found, kind):
        raise ValueError(f"{where} must be a {kind.__name__}, got a {type(found).__name__}")
    if (count := h5py.h5o.get_info(found.id).rc) != 1:
        raise ValueError(f"{where} must stand in the file once, got {count} links to it")
    return found


def _members(h5py: Any, where: str, group: Any) -> dict[str, Any]:
    """Return the datasets of a problem, of the right types and shapes, not yet read."""
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
        _check_chunk(f"{where}/{name}", dataset, _LARGEST_CHUNK.get(name, 2**16))
    return members


def _check_chunk(where: str, dataset: Any, largest: int) -> None:
    """Raise `ValueError` if more would be unpacked than a dataset of its shape has a use for."""
    if (chunks := dataset.chunks) is None:
        return
    chunk = math.prod(chunks) * dataset.dtype.itemsize
    if chunk > (most := max(2 * dataset.nbytes, largest)):
        raise ValueError(
            f"{where} must be stored in chunks of at most {most:,} B, got {chunks} of "
            f"{dataset.dtype}, {chunk:,} B, for a dataset of shape {dataset.shape}"
        )
    count = math.prod(-(-side // part) for side, part in zip(dataset.shape, chunks, strict=True))
    if count > _MOST_CHUNKS:
        raise ValueError(
            f"{where} must be stored in at most {_MOST_CHUNKS:,} chunks, got {count:,}"
        )
    used = _filters(dataset)
    if other := [number for number in used if number not in _FILTERS]:
        raise ValueError(f"{where} must be compressed with gzip or not at all, got filters {other}")
    if (packing := used.count(_DEFLATE)) > 1:
        raise ValueError(
            f"{where} must be compressed once at most, got {packing} filters that compress"
        )
    packed, most = dataset.id.get_storage_size(), dataset.nbytes + _PACKED_MARGIN
    if used and packed > most:
        raise ValueError(
            f"{where} must be at most {most:,} B when compressed with gzip, got "
            f"{packed:,} B, for a dataset of shape {dataset.shape}"
        )


def _filters(dataset: Any) -> list[int]:
    """List HDF5's numbers of the filters of a dataset."""
    plan = dataset.id.get_create_plist()
    return [plan.get_filter(position)[0] for position in range(plan.get_nfilters())]


def _check_unpacked(where: str, dataset: Any) -> None:
    """Raise `ValueError` if a chunk unpacks to other than its size, without unpacking all of it.

    HDF5 itself unpacks a chunk to its end, and trusts that there is as much as the chunk holds.
    """
    if dataset.chunks is None or not (used := _filters(dataset)):
        return
    size = math.prod(dataset.chunks) * dataset.dtype.itemsize
    steps = (range(0, side, part) for side, part in zip(dataset.shape, dataset.chunks, strict=True))
    for offset in itertools.product(*steps):
        if not dataset.id.get_chunk_info_by_coord(offset).size:
            continue  # never written
        unused, packed = dataset.id.read_direct_chunk(offset)
        if _DEFLATE in used and not unused:
            packed = zlib.decompressobj().decompress(packed, size + _CHECKSUM + 1)
        if unused or not size <= len(packed) <= size + _CHECKSUM:
            raise ValueError(
                f"{where} must have chunks of {size:,} B, packed with every filter, the one at "
                f"{offset} has {'more' if len(packed) > size else f'{len(packed):,} B'}"
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
    a, b, c, d = (int(term) for term in row["ABCD"])
    if not {a, b, c, d} <= set(level.tolist()) or a in (b, c) or b - a != d - c:
        raise ValueError(
            f"{where}/ABCD must be an analogy of indices 0…{level[-1]}, B − A = D − C and neither "
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


def _problems(
    table: Pictures, objects: list[tuple[int, ...]], columns: dict[str, np.ndarray]
) -> Problems:
    """Make the problems over the table of pictures, sorted by level."""
    classes, analogy = columns["latent_class"], columns["ABCD"]
    sizes = (classes.shape[1],) * NUM_DIMENSIONS
    numbers = np.ravel_multi_index(tuple(np.array(objects).T), sizes)
    rows = np.searchsorted(numbers, np.ravel_multi_index(tuple(np.moveaxis(classes, 2, 0)), sizes))
    terms = np.concatenate([analogy[:, :3], candidates_of(analogy[:, 3], classes.shape[1])], axis=1)
    latent = {
        "dimension": columns["analogy_dim"],
        "analogy": analogy,
        "distance": columns["dist"],
        "object": classes[np.arange(len(classes)), analogy[:, 0]],
    }
    return Problems(
        items=torch.from_numpy(table),
        index=torch.from_numpy(np.take_along_axis(rows, terms, axis=1)),
        target=torch.zeros(len(terms), dtype=torch.int64),
        latent={name: torch.from_numpy(column) for name, column in latent.items()},
    )


_DESCRIPTION = {"dimension": (), "analogy": (4,), "distance": (), "object": (NUM_DIMENSIONS,)}
"""Latent description of a problem: integers of these shapes."""
_INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


def write_vaec(path: str | Path, problems: Problems) -> None:
    """Write VAEC problems as the released generator does: HDF5, a group for each problem.

    Groups `"0"`, `"1"`, … hold `imgs` (uint8, the levels of the varied dimension in ascending
    order), `latent_class` (their levels within the region: X, Y, size, brightness), `analogy_dim`
    (0…3), `ABCD` (indices into `imgs`), `dist` (B − A) and `not_D` (the foils). The seven pictures
    of a problem are 344 kB, a region is some 6.6 GB; nothing else here needs such a file. h5py
    writes it: `pip install 'farfield[hdf5]'`.

    ```py
    sets = VAECTranslation().draw(stream(0))
    write_vaec("analogy_train.hy", sets["training"])
    write_vaec("analogy_test1.hy", sets["region-2"])
    ```

    Args:
        path: The file; one that is there is replaced when the new one is whole.
        problems: Problems of one region or scale, as a task draws them or `read_vaec` gives them.

    Raises:
        ValueError: If these are no problems of VAEC, or are such as `read_vaec` refuses: none, too
            many, or with a latent description that is not an analogy. Nothing is written then.
        OSError: If the file cannot be written; nothing of it is left.
        ModuleNotFoundError: If h5py is not installed.

    Reference:
        webb2020, section 2.1.
    """
    path, h5py, columns = writable_place(Path(path)), hdf5(), _columns(problems)
    pictures = problems.table().cpu().numpy()
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with h5py.File(temporary, "w") as file:
            for row in range(len(problems)):
                group = file.create_group(str(row))
                group["imgs"] = pictures[columns["imgs"][row]]
                for name in MEMBERS[1:]:
                    group[name] = columns[name][row]
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
        replace_file(temporary, path)
    except (OSError, RuntimeError) as error:  # h5py raises either where the disk is full
        raise OSError(f"cannot write {printable(path)}: {excerpt(error)}") from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def _columns(problems: Problems) -> dict[str, np.ndarray]:
    """Return the datasets of all problems; of `imgs` the rows of the table."""
    lacking = sorted(set(_DESCRIPTION) - set(problems.latent))
    if lacking or problems.items.shape[3:] != (3,):
        raise ValueError(
            "problems must be VAEC's, images in color with their levels as latent description, "
            f"got items of {tuple(problems.items.shape[1:])}, lacking {lacking}"
        )
    num_levels = problems.index.shape[1] - PREMISES
    _check_shapes(problems, num_levels)
    latent = {name: problems.latent[name].cpu().numpy().astype(np.int64) for name in _DESCRIPTION}
    _check_latent(latent, num_levels)
    dimension, analogy = latent["dimension"], latent["analogy"]
    level = np.arange(num_levels)
    levels = np.repeat(latent["object"][:, None], num_levels, axis=1)
    levels[np.arange(len(levels))[:, None], level, dimension[:, None]] = level
    _check_image_size(levels, problems.items.shape[1:])
    return {
        "imgs": _ascending(problems, analogy),
        "latent_class": levels,
        "analogy_dim": dimension,
        "ABCD": analogy,
        "dist": latent["distance"],
        "not_D": candidates_of(analogy[:, 3], num_levels)[:, 1:],
    }


def _check_shapes(problems: Problems, num_levels: int) -> None:
    """Raise `ValueError` unless number, pictures and description are such as a file may hold."""
    count, items, target = len(problems), problems.items, problems.target
    if not 1 <= count <= MOST_PROBLEMS:
        raise ValueError(f"problems must be 1…{MOST_PROBLEMS:,}, got {count:,}")
    height, width = items.shape[1:3]
    if items.dtype != torch.uint8 or not 1 <= height == width <= LARGEST_SIDE:
        raise ValueError(
            f"items must be square uint8 pictures of at most {LARGEST_SIDE} pixels a side, "
            f"got {items.dtype} of {tuple(items.shape[1:])}"
        )
    if num_levels not in LEVELS:
        raise ValueError(
            f"index must hold A, B, C and {LEVELS[0]}…{LEVELS[-1]} candidates, "
            f"got {problems.index.shape[1]} positions"
        )
    problems.check_index()
    if target.shape != (count,) or not set(target.tolist()) <= set(range(num_levels)):
        raise ValueError(
            f"target must be one candidate, 0…{num_levels - 1}, of each problem, got "
            f"{target.dtype} of shape {tuple(target.shape)}: {target.tolist()[:9]}"
        )
    for name, shape in _DESCRIPTION.items():
        given = problems.latent[name]
        if given.dtype not in _INTEGERS or given.shape != (count, *shape):
            raise ValueError(
                f"latent[{name!r}] must be integers of shape {(count, *shape)}, "
                f"got {given.dtype} of shape {tuple(given.shape)}"
            )


def _check_latent(latent: dict[str, np.ndarray], num_levels: int) -> None:
    """Raise `ValueError` if the description of a problem is not the description of one analogy."""
    dimension, levels = latent["dimension"], latent["object"]
    a, b, c, d = latent["analogy"].T
    last = num_levels - 1
    varied = np.take_along_axis(levels, dimension.clip(0, NUM_DIMENSIONS - 1)[:, None], axis=1)
    for name, wanted, right in (
        ("dimension", f"0…{NUM_DIMENSIONS - 1}", _within(dimension, NUM_DIMENSIONS)),
        (
            "analogy",
            f"levels 0…{last} with B − A = D − C and neither A = B nor A = C",
            _within(latent["analogy"], num_levels).all(1) & (b - a == d - c) & (a != b) & (a != c),
        ),
        ("distance", "B − A", latent["distance"] == b - a),
        (
            "object",
            f"the levels 0…{last} of A, along the dimension of the analogy that of A in it",
            _within(levels, num_levels).all(1) & (varied[:, 0] == a),
        ),
    ):
        if not right.all():
            row = int(right.argmin())
            raise ValueError(
                f"latent[{name!r}] must be {wanted}, "
                f"got {latent[name][row].tolist()} in problem {row}"
            )


def _within(numbers: np.ndarray, end: int) -> np.ndarray:
    return (numbers >= 0) & (numbers < end)


def _check_image_size(
    levels: Int64[np.ndarray, "batch candidate 4"], shape: tuple[int, ...]
) -> None:
    """Raise `ValueError` if there are more distinct pictures than are read again."""
    sizes = (levels.shape[1],) * NUM_DIMENSIONS
    pictures = len(np.unique(np.ravel_multi_index(tuple(np.moveaxis(levels, 2, 0)), sizes)))
    if pictures * math.prod(shape) > LARGEST_TABLE:
        raise ValueError(
            f"problems must have distinct pictures of at most {LARGEST_TABLE:,} bytes together, "
            f"got {pictures} pictures of shape {tuple(shape)}"
        )


def _ascending(
    problems: Problems, analogy: Int64[np.ndarray, "batch 4"]
) -> Int64[np.ndarray, "batch candidate"]:
    """Return rows of the candidates in the order of their levels, the order of the table."""
    index = problems.index.cpu().numpy()
    candidates = index[:, PREMISES:]
    right = np.take_along_axis(candidates, problems.target.cpu().numpy()[:, None], axis=1)
    ascending = np.sort(candidates, axis=1)
    terms = np.concatenate([index[:, :PREMISES], right], axis=1)
    if not np.array_equal(np.take_along_axis(ascending, analogy, axis=1), terms):
        raise ValueError(
            "problems must be over a table in the order of the levels, as the task draws it; in "
            "this one the candidates do not fit the levels of A, B, C and D"
        )
    return ascending
